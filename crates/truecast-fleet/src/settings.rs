//! What all series of a fleet have in common.

use std::fmt;

use serde::{Deserialize, Serialize};
use truecast::expert::ExpertKind;
use truecast::recalibrate::{AnyRecalibrator, Family, Method, Parameters, ParametersBuilder, STOP_LOSS};
use truecast::{GuardMode, Pipeline, Protection};

use crate::error::{Error, Result};

/// When the outcome of a row becomes known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lateness {
    /// Before the next row of the series.
    #[default]
    Next,
    /// After this many more rows of the series.
    Rows(u64),
    /// At a time that each row says.
    Times,
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lateness::Next => f.write_str("before the next row"),
            Lateness::Rows(1) => f.write_str("1 row late"),
            Lateness::Rows(rows) => write!(f, "{rows} rows late"),
            Lateness::Times => f.write_str("at the times that rows say"),
        }
    }
}

/// How series are recalibrated.
///
/// | name | default | meaning |
/// |---|---|---|
/// | `method` | experts | any [`Method`] |
/// | `stop_loss` | 0.005 | the share of the base's score that may be lost, at any time; none: no stop-loss |
/// | `guard` | the method's | what keeping the coverage of intervals may cost: priced, strict, off |
/// | `experts` | all | who is mixed beside the base |
/// | `lags` | true | experts see where the last outcomes fell |
/// | `prior` | the method's | observations for which the base's own probabilities count in the ledgers |
/// | `half_life` | none | outcomes after which an old one counts half |
/// | `groups` | 0 | ledgers for groups, by the order in which a series meets their labels |
/// | `thresholds` | none | outcomes at which P(Y ≤ y) is kept calibrated |
/// | `bounds` | none | the least and the largest outcome there can be |
/// | `paper` | none | the paper's setting with levels and plays at multiples of 1/N |
/// | `randomised` | the method's | round plays by a coin |
/// | `seed` | 0 | key of all random draws; a series' own is this with its key mixed in |
/// | `lateness` | next | when outcomes become known |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The method.
    pub method: Method,
    /// The share of the base's score that may be lost.
    pub stop_loss: Option<f64>,
    /// What keeping the coverage of intervals may cost.
    pub guard: Option<GuardMode>,
    /// Who is mixed beside the base.
    pub experts: Option<Vec<ExpertKind>>,
    /// Whether experts see where the last outcomes fell.
    pub lags: bool,
    /// Observations for which the base's own probabilities count.
    pub prior: Option<f64>,
    /// Outcomes after which an old one counts half.
    pub half_life: Option<f64>,
    /// How many groups a series may have.
    pub groups: u8,
    /// Outcomes at which P(Y ≤ y) is kept calibrated.
    pub thresholds: Vec<f64>,
    /// The least and the largest outcome there can be.
    pub bounds: Option<(f64, f64)>,
    /// N of the paper's setting.
    pub paper: Option<usize>,
    /// Round plays by a coin.
    pub randomised: Option<bool>,
    /// Key of all random draws.
    pub seed: u64,
    /// When outcomes become known.
    pub lateness: Lateness,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            method: Method::default(),
            stop_loss: Some(STOP_LOSS),
            guard: None,
            experts: None,
            lags: true,
            prior: None,
            half_life: None,
            groups: 0,
            thresholds: Vec::new(),
            bounds: None,
            paper: None,
            randomised: None,
            seed: 0,
            lateness: Lateness::Next,
        }
    }
}

impl Settings {
    /// A recalibrator for the series with this key; the empty key is that of a file with one series.
    pub fn build(&self, key: &[u8]) -> Result<AnyRecalibrator> {
        let seed = self.seed_of(key);
        if self.paper.is_some() {
            self.refuse("the paper's preset", &self.of_protection())?;
            self.refuse("the paper's preset", &self.of_experts())?;
        }
        let ours = self.method.family() == Family::Ours;
        if !ours {
            self.refuse(self.method.name(), &self.of_experts())?;
            self.refuse(self.method.name(), &self.of_ledgers())?;
        }
        if self.method == Method::Ledger {
            self.refuse("ledger", &self.of_experts())?;
        }
        Ok(match (self.method, self.paper) {
            (Method::Experts, None) => {
                let builder = Parameters::builder().lags(self.lags);
                let builder =
                    self.experts.as_ref().map_or(builder.clone(), |experts| builder.experts(experts));
                AnyRecalibrator::Experts(Box::new(self.pipeline(builder, seed)?))
            }
            (Method::Ledger, None) => {
                AnyRecalibrator::Ledger(Box::new(self.pipeline(Parameters::ledger(), seed)?))
            }
            (Method::Experts | Method::Ledger, Some(resolution)) => {
                let bare = Settings { stop_loss: None, guard: Some(GuardMode::Off), ..self.clone() };
                AnyRecalibrator::Ledger(Box::new(bare.pipeline(Parameters::paper(resolution)?, seed)?))
            }
            (method, Some(resolution)) => method.build_paper(resolution, seed)?,
            (method, None) => method.build_with(seed, self.protection())?,
        })
    }

    /// Every setting by its name, with its value in words: what states are compared by, and reports list.
    pub fn named(&self) -> Vec<(&'static str, String)> {
        fn or<T: ToString>(value: Option<T>, none: &str) -> String {
            value.map_or(none.to_owned(), |value| value.to_string())
        }
        let list = |values: Vec<String>| if values.is_empty() { "none".to_owned() } else { values.join(" ") };
        let names = |experts: &Vec<ExpertKind>| list(experts.iter().map(ToString::to_string).collect());
        let guard = self.guard.unwrap_or(self.method.guard());
        vec![
            ("method", self.method.to_string()),
            ("stop-loss", or(self.stop_loss, "off")),
            ("guard", guard.name().to_owned()),
            ("experts", self.experts.as_ref().map_or("all".to_owned(), names)),
            ("lags", if self.lags { "on" } else { "off" }.to_owned()),
            ("prior", or(self.prior, "the method's")),
            ("half-life", or(self.half_life, "none")),
            ("groups", self.groups.to_string()),
            ("thresholds", list(self.thresholds.iter().map(ToString::to_string).collect())),
            ("bounds", self.bounds.map_or("none".to_owned(), |(low, high)| format!("{low} to {high}"))),
            ("paper", or(self.paper, "none")),
            ("randomised", or(self.randomised, "the method's")),
            ("seed", self.seed.to_string()),
            ("outcomes known", self.lateness.to_string()),
        ]
    }

    /// What stands between the method and what is announced.
    pub fn protection(&self) -> Protection {
        let guard = self.guard.unwrap_or(self.method.guard());
        Protection { stop_loss: self.stop_loss, guard, bounds: self.bounds }
    }

    /// Our own method with all that can be set of it.
    fn pipeline(&self, mut builder: ParametersBuilder, seed: u64) -> Result<Pipeline> {
        builder = builder.protection(self.protection());
        if let Some(half_life) = self.half_life {
            builder = builder.half_life(half_life);
        }
        if let Some(prior) = self.prior {
            builder = builder.prior(prior);
        }
        if let Some(randomised) = self.randomised {
            builder = builder.randomised(randomised);
        }
        for &threshold in &self.thresholds {
            builder = builder.threshold(threshold);
        }
        Ok(Pipeline::new(builder.groups(self.groups).seed(seed).build()?))
    }

    /// Settings of one kind by their names, and whether each was changed.
    fn of_protection(&self) -> [(&'static str, bool); 2] {
        [("the stop-loss", self.stop_loss != Some(STOP_LOSS)), ("the guard", self.guard.is_some())]
    }

    fn of_experts(&self) -> [(&'static str, bool); 2] {
        [("the list of experts", self.experts.is_some()), ("no lags", !self.lags)]
    }

    fn of_ledgers(&self) -> [(&'static str, bool); 5] {
        [
            ("a group ledger", self.groups > 0),
            ("a threshold", !self.thresholds.is_empty()),
            ("the half-life", self.half_life.is_some()),
            ("the prior", self.prior.is_some()),
            ("randomised", self.randomised.is_some()),
        ]
    }

    /// Whoever sets what a method does not have may believe that it does.
    fn refuse(&self, of: &'static str, settings: &[(&'static str, bool)]) -> Result<()> {
        match settings.iter().find(|(_, set)| *set) {
            Some((setting, _)) => Err(Error::NotASetting { setting, of }),
            None => Ok(()),
        }
    }

    /// The seed with the key mixed in by FNV-1a, so that series do not toss the same coins.
    fn seed_of(&self, key: &[u8]) -> u64 {
        if key.is_empty() {
            return self.seed;
        }
        let hash = key.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        self.seed ^ hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truecast::Recalibrator;

    #[test]
    fn every_method_builds_and_refuses_what_it_has_not() {
        for method in Method::ALL {
            let settings = Settings { method, ..Settings::default() };
            assert_eq!(settings.build(b"a").unwrap().method(), method);
            let strict = Settings { guard: Some(GuardMode::Strict), stop_loss: None, ..settings.clone() };
            assert_eq!(strict.build(b"a").unwrap().protection(), &strict.protection());
            let paper = Settings { paper: Some(10), ..settings.clone() };
            let expected = if method == Method::Experts { Method::Ledger } else { method };
            assert_eq!(paper.build(b"").unwrap().method(), expected);
            let both = Settings { paper: Some(10), ..strict };
            let refused = Error::NotASetting { setting: "the stop-loss", of: "the paper's preset" };
            assert_eq!(both.build(b""), Err(refused));
            let faded = Settings { half_life: Some(50.0), ..settings.clone() }.build(b"a");
            let blind = Settings { lags: false, ..settings }.build(b"a");
            if method.family() == Family::Ours {
                assert!(faded.is_ok());
            } else {
                assert_eq!(faded, Err(Error::NotASetting { setting: "the half-life", of: method.name() }));
            }
            assert_eq!(blind.is_ok(), method == Method::Experts);
        }
    }

    #[test]
    fn series_have_seeds_of_their_own() {
        let settings = Settings { seed: 7, ..Settings::default() };
        let seed = |key: &[u8]| settings.build(key).unwrap().seed();
        assert_eq!(seed(b""), 7);
        assert_ne!(seed(b"a"), seed(b"b"));
        assert_eq!(seed(b"a"), seed(b"a"));
    }
}
