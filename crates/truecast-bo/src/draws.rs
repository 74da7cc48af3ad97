//! Seeded draws without state: a function of (seed, purpose, step, lane), so that a resumed run repeats an uninterrupted one.

use truecast::random;

/// What a draw is for; each has a sequence of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    /// Coordinates of a random design.
    Design = 1,
    /// Orders of the cells of a Latin hypercube.
    Order = 2,
    /// Candidates for the next point.
    Candidates = 3,
    /// The next point, where the surrogate has none.
    Fallback = 4,
    /// The quantile of Thompson sampling.
    Thompson = 5,
    /// Points at which coverage is measured.
    Coverage = 6,
    /// Seeds of runs.
    Runs = 7,
}

/// The seed of one purpose, derived from that of the study.
pub(crate) fn seed(seed: u64, purpose: Purpose) -> u64 {
    // 52 bits of a draw that is itself a function of (seed, purpose).
    (random::uniform(seed, purpose as u64, 0) * (1u64 << 52) as f64) as u64
}

/// A point of the unit cube, one lane for each coordinate.
pub(crate) fn point(seed: u64, step: u64, width: usize) -> Vec<f64> {
    (0..width).map(|k| random::uniform(seed, step, k as u32)).collect()
}
