//! What a run says about one series, and keeps of it: answers, scores, counts and the last forecasts.

use std::collections::VecDeque;

use truecast::monitor::{Coverage, Scoreboard};
use truecast::{Forecast, normal};

use crate::ask::{Answered, FAN, FanPoint, Question, RowScores};
use crate::error::Result;

/// Φ⁻¹(0.9): an outcome whose probit score is within ± this lies in the central 80 % interval.
const EIGHTY: f64 = 1.281_551_565_544_600_4;

/// Outcomes seen, and how many lay in the 80 % intervals, ends included: what every run counts, because it costs next to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Rows read.
    pub rows: u64,
    /// Of them, with an outcome, be it learned now or later.
    pub outcomes: u64,
    /// Of them, within the base's 80 % interval.
    pub raw: u64,
    /// Of them, within the calibrated one.
    pub calibrated: u64,
    /// Rows whose quantiles crossed and were sorted.
    pub repaired: u64,
}

impl Tally {
    fn count(&mut self, base: &dyn Forecast, calibrated: &dyn Forecast, outcome: f64) {
        self.outcomes += 1;
        self.raw += u64::from(Coverage::holds(base, outcome, 0.8));
        self.calibrated += u64::from(Coverage::holds(calibrated, outcome, 0.8));
    }

    pub(crate) fn add(&mut self, other: &Tally) {
        self.rows += other.rows;
        self.outcomes += other.outcomes;
        self.raw += other.raw;
        self.calibrated += other.calibrated;
        self.repaired += other.repaired;
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
    pub(crate) outcome: Option<f64>,
    pub(crate) members: &'a [f64],
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
        let scoring = ask.row_scores || ask.scoreboards;
        if let Some(outcome) = row.outcome.filter(|_| scoring) {
            let draw = draw();
            if ask.row_scores {
                answers.scores.push(scores(answers.row, base, calibrated, outcome, draw)?);
            }
            if ask.scoreboards {
                self.scoreboard.get_or_insert_default().observe(base, calibrated, outcome, draw)?;
            }
        }
        if let Some(outcome) = row.outcome {
            self.tally.count(base, calibrated, outcome);
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
