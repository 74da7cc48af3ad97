//! Parameters of the ledger recalibrator: a builder, and what it validates to.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::map::MapShape;
use crate::error::{self, Error, Result};
use crate::grid::{Levels, Plays};

/// A promise the recalibrator is held to: what its balances are weighted by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LedgerKind {
    /// w = 1: the PIT is calibrated.
    Uniform,
    /// w = the base's width at the level: no regret in CRPS.
    Crps,
    /// w = 1 on the steps that belong to this group: calibrated within it. Groups may overlap.
    Group(u8),
    /// w = how close the level is to F_t(y): calibrated at this y, the paper's C_T(y).
    Threshold(f64),
}

impl LedgerKind {
    /// True if the weight is the same at every level.
    pub(crate) fn is_flat(self) -> bool {
        matches!(self, LedgerKind::Uniform | LedgerKind::Group(_))
    }
}

impl fmt::Display for LedgerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LedgerKind::Uniform => f.pad("uniform"),
            LedgerKind::Crps => f.pad("crps"),
            LedgerKind::Group(group) => write!(f, "group {group}"),
            LedgerKind::Threshold(y) => write!(f, "threshold {y}"),
        }
    }
}

/// How many groups there can be.
pub const MOST_GROUPS: usize = 64;

/// The groups one forecast belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Groups(u64);

impl Groups {
    /// No group.
    pub const NONE: Groups = Groups(0);

    /// The given groups, counted from 0.
    pub fn of(groups: &[usize]) -> Result<Self> {
        groups.iter().try_fold(Groups::NONE, |set, &group| {
            if group < MOST_GROUPS {
                Ok(Groups(set.0 | 1 << group))
            } else {
                Err(Error::UnknownGroup { group, count: MOST_GROUPS })
            }
        })
    }

    /// True if the forecast belongs to `group`.
    pub fn contains(self, group: u8) -> bool {
        u32::from(group) < u64::BITS && self.0 >> group & 1 == 1
    }

    /// The largest group, if there is one.
    pub(crate) fn largest(self) -> Option<usize> {
        self.0.checked_ilog2().map(|bit| bit as usize)
    }
}

/// Validated parameters of a [`LedgerRecalibrator`](super::LedgerRecalibrator).
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `levels` | 25, stretched over ±6 | where probabilities are announced, in probit units | ≥ 2, increasing |
/// | `plays` | 16 intervals, probit grid over ±3.3 | what announcements are mixed from | 0 to 1, increasing |
/// | `ledgers` | uniform, crps | the promises that are kept | at least one |
/// | `prior` | 10 | observations for which the base's own probabilities count | ≥ 0 |
/// | `half_life` | none | outcomes after which an old one counts half | > 0 |
/// | `memory` | true | follow running means of the outcomes where they are more accurate than the ledgers | |
/// | `trust` | true | mix with the base by what each would have lost | |
/// | `guard` | true | keep the coverage of every quantile within a √n budget | |
/// | `randomised` | false | round plays to the grid by a coin: calibration in the strict sense | |
/// | `shape` | probit | how levels become a distribution | probit, step |
/// | `seed` | 0 | key of all random draws | any |
///
/// ```
/// use truecast::Parameters;
///
/// let parameters = Parameters::builder().prior(20.0).half_life(500.0).groups(3).build()?;
/// assert_eq!(parameters.ledgers().len(), 5);
/// assert!(Parameters::builder().prior(-1.0).build().is_err());
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ParametersBuilder", into = "ParametersBuilder")]
pub struct Parameters {
    pub(crate) levels: Arc<Levels>,
    pub(crate) plays: Arc<Plays>,
    pub(crate) ledgers: Vec<LedgerKind>,
    pub(crate) prior: f64,
    pub(crate) half_life: Option<f64>,
    pub(crate) memory: bool,
    pub(crate) trust: bool,
    pub(crate) guard: bool,
    pub(crate) randomised: bool,
    pub(crate) shape: MapShape,
    pub(crate) seed: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        // The builder's defaults are valid; a unit test says so for every field.
        let ParametersBuilder {
            levels,
            plays,
            ledgers,
            prior,
            half_life,
            memory,
            trust,
            guard,
            randomised,
            shape,
            seed,
        } = ParametersBuilder::default();
        let (levels, plays) = (Arc::new(levels), Arc::new(plays));
        Parameters { levels, plays, ledgers, prior, half_life, memory, trust, guard, randomised, shape, seed }
    }
}

impl Parameters {
    /// Starts from the defaults.
    pub fn builder() -> ParametersBuilder {
        ParametersBuilder::default()
    }

    /// Starts from the paper's setting: levels j/n, plays i/n, one uniform ledger without a prior, randomised, a step function,
    /// no trust and no guard. `randomised(false)` gives its non-randomised form, which announces the expected play.
    pub fn paper(resolution: usize) -> Result<ParametersBuilder> {
        Ok(ParametersBuilder {
            levels: Levels::uniform(resolution)?,
            plays: Plays::uniform(resolution)?,
            ledgers: vec![LedgerKind::Uniform],
            prior: 0.0,
            half_life: None,
            memory: false,
            trust: false,
            guard: false,
            randomised: true,
            shape: MapShape::Step,
            seed: 0,
        })
    }

    /// Where probabilities are announced.
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// What announcements are mixed from.
    pub fn plays(&self) -> &Plays {
        &self.plays
    }

    /// The promises that are kept, in the order of the certificate.
    pub fn ledgers(&self) -> &[LedgerKind] {
        &self.ledgers
    }

    /// How many group ledgers there are.
    pub fn group_count(&self) -> usize {
        let groups = self.ledgers.iter().filter_map(|kind| match kind {
            LedgerKind::Group(group) => Some(usize::from(*group) + 1),
            _ => None,
        });
        groups.max().unwrap_or(0)
    }

    /// The key of all random draws.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// True if any part needs the base forecast's widths.
    pub(crate) fn needs_widths(&self) -> bool {
        self.memory || self.trust || self.ledgers.contains(&LedgerKind::Crps)
    }
}

/// Collects parameters; [`build`](ParametersBuilder::build) checks them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ParametersBuilder {
    levels: Levels,
    plays: Plays,
    ledgers: Vec<LedgerKind>,
    prior: f64,
    half_life: Option<f64>,
    memory: bool,
    trust: bool,
    guard: bool,
    randomised: bool,
    shape: MapShape,
    seed: u64,
}

impl Default for ParametersBuilder {
    fn default() -> Self {
        ParametersBuilder {
            levels: Levels::default(),
            plays: Plays::default(),
            ledgers: vec![LedgerKind::Uniform, LedgerKind::Crps],
            prior: 10.0,
            half_life: None,
            memory: true,
            trust: true,
            guard: true,
            randomised: false,
            shape: MapShape::Probit,
            seed: 0,
        }
    }
}

impl ParametersBuilder {
    /// Where probabilities are announced.
    pub fn levels(mut self, levels: Levels) -> Self {
        self.levels = levels;
        self
    }

    /// What announcements are mixed from.
    pub fn plays(mut self, plays: Plays) -> Self {
        self.plays = plays;
        self
    }

    /// The promises to keep, instead of the default two.
    pub fn ledgers(mut self, ledgers: &[LedgerKind]) -> Self {
        self.ledgers = ledgers.to_vec();
        self
    }

    /// Adds `count` group ledgers, for groups 0 to `count` − 1.
    pub fn groups(mut self, count: u8) -> Self {
        self.ledgers.extend((0..count).map(LedgerKind::Group));
        self
    }

    /// Adds a ledger that keeps P(Y ≤ y) calibrated at this y.
    pub fn threshold(mut self, y: f64) -> Self {
        self.ledgers.push(LedgerKind::Threshold(y));
        self
    }

    /// For how many observations the base's own probabilities count.
    pub fn prior(mut self, observations: f64) -> Self {
        self.prior = observations;
        self
    }

    /// After how many outcomes an old one counts half.
    pub fn half_life(mut self, outcomes: f64) -> Self {
        self.half_life = Some(outcomes);
        self
    }

    /// Whether to follow running means of the outcomes where they are more accurate than the ledgers.
    pub fn memory(mut self, on: bool) -> Self {
        self.memory = on;
        self
    }

    /// Whether to mix with the base by what each would have lost.
    pub fn trust(mut self, on: bool) -> Self {
        self.trust = on;
        self
    }

    /// Whether to keep the coverage of every quantile within a budget.
    pub fn guard(mut self, on: bool) -> Self {
        self.guard = on;
        self
    }

    /// Whether to round plays to the grid by a coin.
    pub fn randomised(mut self, on: bool) -> Self {
        self.randomised = on;
        self
    }

    /// How levels become a distribution.
    pub fn shape(mut self, shape: MapShape) -> Self {
        self.shape = shape;
        self
    }

    /// The key of all random draws.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Checks every value.
    pub fn build(self) -> Result<Parameters> {
        let ParametersBuilder {
            levels,
            plays,
            ledgers,
            prior,
            half_life,
            memory,
            trust,
            guard,
            randomised,
            shape,
            seed,
        } = self;
        if ledgers.is_empty() {
            return Err(Error::TooFew { what: "ledgers", least: 1, found: 0 });
        }
        for kind in &ledgers {
            match *kind {
                LedgerKind::Threshold(y) => {
                    error::finite("threshold", y)?;
                }
                LedgerKind::Group(group) if usize::from(group) >= MOST_GROUPS => {
                    return Err(Error::UnknownGroup { group: usize::from(group), count: MOST_GROUPS });
                }
                LedgerKind::Group(_) | LedgerKind::Uniform | LedgerKind::Crps => {}
            }
        }
        error::not_negative("prior", prior)?;
        if let Some(outcomes) = half_life {
            error::positive("half-life", outcomes)?;
        }
        let (levels, plays) = (Arc::new(levels), Arc::new(plays));
        Ok(Parameters {
            levels,
            plays,
            ledgers,
            prior,
            half_life,
            memory,
            trust,
            guard,
            randomised,
            shape,
            seed,
        })
    }
}

impl TryFrom<ParametersBuilder> for Parameters {
    type Error = Error;
    fn try_from(builder: ParametersBuilder) -> Result<Self> {
        builder.build()
    }
}

impl From<Parameters> for ParametersBuilder {
    fn from(of: Parameters) -> Self {
        let Parameters {
            levels,
            plays,
            ledgers,
            prior,
            half_life,
            memory,
            trust,
            guard,
            randomised,
            shape,
            seed,
        } = of;
        let (levels, plays) = ((*levels).clone(), (*plays).clone());
        ParametersBuilder {
            levels,
            plays,
            ledgers,
            prior,
            half_life,
            memory,
            trust,
            guard,
            randomised,
            shape,
            seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid() {
        assert_eq!(Parameters::builder().build().unwrap(), Parameters::default());
        assert_eq!(Parameters::default().levels(), &Levels::stretched(25, 6.0, 3.0).unwrap());
        assert_eq!(Parameters::default().plays(), &Plays::probit(16, 3.3).unwrap());
    }

    #[test]
    fn wrong_values_are_typed_errors() {
        let build =
            |change: fn(ParametersBuilder) -> ParametersBuilder| change(Parameters::builder()).build();
        assert_eq!(
            build(|b| b.prior(-1.0)),
            Err(Error::OutOfRange { what: "prior", rule: "zero or more", value: -1.0 })
        );
        assert_eq!(build(|b| b.half_life(0.0)), Err(Error::NotPositive { what: "half-life", value: 0.0 }));
        assert_eq!(build(|b| b.ledgers(&[])), Err(Error::TooFew { what: "ledgers", least: 1, found: 0 }));
        assert_eq!(
            build(|b| b.threshold(f64::INFINITY)),
            Err(Error::NotFinite { what: "threshold", value: f64::INFINITY })
        );
        assert_eq!(build(|b| b.groups(65)), Err(Error::UnknownGroup { group: 64, count: 64 }));
        assert_eq!(Groups::of(&[64]), Err(Error::UnknownGroup { group: 64, count: 64 }));
    }
}
