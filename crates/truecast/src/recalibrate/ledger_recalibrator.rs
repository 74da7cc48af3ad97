//! The default recalibrator: ledgers, memories, trust, isotonic projection, map and guard, composed.
//!
//! Guarantee: the promises of `ledgers/` (calibration of the PIT, no regret in CRPS at the levels' resolution, and each
//! optional ledger's) plus the guard's coverage budget, on every stream. Cost: O(M·G + K) per step at M levels, G ledgers and
//! K guarded quantiles, whatever the number of steps; no allocation.

use fearless_simd::{Level, Simd, dispatch};
use serde::{Deserialize, Serialize};

use super::guard::GuardState;
use super::ledgers::{LedgersState, total as total_width};
use super::passes::{self, Gains};
use super::plan::PlanShape;
use super::{
    Groups, Guard, LedgerKind, Ledgers, Map, Memories, Parameters, Plan, Recalibrator, Scores, Trust,
    isotonic,
};
use crate::error::{Error, Result, SnapshotError};
use crate::forecast::Forecast;
use crate::lanes::{padded, vector};
use crate::monitor::Certificate;
use crate::normal::exponential::exp;
use crate::stream::Snapshot;

/// The ledger recalibrator; [`Default`] is what to start with, [`Parameters`] what can be changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct LedgerRecalibrator {
    parameters: Parameters,
    ledgers: Ledgers,
    memories: Option<Memories>,
    trust: Option<Trust>,
    guard: Option<Guard>,
    /// Per ledger, Σ_t trust · Σ_j w[(q−o)² − (u−o)²]: by convexity at least the announced mixture's regret.
    /// Discounted as the ledgers are.
    mixed_regrets: Vec<f64>,
    /// Of its plans.
    shape: PlanShape,
}

/// Equal in all that is saved: room for intermediate results and padding do not count.
impl PartialEq for LedgerRecalibrator {
    fn eq(&self, other: &Self) -> bool {
        State::from(self.clone()) == State::from(other.clone())
    }
}

impl Default for LedgerRecalibrator {
    fn default() -> Self {
        LedgerRecalibrator::new(Parameters::default())
    }
}

impl LedgerRecalibrator {
    /// A recalibrator that has seen nothing.
    pub fn new(parameters: Parameters) -> Self {
        LedgerRecalibrator {
            ledgers: Ledgers::new(&parameters),
            memories: parameters.memory.then(|| Memories::new(&parameters.levels)),
            trust: parameters.trust.then(Trust::default),
            guard: parameters.guard.then(Guard::default),
            mixed_regrets: vec![0.0; parameters.ledgers.len()],
            shape: PlanShape::new(&parameters),
            parameters,
        }
    }

    /// What it was built with.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The ledgers.
    pub fn ledgers(&self) -> &Ledgers {
        &self.ledgers
    }

    /// The running means beside the ledgers, if they are on.
    pub fn memories(&self) -> Option<&Memories> {
        self.memories.as_ref()
    }

    /// The trust in the ledgers, if it is on.
    pub fn trust(&self) -> Option<&Trust> {
        self.trust.as_ref()
    }

    /// The coverage guard, if it is on.
    pub fn guard(&self) -> Option<&Guard> {
        self.guard.as_ref()
    }

    /// Measured error and regret per ledger, with their bounds. O(M N).
    pub fn certificate(&self) -> Certificate {
        let mixes = self.trust.is_some() || self.memories.is_some();
        Certificate::new(&self.ledgers, mixes.then_some(&self.mixed_regrets))
    }

    /// Refuses a plan that was made by a recalibrator of another shape.
    fn expect(&self, plan: &Plan) -> Result<()> {
        let found = plan.shape();
        if found == self.shape {
            Ok(())
        } else {
            Err(Error::ForeignPlan { expected: self.shape.levels, found: found.levels })
        }
    }

    /// Everything that is announced, as one piece of vector code.
    #[inline(always)]
    fn plan_with<S: Simd>(
        &self,
        simd: S,
        forecast: &dyn Forecast,
        groups: Groups,
        plan: &mut Plan,
    ) -> Result<()> {
        let width = self.ledgers.weigh(simd, forecast, groups, plan)?;
        // First, because its divisions wait for nothing, and overlap with those of the plays.
        let scale = self.scale(width, plan);
        if let (Some(guard), Some(knots)) = (&self.guard, plan.map.guard_mut()) {
            guard.knots(simd, scale, knots);
        }
        self.announce(simd, plan);
        Ok(())
    }

    /// p̂ = trust( memory( ledgers ) ): the ledgers' plays, rounded to the grid if they are randomised, mixed with running means and with the
    /// base's own probabilities; without crossings.
    #[inline(always)]
    fn announce<S: Simd>(&self, simd: S, plan: &mut Plan) {
        plan.trust = self.trust.map_or(1.0, |trust| trust.weight());
        let said = passes::announce(simd, &self.ledgers, self.memories.as_ref(), plan.trust, plan);
        if !said || self.parameters.randomised {
            self.announce_further(said, plan);
        }
    }

    /// What is not all `said` by the pass over the levels.
    fn announce_further(&self, said: bool, plan: &mut Plan) {
        let (ledgers, memories) = (&self.ledgers, self.memories.as_ref());
        if !said {
            passes::walk(ledgers, memories, plan.trust, plan);
        }
        if self.parameters.randomised {
            ledgers.round(self.parameters.seed, plan);
            passes::follow(ledgers, memories, plan.trust, plan);
        }
        Self::project(plan);
    }

    /// p̂ without crossings.
    fn project(plan: &mut Plan) {
        let Plan { widths, map, .. } = plan;
        // Without widths every level counts the same.
        isotonic::project(map.announced_mut(), |j| widths.get(j).map_or(1.0, |w| *w));
    }

    /// The base forecast's scale in units of the outcome, a normal's standard deviation; `width` is the sum of its widths. `None`
    /// where no part asks for them.
    fn scale(&self, width: f64, plan: &Plan) -> Option<f64> {
        let z = self.parameters.levels.probits();
        (!plan.widths.is_empty()).then(|| width / (z[z.len() - 1] - z[0]))
    }

    /// What the weights of the memories, and the odds of trust, are multiplied by.
    #[inline(always)]
    fn factors<S: Simd>(&mut self, simd: S, gains: &Gains) -> [f64; 4] {
        let [mut long, mut middle, mut short, mut odds] = [0.0; 4];
        if let Some(memories) = &mut self.memories {
            [long, middle, short] = memories.exponents(gains.losses, gains.width);
        }
        if let Some(trust) = &mut self.trust {
            let count = self.parameters.levels.count();
            odds = trust.exponent(gains.crps_gain, gains.width, gains.gain / count as f64);
        }
        // All exponentials of a step at once.
        exp(vector(simd, [long, middle, short, odds])).into()
    }

    /// Everything that an outcome changes, as one piece of vector code.
    ///
    /// The exponentials wait for sums over all levels, and the weights for them; the score is a chain of operations too. What is booked in
    /// between waits for neither.
    #[inline(always)]
    fn settle_with<S: Simd>(&mut self, simd: S, plan: &Plan, z: f64) -> Scores {
        // Below every level is below every level, but not below the padding.
        let outcome = if z < f64::MIN { f64::MIN } else { z };
        let mixes = self.trust.is_some() || self.memories.is_some();
        let judged = mixes.then(|| {
            let gains = self.judge(simd, plan, outcome);
            let factors = self.factors(simd, &gains);
            (gains, factors)
        });
        let score = plan.map.ledger_probit_with(simd, z);
        let settlement = self.ledgers.open(plan, outcome, self.parameters.randomised);
        passes::book(simd, self.ledgers.entries(plan, &settlement), &settlement, plan);
        if let Some((gains, factors)) = &judged {
            self.book_mixed_regrets(plan, outcome, gains);
            self.reweigh(*factors);
        }
        self.ledgers.close(settlement);
        let width = judged.map_or_else(|| total_width(&plan.widths), |(gains, _)| gains.width);
        let scale = self.scale(width, plan);
        let calibrated = match (&mut self.guard, plan.map.guard()) {
            (Some(guard), Some(knots)) => guard.settle(simd, knots, score, scale),
            _ => score,
        };
        Scores { base: z, calibrated }
    }

    /// Compares what was said with the base and with the memories, which learn the outcome.
    #[inline(always)]
    fn judge<S: Simd>(&mut self, simd: S, plan: &Plan, z: f64) -> Gains {
        let rows = &self.ledgers.rows;
        let learning = self.memories.as_mut().map(|memories| memories.learning(rows.len()));
        passes::judge(simd, rows, z, learning, plan)
    }

    /// Moves the weights of the memories and of trust.
    #[inline(always)]
    fn reweigh(&mut self, [long, middle, short, odds]: [f64; 4]) {
        if let Some(memories) = &mut self.memories {
            memories.reweigh([long, middle, short]);
        }
        if let Some(trust) = &mut self.trust {
            trust.reweigh(odds);
        }
    }

    #[inline(always)]
    fn book_mixed_regrets(&mut self, plan: &Plan, z: f64, gains: &Gains) {
        let (ledgers, decay) = (&self.ledgers, self.ledgers.decay());
        let room = padded(ledgers.levels().count());
        for (g, (regret, kind)) in self.mixed_regrets.iter_mut().zip(&self.parameters.ledgers).enumerate() {
            let ledger_gain = match kind {
                LedgerKind::Crps => gains.crps_gain,
                LedgerKind::Uniform | LedgerKind::Group(_) => plan.weights[g * room] * gains.gain,
                LedgerKind::Threshold(_) => {
                    passes::weighted_gain(ledgers, plan, z, &plan.weights[g * room..][..room])
                }
            };
            *regret = *regret * decay - plan.trust * ledger_gain;
        }
    }
}

impl Recalibrator for LedgerRecalibrator {
    fn empty_plan(&self) -> Plan {
        let Parameters { levels, plays, shape, guard, ledgers, .. } = &self.parameters;
        let map = Map::identity(levels.clone(), *shape, *guard);
        let mut plan = Plan::new(map, plays.intervals(), ledgers.len(), self.parameters.needs_widths());
        if self.parameters.memory {
            plan.mixed = vec![0.0; padded(levels.count())];
        }
        plan
    }

    fn plan(&self, forecast: &dyn Forecast, groups: Groups, step: u64, plan: &mut Plan) -> Result<()> {
        self.expect(plan)?;
        if let Some(group) = groups.largest().filter(|group| *group >= self.parameters.group_count()) {
            return Err(Error::UnknownGroup { group, count: self.parameters.group_count() });
        }
        plan.step = step;
        plan.settled = self.ledgers.steps();
        dispatch!(Level::new(), simd => self.plan_with(simd, forecast, groups, plan))
    }

    fn settle(&mut self, plan: &Plan, z: f64) -> Result<Scores> {
        self.expect(plan)?;
        if z.is_nan() {
            return Err(Error::NotFinite { what: "probit score of the outcome", value: z });
        }
        Ok(dispatch!(Level::new(), simd => self.settle_with(simd, plan, z)))
    }

    fn steps(&self) -> u64 {
        self.ledgers.steps()
    }

    fn seed(&self) -> u64 {
        self.parameters.seed
    }

    fn validate_plan(&self, plan: &Plan) -> Result<(), SnapshotError> {
        plan.validate(&self.empty_plan())
    }
}

/// The saved form.
#[derive(PartialEq, Serialize, Deserialize)]
struct State {
    parameters: Parameters,
    ledgers: LedgersState,
    memories: Option<Memories>,
    trust: Option<Trust>,
    guard: Option<GuardState>,
    mixed_regrets: Vec<f64>,
}

impl TryFrom<State> for LedgerRecalibrator {
    type Error = SnapshotError;
    fn try_from(state: State) -> Result<Self, SnapshotError> {
        let State { parameters, ledgers, memories, trust, guard, mixed_regrets } = state;
        let parts = [memories.is_some(), trust.is_some(), guard.is_some()];
        if parts != [parameters.memory, parameters.trust, parameters.guard] {
            return Err(SnapshotError::Invalid {
                field: "memories, trust and guard",
                rule: "there as the parameters say",
            });
        }
        if let Some(memories) = &memories {
            memories.validate(parameters.levels.count())?;
        }
        if let Some(trust) = &trust {
            trust.validate()?;
        }
        if mixed_regrets.len() != parameters.ledgers.len() || !mixed_regrets.iter().all(|r| r.is_finite()) {
            return Err(SnapshotError::Invalid { field: "mixed regrets", rule: "finite, one per ledger" });
        }
        Ok(LedgerRecalibrator {
            ledgers: Ledgers::from_state(&parameters, ledgers)?,
            guard: guard.as_ref().map(Guard::from_state).transpose()?,
            memories,
            trust,
            mixed_regrets,
            shape: PlanShape::new(&parameters),
            parameters,
        })
    }
}

impl From<LedgerRecalibrator> for State {
    fn from(of: LedgerRecalibrator) -> Self {
        State {
            ledgers: of.ledgers.state(),
            guard: of.guard.as_ref().map(Guard::state),
            memories: of.memories,
            trust: of.trust,
            mixed_regrets: of.mixed_regrets,
            parameters: of.parameters,
        }
    }
}

impl Snapshot for LedgerRecalibrator {
    fn name() -> String {
        "ledger".to_string()
    }
}
