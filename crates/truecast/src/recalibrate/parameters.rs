//! Parameters of the default: a builder, and what it validates to.

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use super::map::MapShape;
use super::protection::{GuardMode, Protection};
use crate::error::{self, Error, Result, SnapshotError};
use crate::expert::ExpertKind;
use crate::expert::ledger::MOST_LEDGERS;
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

    /// Refuses groups where there are no ledgers for them.
    pub(crate) fn none(self) -> Result<()> {
        self.largest().map_or(Ok(()), |group| Err(Error::UnknownGroup { group, count: 0 }))
    }

    /// The largest group, if there is one.
    pub(crate) fn largest(self) -> Option<usize> {
        self.0.checked_ilog2().map(|bit| bit as usize)
    }
}

/// Validated parameters of a [`Pipeline`](super::Pipeline).
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `experts` | all | who is mixed; the base is always among them | names |
/// | `lags` | true | let experts see where the last outcomes fell | |
/// | `stop_loss`, `guard`, `bounds` | see [`Protection`] | what stands between the mixture and what is announced | |
/// | `prior` | 10 | observations for which the base's own probabilities count in the ledgers | ≥ 0 |
/// | `half_life` | none | outcomes after which an old one counts half, in ledgers and means | > 0 |
/// | `ledgers` | uniform, crps | the promises that are kept | one at least |
/// | `levels` | 25, stretched over ±6 | where probabilities are announced, in probit units | ≥ 2, increasing |
/// | `plays` | 16 intervals, probit grid over ±3.3 | what the ledgers mix from | 0 to 1, increasing |
/// | `randomised` | false | round the ledgers' plays by a coin: calibration in the strict sense | |
/// | `shape` | probit | how levels become a distribution | probit, step |
/// | `seed` | 0 | key of all random draws | any |
///
/// ```
/// use truecast::Parameters;
///
/// let parameters = Parameters::builder().stop_loss(Some(0.01)).half_life(500.0).groups(3).build()?;
/// assert_eq!(parameters.ledgers().len(), 5);
/// assert!(Parameters::builder().prior(-1.0).build().is_err());
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Parameters {
    pub(crate) experts: Vec<ExpertKind>,
    pub(crate) lags: bool,
    pub(crate) protection: Protection,
    pub(crate) prior: f64,
    pub(crate) half_life: Option<f64>,
    pub(crate) ledgers: Vec<LedgerKind>,
    pub(crate) levels: Arc<Levels>,
    pub(crate) plays: Arc<Plays>,
    pub(crate) randomised: bool,
    pub(crate) shape: MapShape,
    pub(crate) seed: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        // Valid; a unit test says so.
        Parameters {
            experts: ExpertKind::ALL.to_vec(),
            lags: true,
            protection: Protection::default(),
            prior: 10.0,
            half_life: None,
            ledgers: vec![LedgerKind::Uniform, LedgerKind::Crps],
            levels: DEFAULT_GRIDS.0.clone(),
            plays: DEFAULT_GRIDS.1.clone(),
            randomised: false,
            shape: MapShape::Probit,
            seed: 0,
        }
    }
}

/// Shared by all who take the defaults.
static DEFAULT_GRIDS: LazyLock<(Arc<Levels>, Arc<Plays>)> = LazyLock::new(Default::default);

impl Parameters {
    /// Starts from the defaults.
    pub fn builder() -> ParametersBuilder {
        ParametersBuilder(Parameters::default())
    }

    /// Starts from the ledgers alone, behind stop-loss and guard.
    pub fn ledger() -> ParametersBuilder {
        ParametersBuilder(Parameters { experts: vec![ExpertKind::Ledger], ..Parameters::default() })
    }

    /// Starts from the paper's setting: levels j/n, plays i/n, one uniform ledger without a prior, randomised, a step function,
    /// no stop-loss and no guard. `randomised(false)` gives its non-randomised form, which announces the expected play.
    pub fn paper(resolution: usize) -> Result<ParametersBuilder> {
        Ok(ParametersBuilder(Parameters {
            experts: vec![ExpertKind::Ledger],
            lags: false,
            protection: Protection::NONE,
            prior: 0.0,
            ledgers: vec![LedgerKind::Uniform],
            levels: Arc::new(Levels::uniform(resolution)?),
            plays: Arc::new(Plays::uniform(resolution)?),
            randomised: true,
            shape: MapShape::Step,
            ..Parameters::default()
        }))
    }

    /// Who is mixed, the base first; the ledgers alone if they are alone.
    pub fn experts(&self) -> &[ExpertKind] {
        &self.experts
    }

    /// What stands between the mixture and what is announced.
    pub fn protection(&self) -> &Protection {
        &self.protection
    }

    /// Where probabilities are announced.
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// What the ledgers mix from.
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

    /// Whether experts are mixed, and not the ledgers followed alone.
    pub(crate) fn mixes(&self) -> bool {
        self.experts.len() > 1
    }

    /// True if any part needs the base forecast's widths.
    pub(crate) fn needs_widths(&self) -> bool {
        self.mixes() || self.protection != Protection::NONE || self.ledgers.contains(&LedgerKind::Crps)
    }

    fn validate(&self) -> Result<()> {
        self.protection.validate()?;
        if self.ledgers.is_empty() {
            return Err(Error::TooFew { what: "ledgers", least: 1, found: 0 });
        }
        if self.ledgers.len() > MOST_LEDGERS {
            let value = self.ledgers.len() as f64;
            return Err(Error::OutOfRange { what: "number of ledgers", rule: "at most 128", value });
        }
        for kind in &self.ledgers {
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
        error::not_negative("prior", self.prior)?;
        if let Some(outcomes) = self.half_life {
            error::positive("half-life", outcomes)?;
        }
        let z = self.levels.probits();
        let mirrored = z.iter().zip(z.iter().rev()).all(|(a, b)| (a + b).abs() < 1e-9);
        if self.mixes() && !mirrored {
            let rule = "levels that mirror each other around 0, as the expert of the spread needs them; the ledgers alone take any";
            return Err(Error::OutOfRange {
                what: "middle of the levels",
                rule,
                value: z[0] + z[z.len() - 1],
            });
        }
        Ok(())
    }
}

/// Collects parameters; [`build`](ParametersBuilder::build) checks them.
#[derive(Debug, Clone)]
pub struct ParametersBuilder(Parameters);

impl ParametersBuilder {
    /// Who is mixed, beside the base.
    pub fn experts(mut self, experts: &[ExpertKind]) -> Self {
        let named = |kind: &&ExpertKind| **kind == ExpertKind::Base || experts.contains(kind);
        self.0.experts = ExpertKind::ALL.iter().filter(named).copied().collect();
        self
    }

    /// Whether experts may see where the last outcomes fell.
    pub fn lags(mut self, on: bool) -> Self {
        self.0.lags = on;
        self
    }

    /// The share of the base's score that may be lost; `None`: no stop-loss.
    pub fn stop_loss(mut self, share: Option<f64>) -> Self {
        self.0.protection.stop_loss = share;
        self
    }

    /// What keeping the coverage of intervals may cost.
    pub fn guard(mut self, mode: GuardMode) -> Self {
        self.0.protection.guard = mode;
        self
    }

    /// The least and the largest outcome there can be, either of which may be infinite.
    pub fn bounds(mut self, low: f64, high: f64) -> Self {
        self.0.protection.bounds = Some((low, high));
        self
    }

    /// All that stands between the mixture and what is announced.
    pub fn protection(mut self, protection: Protection) -> Self {
        self.0.protection = protection;
        self
    }

    /// Where probabilities are announced.
    pub fn levels(mut self, levels: Levels) -> Self {
        self.0.levels = Arc::new(levels);
        self
    }

    /// What the ledgers mix from.
    pub fn plays(mut self, plays: Plays) -> Self {
        self.0.plays = Arc::new(plays);
        self
    }

    /// The promises to keep, instead of the default two.
    pub fn ledgers(mut self, ledgers: &[LedgerKind]) -> Self {
        self.0.ledgers = ledgers.to_vec();
        self
    }

    /// Adds `count` group ledgers, for groups 0 to `count` − 1.
    pub fn groups(mut self, count: u8) -> Self {
        self.0.ledgers.extend((0..count).map(LedgerKind::Group));
        self
    }

    /// Adds a ledger that keeps P(Y ≤ y) calibrated at this y.
    pub fn threshold(mut self, y: f64) -> Self {
        self.0.ledgers.push(LedgerKind::Threshold(y));
        self
    }

    /// For how many observations the base's own probabilities count in the ledgers.
    pub fn prior(mut self, observations: f64) -> Self {
        self.0.prior = observations;
        self
    }

    /// After how many outcomes an old one counts half.
    pub fn half_life(mut self, outcomes: f64) -> Self {
        self.0.half_life = Some(outcomes);
        self
    }

    /// Whether to round plays to the grid by a coin.
    pub fn randomised(mut self, on: bool) -> Self {
        self.0.randomised = on;
        self
    }

    /// How levels become a distribution.
    pub fn shape(mut self, shape: MapShape) -> Self {
        self.0.shape = shape;
        self
    }

    /// The key of all random draws.
    pub fn seed(mut self, seed: u64) -> Self {
        self.0.seed = seed;
        self
    }

    /// Checks every value.
    pub fn build(self) -> Result<Parameters> {
        self.0.validate()?;
        Ok(self.0)
    }
}

/// The saved form: grids only where they are not the default's.
#[derive(Serialize, Deserialize)]
struct Saved {
    experts: Vec<ExpertKind>,
    lags: bool,
    protection: Protection,
    prior: f64,
    half_life: Option<f64>,
    ledgers: Vec<LedgerKind>,
    levels: Option<Levels>,
    plays: Option<Plays>,
    randomised: bool,
    shape: MapShape,
    seed: u64,
}

impl TryFrom<Saved> for Parameters {
    type Error = Error;
    fn try_from(saved: Saved) -> Result<Self> {
        let parameters = Parameters {
            experts: saved.experts,
            lags: saved.lags,
            protection: saved.protection,
            prior: saved.prior,
            half_life: saved.half_life,
            ledgers: saved.ledgers,
            levels: saved.levels.map_or_else(|| DEFAULT_GRIDS.0.clone(), Arc::new),
            plays: saved.plays.map_or_else(|| DEFAULT_GRIDS.1.clone(), Arc::new),
            randomised: saved.randomised,
            shape: saved.shape,
            seed: saved.seed,
        };
        // The base comes first, each expert once; or the ledgers are alone.
        let in_order = ExpertKind::ALL.iter().filter(|kind| parameters.experts.contains(kind));
        let alone = parameters.experts == [ExpertKind::Ledger];
        if !alone && (!in_order.eq(&parameters.experts) || !parameters.experts.contains(&ExpertKind::Base)) {
            let rule = "the base and others once each, or the ledgers alone";
            return Err(SnapshotError::Invalid { field: "experts", rule }.into());
        }
        parameters.validate()?;
        Ok(parameters)
    }
}

impl From<Parameters> for Saved {
    fn from(of: Parameters) -> Self {
        let (levels, plays) = (&*DEFAULT_GRIDS.0, &*DEFAULT_GRIDS.1);
        Saved {
            levels: (*of.levels != *levels).then(|| (*of.levels).clone()),
            plays: (*of.plays != *plays).then(|| (*of.plays).clone()),
            experts: of.experts,
            lags: of.lags,
            protection: of.protection,
            prior: of.prior,
            half_life: of.half_life,
            ledgers: of.ledgers,
            randomised: of.randomised,
            shape: of.shape,
            seed: of.seed,
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
