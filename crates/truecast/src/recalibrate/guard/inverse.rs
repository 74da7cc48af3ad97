//! Where the guard has a quantile: what depends on the quantile alone, and can be kept for all forecasts, apart from what depends on the knots.

use super::{COUNT, GRID, Grid, Knots};

/// Where a calibrated probit score lies among the guarded quantiles: the same for all knots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::recalibrate) enum Inverse {
    /// So far below the first of them, or above the last.
    Below(f64),
    Above(f64),
    /// So far above the one with this number, or below it, as a part of the way to the next one on that side.
    FromLower(usize, f64),
    FromUpper(usize, f64),
}

impl Inverse {
    /// For a score, once and for all knots.
    pub(in crate::recalibrate) fn at(t: f64) -> Self {
        Inverse::new(&GRID, t)
    }

    #[inline]
    pub(super) fn new(grid: &Grid, t: f64) -> Self {
        let (probits, last) = (&grid.probits, COUNT - 1);
        if t <= probits[0] {
            return Inverse::Below(t - probits[0]);
        }
        if t >= probits[last] {
            return Inverse::Above(t - probits[last]);
        }
        let i = grid.below(t).clamp(1, last);
        let run = probits[i] - probits[i - 1];
        let (from, to) = (t - probits[i - 1], probits[i] - t);
        // From the nearer knot, so that one at the end of the line costs the other no digits.
        if from < to { Inverse::FromLower(i - 1, from / run) } else { Inverse::FromUpper(i, to / run) }
    }

    /// The ledger probit score there.
    #[inline]
    pub(in crate::recalibrate) fn of(self, knots: &Knots) -> f64 {
        let x = &knots.knots;
        match self {
            Inverse::Below(distance) => x[0] + distance,
            Inverse::Above(distance) => x[COUNT - 1] + distance,
            // Rounding must not carry it past the knot that the next piece starts from.
            Inverse::FromLower(i, part) => {
                let (low, high) = (x[i], x[i + 1]);
                (low + (high - low) * part).clamp(low, high)
            }
            Inverse::FromUpper(i, part) => {
                let (low, high) = (x[i - 1], x[i]);
                (high - (high - low) * part).clamp(low, high)
            }
        }
    }
}
