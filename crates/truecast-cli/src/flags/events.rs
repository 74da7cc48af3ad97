//! What a person says about times, outcomes and which rows are meant.

use std::str::FromStr;

use clap::Args;
use serde::Deserialize;
use truecast_events::{Request, Span};

use crate::config::Config;
use crate::flags::ColumnFlags;

/// `COLUMN=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Filter {
    column: String,
    value: String,
}

impl FromStr for Filter {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').filter(|(column, _)| !column.is_empty());
        let (column, value) = parts.ok_or_else(|| "rows are chosen by COLUMN=VALUE".to_owned())?;
        Ok(Filter { column: column.to_owned(), value: value.to_owned() })
    }
}

impl TryFrom<String> for Filter {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// `LOW,HIGH`, either of which may be missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounds([f64; 2]);

impl FromStr for Bounds {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || format!("{text:?} is no pair of bounds: write 0, or ,1 or 0,1");
        let (low, high) = text.split_once(',').ok_or_else(refused)?;
        let number = |text: &str, missing: f64| match text.trim() {
            "" => Some(missing),
            text => text.parse().ok().filter(|value: &f64| value.is_finite()),
        };
        let low = number(low, f64::NEG_INFINITY).ok_or_else(refused)?;
        let high = number(high, f64::INFINITY).filter(|high| low < *high).ok_or_else(refused)?;
        Ok(Bounds([low, high]))
    }
}

/// When outcomes are known, and of which rows.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Times and outcomes")]
pub(crate) struct EventFlags {
    /// How much later than the time that it is about an outcome is known: 7d, 36h, 15min, or a number where times are numbers
    #[arg(long, value_name = "LENGTH")]
    lag: Option<Span>,

    /// How long one step of the horizon is, where it is counted and one of both times is missing: 1d, 1w
    #[arg(long, value_name = "LENGTH")]
    step: Option<Span>,

    /// Without times: how many more forecasts of a series are made before an outcome is known [default: 0, known before the next one]
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true)]
    delay: Option<u64>,

    /// Calibrate rows with this cell alone; others pass through. May be given several times
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    filter: Vec<Filter>,

    /// What is forecast lies between these: no calibrated quantile leaves them. `0,` for counts, `0,1` for shares
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    bounds: Option<Bounds>,

    /// Count outcomes by the values of this column too
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
}

impl EventFlags {
    /// What was said here, or else in the configuration, about a table with these columns.
    pub(crate) fn request(&self, columns: &ColumnFlags, config: &Config) -> Request {
        let filter = if self.filter.is_empty() {
            config.filter.clone().unwrap_or_default()
        } else {
            self.filter.clone()
        };
        Request {
            wishes: columns.wishes(config),
            lag: self.lag.or(config.lag),
            step: self.step.or(config.step),
            delay: self.delay.or(config.delay),
            bounds: self.bounds.or(config.bounds).map(|Bounds(bounds)| bounds),
            by: self.by.clone().or_else(|| config.by.clone()),
            filter: filter.into_iter().map(|Filter { column, value }| (column, value)).collect(),
            ..Request::default()
        }
    }
}
