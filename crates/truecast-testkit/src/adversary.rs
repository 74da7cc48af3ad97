//! Adversaries: outcomes chosen after the forecast was seen.
//!
//! All of them speak in the base forecast's own units, through its probit scale, so they work on any stream of
//! forecasts; all are seeded.

use std::fmt::Debug;

use truecast::{Forecast, normal};

use crate::streams::Draws;

/// Who picks the outcome, knowing both distributions.
pub trait Adversary: Debug {
    /// The outcome, given the base forecast and the calibrated one that was announced for it.
    fn outcome(&mut self, forecast: &dyn Forecast, calibrated: &dyn Forecast) -> f64;
}

/// Steps just outside of the announced central interval, on a random side among those within the bound.
///
/// Without the coverage guard it is never inside. Where neither side has room the outcome is uniform within the bound,
/// in base probit units.
#[derive(Debug, Clone)]
pub struct IntervalStepper {
    coverage: f64,
    bound: f64,
    draws: Draws,
}

impl IntervalStepper {
    /// How far outside it steps, in base probit units.
    pub const STEP: f64 = 1e-3;

    /// Against the central interval of the given coverage, within ±`bound` base probit units (base standard deviations
    /// where the base is normal).
    pub fn new(coverage: f64, bound: f64, seed: u64) -> Self {
        assert!(coverage > 0.0 && coverage < 1.0, "coverage {coverage} must lie between 0 and 1");
        assert!(bound > 0.0 && bound.is_finite(), "bound {bound} must be positive and finite");
        IntervalStepper { coverage, bound, draws: Draws::new(seed) }
    }
}

impl Adversary for IntervalStepper {
    fn outcome(&mut self, forecast: &dyn Forecast, calibrated: &dyn Forecast) -> f64 {
        let (low, high) = calibrated.interval(self.coverage).expect("the coverage was checked");
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
    pub fn new(probability: f64, seed: u64) -> Self {
        assert!(probability > 0.0 && probability < 1.0, "level {probability} must lie between 0 and 1");
        LevelFlipper { level: normal::quantile(probability), draws: Draws::new(seed) }
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
    pub fn new(score: f64) -> Self {
        Repeater { score }
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
    pub fn new(scores: Vec<f64>, stay: u64) -> Self {
        assert!(!scores.is_empty() && stay > 0, "an alternator needs scores, and steps at each");
        Alternator { scores, stay, step: 0 }
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
    pub fn new(bins: usize, bound: f64, seed: u64) -> Self {
        assert!(bins > 0, "a histogram needs bins");
        assert!(bound > 0.0 && bound.is_finite(), "bound {bound} must be positive and finite");
        WorstPit { counts: vec![0; bins], bound, draws: Draws::new(seed) }
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
        let mut adversary = IntervalStepper::new(0.8, 4.0, 0);
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
        let mut adversary = IntervalStepper::new(0.8, 4.0, 0);
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
            let mut adversary = LevelFlipper::new(0.5, 0);
            for _ in 0..100 {
                let y = adversary.outcome(&base, &announced);
                assert_eq!(y <= base.quantile(0.5), below, "{y}");
            }
        }
    }

    #[test]
    fn repeater_and_alternator_go_by_base_scores() {
        let (base, announced) = pair();
        assert_eq!(Repeater::new(1.5).outcome(&base, &announced), 13.0);
        let mut adversary = Alternator::new(vec![-1.0, 1.0], 2);
        let outcomes: Vec<f64> = (0..5).map(|_| adversary.outcome(&base, &announced)).collect();
        assert_eq!(outcomes, [8.0, 8.0, 12.0, 12.0, 8.0]);
    }

    #[test]
    fn worst_pit_fills_the_fullest_bin() {
        let (base, announced) = pair();
        let mut adversary = WorstPit::new(10, 6.0, 0);
        for _ in 0..50 {
            adversary.outcome(&base, &announced);
        }
        assert_eq!(adversary.counts()[0], 50, "{:?}", adversary.counts());
    }
}
