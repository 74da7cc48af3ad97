//! What stands between any method and what is announced: stop-loss, guard, bounds.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{self, Error, Result};

/// What the guard may cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuardMode {
    /// What the stop-loss allows.
    #[default]
    Priced,
    /// Whatever it takes: coverage is promised, and the stop-loss is not.
    Strict,
    /// There is no guard.
    Off,
}

impl GuardMode {
    /// The name that people choose it by.
    pub fn name(self) -> &'static str {
        match self {
            GuardMode::Priced => "priced",
            GuardMode::Strict => "strict",
            GuardMode::Off => "off",
        }
    }
}

impl FromStr for GuardMode {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self> {
        let all = [GuardMode::Priced, GuardMode::Strict, GuardMode::Off];
        let found = all.into_iter().find(|mode| mode.name() == name);
        found.ok_or_else(|| Error::UnknownGuard { name: name.to_string() })
    }
}

/// What stands between any method and what is announced.
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `stop_loss` | 0.005 | the share of the base's score that may be lost, at any time; `None`: no stop-loss | > 0 |
/// | `guard` | priced | keep the coverage of central intervals within a √n budget | priced, strict, off |
/// | `bounds` | none | what is known of the outcome: nothing is announced beyond | low < high |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Protection {
    /// The share of the base's score that may be lost.
    pub stop_loss: Option<f64>,
    /// What the guard may cost.
    pub guard: GuardMode,
    /// The least and the largest outcome there can be.
    pub bounds: Option<(f64, f64)>,
}

/// The share of the base's score that may be lost by default.
pub const STOP_LOSS: f64 = 0.005;

impl Default for Protection {
    fn default() -> Self {
        Protection { stop_loss: Some(STOP_LOSS), guard: GuardMode::Priced, bounds: None }
    }
}

impl Protection {
    /// No stop-loss, no guard, no bounds: what a method says is announced.
    pub const NONE: Protection = Protection { stop_loss: None, guard: GuardMode::Off, bounds: None };

    /// Checks every value.
    pub fn validate(&self) -> Result<()> {
        if let Some(share) = self.stop_loss {
            error::positive("stop-loss", share)?;
        }
        if let Some((low, high)) = self.bounds {
            for value in [low, high] {
                if value.is_nan() {
                    return Err(Error::NotFinite { what: "bound of the outcome", value });
                }
            }
            if low >= high {
                let what = "bounds of the outcome";
                return Err(Error::NotIncreasing { what, index: 1, previous: low, value: high });
            }
        }
        Ok(())
    }
}
