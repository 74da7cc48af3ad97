//! Calibration by Blackwell approachability: play between two neighbours whose balances have opposite signs.
//!
//! Guarantee: on every sequence of outcomes, and in expectation over the algorithm's own coins, the ℓ1 calibration error
//! Σ_i |R_i|/T is at most h/2 + √(2(N+1)/T), h the largest gap of the play grid (docs/theory.md, "Approachability").
//!
//! ```text
//! R_i = Σ_t 1{play i} (o − v_i)                    the vector payoff to be driven to zero
//! θ_i = η_t R_i held within ±1, η_t = √((N+1)/2t)  dual averaging over the ℓ∞ ball
//! find i with R_i ≥ 0 ≥ R_{i+1}                    it exists, because R_0 ≥ 0 ≥ R_N
//! play i with probability |θ_{i+1}| / (|θ_i| + |θ_{i+1}|), else i + 1
//! ```
//!
//! Cost: O(log N) by bisection for the sign change, N + 1 sums. Source: Abernethy, Bartlett & Hazan (2011), "Blackwell
//! Approachability and No-Regret Learning are Equivalent", section 5. Where we differ: the step size falls with t, so no horizon
//! is needed, and where nothing is owed the base probability is announced.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Play, Subroutine, split_state};
use crate::error::{self, Result, SnapshotError};
use crate::grid::Plays;

/// There is nothing to choose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ApproachabilityOptions {}

/// Blackwell approachability for one event.
#[derive(Debug, Clone, PartialEq)]
pub struct Approachability {
    plays: Arc<Plays>,
    base: Play,
    /// R_i.
    sums: Vec<f64>,
    steps: u64,
}

impl Subroutine for Approachability {
    const NAME: &'static str = "approachability";

    type Options = ApproachabilityOptions;

    fn start(_: &ApproachabilityOptions, plays: Arc<Plays>, base: f64) -> Result<Self> {
        error::probability("base probability", base)?;
        let sums = vec![0.0; plays.values().len()];
        Ok(Approachability { base: Play::at(&plays, base), plays, sums, steps: 0 })
    }

    fn plays(&self) -> &Plays {
        &self.plays
    }

    fn expected(&self) -> Play {
        // Invariant: R_low ≥ 0 ≥ R_high. It holds at the ends, since o − 0 ≥ 0 ≥ o − 1.
        let (mut low, mut high) = (0, self.plays.intervals());
        while high - low > 1 {
            let middle = low.midpoint(high);
            // Where nothing is owed either half will do: keep the one with the base probability.
            let right = match self.sums[middle] {
                0.0 => middle <= self.base.cell as usize,
                owed => owed > 0.0,
            };
            if right { low = middle } else { high = middle }
        }
        // θ divided by η_t; only the ratio matters.
        let limit = (2.0 * (self.steps + 1) as f64 / self.sums.len() as f64).sqrt();
        let (left, right) = (self.sums[low].min(limit), (-self.sums[high]).min(limit));
        let total = left + right;
        if total > 0.0 {
            // The larger the balance of the left neighbour, the more often the right one is played.
            return Play::new(&self.plays, low, left / total);
        }
        // Nothing is owed at either neighbour: announce what the base says, as far as the two allow.
        let fraction = match (self.base.cell as usize).cmp(&low) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => self.base.fraction,
            std::cmp::Ordering::Greater => 1.0,
        };
        Play::new(&self.plays, low, fraction)
    }

    fn settle(&mut self, play: Play, happened: bool) {
        let outcome = f64::from(u8::from(happened));
        let (cell, v) = (play.cell as usize, self.plays.values());
        self.sums[cell] += (1.0 - play.fraction) * (outcome - v[cell]);
        self.sums[cell + 1] += play.fraction * (outcome - v[cell + 1]);
        self.steps += 1;
    }

    fn state(&self) -> Vec<f64> {
        self.sums.iter().copied().chain([self.steps as f64]).collect()
    }

    fn restore(&mut self, state: &[f64]) -> Result<(), SnapshotError> {
        let (sums, [steps]) = split_state(state, self.sums.len())?;
        if sums[0] < 0.0 || sums[sums.len() - 1] > 0.0 {
            return Err(SnapshotError::Invalid {
                field: "approachability",
                rule: "of opposite signs at the ends",
            });
        }
        self.sums.copy_from_slice(sums);
        self.steps = steps as u64;
        Ok(())
    }

    fn calibration_error(&self) -> f64 {
        self.sums.iter().map(|r| r.abs()).sum::<f64>() / self.steps.max(1) as f64
    }
}
