//! Expected improvement: by how much the best value is expected to fall.
//!
//! ```text
//! value = E[(b − Y)⁺] = ∫ F below b,   a Gaussian's: σ (tΦ(t) + φ(t)), t = (b − μ)/σ
//! Y = l + s Z:  ∂/∂l = −F(b),  ∂/∂s = (value − (b − l) F(b))/s
//! ```
//!
//! Exact for piecewise normal forecasts, among them recalibrated Gaussians; otherwise by quadrature to 1e-10. Source: Močkus (1975); Jones, Schonlau &
//! Welch (1998).

use truecast::decision::{Newsvendor, expected_loss};
use truecast::{Forecast, normal};

use super::{Acquisition, Slopes};
use crate::error::{self, Result};

/// E[(b − Y)⁺].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ExpectedImprovement;

impl Acquisition for ExpectedImprovement {
    fn value(&self, forecast: &dyn Forecast, best: f64) -> Result<f64> {
        let value = match forecast.as_gaussian() {
            Some(normal) => normal.std() * normal::integral_of_cdf(normal.probit(best)),
            // An order of b that costs (b − y)⁺ for what is not sold.
            None => expected_loss(forecast, &Newsvendor::new(0.0, 1.0)?, best)?,
        };
        error::computed("the expected improvement", value)
    }

    fn slopes(
        &self,
        forecast: &dyn Forecast,
        best: f64,
        location: f64,
        scale: f64,
    ) -> Result<Option<Slopes>> {
        let (value, below) = (self.value(forecast, best)?, forecast.cdf(best));
        Ok(Some(Slopes { location: -below, scale: (value - (best - location) * below) / scale }))
    }
}
