//! The pinball loss of a quantile.
//!
//! ```text
//! loss = (1{y ≤ q} − p) (q − y) = p (y − q)         where y > q
//!                                 (1 − p) (q − y)   otherwise
//! ```
//!
//! Its expectation is least at the quantile q of probability p. Twice its integral over p is the
//! [CRPS](super::crps).
//!
//! Reference: R. Koenker and G. Bassett, "Regression Quantiles", Econometrica 46 (1978).

use crate::error::{self, Result};
use crate::forecast::Forecast;

/// The pinball loss of the forecast's quantile at `probability`, which lies between 0 and 1.
///
/// ```
/// use truecast::{Gaussian, score::pinball};
///
/// // Half the absolute error, at the median.
/// assert_eq!(pinball::evaluate(&Gaussian::new(1.0, 2.0)?, 4.0, 0.5)?, 1.5);
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn evaluate<F: Forecast + ?Sized>(forecast: &F, y: f64, probability: f64) -> Result<f64> {
    error::inner_probability("probability", probability)?;
    of_quantile(forecast.quantile(probability), y, probability)
}

/// The pinball loss of a quantile.
///
/// ```
/// use truecast::score::pinball;
///
/// assert_eq!(pinball::of_quantile(2.0, 4.0, 0.75)?, 1.5);
/// assert_eq!(pinball::of_quantile(2.0, 0.0, 0.75)?, 0.5);
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn of_quantile(quantile: f64, y: f64, probability: f64) -> Result<f64> {
    error::finite("quantile", quantile)?;
    error::finite("outcome", y)?;
    error::inner_probability("probability", probability)?;
    Ok(loss(quantile, y, probability))
}

/// The loss itself, for arguments that were checked.
pub(crate) fn loss(quantile: f64, y: f64, probability: f64) -> f64 {
    if y > quantile { probability * (y - quantile) } else { (1.0 - probability) * (quantile - y) }
}
