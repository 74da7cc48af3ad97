//! The Brier score of the probability of an event.
//!
//! ```text
//! score = (p − 1{the event happened})²
//! ```
//!
//! Between 0 and 1; for one of K outcomes Brier's own form, Σ_k (p_k − 1{k came})², between 0 and 2. The CRPS is its integral over all events {Y ≤ threshold}.
//!
//! Reference: G. W. Brier, "Verification of Forecasts Expressed in Terms of Probability", Monthly Weather Review 78
//! (1950).

use crate::error::{self, Error, Result};
use crate::forecast::Forecast;

/// The Brier score of the event Y ≤ `threshold`.
///
/// ```
/// use truecast::{Gaussian, score::brier};
///
/// assert_eq!(brier::evaluate(&Gaussian::new(0.0, 1.0)?, -0.3, 0.0)?, 0.25);
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn evaluate<F: Forecast + ?Sized>(forecast: &F, y: f64, threshold: f64) -> Result<f64> {
    error::finite("outcome", y)?;
    error::finite("threshold", threshold)?;
    // 1 − p from its own function, so that a sure and right forecast scores its tail squared and not 0.
    let miss = if y <= threshold { forecast.sf(threshold) } else { forecast.cdf(threshold) };
    Ok(miss * miss)
}

/// The Brier score of a probability between 0 and 1, both allowed.
///
/// ```
/// use truecast::score::brier;
///
/// assert_eq!(brier::of_probability(0.5, true)?, 0.25);
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn of_probability(probability: f64, happened: bool) -> Result<f64> {
    error::probability("probability", probability)?;
    let miss = if happened { 1.0 - probability } else { probability };
    Ok(miss * miss)
}

/// The Brier score of probabilities of K outcomes, which must sum to 1 within 1e-9, against the one that came, counted from 0.
///
/// ```
/// use truecast::score::brier;
///
/// assert_eq!(brier::of_outcome(&[0.5, 0.25, 0.25], 0)?, 0.375);
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn of_outcome(probabilities: &[f64], outcome: usize) -> Result<f64> {
    check_outcome(probabilities, outcome)?;
    let miss = |(k, p): (usize, &f64)| if k == outcome { 1.0 - p } else { *p };
    Ok(probabilities.iter().enumerate().map(miss).map(|m| m * m).sum())
}

/// Refuses what is no distribution over outcomes, and an outcome that is not among them.
pub(super) fn check_outcome(probabilities: &[f64], outcome: usize) -> Result<()> {
    for &p in probabilities {
        error::probability("probability of an outcome", p)?;
    }
    let total: f64 = probabilities.iter().sum();
    if (total - 1.0).abs() > 1e-9 {
        let what = "sum of the probabilities";
        return Err(Error::OutOfRange { what, rule: "1, within 1e-9", value: total });
    }
    if outcome >= probabilities.len() {
        let (what, rule) = ("outcome", "less than the number of outcomes");
        return Err(Error::OutOfRange { what, rule, value: outcome as f64 });
    }
    Ok(())
}
