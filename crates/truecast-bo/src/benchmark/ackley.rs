//! Ackley's function: a funnel under a lattice of local minima.
//!
//! ```text
//! f(x) = 20 + e − 20 exp(−0.2 √(Σ x_k²/d)) − exp(Σ cos(2π x_k)/d),   x_k in [−32.768, 32.768],   f(0) = 0
//! ```
//!
//! GPyOpt, with which the paper ran, has the same domain.

use std::f64::consts::{E, TAU};

pub(super) const BOUNDS: (f64, f64) = (-32.768, 32.768);

pub(super) fn value(x: &[f64]) -> f64 {
    let d = x.len() as f64;
    let square = x.iter().map(|x| x * x).sum::<f64>() / d;
    let wave = x.iter().map(|x| libm::cos(TAU * x)).sum::<f64>() / d;
    // e − e^w = −e (e^(w−1) − 1), so that the value is exactly 0 at 0.
    20.0 * -libm::expm1(-0.2 * square.sqrt()) - E * libm::expm1(wave - 1.0)
}
