//! Calibration by Blackwell approachability: play between two neighbours whose balances have opposite signs.
//!
//! Guarantee: the ℓ1 calibration error Σ_i |R_i|/T tends to at most the largest gap of the play grid, at the rate √((N+1)/T) in
//! expectation over the algorithm's own coins, on every sequence of outcomes.
//!
//! ```text
//! R_i = Σ_t 1{play i} (o − v_i)                 the vector payoff to be driven to zero
//! θ_i = R_i held within ±√(T + 1)/√(N + 1)      dual averaging over the ℓ∞ ball, up to a factor that does not matter
//! find i with R_i ≥ 0 ≥ R_{i+1}                 it exists, because R_0 ≥ 0 ≥ R_N
//! play i with probability |θ_{i+1}| / (|θ_i| + |θ_{i+1}|), else i + 1
//! ```
//!
//! Cost: O(log N) by binary search for the sign change, N + 1 numbers. Source: Abernethy, Bartlett & Hazan (2011), "Blackwell
//! Approachability and No-Regret Learning are Equivalent", section 5. Where we differ: the step size falls with T, so no horizon
//! is needed, and the search starts with the half that holds the base probability's cell, so that before any
//! outcome the base is announced.

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
        let mut middle = self.base.cell as usize;
        while high - low > 1 {
            let at = middle.clamp(low + 1, high - 1);
            if self.sums[at] >= 0.0 { low = at } else { high = at }
            middle = low.midpoint(high);
        }
        // Both clipped at √((T + 1)/(N + 1)); only their ratio matters.
        let limit = ((self.steps + 1) as f64 / self.sums.len() as f64).sqrt();
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
            return Err(SnapshotError::Invalid { field: "approachability", rule: "of opposite signs at the ends" });
        }
        self.sums.copy_from_slice(sums);
        self.steps = steps as u64;
        Ok(())
    }

    fn calibration_error(&self) -> f64 {
        self.sums.iter().map(|r| r.abs()).sum::<f64>() / self.steps.max(1) as f64
    }
}
