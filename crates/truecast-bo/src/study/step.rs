//! One step of a study: what was suggested, why, what was foretold there, and what came.

use serde::{Deserialize, Serialize};
use truecast::Gaussian;

use crate::space::Value;

/// Where a point comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The initial design.
    Design,
    /// The largest acquisition.
    Acquisition,
    /// A random draw, because there was no acquisition; [`Step::fallback`] says why.
    Fallback,
    /// It was told without having been suggested.
    Told,
}

/// What came of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evaluation {
    /// Nothing yet.
    Pending,
    /// An outcome.
    Outcome(f64),
    /// No outcome, and why. It is never learned as a number; points near it are not suggested again.
    Failed(String),
}

/// The part of a step that did not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The surrogate could not be fitted: a random point was suggested.
    Surrogate,
    /// Its forecasts could not be recalibrated: they were taken as they are.
    Calibration,
    /// No point had an acquisition, or all were excluded: a random point was suggested.
    Acquisition,
}

/// What was done in place of what did not work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fallback {
    /// What did not work.
    pub stage: Stage,
    /// The error, in words.
    pub reason: String,
}

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its number, from 0.
    pub number: u64,
    /// The point.
    pub point: Vec<Value>,
    /// Where it comes from.
    pub origin: Origin,
    /// κ_t: the multiplier with which the surrogate's standard deviation entered a lower confidence bound.
    pub multiplier: Option<f64>,
    /// The surrogate's own forecast of the outcome, before recalibration.
    pub forecast: Option<Gaussian>,
    /// The central 80 % interval after recalibration.
    pub interval: Option<(f64, f64)>,
    /// What did not work, if something did not.
    pub fallback: Option<Fallback>,
    /// What came.
    pub evaluation: Evaluation,
}

impl Step {
    /// The outcome, if there is one.
    pub fn outcome(&self) -> Option<f64> {
        match self.evaluation {
            Evaluation::Outcome(y) => Some(y),
            _ => None,
        }
    }
}
