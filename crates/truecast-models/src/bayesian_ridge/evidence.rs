//! Evidence maximisation in the eigenbasis of the Gram matrix.
//!
//! For y = Xw + noise of precision α, with w ~ N(0, 1/λ) and gamma priors on α and λ, MacKay's fixed point is
//!
//! ```text
//! XᵀX = V S² Vᵀ,  b = S⁻¹VᵀXᵀy,  r = λ/α
//! w   = V [s b/(s² + r)]                                       posterior mean
//! γ   = Σ s²/(s² + r)                                          directions that the data determine
//! e   = Σ (b r/(s² + r))² + ρ²                                 squared error of w; ρ² that of least squares
//! λ  ← (γ + 2·weight_shape)/(‖w‖² + 2·weight_rate)
//! α  ← (n − γ + 2·noise_shape)/(e + 2·noise_rate)
//! ```
//!
//! from α = 1/(var y + ε), λ = 1. S, V and b come from R (`spectrum.rs`), not from the eigenvalues of RᵀR,
//! whose error of ε times the *largest* eigenvalue would drown the small ones. O(d³) once, then O(d) per iteration: the sum
//! Σ|Δw| of [`Stop::Change`] needs V and O(d²), but ‖Δw‖₂ ≤ Σ|Δw| ≤ √d ‖Δw‖₂ mostly decides without.
//!
//! Assumes finite entries. Source: MacKay (1992), Neural Computation 4, 415–447; Tipping (2001), JMLR 1, 211–244; the stop and the start are those of
//! scikit-learn's `BayesianRidge`.

use super::parameters::{BayesianRidgeBuilder, Stop};
use super::spectrum::Spectrum;
use crate::error::{self, Error, Result};
use crate::triangle::Triangle;

/// Where the evidence is largest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Maximum {
    pub(super) noise_precision: f64,
    pub(super) weight_precision: f64,
    pub(super) iterations: usize,
    pub(super) converged: bool,
}

/// Relative change of the precisions that counts as none: some thousand roundings.
const STEADY: f64 = 1e-12;

/// The precisions that maximise the evidence of `count` centred rows.
pub(super) fn maximise(root: &Triangle, count: u64, parameters: &BayesianRidgeBuilder) -> Result<Maximum> {
    let with_basis = matches!(parameters.stop, Stop::Change(_));
    let Spectrum { singular, rotated, outside, basis } = Spectrum::of(root, with_basis)?;
    let d = singular.len();
    let n = count as f64;
    let residual = root.residual() + outside;
    let spread = rotated.iter().map(|b| b * b).sum::<f64>() + residual;
    let (mut alpha, mut lambda) = (1.0 / (spread / n + f64::EPSILON), 1.0);
    let (mut weights, mut before) = (vec![0.0; d], vec![0.0; d]);
    for iteration in 1..=parameters.most_iterations {
        let ratio = lambda / alpha;
        let (mut gamma, mut error, mut norm) = (0.0, residual, 0.0);
        for k in 0..d {
            let (s, b) = (singular[k], rotated[k]);
            let whole = s * s + ratio;
            weights[k] = s * b / whole;
            let missed = b * (ratio / whole);
            gamma += s * s / whole;
            error += missed * missed;
            norm += weights[k] * weights[k];
        }
        let last = (alpha, lambda);
        lambda = (gamma + 2.0 * parameters.weight_shape) / (norm + 2.0 * parameters.weight_rate);
        alpha = (n - gamma + 2.0 * parameters.noise_shape) / (error + 2.0 * parameters.noise_rate);
        for (what, value) in [("the noise precision", alpha), ("the weights' precision", lambda)] {
            error::computed(what, value)?;
            if value <= 0.0 {
                return Err(Error::OutOfRange { what, value });
            }
        }
        let converged = match parameters.stop {
            Stop::FixedPoint => {
                (alpha - last.0).abs() <= STEADY * alpha && (lambda - last.1).abs() <= STEADY * lambda
            }
            Stop::Change(change) => iteration > 1 && has_settled(&weights, &before, basis.as_deref(), change),
        };
        if converged || iteration == parameters.most_iterations {
            return Ok(Maximum {
                noise_precision: alpha,
                weight_precision: lambda,
                iterations: iteration,
                converged,
            });
        }
        std::mem::swap(&mut weights, &mut before);
    }
    Err(Error::NoConvergence { what: "the evidence" })
}

/// Σ|Δw| < change, in the coordinates of the inputs.
fn has_settled(weights: &[f64], before: &[f64], basis: Option<&[Vec<f64>]>, change: f64) -> bool {
    let moved: Vec<f64> = weights.iter().zip(before).map(|(new, old)| new - old).collect();
    let norm = moved.iter().map(|m| m * m).sum::<f64>().sqrt();
    // The factors keep roundings of the norm out of the decision.
    if norm >= change * 1.000_001 {
        return false;
    }
    if norm * (weights.len() as f64).sqrt() < change * 0.999_999 {
        return true;
    }
    let mut total = vec![0.0; weights.len()];
    for (column, m) in basis.unwrap_or_default().iter().zip(&moved) {
        total.iter_mut().zip(column).for_each(|(total, v)| *total += v * m);
    }
    total.iter().map(|change| change.abs()).sum::<f64>() < change
}
