//! A point forecaster's scale when nobody says where it begins.
//!
//! Before the first residual a tenth of the forecast's size stands in for it (1 for a forecast of 0); the first residual that is not
//! zero becomes the initial scale of a [`PointScale`], which counts as one residual from then on.

use serde::{Deserialize, Serialize};
use truecast::forecast::{Gaussian, PointScale};

use crate::error::Result;

/// √(π/2): standard deviations per mean absolute residual of a normal distribution.
const STD_PER_MEAN_ABSOLUTE: f64 = 1.253_314_137_315_500_3;

/// The scale of a series' point forecasts.
///
/// ```
/// use truecast_fleet::LearnedScale;
///
/// let mut scale = LearnedScale::default();
/// assert_eq!(scale.forecast(20.0)?.std(), 2.0);
/// scale.observe(20.0, 26.0, None)?;
/// assert!(scale.forecast(20.0)?.std() > 7.0);
/// # Ok::<(), truecast_fleet::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LearnedScale(Option<PointScale>);

impl LearnedScale {
    /// A point forecast as a distribution.
    pub fn forecast(&self, value: f64) -> Result<Gaussian> {
        Ok(match &self.0 {
            Some(scale) => scale.forecast(value)?,
            None => {
                let guess = 0.1 * value.abs();
                Gaussian::new(value, if guess > 0.0 { guess } else { 1.0 })?
            }
        })
    }

    /// Learns from the outcome of a point forecast. The half-life is that of the series. On an error nothing has changed.
    pub fn observe(&mut self, value: f64, outcome: f64, half_life: Option<f64>) -> Result<()> {
        match &mut self.0 {
            Some(scale) => scale.observe(value, outcome)?,
            None => {
                for (what, value) in [("point forecast", value), ("outcome", outcome)] {
                    if !value.is_finite() {
                        return Err(truecast::Error::NotFinite { what, value }.into());
                    }
                }
                let residual = (outcome - value).abs();
                if residual > 0.0 {
                    let scale = PointScale::new(STD_PER_MEAN_ABSOLUTE * residual)?;
                    self.0 = Some(match half_life {
                        Some(half_life) => scale.with_half_life(half_life)?,
                        None => scale,
                    });
                }
            }
        }
        Ok(())
    }

    /// What was learned; `None` before the first residual that is not zero.
    pub fn learned(&self) -> Option<&PointScale> {
        self.0.as_ref()
    }
}
