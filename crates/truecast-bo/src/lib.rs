//! Bayesian optimisation.

#![forbid(unsafe_code)]

pub mod benchmark;
pub mod design;
mod draws;
pub mod error;
pub mod space;

pub use benchmark::Benchmark;
pub use design::Design;
pub use error::{Error, Result};
pub use space::{Dimension, Scale, Space, Value};
