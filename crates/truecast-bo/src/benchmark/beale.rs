//! Beale's function, and the one that GPyOpt calls by this name.
//!
//! ```text
//! Beale    f(x, y) = (1.5 − x + xy)² + (2.25 − x + xy²)² + (2.625 − x + xy³)²   on [−4.5, 4.5]²,   f(3, 0.5) = 0
//! GPyOpt   f(x, y) = −100 (y − x²)² − (x − 1)²                                  on [−1, 1]²,       f(−1, −1) = −404
//! ```
//!
//! `beale` of GPyOpt 1.2.6 is Rosenbrock's function with its sign changed, so that the least value is in a corner; the paper's figure of
//! "Beale" was drawn with GPyOpt. Both are here.

pub(super) const BOUNDS: (f64, f64) = (-4.5, 4.5);
pub(super) const GPYOPT_BOUNDS: (f64, f64) = (-1.0, 1.0);

pub(super) fn value(x: f64, y: f64) -> f64 {
    let square = |target: f64, power: f64| {
        let off = target - x + x * power;
        off * off
    };
    square(1.5, y) + square(2.25, y * y) + square(2.625, y * y * y)
}

pub(super) fn gpyopt(x: f64, y: f64) -> f64 {
    let bend = y - x * x;
    -100.0 * bend * bend - (x - 1.0) * (x - 1.0)
}
