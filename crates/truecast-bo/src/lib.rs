//! Bayesian optimisation with honest uncertainty: ask for a point, tell its outcome.
//!
//! ```
//! use truecast_bo::{Calibration, Dimension, Space, Study, StudySettings, Value};
//!
//! let space = Space::new([("rate", Dimension::log(1e-5, 1.0)), ("depth", Dimension::integer(1, 8))])?;
//! let settings = StudySettings { calibration: Calibration::online_scale(), seed: 7, ..Default::default() };
//! let mut study = Study::new(space, settings)?;
//! for _ in 0..20 {
//!     let point = study.suggest()?;
//!     let (rate, depth) = (point[0].as_real().unwrap_or(0.0), point[1].as_real().unwrap_or(0.0));
//!     // Your experiment; `observe_failed` where it has no result.
//!     let cost = (rate.log10() + 2.0).powi(2) + 0.1 * (depth - 5.0).powi(2);
//!     study.observe(&point, cost)?;
//! }
//! let best = study.best().map(|step| step.point.clone()).unwrap_or_default();
//! assert_eq!(best[1], Value::Integer(5));
//! # Ok::<(), truecast_bo::Error>(())
//! ```
//!
//! # The few types
//!
//! - [`Space`] is what is searched: real numbers, whole numbers and choices, on linear or logarithmic scales.
//! - [`Study`] suggests points and takes in outcomes, late and in any order, one at a time or in batches. It logs every step, and saves and loads with `serde`
//!   to go on bit for bit. Outcomes are to be small: negate what should be large.
//! - [`Calibration`] says how the surrogate's forecasts are recalibrated before they are acted on: not at all, as in the paper, by the ledgers, or by
//!   the online stream of forecasts and what came.
//! - [`Acquisition`] values a forecast, whatever its distribution: lower confidence bound, expected improvement, probability of improvement, Thompson sampling.
//! - [`Surrogate`] gives the forecasts; [`ProcessSurrogate`], a Gaussian process on standardised outcomes, is the one of a study.
//! - [`Benchmark`] has functions to try it on, and [`reproduction`] the paper's comparison with its controls.
//!
//! # What it does not do
//!
//! One objective, no constraints; up to about a thousand outcomes, since a step costs O(n³). It starts no threads but in [`reproduction`], reads no clock, and all draws are
//! functions of (seed, step). Failures are typed [`Error`]s or lines of the log, never numbers.

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
pub use surrogate::{ModelSurrogate, ProcessSurrogate, Surrogate, SurrogateSettings};
