//! The bends of one map, eight of its levels at a time.

use fearless_simd::{Simd, f64x8, prelude::*};

use super::{Guarded, MEDIAN, knots};
use crate::grid::cells::{Cells, ROW};
use crate::lanes::{Eight, eights, eights_mut, wide};
use crate::normal::eight;
use crate::recalibrate::guard::alone::{Integrals, Sums, find, find_exactly};
use crate::recalibrate::map::{Map, clip};

/// Rows of eight levels.
const ROWS: usize = ROW / 8;

/// The bends of a map's inverse. After the levels their last repeats, and nothing bends there.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Bends {
    /// The base score of the calibrated median, the ledger's, and e there.
    pub(crate) median: f64,
    pub(crate) median_score: f64,
    pub(crate) median_slope: f64,
    /// By how much the two antiderivatives jump there.
    pub(crate) across_median: [f64; 2],
    /// e below each level, and above the last; 0 in a jump.
    slopes: [f64; ROW + 8],
    /// r_j, and how far it lies above the one before.
    scores: [f64; ROW],
    runs: [f64; ROW],
    calibrated: [f64; ROW],
    guard_slopes: [f64; ROW],
    areas: [f64; ROW],
    moments: [f64; ROW],
    guarded_runs: [f64; ROW],
}

impl Bends {
    /// Large, and so to be [filled](Bends::fill) where they stand.
    #[inline(always)]
    pub(crate) fn empty() -> Self {
        let zero = [0.0; ROW];
        Bends {
            median: 0.0,
            median_score: 0.0,
            median_slope: 0.0,
            across_median: [0.0; 2],
            slopes: [0.0; ROW + 8],
            scores: zero,
            runs: zero,
            calibrated: zero,
            guard_slopes: zero,
            areas: zero,
            moments: zero,
            guarded_runs: zero,
        }
    }

    /// With those of a map that they [`serve`](super::serve).
    #[inline(always)]
    pub(crate) fn fill<S: Simd>(&mut self, simd: S, map: &Map, cells: &Cells) {
        let (count, knots) = (map.levels().count(), knots(map));
        let sums = Sums::new(simd, knots);
        place_levels(simd, map, cells, &mut self.scores);
        let mut in_cells = [0; ROW];
        find(knots, &self.scores, &mut in_cells);
        let mut before = [self.scores[0]; ROW + 8];
        before[1..=ROW].copy_from_slice(&self.scores);
        for i in 0..ROWS {
            let (after, before) = (wide(simd, eights(&self.scores)[i]), wide(simd, eights(&before)[i]));
            eights_mut(&mut self.runs)[i] = (after - before).into();
        }
        let guard = Integrals::new(simd, &sums, knots);
        if !self.look_up(simd, &guard, &in_cells) {
            find_exactly(knots, &self.scores, &mut in_cells);
            self.look_up(simd, &guard, &in_cells);
        }

        let [lower, upper] = map.outer_spreads(|j| self.scores[j]);
        let median = knots.scores()[MEDIAN];
        let (mut below, all) = (0, |number: f64| f64x8::splat(simd, number));
        for i in 0..ROWS {
            let [rise, used] = [&cells.rises, &cells.used].map(|row| wide(simd, eights(row)[i]));
            let run = wide(simd, eights(&self.runs)[i]);
            let inner = self.guarded(simd, i).slope_below(rise, run);
            let outer = used.simd_gt(0.0).select(all(lower), all(upper));
            eights_mut(&mut self.slopes)[i] = rise.simd_gt(0.0).select(inner, outer).into();
            below += wide(simd, eights(&self.scores)[i]).simd_lt(median).to_bitmask().count_ones();
        }
        self.slopes[ROW] = upper;
        let cell = (below as usize).min(count) % ROW;
        let level = cell.saturating_sub(1);
        self.median_slope = self.slopes[cell];
        self.median_score = median;
        self.median = cells.levels[level] + (median - self.scores[level]) * self.median_slope;
        self.across_median = sums.across_median;
    }

    /// Looks up for each level what the guard's cell in which it lies has for it. Whether all lie in their cells.
    #[inline(always)]
    fn look_up<S: Simd>(&mut self, simd: S, guard: &Integrals<'_>, in_cells: &[u32; ROW]) -> bool {
        let mut right = true;
        for (i, cells) in in_cells.as_chunks().0.iter().enumerate() {
            let (score, run) = (wide(simd, eights(&self.scores)[i]), wide(simd, eights(&self.runs)[i]));
            let cell = guard.at(simd, cells);
            right &= (score - cell.from).simd_ge(0.0).all_true();
            let Guarded { calibrated, slope, area, moment, run } = Guarded::new(score, run, &cell);
            eights_mut(&mut self.calibrated)[i] = calibrated.into();
            eights_mut(&mut self.guard_slopes)[i] = slope.into();
            eights_mut(&mut self.areas)[i] = area.into();
            eights_mut(&mut self.moments)[i] = moment.into();
            eights_mut(&mut self.guarded_runs)[i] = run.into();
        }
        right
    }

    /// A row of levels as the guard sees them.
    #[inline(always)]
    pub(crate) fn guarded<S: Simd>(&self, simd: S, row: usize) -> Guarded<S> {
        let read = |of: &[f64; ROW]| wide(simd, eights(of)[row]);
        Guarded {
            calibrated: read(&self.calibrated),
            slope: read(&self.guard_slopes),
            area: read(&self.areas),
            moment: read(&self.moments),
            run: read(&self.guarded_runs),
        }
    }

    /// r of a row of levels.
    #[inline(always)]
    pub(crate) fn scores<S: Simd>(&self, simd: S, row: usize) -> f64x8<S> {
        wide(simd, eights(&self.scores)[row])
    }

    /// e below and above a row of levels.
    #[inline(always)]
    pub(crate) fn slopes<S: Simd>(&self, simd: S, row: usize) -> [f64x8<S>; 2] {
        [8 * row, 8 * row + 1].map(|first| f64x8::from_slice(simd, &self.slopes[first..first + 8]))
    }
}

/// r_j of each level. With 25 levels at the beginning of the room, the ninth to the sixteenth are nearly always central ones.
#[inline(always)]
fn place_levels<S: Simd>(simd: S, map: &Map, cells: &Cells, scores: &mut [f64; ROW]) {
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
    let p: [Eight; ROWS] = std::array::from_fn(|i| eights(&p)[i]);
    let outer = eight::quantiles(simd, [p[0], p[2], p[3]].map(|p| wide(simd, p)));
    let [inner] = eight::quantiles(simd, [wide(simd, p[1])]);
    for (row, z) in eights_mut(scores).iter_mut().zip([outer[0], inner, outer[1], outer[2]]) {
        *row = z.into();
    }
}
