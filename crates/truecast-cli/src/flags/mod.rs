//! Flags that several commands share.

mod columns;
mod events;
mod list;
mod recalibration;

pub(crate) use columns::{ColumnFlags, InputFlags};
pub(crate) use events::{Bounds, EventFlags, Filter};
pub(crate) use list::{Percentages, Probabilities};
pub(crate) use recalibration::{GroupLedger, MethodFlags, Preset};

use clap::ValueEnum;
use serde::Deserialize;

/// What to do with a row that breaks a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OnError {
    /// Stop, and write nothing.
    Fail,
    /// Leave the row out, and say at the end how many were left out.
    Skip,
}

/// Which of several outcomes about the same counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Revisions {
    /// The first; later ones are counted and told.
    First,
    /// The last one that is known before it is used.
    Last,
}
