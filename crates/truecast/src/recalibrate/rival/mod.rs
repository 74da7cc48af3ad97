//! What people use instead, each by its name, to compare with. None of them promises anything on every stream.
//!
//! | file | method | learns | cost of an outcome |
//! |---|---|---|---|
//! | `residual.rs` | [`ByResidual`]: any [`ResidualRule`] as a method | | |
//! | `emos.rs` | [`Emos`]: a normal distribution, regressed on location and scale | four coefficients over a window | O(W) a few times |
//! | `rolling_pit.rs` | [`RollingPit`]: the distribution of the last PITs | a window | O(W) moved numbers |
//! | `rolling_conformal.rs` | [`RollingConformal`]: the quantiles of the last scaled residuals | a window | O(W) moved numbers |
//! | `quantile_regression.rs` | [`QuantileRegression`]: each quantile affine in location and scale | 27 × 3 coefficients, by gradient steps | O(27) |
//! | `crps_learning.rs` | [`CrpsLearning`]: simple recalibrations, weighed quantile by quantile | 27 × 6 weights by Bernstein aggregation | O(27 · 6) |
//!
//! They see a forecast as a location and a scale (the median, and half the distance of the quantiles one probit unit from it), and an outcome as the
//! residual (y − location)/scale, which under a normal forecast is its probit score. Where the scale is 0 they announce the forecast as it is and learn
//! nothing.

mod crps_learning;
mod emos;
mod quantile_regression;
mod residual;
mod rolling_conformal;
mod rolling_pit;

pub use crps_learning::{CrpsLearning, CrpsLearningOptions};
pub use emos::{Emos, EmosOptions};
pub use quantile_regression::{QuantileRegression, QuantileRegressionOptions};
pub use residual::{ByResidual, Occasion, ResidualRule, Told};
pub use rolling_conformal::{RollingConformal, RollingConformalOptions};
pub use rolling_pit::{RollingPit, RollingPitOptions};

use crate::error::{Error, Result};

/// Windows are not longer than this.
const LONGEST_WINDOW: usize = 1_000_000;

/// Refuses windows in which nothing can be learned, or that do not end.
fn window(value: usize, least: usize) -> Result<usize> {
    match value {
        value if value < least => Err(Error::TooFew { what: "outcomes in the window", least, found: value }),
        value if value > LONGEST_WINDOW => {
            Err(Error::OutOfRange { what: "window", rule: "at most a million outcomes", value: value as f64 })
        }
        value => Ok(value),
    }
}
