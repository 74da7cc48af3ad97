//! The mixture of the experts: second-order aggregation by Squint, with the gradient trick.
//!
//! ```text
//! c_j = .8 w_j + .2 (largest Σw so far)/M       p = Σ_k q_k e_k       ℓ(p) = Σ_j c_j (p_j − o_j)²
//! r_k = 2 Σ_j c_j (p_j − o_j)(p_j − e_kj)       B = largest |r| so far       r̃ = r · min(1, B_before/max|r|)
//! R_k = Σ r̃_k, V_k = Σ r̃_k²                     q_k ∝ π_k Σ_i η_i exp(η_i R_k − η_i² V_k),  η_i = 2^(i−6)/(4W̄), i < 16, 2 η_i B ≤ 1
//! ```
//!
//! W̄ = Σc at the start of the epoch; where Σc > 64 W̄ a new one starts with R = V = 0.
//!
//! Guarantee (theorem 2; outcomes before the next forecast): within an epoch, on every stream, for every expert k and every T,
//! Σ_t ℓ_t(p) − ℓ_t(e_k) ≤ 8W ln(16/π_k) + 2W, W the largest Σc. Proof in docs/theory.md. Cost: O(experts · (M + 16)).
//!
//! Source: Koolen & van Erven 2015, "Second-order Quantile Methods for Experts and Combinatorial Games"; the clipping of Mhammedi, Koolen & van Erven 2019.

use serde::{Deserialize, Serialize};

use crate::error::SnapshotError;
use crate::expert::{ExpertKind, Told};

/// 4W̄ η_i.
const RATES: [f64; 16] = [
    1.0 / 64.0,
    1.0 / 32.0,
    1.0 / 16.0,
    0.125,
    0.25,
    0.5,
    1.0,
    2.0,
    4.0,
    8.0,
    16.0,
    32.0,
    64.0,
    128.0,
    256.0,
    512.0,
];
/// How much of the loss weighs every level alike.
const UNIFORM: f64 = 0.2;
/// Terms smaller than e^−40 of the largest count for nothing.
const NEGLIGIBLE: f64 = -40.0;
const EPOCH: f64 = 64.0;

/// What each expert would have gained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Aggregate {
    /// π_k, which follow from who the experts are.
    #[serde(skip)]
    prior: Vec<f64>,
    /// R_k and V_k.
    regrets: Vec<f64>,
    squares: Vec<f64>,
    /// B, W̄ and the largest Σw so far.
    largest: f64,
    unit: f64,
    widest: f64,
}

impl Aggregate {
    pub(crate) fn new(experts: &[ExpertKind]) -> Self {
        let total: f64 = experts.iter().map(|kind| kind.prior()).sum();
        let prior: Vec<f64> = experts.iter().map(|kind| kind.prior() / total).collect();
        let zero = vec![0.0; prior.len()];
        Aggregate { prior, regrets: zero.clone(), squares: zero, largest: 0.0, unit: 0.0, widest: 0.0 }
    }

    /// R_k: by how much, up to clipping, following expert k instead of the mixture would have been better.
    pub fn regrets(&self) -> &[f64] {
        &self.regrets
    }

    /// q_k.
    pub fn weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.prior.len()];
        self.weigh(&mut weights);
        weights
    }

    pub(crate) fn weigh(&self, out: &mut [f64]) {
        if self.largest == 0.0 || self.unit == 0.0 {
            out.copy_from_slice(&self.prior);
            return;
        }
        let unit = 1.0 / (4.0 * self.unit);
        let active =
            RATES.iter().skip(1).take_while(|rate| 2.0 * *rate * unit * self.largest <= 1.0).count() + 1;
        let rates = &RATES[..active];
        let mut exponents = [[0.0; RATES.len()]; MOST_EXPERTS];
        let mut most = f64::NEG_INFINITY;
        for (row, (&r, &v)) in exponents.iter_mut().zip(self.regrets.iter().zip(&self.squares)) {
            for (exponent, rate) in row.iter_mut().zip(rates) {
                let eta = rate * unit;
                *exponent = eta * r - eta * eta * v;
                most = most.max(*exponent);
            }
        }
        for (out, (row, prior)) in out.iter_mut().zip(exponents.iter().zip(&self.prior)) {
            let terms = row.iter().zip(rates).map(|(exponent, rate)| {
                let x = exponent - most;
                if x > NEGLIGIBLE { libm::exp(x) * rate } else { 0.0 }
            });
            *out = prior * terms.sum::<f64>().max(1e-300);
        }
        let total: f64 = out.iter().sum();
        out.iter_mut().for_each(|q| *q /= total);
    }

    /// Learns an outcome: `mixed` is p, `said` holds what each expert said, one after the other.
    pub(crate) fn learn(&mut self, told: &Told<'_>, mixed: &[f64], said: &[f64]) {
        let count = mixed.len();
        let width: f64 = told.widths.iter().sum();
        self.widest = self.widest.max(width);
        let floor = UNIFORM * self.widest / count as f64;
        let mut gains = [0.0; MOST_EXPERTS];
        for j in 0..count {
            let c = (1.0 - UNIFORM) * told.widths[j] + floor;
            let gradient = 2.0 * c * (mixed[j] - told.happened(j));
            for (gain, said) in gains.iter_mut().zip(said.chunks_exact(count)) {
                *gain += gradient * (mixed[j] - said[j]);
            }
        }
        let gains = &mut gains[..self.prior.len()];
        let total = (1.0 - UNIFORM) * width + UNIFORM * self.widest;
        if self.unit == 0.0 {
            self.unit = total;
        }
        if total > EPOCH * self.unit {
            self.unit = total;
            self.regrets.fill(0.0);
            self.squares.fill(0.0);
        }
        let largest = gains.iter().fold(0.0_f64, |most, gain| most.max(gain.abs()));
        if largest == 0.0 {
            return;
        }
        if self.largest == 0.0 {
            // The first difference only sets the scale.
            self.largest = largest;
            return;
        }
        let clip = (self.largest / largest).min(1.0);
        for (gain, (r, v)) in gains.iter().zip(self.regrets.iter_mut().zip(&mut self.squares)) {
            let gain = gain * clip;
            *r += gain;
            *v += gain * gain;
        }
        self.largest = self.largest.max(largest);
    }

    /// Takes up what was saved of these experts.
    pub(crate) fn restore(&mut self, saved: Aggregate) -> Result<(), SnapshotError> {
        let count = self.prior.len();
        let sizes = saved.squares.iter().chain([&saved.largest, &saved.unit, &saved.widest]);
        let sizes = sizes.into_iter().all(|x| *x >= 0.0 && x.is_finite());
        let fits = (saved.regrets.len(), saved.squares.len()) == (count, count);
        if !fits || !sizes || !saved.regrets.iter().all(|r| r.is_finite()) {
            let rule = "finite, one gain for each expert";
            return Err(SnapshotError::Invalid { field: "mixture", rule });
        }
        let prior = std::mem::take(&mut self.prior);
        *self = Aggregate { prior, ..saved };
        Ok(())
    }
}

/// More than there are.
pub(crate) const MOST_EXPERTS: usize = 8;
