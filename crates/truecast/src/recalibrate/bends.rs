//! The inverse of a map as its bends: where its slope changes, and by how much.
//!
//! The inverse of R_t, from the ledger's probit score r to the base's score z, is piecewise linear and bends at the levels. An integral of its
//! slope e against f(r) with antiderivative −F is then a sum over the bends:
//!
//! ```text
//! ∫ e f dr = Σ F(r_j) (e_j⁺ − e_j⁻) + Σ f · rise over jumps,      e⁻, e⁺ the slopes before and after a level
//! ```
//!
//! The guard's part is in f and F, see [`integrals`](super::guard): what they need at a level is looked up in the guard's cell in which it lies.
//! At the calibrated median, where f jumps, F does too. Without a guard, one that changes nothing takes its place.
//!
//! A level that rises by almost nothing makes e large, and the terms of the two levels cancel. So where the run of a cell in calibrated score is
//! [`SHORT`], and the guard does not bend in it, it counts as a jump, of which the run is given: whoever adds up makes a correction for it.
//!
//! The formulas stand here, for eight numbers at once: [`alone`] they belong to eight levels of one map, [`together`] to one level of eight maps. Both
//! find the same bits.
//!
//! Cost: Φ⁻¹ once per level, no allocation. [`Walk`](super::Walk) is for maps of more levels.

pub(crate) mod alone;
pub(crate) mod together;

use fearless_simd::{Simd, f64x8, mask64x8, prelude::*};

use super::guard::{self, Cell, Knots};
use super::map::{Map, MapShape};
use crate::grid::cells::Cells;
use crate::lanes::Number;

/// Below this the run of a cell in calibrated score is so short that the cell counts as a jump.
const SHORT: f64 = 0.03;

/// Which of the guarded quantiles is the median.
const MEDIAN: usize = guard::COUNT / 2;

/// The cells of a map without steps, and with no more levels than there is room for: those whose bends can be had.
pub(crate) fn serve(map: &Map) -> Option<&Cells> {
    map.levels().cells().filter(|_| map.shape() == MapShape::Probit)
}

/// Levels as the guard sees them, one to a lane.
#[derive(Clone, Copy)]
pub(crate) struct Guarded<S: Simd> {
    /// The calibrated score x.
    pub(crate) calibrated: f64x8<S>,
    /// γ = dr/dx.
    pub(crate) slope: f64x8<S>,
    /// What the two antiderivatives are beside those of the normal distribution.
    pub(crate) area: f64x8<S>,
    pub(crate) moment: f64x8<S>,
    /// From the level before to this one in calibrated score; 1 where the guard bends between them.
    pub(crate) run: f64x8<S>,
}

impl<S: Simd> Guarded<S> {
    /// Levels with their scores, and how far these lie above those of the levels before, in the guard's cells that hold them.
    #[inline(always)]
    fn new(score: f64x8<S>, run: f64x8<S>, cell: &Cell<S>) -> Self {
        let offset = score - cell.from;
        Guarded {
            calibrated: cell.anchor + offset * cell.per_slope,
            slope: cell.slope,
            area: cell.u,
            moment: cell.v - cell.u * offset,
            run: offset.simd_ge(run).select(run * cell.per_slope, score.everywhere(1.0)),
        }
    }

    /// Where the cells below levels count as jumps.
    #[inline(always)]
    pub(crate) fn is_jump(&self) -> mask64x8<S> {
        self.run.simd_lt(SHORT)
    }

    /// e below levels that rise by so much over so long a run.
    #[inline(always)]
    fn slope_below(&self, rise: f64x8<S>, run: f64x8<S>) -> f64x8<S> {
        self.is_jump().select(rise.everywhere(0.0), rise / run)
    }
}

#[inline(always)]
fn knots(map: &Map) -> &Knots {
    map.guard().unwrap_or_else(|| Knots::identity())
}
