//! How series are recalibrated, from keyword arguments.

use std::str::FromStr;

use pyo3::prelude::*;
use truecast::expert::ExpertKind;
use truecast::recalibrate::{AnyRecalibrator, Method, STOP_LOSS};
use truecast::{Groups, GuardMode, Recalibrator};
use truecast_fleet::{Lateness, Settings};

use crate::errors::Result;

/// Keyword arguments of a recalibrator; ranges are checked by who uses them.
#[allow(clippy::too_many_arguments)]
pub(crate) fn settings(
    method: &str,
    stop_loss: Option<f64>,
    guard: Option<&str>,
    experts: Option<Vec<String>>,
    lags: bool,
    half_life: Option<f64>,
    seed: u64,
    prior: Option<f64>,
    randomised: Option<bool>,
    groups: u8,
    thresholds: Option<Vec<f64>>,
    bounds: Option<(Option<f64>, Option<f64>)>,
) -> Result<Settings> {
    let experts = experts.map(|names| names.iter().map(|name| ExpertKind::from_str(name)).collect());
    let bounds = bounds.map(|(low, high)| (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)));
    Ok(Settings {
        method: Method::from_str(method)?,
        stop_loss,
        guard: guard.map(GuardMode::from_str).transpose()?,
        experts: experts.transpose()?,
        lags,
        prior,
        half_life,
        groups,
        thresholds: thresholds.unwrap_or_default(),
        bounds,
        paper: None,
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
    let (protection, method) = (recalibrator.protection(), recalibrator.method());
    if protection.stop_loss != Some(STOP_LOSS) {
        let share = protection.stop_loss.map_or("None".to_owned(), |share| share.to_string());
        text += &format!(", stop_loss={share}");
    }
    if protection.guard != method.guard() {
        text += &format!(", guard='{}'", protection.guard.name());
    }
    if let Some(mixture) = recalibrator.mixture() {
        let parameters = mixture.parameters();
        if method == Method::Experts && parameters.experts().len() < ExpertKind::ALL.len() {
            let names: Vec<&str> = parameters.experts().iter().map(|expert| expert.name()).collect();
            text += &format!(", experts={names:?}");
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
