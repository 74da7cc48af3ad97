//! `truecast.toml`: the flags of `calibrate` under their own names, for runs that repeat. A flag on the command line comes first.

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use truecast::recalibrate::Method;
use truecast_data::recognise::FormKind;
use truecast_events::Span;

use crate::failure::{Failure, Result};
use crate::flags::{Bounds, Filter, GroupLedger, OnError, Percentages, Preset, Probabilities, Revisions};

/// Flags in a file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Config {
    #[serde(default, deserialize_with = "named")]
    pub(crate) method: Option<Method>,
    pub(crate) preset: Option<Preset>,
    pub(crate) ledger: Option<Vec<GroupLedger>>,
    pub(crate) threshold: Option<Vec<f64>>,
    pub(crate) half_life: Option<f64>,
    pub(crate) prior: Option<f64>,
    pub(crate) memory: Option<bool>,
    pub(crate) trust: Option<bool>,
    pub(crate) guard: Option<bool>,
    pub(crate) randomised: Option<bool>,
    pub(crate) seed: Option<u64>,
    #[serde(default, deserialize_with = "named")]
    pub(crate) form: Option<FormKind>,
    pub(crate) outcome: Option<String>,
    pub(crate) key: Option<Vec<String>>,
    pub(crate) made: Option<String>,
    pub(crate) about: Option<String>,
    pub(crate) known: Option<String>,
    pub(crate) horizon: Option<String>,
    #[serde(default, deserialize_with = "named")]
    pub(crate) lag: Option<Span>,
    #[serde(default, deserialize_with = "named")]
    pub(crate) step: Option<Span>,
    #[serde(rename = "where")]
    pub(crate) filter: Option<Vec<Filter>>,
    pub(crate) by: Option<String>,
    #[serde(default, deserialize_with = "named")]
    pub(crate) bounds: Option<Bounds>,
    pub(crate) revisions: Option<Revisions>,
    pub(crate) interval_width: Option<f64>,
    pub(crate) mean: Option<String>,
    pub(crate) std: Option<String>,
    pub(crate) point: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) delay: Option<u64>,
    pub(crate) quantiles: Option<Probabilities>,
    pub(crate) intervals: Option<Percentages>,
    pub(crate) scores: Option<bool>,
    pub(crate) on_error: Option<OnError>,
}

/// What the command line reads from its name is read from the same name here.
fn named<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    String::deserialize(deserializer)?.parse().map(Some).map_err(D::Error::custom)
}

impl Config {
    /// Reads a file; without one every flag has its default.
    pub(crate) fn read(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Config::default()) };
        let text = std::fs::read_to_string(path)
            .map_err(|source| truecast_data::Error::Io { file: path.display().to_string(), source })?;
        // The parser's message shows the line, with a mark under the place.
        toml::from_str(&text).map_err(|error| {
            let problem = format!("{}: {}", path.display(), error.to_string().trim_end());
            Failure::usage(
                problem,
                "the keys are long flags of `truecast calibrate`, such as half-life = 500; guard = false is --no-guard",
            )
        })
    }
}
