//! The paper's Algorithm 1 over any binary calibration subroutine.
//!
//! One instance of the subroutine per level; at each step all of them play, and each is told o_j = 1{z ≤ z_j} afterwards.
//!
//! Guarantee: every level's plays are as well calibrated as its subroutine; where plays settle down, the PIT is then uniform up to
//! the cell width. What does *not* follow, though the paper says so, is calibration at a fixed y and no regret in CRPS when
//! forecasts differ from step to step: see docs/theory.md, "Where that guarantee stops". The ledgers is the repair.
//!
//! Where we differ from the paper: plays that cross are projected on non-decreasing ones, so that G_t is a distribution, and the
//! subroutine of the last cell, whose event is certain, is left out. Cost: M times the subroutine's.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{self, Error, Result, SnapshotError};
use crate::forecast::Forecast;
use crate::grid::{Levels, Plays};
use crate::random;
use crate::recalibrate::{Groups, MapShape, Plan, Recalibrator, isotonic};
use crate::stream::Snapshot;
use crate::subroutine::{Play, Subroutine};

/// Parameters of Algorithm 1.
///
/// | name | [`paper`](AlgorithmOneParameters::paper) | meaning |
/// |---|---|---|
/// | `levels` | j/M | where probabilities are announced |
/// | `plays` | i/N, N = M | what the subroutines play |
/// | `randomised` | true | play by coin; otherwise announce the expected play |
/// | `shape` | step | how levels become a distribution |
/// | `seed` | 0 | key of all coins |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlgorithmOneParameters {
    /// Where probabilities are announced.
    pub levels: Levels,
    /// What the subroutines play.
    pub plays: Plays,
    /// Whether to play by coin.
    pub randomised: bool,
    /// How levels become a distribution.
    pub shape: MapShape,
    /// The key of all coins.
    pub seed: u64,
}

impl AlgorithmOneParameters {
    /// The paper's setting at resolution M = N = `resolution`.
    pub fn paper(resolution: usize) -> Result<Self> {
        Ok(AlgorithmOneParameters {
            levels: Levels::uniform(resolution)?,
            plays: Plays::uniform(resolution)?,
            randomised: true,
            shape: MapShape::Step,
            seed: 0,
        })
    }
}

/// Algorithm 1 with subroutine `S`.
///
/// ```
/// use truecast::recalibrate::{AlgorithmOne, AlgorithmOneParameters};
/// use truecast::subroutine::Approachability;
/// use truecast::{Gaussian, Recalibrator};
///
/// let parameters = AlgorithmOneParameters::paper(20)?;
/// let mut recalibrator = AlgorithmOne::<Approachability>::new(parameters, Default::default())?;
/// recalibrator.observe(&Gaussian::new(0.0, 1.0)?, 0.3)?;
/// assert_eq!(recalibrator.steps(), 1);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State<S::Options>", into = "State<S::Options>", bound = "S: Subroutine")]
pub struct AlgorithmOne<S: Subroutine> {
    parameters: AlgorithmOneParameters,
    options: S::Options,
    levels: Arc<Levels>,
    subroutines: Vec<S>,
    steps: u64,
}

impl<S: Subroutine> AlgorithmOne<S> {
    /// Starts one subroutine per level.
    pub fn new(parameters: AlgorithmOneParameters, options: S::Options) -> Result<Self> {
        let (levels, plays) = (Arc::new(parameters.levels.clone()), Arc::new(parameters.plays.clone()));
        let start = |&u: &f64| S::start(&options, plays.clone(), u);
        let subroutines = levels.probabilities().iter().map(start).collect::<Result<_>>()?;
        Ok(AlgorithmOne { parameters, options, levels, subroutines, steps: 0 })
    }

    /// The subroutine of each level.
    pub fn subroutines(&self) -> &[S] {
        &self.subroutines
    }
}

impl<S: Subroutine> Recalibrator for AlgorithmOne<S> {
    fn propose(&self, _: &dyn Forecast, groups: Groups, step: u64, plan: &mut Plan) -> Result<()> {
        groups.none()?;
        plan.step = step;
        plan.settled = self.steps;
        plan.said.clear();
        plan.memo.clear();
        for (j, subroutine) in self.subroutines.iter().enumerate() {
            let play = if self.parameters.randomised {
                subroutine.draw(random::uniform(self.parameters.seed, step, j as u32))
            } else {
                subroutine.expected()
            };
            plan.said.push(play.probability);
            plan.memo.extend([f64::from(play.cell), play.fraction]);
        }
        let announced = &mut plan.room.announced;
        announced.clone_from(&plan.said);
        isotonic::project(announced, |_| 1.0);
        plan.map.set_announced(&self.levels, announced, self.parameters.shape);
        Ok(())
    }

    fn learn(&mut self, plan: &Plan, z: f64) -> Result<()> {
        plan.expect_said(self.levels.count(), 2 * self.levels.count())?;
        error::score(z)?;
        let plays = plan.said.iter().zip(plan.memo.chunks_exact(2));
        for ((subroutine, level), (&probability, memo)) in
            self.subroutines.iter_mut().zip(self.levels.probits()).zip(plays)
        {
            subroutine.settle(Play { probability, cell: memo[0] as u32, fraction: memo[1] }, z <= *level);
        }
        self.steps += 1;
        Ok(())
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn seed(&self) -> u64 {
        self.parameters.seed
    }

    fn validate_plan(&self, plan: &Plan) -> Result<(), SnapshotError> {
        plan.validate_said(self.levels.count(), 2 * self.levels.count(), true)?;
        let intervals = self.parameters.plays.intervals() as f64;
        let on_grid = plan.memo.chunks_exact(2).all(|play| {
            play[0].fract() == 0.0 && (0.0..intervals).contains(&play[0]) && (0.0..=1.0).contains(&play[1])
        });
        if on_grid {
            Ok(())
        } else {
            Err(SnapshotError::Invalid { field: "pending plan", rule: "on the play grid" })
        }
    }
}

/// The saved form.
#[derive(Serialize, Deserialize)]
struct State<O> {
    parameters: AlgorithmOneParameters,
    options: O,
    subroutines: Vec<Vec<f64>>,
    steps: u64,
}

impl<S: Subroutine> TryFrom<State<S::Options>> for AlgorithmOne<S> {
    type Error = Error;
    fn try_from(state: State<S::Options>) -> Result<Self> {
        let mut algorithm = AlgorithmOne::<S>::new(state.parameters, state.options)?;
        if state.subroutines.len() != algorithm.subroutines.len() {
            return Err(SnapshotError::Invalid { field: "subroutines", rule: "one per level" }.into());
        }
        for (subroutine, saved) in algorithm.subroutines.iter_mut().zip(&state.subroutines) {
            subroutine.restore(saved)?;
        }
        algorithm.steps = state.steps;
        Ok(algorithm)
    }
}

impl<S: Subroutine> From<AlgorithmOne<S>> for State<S::Options> {
    fn from(of: AlgorithmOne<S>) -> Self {
        State {
            subroutines: of.subroutines.iter().map(S::state).collect(),
            parameters: of.parameters,
            options: of.options,
            steps: of.steps,
        }
    }
}

impl<S: Subroutine> Snapshot for AlgorithmOne<S> {
    fn name() -> String {
        format!("algorithm-one/{}", S::NAME)
    }
}
