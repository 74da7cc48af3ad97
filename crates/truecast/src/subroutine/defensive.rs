//! Defensive forecasting: announce a probability at which a gambler with a kernel cannot bet.
//!
//! Guarantee, on every sequence and with no probability attached (κ = 0; for κ > 0 see below):
//!
//! ```text
//! Σ_s,t k(p_s, p_t)(o_s − p_s)(o_t − p_t) ≤ Σ_t k(p_t, p_t)(o_t − p_t)² ≤ T
//! |Σ_t f(p_t)(o_t − p_t)| ≤ ‖f‖ √T       for every f that is linear between plays
//! ‖f‖² = f_0² + Σ_i (f_{i+1} − ρ_i f_i)² / (1 − ρ_i²),   ρ_i = exp(−(v_{i+1} − v_i)/b)
//! ```
//!
//! The norm does not grow with N: a function with |f| ≤ 1 and Lipschitz constant ℓ has, at its values on the plays, ‖f‖² ≤ 1 + 1/2b + bℓ²/2.
//! The ℓ1 calibration error is the worst case f_i = ±1 in turn: √((1 + Σ_i (1 + ρ_i)/(1 − ρ_i))/T).
//!
//! ```text
//! k(p, p') = Σ_ij τ_i(p) K_ij τ_j(p'),  K_ij = exp(−|v_i − v_j|/b)   τ_i the tents of the play grid
//! c_i = Σ_t τ_i(p_t)(o_t − p_t)                                     N + 1 sums are the whole memory
//! S_i = Σ_j K_ij c_j + κ (u − v_i)                                  S(p) = Σ_i τ_i(p) S_i = Σ_t k(p, p_t)(o_t − p_t) + κ (u − p)
//! announce p with S(p) = 0, or p = 1 if S > 0, p = 0 if S < 0 on the way there
//! ```
//!
//! Proof: cᵀKc grows at a step by 2(o − p)(S(p) − κ(u − p)) + k(p, p)(o − p)²; (o − p) S(p) ≤ 0 at a root and at an end;
//! k(p, p) ≤ 1. The prior adds 2κ(p − u)(o − p) ≤ κ/2 to a step, so T becomes T(1 + κ/2). The second line is Cauchy-Schwarz, and
//! ‖f‖² = fᵀK⁻¹f, K being the covariance of a Markov chain along the plays. An outcome that is settled late, or a drawn play, is
//! booked as it was announced; (o − p) S(p) may then be positive, and the first inequality holds with these terms added.
//!
//! Cost: O(N), because K c is two recursions along the plays; no matrix is kept. As b → 0 it becomes the rule of `ledger.rs`.
//!
//! Source: Vovk, Takemura & Shafer (2005), "Defensive forecasting" (the K29 algorithm); Vovk (2007), "Defensive forecasting for optimal
//! prediction with expert advice". Where we differ: the kernel is that of Laplace seen through the tents of the grid, which
//! makes the state finite and roots exact; of several roots we take the one reached from the last announcement; there is a prior.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Play, Subroutine, find_root, split_state};
use crate::error::{self, Result, SnapshotError};
use crate::grid::Plays;

/// What can be chosen about [`Defensive`].
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `bandwidth` | 0.1 | b, how far apart announcements are that answer for each other | > 0 |
/// | `prior` | 10 | κ, for how many observations the base probability counts | ≥ 0 |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DefensiveOptions {
    /// How far apart announcements are that answer for each other.
    pub bandwidth: f64,
    /// For how many observations the base probability counts.
    pub prior: f64,
}

impl Default for DefensiveOptions {
    fn default() -> Self {
        DefensiveOptions { bandwidth: 0.1, prior: 10.0 }
    }
}

/// Defensive forecasting for one event.
#[derive(Debug, Clone, PartialEq)]
pub struct Defensive {
    plays: Arc<Plays>,
    base: f64,
    prior: f64,
    /// ρ_i.
    correlations: Vec<f64>,
    /// c_i.
    sums: Vec<f64>,
    steps: u64,
    last: Play,
    /// Σ_j K_ij c_j, a function of the above.
    bets: Vec<f64>,
}

impl Defensive {
    /// The sums c_i.
    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// cᵀKc, what the first inequality bounds.
    pub fn potential(&self) -> f64 {
        self.sums.iter().zip(&self.bets).map(|(c, bet)| c * bet).sum()
    }

    /// ‖f‖ of a test function by its values on the plays.
    pub fn norm(&self, f: &[f64]) -> Result<f64> {
        if f.len() != self.sums.len() {
            let (left, right) = (f.len(), self.sums.len());
            return Err(error::Error::LengthMismatch { what: "test function and plays", left, right });
        }
        let steps = self.correlations.iter().zip(f.windows(2));
        let rises = steps.map(|(r, f)| (f[1] - r * f[0]) * (f[1] - r * f[0]) / ((1.0 - r) * (1.0 + r)));
        Ok((f[0] * f[0] + rises.sum::<f64>()).sqrt())
    }

    /// Computes K c by what comes from the left, c_i included, and what comes from the right.
    fn refresh(&mut self) {
        let mut carried = 0.0;
        for i in 0..self.sums.len() {
            carried = if i == 0 { 0.0 } else { self.correlations[i - 1] * carried } + self.sums[i];
            self.bets[i] = carried;
        }
        carried = 0.0;
        for i in (0..self.correlations.len()).rev() {
            carried = self.correlations[i] * (carried + self.sums[i + 1]);
            self.bets[i] += carried;
        }
    }
}

impl Subroutine for Defensive {
    const NAME: &'static str = "defensive";

    type Options = DefensiveOptions;

    fn start(options: &DefensiveOptions, plays: Arc<Plays>, base: f64) -> Result<Self> {
        error::probability("base probability", base)?;
        let bandwidth = error::positive("bandwidth", options.bandwidth)?;
        let prior = error::not_negative("prior", options.prior)?;
        let gaps = plays.values().windows(2).map(|v| v[1] - v[0]);
        let correlations = gaps.map(|gap| libm::exp(-gap / bandwidth)).collect();
        let (cell, fraction) = plays.locate(base);
        let last = Play::new(&plays, cell, fraction);
        let sums = vec![0.0; plays.values().len()];
        let bets = sums.clone();
        Ok(Defensive { plays, base, prior, correlations, sums, steps: 0, last, bets })
    }

    fn plays(&self) -> &Plays {
        &self.plays
    }

    fn expected(&self) -> Play {
        let v = self.plays.values();
        let balance = |i: usize| self.bets[i] + self.prior * (self.base - v[i]);
        let start = (self.last.cell as usize, self.last.fraction);
        let (cell, fraction) =
            find_root(self.plays.intervals(), start, (balance(start.0), balance(start.0 + 1)), balance);
        Play::new(&self.plays, cell, fraction)
    }

    fn settle(&mut self, play: Play, happened: bool) {
        let error = f64::from(u8::from(happened)) - play.probability;
        let cell = play.cell as usize;
        self.sums[cell] += (1.0 - play.fraction) * error;
        self.sums[cell + 1] += play.fraction * error;
        self.steps += 1;
        self.last = play;
        self.refresh();
    }

    fn state(&self) -> Vec<f64> {
        let last = [self.steps as f64, f64::from(self.last.cell), self.last.fraction];
        self.sums.iter().copied().chain(last).collect()
    }

    fn restore(&mut self, state: &[f64]) -> Result<(), SnapshotError> {
        let (sums, [steps, cell, fraction]) = split_state(state, self.sums.len())?;
        let cell_exists = (0.0..self.plays.intervals() as f64).contains(&cell) && cell.fract() == 0.0;
        if !cell_exists || !(0.0..=1.0).contains(&fraction) {
            return Err(SnapshotError::Invalid { field: "defensive", rule: "on the play grid" });
        }
        self.sums.copy_from_slice(sums);
        self.steps = steps as u64;
        self.last = Play::new(&self.plays, cell as usize, fraction);
        self.refresh();
        Ok(())
    }

    fn calibration_error(&self) -> f64 {
        self.sums.iter().map(|c| c.abs()).sum::<f64>() / self.steps.max(1) as f64
    }
}
