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
//! Cost: Φ⁻¹ once per level, each guarded quantile compared with every level, no allocation. [`Walk`](super::Walk) is for maps of
//! more levels.

use multiversion::multiversion;

use super::guard::{self, Integrals, Knots, Sums, Table};
use super::map::{Map, MapShape, clip};
use crate::grid::cells::Cells;
use crate::lanes::{LANES, Quad, across, quads, quads_mut};
use crate::normal::rows::{self, ROW};

/// Below this the run of a cell in calibrated score is so short that the cell counts as a jump.
pub(crate) const SHORT: f64 = 0.03;

/// Which of the guarded quantiles is the median.
const MEDIAN: usize = guard::COUNT / 2;

/// The bends of a map's inverse. After the levels their last repeats, and nothing bends there.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Bends {
    /// The base score of the calibrated median, and e there.
    pub(crate) median: f64,
    pub(crate) median_slope: f64,
    /// By how much the two antiderivatives jump there.
    pub(crate) across_median: [f64; 2],
    /// e below each level, and above the last; 0 in a jump.
    pub(crate) slopes: [f64; ROW + 1],
    /// How far the base score jumps between the level before and each one.
    pub(crate) jumps: [f64; ROW],
    /// 1 where a level lies below the calibrated median, whose score may round to the other side, and else 0.
    pub(crate) below_median: [f64; ROW],
    pub(crate) guarded: Guarded,
}

/// Levels as the guard sees them.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Guarded {
    /// The calibrated score x.
    pub(crate) calibrated: [f64; ROW],
    /// γ = dr/dx.
    pub(crate) slopes: [f64; ROW],
    /// What the two antiderivatives are beside those of the normal distribution.
    pub(crate) areas: [f64; ROW],
    pub(crate) moments: [f64; ROW],
    /// From the level before to this one in calibrated score; 1 where the guard bends between them.
    pub(crate) runs: [f64; ROW],
}

impl Bends {
    /// The cells of a map without steps, and with no more levels than there is room for: what [`Bends::fill`] needs.
    pub(crate) fn serve(map: &Map) -> Option<&Cells> {
        map.levels().cells().filter(|_| map.shape() == MapShape::Probit)
    }

    /// Large, and so to be [filled](Bends::fill) where they stand.
    #[inline(always)]
    pub(crate) fn empty() -> Self {
        let zero = [0.0; ROW];
        Bends {
            median: 0.0,
            median_slope: 0.0,
            across_median: [0.0; 2],
            slopes: [0.0; ROW + 1],
            jumps: zero,
            below_median: zero,
            guarded: Guarded { calibrated: zero, slopes: zero, areas: zero, moments: zero, runs: zero },
        }
    }

    /// With those of a map that they [`serve`](Bends::serve). A part of vector loops elsewhere.
    #[inline(always)]
    pub(crate) fn fill(&mut self, map: &Map, cells: &Cells) {
        let (count, knots) = (map.levels().count(), knots(map));
        let sums = Sums::new(knots);
        let mut levels = Levels { scores: [0.0; ROW], runs: [0.0; ROW], cells: [0; ROW] };
        place_levels(map, cells, &mut levels.scores);
        guard::find(knots, &levels.scores, &mut levels.cells);
        levels.find_runs();
        let (guard, table) = (Integrals::new(&sums, knots), knots.table());
        if !look_up(count, &levels, &guard, table, &mut self.guarded) {
            guard::find_exactly(knots, &levels.scores, &mut levels.cells);
            look_up(count, &levels, &guard, table, &mut self.guarded);
        }

        let (lower, upper) = map.outer_spreads(|j| levels.scores[j]);
        for j in 0..ROW {
            let is_jump = self.guarded.runs[j] < SHORT;
            self.jumps[j] = if is_jump { cells.rises[j] } else { 0.0 };
            let inner = if is_jump { 0.0 } else { cells.rises[j] / levels.runs[j] };
            let outer = if cells.used[j] > 0.0 { lower } else { upper };
            self.slopes[j] = if cells.rises[j] > 0.0 { inner } else { outer };
        }
        self.slopes[ROW] = upper;

        let median = knots.scores()[MEDIAN];
        for j in 0..ROW {
            self.below_median[j] = if levels.scores[j] < median { 1.0 } else { 0.0 };
        }
        let mut below = [0.0; LANES];
        for row in quads(&levels.scores) {
            for l in 0..LANES {
                below[l] += if row[l] < median { 1.0 } else { 0.0 };
            }
        }
        let cell = (across(below) as usize).min(count) % ROW;
        let level = cell.saturating_sub(1);
        self.median_slope = self.slopes[cell];
        self.median = cells.levels[level] + (median - levels.scores[level]) * self.median_slope;
        self.across_median = sums.across_median;
    }
}

/// Levels as R_t sees them.
#[derive(Debug)]
#[repr(align(64))]
struct Levels {
    /// r_j, and how far it lies above the one before.
    scores: [f64; ROW],
    runs: [f64; ROW],
    /// The guard's cell in which each lies.
    cells: [u32; ROW],
}

impl Levels {
    #[inline(always)]
    fn find_runs(&mut self) {
        let mut shifted = [self.scores[0]; ROW + 1];
        shifted[1..].copy_from_slice(&self.scores);
        for j in 0..ROW {
            self.runs[j] = shifted[j + 1] - shifted[j];
        }
    }
}

/// r_j of each level.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn place_levels(map: &Map, cells: &Cells, scores: &mut [f64; ROW]) {
    let announced = map.announced_padded();
    let last = announced[map.levels().count() - 1];
    let mut p = [last; ROW];
    // Where the length is known, as with 25 levels, whole vectors are read.
    match <&[f64; 28]>::try_from(announced) {
        Ok(announced) => p[..28].copy_from_slice(announced),
        Err(_) => p[..announced.len()].copy_from_slice(announced),
    }
    for j in 0..ROW {
        p[j] = clip(if cells.used[j] > 0.0 { p[j] } else { last });
    }
    rows::quantiles(&p, scores);
}

/// Looks up for each level what the guard's cell in which it lies has for it. Whether all lie in their cells.
///
/// Not with wider vectors: they would be gathered by instructions that are slower than single loads.
#[multiversion(targets("x86_64+avx2"))]
fn look_up(count: usize, levels: &Levels, guard: &Integrals, table: &Table, out: &mut Guarded) -> bool {
    let mut least = [0.0; LANES];
    for q in 0..count.div_ceil(LANES).min(ROW / LANES) {
        let mut at = [0; LANES];
        for l in 0..LANES {
            at[l] = levels.cells[LANES * q + l] as usize % ROW;
        }
        let (t, from) = (gather(&table.anchors, &at), gather(&guard.from, &at));
        let (slope, per_slope) = (gather(&guard.slopes, &at), gather(&guard.per_slope, &at));
        let (u, v) = (gather(&guard.u, &at), gather(&guard.v, &at));
        let (scores, runs) = (quads(&levels.scores)[q], quads(&levels.runs)[q]);
        let (mut calibrated, mut moments, mut run) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for l in 0..LANES {
            let offset = scores[l] - from[l];
            least[l] = if offset < least[l] { offset } else { least[l] };
            calibrated[l] = t[l] + offset * per_slope[l];
            moments[l] = v[l] - u[l] * offset;
            run[l] = if offset >= runs[l] { runs[l] * per_slope[l] } else { 1.0 };
        }
        quads_mut(&mut out.calibrated)[q] = calibrated;
        quads_mut(&mut out.slopes)[q] = slope;
        quads_mut(&mut out.areas)[q] = u;
        quads_mut(&mut out.moments)[q] = moments;
        quads_mut(&mut out.runs)[q] = run;
    }
    across(least) >= 0.0
}

/// What stands in each of four places.
#[inline(always)]
fn gather(list: &[f64; ROW], places: &[usize; LANES]) -> Quad {
    [list[places[0]], list[places[1]], list[places[2]], list[places[3]]]
}

#[inline(always)]
fn knots(map: &Map) -> &Knots {
    map.guard().unwrap_or_else(|| Knots::identity())
}
