//! Thompson sampling by quantiles: each step takes one random quantile for all points, and goes where it is least.
//!
//! ```text
//! value = −F⁻¹(u),  u uniform, a function of (seed, step)
//! ```
//!
//! A draw of the whole function would need the joint distribution of all points, which a recalibrated marginal forecast does not have. One u for all
//! points is the draw in which their ranks agree: it explores by its optimism, not by the function's shape, like a lower confidence bound whose κ is
//! drawn at each step. Source of the idea: Thompson (1933).

use truecast::{Forecast, normal, random};

use super::{Acquisition, LowerConfidenceBound, Slopes};
use crate::draws::{self, Purpose};
use crate::error::Result;

/// −F⁻¹(u).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThompsonSampling {
    probit: f64,
}

impl ThompsonSampling {
    /// The quantile of this step.
    pub fn draw(seed: u64, step: u64) -> Self {
        let draw = random::uniform(draws::seed(seed, Purpose::Thompson), step, 0);
        // Kept within the quantiles that a forecast of some dozens of outcomes can speak of.
        ThompsonSampling { probit: normal::quantile(draw.clamp(1e-6, 1.0 - 1e-6)) }
    }

    /// Φ⁻¹(u).
    pub fn probit(&self) -> f64 {
        self.probit
    }

    fn bound(&self) -> LowerConfidenceBound {
        LowerConfidenceBound { kappa: -self.probit }
    }
}

impl Acquisition for ThompsonSampling {
    fn value(&self, forecast: &dyn Forecast, best: f64) -> Result<f64> {
        self.bound().value(forecast, best)
    }

    fn slopes(
        &self,
        forecast: &dyn Forecast,
        best: f64,
        location: f64,
        scale: f64,
    ) -> Result<Option<Slopes>> {
        self.bound().slopes(forecast, best, location, scale)
    }
}
