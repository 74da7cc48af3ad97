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

use fearless_simd::{Simd, f64x4, prelude::*};
use serde::{Deserialize, Serialize};

use crate::error::SnapshotError;
use crate::grid::Levels;
use crate::lanes::{Number, Quad, pad, padded, quads, quads_mut, vector};

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

    /// The means at the levels, four at a time, for `rows` rows of them.
    #[inline(always)]
    pub(crate) fn means(&self, rows: usize) -> Means<'_> {
        let (long, rest) = quads(&self.means).split_at(rows);
        let (middle, short) = rest.split_at(rows);
        Means { weights: self.weights, long, middle, short: &short[..rows] }
    }

    /// One more outcome is there: what its pass over the levels changes.
    #[inline(always)]
    pub(crate) fn learning(&mut self, rows: usize) -> Learning<'_> {
        for (count, longest) in self.counts.iter_mut().zip(LONGEST) {
            let one_more = *count + 1.0;
            *count = if one_more < longest { one_more } else { longest };
        }
        let (long, rest) = quads_mut(&mut self.means).split_at_mut(rows);
        let (middle, short) = rest.split_at_mut(rows);
        Learning { gains: self.counts.map(|count| 1.0 / count), long, middle, short: &mut short[..rows] }
    }

    /// What the weight of each memory is multiplied by is the exponential of this, given what the ledgers and each memory have lost and the sum of
    /// the widths. The means are judged as they are now: for a late outcome they may know more than when the forecast was issued, but never
    /// the outcome itself.
    pub(crate) fn exponents(&mut self, losses: [f64; EXPERTS], width: f64) -> [f64; EXPERTS - 1] {
        self.largest = if width > self.largest { width } else { self.largest };
        if self.largest == 0.0 {
            return [0.0; EXPERTS - 1];
        }
        // Relative to the ledgers', so that their weight needs no exponential. Losses lie within [0, 1], so nothing overflows.
        let rate = RATE / self.largest;
        let [ledgers, long, middle, short] = losses;
        [rate * (ledgers - long), rate * (ledgers - middle), rate * (ledgers - short)]
    }

    /// Multiplies the weights of the memories by the given factors.
    pub(crate) fn reweigh(&mut self, factors: [f64; EXPERTS - 1]) {
        if self.largest == 0.0 {
            return;
        }
        let [_, memories @ ..] = &mut self.weights;
        for (weight, factor) in memories.iter_mut().zip(factors) {
            *weight *= factor;
        }
        let total: f64 = self.weights.iter().sum();
        for weight in &mut self.weights {
            *weight = (1.0 - SHARE) * (*weight / total) + SHARE / EXPERTS as f64;
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

/// The running means, to be mixed with the plays.
#[derive(Debug)]
pub(crate) struct Means<'a> {
    weights: [f64; EXPERTS],
    long: &'a [Quad],
    middle: &'a [Quad],
    short: &'a [Quad],
}

impl Means<'_> {
    /// The weighted sum of the plays and the means, at the levels of one row.
    #[inline(always)]
    pub(crate) fn blend<S: Simd>(&self, row: usize, play: f64x4<S>) -> f64x4<S> {
        let simd = play.token();
        let [long, middle, short] =
            [self.long[row], self.middle[row], self.short[row]].map(|means| vector(simd, means));
        weighted_sum(self.weights.map(|weight| f64x4::splat(simd, weight)), [play, long, middle, short])
    }

    /// The same at one level of a row.
    pub(crate) fn blend_level(&self, row: usize, lane: usize, play: f64) -> f64 {
        weighted_sum(
            self.weights,
            [play, self.long[row][lane], self.middle[row][lane], self.short[row][lane]],
        )
    }
}

#[inline(always)]
fn weighted_sum<T: Number>(weights: [T; EXPERTS], of: [T; EXPERTS]) -> T {
    weights[0] * of[0] + weights[1] * of[1] + (weights[2] * of[2] + weights[3] * of[3])
}

/// The running means, to be brought nearer to an outcome.
#[derive(Debug)]
pub(crate) struct Learning<'a> {
    gains: [f64; EXPERTS - 1],
    long: &'a mut [Quad],
    middle: &'a mut [Quad],
    short: &'a mut [Quad],
}

impl Learning<'_> {
    /// The same, with slices that the compiler knows the length of.
    #[inline(always)]
    pub(crate) fn of_rows(self, rows: usize) -> Self {
        let Learning { gains, long, middle, short } = self;
        Learning { gains, long: &mut long[..rows], middle: &mut middle[..rows], short: &mut short[..rows] }
    }

    /// Adds width (mean − o)² to each memory's losses, and then mean ← mean + gain (o − mean), at the levels of one row.
    #[inline(always)]
    pub(crate) fn learn<S: Simd>(
        &mut self,
        row: usize,
        happened: f64x4<S>,
        width: f64x4<S>,
        losses: &mut [f64x4<S>; 3],
    ) {
        let [long, middle, short] = self.gains;
        approach(happened, width, long, &mut self.long[row], &mut losses[0]);
        approach(happened, width, middle, &mut self.middle[row], &mut losses[1]);
        approach(happened, width, short, &mut self.short[row], &mut losses[2]);
    }
}

#[inline(always)]
fn approach<S: Simd>(happened: f64x4<S>, width: f64x4<S>, gain: f64, mean: &mut Quad, lost: &mut f64x4<S>) {
    let before = vector(happened.token(), *mean);
    let error = happened - before;
    *lost += width * (error * error);
    *mean = (before + error * gain).into();
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
