//! Truecast.

pub mod error;
pub mod forecast;
pub mod grid;
pub mod monitor;
pub mod normal;
mod quadrature;
pub mod random;
pub mod score;
pub mod stream;

pub use error::{Error, Result, SnapshotError};
pub use forecast::{Forecast, Gaussian};
