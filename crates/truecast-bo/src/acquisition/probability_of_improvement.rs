//! Probability of improvement: how likely the best value is to fall, by a margin or more.
//!
//! ```text
//! value = F(c), c = b − margin,   a Gaussian's: Φ((c − μ)/σ)
//! Y = l + s Z with density f:  ∂/∂l = −f(c),  ∂/∂s = −f(c) (c − l)/s
//! ```
//!
//! Source: Kushner (1964).

use truecast::Forecast;

use super::{Acquisition, Slopes};
use crate::error::{self, Result};

/// P(Y ≤ b − margin).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ProbabilityOfImprovement {
    /// In units of the outcome.
    pub margin: f64,
}

impl Acquisition for ProbabilityOfImprovement {
    fn value(&self, forecast: &dyn Forecast, best: f64) -> Result<f64> {
        error::computed("the probability of improvement", forecast.cdf(best - self.margin))
    }

    fn slopes(
        &self,
        forecast: &dyn Forecast,
        best: f64,
        location: f64,
        scale: f64,
    ) -> Result<Option<Slopes>> {
        let at = best - self.margin;
        Ok(forecast.ln_density(at).map(|ln_density| {
            let density = libm::exp(ln_density);
            Slopes { location: -density, scale: -density * ((at - location) / scale) }
        }))
    }
}
