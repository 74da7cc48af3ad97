//! The bends of eight maps on the same levels, one level of all of them at a time.

use fearless_simd::{Simd, f64x8, prelude::*};

use super::{Guarded, MEDIAN, knots};
use crate::grid::cells::{Cells, ROW};
use crate::lanes::{Eight, wide};
use crate::normal::eight;
use crate::recalibrate::guard::together::Integrals;
use crate::recalibrate::map::{Map, SMALLEST, SPREADS};

/// So many levels take each step together.
pub(crate) const AT_ONCE: usize = 4;

/// The bends of the inverses of eight maps. After the levels their last repeats up to a multiple of four, and nothing bends there.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(crate) struct Bends {
    /// The base scores of the calibrated medians, the ledgers', and e there.
    pub(crate) median: Eight,
    pub(crate) median_score: Eight,
    pub(crate) median_slope: Eight,
    guard: Integrals,
    /// e below each level, and above the last; 0 in a jump.
    slopes: [Eight; ROW + 1],
    /// r_j.
    scores: [Eight; ROW],
    guarded: [Parts; ROW],
}

/// One level of each map as its guard sees it.
#[derive(Debug, Clone, Copy, Default)]
struct Parts {
    calibrated: Eight,
    slope: Eight,
    area: Eight,
    moment: Eight,
    run: Eight,
}

impl Bends {
    /// To be [filled](Bends::fill).
    pub(crate) fn empty() -> Self {
        let zero = [0.0; 8];
        Bends {
            median: zero,
            median_score: zero,
            median_slope: zero,
            guard: Integrals::empty(),
            slopes: [zero; ROW + 1],
            scores: [zero; ROW],
            guarded: [Parts::default(); ROW],
        }
    }

    /// With those of maps that they [`serve`](super::serve) and that have the same levels.
    #[inline(always)]
    pub(crate) fn fill<S: Simd>(&mut self, simd: S, maps: [&Map; 8], cells: &Cells) {
        let (count, table) = (maps[0].levels().count(), knots(maps[0]).table());
        self.guard.fill(simd, maps.map(knots));
        self.place_levels(simd, maps, count);
        let [lower, upper] = maps[0].outer_chords().map(|(low, high)| {
            let run = wide(simd, self.scores[high]) - wide(simd, self.scores[low]);
            let spread = f64x8::splat(simd, cells.levels[high] - cells.levels[low]) / run;
            spread.max(SPREADS.0).min(SPREADS.1)
        });
        self.slopes[0] = lower.into();
        self.slopes[count..].fill(upper.into());
        let (mut before, mut first) = (wide(simd, self.scores[0]), 0);
        for j in 0..count.next_multiple_of(AT_ONCE) {
            let score = wide(simd, self.scores[j]);
            let run = score - before;
            before = score;
            let guarded = Guarded::new(score, run, &self.guard.at(table, score, &mut first));
            if (1..count).contains(&j) {
                let rise = f64x8::splat(simd, cells.rises[j]);
                self.slopes[j] = guarded.slope_below(rise, run).into();
            }
            self.guarded[j] = Parts {
                calibrated: guarded.calibrated.into(),
                slope: guarded.slope.into(),
                area: guarded.area.into(),
                moment: guarded.moment.into(),
                run: guarded.run.into(),
            };
        }
        self.find_median(simd, cells, count);
    }

    /// r of each level, and of the last one again in the room that is left.
    #[inline(always)]
    fn place_levels<S: Simd>(&mut self, simd: S, maps: [&Map; 8], count: usize) {
        let announced = maps.map(Map::announced);
        let blocks = count.div_ceil(AT_ONCE);
        for (block, scores) in self.scores.as_chunks_mut().0[..blocks].iter_mut().enumerate() {
            let mut p = [f64x8::splat(simd, 0.0); AT_ONCE];
            for i in 0..AT_ONCE {
                let j = (AT_ONCE * block + i).min(count - 1);
                let mut of_level = [0.0; 8];
                for s in 0..8 {
                    of_level[s] = announced[s][j];
                }
                p[i] = wide(simd, of_level).max(SMALLEST).min(1.0 - SMALLEST);
            }
            *scores = eight::quantiles(simd, p).map(|z| z.into());
        }
    }

    /// The medians lie above the last level whose score is below theirs.
    #[inline(always)]
    fn find_median<S: Simd>(&mut self, simd: S, cells: &Cells, count: usize) {
        let median = wide(simd, *self.guard.knots(MEDIAN));
        let (mut score, mut slope) = (wide(simd, self.scores[0]), wide(simd, self.slopes[0]));
        let mut level = f64x8::splat(simd, cells.levels[0]);
        for j in 0..count {
            let own = wide(simd, self.scores[j]);
            let below = own.simd_lt(median);
            score = below.select(own, score);
            slope = below.select(wide(simd, self.slopes[j + 1]), slope);
            level = below.select(f64x8::splat(simd, cells.levels[j]), level);
        }
        self.median = (level + (median - score) * slope).into();
        self.median_score = median.into();
        self.median_slope = slope.into();
    }

    /// By how much the two antiderivatives jump at the medians.
    #[inline(always)]
    pub(crate) fn across_median<S: Simd>(&self, simd: S) -> [f64x8<S>; 2] {
        self.guard.across_median.map(|of| wide(simd, of))
    }

    /// r of a level.
    #[inline(always)]
    pub(crate) fn scores<S: Simd>(&self, simd: S, level: usize) -> f64x8<S> {
        wide(simd, self.scores[level])
    }

    /// e below and above a level.
    #[inline(always)]
    pub(crate) fn slopes<S: Simd>(&self, simd: S, level: usize) -> [f64x8<S>; 2] {
        [level, level + 1].map(|cell| wide(simd, self.slopes[cell]))
    }

    /// A level of each map as its guard sees it.
    #[inline(always)]
    pub(crate) fn guarded<S: Simd>(&self, simd: S, level: usize) -> Guarded<S> {
        let Parts { calibrated, slope, area, moment, run } = &self.guarded[level];
        Guarded {
            calibrated: wide(simd, *calibrated),
            slope: wide(simd, *slope),
            area: wide(simd, *area),
            moment: wide(simd, *moment),
            run: wide(simd, *run),
        }
    }
}
