//! Errors that depend on the forecast itself, and on the last outcomes.
//!
//! ```text
//! z ~ N(a·f, e^{2 b·f}),   e_j = Φ((z_j − a·f)/e^{b·f}),   b·f held in ±4
//! f = (1, location, ln scale, A, V)       location and ln scale standardised by their running moments (half-life 300), A and V see `recent.rs`
//! ```
//!
//! One Fisher-scored step of least CRPS for each outcome, with x = (z − a·f)/d, d = e^{b·f}, λ = 2^(−1/300), and a ridge of ten outcomes to the base:
//!
//! ```text
//! H ← λH + ff′/(d√π)        J ← λJ + d ff′/(2√π)        ρ = 10/√π
//! a −= held₁ (H + ρI)⁻¹ [(1 − 2Φ(x)) f + (1−λ) ρ a]
//! b −= held.₃ (J + ρI/2)⁻¹ [d (2φ(x) − 1/√π) f + (1−λ) ρ b/2]
//! ```
//!
//! This is what plain regression sees and running means do not: a bias at high values, a spread that is wrong where it is small. Without lags f has
//! three entries. Cost: O(M) normal distribution functions, two solves of size five; 52 numbers.

use serde::{Deserialize, Serialize};

use super::{Expert, Occasion, Told};
use crate::normal;
use crate::recalibrate::Parameters;
use crate::score::form::FRAC_1_SQRT_PI;

const FEATURES: usize = 5;
/// Features without those of the last outcomes.
const WITHOUT_LAGS: usize = 3;
const HALF_LIFE: f64 = 300.0;
/// The base counts for so many outcomes.
const PRIOR: f64 = 10.0;
/// ln of the scale is held within this.
const LARGEST_LOG_SCALE: f64 = 4.0;
const LARGEST_FEATURE: f64 = 3.0;
/// So many forecasts are seen before their location and scale are used.
const SEEN: f64 = 5.0;
const LARGEST_STEPS: [f64; 2] = [1.0, 0.3];

type Vector = [f64; FEATURES];
type Matrix = [Vector; FEATURES];

/// A conditional normal distribution of the probit score.
#[derive(Debug, Clone, PartialEq)]
pub struct Affine {
    /// 5, or 3 without lags; the rest of vectors and matrices stays 0.
    features: usize,
    learned: Learned,
}

/// All that changes.
#[derive(Debug, Clone, PartialEq, Default)]
struct Learned {
    shift: Vector,
    scale: Vector,
    /// H and J.
    curvature: [Matrix; 2],
    /// Forecasts seen, with forgetting; running means of location and ln scale, and sums of squares around them.
    seen: f64,
    means: [f64; 2],
    squares: [f64; 2],
}

/// The saved form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedAffine(Vec<f64>);

impl Affine {
    pub(crate) fn start(parameters: &Parameters) -> Self {
        let features = if parameters.lags { FEATURES } else { WITHOUT_LAGS };
        Affine { features, learned: Learned::default() }
    }

    /// Matrices are symmetric: their lower halves are saved.
    pub(crate) fn saved(&self) -> SavedAffine {
        let Learned { shift, scale, curvature, seen, means, squares } = &self.learned;
        let halves = curvature.iter().flat_map(|sum| (0..FEATURES).flat_map(move |i| sum[i][..=i].iter().copied()));
        let coefficients = shift.iter().chain(scale).copied();
        let rest = [*seen, means[0], means[1], squares[0], squares[1]];
        SavedAffine(coefficients.chain(halves).chain(rest).collect())
    }

    pub(crate) fn restore(&mut self, SavedAffine(saved): SavedAffine) -> bool {
        let Learned { shift, scale, curvature, seen, means, squares } = &mut self.learned;
        let mut next = saved.iter().copied();
        let mut fill = |to: &mut [f64]| to.iter_mut().for_each(|to| *to = next.next().unwrap_or(f64::NAN));
        fill(shift);
        fill(scale);
        for sum in curvature {
            for i in 0..FEATURES {
                fill(&mut sum[i][..=i]);
                (0..i).for_each(|j| sum[j][i] = sum[i][j]);
            }
        }
        fill(std::slice::from_mut(seen));
        fill(means);
        fill(squares);
        next.next().is_none()
    }

    /// The location and the scale of the forecasts of late; `None` before there were some.
    pub fn usual(&self) -> Option<(f64, f64)> {
        let Learned { seen, means, .. } = &self.learned;
        (*seen >= SEEN).then(|| (means[0], libm::exp(means[1])))
    }

    /// The features of a forecast.
    fn features(&self, occasion: &Occasion<'_>) -> Vector {
        let Learned { seen, means, squares, .. } = &self.learned;
        let mut f = [1.0, 0.0, 0.0, occasion.recent[0], occasion.recent[1]];
        if *seen >= SEEN {
            let hold = |x: f64| x.clamp(-LARGEST_FEATURE, LARGEST_FEATURE);
            if squares[0] > 0.0 {
                // Taken apart: the square of a location in small units may be no number of its own.
                f[1] = hold((occasion.location - means[0]) / (squares[0] / seen + 1e-300).sqrt());
            }
            f[2] = hold((occasion.log_scale - means[1]) / (squares[1] / seen + 1e-4).sqrt());
        }
        f[self.features..].fill(0.0);
        f
    }

    /// The mean and the standard deviation that follow from features.
    fn distribution(&self, f: &Vector) -> (f64, f64) {
        let log_scale = dot(&self.learned.scale, f).clamp(-LARGEST_LOG_SCALE, LARGEST_LOG_SCALE);
        (dot(&self.learned.shift, f), libm::exp(log_scale))
    }
}

impl Expert for Affine {
    fn say(&self, occasion: &Occasion<'_>, said: &mut [f64], memo: &mut Vec<f64>) {
        let f = self.features(occasion);
        let (mean, std) = self.distribution(&f);
        normal::lanes::cdfs_of(occasion.levels.probits(), mean, std, said);
        memo.extend_from_slice(&f);
    }

    fn announced(&mut self, location: f64, log_scale: f64) {
        let fade = libm::exp2(-1.0 / HALF_LIFE);
        let Learned { seen, means, squares, .. } = &mut self.learned;
        *seen = fade * *seen + 1.0;
        for (i, now) in [location, log_scale].into_iter().enumerate() {
            let distance = now - means[i];
            means[i] += distance / *seen;
            squares[i] = fade * squares[i] + distance * (now - means[i]);
        }
    }

    fn learn(&mut self, told: &Told<'_>) {
        let Ok(f) = Vector::try_from(told.memo) else { return };
        let (mean, d) = self.distribution(&f);
        let x = (told.z - mean) / d;
        // The gradient of the CRPS in mean and ln scale, and its expected curvature.
        let gradient = [1.0 - 2.0 * normal::cdf(x), d * (2.0 * normal::density(x) - FRAC_1_SQRT_PI)];
        let curvature = [FRAC_1_SQRT_PI / d, 0.5 * d * FRAC_1_SQRT_PI];
        let (keep, ridge) = (libm::exp2(-1.0 / HALF_LIFE), PRIOR * FRAC_1_SQRT_PI);
        let Learned { shift, scale, curvature: sums, .. } = &mut self.learned;
        for (i, (coefficients, ridge)) in [(shift, ridge), (scale, 0.5 * ridge)].into_iter().enumerate() {
            let sum = &mut sums[i];
            for (row, &fi) in sum.iter_mut().zip(&f) {
                row.iter_mut().zip(&f).for_each(|(entry, &fj)| *entry = keep * *entry + curvature[i] * fi * fj);
            }
            let pull: Vector =
                std::array::from_fn(|k| gradient[i] * f[k] + (1.0 - keep) * ridge * coefficients[k]);
            let step = solve(sum, ridge, pull);
            let most = LARGEST_STEPS[i];
            coefficients.iter_mut().zip(step).for_each(|(c, step)| *c -= step.clamp(-most, most));
        }
    }

    fn memo_length(&self) -> usize {
        FEATURES
    }

    fn is_valid(&self) -> bool {
        let Learned { shift, scale, curvature, seen, means, squares } = &self.learned;
        let numbers = shift.iter().chain(scale).chain(curvature.iter().flatten().flatten()).chain(means);
        let diagonal = curvature.iter().all(|sum| (0..FEATURES).all(|k| sum[k][k] >= 0.0));
        let sizes = squares.iter().all(|s| *s >= 0.0 && s.is_finite()) && *seen >= 0.0 && seen.is_finite();
        numbers.into_iter().all(|x| x.is_finite()) && diagonal && sizes
    }
}

fn dot(a: &Vector, b: &Vector) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// (M + ρI)⁻¹ v for a symmetric M without negative eigenvalues, by Cholesky's factors: ρ keeps every pivot positive.
fn solve(matrix: &Matrix, ridge: f64, mut v: Vector) -> Vector {
    let mut root = [[0.0; FEATURES]; FEATURES];
    for i in 0..FEATURES {
        for j in 0..=i {
            let inner: f64 = (0..j).map(|k| root[i][k] * root[j][k]).sum();
            let entry = matrix[i][j] - inner + if i == j { ridge } else { 0.0 };
            root[i][j] = if i == j { entry.max(0.5 * ridge).sqrt() } else { entry / root[j][j] };
        }
        let inner: f64 = (0..i).map(|k| root[i][k] * v[k]).sum();
        v[i] = (v[i] - inner) / root[i][i];
    }
    for i in (0..FEATURES).rev() {
        let inner: f64 = (i + 1..FEATURES).map(|k| root[k][i] * v[k]).sum();
        v[i] = (v[i] - inner) / root[i][i];
    }
    v
}
