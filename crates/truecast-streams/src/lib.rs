//! Seeded streams of forecasts and outcomes, and adversaries that choose the outcome after they saw the forecast.
//!
//! What the command line simulates, and what the tests, experiments and benchmarks of Truecast run on. Everything is a function
//! of (name, steps, seed) and of nothing else, and has the same bits on every platform.
//!
//! ```
//! use truecast::{Pipeline, Recalibrator};
//! use truecast_streams::Scenario;
//!
//! let scenario: Scenario = "regimes".parse()?;
//! let mut recalibrator = Pipeline::default();
//! for step in scenario.steps(1_000, 7) {
//!     recalibrator.observe(&step.forecast(), step.outcome)?;
//! }
//! assert_eq!(recalibrator.steps(), 1_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Scenario`] names a stream whose outcomes are fixed in advance; its forecaster is wrong in one known way.
//! - [`Opponent`] names an [`Adversary`](adversary::Adversary), who sees both the base forecast and the calibrated one.
//! - [`Draws`] is the seeded source that both are made of.

#![forbid(unsafe_code)]

pub mod adversary;
mod demo;
mod draws;
mod opponent;
mod scenario;
mod volatility;

pub use draws::Draws;
pub use opponent::Opponent;
pub use scenario::{Scenario, Step, Steps};

/// A name that belongs to no scenario, or to no adversary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is not {what}; there are {known}")]
#[non_exhaustive]
pub struct UnknownName {
    /// What was looked for, with its article.
    pub what: &'static str,
    /// The name that was given.
    pub name: String,
    /// The names there are, separated by commas.
    pub known: String,
}

impl UnknownName {
    fn new(what: &'static str, name: &str, known: impl Iterator<Item = &'static str>) -> Self {
        UnknownName { what, name: name.to_string(), known: known.collect::<Vec<_>>().join(", ") }
    }
}
