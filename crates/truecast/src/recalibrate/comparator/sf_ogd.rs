//! Scale-free online gradient descent on the pinball loss of the threshold.
//!
//! ```text
//! g_t = hit_t − q;   S_t = Σ_{s ≤ t} g_s²;   θ_{t+1} = θ_t − η g_t / √S_t,   θ_1 = Φ⁻¹(q)
//! ```
//!
//! Guarantee, on every stream with |z_t| ≤ D: a step is at most η and never leads further out from beyond ±D, so |θ_t| ≤ B =
//! max(D, |θ_1|) + η. Writing g_t = √S_t (θ_t − θ_{t+1})/η and summing by parts,
//!
//! ```text
//! |Σ_t (hit_t − q)| ≤ 2 B √S_T / η ≤ 2 B √T / η
//! ```
//!
//! which is the argument of Angelopoulos, Barber & Bates 2024 ("Online conformal prediction with decaying step sizes"), and better than the
//! T^{3/4} of the source. The regret in pinball loss is O(D √T). Unbounded scores have no bound: nothing here becomes ±∞.
//!
//! η = 1 probit unit: the source's D/√3 for thresholds within √3 of where they should be, and the first steps cross a base whose
//! standard deviation is wrong by a factor of two. Cost: O(1), one square root; two numbers.
//!
//! Source: Bhatnagar, Wang, Xiong & Bai 2023, "Improved online conformal prediction via strongly adaptive online learning", and
//! Orabona & Pál 2018 ("Scale-free online learning"). We differ in that the loss is one quantile's, not an interval's.

use serde::{Deserialize, Serialize};

use super::{History, QuantileRule};
use crate::error::{self, Result, SnapshotError};

/// Options of [`SfOgd`].
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `rate` | 1 | η, the first step in probit units | > 0 |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SfOgdOptions {
    /// η, the first step in probit units.
    pub rate: f64,
}

impl Default for SfOgdOptions {
    fn default() -> Self {
        SfOgdOptions { rate: 1.0 }
    }
}

/// Scale-free online gradient descent for one quantile.
#[derive(Debug, Clone, PartialEq)]
pub struct SfOgd {
    q: f64,
    rate: f64,
    threshold: f64,
    squares: f64,
}

impl SfOgd {
    /// S_t: the sum of squared gradients so far.
    pub fn squares(&self) -> f64 {
        self.squares
    }
}

impl QuantileRule for SfOgd {
    const NAME: &'static str = "sf-ogd";
    type Options = SfOgdOptions;

    fn start(options: &SfOgdOptions, q: f64, start: f64) -> Result<Self> {
        let rate = error::positive("rate", options.rate)?;
        let q = error::inner_probability("quantile", q)?;
        Ok(SfOgd { q, rate, threshold: error::finite("start", start)?, squares: 0.0 })
    }

    fn threshold(&self, _history: &History) -> f64 {
        self.threshold
    }

    fn settle(&mut self, announced: f64, score: f64, _history: &History) {
        let gradient = if score <= announced { 1.0 - self.q } else { -self.q };
        step(&mut self.threshold, &mut self.squares, gradient, self.rate);
    }

    fn state(&self) -> Vec<f64> {
        vec![self.threshold, self.squares]
    }

    fn restore(&mut self, state: &[f64]) -> Result<(), SnapshotError> {
        match *state {
            [threshold, squares] if threshold.is_finite() && squares >= 0.0 && squares.is_finite() => {
                (self.threshold, self.squares) = (threshold, squares);
                Ok(())
            }
            _ => Err(SnapshotError::Invalid {
                field: "sf-ogd",
                rule: "a finite threshold and a finite sum of squares",
            }),
        }
    }
}

/// One step of scale-free descent. q lies inside of (0, 1), so the gradient is never 0.
#[inline]
pub(super) fn step(threshold: &mut f64, squares: &mut f64, gradient: f64, rate: f64) {
    *squares += gradient * gradient;
    *threshold -= rate * gradient / squares.sqrt();
}
