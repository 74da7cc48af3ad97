//! Memories: running means of the outcomes at the levels, followed where they are more accurate than the ledgers.
//!
//! The ledger rule pays for being right on every stream by reacting: on a stream that is all alike it is a little less accurate than
//! the running mean of the outcomes, and on one that drifts it lags behind a running mean with a short memory. So a few running means
//! stand beside it, and exponential weights on the CRPS at the levels choose between them:
//!
//! ```text
//! m_kj ← m_kj + (o_j − m_kj)/(n_k + 1),   n_k = κ + outcomes, no more than the half-life allows (∞, 150, 30)
//! q_j  = α_0 p_j + Σ_k α_k m_kj
//! α_e  ∝ (1 − share)·α_e exp(−rate · Σ_j width_j (e_j − o_j)² / largest Σ width so far) + share/K
//! ```
//!
//! Only the CRPS is compared, because a mean that calibrates the PIT can lose accuracy without end (docs/theory.md, section 3); the
//! ledgers and the guard look after calibration. Guarantee: by convexity the mixture's regret is at most the α-weighted sum of
//! its parts'; the regret of the mixture itself is booked exactly. Cost: O(M) per memory and one exponential each.

use multiversion::multiversion;
use serde::{Deserialize, Serialize};

use super::lanes::{LANES, pad, padded};
use crate::error::SnapshotError;
use crate::grid::Levels;

/// After how many outcomes an old one counts half, in each memory.
#[cfg(test)]
const HALF_LIVES: [f64; 3] = [f64::INFINITY, 150.0, 30.0];
/// For how many outcomes the base's own probability counts at first.
const PRIOR: f64 = 10.0;
const RATE: f64 = 20.0;
const SHARE: f64 = 0.001;
/// The weights at first: a memory has to earn its part.
const START: [f64; EXPERTS] = [0.97, 0.01, 0.01, 0.01];
/// The ledgers and the memories.
const EXPERTS: usize = 4;

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
        let (long, rest) = self.means.split_at(plays.len());
        let (middle, short) = rest.split_at(plays.len());
        blend(&self.weights, plays, long, middle, short, mixed);
    }

    /// Learns from one outcome with base probit score `z`; `width` is the sum of the widths. The means are judged as they are now: for a late outcome they may know
    /// more than when the forecast was issued, but never the outcome itself.
    pub(crate) fn settle(&mut self, z: f64, levels: &[f64], widths: &[f64], width: f64, plays: &[f64]) {
        self.largest = self.largest.max(width);
        let mut losses = [0.0; EXPERTS];
        losses[0] = loss(z, levels, widths, plays);
        let memories = self.means.chunks_exact_mut(plays.len()).zip(&mut self.counts).zip(LONGEST);
        for (((mean, count), longest), lost) in memories.zip(&mut losses[1..]) {
            *count = (*count + 1.0).min(longest);
            *lost = learn(z, 1.0 / *count, levels, widths, mean);
        }
        if self.largest > 0.0 {
            // Relative to the ledgers', so that their weight needs no exponential. Losses lie within [0, 1], so nothing overflows.
            let rate = RATE / self.largest;
            for (weight, lost) in self.weights.iter_mut().zip(losses).skip(1) {
                *weight *= libm::exp(rate * (losses[0] - lost));
            }
            let total: f64 = self.weights.iter().sum();
            for weight in &mut self.weights {
                *weight = (1.0 - SHARE) * (*weight / total) + SHARE / EXPERTS as f64;
            }
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

/// The count at which a running mean forgets half of an outcome in so many further ones: 1/(1 − 2^(−1/half-life)).
const LONGEST: [f64; EXPERTS - 1] = [f64::INFINITY, 216.90464121497445, 43.78277661837311];

/// Σ width (e − o)².
#[multiversion(targets("x86_64+avx2"))]
fn loss(z: f64, levels: &[f64], widths: &[f64], expert: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let chunks = levels.chunks_exact(LANES).zip(widths.chunks_exact(LANES)).zip(expert.chunks_exact(LANES));
    for ((level, width), e) in chunks {
        for l in 0..LANES {
            let error = if z <= level[l] { 1.0 } else { 0.0 } - e[l];
            sums[l] += width[l] * (error * error);
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// Σ width (mean − o)², and then mean ← mean + gain (o − mean).
#[multiversion(targets("x86_64+avx2"))]
fn learn(z: f64, gain: f64, levels: &[f64], widths: &[f64], mean: &mut [f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let chunks = levels.chunks_exact(LANES).zip(widths.chunks_exact(LANES)).zip(mean.chunks_exact_mut(LANES));
    for ((level, width), mean) in chunks {
        for l in 0..LANES {
            let error = if z <= level[l] { 1.0 } else { 0.0 } - mean[l];
            sums[l] += width[l] * (error * error);
            mean[l] += gain * error;
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// The weighted sum of the plays and three means.
#[multiversion(targets("x86_64+avx2"))]
fn blend(
    weights: &[f64; EXPERTS],
    plays: &[f64],
    long: &[f64],
    middle: &[f64],
    short: &[f64],
    out: &mut [f64],
) {
    let n = out.len();
    let (plays, long, middle, short) = (&plays[..n], &long[..n], &middle[..n], &short[..n]);
    for j in 0..n {
        out[j] =
            weights[0] * plays[j] + weights[1] * long[j] + (weights[2] * middle[j] + weights[3] * short[j]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_counts_are_those_of_the_half_lives() {
        for (half_life, longest) in HALF_LIVES.into_iter().zip(LONGEST) {
            let expected = -1.0 / libm::expm1(-std::f64::consts::LN_2 / half_life);
            assert!(
                longest == expected || (longest / expected - 1.0).abs() < 1e-14,
                "{half_life}: {expected:?}"
            );
        }
    }
}
