//! Adaptive conformal inference: the level, not the threshold, moves.
//!
//! ```text
//! θ_t = H_t's quantile at level q_t, −∞ if q_t ≤ 0 and +∞ if q_t ≥ 1;      q_{t+1} = q_t + γ (q − hit_t),   q_1 = q
//! ```
//!
//! H_t is the distribution of the last W scores behind a prior of κ outcomes that the base is right ([`History`]).
//!
//! Guarantee, on every stream: q_t stays within (−γ(1−q), 1 + γq), because a level ≤ 0 never hits and a level ≥ 1 always does. The
//! updates add up to γ Σ (q − hit) = q_{T+1} − q, so
//!
//! ```text
//! −(1−q)/γ − q  <  Σ_t (hit_t − q)  <  q/γ + (1−q)          and |share − q| ≤ (1 + max(q, 1−q)/γ) / T
//! ```
//!
//! Late outcomes keep the sum and loosen the range by γ per outcome that is pending. Cost: O(log W); one number.
//!
//! Source: Gibbs & Candès 2021, "Adaptive conformal inference under distribution shift". We differ in the prior, so that the start is
//! the base forecast and not an empty sample. γ = 0.005 is theirs;
//! W = 500 and κ = 10, the prior of the ledgers, are ours.

use serde::{Deserialize, Serialize};

use super::{History, QuantileRule};
use crate::error::{self, Error, Result, SnapshotError};

/// Options of [`Aci`].
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `rate` | 0.005 | γ, the step of the level | > 0 |
/// | `window` | 500 | W, scores kept | ≥ 1 |
/// | `prior` | 10 | κ, outcomes that the base counts for | > 0 |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AciOptions {
    /// γ, the step of the level.
    pub rate: f64,
    /// W, scores kept.
    pub window: usize,
    /// κ, outcomes that the base counts for.
    pub prior: f64,
}

impl Default for AciOptions {
    fn default() -> Self {
        AciOptions { rate: 0.005, window: 500, prior: 10.0 }
    }
}

/// Adaptive conformal inference for one quantile.
#[derive(Debug, Clone, PartialEq)]
pub struct Aci {
    q: f64,
    rate: f64,
    level: f64,
}

impl Aci {
    /// q_t: the level whose empirical quantile is announced; may lie outside of [0, 1].
    pub fn level(&self) -> f64 {
        self.level
    }
}

impl QuantileRule for Aci {
    const NAME: &'static str = "aci";
    type Options = AciOptions;

    fn memory(options: &AciOptions) -> (usize, f64) {
        (options.window, options.prior)
    }

    fn start(options: &AciOptions, q: f64, _start: f64) -> Result<Self> {
        check_memory(options.window, options.prior)?;
        let rate = error::positive("rate", options.rate)?;
        Ok(Aci { q: error::inner_probability("quantile", q)?, rate, level: q })
    }

    fn threshold(&self, history: &History) -> f64 {
        history.quantile(self.level)
    }

    fn settle(&mut self, announced: f64, score: f64, _history: &History) {
        let hit = if score <= announced { 1.0 } else { 0.0 };
        self.level += self.rate * (self.q - hit);
    }

    fn state(&self) -> Vec<f64> {
        vec![self.level]
    }

    fn restore(&mut self, state: &[f64]) -> Result<(), SnapshotError> {
        match *state {
            [level] if level.is_finite() => {
                self.level = level;
                Ok(())
            }
            _ => Err(SnapshotError::Invalid { field: "aci", rule: "one finite level" }),
        }
    }
}

/// A window of at least one score, and a prior that is worth something.
pub(super) fn check_memory(window: usize, prior: f64) -> Result<()> {
    if window == 0 {
        return Err(Error::TooFew { what: "window", least: 1, found: 0 });
    }
    error::positive("prior", prior).map(|_| ())
}
