//! The continuous ranked probability score.

use crate::forecast::Forecast;

/// The CRPS of any forecast.
pub fn evaluate<F: Forecast + ?Sized>(forecast: &F, y: f64) -> f64 {
    forecast.curve().map_or(f64::NAN, |curve| curve.crps(y))
}
