//! Why the loss must be proper: a forecaster that no calibrated one can match, in the absolute loss.
//!
//! The theorem (the paper, "Impossibility of recalibrating non-proper losses"): if ℓ is not proper there are p' and q with
//! E ℓ(y, q) < E ℓ(y, p') under y ~ Bernoulli(p'). A base that always says q meets outcomes from p'; what is calibrated must come to say
//! p', and so loses E ℓ(y, p') − E ℓ(y, q) > 0 per step, for ever.
//!
//! ```text
//! absolute loss |p − y|, p' = 0.7, q = 1:   E|1 − y| = 0.3,   E|0.7 − y| = 2·0.7·0.3 = 0.42     calibration costs 0.12 per step
//! squared loss:                             E(1 − y)² = 0.3,  E(0.7 − y)² = 0.7·0.3 = 0.21     and here it gains 0.09
//! ```
//!
//! [`demonstration`] computes both, and runs a calibrated forecaster ([`PToP`] over the ledger rule) against the constant one.

use super::{BinaryRecalibrator, PToP, PToPParameters, indicator};
use crate::error::{self, Error, Result};
use crate::random;
use crate::subroutine::LedgerRule;

/// Mean losses of the constant base forecast and of the calibrated one, by formula and by simulation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Losses {
    /// Of the base, in expectation.
    pub base_expected: f64,
    /// Of the true probability, in expectation.
    pub truth_expected: f64,
    /// Of the base, as it came.
    pub base: f64,
    /// Of the recalibrated forecast, as it came.
    pub recalibrated: f64,
}

impl Losses {
    /// What recalibration costs per step in the long run; negative where it gains.
    pub fn expected_regret(&self) -> f64 {
        self.truth_expected - self.base_expected
    }

    /// What it did cost per step.
    pub fn regret(&self) -> f64 {
        self.recalibrated - self.base
    }
}

/// What [`demonstration`] found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demonstration {
    /// |p − y|, which is not proper.
    pub absolute: Losses,
    /// (p − y)², which is.
    pub squared: Losses,
    /// The calibration error of the recalibrated forecast.
    pub calibration_error: f64,
    /// What it announced at the end.
    pub last: f64,
}

/// Outcomes from Bernoulli(`truth`), a base that always says 1 (or 0 if `truth` < ½), and its recalibration, for `steps` steps.
///
/// ```
/// use truecast::finite::non_proper::demonstration;
///
/// let shown = demonstration(0.7, 5000, 0)?;
/// assert!((shown.absolute.expected_regret() - 0.12).abs() < 1e-12);
/// assert!(shown.absolute.regret() > 0.1 && shown.squared.regret() < -0.07);
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn demonstration(truth: f64, steps: u64, seed: u64) -> Result<Demonstration> {
    error::inner_probability("true probability", truth)?;
    if steps == 0 {
        return Err(Error::TooFew { what: "steps", least: 1, found: 0 });
    }
    let base = if truth < 0.5 { 0.0 } else { 1.0 };
    let parameters = PToPParameters { randomised: false, ..PToPParameters::with_resolution(20)? };
    let mut recalibrator = PToP::<LedgerRule>::new(parameters, Default::default())?;
    let losses: [fn(f64, f64) -> f64; 2] = [|p, y| (p - y).abs(), |p, y| (p - y) * (p - y)];
    let mut sums = [[0.0; 2]; 2];
    for t in 0..steps {
        let happened = random::uniform(seed, t, 0) < truth;
        let announced = recalibrator.observe(base, happened)?;
        for (sum, loss) in sums.iter_mut().zip(losses) {
            sum[0] += loss(base, indicator(happened));
            sum[1] += loss(announced, indicator(happened));
        }
    }
    let of = |k: usize| {
        let expected = |p: f64| truth * losses[k](p, 1.0) + (1.0 - truth) * losses[k](p, 0.0);
        Losses {
            base_expected: expected(base),
            truth_expected: expected(truth),
            base: sums[k][0] / steps as f64,
            recalibrated: sums[k][1] / steps as f64,
        }
    };
    Ok(Demonstration {
        absolute: of(0),
        squared: of(1),
        calibration_error: recalibrator.calibration_error(),
        last: recalibrator.recalibrate(base)?,
    })
}
