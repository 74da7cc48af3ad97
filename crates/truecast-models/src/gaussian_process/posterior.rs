//! The posterior of a Gaussian process at given hyperparameters.
//!
//! ```text
//! K = [k(x_i, x_j)] + noise I = L Lᵀ,   a = K⁻¹(y − m),   m = 1ᵀK⁻¹y / 1ᵀK⁻¹1 (or fixed)
//! mean at x      m + kᵀa                      ∂/∂x = (∂k/∂x)ᵀ a
//! variance at x  v − kᵀK⁻¹k                   ∂/∂x = −2 (∂k/∂x)ᵀ K⁻¹k         (noise is added for an outcome)
//! log evidence   −½ (y − m)ᵀa − Σ ln L_ii − n/2 ln 2π
//!   its gradient ½ tr((a aᵀ − K⁻¹) ∂K/∂θ), the same for the fitted m as for a fixed one, since the fitted m maximises it
//! without row i  mean y_i − a_i/[K⁻¹]_ii,  variance 1/[K⁻¹]_ii
//! ```
//!
//! Source: Rasmussen & Williams (2006), algorithm 2.1, 5.4.1 and (5.10)–(5.12). m counts as known. O(n³) to build, O(n²) to add a row and to predict
//! a variance, O(n³ + n² d) for the evidence with its gradient and for all leave-one-out forecasts.
//!
//! Where K has no Cholesky factor in `f64` (rows repeat without noise, or lie much closer than a length scale), a jitter of 1e-12 v, then ten times as
//! much and so on up to 1e-6 v is added to its diagonal; beyond that the fit is refused. So are equal rows with different outcomes and no noise.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use truecast::Gaussian;

use super::kernel::{Hyperparameters, Kernel, square_distance};
use crate::error::{self, Error, Result};

/// Rows of inputs, one after the other, and their outcomes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) width: usize,
    pub(super) inputs: &'a [f64],
    pub(super) outcomes: &'a [f64],
}

impl<'a> Rows<'a> {
    pub(super) fn count(&self) -> usize {
        self.outcomes.len()
    }

    pub(super) fn row(&self, i: usize) -> &'a [f64] {
        &self.inputs[i * self.width..(i + 1) * self.width]
    }

    /// All inputs in length scales.
    fn scaled(&self, at: &Hyperparameters) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.inputs.len());
        self.inputs.chunks(self.width).for_each(|row| at.scaled(row, &mut out));
        out
    }
}

/// First and last jitter, relative to the signal variance.
const JITTERS: (f64, f64) = (1e-12, 1e-6);

/// Half of ln 2π.
const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;

#[derive(Debug, Clone)]
pub(super) struct Posterior {
    /// The rows' inputs in length scales.
    scaled: Vec<f64>,
    factor: Cholesky<f64, Dyn>,
    jitter: f64,
    mean: f64,
    weights: DVector<f64>,
}

impl PartialEq for Posterior {
    fn eq(&self, other: &Self) -> bool {
        self.factor.l_dirty() == other.factor.l_dirty()
            && (self.jitter, self.mean) == (other.jitter, other.mean)
            && self.weights == other.weights
    }
}

/// The function at one point: mean, standard deviation and their gradients in the inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Latent {
    /// Mean.
    pub mean: f64,
    /// Standard deviation, at least what rounding leaves of it: √(ε v).
    pub std: f64,
    /// Gradient of the mean.
    pub mean_gradient: Vec<f64>,
    /// Gradient of the standard deviation.
    pub std_gradient: Vec<f64>,
}

impl Posterior {
    /// `fixed_mean` is m, where it is not fitted.
    pub(super) fn new(
        kernel: Kernel,
        at: &Hyperparameters,
        rows: Rows<'_>,
        fixed_mean: Option<f64>,
    ) -> Result<Self> {
        let n = rows.count();
        if n == 0 {
            return Err(Error::NotEnoughOutcomes { least: 1, found: 0 });
        }
        let (v, noise) = (at.signal_variance(), at.noise_variance());
        let scaled = rows.scaled(at);
        scaled.iter().try_for_each(|&x| error::computed("an input in length scales", x).map(|_| ()))?;
        let row = |i: usize| &scaled[i * rows.width..(i + 1) * rows.width];
        let mut matrix = DMatrix::zeros(n, n);
        let mut closest = f64::INFINITY;
        for j in 0..n {
            matrix[(j, j)] = v + noise;
            for i in j + 1..n {
                let square = square_distance(row(i), row(j));
                closest = closest.min(square);
                let (left, right) = (rows.outcomes[j], rows.outcomes[i]);
                if square == 0.0 && noise == 0.0 && left != right {
                    return Err(Error::Contradiction { first: j, second: i, left, right });
                }
                matrix[(i, j)] = v * kernel.shape(square).0;
            }
        }
        let mut jitter = 0.0;
        loop {
            // Only the lower triangle is read.
            if let Some(factor) = Cholesky::new(matrix.clone()).filter(|factor| is_known(factor, v + noise)) {
                let mut posterior =
                    Posterior { scaled, factor, jitter, mean: 0.0, weights: DVector::zeros(n) };
                posterior.solve(rows, fixed_mean)?;
                return Ok(posterior);
            }
            let next = if jitter == 0.0 { JITTERS.0 * v } else { 10.0 * jitter };
            if next > 1.5 * JITTERS.1 * v || !next.is_finite() {
                let (diagonal, closest) = (v + noise, closest.sqrt());
                return Err(Error::NotPositiveDefinite { rows: n, jitter, diagonal, closest });
            }
            for i in 0..n {
                matrix[(i, i)] += next - jitter;
            }
            jitter = next;
        }
    }

    /// With one more row, the last of `rows`, in O(n²); `None` where rounding asks for a new factorisation.
    pub(super) fn extended(
        &self,
        kernel: Kernel,
        at: &Hyperparameters,
        rows: Rows<'_>,
        fixed_mean: Option<f64>,
    ) -> Result<Option<Self>> {
        let n = rows.count() - 1;
        let diagonal = at.signal_variance() + at.noise_variance() + self.jitter;
        let mut scaled = self.scaled.clone();
        at.scaled(rows.row(n), &mut scaled);
        let mut column = self.covariances(kernel, at, &scaled[n * rows.width..]);
        self.factor.l_dirty().solve_lower_triangular_mut(&mut column);
        let left = diagonal - column.norm_squared();
        // With a jitter the new row may not need it, or may contradict another: looked at from the start.
        if self.jitter > 0.0 || left.is_nan() || left <= least_pivot(n + 1, diagonal) {
            return Ok(None);
        }
        let mut l = self.factor.l_dirty().clone().resize(n + 1, n + 1, 0.0);
        for k in 0..n {
            l[(n, k)] = column[k];
        }
        l[(n, n)] = left.sqrt();
        let factor = Cholesky::pack_dirty(l);
        let weights = DVector::zeros(n + 1);
        let mut posterior = Posterior { scaled, factor, jitter: self.jitter, mean: 0.0, weights };
        posterior.solve(rows, fixed_mean)?;
        Ok(Some(posterior))
    }

    fn solve(&mut self, rows: Rows<'_>, fixed_mean: Option<f64>) -> Result<()> {
        let y = DVector::from_column_slice(rows.outcomes);
        let ones = DVector::from_element(rows.count(), 1.0);
        let (of_y, of_ones) = (self.factor.solve(&y), self.factor.solve(&ones));
        let mean = fixed_mean.unwrap_or_else(|| of_y.sum() / of_ones.sum());
        self.mean = error::computed("the mean", mean)?;
        self.weights = of_y - of_ones * mean;
        error::computed("a weight", self.weights.sum())?;
        Ok(())
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    pub(super) fn jitter(&self) -> f64 {
        self.jitter
    }

    /// Covariances of the rows with a point in length scales.
    fn covariances(&self, kernel: Kernel, at: &Hyperparameters, point: &[f64]) -> DVector<f64> {
        let v = at.signal_variance();
        let covariance = |row| v * kernel.shape(square_distance(row, point)).0;
        DVector::from_iterator(self.weights.len(), self.scaled.chunks(point.len()).map(covariance))
    }

    /// Mean and variance of the function at `x`; the variance is at least ε v.
    pub(super) fn latent(&self, kernel: Kernel, at: &Hyperparameters, x: &[f64]) -> (f64, f64) {
        let mut point = Vec::with_capacity(x.len());
        at.scaled(x, &mut point);
        let mut k = self.covariances(kernel, at, &point);
        let mean = self.mean + k.dot(&self.weights);
        self.factor.l_dirty().solve_lower_triangular_mut(&mut k);
        let v = at.signal_variance();
        (mean, (v - k.norm_squared()).max(f64::EPSILON * v))
    }

    /// [`latent`](Self::latent) with gradients in `x`.
    pub(super) fn latent_gradient(&self, kernel: Kernel, at: &Hyperparameters, x: &[f64]) -> Latent {
        let (mean, variance) = self.latent(kernel, at, x);
        let std = variance.sqrt();
        let mut point = Vec::with_capacity(x.len());
        at.scaled(x, &mut point);
        let solved = self.factor.solve(&self.covariances(kernel, at, &point));
        let (mut mean_gradient, mut std_gradient) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        for (i, row) in self.scaled.chunks(x.len()).enumerate() {
            let slope = 2.0 * at.signal_variance() * kernel.shape(square_distance(row, &point)).1;
            if slope == 0.0 {
                // Out of reach; its distance may leave the range of f64.
                continue;
            }
            for k in 0..x.len() {
                let part = slope * (point[k] - row[k]) / at.length(k);
                mean_gradient[k] += part * self.weights[i];
                std_gradient[k] -= part * solved[i] / std;
            }
        }
        Latent { mean, std, mean_gradient, std_gradient }
    }

    /// K⁻¹ = L⁻ᵀ L⁻¹, as a product, which is several times as fast as solving for each column.
    fn inverse(&self) -> DMatrix<f64> {
        let n = self.weights.len();
        let mut root = DMatrix::identity(n, n);
        let l = self.factor.l_dirty();
        for j in 0..n {
            // Column j of L⁻¹ is zero above j.
            let mut column = root.view_mut((j, j), (n - j, 1));
            l.view((j, j), (n - j, n - j)).solve_lower_triangular_mut(&mut column);
        }
        root.tr_mul(&root)
    }

    /// ln p(y).
    pub(super) fn log_evidence(&self, rows: Rows<'_>) -> f64 {
        let l = self.factor.l_dirty();
        let mut sum = -HALF_LN_TAU * rows.count() as f64;
        for (i, y) in rows.outcomes.iter().enumerate() {
            sum -= 0.5 * (y - self.mean) * self.weights[i] + libm::log(l[(i, i)]);
        }
        sum
    }

    /// Gradient of ln p(y) in (ln v, ln ℓ…, ln noise).
    pub(super) fn log_evidence_gradient(&self, kernel: Kernel, at: &Hyperparameters) -> Vec<f64> {
        let n = self.weights.len();
        let width = self.scaled.len() / n;
        let row = |i: usize| &self.scaled[i * width..(i + 1) * width];
        let v = at.signal_variance();
        let inverse = self.inverse();
        let lengths = at.length_scales().len();
        let mut gradient = vec![0.0; lengths + 2];
        for j in 0..n {
            let own = self.weights[j] * self.weights[j] - inverse[(j, j)];
            gradient[0] += 0.5 * own * v;
            gradient[lengths + 1] += 0.5 * own * at.noise_variance();
            for i in j + 1..n {
                let (left, right) = (row(i), row(j));
                let square = square_distance(left, right);
                let (g, slope) = kernel.shape(square);
                // Each pair stands for two entries, so that the ½ is gone.
                let pair = v * (self.weights[i] * self.weights[j] - inverse[(i, j)]);
                gradient[0] += pair * g;
                let bend = -2.0 * pair * slope;
                if lengths == 1 {
                    gradient[1] += bend * square;
                } else {
                    for (entry, (a, b)) in gradient[1..].iter_mut().zip(left.iter().zip(right)) {
                        *entry += bend * ((a - b) * (a - b));
                    }
                }
            }
        }
        gradient
    }

    /// The forecast of each outcome by all the others, at the same hyperparameters and mean.
    pub(super) fn leave_one_out(&self, rows: Rows<'_>) -> Result<Vec<Gaussian>> {
        let inverse = self.inverse();
        (0..rows.count())
            .map(|i| {
                let variance = 1.0 / inverse[(i, i)];
                let mean = rows.outcomes[i] - self.weights[i] * variance;
                Ok(Gaussian::new(
                    error::computed("a mean", mean)?,
                    error::computed("a variance", variance)?.sqrt(),
                )?)
            })
            .collect()
    }
}

/// A pivot of this size, the rounding of a sum of n terms, or less says nothing.
fn least_pivot(n: usize, diagonal: f64) -> f64 {
    2.0 * f64::EPSILON * n as f64 * diagonal
}

/// True where every pivot is more than rounding.
fn is_known(factor: &Cholesky<f64, Dyn>, diagonal: f64) -> bool {
    let l = factor.l_dirty();
    let least = least_pivot(l.nrows(), diagonal);
    (0..l.nrows()).all(|i| l[(i, i)] * l[(i, i)] > least)
}
