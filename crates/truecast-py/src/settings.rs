//! How series are recalibrated, from keyword arguments.

use std::str::FromStr;

use pyo3::prelude::*;
use truecast::recalibrate::{AnyRecalibrator, Method};
use truecast::{Groups, Recalibrator};
use truecast_fleet::{Lateness, Settings};

use crate::errors::Result;

/// Keyword arguments of a recalibrator; ranges are checked by who uses them.
#[allow(clippy::too_many_arguments)]
#[allow(clippy::fn_params_excessive_bools)]
pub(crate) fn settings(
    method: &str,
    trust: bool,
    guard: bool,
    half_life: Option<f64>,
    seed: u64,
    memory: bool,
    prior: Option<f64>,
    randomised: Option<bool>,
    groups: u8,
    thresholds: Option<Vec<f64>>,
) -> Result<Settings> {
    Ok(Settings {
        method: Method::from_str(method)?,
        paper: None,
        groups,
        thresholds: thresholds.unwrap_or_default(),
        half_life,
        prior,
        memory,
        trust,
        guard,
        randomised,
        seed,
        lateness: Lateness::Next,
    })
}

/// The paper's setting.
pub(crate) fn paper(n: usize, method: &str, seed: u64) -> Result<Settings> {
    Ok(Settings { method: Method::from_str(method)?, paper: Some(n), seed, ..Settings::default() })
}

/// A recalibrator in one line.
pub(crate) fn describe(recalibrator: &AnyRecalibrator) -> String {
    let mut text = format!("method='{}'", recalibrator.method());
    if let AnyRecalibrator::Ledger(ledger) = recalibrator {
        let parameters = ledger.parameters();
        for (name, on) in [
            ("memory", ledger.memories().is_some()),
            ("trust", ledger.trust().is_some()),
            ("guard", ledger.guard().is_some()),
        ] {
            if !on {
                text += &format!(", {name}=False");
            }
        }
        if parameters.ledgers().len() > 2 {
            let kinds: Vec<String> = parameters.ledgers().iter().map(ToString::to_string).collect();
            text += &format!(", ledgers=[{}]", kinds.join(", "));
        }
    }
    if recalibrator.seed() != 0 {
        text += &format!(", seed={}", recalibrator.seed());
    }
    text
}

/// The groups that a forecast belongs to, counted from 0: a number, several, or none.
pub(crate) struct GroupSet(pub(crate) Groups);

impl<'a, 'py> FromPyObject<'a, 'py> for GroupSet {
    type Error = crate::errors::Error;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> Result<Self> {
        let groups = match given.extract::<usize>() {
            Ok(group) => vec![group],
            Err(_) => given.extract::<Vec<usize>>()?,
        };
        Ok(GroupSet(Groups::of(&groups)?))
    }
}
