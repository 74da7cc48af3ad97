//! Truecast.

#![forbid(unsafe_code)]

pub mod error;
pub mod forecast;
pub mod grid;
pub mod monitor;
pub mod normal;
mod quadrature;
pub mod random;
pub mod recalibrate;
pub mod score;
pub mod stream;
pub mod subroutine;

pub use error::{Error, Result, SnapshotError};
pub use forecast::{AnyForecast, Forecast, Gaussian, Quantiles, Recalibrated, Samples};
pub use recalibrate::{Groups, LedgerKind, LedgerRecalibrator, Parameters, Recalibrator};
pub use stream::{Stream, Ticket};
