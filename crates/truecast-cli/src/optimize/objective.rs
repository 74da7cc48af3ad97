//! What is optimised: a command of the shell, or one of the built-in functions.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use truecast_bo::{Benchmark, Value};

use super::shell::{self, Trial};
use super::template::Template;

/// Where outcomes come from, as it is said on the command line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Source {
    Command(String),
    Benchmark(Benchmark),
}

/// Something that gives a number for a point, or none.
#[derive(Debug, Clone)]
pub(crate) enum Objective {
    Command { template: Template, limit: Option<Duration> },
    Benchmark(Benchmark),
}

impl Objective {
    /// One trial; `stop` ends it early.
    pub(crate) fn evaluate(&self, point: &[Value], trial: u64, stop: &AtomicBool) -> Trial {
        match self {
            Objective::Command { template, limit } => shell::run(&template.at(point), trial, *limit, stop),
            Objective::Benchmark(benchmark) => {
                let x: Vec<f64> = point.iter().filter_map(Value::as_real).collect();
                match benchmark.value(&x) {
                    Ok(value) => Trial::Value(value),
                    Err(error) => Trial::Failed(error.to_string()),
                }
            }
        }
    }
}
