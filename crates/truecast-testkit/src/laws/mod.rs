//! Laws: what every implementation of a trait owes, one function per trait.

pub mod expert;
mod forecast;
pub mod pipeline;
pub mod recalibrator;
pub mod subroutine;

pub use forecast::{any_forecast_laws, crps_law, distribution_laws, forecast_laws};
