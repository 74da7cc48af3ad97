//! Calibrated regression by tophat density estimation: the running histogram of the PIT.
//!
//! Guarantee: if the PITs U_s = F_s(y_s) are independent and have one distribution function R, then by the inequality of
//! Dvoretzky, Kiefer and Wolfowitz every announced probability is within √(ln(2/δ)/2n) + 1/(n + 1) of R(u_j), at all
//! levels at once and with probability 1 − δ. It is an i.i.d. method: on a stream that changes, or against an
//! adversary, nothing is promised (`tests/baselines.rs` shows it failing).
//!
//! ```text
//! c_k = #{s : (k−1)/M < U_s ≤ k/M}                      k = 1 … M
//! R(j/M) = (c_1 + … + c_j + j/M) / (n + 1)              one observation of prior, spread evenly
//! G = R ∘ F
//! ```
//!
//! Cost: one count to learn, a running sum over M cells to announce; M counts of memory.
//!
//! Source: Kuleshov, Fenner & Ermon (2018), "Accurate Uncertainties for Deep Learning Using Calibrated Regression", as the paper's
//! section 5 runs it: "kernel density estimation with a tophat kernel", a running average of frequencies. Where we differ: a
//! histogram density makes R straight between levels in *probability*, while our map is straight in *probit units*. The two agree
//! at the levels and where R is the identity. In an inner cell they differ by at most the cell's announced mass and in practice by
//! far less (0.002 where forecasts are twice too wide, M = 20). In the two outer cells the histogram says R(u) = u R(u_1)/u_1 and so gives
//! every forecaster the base's own tails but for a factor; the map goes on with the slope of its outer quarter, which follows the tails.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{self, Error, Result, SnapshotError};
use crate::forecast::Forecast;
use crate::grid::Levels;
use crate::recalibrate::{Groups, MapShape, Plan, Recalibrator};
use crate::stream::Snapshot;

/// The running histogram of the PIT as a recalibrator: the i.i.d. baseline.
///
/// ```
/// use truecast::recalibrate::Tophat;
/// use truecast::{Forecast, Gaussian, Recalibrator};
///
/// let mut recalibrator = Tophat::default(); // 20 cells
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
pub struct Tophat {
    levels: Arc<Levels>,
    /// c_k; one entry more than there are levels.
    counts: Vec<u64>,
    steps: u64,
    seed: u64,
}

impl Default for Tophat {
    /// 20 cells, seed 0.
    fn default() -> Self {
        let probabilities = (1..20).map(|j| crate::normal::quantile(f64::from(j) / 20.0));
        // Increasing by construction; should it ever not be, the default levels serve as well.
        let levels = Levels::new(probabilities.collect()).unwrap_or_default();
        Tophat { counts: vec![0; levels.count() + 1], levels: Arc::new(levels), steps: 0, seed: 0 }
    }
}

impl Tophat {
    /// A histogram of `cells` equal cells of [0, 1], at least three; `seed` keys the splitting of atoms.
    pub fn new(cells: usize, seed: u64) -> Result<Self> {
        let levels = Arc::new(Levels::uniform(cells)?);
        Ok(Tophat { levels, counts: vec![0; cells], steps: 0, seed })
    }

    /// How many PITs fell into each cell.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

impl Recalibrator for Tophat {
    fn propose(&self, _: &dyn Forecast, groups: Groups, step: u64, plan: &mut Plan) -> Result<()> {
        groups.none()?;
        (plan.step, plan.settled) = (step, self.steps);
        let total = self.steps as f64 + 1.0;
        let mut below = 0;
        let levels = self.levels.probabilities().iter().zip(&self.counts);
        plan.said.clear();
        plan.said.extend(levels.map(|(u, count)| {
            below += count;
            (below as f64 + u) / total
        }));
        plan.memo.clear();
        plan.map.set_announced(&self.levels, &plan.said, MapShape::Probit);
        Ok(())
    }

    fn learn(&mut self, plan: &Plan, z: f64) -> Result<()> {
        plan.expect_said(self.levels.count(), 0)?;
        error::score(z)?;
        self.counts[self.levels.probits().partition_point(|&level| level < z)] += 1;
        self.steps += 1;
        Ok(())
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn validate_plan(&self, plan: &Plan) -> Result<(), SnapshotError> {
        plan.validate_said(self.levels.count(), 0, true)
    }
}

/// The saved form: there are as many cells as counts.
#[derive(Serialize, Deserialize)]
struct State {
    counts: Vec<u64>,
    seed: u64,
}

impl TryFrom<State> for Tophat {
    type Error = Error;
    fn try_from(state: State) -> Result<Self> {
        let State { counts, seed } = state;
        let invalid = SnapshotError::Invalid { field: "counts", rule: "below 2^53 in all" };
        let steps = counts.iter().try_fold(0_u64, |sum, count| sum.checked_add(*count));
        let steps = steps.filter(|steps| *steps < 1 << 53).ok_or(invalid)?;
        Ok(Tophat { steps, levels: Arc::new(Levels::uniform(counts.len())?), counts, seed })
    }
}

impl From<Tophat> for State {
    fn from(of: Tophat) -> Self {
        State { counts: of.counts, seed: of.seed }
    }
}

impl Snapshot for Tophat {
    fn name() -> String {
        "tophat".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gaussian, normal};

    #[test]
    fn announces_relative_frequencies_with_one_prior_observation() {
        let mut recalibrator = Tophat::new(4, 0).unwrap();
        let forecast = Gaussian::new(0.0, 1.0).unwrap();
        for pit in [0.1, 0.25, 0.3, 0.9] {
            // The probit of 0.25 is the level itself, and an edge belongs to the cell below.
            recalibrator.observe(&forecast, normal::quantile(pit)).unwrap();
        }
        assert_eq!(recalibrator.counts(), [2, 1, 0, 1]);
        let mut plan = recalibrator.empty_plan();
        recalibrator.plan(&forecast, Groups::NONE, 4, &mut plan).unwrap();
        let announced = plan.said();
        for (got, want) in announced.iter().zip([2.25 / 5.0, 3.5 / 5.0, 3.75 / 5.0]) {
            assert!((got - want).abs() < 1e-15, "{announced:?}");
        }
    }

    #[test]
    fn bad_input_is_refused() {
        assert_eq!(Tophat::new(2, 0), Err(Error::TooFew { what: "levels", least: 2, found: 1 }));
        let overflow = State { counts: vec![u64::MAX, 1, 0], seed: 0 };
        let invalid = SnapshotError::Invalid { field: "counts", rule: "below 2^53 in all" };
        assert_eq!(Tophat::try_from(overflow), Err(Error::Snapshot(invalid)));
        assert_eq!(Tophat::default(), Tophat::new(20, 0).unwrap());
        let group = Groups::of(&[2]).unwrap();
        let recalibrator = Tophat::default();
        let forecast = Gaussian::new(0.0, 1.0).unwrap();
        let planned = recalibrator.plan(&forecast, group, 0, &mut recalibrator.empty_plan());
        assert_eq!(planned, Err(Error::UnknownGroup { group: 2, count: 0 }));
    }
}
