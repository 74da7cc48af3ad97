//! The function of x that is maximised at one step: an acquisition of the recalibrated surrogate, with its gradient.
//!
//! ```text
//! a(x) = acquisition(remap ∘ surrogate(x), b),   ∇a = ∂a/∂μ ∇μ + ∂a/∂σ ∇σ
//! ```
//!
//! Where the surrogate or the acquisition knows no slopes, there is no gradient, and the search goes on by differences.

use crate::acquisition::Acquisition;
use crate::error::Result;
use crate::remap::Remap;
use crate::surrogate::Surrogate;
use truecast::{AnyForecast, Gaussian};

/// An acquisition over a surrogate.
#[derive(Debug, Clone, Copy)]
pub struct Criterion<'a> {
    /// Forecasts of the function.
    pub surrogate: &'a dyn Surrogate,
    /// What recalibration makes of them.
    pub remap: &'a Remap,
    /// The worth of a forecast.
    pub acquisition: &'a dyn Acquisition,
    /// The best value so far.
    pub best: f64,
}

impl Criterion<'_> {
    /// The worth of evaluating `x`.
    pub fn value(&self, x: &[f64]) -> Result<f64> {
        let base = self.surrogate.function(x)?;
        self.acquisition.value(self.remap.applied(&base)?.as_ref(), self.best)
    }

    /// The worth with its gradient, if there is one.
    pub fn with_gradient(&self, x: &[f64]) -> Result<(f64, Option<Vec<f64>>)> {
        let Some(latent) = self.surrogate.gradients(x)? else { return Ok((self.value(x)?, None)) };
        let base = AnyForecast::from(Gaussian::new(latent.mean, latent.std)?);
        let forecast = self.remap.applied(&base)?;
        let value = self.acquisition.value(forecast.as_ref(), self.best)?;
        let slopes = self.acquisition.slopes(forecast.as_ref(), self.best, latent.mean, latent.std)?;
        let gradient = slopes.map(|slopes| {
            let pairs = latent.mean_gradient.iter().zip(&latent.std_gradient);
            pairs.map(|(mean, std)| slopes.location * mean + slopes.scale * std).collect()
        });
        Ok((value, gradient))
    }
}
