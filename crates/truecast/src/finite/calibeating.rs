//! Calibeating: announce the running mean of the outcomes in the cell of the base probability.
//!
//! Guarantee, on every sequence. A base forecast's Brier score is refinement (how the outcomes vary within its cells) plus
//! calibration (how far the cells' means are from what was said). We pay the refinement alone, and a logarithm:
//!
//! ```text
//! Σ (q_t − o_t)²  ≤  Σ_c n_c ō_c (1 − ō_c)  +  Σ_c (1 + ln n_c)        sums over cells that were met
//! ```
//!
//! Why: with q = the mean of the s − 1 outcomes before, Σ_s (1 − 1/s)(o_s − q_s)² = n ō (1 − ō) exactly (the update of a variance),
//! so a cell's excess is (o_1 − q_1)² + Σ_{s≥2} (o_s − q_s)²/s ≤ 1 + Σ_{s=2}^n 1/s ≤ 1 + ln n. The excess is booked as it happens.
//!
//! The announcement itself need not be calibrated; [`PToP`](super::PToP) calibeats and is. Late outcomes: the identity is that of the order
//! in which they are settled; the books then speak of what would have been announced in that order.
//!
//! Cost O(1) per step, two numbers per cell. Source: Foster & Hart (2023), "Calibeating: Beating Forecasters at Their Own Game",
//! theorem 3. Where we differ: a cell's first announcement, which is free, is the base probability, and cells are M equal intervals of
//! it, so "base" above is the base at that resolution.

use serde::{Deserialize, Serialize};

use super::{BinaryPlan, BinaryRecalibrator, cell_of, check_cells, indicator};
use crate::error::{self, Error, Result, SnapshotError};

/// The running mean of each cell of the base probability.
///
/// ```
/// use truecast::finite::{BinaryRecalibrator, Calibeating};
///
/// let mut recalibrator = Calibeating::new(20)?;
/// assert_eq!(recalibrator.observe(0.9, false)?, 0.9); // no outcome yet
/// assert_eq!(recalibrator.observe(0.9, true)?, 0.0);
/// assert_eq!(recalibrator.recalibrate(0.9)?, 0.5);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct Calibeating {
    /// (outcomes, those that happened), per cell.
    cells: Vec<(u64, u64)>,
    steps: u64,
    /// Σ (q − o)² − refinement, booked by the identity above.
    excess: f64,
}

impl Calibeating {
    /// Starts with M = `cells` equal cells of [0, 1].
    pub fn new(cells: usize) -> Result<Self> {
        Ok(Calibeating { cells: vec![(0, 0); check_cells(cells)?], steps: 0, excess: 0.0 })
    }

    /// Σ_c n_c ō_c (1 − ō_c): the base's refinement, in squared loss summed over steps.
    pub fn refinement(&self) -> f64 {
        let of_cell = |&(n, ones): &(u64, u64)| {
            if n == 0 { 0.0 } else { ones as f64 * ((n - ones) as f64 / n as f64) }
        };
        self.cells.iter().map(of_cell).sum()
    }

    /// Σ (q_t − o_t)² − refinement so far.
    pub fn excess(&self) -> f64 {
        self.excess
    }

    /// Σ_c (1 + ln n_c): what the excess can be at most.
    pub fn excess_bound(&self) -> f64 {
        self.cells.iter().filter(|c| c.0 > 0).map(|c| 1.0 + libm::log(c.0 as f64)).sum()
    }
}

impl BinaryRecalibrator for Calibeating {
    fn plan(&self, base: f64, _: u64) -> Result<BinaryPlan> {
        error::probability("base probability", base)?;
        let (n, ones) = self.cells[cell_of(self.cells.len(), base)];
        let probability = if n == 0 { base } else { ones as f64 / n as f64 };
        Ok(BinaryPlan { base, probability, play: None })
    }

    fn settle(&mut self, plan: &BinaryPlan, happened: bool) -> Result<()> {
        let now = self.plan(plan.base, self.steps)?.probability;
        let count = self.cells.len();
        let (n, ones) = &mut self.cells[cell_of(count, plan.base)];
        *n += 1;
        *ones += u64::from(happened);
        let miss = now - indicator(happened);
        self.excess += miss * miss / *n as f64;
        self.steps += 1;
        Ok(())
    }

    fn steps(&self) -> u64 {
        self.steps
    }
}

/// The saved form.
#[derive(Serialize, Deserialize)]
struct State {
    cells: Vec<(u64, u64)>,
    excess: f64,
}

impl TryFrom<State> for Calibeating {
    type Error = Error;
    fn try_from(state: State) -> Result<Self> {
        let mut recalibrator = Calibeating::new(state.cells.len())?;
        let invalid = SnapshotError::Invalid { field: "cells", rule: "at most as many events as outcomes" };
        for &(n, ones) in &state.cells {
            if ones > n {
                return Err(invalid.into());
            }
            recalibrator.steps = recalibrator.steps.checked_add(n).ok_or_else(|| invalid.clone())?;
        }
        recalibrator.cells = state.cells;
        recalibrator.excess = error::not_negative("excess", state.excess)?;
        Ok(recalibrator)
    }
}

impl From<Calibeating> for State {
    fn from(of: Calibeating) -> Self {
        State { cells: of.cells, excess: of.excess }
    }
}
