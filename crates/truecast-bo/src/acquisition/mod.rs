//! Acquisitions: how much evaluating a point is worth, given the forecast there.
//!
//! An acquisition takes a *distribution* and the best value so far, never a mean and a standard deviation: a recalibrated forecast goes in
//! like any other. Larger is better; outcomes are to be small.
//!
//! | acquisition | worth of a forecast F at best value b | file |
//! |---|---|---|
//! | [`LowerConfidenceBound`] | −F⁻¹(Φ(−κ)); for a Gaussian κσ − μ | `lower_confidence_bound.rs` |
//! | [`ExpectedImprovement`] | E[(b − Y)⁺] | `expected_improvement.rs` |
//! | [`ProbabilityOfImprovement`] | P(Y ≤ b − margin) | `probability_of_improvement.rs` |
//! | [`ThompsonSampling`] | −F⁻¹(u), with one u for all points of a step | `thompson_sampling.rs` |
//!
//! **Slopes.** Where the forecast is a family Y = location + scale · Z with one law of Z for all points, as a Gaussian process is before and after
//! recalibration by one map, each acquisition knows its exact derivatives in location and scale, and the chain rule does the rest.

mod expected_improvement;
mod lower_confidence_bound;
mod probability_of_improvement;
mod thompson_sampling;

use std::fmt::Debug;

use serde::{Deserialize, Serialize};
use truecast::Forecast;

pub use expected_improvement::ExpectedImprovement;
pub use lower_confidence_bound::{Kappa, LowerConfidenceBound};
pub use probability_of_improvement::ProbabilityOfImprovement;
pub use thompson_sampling::ThompsonSampling;

use crate::error::{self, Result};

/// Derivatives of an acquisition's value in the location and the scale of its forecast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slopes {
    /// In the location.
    pub location: f64,
    /// In the scale.
    pub scale: f64,
}

/// How much evaluating a point is worth; larger is better.
pub trait Acquisition: Debug + Send + Sync {
    /// The worth of a point with this forecast, where `best` is the least value so far.
    fn value(&self, forecast: &dyn Forecast, best: f64) -> Result<f64>;

    /// Derivatives of [`value`](Acquisition::value), if the forecast is `location` + `scale` · Z; none where it has no density and one is needed.
    fn slopes(&self, forecast: &dyn Forecast, best: f64, location: f64, scale: f64)
    -> Result<Option<Slopes>>;
}

/// An acquisition of any kind, for settings and files.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AnyAcquisition {
    /// The lower confidence bound at κ.
    LowerConfidenceBound(Kappa),
    /// Expected improvement.
    ExpectedImprovement,
    /// Probability of an improvement by more than this, in units of the outcome.
    ProbabilityOfImprovement {
        /// By how much.
        margin: f64,
    },
    /// A random quantile, another at each step.
    ThompsonSampling,
}

impl Default for AnyAcquisition {
    fn default() -> Self {
        AnyAcquisition::LowerConfidenceBound(Kappa::Fixed(2.0))
    }
}

impl AnyAcquisition {
    /// Checks its numbers.
    pub fn validate(&self) -> Result<()> {
        match self {
            AnyAcquisition::LowerConfidenceBound(kappa) => kappa.validate(),
            AnyAcquisition::ProbabilityOfImprovement { margin } => {
                let holds = margin.is_finite() && *margin >= 0.0;
                error::setting("the margin", "finite and 0 or more", *margin, holds).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// What it is at one step, counted from the first that has a surrogate.
    pub fn at_step(&self, seed: u64, step: u64) -> Box<dyn Acquisition> {
        match *self {
            AnyAcquisition::LowerConfidenceBound(kappa) => {
                Box::new(LowerConfidenceBound { kappa: kappa.at(step) })
            }
            AnyAcquisition::ExpectedImprovement => Box::new(ExpectedImprovement),
            AnyAcquisition::ProbabilityOfImprovement { margin } => {
                Box::new(ProbabilityOfImprovement { margin })
            }
            AnyAcquisition::ThompsonSampling => Box::new(ThompsonSampling::draw(seed, step)),
        }
    }

    /// κ at one step, for a lower confidence bound.
    pub fn kappa(&self, step: u64) -> Option<f64> {
        match self {
            AnyAcquisition::LowerConfidenceBound(kappa) => Some(kappa.at(step)),
            _ => None,
        }
    }
}
