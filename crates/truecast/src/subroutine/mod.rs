//! Binary calibration: announce the probability of an event, then learn whether it happened.
//!
//! A subroutine watches one event per step (here: "the outcome's probit score is at most z_j") and announces
//! probabilities that are right in the long run on *every* sequence of outcomes: of the times it said 30 %, the event
//! happened 30 % of the time. [`AlgorithmOne`](crate::recalibrate::AlgorithmOne) runs one subroutine per level.
//!
//! | subroutine | file | announces | per step | memory |
//! |---|---|---|---|---|
//! | [`LedgerRule`] | `ledger.rs` | one probability, no coin | O(1) on average | N + 1 balances |
//! | [`Approachability`] | `approachability.rs` | one of two neighbouring plays, by a coin | O(log N) | N + 1 sums |
//! | [`InternalRegret`] | `internal_regret.rs` | any play, by a coin | O(N³) | 2(N + 1) sums |
//! | [`Defensive`] | `defensive.rs` | one probability, no coin | O(N) | N + 1 sums |
//! | [`RunningMean`] | `running_mean.rs` | the frequency so far: for independent outcomes only | O(1) | 2 sums |

mod approachability;
mod defensive;
mod internal_regret;
mod ledger;
mod running_mean;

use std::fmt::Debug;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use approachability::{Approachability, ApproachabilityOptions};
pub use defensive::{Defensive, DefensiveOptions};
pub use internal_regret::{InternalRegret, InternalRegretOptions, LearningRate};
pub(crate) use ledger::find_root;
pub use ledger::{LedgerOptions, LedgerRule};
pub use running_mean::{RunningMean, RunningMeanOptions};

use crate::error::{Result, SnapshotError};
use crate::grid::Plays;

/// A probability on a play grid: (1 − fraction)·v\[cell\] + fraction·v\[cell + 1\].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Play {
    /// The probability that is announced.
    pub probability: f64,
    /// The play interval that it lies in.
    pub cell: u32,
    /// How far it lies into that interval, from 0 to 1.
    pub fraction: f64,
}

impl Play {
    /// The play at `fraction` of the way through `cell`.
    pub fn new(plays: &Plays, cell: usize, fraction: f64) -> Self {
        let (low, high) = (plays.values()[cell], plays.values()[cell + 1]);
        Play { probability: (1.0 - fraction) * low + fraction * high, cell: cell as u32, fraction }
    }

    /// The play that announces `probability`, wherever it lies on the grid.
    pub fn at(plays: &Plays, probability: f64) -> Self {
        let (cell, fraction) = plays.locate(probability);
        Play { probability, cell: cell as u32, fraction }
    }

    /// Rounds to the upper neighbour with probability `fraction` and to the lower one otherwise: right on average.
    pub fn rounded(self, plays: &Plays, draw: f64) -> Self {
        Play::new(plays, self.cell as usize, if draw < self.fraction { 1.0 } else { 0.0 })
    }
}

/// A binary calibration algorithm for one event per step.
///
/// `expected` and `draw` are pure; [`settle`](Subroutine::settle) is the only mutation, and takes the play that was
/// announced, so outcomes may arrive late and in any order. The state never grows with the number of steps.
pub trait Subroutine: Debug + Clone + Send + Sync {
    /// The name that people choose it by.
    const NAME: &'static str;

    /// What can be chosen about the algorithm.
    type Options: Debug + Clone + Default + PartialEq + Send + Sync + Serialize + DeserializeOwned;

    /// Starts at the probability `base`, which the base forecast gives to the event.
    fn start(options: &Self::Options, plays: Arc<Plays>, base: f64) -> Result<Self>;

    /// The play grid.
    fn plays(&self) -> &Plays;

    /// The play to announce without a coin: the algorithm itself if it is deterministic, its mean otherwise.
    fn expected(&self) -> Play;

    /// The play to announce, given a uniform draw in [0, 1).
    fn draw(&self, draw: f64) -> Play {
        self.expected().rounded(self.plays(), draw)
    }

    /// Books whether the event happened against the play that was announced for it.
    fn settle(&mut self, play: Play, happened: bool);

    /// Everything that was learned, as numbers. Its length is the memory the algorithm needs, the same at every step.
    fn state(&self) -> Vec<f64>;

    /// Puts back what [`state`](Subroutine::state) gave, if it is valid.
    fn restore(&mut self, state: &[f64]) -> Result<(), SnapshotError>;

    /// Σ over plays of |Σ (event − announcement)| / steps: the ℓ1 calibration error of what was announced so far.
    fn calibration_error(&self) -> f64;
}

/// A saved state as its sums and the few numbers behind them; the first of those counts steps.
fn split_state<const N: usize>(state: &[f64], sums: usize) -> Result<(&[f64], [f64; N]), SnapshotError> {
    let invalid = SnapshotError::Invalid { field: "subroutine", rule: "finite sums and a count of steps" };
    let (sums, rest) = state.split_at_checked(sums).ok_or_else(|| invalid.clone())?;
    let rest: [f64; N] = rest.try_into().map_err(|_| invalid.clone())?;
    let steps_count = rest.first().is_none_or(|steps| *steps >= 0.0 && steps.fract() == 0.0);
    if steps_count && state.iter().all(|x| x.is_finite()) { Ok((sums, rest)) } else { Err(invalid) }
}
