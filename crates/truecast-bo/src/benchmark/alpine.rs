//! The first function of Alpine: a sum of ridges, not differentiable at its many minima.
//!
//! ```text
//! f(x) = Σ |x_k sin x_k + 0.1 x_k|,   x_k in [−10, 10],   f(0) = 0
//! ```
//!
//! The minimum is not unique: f is also 0 where sin x_k = −0.1. GPyOpt has the same domain.

pub(super) const BOUNDS: (f64, f64) = (-10.0, 10.0);

pub(super) fn value(x: &[f64]) -> f64 {
    x.iter().map(|x| (x * libm::sin(*x) + 0.1 * x).abs()).sum()
}
