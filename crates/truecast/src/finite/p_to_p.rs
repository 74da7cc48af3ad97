//! Recalibration of a binary forecaster: one calibration subroutine per cell of its probability p_t.
//!
//! Guarantee, on every sequence, for the calibration error C_T = Σ_c (n_c/T) C_c that the subroutines themselves report:
//!
//! ```text
//! calibrated           of the times v_i was announced, within any cell of the base, v_i happened, up to C_T in sum
//! no regret            Σ (q_t − o_t)² − (p_t − o_t)²  ≤  2 T C_T + T/M
//! calibeating          Σ (q_t − o_t)² ≤ Σ_c n_c ō_c (1 − ō_c) + 2 T C_T     the base's score without its calibration part
//! ```
//!
//! Why: against any constant u, Σ (q−o)² − (u−o)² = −2 Σ_i (v_i − u) L_i − Σ (q−u)² ≤ 2 Σ_i |L_i| (Jensen where the expected play
//! of a randomised rule is announced). Take u = the cell's middle, with (u−o)² − (p−o)² ≤ 2|u−p| ≤ 1/M, or u = ō_c. With the
//! ledger rule C_c ≤ √((N+1)(1 + κ/2)/n_c), so C_T ≤ √(M(N+1)(1 + κ/2)/T), no probability attached.
//!
//! Cost per step: one subroutine's; memory M of them. Source: Kuleshov & Ermon (2017), "Estimating Uncertainty Online Against an
//! Adversary", algorithm 1; Foster & Hart (2023), "Calibeating", for the third line. Where we differ: until a cell has seen an outcome
//! it announces p_t itself, which costs nothing, because no balance is open yet.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{BinaryPlan, BinaryRecalibrator, cell_of, check_cells, check_play, indicator};
use crate::error::{self, Error, Result, SnapshotError};
use crate::grid::Plays;
use crate::random;
use crate::subroutine::{Play, Subroutine};

/// Parameters of [`PToP`].
///
/// | name | default | meaning |
/// |---|---|---|
/// | `cells` | 20 | M, equal cells of the base probability |
/// | `plays` | i/20 | what may be announced |
/// | `randomised` | true | play by coin, for calibration in the strict sense |
/// | `seed` | 0 | key of all coins |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PToPParameters {
    /// M, equal cells of the base probability.
    pub cells: usize,
    /// What may be announced.
    pub plays: Plays,
    /// Whether to play by coin.
    pub randomised: bool,
    /// The key of all coins.
    pub seed: u64,
}

impl PToPParameters {
    /// The defaults at M = N = `resolution`.
    pub fn with_resolution(resolution: usize) -> Result<Self> {
        Ok(PToPParameters {
            cells: resolution,
            plays: Plays::uniform(resolution)?,
            randomised: true,
            seed: 0,
        })
    }
}

/// One subroutine per cell of the base probability.
///
/// ```
/// use truecast::finite::{BinaryRecalibrator, PToP, PToPParameters};
/// use truecast::subroutine::LedgerRule;
///
/// let parameters = PToPParameters { randomised: false, ..PToPParameters::with_resolution(20)? };
/// let mut recalibrator = PToP::<LedgerRule>::new(parameters, Default::default())?;
/// assert_eq!(recalibrator.recalibrate(0.93)?, 0.93); // no outcome yet
/// for t in 0..1000 {
///     recalibrator.observe(0.93, t % 2 == 0)?; // says 93 %, happens half of the time
/// }
/// assert!((recalibrator.recalibrate(0.93)? - 0.5).abs() < 0.02);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State<S::Options>", into = "State<S::Options>", bound = "S: Subroutine")]
pub struct PToP<S: Subroutine> {
    parameters: PToPParameters,
    options: S::Options,
    cells: Vec<CellOf<S>>,
    steps: u64,
    regret: f64,
}

#[derive(Debug, Clone, PartialEq)]
struct CellOf<S> {
    subroutine: S,
    count: u64,
}

impl<S: Subroutine> PToP<S> {
    /// Starts one subroutine per cell, at the cell's middle.
    pub fn new(parameters: PToPParameters, options: S::Options) -> Result<Self> {
        let count = check_cells(parameters.cells)?;
        let plays = Arc::new(parameters.plays.clone());
        let start = |c: usize| {
            let subroutine = S::start(&options, plays.clone(), (c as f64 + 0.5) / count as f64)?;
            Ok(CellOf { subroutine, count: 0 })
        };
        let cells = (0..count).map(start).collect::<Result<_>>()?;
        Ok(PToP { parameters, options, cells, steps: 0, regret: 0.0 })
    }

    /// C_T, within cells of the base: Σ_c (n_c/T) C_c. Without regard to cells it is no larger.
    pub fn calibration_error(&self) -> f64 {
        let owed = |c: &CellOf<S>| c.count as f64 * c.subroutine.calibration_error();
        self.cells.iter().map(owed).sum::<f64>() / self.steps.max(1) as f64
    }

    /// Σ (q_t − o_t)² − (p_t − o_t)² so far.
    pub fn regret(&self) -> f64 {
        self.regret
    }

    /// 2 T C_T + T/M: what the regret can be at most, given the calibration error.
    pub fn regret_bound(&self) -> f64 {
        let steps = self.steps as f64;
        2.0 * steps * self.calibration_error() + steps / self.cells.len() as f64
    }

    /// The parameters.
    pub fn parameters(&self) -> &PToPParameters {
        &self.parameters
    }
}

impl<S: Subroutine> BinaryRecalibrator for PToP<S> {
    fn plan(&self, base: f64, step: u64) -> Result<BinaryPlan> {
        error::probability("base probability", base)?;
        let PToPParameters { plays, randomised, seed, .. } = &self.parameters;
        let cell = &self.cells[cell_of(self.cells.len(), base)];
        let expected = if cell.count == 0 { Play::at(plays, base) } else { cell.subroutine.expected() };
        let play = match (randomised, cell.count) {
            (false, _) => expected,
            (true, 0) => expected.rounded(plays, random::uniform(*seed, step, 0)),
            (true, _) => cell.subroutine.draw(random::uniform(*seed, step, 0)),
        };
        Ok(BinaryPlan { base, probability: play.probability, play: Some(play) })
    }

    fn settle(&mut self, plan: &BinaryPlan, happened: bool) -> Result<()> {
        error::probability("base probability", plan.base)?;
        let Some(play) = plan.play else { return Err(Error::ForeignPlan { expected: 1, found: 0 }) };
        check_play(&self.parameters.plays, play)?;
        let count = self.cells.len();
        let cell = &mut self.cells[cell_of(count, plan.base)];
        // Announced as it was given, booked as the grid rounds it, so that a restored state has the same bits.
        let booked = Play::new(&self.parameters.plays, play.cell as usize, play.fraction);
        cell.subroutine.settle(booked, happened);
        cell.count += 1;
        self.steps += 1;
        let o = indicator(happened);
        // (q − o)² − (p − o)², without cancellation.
        self.regret += (play.probability - plan.base) * (play.probability + plan.base - 2.0 * o);
        Ok(())
    }

    fn steps(&self) -> u64 {
        self.steps
    }
}

/// The saved form.
#[derive(Serialize, Deserialize)]
struct State<O> {
    parameters: PToPParameters,
    options: O,
    cells: Vec<(u64, Vec<f64>)>,
    regret: f64,
}

impl<S: Subroutine> TryFrom<State<S::Options>> for PToP<S> {
    type Error = Error;
    fn try_from(state: State<S::Options>) -> Result<Self> {
        let mut recalibrator = PToP::<S>::new(state.parameters, state.options)?;
        if state.cells.len() != recalibrator.cells.len() {
            return Err(
                SnapshotError::Invalid { field: "cells", rule: "as many as the parameters say" }.into()
            );
        }
        for (cell, (count, saved)) in recalibrator.cells.iter_mut().zip(&state.cells) {
            cell.subroutine.restore(saved)?;
            cell.count = *count;
            recalibrator.steps = recalibrator
                .steps
                .checked_add(*count)
                .ok_or(SnapshotError::Invalid { field: "cells", rule: "counts that can be added" })?;
        }
        recalibrator.regret = error::finite("regret", state.regret)?;
        Ok(recalibrator)
    }
}

impl<S: Subroutine> From<PToP<S>> for State<S::Options> {
    fn from(of: PToP<S>) -> Self {
        State {
            cells: of.cells.iter().map(|c| (c.count, c.subroutine.state())).collect(),
            parameters: of.parameters,
            options: of.options,
            regret: of.regret,
        }
    }
}
