//! The inverse of a map as its bends: where its slope changes, and by how much.
//!
//! h, from the calibrated probit score x to the base's score z, is piecewise linear, and bends at every level and at every guarded quantile.
//! An integral of h′ against some f with antiderivative −F is then a sum over the bends, in any order:
//!
//! ```text
//! ∫ h′ f dx = Σ F(x_i) (s_i⁺ − s_i⁻) + Σ f · rise over jumps,      s⁻, s⁺ the slopes before and after a bend
//! s = e γ,    e = dz/dr of R_t's inverse, between two levels;    γ = dr/dx of the guard's inverse, between two guarded quantiles
//! ```
//!
//! So the two sorted lists need not be merged: a level must know between which guarded quantiles it lies, and a guarded quantile between
//! which levels. Calibrated scores of guarded quantiles are the same for every map, and F is found there in a table. h
//! jumps where two levels have one r_j, and has an atom where the guard pooled (γ = 0). As everywhere, a guarded quantile that falls on a level
//! comes first. The calibrated median is a guarded quantile. Without a guard, one that changes nothing takes its place.
//!
//! A level that rises by almost nothing makes e large, and sums over bends cancel: whoever adds them up looks after that.
//!
//! Cost: Φ⁻¹ once per level, each guarded quantile compared with every level, no allocation. [`Walk`](super::Walk) is for maps of
//! more levels.

use super::guard::{self, Grid, Knots};
use super::map::{Map, MapShape, clip};
use crate::lanes::{LANES, Quad};
use crate::normal::rows::{self, ROW};

/// Room for bends of either kind: the 27 guarded quantiles, and more than the 25 levels of a default map.
pub(crate) const ROOM: usize = ROW;

/// Room for what lies between them, in whole lanes. A power of two, so that an index is a remainder.
const CELLS: usize = ROOM + LANES;

/// Which of the guarded quantiles is the median.
const MEDIAN: usize = guard::COUNT / 2;

/// The bends of a map's inverse.
///
/// In lists of [`CELLS`] the cell below knot i has the number i, and the knot itself stands at i + 1, after one that repeats the first. Levels stand in the
/// middle of their room: before them their first repeats, after them their last, and nothing bends there.
#[derive(Debug)]
pub(crate) struct Bends<'a> {
    grid: &'a Grid,
    /// r_j, z_j, and e between them: 0 where two levels have one score.
    ledger: [f64; CELLS],
    levels: [f64; CELLS],
    ledger_slopes: [f64; CELLS],
    /// The guard's knots, and γ between them.
    guard: [f64; CELLS],
    guard_slopes: [f64; CELLS],
    /// Base scores of the guarded quantiles, and e there.
    guarded: [f64; ROOM],
    ledger_slopes_there: [f64; ROOM],
    /// Calibrated scores of the levels, and γ there.
    calibrated: [f64; ROOM],
    guard_slopes_there: [f64; ROOM],
}

/// A bend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bend {
    /// The base score z.
    pub(crate) base: f64,
    /// s⁺ − s⁻.
    pub(crate) change: f64,
    /// s⁺ + s⁻.
    pub(crate) both: f64,
}

impl<'a> Bends<'a> {
    /// Whether a map has no steps, and no more levels than there is room for.
    pub(crate) fn serve(map: &Map) -> bool {
        map.shape() == MapShape::Probit && map.levels().count() <= ROOM
    }

    /// For a map that they [`serve`](Bends::serve). Large, and so to be [filled](Bends::fill) where they stand.
    #[inline(always)]
    pub(crate) fn empty(map: &'a Map) -> Self {
        Bends {
            grid: knots(map).grid(),
            ledger: [0.0; CELLS],
            levels: [0.0; CELLS],
            ledger_slopes: [0.0; CELLS],
            guard: [0.0; CELLS],
            guard_slopes: [1.0; CELLS],
            guarded: [0.0; ROOM],
            ledger_slopes_there: [0.0; ROOM],
            calibrated: [0.0; ROOM],
            guard_slopes_there: [0.0; ROOM],
        }
    }

    /// A part of vector loops elsewhere.
    #[inline(always)]
    pub(crate) fn fill(&mut self, map: &Map) {
        let count = map.levels().count();
        let first = (ROOM - count) / 2;
        self.place_levels(map, first, count);
        let per_slope = self.place_guard(knots(map));
        let cells = self.cells_of_guarded(first, count);
        let mut at_most = [0_u8; CELLS];
        for (k, cell) in cells.as_flattened()[..guard::COUNT].iter().enumerate() {
            let j = cell.to_bits() as usize % CELLS;
            at_most[j] = (k + 1) as u8;
            let slope = self.ledger_slopes[j];
            self.guarded[k] = self.levels[j] + (self.guard[k + 1] - self.ledger[j]) * slope;
            self.ledger_slopes_there[k] = slope;
        }
        // How many guarded quantiles lie at or below a level: as many as for the one before, or more.
        let mut below = 0;
        for j in 0..ROOM {
            below = at_most[j].max(below);
            let k = usize::from(below) % CELLS;
            self.calibrated[j] = self.grid.anchors[k] + (self.ledger[j + 1] - self.guard[k]) * per_slope[k];
            self.guard_slopes_there[j] = self.guard_slopes[k];
        }
    }

    #[inline(always)]
    fn place_levels(&mut self, map: &Map, first: usize, count: usize) {
        let (announced, z) = (map.announced(), map.levels().probits());
        let mut p = [announced[count - 1]; ROOM];
        p[..first].fill(announced[0]);
        p[first..first + count].copy_from_slice(announced);
        let mut r = [0.0; ROOM];
        rows::quantiles(&p.map(clip), &mut r);
        self.ledger[1..=ROOM].copy_from_slice(&r);
        self.ledger[0] = r[0];
        self.levels = [z[count - 1]; CELLS];
        self.levels[..=first].fill(z[0]);
        self.levels[first + 1..=first + count].copy_from_slice(z);
        for j in 0..ROOM {
            let run = self.ledger[j + 1] - self.ledger[j];
            let rise = self.levels[j + 1] - self.levels[j];
            self.ledger_slopes[j] = if run > 0.0 { rise / run } else { 0.0 };
        }
        let (lower, upper) = map.outer_slopes(|j| r[first + j]);
        self.ledger_slopes[..=first].fill(1.0 / lower);
        self.ledger_slopes[first + count..].fill(1.0 / upper);
    }

    /// Gives 1/γ.
    #[inline(always)]
    fn place_guard(&mut self, knots: &Knots) -> [f64; CELLS] {
        self.guard[1..=ROOM].copy_from_slice(knots.padded_scores());
        self.guard[0] = self.guard[1];
        let mut per_slope = [1.0; CELLS];
        for k in 0..ROOM {
            let run = self.guard[k + 1] - self.guard[k];
            self.guard_slopes[k] = run * self.grid.per_run[k];
            per_slope[k] = self.grid.runs[k] / run;
        }
        // Beyond the outer guarded quantiles the guard only shifts.
        for k in [0, guard::COUNT] {
            (self.guard_slopes[k], per_slope[k]) = (1.0, 1.0);
        }
        per_slope
    }

    /// The cell of the ledger in which each guarded quantile lies, in the last bits.
    #[inline(always)]
    fn cells_of_guarded(&self, first: usize, count: usize) -> [Quad; ROOM / LANES] {
        /// 2⁵²: a whole number below it stands in its last bits.
        const NATURAL: f64 = 4_503_599_627_370_496.0;
        let mut cells = [[NATURAL; LANES]; ROOM / LANES];
        let mut cell = NATURAL + first as f64;
        for &score in &self.ledger[first + 1..=first + count] {
            cell += 1.0;
            for q in 0..ROOM / LANES {
                for l in 0..LANES {
                    let before = cells[q][l];
                    cells[q][l] = if score < self.guard[1 + LANES * q + l] { cell } else { before };
                }
            }
        }
        cells
    }

    /// The base score of the calibrated median, and s⁻ and s⁺ there.
    #[inline(always)]
    pub(crate) fn median(&self) -> (f64, [f64; 2]) {
        let slopes = [MEDIAN, MEDIAN + 1].map(|k| self.ledger_slopes_there[MEDIAN] * self.guard_slopes[k]);
        (self.guarded[MEDIAN], slopes)
    }

    /// The bend at a guarded quantile.
    #[inline(always)]
    pub(crate) fn guarded(&self, k: usize) -> Bend {
        let slope = self.ledger_slopes_there[k];
        let (before, after) = (self.guard_slopes[k], self.guard_slopes[k + 1]);
        Bend { base: self.guarded[k], change: slope * (after - before), both: slope * (after + before) }
    }

    /// The calibrated score of a guarded quantile, ∫ of the tail probability beyond it, and ∫ of that times the distance: with the sign of the score,
    /// and 0 at the median.
    #[inline(always)]
    pub(crate) fn beyond_guarded(&self, k: usize) -> (f64, f64, f64) {
        (self.grid.anchors[k + 1], self.grid.areas[k], self.grid.moments[k])
    }

    /// The bend at a level.
    #[inline(always)]
    pub(crate) fn level(&self, j: usize) -> Bend {
        let slope = self.guard_slopes_there[j];
        let (before, after) = (self.ledger_slopes[j], self.ledger_slopes[j + 1]);
        Bend { base: self.levels[j + 1], change: slope * (after - before), both: slope * (after + before) }
    }

    /// How far h jumps between the level before and this one.
    #[inline(always)]
    pub(crate) fn jump(&self, j: usize) -> f64 {
        let rise = self.levels[j + 1] - self.levels[j];
        if self.ledger[j + 1] > self.ledger[j] { 0.0 } else { rise }
    }

    /// Whether a level lies below the calibrated median. Its score may round to the other side.
    #[inline(always)]
    pub(crate) fn is_below_median(&self, j: usize) -> bool {
        self.ledger[j + 1] < self.guard[MEDIAN + 1]
    }

    /// The calibrated scores x of the levels.
    #[inline(always)]
    pub(crate) fn calibrated(&self) -> &[f64; ROOM] {
        &self.calibrated
    }
}

#[inline(always)]
fn knots(map: &Map) -> &Knots {
    map.guard().unwrap_or_else(|| Knots::identity())
}
