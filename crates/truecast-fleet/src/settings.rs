//! What all series of a fleet have in common.

use std::fmt;

use serde::{Deserialize, Serialize};
use truecast::LedgerRecalibrator;
use truecast::recalibrate::{AnyRecalibrator, Method, Parameters};

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
/// | `method` | ledger | any [`Method`] |
/// | `paper` | none | the paper's setting with levels and plays at multiples of 1/N |
/// | `groups` | 0 | ledgers for groups, by the order in which a series meets their labels |
/// | `thresholds` | none | outcomes at which P(Y ≤ y) is kept calibrated |
/// | `half_life` | none | outcomes after which an old one counts half |
/// | `prior` | the method's | observations for which the base's own probabilities count |
/// | `memory`, `trust`, `guard` | true | parts of the ledger recalibrator |
/// | `randomised` | the method's | round plays by a coin |
/// | `seed` | 0 | key of all random draws; a series' own is this with its key mixed in |
/// | `lateness` | next | when outcomes become known |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The method.
    pub method: Method,
    /// N of the paper's setting.
    pub paper: Option<usize>,
    /// How many groups a series may have.
    pub groups: u8,
    /// Outcomes at which P(Y ≤ y) is kept calibrated.
    pub thresholds: Vec<f64>,
    /// Outcomes after which an old one counts half.
    pub half_life: Option<f64>,
    /// Observations for which the base's own probabilities count.
    pub prior: Option<f64>,
    /// Follow running means where they are more accurate.
    pub memory: bool,
    /// Mix with the base by what each would have lost.
    pub trust: bool,
    /// Keep every quantile's coverage within a budget.
    pub guard: bool,
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
            method: Method::Ledger,
            paper: None,
            groups: 0,
            thresholds: Vec::new(),
            half_life: None,
            prior: None,
            memory: true,
            trust: true,
            guard: true,
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
        if self.method != Method::Ledger {
            self.only_defaults()?;
            return Ok(match self.paper {
                Some(resolution) => self.method.build_paper(resolution, seed)?,
                None => self.method.build(seed)?,
            });
        }
        let mut builder = match self.paper {
            Some(resolution) => {
                for (setting, on) in [("memory", self.memory), ("trust", self.trust), ("guard", self.guard)] {
                    if !on {
                        // Saying it twice is harmless in itself, but whoever says it may believe that the preset has the part.
                        return Err(Error::FixedByPaper { setting });
                    }
                }
                Parameters::paper(resolution)?
            }
            None => Parameters::builder().memory(self.memory).trust(self.trust).guard(self.guard),
        };
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
        let parameters = builder.groups(self.groups).seed(seed).build()?;
        Ok(AnyRecalibrator::Ledger(Box::new(LedgerRecalibrator::new(parameters))))
    }

    /// Other methods have none of the ledger's settings.
    fn only_defaults(&self) -> Result<()> {
        let refused = [
            ("a group ledger", self.groups > 0),
            ("a threshold", !self.thresholds.is_empty()),
            ("the half-life", self.half_life.is_some()),
            ("the prior", self.prior.is_some()),
            ("randomised", self.randomised.is_some()),
            ("no memory", !self.memory),
            ("no trust", !self.trust),
            ("no guard", !self.guard),
        ];
        match refused.iter().find(|(_, set)| *set) {
            Some((setting, _)) => Err(Error::LedgerOnly { setting, method: self.method }),
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
            let paper = Settings { paper: Some(10), ..settings.clone() };
            assert_eq!(paper.build(b"").unwrap().method(), method);
            let guarded = Settings { guard: false, ..settings };
            let built = guarded.build(b"a");
            if method == Method::Ledger {
                assert!(built.is_ok());
            } else {
                assert_eq!(built, Err(Error::LedgerOnly { setting: "no guard", method }));
            }
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
