//! Adaptive conformal inference with a learned step size (DtACI): experts of many rates, mixed by what they would have lost.
//!
//! ```text
//! expert i   q^i_{t+1} = q^i_t + γ_i (q − 1{b_t ≤ q^i_t}),   b_t = H_t(z_t−): the level at which z_t would just have been a hit
//! loss       ℓ(b, x) = (b − x)(q − 1{b < x}), the pinball loss of a level
//! weights    v_i = w_i exp(−η ℓ(b_t, q^i_t));   w_i ← (1 − σ) v_i/Σv + σ/k;   k = 8
//! announce   θ_t = H_t's quantile at level Σ_i w_i q^i_t: the expected form, no coin
//! ```
//!
//! with σ = 1/(2I), η = √(3 (ln(kI) + 2)/I) / (q (1−q)) for a horizon I, as in the source (whose denominator
//! √((1−q)²q³ + q²(1−q)³) is q(1−q)), and γ from 0.001, doubling, to 0.128.
//!
//! Guarantee: the source's regret bound in the pinball loss of levels, on every interval of about I steps, against the best sequence
//! of levels in hindsight. Each expert has the coverage bound of `aci.rs` for its own level; the mixture has none that is
//! free of assumptions (the source's needs η and σ to vanish). Late outcomes are booked by the experts at their levels of today.
//!
//! Cost: O(k + log W), k exponentials; 2k numbers.
//!
//! Source: Gibbs & Candès 2024, "Conformal inference for online prediction with arbitrary distribution shifts" (2022 as a preprint).
//! Where we differ: quantiles from below, and the prior of [`History`].

use serde::{Deserialize, Serialize};

use super::aci::check_memory;
use super::{History, QuantileRule};
use crate::error::{self, Result, SnapshotError};

const RATES: [f64; 8] = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128];

/// Options of [`DtAci`].
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `horizon` | 500 | I, the length of the intervals on which regret is small | ≥ 1 |
/// | `window` | 500 | W, scores kept | ≥ 1 |
/// | `prior` | 10 | κ, outcomes that the base counts for | > 0 |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DtAciOptions {
    /// I, the length of the intervals on which regret is small.
    pub horizon: f64,
    /// W, scores kept.
    pub window: usize,
    /// κ, outcomes that the base counts for.
    pub prior: f64,
}

impl Default for DtAciOptions {
    fn default() -> Self {
        DtAciOptions { horizon: 500.0, window: 500, prior: 10.0 }
    }
}

/// Adaptive conformal inference over a grid of rates, for one quantile.
#[derive(Debug, Clone, PartialEq)]
pub struct DtAci {
    q: f64,
    /// η and σ.
    eta: f64,
    share: f64,
    levels: [f64; RATES.len()],
    /// Sum to 1.
    weights: [f64; RATES.len()],
}

impl DtAci {
    /// The weight of each rate.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Σ_i w_i q^i: the level whose empirical quantile is announced.
    pub fn level(&self) -> f64 {
        self.weights.iter().zip(&self.levels).map(|(w, level)| w * level).sum()
    }
}

impl QuantileRule for DtAci {
    const NAME: &'static str = "dtaci";
    type Options = DtAciOptions;

    fn memory(options: &DtAciOptions) -> (usize, f64) {
        (options.window, options.prior)
    }

    fn start(options: &DtAciOptions, q: f64, _start: f64) -> Result<Self> {
        check_memory(options.window, options.prior)?;
        let horizon = error::finite("horizon", options.horizon)?;
        if horizon < 1.0 {
            return Err(error::Error::OutOfRange { what: "horizon", rule: "at least 1", value: horizon });
        }
        let q = error::inner_probability("quantile", q)?;
        let experts = RATES.len() as f64;
        Ok(DtAci {
            q,
            eta: (3.0 * (libm::log(experts * horizon) + 2.0) / horizon).sqrt() / (q * (1.0 - q)),
            share: 0.5 / horizon,
            levels: [q; RATES.len()],
            weights: [1.0 / experts; RATES.len()],
        })
    }

    fn threshold(&self, history: &History) -> f64 {
        history.quantile(self.level())
    }

    fn settle(&mut self, _announced: f64, score: f64, history: &History) {
        let b = history.level_below(score);
        // Relative to the least loss, so that not all weights can vanish.
        let losses = self.levels.map(|x| (b - x) * if b < x { self.q - 1.0 } else { self.q });
        let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
        let mut sum = 0.0;
        for (weight, loss) in self.weights.iter_mut().zip(losses) {
            *weight *= libm::exp(-self.eta * (loss - least));
            sum += *weight;
        }
        let floor = self.share / RATES.len() as f64;
        for (weight, (level, rate)) in self.weights.iter_mut().zip(self.levels.iter_mut().zip(RATES)) {
            *weight = (1.0 - self.share) * *weight / sum + floor;
            // b lies in [0, 1], and at level 0 nothing is a hit.
            let hit = if *level > 0.0 && b <= *level { 1.0 } else { 0.0 };
            *level += rate * (self.q - hit);
        }
    }

    fn state(&self) -> Vec<f64> {
        [self.levels, self.weights].concat()
    }

    fn restore(&mut self, state: &[f64]) -> Result<(), SnapshotError> {
        let invalid =
            SnapshotError::Invalid { field: "dtaci", rule: "eight finite levels and eight positive weights" };
        let Some((levels, weights)) = state.split_at_checked(RATES.len()) else { return Err(invalid) };
        let positive = weights.iter().all(|w| *w > 0.0 && *w <= 1.0 + 1e-9);
        if weights.len() != RATES.len() || !positive || !levels.iter().all(|level| level.is_finite()) {
            return Err(invalid);
        }
        self.levels.copy_from_slice(levels);
        self.weights.copy_from_slice(weights);
        Ok(())
    }
}
