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
use crate::grid::cells::{CELLS, Cells, ROOM};
use crate::lanes::{LANES, Quad, quads};
use crate::normal::rows::{self, ROW};

/// Which of the guarded quantiles is the median.
const MEDIAN: usize = guard::COUNT / 2;

/// The bends of a map's inverse.
///
/// In lists of [`CELLS`] the cell below knot i has the number i, and the knot itself stands at i + 1, after one that repeats the first. After the levels
/// their last repeats, and nothing bends there.
#[derive(Debug)]
pub(crate) struct Bends<'a> {
    grid: &'a Grid,
    cells: &'a Cells,
    /// r_j, and e between them: 0 where two levels have one score.
    ledger: [f64; CELLS],
    ledger_slopes: [f64; CELLS],
    /// The guard's knots, γ between them, and 1/γ.
    guard: [f64; CELLS],
    guard_slopes: [f64; CELLS],
    per_guard_slope: [f64; CELLS],
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
    /// The cells of a map without steps, and with no more levels than there is room for: what [`Bends::fill`] needs.
    pub(crate) fn serve(map: &Map) -> Option<&Cells> {
        map.levels().cells().filter(|_| map.shape() == MapShape::Probit)
    }

    /// For a map that they [`serve`](Bends::serve). Large, and so to be [filled](Bends::fill) where they stand.
    #[inline(always)]
    pub(crate) fn empty(map: &'a Map, cells: &'a Cells) -> Self {
        Bends {
            grid: knots(map).grid(),
            cells,
            ledger: [0.0; CELLS],
            ledger_slopes: [0.0; CELLS],
            guard: [0.0; CELLS],
            guard_slopes: [0.0; CELLS],
            per_guard_slope: [0.0; CELLS],
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
        self.place_guard(knots(map));
        self.place_levels(map, count);
        let mut cells_of_guarded = [[0.0; LANES]; ROOM / LANES];
        self.find_cells_of_guarded(knots(map), count, &mut cells_of_guarded);
        self.find_ledger_slopes(map, count);
        look_up(&cells_of_guarded, self);
    }

    /// r_j of each level.
    #[inline(always)]
    fn place_levels(&mut self, map: &Map, count: usize) {
        let announced = map.announced_padded();
        let last = announced[count - 1];
        let mut p = [last; ROW];
        // Where the length is known, as with 25 levels, whole vectors are read.
        if let Ok(announced) = <&[f64; ROW]>::try_from(announced) {
            for j in 0..ROW {
                p[j] = clip(if j < count { announced[j] } else { last });
            }
        } else {
            for j in 0..ROW {
                p[j] = clip(if j < count { announced[j] } else { last });
            }
        }
        let mut r = [0.0; ROW];
        rows::quantiles(&p, &mut r);
        self.ledger[1..=ROW].copy_from_slice(&r);
        self.ledger[0] = r[0];
    }

    /// e in each cell.
    #[inline(always)]
    fn find_ledger_slopes(&mut self, map: &Map, count: usize) {
        let (lower, upper) = map.outer_slopes(|j| self.ledger[1 + j]);
        let (lower, upper) = (1.0 / lower, 1.0 / upper);
        for c in 0..ROOM {
            let run = self.ledger[c + 1] - self.ledger[c];
            let slope = if run > 0.0 { self.cells.rises[c] / run } else { 0.0 };
            self.ledger_slopes[c] = if c < count { slope } else { upper };
        }
        self.ledger_slopes[0] = lower;
        self.ledger_slopes[ROOM] = upper;
    }

    /// The guard's knots, and γ in each cell with 1/γ. Beyond the outer guarded quantiles the guard only shifts.
    #[inline(always)]
    fn place_guard(&mut self, knots: &Knots) {
        let scores = knots.padded_scores();
        self.guard[1..=ROOM].copy_from_slice(scores);
        self.guard[0] = scores[0];
        self.guard[1 + guard::COUNT..].fill(scores[guard::COUNT - 1]);
        self.guard_slopes = [1.0; CELLS];
        self.per_guard_slope = [1.0; CELLS];
        for c in 1..guard::COUNT {
            let run = scores[c] - scores[c - 1];
            self.guard_slopes[c] = run * self.grid.per_run[c];
            self.per_guard_slope[c] = self.grid.runs[c] / run;
        }
    }

    /// The cell of the ledger in which each guarded quantile lies, in the last bits.
    #[inline(always)]
    fn find_cells_of_guarded(&self, knots: &Knots, count: usize, cells: &mut [Quad; ROOM / LANES]) {
        /// 2⁵²: a whole number below it stands in its last bits.
        const NATURAL: f64 = 4_503_599_627_370_496.0;
        let guard = quads(knots.padded_scores());
        let mut found = [[NATURAL; LANES]; ROOM / LANES];
        let mut cell = NATURAL;
        for &score in &self.ledger[1..=count] {
            cell += 1.0;
            for q in 0..ROOM / LANES {
                for l in 0..LANES {
                    let before = found[q][l];
                    found[q][l] = if score < guard[q][l] { cell } else { before };
                }
            }
        }
        *cells = found;
    }

    /// The base score of the calibrated median, and s⁻ and s⁺ there.
    #[inline(always)]
    pub(crate) fn median(&self) -> (f64, [f64; 2]) {
        let slope = self.ledger_slopes_there[MEDIAN];
        (self.guarded[MEDIAN], [slope * self.guard_slopes[MEDIAN], slope * self.guard_slopes[MEDIAN + 1]])
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
        Bend {
            base: self.cells.from[j + 1],
            change: slope * (after - before),
            both: slope * (after + before),
        }
    }

    /// How far h jumps between the level before and this one.
    #[inline(always)]
    pub(crate) fn jump(&self, j: usize) -> f64 {
        if self.ledger[j + 1] > self.ledger[j] { 0.0 } else { self.cells.rises[j] }
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

/// Looks up for each bend what it has from the cell of the other kind in which it lies.
#[inline(always)]
fn look_up(cells_of_guarded: &[Quad; ROOM / LANES], bends: &mut Bends) {
    let mut at_most = [0_u8; CELLS];
    for q in 0..ROOM / LANES {
        let mut cell = [0; LANES];
        for l in 0..LANES {
            cell[l] = cells_of_guarded[q][l].to_bits() as usize % CELLS;
            at_most[cell[l]] = (LANES * q + l + 1).min(guard::COUNT) as u8;
        }
        let (z, r) = (gather(&bends.cells.from, &cell), gather(&bends.ledger, &cell));
        let slope = gather(&bends.ledger_slopes, &cell);
        for l in 0..LANES {
            let k = LANES * q + l;
            bends.guarded[k] = z[l] + (bends.guard[1 + k] - r[l]) * slope[l];
            bends.ledger_slopes_there[k] = slope[l];
        }
    }
    // How many guarded quantiles lie at or below a level: as many as for the one before, or more.
    let mut below = 0;
    for q in 0..ROOM / LANES {
        let mut cell = [0; LANES];
        for l in 0..LANES {
            below = at_most[LANES * q + l].max(below);
            cell[l] = usize::from(below) % CELLS;
        }
        let (t, x) = (gather(&bends.grid.anchors, &cell), gather(&bends.guard, &cell));
        let (slope, per_slope) = (gather(&bends.guard_slopes, &cell), gather(&bends.per_guard_slope, &cell));
        for l in 0..LANES {
            let j = LANES * q + l;
            bends.calibrated[j] = t[l] + (bends.ledger[1 + j] - x[l]) * per_slope[l];
            bends.guard_slopes_there[j] = slope[l];
        }
    }
}

#[inline(always)]
fn knots(map: &Map) -> &Knots {
    map.guard().unwrap_or_else(|| Knots::identity())
}

/// What stands in each of four places.
#[inline(always)]
fn gather(list: &[f64; CELLS], places: &[usize; LANES]) -> Quad {
    [list[places[0]], list[places[1]], list[places[2]], list[places[3]]]
}
