//! Experts: each says, for every level, how likely an outcome at or below it is. They learn apart, and `recalibrate/aggregate.rs` mixes them.
//!
//! | name | file | says |
//! |---|---|---|
//! | `base` | `base.rs` | what the base forecast says |
//! | `ledger` | `ledger/` | plays that owe nothing: calibrated on every stream |
//! | `mean` | `mean.rs` | how often it happened lately |
//! | `spread` | `spread.rs` | how often it happened, with both sides alike: the width, not the bias |
//! | `affine` | `affine.rs` | a normal distribution whose shift and scale follow from location, scale and the last outcomes |
//!
//! An expert is one file with its struct and [`Expert`], and one line in the list below. The laws of the testkit then run on it.

mod affine;
mod base;
pub mod ledger;
mod mean;
mod recent;
mod spread;

use std::fmt::{self, Debug};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use affine::Affine;
pub use base::Base;
pub use ledger::Ledgers;
pub use mean::Mean;
pub(crate) use recent::Recent;
pub use spread::Spread;

use crate::error::{Error, Result};
use crate::forecast::Forecast;
use crate::grid::Levels;
use crate::recalibrate::{Groups, Parameters};

/// What is known when a forecast is made.
#[derive(Debug, Clone, Copy)]
pub struct Occasion<'a> {
    /// The forecast.
    pub forecast: &'a dyn Forecast,
    /// Where probabilities are wanted.
    pub levels: &'a Levels,
    /// The forecast's widths there.
    pub widths: &'a [f64],
    /// Its median.
    pub location: f64,
    /// ln of its scale.
    pub log_scale: f64,
    /// Where the last known outcomes fell, and how widely: standardised, held in ±3; 0 where `lags` is off.
    pub recent: [f64; 2],
    /// The groups it belongs to.
    pub groups: Groups,
    /// Its number, which keys random draws.
    pub step: u64,
}

/// An outcome, with what was said and remembered when its forecast was made.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// The levels.
    pub levels: &'a Levels,
    /// The forecast's widths there.
    pub widths: &'a [f64],
    /// What the expert said.
    pub said: &'a [f64],
    /// What it wanted to remember.
    pub memo: &'a [f64],
    /// The outcome's probit score under the base.
    pub z: f64,
    /// Whether other outcomes became known between the forecast and its own.
    pub late: bool,
}

impl Told<'_> {
    /// o_j: 1 where the outcome lies at or below the level.
    pub fn happened(&self, level: usize) -> f64 {
        if self.z <= self.levels.probits()[level] { 1.0 } else { 0.0 }
    }
}

/// One expert. [`say`](Expert::say) is pure; what is said depends on what is known at the time alone.
pub trait Expert: Debug {
    /// Says P(z ≤ z_j) for every level, and writes down what it must remember until the outcome is known.
    fn say(&self, occasion: &Occasion<'_>, said: &mut [f64], memo: &mut Vec<f64>);

    /// The forecast with this location and log scale is announced: what may be learned from it without its outcome.
    fn announced(&mut self, _location: f64, _log_scale: f64) {}

    /// Learns an outcome.
    fn learn(&mut self, told: &Told<'_>);

    /// How many numbers it remembers with every forecast.
    fn memo_length(&self) -> usize {
        0
    }

    /// Whether it can have remembered this.
    fn accepts(&self, _memo: &[f64]) -> bool {
        true
    }

    /// Whether what was loaded can be what was saved.
    fn is_valid(&self) -> bool;
}

/// Declares the experts: the variants of [`AnyExpert`] and [`ExpertKind`], their names, and their weights before any outcome.
macro_rules! experts {
    ($($(#[$doc:meta])* $variant:ident($type:ty) = $name:literal, prior $prior:literal, says $words:literal);* $(;)?) => {
        /// The name of an expert.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum ExpertKind {
            $($(#[$doc])* $variant,)*
        }

        impl ExpertKind {
            /// Every expert, in the order of their weights.
            pub const ALL: &'static [ExpertKind] = &[$(ExpertKind::$variant),*];

            /// The name that people choose it by.
            pub fn name(self) -> &'static str {
                match self { $(ExpertKind::$variant => $name,)* }
            }

            /// What it says, for people.
            pub fn words(self) -> &'static str {
                match self { $(ExpertKind::$variant => $words,)* }
            }

            /// Its weight before any outcome, relative to the others'.
            pub(crate) fn prior(self) -> f64 {
                match self { $(ExpertKind::$variant => $prior,)* }
            }

            /// The expert, before any outcome.
            pub(crate) fn start(self, parameters: &Parameters) -> AnyExpert {
                match self { $(ExpertKind::$variant => AnyExpert::$variant(Box::new(<$type>::start(parameters))),)* }
            }
        }

        /// Any of the experts.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum AnyExpert {
            $($(#[$doc])* $variant(Box<$type>),)*
        }

        impl AnyExpert {
            /// Which it is.
            pub fn kind(&self) -> ExpertKind {
                match self { $(AnyExpert::$variant(_) => ExpertKind::$variant,)* }
            }

            /// What it has learned, as bytes.
            pub(crate) fn save(&self) -> postcard::Result<Vec<u8>> {
                match self { $(AnyExpert::$variant(inner) => postcard::to_allocvec(&inner.saved()),)* }
            }

            /// Takes up what was saved; `false` if it cannot be this expert's.
            pub(crate) fn load(&mut self, bytes: &[u8]) -> bool {
                match self { $(AnyExpert::$variant(inner) => {
                    let Ok((saved, [])) = postcard::take_from_bytes(bytes) else { return false };
                    inner.restore(saved) && inner.is_valid()
                })* }
            }
        }

        impl Expert for AnyExpert {
            fn say(&self, occasion: &Occasion<'_>, said: &mut [f64], memo: &mut Vec<f64>) {
                match self { $(AnyExpert::$variant(inner) => inner.say(occasion, said, memo),)* }
            }
            fn announced(&mut self, location: f64, log_scale: f64) {
                match self { $(AnyExpert::$variant(inner) => inner.announced(location, log_scale),)* }
            }
            fn learn(&mut self, told: &Told<'_>) {
                match self { $(AnyExpert::$variant(inner) => inner.learn(told),)* }
            }
            fn memo_length(&self) -> usize {
                match self { $(AnyExpert::$variant(inner) => inner.memo_length(),)* }
            }
            fn accepts(&self, memo: &[f64]) -> bool {
                match self { $(AnyExpert::$variant(inner) => inner.accepts(memo),)* }
            }
            fn is_valid(&self) -> bool {
                match self { $(AnyExpert::$variant(inner) => inner.is_valid(),)* }
            }
        }
    };
}

experts! {
    /// The base forecast.
    Base(Base) = "base", prior 0.4, says "the forecasts as they are";
    /// The ledgers.
    Ledger(Ledgers) = "ledger", prior 0.15, says "the balanced books";
    /// Running means that forget.
    Mean(Mean) = "mean", prior 0.15, says "what happened lately";
    /// A running mean of the spread.
    Spread(Spread) = "spread", prior 0.15, says "the usual spread";
    /// A conditional normal distribution.
    Affine(Affine) = "affine", prior 0.15, says "errors that depend on location, scale and the last outcomes";
}

impl fmt::Display for ExpertKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ExpertKind {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self> {
        let found = ExpertKind::ALL.iter().find(|kind| kind.name() == name);
        found.copied().ok_or_else(|| Error::UnknownExpert { name: name.to_string() })
    }
}
