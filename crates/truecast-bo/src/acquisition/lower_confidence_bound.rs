//! The lower confidence bound: a point is as good as the outcome could well be.
//!
//! ```text
//! value = −F⁻¹(Φ(−κ)),   a Gaussian's: κσ − μ
//! Y = l + s Z:  value = −(l + s z*) with z* the quantile of Z,  ∂/∂l = −1,  ∂/∂s = −z*
//! ```
//!
//! Source: Cox & John (1992); Srinivas et al. (2010), where κ grows with the steps. The paper's runs have GPyOpt's default, κ = 2.

use serde::{Deserialize, Serialize};
use truecast::Forecast;

use super::{Acquisition, Slopes};
use crate::error::{self, Result};

/// κ over the steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kappa {
    /// The same at every step.
    Fixed(f64),
    /// On a straight line over so many steps, and constant from then on.
    Line {
        /// At the first step.
        from: f64,
        /// At the last.
        to: f64,
        /// How many steps.
        steps: u64,
    },
}

impl Kappa {
    /// κ at this step, counted from 0.
    pub fn at(self, step: u64) -> f64 {
        match self {
            Kappa::Fixed(kappa) => kappa,
            Kappa::Line { from, to, steps } => {
                let last = steps.saturating_sub(1).max(1);
                from + (to - from) * (step.min(last) as f64 / last as f64)
            }
        }
    }

    pub(super) fn validate(self) -> Result<()> {
        let (from, to) = match self {
            Kappa::Fixed(kappa) => (kappa, kappa),
            Kappa::Line { from, to, .. } => (from, to),
        };
        // Φ(−37) is the last probability that f64 tells from 0.
        for kappa in [from, to] {
            error::setting("kappa", "from 0 to 37", kappa, (0.0..=37.0).contains(&kappa))?;
        }
        Ok(())
    }
}

/// −F⁻¹(Φ(−κ)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LowerConfidenceBound {
    /// How many standard deviations below the mean of a Gaussian.
    pub kappa: f64,
}

impl Acquisition for LowerConfidenceBound {
    fn value(&self, forecast: &dyn Forecast, _best: f64) -> Result<f64> {
        error::computed("the lower confidence bound", -forecast.at_probit(-self.kappa))
    }

    fn slopes(
        &self,
        forecast: &dyn Forecast,
        best: f64,
        location: f64,
        scale: f64,
    ) -> Result<Option<Slopes>> {
        let quantile = -self.value(forecast, best)?;
        Ok(Some(Slopes { location: -1.0, scale: -(quantile - location) / scale }))
    }
}
