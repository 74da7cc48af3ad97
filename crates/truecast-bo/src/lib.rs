//! Bayesian optimisation.

#![forbid(unsafe_code)]

pub mod acquisition;
pub mod benchmark;
pub mod calibration;
pub mod criterion;
pub mod design;
mod draws;
pub mod error;
pub mod maximise;
pub mod remap;
pub mod reproduction;
pub mod space;
pub mod study;
pub mod surrogate;

pub use acquisition::{Acquisition, AnyAcquisition, Kappa};
pub use benchmark::Benchmark;
pub use calibration::Calibration;
pub use criterion::Criterion;
pub use design::Design;
pub use error::{Error, Result};
pub use maximise::Search;
pub use remap::Remap;
pub use space::{Dimension, Scale, Space, Value};
pub use study::{Study, StudySettings};
pub use surrogate::{ProcessSurrogate, Surrogate, SurrogateSettings};
