//! The logarithmic score.
//!
//! ```text
//! score = −ln f(y)          f the density
//! ```
//!
//! In nats; may be negative; +∞ where the density is 0, since no finite loss is enough for an outcome that was called
//! impossible. It has no meaning where the forecast has an atom, or is known by its CDF alone: that is
//! [`Error::NoDensity`].
//!
//! Reference: I. J. Good, "Rational Decisions", Journal of the Royal Statistical Society B 14 (1952).

use crate::error::{self, Error, Result};
use crate::forecast::Forecast;
use crate::score::brier;

/// −ln of the density at the outcome.
///
/// ```
/// use truecast::{Gaussian, score::log_score};
///
/// let score = log_score::evaluate(&Gaussian::new(0.0, 1.0)?, 0.0)?;
/// assert!((score - 0.918939).abs() < 1e-6); // ln √(2π)
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn evaluate<F: Forecast + ?Sized>(forecast: &F, y: f64) -> Result<f64> {
    error::finite("outcome", y)?;
    forecast.ln_density(y).map(|ln| -ln).ok_or(Error::NoDensity { outcome: y })
}

/// −ln of the probability of the outcome that came, counted from 0, among K; +∞ where it was called impossible.
///
/// ```
/// use truecast::score::log_score;
///
/// assert_eq!(log_score::of_outcome(&[0.5, 0.5], 1)?, std::f64::consts::LN_2);
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn of_outcome(probabilities: &[f64], outcome: usize) -> Result<f64> {
    brier::check_outcome(probabilities, outcome)?;
    Ok(-libm::log(probabilities[outcome]))
}
