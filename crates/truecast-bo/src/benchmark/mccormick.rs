//! McCormick's function: a valley with a wave across it.
//!
//! ```text
//! f(x, y) = sin(x + y) + (x − y)² − 1.5 x + 2.5 y + 1   on [−1.5, 4] × [−3, 4]
//! least    −√3/2 − π/3 at (½ − π/3, −½ − π/3)
//! ```
//!
//! GPyOpt has the same domain.

use std::f64::consts::FRAC_PI_3;

pub(super) const BOUNDS: [(f64, f64); 2] = [(-1.5, 4.0), (-3.0, 4.0)];

pub(super) fn value(x: f64, y: f64) -> f64 {
    libm::sin(x + y) + (x - y) * (x - y) - 1.5 * x + 2.5 * y + 1.0
}

pub(super) fn minimum() -> (f64, [f64; 2]) {
    (-0.5 * 3.0_f64.sqrt() - FRAC_PI_3, [0.5 - FRAC_PI_3, -0.5 - FRAC_PI_3])
}
