//! The ways of running a study that are compared.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::acquisition::{AnyAcquisition, Kappa};
use crate::calibration::Calibration;
use crate::design::Design;
use crate::error::{Error, Result};
use crate::study::StudySettings;

/// Initial points of a run, as in the paper.
pub const INITIAL: usize = 3;

/// A way of running a study.
///
/// | name | acquisition | recalibration |
/// |---|---|---|
/// | `plain` | lower confidence bound, κ = 2 | none |
/// | `paper` | κ = 2 | leave-one-out forecasts, Algorithm 1, randomised |
/// | `ledger` | κ = 2 | leave-one-out forecasts, the ledgers |
/// | `online` | κ = 2 | forecasts made before their outcomes, the ledgers, narrows only |
/// | `online-scale` | κ = 2 | the same forecasts, one factor, narrows only |
/// | `kappa-1.5`, `kappa-1` | smaller κ | none: does a constant do as well? |
/// | `anneal` | κ from 2 to 1 on a line | none: does a schedule without data do as well? |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Variant {
    /// The surrogate as it is.
    Plain,
    /// The paper's.
    Paper,
    /// The ledgers on leave-one-out forecasts.
    Ledger,
    /// The ledgers on the online stream.
    Online,
    /// One factor for the width, from the online stream.
    OnlineScale,
    /// κ = 1.5.
    #[serde(rename = "kappa-1.5")]
    KappaOneAndAHalf,
    /// κ = 1.
    #[serde(rename = "kappa-1")]
    KappaOne,
    /// κ from 2 to 1.
    Anneal,
}

impl Variant {
    /// Every variant, that which the others are compared with first.
    pub const ALL: [Variant; 8] = [
        Variant::Plain,
        Variant::Paper,
        Variant::Ledger,
        Variant::Online,
        Variant::OnlineScale,
        Variant::KappaOneAndAHalf,
        Variant::KappaOne,
        Variant::Anneal,
    ];

    /// The name that people choose it by.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Plain => "plain",
            Variant::Paper => "paper",
            Variant::Ledger => "ledger",
            Variant::Online => "online",
            Variant::OnlineScale => "online-scale",
            Variant::KappaOneAndAHalf => "kappa-1.5",
            Variant::KappaOne => "kappa-1",
            Variant::Anneal => "anneal",
        }
    }

    /// The settings of a run of so many steps. Initial points depend on the seed alone, so that variants share them.
    pub fn settings(self, steps: usize, seed: u64) -> StudySettings {
        let kappa = match self {
            Variant::KappaOneAndAHalf => Kappa::Fixed(1.5),
            Variant::KappaOne => Kappa::Fixed(1.0),
            Variant::Anneal => Kappa::Line { from: 2.0, to: 1.0, steps: steps as u64 },
            _ => Kappa::Fixed(2.0),
        };
        let calibration = match self {
            Variant::Paper => Calibration::paper(),
            Variant::Ledger => Calibration::ledger(),
            Variant::Online => Calibration::online(),
            Variant::OnlineScale => Calibration::online_scale(),
            _ => Calibration::None,
        };
        StudySettings {
            design: Design::Random,
            initial: INITIAL,
            acquisition: AnyAcquisition::LowerConfidenceBound(kappa),
            calibration,
            seed,
            ..Default::default()
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Variant {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self> {
        Variant::ALL.into_iter().find(|variant| variant.name() == name).ok_or_else(|| Error::UnknownName {
            what: "a variant",
            name: name.to_string(),
            known: Variant::ALL.map(Variant::name).join(", "),
        })
    }
}
