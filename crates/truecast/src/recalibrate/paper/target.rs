//! From an accuracy ε to the paper's parameters, and what the paper claims for them next to what is measured.
//!
//! The paper's main theorem: for outcomes with |y| < B/2, Algorithm 1 with M = N ≥ 2B/ε and (ε/2B)-calibrated subroutines is
//! ε-recalibrated, that is
//!
//! ```text
//! C_T(y) ≤ R_T + ε/2B for every y                          (lemma 1)
//! CRPS of G less CRPS of F ≤ N B R_T + 2B/N → 2B/N ≤ ε     (lemma 3)
//! ```
//!
//! With approachability on plays i/N the subroutine's error is at most h/2 + √(2(N+1)/T), h = 1/N, in expectation over its coins
//! (docs/theory.md, "Approachability"): R_T = √(2(N+1)/T), and its floor 1/2N ≤ ε/4B is half of what the theorem asks for.
//!
//! **What of this holds.** The calibration of every level, which [`ClaimedBound::calibration_at`] states and
//! [`AlgorithmOneReport`] measures, is proven on every stream. That the same holds at a fixed y, and that the regret in CRPS
//! is bounded, does not follow unless F_t(y) stays in one cell: on stream A of docs/theory.md, "Where that guarantee stops",
//! the CRPS is a third worse than the base's at any T while every level is calibrated. [`ClaimedBound::regret_at`] is the
//! paper's claim, for comparison, and no promise of ours.
//!
//! Cost: a report reads M × (N + 1) sums.

use std::fmt;

use serde::Serialize;

use super::{AlgorithmOne, AlgorithmOneParameters};
use crate::error::{self, Error, Result};
use crate::recalibrate::Recalibrator;
use crate::subroutine::Subroutine;

/// The largest M and N that are accepted: the subroutines then hold 32 MB.
pub(super) const MOST_INTERVALS: usize = 2000;

/// What the paper claims for Algorithm 1 at an accuracy ε. See the limits in [`regret_at`](ClaimedBound::regret_at).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClaimedBound {
    /// ε.
    pub epsilon: f64,
    /// B: outcomes lie within ±B/2.
    pub bound: f64,
    /// M = N.
    pub resolution: usize,
}

impl ClaimedBound {
    /// ε/2B: the calibration error that is left as T → ∞, by the paper's theorem.
    pub fn calibration_limit(&self) -> f64 {
        self.epsilon / (2.0 * self.bound)
    }

    /// 2B/N ≤ ε: the regret in CRPS that is left as T → ∞, by the paper's theorem; in units of the outcome.
    pub fn regret_limit(&self) -> f64 {
        2.0 * self.bound / self.resolution as f64
    }

    /// 1/2N + √(2(N+1)/T): the expected ℓ1 calibration error of a level after T steps with approachability. Proven on every stream.
    pub fn calibration_at(&self, steps: u64) -> f64 {
        0.5 / self.resolution as f64 + self.rate(steps)
    }

    /// N B √(2(N+1)/T) + 2B/N: the paper's bound on the mean regret in CRPS after T steps, with approachability.
    ///
    /// A claim that does not follow where the cell of F_t(y) changes from step to step. Where the cell is fixed it is true, and loose:
    /// it says nothing until T > 2(N+1)N² or so, since a CRPS on a range of B is never above B, while theorem L2 of docs/theory.md
    /// gives 2B times the calibration error, B/N + 2B √(2(N+1)/T), against a base that announces multiples of 1/M.
    pub fn regret_at(&self, steps: u64) -> f64 {
        self.resolution as f64 * self.bound * self.rate(steps) + self.regret_limit()
    }

    /// R_T; infinite before the first step.
    fn rate(&self, steps: u64) -> f64 {
        (2.0 * (self.resolution as f64 + 1.0) / steps as f64).sqrt()
    }
}

impl fmt::Display for ClaimedBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ClaimedBound { epsilon, bound, resolution } = self;
        write!(f, "ε = {epsilon} for outcomes within ±{}, M = N = {resolution}", 0.5 * bound)
    }
}

impl AlgorithmOneParameters {
    /// The paper's setting for the accuracy `epsilon` on outcomes within ±`bound`/2: M = N = ⌈2B/ε⌉, and at least 3.
    ///
    /// ```
    /// use truecast::recalibrate::AlgorithmOneParameters;
    ///
    /// let (parameters, claimed) = AlgorithmOneParameters::from_epsilon(0.1, 1.0)?;
    /// assert_eq!((parameters.levels.count(), claimed.resolution), (19, 20));
    /// assert!(claimed.regret_limit() <= 0.1 && claimed.calibration_limit() == 0.05);
    /// # Ok::<(), truecast::Error>(())
    /// ```
    pub fn from_epsilon(epsilon: f64, bound: f64) -> Result<(Self, ClaimedBound)> {
        error::positive("epsilon", epsilon)?;
        error::positive("bound", bound)?;
        let least = (2.0 * bound / epsilon).ceil();
        if least.is_nan() || least > MOST_INTERVALS as f64 {
            let rule = "large enough that 2·bound/epsilon is at most 2000";
            return Err(Error::OutOfRange { what: "epsilon", rule, value: epsilon });
        }
        let resolution = (least as usize).max(3);
        Ok((AlgorithmOneParameters::paper(resolution)?, ClaimedBound { epsilon, bound, resolution }))
    }
}

/// Algorithm 1's measured calibration, next to what was claimed for it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AlgorithmOneReport {
    /// T.
    pub steps: u64,
    /// The largest ℓ1 calibration error of a level.
    pub largest_calibration_error: f64,
    /// The mean over the levels.
    pub mean_calibration_error: f64,
    /// What the paper claims.
    pub claimed: Option<ClaimedBound>,
}

impl<S: Subroutine> AlgorithmOne<S> {
    /// Measures the calibration error of every level, to be read beside the bound claimed for these parameters, if there is one.
    pub fn report(&self, claimed: Option<ClaimedBound>) -> AlgorithmOneReport {
        let errors = || self.subroutines().iter().map(S::calibration_error);
        AlgorithmOneReport {
            steps: self.steps(),
            largest_calibration_error: errors().fold(0.0, f64::max),
            mean_calibration_error: errors().sum::<f64>() / self.subroutines().len() as f64,
            claimed,
        }
    }
}

impl fmt::Display for AlgorithmOneReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AlgorithmOneReport { steps, largest_calibration_error, mean_calibration_error, claimed } = self;
        writeln!(f, "Algorithm 1 after {steps} outcomes")?;
        write!(f, "  calibration error of a level: {largest_calibration_error:.4} at most, ")?;
        write!(f, "{mean_calibration_error:.4} on average")?;
        let Some(claimed) = claimed else { return Ok(()) };
        write!(f, "\n  claimed: {claimed}")?;
        let (now, limit) = (claimed.calibration_at(*steps), claimed.calibration_limit());
        write!(f, "\n    calibration {now:.4} by now (with approachability), {limit:.4} in the end")?;
        let (now, limit) = (claimed.regret_at(*steps), claimed.regret_limit());
        write!(f, "\n    regret in CRPS {now:.4} by now, {limit:.4} in the end; ")?;
        write!(f, "not implied where forecasts differ from step to step")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subroutine::Approachability;

    #[test]
    fn the_resolution_is_what_the_theorem_asks_for() {
        for (epsilon, bound, resolution) in [(0.1, 1.0, 20), (0.3, 1.0, 7), (5.0, 1.0, 3), (0.5, 100.0, 400)]
        {
            let (parameters, claimed) = AlgorithmOneParameters::from_epsilon(epsilon, bound).unwrap();
            assert_eq!(claimed.resolution, resolution, "ε = {epsilon}, B = {bound}");
            assert_eq!(parameters, AlgorithmOneParameters::paper(resolution).unwrap());
            assert!(claimed.regret_limit() <= epsilon);
            // The subroutine's floor is within what the theorem asks of it.
            assert!(0.5 / resolution as f64 <= claimed.calibration_limit());
            assert!(claimed.calibration_at(u64::MAX) <= claimed.calibration_limit());
            assert!(claimed.calibration_at(0) == f64::INFINITY && claimed.regret_at(0) == f64::INFINITY);
        }
    }

    #[test]
    fn bad_targets_are_refused() {
        let refused = |epsilon, bound| AlgorithmOneParameters::from_epsilon(epsilon, bound).unwrap_err();
        assert_eq!(refused(0.0, 1.0), Error::NotPositive { what: "epsilon", value: 0.0 });
        assert_eq!(refused(0.1, -1.0), Error::NotPositive { what: "bound", value: -1.0 });
        let rule = "large enough that 2·bound/epsilon is at most 2000";
        for (epsilon, bound) in [(1e-3, 1.01), (1e-300, 1e300)] {
            let error = Error::OutOfRange { what: "epsilon", rule, value: epsilon };
            assert_eq!(refused(epsilon, bound), error);
        }
    }

    #[test]
    fn a_report_reads_like_this() {
        let (parameters, claimed) = AlgorithmOneParameters::from_epsilon(0.5, 1.0).unwrap();
        let mut algorithm = AlgorithmOne::<Approachability>::new(parameters, Default::default()).unwrap();
        let forecast = crate::Gaussian::new(0.0, 1.0).unwrap();
        algorithm.observe(&forecast, 0.1).unwrap();
        let report = algorithm.report(Some(claimed));
        // Levels ¼, ½, ¾ are plays, so each is off by its own distance to what happened.
        assert_eq!((report.largest_calibration_error, report.mean_calibration_error), (0.5, 1.0 / 3.0));
        let text = "\
Algorithm 1 after 1 outcomes
  calibration error of a level: 0.5000 at most, 0.3333 on average
  claimed: ε = 0.5 for outcomes within ±0.5, M = N = 4
    calibration 3.2873 by now (with approachability), 0.2500 in the end
    regret in CRPS 13.1491 by now, 0.5000 in the end; not implied where forecasts differ from step to step";
        assert_eq!(report.to_string(), text);
        assert_eq!(algorithm.report(None).to_string().lines().count(), 2);
    }
}
