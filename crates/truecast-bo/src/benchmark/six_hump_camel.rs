//! The six-hump camel: six local minima, two of them global.
//!
//! ```text
//! f(x, y) = (4 − 2.1 x² + x⁴/3) x² + xy + (4y² − 4) y²
//! least     −1.0316284534898774 at ±(0.0898420136830133, −0.7126564032704135)
//! ```
//!
//! The usual domains are [−3, 3] × [−2, 2], and the part of it around the minima, [−2, 2] × [−1, 1], which is GPyOpt's.

pub(super) const WIDE: [(f64, f64); 2] = [(-3.0, 3.0), (-2.0, 2.0)];
pub(super) const NARROW: [(f64, f64); 2] = [(-2.0, 2.0), (-1.0, 1.0)];
pub(super) const MINIMUM: (f64, [f64; 2]) =
    (-1.031_628_453_489_877_4, [0.089_842_013_683_013_3, -0.712_656_403_270_413_5]);

pub(super) fn value(x: f64, y: f64) -> f64 {
    let (square, other) = (x * x, y * y);
    (4.0 - 2.1 * square + square * square / 3.0) * square + x * y + (4.0 * other - 4.0) * other
}
