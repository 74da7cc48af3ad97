//! Levels and the cells between them in rows of one length, ready for vector loops.
//!
//! The cell below level j has the number j, and the last one lies above all levels. Room that is left repeats the last level, with cells of no length.

/// The length of a row: whole vectors of any width, and more than the 25 levels of a default map.
pub(crate) const ROW: usize = 32;

/// Room for levels: more than the 25 of a default map, with a cell above the last.
pub(crate) const ROOM: usize = ROW - 1;

/// The cells of no more than [`ROOM`] levels.
#[derive(Debug, Clone, PartialEq)]
#[repr(align(64))]
pub(crate) struct Cells {
    /// The probit scores of the levels.
    pub(crate) levels: [f64; ROW],
    /// How far each level lies above the one before it; 0 where there is none.
    pub(crate) rises: [f64; ROW],
    /// 1 where there is a level, and 0 in the room that is left.
    pub(crate) used: [f64; ROW],
}

impl Cells {
    /// The cells of increasing probit scores; `None` where there are too many of them.
    pub(crate) fn of(probits: &[f64]) -> Option<Self> {
        let last = probits.len().checked_sub(1).filter(|&last| last < ROOM)?;
        let levels: [f64; ROW] = std::array::from_fn(|j| probits[j.min(last)]);
        Some(Cells {
            levels,
            rises: std::array::from_fn(|j| levels[j] - levels[j.saturating_sub(1)]),
            used: std::array::from_fn(|j| if j <= last { 1.0 } else { 0.0 }),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]
mod tests {
    use super::*;

    #[test]
    fn cells_lie_between_levels() {
        let cells = Cells::of(&[-1.0, 0.5, 2.0]).unwrap();
        assert_eq!(cells.levels[..5], [-1.0, 0.5, 2.0, 2.0, 2.0]);
        assert_eq!(cells.rises[..5], [0.0, 1.5, 1.5, 0.0, 0.0]);
        assert_eq!(cells.used[..5], [1.0, 1.0, 1.0, 0.0, 0.0]);
        assert_eq!(Cells::of(&[0.0; ROOM + 1]), None);
        assert!(Cells::of(&[0.0; ROOM]).is_some());
    }
}
