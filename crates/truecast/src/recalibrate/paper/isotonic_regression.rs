//! Calibrated regression by isotonic regression of the empirical frequencies on the PIT, refitted online.
//!
//! Guarantee: if the PITs U_s = F_s(y_s) are independent and have one distribution function R, then (Dvoretzky, Kiefer,
//! Wolfowitz) the fit is within √(ln(2/δ)/2n) + 1/(n + 1) of R at every bin edge, with probability 1 − δ. What is announced
//! lacks at most the newest hundredth of the observations, and is straight between edges. It is an i.i.d. method: on a stream
//! that changes, or against an adversary, nothing is promised (`tests/baselines.rs` shows it failing). A half-life makes it
//! follow slow changes, at the price of noise that no longer shrinks, and still promises nothing.
//!
//! ```text
//! pairs       (U_s, P̂(U_s)),   P̂(u) = (Σ_s w_s 1{U_s ≤ u} + w u) / (Σ_s w_s + w)     one observation of prior, spread evenly
//! weights     w_s = 1, or 2^((s − now)/half-life); w is that of a new observation
//! fit         the non-decreasing function nearest to the pairs in squares, straight between them
//! announce    fit(u_j) at the levels
//! ```
//!
//! The pairs are non-decreasing already, since P̂ is, so the nearest non-decreasing function runs through them and pooling
//! adjacent violators has nothing to pool but rounding: isotonic regression of an empirical distribution function *is* that
//! function, at any weights. It smooths only through the grid: outcomes are kept as weights of equal bins in probit units between
//! the outer levels (±6 in 200 bins by default, so 0.06 standard deviations of a Gaussian each), every PIT rounded up to its bin's
//! upper edge, where P̂ is exact. Equal bins in probability would hold all outcomes of an overconfident forecaster in the two outer
//! ones; and a fit that is read at 25 levels does not follow every gap of a small sample, as one knot per bin would.
//!
//! Refits happen when the weight that is new reaches a hundredth of the whole: each of the first hundred steps, then every
//! n/100. Between them the fit is out of date by at most 1/100 in probability.
//!
//! Cost: a binary search to learn, a copy of the levels to announce, and O(bins) per refit, which is 100 bins/n per step after
//! the first hundred, or about 70 bins/half-life; memory O(bins + levels) at any number of steps.
//!
//! Source: Kuleshov, Fenner & Ermon (2018), "Accurate Uncertainties for Deep Learning Using Calibrated Regression",
//! algorithm 1, whose recalibration set is a fixed one. Where we differ: the set grows with the stream and is binned, there is a
//! prior, an optional half-life, and tails beyond the outer levels, where a plain isotonic regression is constant.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{self, Error, Result, SnapshotError};
use crate::forecast::Forecast;
use crate::grid::{Levels, equally_spaced};
use crate::normal;
use crate::recalibrate::{Groups, MapShape, Plan, Recalibrator, isotonic};
use crate::stream::Snapshot;

/// The most bins that are accepted.
const MOST_BINS: usize = 1_000_000;
/// The part of all weight that may be new before the fit is made again.
const STALE: f64 = 0.01;
/// Weights grow by 2^(1/half-life) per step instead of all old ones shrinking; past this they are divided by it.
const LARGEST_UNIT: f64 = (1_u128 << 100) as f64;

/// Parameters of [`IsotonicRegression`].
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `levels` | 25, stretched over ±6 | where probabilities are announced | |
/// | `bins` | 200 | equal bins in probit units between the outer levels | 1 to 1,000,000 |
/// | `half_life` | none | outcomes after which an old one counts half | > 0 |
/// | `seed` | 0 | key of the draws that split atoms | any |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IsotonicRegressionParameters {
    /// Where probabilities are announced.
    pub levels: Levels,
    /// Bins between the outer levels.
    pub bins: usize,
    /// Outcomes after which an old one counts half.
    pub half_life: Option<f64>,
    /// The key of the draws that split atoms.
    pub seed: u64,
}

impl Default for IsotonicRegressionParameters {
    fn default() -> Self {
        IsotonicRegressionParameters { levels: Levels::default(), bins: 200, half_life: None, seed: 0 }
    }
}

/// Isotonic regression of the empirical frequency on the PIT, as a recalibrator.
///
/// ```
/// use truecast::recalibrate::{IsotonicRegression, IsotonicRegressionParameters};
/// use truecast::{Forecast, Gaussian, Recalibrator};
///
/// let parameters = IsotonicRegressionParameters { half_life: Some(500.0), ..Default::default() };
/// let mut recalibrator = IsotonicRegression::new(parameters)?;
/// let forecast = Gaussian::new(0.0, 2.0)?;
/// for k in 0..1000 {
///     recalibrator.observe(&forecast, f64::from(k % 21 - 10) / 10.0)?; // within ±1: half a standard deviation
/// }
/// let calibrated = recalibrator.recalibrate(forecast)?;
/// assert!(calibrated.quantile(0.9) < 1.1);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct IsotonicRegression {
    parameters: IsotonicRegressionParameters,
    levels: Arc<Levels>,
    grid: Arc<Grid>,
    /// What a new observation weighs more than the one before it.
    growth: f64,
    learned: Learned,
}

/// Everything that changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Learned {
    /// Weight of each bin; the last lies above all edges.
    weights: Vec<f64>,
    /// What the next observation weighs.
    unit: f64,
    /// The weight that came since the last fit.
    fresh: f64,
    /// The weight at the last fit.
    fitted: f64,
    /// The last fit at the levels, non-decreasing.
    fit: Vec<f64>,
    steps: u64,
}

/// What follows from the parameters.
#[derive(Debug, PartialEq)]
struct Grid {
    edges: Vec<f64>,
    /// Φ of the edges.
    probabilities: Vec<f64>,
    /// For each level the edge below it, and how far it lies, in probability, towards the next.
    places: Vec<(usize, f64)>,
}

impl Grid {
    fn new(levels: &Levels, bins: usize) -> Self {
        let z = levels.probits();
        let edges: Vec<f64> = equally_spaced(z[0], z[z.len() - 1], bins + 1).collect();
        let probabilities: Vec<f64> = edges.iter().map(|&e| normal::cdf(e)).collect();
        let place = |(&z, &u): (&f64, &f64)| {
            let i = edges.partition_point(|&edge| edge <= z).clamp(1, bins) - 1;
            let (low, high) = (probabilities[i], probabilities[i + 1]);
            // Far out two edges may have one probability.
            (i, if high > low { ((u - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 })
        };
        let places = z.iter().zip(levels.probabilities()).map(place).collect();
        Grid { edges, probabilities, places }
    }
}

impl IsotonicRegression {
    /// Starts with the prior alone.
    pub fn new(parameters: IsotonicRegressionParameters) -> Result<Self> {
        if parameters.bins == 0 {
            return Err(Error::TooFew { what: "bins", least: 1, found: 0 });
        }
        if parameters.bins > MOST_BINS {
            let value = parameters.bins as f64;
            return Err(Error::OutOfRange { what: "bins", rule: "at most a million", value });
        }
        let growth = match parameters.half_life {
            None => 1.0,
            Some(half_life) => libm::exp2(1.0 / error::positive("half-life", half_life)?),
        };
        if growth > LARGEST_UNIT {
            let value = parameters.half_life.unwrap_or_default();
            return Err(Error::OutOfRange { what: "half-life", rule: "at least a hundredth", value });
        }
        let levels = Arc::new(parameters.levels.clone());
        let grid = Arc::new(Grid::new(&levels, parameters.bins));
        let fit = levels.probabilities().to_vec();
        let weights = vec![0.0; grid.edges.len() + 1];
        let learned = Learned { weights, unit: 1.0, fresh: 0.0, fitted: 0.0, fit, steps: 0 };
        Ok(IsotonicRegression { parameters, levels, grid, growth, learned })
    }

    /// The parameters.
    pub fn parameters(&self) -> &IsotonicRegressionParameters {
        &self.parameters
    }

    /// The fit at the levels, as it was last made.
    pub fn fit(&self) -> &[f64] {
        &self.learned.fit
    }

    fn refit(&mut self) {
        let Learned { weights, unit, fresh, fitted, fit, .. } = &mut self.learned;
        *fitted = weights.iter().sum();
        *fresh = 0.0;
        let prior = *unit / self.growth; // what the last observation weighed
        let total = *fitted + prior;
        let (mut edge, mut below) = (0, weights[0]);
        for (announced, &(place, fraction)) in fit.iter_mut().zip(&self.grid.places) {
            while edge < place {
                edge += 1;
                below += weights[edge];
            }
            let at = |below: f64, edge: usize| below + prior * self.grid.probabilities[edge];
            let (low, high) = (at(below, edge), at(below + weights[edge + 1], edge + 1));
            *announced = (((1.0 - fraction) * low + fraction * high) / total).min(1.0);
        }
        // Nothing to pool but rounding: see the opening.
        isotonic::project(fit, |_| 1.0);
    }
}

impl Recalibrator for IsotonicRegression {
    fn propose(&self, _: &dyn Forecast, groups: Groups, step: u64, plan: &mut Plan) -> Result<()> {
        groups.none()?;
        (plan.step, plan.settled) = (step, self.learned.steps);
        plan.said.clone_from(&self.learned.fit);
        plan.memo.clear();
        plan.map.set_announced(&self.levels, &plan.said, MapShape::Probit);
        Ok(())
    }

    fn learn(&mut self, plan: &Plan, z: f64) -> Result<()> {
        plan.expect_said(self.levels.count(), 0)?;
        error::score(z)?;
        let learned = &mut self.learned;
        learned.weights[self.grid.edges.partition_point(|&edge| edge < z)] += learned.unit;
        learned.fresh += learned.unit;
        learned.steps += 1;
        learned.unit *= self.growth;
        if learned.fresh >= STALE * (learned.fitted + learned.fresh) {
            self.refit();
        }
        let learned = &mut self.learned;
        if learned.unit > LARGEST_UNIT {
            // A power of two: nothing but what vanishes is rounded.
            let shrink = 1.0 / LARGEST_UNIT;
            learned.weights.iter_mut().for_each(|weight| *weight *= shrink);
            (learned.unit, learned.fresh, learned.fitted) =
                (learned.unit * shrink, learned.fresh * shrink, learned.fitted * shrink);
        }
        Ok(())
    }

    fn steps(&self) -> u64 {
        self.learned.steps
    }

    fn seed(&self) -> u64 {
        self.parameters.seed
    }

    fn validate_plan(&self, plan: &Plan) -> Result<(), SnapshotError> {
        plan.validate_said(self.levels.count(), 0, true)
    }
}

/// The saved form.
#[derive(Serialize, Deserialize)]
struct State {
    parameters: IsotonicRegressionParameters,
    learned: Learned,
}

impl TryFrom<State> for IsotonicRegression {
    type Error = Error;
    fn try_from(state: State) -> Result<Self> {
        let State { parameters, learned } = state;
        // Before anything of that size is made.
        if learned.weights.len().checked_sub(2) != Some(parameters.bins) {
            return Err(
                SnapshotError::Invalid { field: "weights", rule: "one per bin and two outside" }.into()
            );
        }
        let mut regression = IsotonicRegression::new(parameters)?;
        let sizes = [learned.fresh, learned.fitted];
        let total: f64 = learned.weights.iter().sum();
        if !total.is_finite() || !learned.weights.iter().chain(&sizes).all(|w| *w >= 0.0 && w.is_finite()) {
            return Err(SnapshotError::Invalid { field: "weights", rule: "finite, zero or more" }.into());
        }
        let faded = regression.parameters.half_life.is_some();
        if !(1.0..=if faded { LARGEST_UNIT } else { 1.0 }).contains(&learned.unit) {
            let rule = "1, or with a half-life between 1 and 2^100";
            return Err(SnapshotError::Invalid { field: "unit", rule }.into());
        }
        if learned.steps >= 1 << 53 || (!faded && total != learned.steps as f64) {
            let rule = "below 2^53, and without a half-life the sum of the weights";
            return Err(SnapshotError::Invalid { field: "steps", rule }.into());
        }
        let ordered = learned.fit.windows(2).all(|pair| pair[0] <= pair[1]);
        let unit = learned.fit.iter().all(|p| (0.0..=1.0).contains(p));
        if learned.fit.len() != regression.levels.count() || !ordered || !unit {
            let rule = "one probability per level, non-decreasing";
            return Err(SnapshotError::Invalid { field: "fit", rule }.into());
        }
        regression.learned = learned;
        Ok(regression)
    }
}

impl From<IsotonicRegression> for State {
    fn from(of: IsotonicRegression) -> Self {
        State { parameters: of.parameters, learned: of.learned }
    }
}

impl Snapshot for IsotonicRegression {
    fn name() -> String {
        "isotonic".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(bins: usize, half_life: Option<f64>) -> Result<IsotonicRegression> {
        let levels = Levels::new(vec![-1.0, 0.0, 1.0])?;
        IsotonicRegression::new(IsotonicRegressionParameters { levels, bins, half_life, seed: 0 })
    }

    fn settle(regression: &mut IsotonicRegression, scores: &[f64]) {
        let plan = Plan { said: vec![0.5; 3], ..Plan::default() };
        for z in scores {
            regression.learn(&plan, *z).unwrap();
        }
    }

    #[test]
    fn the_fit_is_the_empirical_distribution_function() {
        let mut regression = with(4, None).unwrap();
        settle(&mut regression, &[-3.0, -1.0, -0.3, 0.2, 0.9, f64::INFINITY]);
        let want = [2.0, 3.0, 5.0].iter().zip([-1.0, 0.0, 1.0]).map(|(n, z)| (n + normal::cdf(z)) / 7.0);
        for (got, want) in regression.fit().iter().zip(want) {
            assert!((got - want).abs() < 1e-15, "{:?}", regression.fit());
        }
    }

    /// With half-life 1 the last outcome weighs as much as the prior and twice as much as the one before it.
    #[test]
    fn a_half_life_forgets() {
        let mut regression = with(2, Some(1.0)).unwrap();
        settle(&mut regression, &vec![-5.0; 400]); // passes 2^100 three times
        settle(&mut regression, &[5.0, 5.0]);
        let below = 0.25 * 2.0; // ½² · (1 + ½ + …)
        let want = (below + 0.5) / (2.0 + 1.0);
        assert!((regression.fit()[1] - want).abs() < 1e-15, "{:?}", regression.fit());
    }

    #[test]
    fn refits_are_rare_and_resumed_fits_are_the_same() {
        let mut regression = with(4, None).unwrap();
        let mut refits = 0;
        for t in 0..10_000_u64 {
            let before = regression.learned.fitted;
            settle(&mut regression, &[normal::quantile(crate::random::uniform(1, t, 0))]);
            refits += u32::from(regression.learned.fitted != before);
        }
        // 100 at first, then one per factor 1/0.99: 100 + ln 100 / −ln 0.99 = 558, less what rounding up saves.
        assert!((400..=560).contains(&refits), "{refits}");
        let again = IsotonicRegression::try_from(State::from(regression.clone())).unwrap();
        assert_eq!(again, regression);
    }

    #[test]
    fn bad_input_is_refused() {
        assert_eq!(with(0, None), Err(Error::TooFew { what: "bins", least: 1, found: 0 }));
        let error = Error::OutOfRange { what: "bins", rule: "at most a million", value: 1_000_001.0 };
        assert_eq!(with(1_000_001, None), Err(error));
        assert_eq!(with(4, Some(0.0)), Err(Error::NotPositive { what: "half-life", value: 0.0 }));
        let (what, rule) = ("half-life", "at least a hundredth");
        assert_eq!(with(4, Some(1e-3)), Err(Error::OutOfRange { what, rule, value: 1e-3 }));
        let damaged = |change: fn(&mut Learned)| {
            let mut state = State::from(with(4, None).unwrap());
            change(&mut state.learned);
            match IsotonicRegression::try_from(state) {
                Err(Error::Snapshot(SnapshotError::Invalid { field, .. })) => field,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(damaged(|l| l.weights.truncate(3)), "weights");
        assert_eq!(damaged(|l| l.weights[1] = -1.0), "weights");
        assert_eq!(damaged(|l| l.weights.fill(1e308)), "weights");
        assert_eq!(damaged(|l| l.fresh = f64::NAN), "weights");
        assert_eq!(damaged(|l| l.unit = 2.0), "unit");
        assert_eq!(damaged(|l| l.steps = 7), "steps");
        assert_eq!(damaged(|l| l.fit[0] = 0.9), "fit");
        assert_eq!(damaged(|l| l.fit.truncate(2)), "fit");
    }
}
