//! The experts and their mixture, as a method: what they say is mixed, put in order, and read as a map.
//!
//! ```text
//! experts e_k → p = Σ q_k e_k (`aggregate.rs`) → isotonic (`isotonic.rs`, weights w) → t(z) through (z_j, Φ⁻¹(p_j)) (`curve.rs`)
//! ```
//!
//! With the ledgers alone nothing is mixed: their plays are followed, and their own guarantees hold for what is announced here.
//! Cost: O(M · experts) per step, whatever the number of steps; nothing allocates once a plan has grown.

use serde::{Deserialize, Serialize};

use super::aggregate::{Aggregate, MOST_EXPERTS};
use super::{Groups, MapShape, Parameters, Plan, Recalibrator, isotonic};
use crate::error::{self, Error, Result, SnapshotError};
use crate::expert::{AnyExpert, Expert, ExpertKind, Ledgers, Occasion, Recent, Told};
use crate::forecast::{Forecast, Gaussian};
use crate::stream::Snapshot;

/// Experts, and the gains that weigh them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct Mixture {
    parameters: Parameters,
    experts: Vec<AnyExpert>,
    aggregate: Aggregate,
    recent: Recent,
    steps: u64,
}

impl Default for Mixture {
    fn default() -> Self {
        Mixture::new(Parameters::default())
    }
}

impl Mixture {
    /// Experts that have seen nothing.
    pub fn new(parameters: Parameters) -> Self {
        Mixture {
            experts: parameters.experts.iter().map(|kind| kind.start(&parameters)).collect(),
            aggregate: Aggregate::new(&parameters.experts),
            recent: Recent::default(),
            steps: 0,
            parameters,
        }
    }

    /// What it was built with.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The experts, in the order of their weights.
    pub fn experts(&self) -> &[AnyExpert] {
        &self.experts
    }

    /// How the experts are weighed.
    pub fn aggregate(&self) -> &Aggregate {
        &self.aggregate
    }

    /// Who is trusted how much, now.
    pub fn trusted(&self) -> Vec<(ExpertKind, f64)> {
        self.parameters.experts.iter().copied().zip(self.aggregate.weights()).collect()
    }

    /// A normal forecast like those of late, to ask what would become of it; N(0, 1) before there were some.
    pub fn usual_forecast(&self) -> Gaussian {
        let usual = self.experts.iter().find_map(|expert| match expert {
            AnyExpert::Affine(affine) => affine.usual(),
            _ => None,
        });
        let (location, scale) = usual.unwrap_or((0.0, 1.0));
        Gaussian::new(location, scale).unwrap_or_default()
    }

    /// The ledgers, if they are among the experts.
    pub fn ledgers(&self) -> Option<&Ledgers> {
        self.experts.iter().find_map(|expert| match expert {
            AnyExpert::Ledger(ledgers) => Some(&**ledgers),
            _ => None,
        })
    }

    fn memo_length(&self) -> usize {
        self.experts.iter().map(|expert| expert.memo_length()).sum()
    }

    fn said_length(&self) -> usize {
        self.experts.len() * self.parameters.levels.count()
    }

    fn mixed_length(&self) -> usize {
        if self.parameters.mixes() { self.parameters.levels.count() } else { 0 }
    }
}

impl Recalibrator for Mixture {
    fn propose(&self, forecast: &dyn Forecast, groups: Groups, step: u64, plan: &mut Plan) -> Result<()> {
        let levels = &self.parameters.levels;
        let count = levels.count();
        let known = self.parameters.group_count();
        if let Some(group) = groups.largest().filter(|group| *group >= known) {
            return Err(Error::UnknownGroup { group, count: known });
        }
        plan.step = step;
        plan.settled = self.steps;
        plan.widths.resize(if self.parameters.needs_widths() { count } else { 0 }, 0.0);
        if let Some(form) = &plan.form {
            form.widths(levels, &mut plan.widths);
            let (location, scale) = form.location_and_scale();
            plan.place = (location, libm::log(scale.max(1e-300)));
        }
        let occasion = Occasion {
            forecast,
            levels,
            widths: &plan.widths,
            location: plan.place.0,
            log_scale: plan.place.1,
            recent: if self.parameters.lags { self.recent.standardised() } else { [0.0; 2] },
            groups,
            step,
        };
        plan.said.resize(self.said_length(), 0.0);
        plan.memo.clear();
        for (expert, said) in self.experts.iter().zip(plan.said.chunks_exact_mut(count)) {
            plan.room.memo.clear();
            expert.say(&occasion, said, &mut plan.room.memo);
            plan.memo.extend_from_slice(&plan.room.memo);
        }
        plan.mixed.clear();
        let announced = &mut plan.room.announced;
        announced.clear();
        if self.steps == 0 && self.parameters.shape == MapShape::Probit {
            // Nobody has anything to say beside the base: its map is the identity to the last digit.
            if self.parameters.mixes() {
                plan.mixed.extend_from_slice(levels.probabilities());
            }
            plan.map.set_identity();
            return Ok(());
        }
        if self.parameters.mixes() {
            let mut weights = [0.0; MOST_EXPERTS];
            let weights = &mut weights[..self.experts.len()];
            self.aggregate.weigh(weights);
            plan.mixed.resize(count, 0.0);
            for (said, &q) in plan.said.chunks_exact(count).zip(&*weights) {
                plan.mixed.iter_mut().zip(said).for_each(|(p, e)| *p += q * e);
            }
            announced.extend_from_slice(&plan.mixed);
        } else {
            announced.extend_from_slice(&plan.said);
        }
        let widths = &plan.widths;
        // Without widths every level counts the same.
        isotonic::project(announced, |j| widths.get(j).map_or(1.0, |w| *w));
        plan.map.set_announced(levels, announced, self.parameters.shape);
        Ok(())
    }

    fn announced(&mut self, plan: &Plan) {
        for expert in &mut self.experts {
            expert.announced(plan.place.0, plan.place.1);
        }
    }

    fn learn(&mut self, plan: &Plan, z: f64) -> Result<()> {
        plan.expect_said(self.said_length(), self.memo_length())?;
        error::score(z)?;
        let levels = self.parameters.levels.clone();
        let late = plan.settled != self.steps;
        let mut told = Told { levels: &levels, widths: &plan.widths, said: &plan.mixed, memo: &[], z, late };
        if self.parameters.mixes() {
            self.aggregate.learn(&told, &plan.mixed, &plan.said);
        }
        let mut memo = &plan.memo[..];
        for (expert, said) in self.experts.iter_mut().zip(plan.said.chunks_exact(levels.count())) {
            let (own, rest) = memo.split_at(expert.memo_length());
            memo = rest;
            (told.said, told.memo) = (said, own);
            expert.learn(&told);
        }
        self.recent.learn(z);
        self.steps += 1;
        Ok(())
    }

    fn reads_form(&self) -> bool {
        self.parameters.needs_widths()
    }

    fn ledgers(&self) -> Option<&Ledgers> {
        Mixture::ledgers(self)
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn seed(&self) -> u64 {
        self.parameters.seed
    }

    fn validate_plan(&self, plan: &Plan) -> Result<(), SnapshotError> {
        plan.validate_said(self.said_length(), self.memo_length(), true)?;
        let widths = if self.parameters.needs_widths() { self.parameters.levels.count() } else { 0 };
        let place = plan.place.0.is_finite() && plan.place.1.is_finite();
        let mut at = 0;
        let plays = self.experts.iter().all(|expert| {
            let own = &plan.memo[at..at + expert.memo_length()];
            at += expert.memo_length();
            expert.accepts(own)
        });
        if plan.widths.len() == widths && plan.mixed.len() == self.mixed_length() && place && plays {
            Ok(())
        } else {
            Err(SnapshotError::Invalid { field: "pending plan", rule: "of the recalibrator's shape" })
        }
    }
}

/// The saved form.
#[derive(Serialize, Deserialize)]
struct State {
    parameters: Parameters,
    experts: Vec<Vec<u8>>,
    aggregate: Aggregate,
    recent: Recent,
    steps: u64,
}

impl TryFrom<State> for Mixture {
    type Error = SnapshotError;
    fn try_from(state: State) -> Result<Self, SnapshotError> {
        let mut mixture = Mixture::new(state.parameters);
        let invalid = SnapshotError::Invalid { field: "experts", rule: "what these experts save" };
        if state.experts.len() != mixture.experts.len() {
            return Err(invalid);
        }
        for (expert, saved) in mixture.experts.iter_mut().zip(&state.experts) {
            if !expert.load(saved) {
                return Err(invalid);
            }
        }
        mixture.aggregate.restore(state.aggregate)?;
        state.recent.validate()?;
        (mixture.recent, mixture.steps) = (state.recent, state.steps);
        Ok(mixture)
    }
}

impl From<Mixture> for State {
    fn from(of: Mixture) -> Self {
        State {
            // Numbers in vectors always have bytes.
            experts: of.experts.iter().map(|expert| expert.save().unwrap_or_default()).collect(),
            parameters: of.parameters,
            aggregate: of.aggregate,
            recent: of.recent,
            steps: of.steps,
        }
    }
}

impl Snapshot for Mixture {
    fn name() -> String {
        "mixture".to_owned()
    }
}
