//! What a run says about one series, and keeps of it: answers, scores, counts and the last forecasts.

use std::collections::VecDeque;

use truecast::monitor::{Coverage, Scoreboard};
use truecast::recalibrate::Scores;
use truecast::{Forecast, normal};

use crate::ask::{Answered, FAN, FanPoint, Question, RowScores};
use crate::error::Result;

/// Φ⁻¹(0.9): an outcome whose probit score is within ± this lies in the central 80 % interval.
const EIGHTY: f64 = 1.281_551_565_544_600_4;

/// Outcomes of a run of which every one is scored; of the later ones, one in so many. The score of a calibrated forecast takes longer than its calibration.
pub(crate) const ALL_SCORED: u64 = 1 << 15;
const SCORED_BITS: u32 = 8;

/// For how many outcomes the CRPS of this one stands; 0 if it is not wanted. A sample is drawn by the numbers of series and row: nothing else is random about it.
pub(crate) fn weight(is_sample: bool, seed: u64, row: u64) -> u64 {
    if !is_sample {
        return 1;
    }
    // The upper bits of a product by an odd number near 2^64 divided by the golden ratio are evenly spread.
    let drawn = (row ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SCORED_BITS);
    if drawn == 0 { 1 << SCORED_BITS } else { 0 }
}

/// Outcomes seen, and how they were met: what every run counts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tally {
    /// Rows read.
    pub rows: u64,
    /// Outcomes met.
    pub outcomes: u64,
    /// Of them, within the base's 80 % interval.
    pub raw: u64,
    /// Of them, within the calibrated one.
    pub calibrated: u64,
    /// Rows whose quantiles crossed and were sorted.
    pub repaired: u64,
    /// Rows whose forecast had been given before.
    pub again: u64,
    /// Sums of the CRPS, of the base and calibrated, over `scored` outcomes: all of a run's first 32,768, one in 256 of the later ones, which stand for the rest.
    pub crps: [f64; 2],
    /// How many outcomes the sums stand for.
    pub scored: u64,
}

impl Tally {
    /// One more outcome, by its probit scores.
    pub(crate) fn learn(&mut self, scores: Scores) {
        self.outcomes += 1;
        self.raw += u64::from(scores.base.abs() <= EIGHTY);
        self.calibrated += u64::from(scores.calibrated.abs() <= EIGHTY);
    }

    /// The CRPS of an outcome.
    pub(crate) fn score(&mut self, weight: u64, crps: [f64; 2]) {
        self.scored += weight;
        (0..2).for_each(|side| self.crps[side] += weight as f64 * crps[side]);
    }

    /// One more outcome, by all of its scores.
    pub fn meet(&mut self, scores: &RowScores) {
        self.rows += 1;
        self.outcomes += 1;
        self.raw += u64::from(scores.covered[0]);
        self.calibrated += u64::from(scores.covered[1]);
        self.score(1, scores.crps);
    }

    /// Takes another one's counts.
    pub fn add(&mut self, other: &Tally) {
        self.rows += other.rows;
        self.outcomes += other.outcomes;
        self.raw += other.raw;
        self.calibrated += other.calibrated;
        self.repaired += other.repaired;
        self.again += other.again;
        self.scored += other.scored;
        (0..2).for_each(|side| self.crps[side] += other.crps[side]);
    }

    /// By how many percent the CRPS has changed.
    pub fn change(&self) -> Option<f64> {
        (self.scored > 0 && self.crps[0] > 0.0).then(|| 100.0 * (self.crps[1] / self.crps[0] - 1.0))
    }
}

/// Scores of one run; not part of a saved state.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) tally: Tally,
    pub(crate) scoreboard: Option<Box<Scoreboard>>,
    pub(crate) fan: VecDeque<FanPoint>,
}

/// What a row says besides its forecast.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    /// Its number in the batch.
    pub(crate) row: usize,
    pub(crate) outcome: Option<f64>,
    pub(crate) members: &'a [f64],
    /// For how many outcomes its CRPS stands.
    pub(crate) weight: u64,
    /// Whether the outcome is learned with the row, which counts it.
    pub(crate) is_learned: bool,
}

impl Record {
    /// Answers what is asked about a forecast, and scores it if its outcome is known to the file.
    pub(crate) fn answer(
        &mut self,
        row: Row<'_>,
        base: &dyn Forecast,
        calibrated: &dyn Forecast,
        draw: impl FnOnce() -> f64,
        question: &Question<'_>,
        answers: &mut Answered<'_>,
    ) -> Result<()> {
        question.prepared.fill(calibrated, row.members, answers.values);
        let ask = question.ask;
        if let Some(outcome) = row.outcome {
            self.meet(row, outcome, base, calibrated, draw, question, answers.scores)?;
        }
        if ask.fan > 0 {
            if self.fan.len() >= ask.fan {
                self.fan.pop_front();
            }
            self.fan.push_back(FanPoint {
                label: String::new(), // the fleet knows it
                outcome: row.outcome,
                calibrated: FAN.map(|p| calibrated.quantile(p)),
                raw: (base.at_probit(-EIGHTY), base.at_probit(EIGHTY)),
            });
        }
        Ok(())
    }
}

impl Record {
    /// Scores a forecast whose outcome is known to whoever asks, though it may not be learned yet.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn meet(
        &mut self,
        row: Row<'_>,
        outcome: f64,
        base: &dyn Forecast,
        calibrated: &dyn Forecast,
        draw: impl FnOnce() -> f64,
        question: &Question<'_>,
        scored: &mut Vec<RowScores>,
    ) -> Result<()> {
        let (ask, weight) = (question.ask, row.weight);
        let draw = (ask.row_scores || ask.scoreboards || !row.is_learned).then(draw).unwrap_or_default();
        let mut crps = None;
        if ask.row_scores {
            let scores = scores(row.row, base, calibrated, outcome, draw)?;
            crps = Some(scores.crps);
            scored.push(scores);
        }
        if ask.scoreboards {
            self.scoreboard.get_or_insert_default().observe(base, calibrated, outcome, draw)?;
        }
        if weight > 0 {
            let of = |forecast: &dyn Forecast| forecast.crps(outcome);
            let crps = match crps {
                Some(crps) => crps,
                None if ask.raw_only => [of(base); 2],
                None => [of(base), of(calibrated)],
            };
            if crps.iter().all(|crps| crps.is_finite()) {
                self.tally.score(weight, crps);
            }
        }
        if !row.is_learned {
            let probit = |forecast: &dyn Forecast| forecast.randomised_probit(outcome, draw);
            self.tally.learn(Scores { base: probit(base), calibrated: probit(calibrated) });
        }
        Ok(())
    }
}

/// How both forecasts met the outcome.
fn scores(
    row: usize,
    base: &dyn Forecast,
    calibrated: &dyn Forecast,
    outcome: f64,
    draw: f64,
) -> Result<RowScores> {
    let both = [base, calibrated];
    let ends = both.map(|forecast| (forecast.at_probit(-EIGHTY), forecast.at_probit(EIGHTY)));
    let crps = both.map(|forecast| forecast.crps(outcome));
    if let Some(&value) = crps.iter().find(|value| !value.is_finite()) {
        return Err(truecast::Error::NotFinite { what: "CRPS", value }.into());
    }
    Ok(RowScores {
        row,
        pit: both.map(|forecast| normal::cdf(forecast.randomised_probit(outcome, draw))),
        crps,
        covered: both.map(|forecast| Coverage::holds(forecast, outcome, 0.8)),
        width: ends.map(|(low, high)| high - low),
    })
}
