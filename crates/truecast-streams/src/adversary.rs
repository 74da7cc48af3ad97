//! Adversaries: outcomes chosen after the forecast was seen.
//!
//! All of them speak in the base forecast's own units, through its probit scale, so they work on any stream of
//! forecasts and against any recalibrator; all are seeded. [`Opponent`](crate::Opponent) has them by name.

use std::fmt::Debug;

use truecast::{Error, Forecast, Result, normal};

use crate::Draws;

/// Who picks the outcome, knowing both distributions.
pub trait Adversary: Debug + Send {
    /// The outcome, given the base forecast and the calibrated one that was announced for it.
    fn outcome(&mut self, forecast: &dyn Forecast, calibrated: &dyn Forecast) -> f64;
}

/// Steps just outside of the announced central interval, on a random side among those within the bound.
///
/// Without the coverage guard it is never inside. Where neither side has room the outcome is uniform within the bound,
/// in base probit units.
#[derive(Debug, Clone)]
pub struct IntervalStepper {
    /// The probit score of the interval's lower end.
    low: f64,
    bound: f64,
    draws: Draws,
}

impl IntervalStepper {
    /// How far outside it steps, in base probit units.
    pub const STEP: f64 = 1e-3;

    /// Against the central interval of the given coverage, within ±`bound` base probit units (base standard deviations
    /// where the base is normal).
    pub fn new(coverage: f64, bound: f64, seed: u64) -> Result<Self> {
        inner_probability("coverage", coverage)?;
        positive("bound", bound)?;
        Ok(IntervalStepper { low: normal::quantile(0.5 * (1.0 - coverage)), bound, draws: Draws::new(seed) })
    }
}

impl Adversary for IntervalStepper {
    fn outcome(&mut self, forecast: &dyn Forecast, calibrated: &dyn Forecast) -> f64 {
        let (low, high) = (calibrated.at_probit(self.low), calibrated.at_probit(-self.low));
        let above = forecast.probit(high) + Self::STEP;
        let below = forecast.probit(low) - Self::STEP;
        let z = match (above.abs() <= self.bound, below.abs() <= self.bound) {
            (true, true) => {
                if self.draws.coin() {
                    above
                } else {
                    below
                }
            }
            (true, false) => above,
            (false, true) => below,
            (false, false) => self.draws.uniform_between(-self.bound, self.bound),
        };
        forecast.at_probit(z)
    }
}

/// Makes one event disagree with its announced probability: Y falls below the base forecast's quantile at a chosen
/// level exactly when the announced probability of that is less than one half.
///
/// No deterministic announcement is calibrated against it in the strict sense.
#[derive(Debug, Clone)]
pub struct LevelFlipper {
    level: f64,
    draws: Draws,
}

impl LevelFlipper {
    /// Against the event that Y is at most the base forecast's quantile at `probability`. The distance from that
    /// quantile is drawn between 0 and 1 base probit units.
    pub fn new(probability: f64, seed: u64) -> Result<Self> {
        inner_probability("level", probability)?;
        Ok(LevelFlipper { level: normal::quantile(probability), draws: Draws::new(seed) })
    }
}

impl Adversary for LevelFlipper {
    fn outcome(&mut self, forecast: &dyn Forecast, calibrated: &dyn Forecast) -> f64 {
        let announced = calibrated.cdf(forecast.at_probit(self.level));
        let distance = self.draws.uniform();
        forecast.at_probit(if announced < 0.5 { self.level - distance } else { self.level + distance })
    }
}

/// Gives the same base probit score for ever: all outcomes tie.
#[derive(Debug, Clone, Copy)]
pub struct Repeater {
    score: f64,
}

impl Repeater {
    /// Repeats the outcome whose base probit score is `score`.
    pub fn new(score: f64) -> Result<Self> {
        finite("score", score)?;
        Ok(Repeater { score })
    }
}

impl Adversary for Repeater {
    fn outcome(&mut self, forecast: &dyn Forecast, _calibrated: &dyn Forecast) -> f64 {
        forecast.at_probit(self.score)
    }
}

/// Goes round a list of base probit scores, staying at each for some steps; what was learned at one is wrong at the next.
#[derive(Debug, Clone)]
pub struct Alternator {
    scores: Vec<f64>,
    stay: u64,
    step: u64,
}

impl Alternator {
    /// Stays `stay` steps at each of the scores, in turn.
    pub fn new(scores: Vec<f64>, stay: u64) -> Result<Self> {
        if scores.is_empty() {
            return Err(Error::TooFew { what: "scores", least: 1, found: 0 });
        }
        for &score in &scores {
            finite("score", score)?;
        }
        positive("steps at each score", stay as f64)?;
        Ok(Alternator { scores, stay, step: 0 })
    }
}

impl Adversary for Alternator {
    fn outcome(&mut self, forecast: &dyn Forecast, _calibrated: &dyn Forecast) -> f64 {
        let turn = (self.step / self.stay) % self.scores.len() as u64;
        self.step += 1;
        forecast.at_probit(self.scores[turn as usize])
    }
}

/// Puts the outcome where the histogram of announced PITs is fullest so far, so that it fills further.
///
/// Ties go to the lowest bin. The outcome is uniform within the bin, kept within ±`bound` base probit units.
#[derive(Debug, Clone)]
pub struct WorstPit {
    counts: Vec<u64>,
    bound: f64,
    draws: Draws,
}

impl WorstPit {
    /// Watches a histogram of `bins` equal bins of [0, 1].
    pub fn new(bins: usize, bound: f64, seed: u64) -> Result<Self> {
        positive("number of bins", bins as f64)?;
        positive("bound", bound)?;
        Ok(WorstPit { counts: vec![0; bins], bound, draws: Draws::new(seed) })
    }

    /// How many announced PITs fell into each bin.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

impl Adversary for WorstPit {
    fn outcome(&mut self, forecast: &dyn Forecast, calibrated: &dyn Forecast) -> f64 {
        let bins = self.counts.len() as f64;
        let fullest = (0..self.counts.len()).rev().max_by_key(|&bin| self.counts[bin]).unwrap_or(0);
        let pit = (fullest as f64 + self.draws.uniform()) / bins;
        let score = forecast.probit(calibrated.quantile(pit)).clamp(-self.bound, self.bound);
        let outcome = forecast.at_probit(score);
        let bin = ((calibrated.cdf(outcome) * bins) as usize).min(self.counts.len() - 1);
        self.counts[bin] += 1;
        outcome
    }
}

fn finite(what: &'static str, value: f64) -> Result<()> {
    if value.is_finite() { Ok(()) } else { Err(Error::NotFinite { what, value }) }
}

fn positive(what: &'static str, value: f64) -> Result<()> {
    finite(what, value)?;
    if value > 0.0 { Ok(()) } else { Err(Error::NotPositive { what, value }) }
}

fn inner_probability(what: &'static str, value: f64) -> Result<()> {
    let inside = value > 0.0 && value < 1.0;
    if inside {
        Ok(())
    } else {
        Err(Error::OutOfRange { what, rule: "greater than 0 and less than 1", value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truecast::Gaussian;

    fn pair() -> (Gaussian, Gaussian) {
        (Gaussian::new(10.0, 2.0).unwrap(), Gaussian::new(11.0, 1.0).unwrap())
    }

    #[test]
    fn interval_stepper_is_never_inside_and_always_within_its_bound() {
        let (base, announced) = pair();
        let (low, high) = announced.interval(0.8).unwrap();
        let mut adversary = IntervalStepper::new(0.8, 4.0, 0).unwrap();
        let outcomes: Vec<f64> = (0..100).map(|_| adversary.outcome(&base, &announced)).collect();
        for y in &outcomes {
            assert!(!(low..=high).contains(y) && base.probit(*y).abs() <= 4.0, "{y}");
        }
        assert!(outcomes.iter().any(|&y| y < low) && outcomes.iter().any(|&y| y > high));
    }

    #[test]
    fn interval_stepper_without_room_stays_within_its_bound() {
        let (base, _) = pair();
        let wide = Gaussian::new(10.0, 100.0).unwrap();
        let mut adversary = IntervalStepper::new(0.8, 4.0, 0).unwrap();
        for _ in 0..100 {
            let y = adversary.outcome(&base, &wide);
            assert!(base.probit(y).abs() <= 4.0, "{y}");
        }
    }

    #[test]
    fn level_flipper_makes_the_event_disagree_with_its_probability() {
        let base = Gaussian::new(10.0, 2.0).unwrap();
        for (shift, below) in [(-1.0, false), (1.0, true)] {
            let announced = Gaussian::new(10.0 + shift, 2.0).unwrap();
            let mut adversary = LevelFlipper::new(0.5, 0).unwrap();
            for _ in 0..100 {
                let y = adversary.outcome(&base, &announced);
                assert_eq!(y <= base.quantile(0.5), below, "{y}");
            }
        }
    }

    #[test]
    fn repeater_and_alternator_go_by_base_scores() {
        let (base, announced) = pair();
        assert_eq!(Repeater::new(1.5).unwrap().outcome(&base, &announced), 13.0);
        let mut adversary = Alternator::new(vec![-1.0, 1.0], 2).unwrap();
        let outcomes: Vec<f64> = (0..5).map(|_| adversary.outcome(&base, &announced)).collect();
        assert_eq!(outcomes, [8.0, 8.0, 12.0, 12.0, 8.0]);
    }

    #[test]
    fn worst_pit_fills_the_fullest_bin() {
        let (base, announced) = pair();
        let mut adversary = WorstPit::new(10, 6.0, 0).unwrap();
        for _ in 0..50 {
            adversary.outcome(&base, &announced);
        }
        assert_eq!(adversary.counts()[0], 50, "{:?}", adversary.counts());
    }

    #[test]
    fn bad_parameters_are_refused() {
        let rule = "greater than 0 and less than 1";
        let refused = IntervalStepper::new(1.0, 4.0, 0).unwrap_err();
        assert_eq!(refused, Error::OutOfRange { what: "coverage", rule, value: 1.0 });
        let refused = WorstPit::new(0, 4.0, 0).unwrap_err();
        assert_eq!(refused, Error::NotPositive { what: "number of bins", value: 0.0 });
        assert!(Alternator::new(vec![], 1).is_err() && Alternator::new(vec![1.0], 0).is_err());
        assert!(Repeater::new(f64::INFINITY).is_err() && LevelFlipper::new(0.0, 0).is_err());
    }
}
