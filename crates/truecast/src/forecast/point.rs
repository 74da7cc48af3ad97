//! Point forecasts as distributions: a normal around each value, with a scale learned from past residuals.
//!
//! The scale is √(π/2) times the mean absolute residual, which for normal residuals is their standard deviation, and is
//! moved less by outliers than the root mean square. The initial scale counts as one residual that never fades:
//!
//! ```text
//! scale = √(π/2) (a₀ + Σ λ^(age) |r|) / (1 + Σ λ^(age)),   a₀ = √(2/π) · initial scale,   λ = 2^(−1/half-life)
//! ```
//!
//! so the scale is never 0, even for a forecaster that was always right. Without a half-life λ = 1. Constant memory and
//! time per residual.

use serde::{Deserialize, Serialize};

use super::Gaussian;
use crate::error::{self, Error, Result};

/// √(π/2): the standard deviation of a normal distribution in units of its mean absolute deviation.
const STD_PER_MEAN_ABSOLUTE: f64 = 1.253_314_137_315_500_3;

/// Learns the scale of a point forecaster's errors.
///
/// ```
/// use truecast::forecast::PointScale;
///
/// let mut scale = PointScale::new(5.0)?;
/// assert_eq!(scale.forecast(20.0)?.std(), 5.0);
/// scale.observe(20.0, 21.0)?;
/// assert!(scale.forecast(20.0)?.std() < 5.0);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct PointScale {
    initial_scale: f64,
    half_life: Option<f64>,
    /// Σ λ^(age) over the residuals.
    weight: f64,
    /// Σ λ^(age) |r|.
    absolute: f64,
}

impl PointScale {
    /// A scale that begins at `initial_scale` and weighs all residuals alike.
    pub fn new(initial_scale: f64) -> Result<Self> {
        error::positive("initial scale", initial_scale)?;
        Ok(PointScale { initial_scale, half_life: None, weight: 0.0, absolute: 0.0 })
    }

    /// Lets the weight of a residual halve with every `half_life` residuals after it.
    pub fn with_half_life(self, half_life: f64) -> Result<Self> {
        error::positive("half-life", half_life)?;
        Ok(PointScale { half_life: Some(half_life), ..self })
    }

    /// The scale as of now.
    pub fn scale(&self) -> f64 {
        let learned = STD_PER_MEAN_ABSOLUTE * self.absolute;
        ((self.initial_scale + learned) / (1.0 + self.weight)).clamp(f64::MIN_POSITIVE, f64::MAX)
    }

    /// The half-life in residuals, if one was set.
    pub fn half_life(&self) -> Option<f64> {
        self.half_life
    }

    /// A point forecast as a distribution.
    pub fn forecast(&self, value: f64) -> Result<Gaussian> {
        error::finite("point forecast", value)?;
        Gaussian::new(value, self.scale())
    }

    /// Learns from the outcome of a point forecast. On an error nothing has changed.
    pub fn observe(&mut self, value: f64, outcome: f64) -> Result<()> {
        error::finite("point forecast", value)?;
        error::finite("outcome", outcome)?;
        let residual = error::finite("residual", (outcome - value).abs())?;
        let fade = self.half_life.map_or(1.0, |half_life| libm::exp2(-1.0 / half_life));
        self.absolute = error::finite("sum of the residuals", fade * self.absolute + residual)?;
        self.weight = fade * self.weight + 1.0;
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct Parts {
    initial_scale: f64,
    half_life: Option<f64>,
    weight: f64,
    absolute: f64,
}

impl TryFrom<Parts> for PointScale {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        let mut scale = PointScale::new(parts.initial_scale)?;
        if let Some(half_life) = parts.half_life {
            scale = scale.with_half_life(half_life)?;
        }
        for (what, value) in
            [("weight of the residuals", parts.weight), ("sum of the residuals", parts.absolute)]
        {
            error::finite(what, value)?;
            if value < 0.0 {
                return Err(Error::OutOfRange { what, rule: "at least 0", value });
            }
        }
        Ok(PointScale { weight: parts.weight, absolute: parts.absolute, ..scale })
    }
}

impl From<PointScale> for Parts {
    fn from(of: PointScale) -> Self {
        Parts {
            initial_scale: of.initial_scale,
            half_life: of.half_life,
            weight: of.weight,
            absolute: of.absolute,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_the_weighted_mean_absolute_residual() {
        let mut scale = PointScale::new(2.0).unwrap().with_half_life(1.0).unwrap();
        scale.observe(0.0, 3.0).unwrap();
        scale.observe(0.0, -1.0).unwrap();
        // Weights ½ and 1 beside the initial scale's 1.
        let expected = (2.0 + STD_PER_MEAN_ABSOLUTE * (0.5 * 3.0 + 1.0)) / 2.5;
        assert!((scale.scale() - expected).abs() < 1e-15, "{} is not {expected}", scale.scale());
    }

    #[test]
    fn a_forecaster_that_is_always_right_keeps_a_positive_scale() {
        let mut scale = PointScale::new(f64::MIN_POSITIVE).unwrap().with_half_life(0.5).unwrap();
        for _ in 0..10_000 {
            scale.observe(1.0, 1.0).unwrap();
        }
        assert!(scale.forecast(1.0).unwrap().std() > 0.0);
    }

    #[test]
    fn bad_input_is_refused_and_changes_nothing() {
        let mut scale = PointScale::new(1.0).unwrap();
        let before = scale;
        let refused = scale.observe(f64::MAX, -f64::MAX);
        assert_eq!(refused, Err(Error::NotFinite { what: "residual", value: f64::INFINITY }));
        assert!(matches!(scale.observe(0.0, f64::NAN), Err(Error::NotFinite { what: "outcome", .. })));
        assert!(matches!(
            scale.forecast(f64::INFINITY),
            Err(Error::NotFinite { what: "point forecast", .. })
        ));
        assert_eq!(scale, before);
        assert_eq!(PointScale::new(0.0), Err(Error::NotPositive { what: "initial scale", value: 0.0 }));
        let half_life = before.with_half_life(-1.0);
        assert_eq!(half_life, Err(Error::NotPositive { what: "half-life", value: -1.0 }));
    }

    #[test]
    fn loading_cannot_bypass_the_rules() {
        let mut scale = PointScale::new(1.5).unwrap().with_half_life(20.0).unwrap();
        scale.observe(1.0, 2.5).unwrap();
        let saved = serde_json::to_string(&scale).unwrap();
        assert_eq!(serde_json::from_str::<PointScale>(&saved).unwrap(), scale);
        assert!(serde_json::from_str::<PointScale>(&saved.replace("1.5", "-1.5")).is_err());
    }
}
