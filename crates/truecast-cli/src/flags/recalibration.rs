//! How to recalibrate.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use serde::Deserialize;
use truecast::GuardMode;
use truecast::expert::ExpertKind;
use truecast::recalibrate::{MOST_GROUPS, Method, STOP_LOSS};
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

/// A share of the base's score, or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "ShareOrOff")]
pub(crate) struct StopLoss(pub(crate) Option<f64>);

/// As it stands in a configuration: a number, or a word.
#[derive(Deserialize)]
#[serde(untagged)]
enum ShareOrOff {
    Share(f64),
    Word(String),
}

impl FromStr for StopLoss {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(StopLoss(None));
        }
        let share = text.parse().map_err(|_| "a share such as 0.005, or off".to_owned())?;
        Ok(StopLoss(Some(share)))
    }
}

impl TryFrom<ShareOrOff> for StopLoss {
    type Error = String;
    fn try_from(value: ShareOrOff) -> Result<Self, String> {
        match value {
            ShareOrOff::Share(share) => Ok(StopLoss(Some(share))),
            ShareOrOff::Word(word) => word.parse(),
        }
    }
}

/// `LOW,HIGH`, either of which may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Bounds(pub(crate) f64, pub(crate) f64);

impl FromStr for Bounds {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no pair of bounds: write 0, or ,1 or 0,1");
        let (low, high) = text.split_once(',').ok_or_else(wrong)?;
        let bound = |text: &str, none: f64| match text.trim() {
            "" => Ok(none),
            number => number.parse().ok().filter(|bound: &f64| bound.is_finite()).ok_or_else(wrong),
        };
        let (low, high) = (bound(low, f64::NEG_INFINITY)?, bound(high, f64::INFINITY)?);
        if low < high { Ok(Bounds(low, high)) } else { Err(wrong()) }
    }
}

impl TryFrom<String> for Bounds {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// What `--method` takes, from the core's own list.
fn methods() -> String {
    let [default, others @ .., last] = Method::ALL.map(Method::name);
    format!("How to recalibrate: {default} (the default), {} or {last}", others.join(", "))
}

/// How to recalibrate.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Recalibration")]
pub(crate) struct MethodFlags {
    #[arg(long, value_name = "METHOD", help = methods())]
    pub(crate) method: Option<Method>,

    /// Never be behind the forecaster by more than this share of its score, at any time; `off` for no limit [default: 0.005]
    #[arg(long, value_name = "SHARE")]
    pub(crate) stop_loss: Option<StopLoss>,

    /// Keep the coverage of intervals in its budget: priced (as far as the stop-loss allows), strict (whatever it costs) or off [default: priced; off for methods of others]
    #[arg(long, value_name = "MODE")]
    pub(crate) guard: Option<GuardMode>,

    /// Whom to mix beside the forecaster: ledger, mean, spread, affine [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) experts: Option<Vec<ExpertKind>>,

    /// Do not let experts see where the last outcomes fell: to recalibrate, and not to improve forecasts by what the past tells of the next outcome
    #[arg(long)]
    pub(crate) no_lags: bool,

    /// What is forecast lies between these: no calibrated quantile leaves them. `0,` for counts, `0,1` for shares
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    pub(crate) bounds: Option<Bounds>,

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
        let method = self.method.or(config.method).unwrap_or_default();
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
        let settings = Settings {
            method,
            paper: preset.map(|Preset::Paper| PAPER_RESOLUTION),
            groups,
            thresholds,
            half_life: self.half_life.or(config.half_life),
            prior: self.prior.or(config.prior),
            stop_loss: self.stop_loss.or(config.stop_loss).map_or(Some(STOP_LOSS), |StopLoss(share)| share),
            guard: self.guard.or(config.guard),
            experts: self.experts.clone().or_else(|| config.experts.clone()),
            lags: if self.no_lags { false } else { config.lags.unwrap_or(true) },
            bounds: self.bounds.or(config.bounds).map(|Bounds(low, high)| (low, high)),
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
