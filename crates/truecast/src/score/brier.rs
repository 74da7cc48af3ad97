//! The Brier score of the probability of an event.
//!
//! ```text
//! score = (p − 1{the event happened})²
//! ```
//!
//! Between 0 and 1. The CRPS is its integral over all events {Y ≤ threshold}.
//!
//! Reference: G. W. Brier, "Verification of Forecasts Expressed in Terms of Probability", Monthly Weather Review 78
//! (1950).

use crate::error::{self, Result};
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
