//! How to recalibrate.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use serde::Deserialize;
use truecast::recalibrate::{MOST_GROUPS, Method};
use truecast_fleet::{Lateness, Settings};

use crate::config::Config;
use crate::failure::{Failure, Result};

/// Groups that a `--ledger group=COLUMN` has room for unless it says how many.
const USUAL_GROUPS: u8 = 8;
/// N of the paper's experiments.
const PAPER_RESOLUTION: usize = 20;

/// A set of settings with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Preset {
    /// The paper's setting: levels and plays at multiples of 1/20, randomised, a step function.
    Paper,
}

/// `group=COLUMN` or `group=COLUMN:N`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct GroupLedger {
    pub(crate) column: String,
    pub(crate) count: u8,
}

impl FromStr for GroupLedger {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let Some(rest) = text.strip_prefix("group=").filter(|rest| !rest.is_empty()) else {
            return Err("a ledger is group=COLUMN, or group=COLUMN:N for up to N groups".to_owned());
        };
        // A column's name may have a colon of its own.
        if let Some((column, count)) = rest.rsplit_once(':')
            && let Ok(count) = count.parse::<u8>()
        {
            if count == 0 || usize::from(count) > MOST_GROUPS {
                return Err(format!("there can be 1 to {MOST_GROUPS} groups, got {count}"));
            }
            return Ok(GroupLedger { column: column.to_owned(), count });
        }
        Ok(GroupLedger { column: rest.to_owned(), count: USUAL_GROUPS })
    }
}

impl TryFrom<String> for GroupLedger {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// How to recalibrate.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Recalibration")]
pub(crate) struct MethodFlags {
    /// How to recalibrate: ledger (the default), approachability, internal-regret, defensive, running-mean, tophat, isotonic, aci, dtaci, sf-ogd, saocp or pid
    #[arg(long, value_name = "METHOD")]
    pub(crate) method: Option<Method>,

    /// The paper's setting of the method: N = 20, randomised, a step function
    #[arg(long, value_name = "PRESET")]
    pub(crate) preset: Option<Preset>,

    /// Calibrate within each group too: a group is a value of the column; COLUMN:N for up to N groups (8 unless said)
    #[arg(long, value_name = "group=COLUMN")]
    pub(crate) ledger: Vec<GroupLedger>,

    /// Keep P(outcome ≤ Y) calibrated at this Y; may be given several times
    #[arg(long, value_name = "Y", allow_negative_numbers = true)]
    pub(crate) threshold: Vec<f64>,

    /// How many outcomes later an old one counts half: for forecasters whose faults change [default: never]
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true)]
    pub(crate) half_life: Option<f64>,

    /// How many outcomes the forecaster's own probabilities are worth at the start [default: 10]
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true)]
    pub(crate) prior: Option<f64>,

    /// Leave out the running means, which are followed where they are more accurate than the ledgers
    #[arg(long)]
    pub(crate) no_memory: bool,

    /// Leave out the mixing with the forecaster's own probabilities, which keeps good forecasts as they are
    #[arg(long)]
    pub(crate) no_trust: bool,

    /// Leave out the guard, which holds every interval's coverage even against an adversary
    #[arg(long)]
    pub(crate) no_guard: bool,

    /// Round probabilities to a grid by a seeded coin, as the paper's algorithm does
    #[arg(long)]
    pub(crate) randomised: bool,

    /// Key of all random draws: the same seed gives the same output, bit for bit [default: 0]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

impl MethodFlags {
    /// The settings that were said here, or else in the configuration.
    pub(crate) fn settings(&self, config: &Config, lateness: Lateness) -> Result<Settings> {
        let method = self.method.or(config.method).unwrap_or(Method::Ledger);
        let preset = self.preset.or(config.preset);
        let thresholds = if self.threshold.is_empty() {
            config.threshold.clone().unwrap_or_default()
        } else {
            self.threshold.clone()
        };
        let groups: usize = self.groups(config).iter().map(|group| usize::from(group.count)).sum();
        let groups = u8::try_from(groups).ok().filter(|&groups| usize::from(groups) <= MOST_GROUPS);
        let Some(groups) = groups else {
            let problem = format!("all group ledgers together have room for more than {MOST_GROUPS} groups");
            return Err(Failure::usage(problem, "say how many each needs: --ledger group=COLUMN:N"));
        };
        let on = |off: bool, config: Option<bool>| if off { false } else { config.unwrap_or(true) };
        let settings = Settings {
            method,
            paper: preset.map(|Preset::Paper| PAPER_RESOLUTION),
            groups,
            thresholds,
            half_life: self.half_life.or(config.half_life),
            prior: self.prior.or(config.prior),
            memory: on(self.no_memory, config.memory),
            trust: on(self.no_trust, config.trust),
            guard: on(self.no_guard, config.guard),
            randomised: if self.randomised { Some(true) } else { config.randomised },
            seed: self.seed.or(config.seed).unwrap_or(0),
            lateness,
        };
        settings.build(b"")?; // what does not go together is said before a file is opened
        Ok(settings)
    }

    /// The group ledgers that were asked for here, or else in the configuration.
    pub(crate) fn groups(&self, config: &Config) -> Vec<GroupLedger> {
        if self.ledger.is_empty() { config.ledger.clone().unwrap_or_default() } else { self.ledger.clone() }
    }
}
