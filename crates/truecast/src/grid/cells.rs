//! Levels and the cells between them in rows of one length, ready for vector loops.
//!
//! The cell below level j has the number j, and the last one lies above all levels. Room that is left repeats the last level.

use crate::lanes::LANES;
use crate::normal::rows::ROW;

/// Room for levels: more than the 25 of a default map.
pub(crate) const ROOM: usize = ROW;

/// Room for cells, in whole lanes. A power of two, so that an index is a remainder.
pub(crate) const CELLS: usize = ROOM + LANES;

/// The cells of no more than [`ROOM`] levels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cells {
    /// The probit score at the lower end of each cell; below all levels, at the upper end.
    pub(crate) from: [f64; CELLS],
    /// From the lower to the upper end; 0 beyond the outer levels.
    pub(crate) rises: [f64; CELLS],
}

impl Cells {
    /// The cells of increasing probit scores; `None` where there are too many of them.
    pub(crate) fn of(probits: &[f64]) -> Option<Self> {
        let last = probits.len().checked_sub(1).filter(|&last| last < ROOM)?;
        let from: [f64; CELLS] = std::array::from_fn(|c| probits[c.saturating_sub(1).min(last)]);
        let to = |c: usize| probits[c.min(last)];
        Some(Cells { from, rises: std::array::from_fn(|c| to(c) - from[c]) })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]
mod tests {
    use super::*;

    #[test]
    fn cells_lie_between_levels() {
        let cells = Cells::of(&[-1.0, 0.5, 2.0]).unwrap();
        assert_eq!(cells.from[..6], [-1.0, -1.0, 0.5, 2.0, 2.0, 2.0]);
        assert_eq!(cells.rises[..6], [0.0, 1.5, 1.5, 0.0, 0.0, 0.0]);
        assert_eq!(Cells::of(&[0.0; ROOM + 1]), None);
        assert!(Cells::of(&[0.0; ROOM]).is_some());
    }
}
