//! The ledger rule for one event: announce a root of the balance.
//!
//! Guarantee, on every sequence and with no probability attached: with L_i = Σ τ_i(p)(o − p) over all steps (τ_i the
//! tent functions of the play grid), Σ_i L_i² ≤ T·(1 + κ/2), so the calibration error against these tents is at most
//! √((N+1)(1 + κ/2)/T). There is no 1/N floor, because announcements lie between plays too.
//!
//! ```text
//! S_i = L_i / (n + 1) + κ (u − v_i) / (n + 1)
//! announce a root of the piecewise linear function through (v_i, S_i), nearest to the last announcement
//! L_i += (1 − a)(o − p),  L_{i+1} += a (o − p)
//! ```
//!
//! Cost: O(1) on average, because the root moves little from step to step. Source: the deterministic form of Foster's
//! (1999) calibration proof, in the smooth sense of Kakade & Foster (2004) and Foster & Hart (2018); the many-ledger form
//! that the default recalibrator uses is in `recalibrate/ledgers/`, and the proof in `docs/theory.md`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Play, Subroutine, split_state};
use crate::error::{self, Result, SnapshotError};
use crate::grid::Plays;

/// What can be chosen about a [`LedgerRule`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LedgerOptions {
    /// For how many observations the base probability counts; 10 by default.
    pub prior: f64,
}

impl Default for LedgerOptions {
    fn default() -> Self {
        LedgerOptions { prior: 10.0 }
    }
}

/// One event, one ledger: the deterministic rule of this file.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerRule {
    plays: Arc<Plays>,
    base: f64,
    prior: f64,
    balances: Vec<f64>,
    steps: u64,
    last: Play,
}

impl LedgerRule {
    /// The signed balances L_i.
    pub fn balances(&self) -> &[f64] {
        &self.balances
    }
}

impl Subroutine for LedgerRule {
    const NAME: &'static str = "ledger";

    type Options = LedgerOptions;

    fn start(options: &LedgerOptions, plays: Arc<Plays>, base: f64) -> Result<Self> {
        error::probability("base probability", base)?;
        let prior = error::not_negative("prior", options.prior)?;
        let last = Play::at(&plays, base);
        let balances = vec![0.0; plays.values().len()];
        Ok(LedgerRule { plays, base, prior, balances, steps: 0, last })
    }

    fn plays(&self) -> &Plays {
        &self.plays
    }

    fn expected(&self) -> Play {
        let v = self.plays.values();
        // The common factor 1/(n + 1) does not move the root.
        let balance = |i: usize| self.balances[i] + self.prior * (self.base - v[i]);
        let start = (self.last.cell as usize, self.last.fraction);
        let (cell, fraction) =
            find_root(self.plays.intervals(), start, (balance(start.0), balance(start.0 + 1)), balance);
        Play::new(&self.plays, cell, fraction)
    }

    fn settle(&mut self, play: Play, happened: bool) {
        let error = f64::from(u8::from(happened)) - play.probability;
        let cell = play.cell as usize;
        self.balances[cell] += (1.0 - play.fraction) * error;
        self.balances[cell + 1] += play.fraction * error;
        self.steps += 1;
        self.last = play;
    }

    fn state(&self) -> Vec<f64> {
        let last = [self.steps as f64, f64::from(self.last.cell), self.last.fraction];
        self.balances.iter().copied().chain(last).collect()
    }

    fn restore(&mut self, state: &[f64]) -> Result<(), SnapshotError> {
        let (balances, [steps, cell, fraction]) = split_state(state, self.balances.len())?;
        let cell_exists = (0.0..self.plays.intervals() as f64).contains(&cell) && cell.fract() == 0.0;
        if !cell_exists || !(0.0..=1.0).contains(&fraction) {
            return Err(SnapshotError::Invalid { field: "ledger rule", rule: "on the play grid" });
        }
        self.balances.copy_from_slice(balances);
        self.steps = steps as u64;
        self.last = Play::new(&self.plays, cell as usize, fraction);
        Ok(())
    }

    fn calibration_error(&self) -> f64 {
        self.balances.iter().map(|l| l.abs()).sum::<f64>() / self.steps.max(1) as f64
    }
}

/// A root of the piecewise linear function with value `balance(i)` at play i, found by walking from `start`, a cell and the fraction of the way
/// through it; `ends` are the values at the ends of that cell.
///
/// Where the balance is positive too little was announced: walk right; where it is negative, left. If an end is
/// reached, the end is the answer: there the balance can only push outwards, which is the favourable sign.
/// Returns the cell and the fraction of the way through it.
pub(crate) fn find_root(
    intervals: usize,
    start: (usize, f64),
    ends: (f64, f64),
    balance: impl Fn(usize) -> f64,
) -> (usize, f64) {
    let (mut cell, fraction) = start;
    let (mut low, mut high) = ends;
    let here = (1.0 - fraction) * low + fraction * high;
    if here == 0.0 {
        return (cell, fraction);
    }
    if here > 0.0 {
        while high > 0.0 && cell + 1 < intervals {
            cell += 1;
            (low, high) = (high, balance(cell + 1));
        }
        if high > 0.0 {
            return (cell, 1.0);
        }
    } else {
        while low < 0.0 && cell > 0 {
            cell -= 1;
            (low, high) = (balance(cell), low);
        }
        if low < 0.0 {
            return (cell, 0.0);
        }
    }
    (cell, low / (low - high))
}
