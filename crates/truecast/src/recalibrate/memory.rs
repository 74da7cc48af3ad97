//! Memories: running means of the outcomes at the levels, followed where they are more accurate than the ledgers.
//!
//! The ledger rule pays for being right on every stream by reacting: on a stream that is all alike it is a little less accurate than
//! the running mean of the outcomes, and on one that drifts it lags behind a running mean with a short memory. So a few running means
//! stand beside it, and exponential weights on the CRPS at the levels choose between them:
//!
//! ```text
//! m_kj ← m_kj + (o_j − m_kj)/(n_k + 1),   n_k = κ + outcomes, no more than the half-life allows (∞, 250, 60)
//! q_j  = α_0 p_j + Σ_k α_k m_kj
//! α_e  ∝ (1 − share)·α_e exp(−rate · Σ_j width_j (e_j − o_j)² / largest Σ width so far) + share/K
//! ```
//!
//! Only the CRPS is compared, because a mean that calibrates the PIT can lose accuracy without end (docs/theory.md, section 3); the
//! ledgers and the guard look after calibration. Guarantee: by convexity the mixture's regret is at most the α-weighted sum of
//! its parts'; the regret of the mixture itself is booked exactly. Cost: O(M) per memory and one exponential each.

use multiversion::multiversion;
use serde::{Deserialize, Serialize};

use super::lanes::{LANES, pad, padded, sum};
use crate::error::SnapshotError;
use crate::grid::Levels;

/// After how many outcomes an old one counts half, in each memory.
const HALF_LIVES: [f64; 3] = [f64::INFINITY, 150.0, 30.0];
/// For how many outcomes the base's own probability counts at first.
const PRIOR: f64 = 10.0;
const RATE: f64 = 20.0;
const SHARE: f64 = 0.001;
/// The weights at first: a memory has to earn its part.
const START: [f64; EXPERTS] = [0.97, 0.01, 0.01, 0.01];
/// The ledgers and the memories.
const EXPERTS: usize = 1 + HALF_LIVES.len();

/// Running means with different memories, and the weights on the ledgers and on each of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memories {
    /// One padded row per memory.
    means: Vec<f64>,
    /// How many outcomes each mean counts.
    counts: [f64; EXPERTS - 1],
    weights: [f64; EXPERTS],
    largest: f64,
}

impl Memories {
    pub(crate) fn new(levels: &Levels) -> Self {
        let row = pad(levels.probabilities(), 0.0);
        Memories {
            means: row.repeat(EXPERTS - 1),
            counts: [PRIOR; EXPERTS - 1],
            weights: START,
            largest: 0.0,
        }
    }

    /// The weights on the ledgers' plays and on each memory, which sum to 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Mixes the plays with the means.
    pub(crate) fn mix(&self, plays: &[f64], mixed: &mut [f64]) {
        scale(self.weights[0], plays, mixed);
        for (mean, &weight) in self.means.chunks_exact(plays.len()).zip(&self.weights[1..]) {
            add(weight, mean, mixed);
        }
    }

    /// Learns from one outcome with base probit score `z`. The means are judged as they are now: for a late outcome they may know
    /// more than when the forecast was issued, but never the outcome itself.
    pub(crate) fn settle(&mut self, z: f64, levels: &[f64], widths: &[f64], plays: &[f64]) {
        self.largest = self.largest.max(sum(widths));
        let room = plays.len();
        if self.largest > 0.0 {
            let experts = std::iter::once(plays).chain(self.means.chunks_exact(room));
            for (weight, expert) in self.weights.iter_mut().zip(experts) {
                *weight *= libm::exp(-RATE * (loss(z, levels, widths, expert) / self.largest));
            }
            let total: f64 = self.weights.iter().sum();
            for weight in &mut self.weights {
                // All losses lie within [0, 1], so the total stays far above underflow.
                *weight = (1.0 - SHARE) * (*weight / total) + SHARE / EXPERTS as f64;
            }
        }
        let memories = self.means.chunks_exact_mut(room).zip(&mut self.counts).zip(HALF_LIVES);
        for ((mean, count), half_life) in memories {
            *count = (*count + 1.0).min(longest(half_life));
            step(z, 1.0 / *count, levels, mean);
        }
    }

    pub(crate) fn validate(&self, levels: usize) -> Result<(), SnapshotError> {
        let unit = |values: &[f64]| values.iter().all(|p| (0.0..=1.0).contains(p));
        let counts = self.counts.iter().all(|n| *n >= PRIOR && n.is_finite());
        let largest = self.largest >= 0.0 && self.largest.is_finite();
        let total: f64 = self.weights.iter().sum();
        let fits =
            self.means.len() == (EXPERTS - 1) * padded(levels) && unit(&self.means) && unit(&self.weights);
        let padding =
            self.means.chunks_exact(padded(levels)).all(|row| row[levels..].iter().all(|p| *p == 0.0));
        if fits && padding && counts && largest && (total - 1.0).abs() < 1e-6 {
            Ok(())
        } else {
            Err(SnapshotError::Invalid {
                field: "memories",
                rule: "probabilities at the levels with weights that sum to 1",
            })
        }
    }
}

/// The count at which a running mean forgets half of an outcome in `half_life` further ones.
fn longest(half_life: f64) -> f64 {
    -1.0 / libm::expm1(-std::f64::consts::LN_2 / half_life)
}

/// Σ width (e − o)².
#[multiversion(targets("x86_64+avx2"))]
fn loss(z: f64, levels: &[f64], widths: &[f64], expert: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let chunks = levels.chunks_exact(LANES).zip(widths.chunks_exact(LANES)).zip(expert.chunks_exact(LANES));
    for ((level, width), e) in chunks {
        for l in 0..LANES {
            let error = e[l] - if z <= level[l] { 1.0 } else { 0.0 };
            sums[l] += width[l] * (error * error);
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// mean ← mean + gain (o − mean).
#[multiversion(targets("x86_64+avx2"))]
fn step(z: f64, gain: f64, levels: &[f64], mean: &mut [f64]) {
    let n = mean.len();
    let levels = &levels[..n];
    for j in 0..n {
        mean[j] += gain * (if z <= levels[j] { 1.0 } else { 0.0 } - mean[j]);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn scale(weight: f64, values: &[f64], out: &mut [f64]) {
    for (out, value) in out.iter_mut().zip(values) {
        *out = weight * value;
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn add(weight: f64, values: &[f64], out: &mut [f64]) {
    for (out, value) in out.iter_mut().zip(values) {
        *out += weight * value;
    }
}
