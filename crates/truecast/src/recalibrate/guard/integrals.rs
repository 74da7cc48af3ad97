//! Integrals of tail probabilities along the ledger's score, through the guard.
//!
//! Let x(r) be the calibrated score where the ledger forecast has score r, γ = dr/dx, A(x) the integral of Φ(−s) over s > |x|, and M(x) that of
//! A. Integrated from either end of the line towards the median,
//!
//! ```text
//! B(r) = ∫ Φ(−|x|) |dr|  =  γ A(x) + u
//! C(r) = ± ∫ B |dr|      =  ± γ² M(x) + v − u (r − from)        + above the median, − below
//! ```
//!
//! where γ, u and v are constant between two guarded quantiles, and `from` is the lower of these. So whoever integrates over a map need not merge its
//! levels with the guarded quantiles: a level must only know which of them lies below it, and the rest is looked up. Where the guard pooled, γ = 0.
//!
//! B and C at the guarded quantiles are sums of positive terms. u and v are differences of such and of γ A, γ² M there, and so right to a few
//! roundings of those.
//!
//! The formulas stand here, for eight numbers at once: [`alone`] they belong to eight cells of one guard, [`together`] to one cell of eight guards.
//!
//! Cost: O(K), no allocation.

pub(in crate::recalibrate) mod alone;
pub(in crate::recalibrate) mod together;

use fearless_simd::{Simd, f64x8};

use super::COUNT;
use crate::grid::cells::ROW;
use crate::normal;

/// Cells on either side of the median.
const SIDE: usize = COUNT.div_ceil(2);

/// Stands for the guarded quantile below the first one. Lists have room for more than there are.
const NONE: usize = ROW - 1;
const _: () = assert!(COUNT < NONE);

/// Scores below the first guarded quantile are counted from so far below it. Those of levels are not beyond it, unless the first knot is above 8.
const FAR: f64 = 16.0;

/// What is the same for all knots. A cell has the number of the guarded quantile at its lower end.
#[derive(Debug, PartialEq)]
#[repr(align(64))]
pub(in crate::recalibrate) struct Table {
    /// The calibrated score at the lower end, counted as `from` is.
    anchors: [f64; ROW],
    /// How long a cell is in calibrated score, and one over that; 1 for those beyond the outer guarded quantiles.
    runs: [f64; ROW],
    per_run: [f64; ROW],
    /// 1 beyond the outer guarded quantiles, where the guard only shifts, and else 0.
    outside: [f64; ROW],
    /// A and M at the end away from the median.
    areas: [f64; ROW],
    moments: [f64; ROW],
    /// How much larger A is at the other end, and how much larger M is there than by that A alone.
    area_rises: [f64; ROW],
    moment_rises: [f64; ROW],
    /// 1 above the median and −1 below; 1 and 0.
    signs: [f64; ROW],
    above: [f64; ROW],
}

impl Table {
    pub(super) fn new(probits: &[f64; COUNT]) -> Self {
        // From outside to the median, step by step; the other side mirrors it.
        let distance = |step: usize| probits[COUNT - 1 - step];
        let area = |x: f64| normal::density(x) - x * normal::sf(x);
        let moment = |x: f64| 0.5 * ((1.0 + x * x) * normal::sf(x) - x * normal::density(x));
        let is_above = |k: usize| (SIDE - 1..COUNT).contains(&k);
        let mut table = Table {
            anchors: std::array::from_fn(|k| if k < COUNT { probits[k] } else { probits[0] - FAR }),
            runs: [1.0; ROW],
            per_run: [1.0; ROW],
            outside: [1.0; ROW],
            areas: [0.0; ROW],
            moments: [0.0; ROW],
            area_rises: [area(distance(0)); ROW],
            moment_rises: [moment(distance(0)); ROW],
            signs: std::array::from_fn(|k| if is_above(k) { 1.0 } else { -1.0 }),
            above: std::array::from_fn(|k| if is_above(k) { 1.0 } else { 0.0 }),
        };
        for step in 1..SIDE {
            let (outer, inner) = (distance(step - 1), distance(step));
            let run = outer - inner;
            for k in [step - 1, COUNT - 1 - step] {
                table.runs[k] = run;
                table.per_run[k] = 1.0 / run;
                table.outside[k] = 0.0;
                table.areas[k] = area(outer);
                table.moments[k] = moment(outer);
                table.area_rises[k] = area(inner) - area(outer);
                table.moment_rises[k] = moment(inner) - moment(outer) - area(outer) * run;
            }
        }
        table
    }

    /// What it has for some cells, one to a lane, as `of` reads a row.
    #[inline(always)]
    fn constants<S: Simd>(&self, of: impl Fn(&[f64; ROW]) -> f64x8<S>) -> Constants<S> {
        Constants {
            runs: of(&self.runs),
            per_run: of(&self.per_run),
            outside: of(&self.outside),
            areas: of(&self.areas),
            moments: of(&self.moments),
            area_rises: of(&self.area_rises),
            moment_rises: of(&self.moment_rises),
            signs: of(&self.signs),
            above: of(&self.above),
        }
    }
}

/// A [`Table`]'s numbers for some cells, one to a lane.
#[derive(Clone, Copy)]
struct Constants<S: Simd> {
    runs: f64x8<S>,
    per_run: f64x8<S>,
    outside: f64x8<S>,
    areas: f64x8<S>,
    moments: f64x8<S>,
    area_rises: f64x8<S>,
    moment_rises: f64x8<S>,
    signs: f64x8<S>,
    above: f64x8<S>,
}

/// What follows from how long a cell is in the ledger's score, one cell to a lane.
#[derive(Clone, Copy)]
struct Stretch<S: Simd> {
    run: f64x8<S>,
    /// γ and 1/γ.
    slope: f64x8<S>,
    per_slope: f64x8<S>,
}

impl<S: Simd> Stretch<S> {
    #[inline(always)]
    fn new(run: f64x8<S>, of: &Constants<S>) -> Self {
        Stretch { run, slope: run * of.per_run + of.outside, per_slope: of.runs / (run + of.outside) }
    }

    /// How much larger B is at the end towards the median, and how much larger C is there than by the B of the other end alone.
    #[inline(always)]
    fn rises(&self, of: &Constants<S>) -> [f64x8<S>; 2] {
        [self.slope * of.area_rises, self.slope * self.slope * of.moment_rises]
    }

    /// u and v, given B and C at the end away from the median.
    #[inline(always)]
    fn rest(&self, area: f64x8<S>, moment: f64x8<S>, of: &Constants<S>) -> [f64x8<S>; 2] {
        let u = area - self.slope * of.areas;
        let v_outside = moment - self.slope * self.slope * of.moments;
        // From the outer end to the lower one, which is another above the median.
        [u, of.signs * v_outside + u * (of.above * self.run)]
    }
}

/// The cells in which some scores lie, one to a lane.
#[derive(Clone, Copy)]
pub(in crate::recalibrate) struct Cell<S: Simd> {
    /// The ledger's score at the lower end, and the calibrated one.
    pub(in crate::recalibrate) from: f64x8<S>,
    pub(in crate::recalibrate) anchor: f64x8<S>,
    /// γ and 1/γ.
    pub(in crate::recalibrate) slope: f64x8<S>,
    pub(in crate::recalibrate) per_slope: f64x8<S>,
    pub(in crate::recalibrate) u: f64x8<S>,
    pub(in crate::recalibrate) v: f64x8<S>,
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch, prelude::*};

    use super::*;
    use crate::lanes::Eight;
    use crate::random;
    use crate::recalibrate::guard::Knots;

    /// Knots moved at random, some of them pooled.
    fn knots(seed: u64) -> Knots {
        let mut knots = Knots::default();
        let moved = |(k, t): (usize, &f64)| t + 0.8 * random::uniform(21, seed, k as u32) - 0.4;
        let mut scores: Vec<f64> = Knots::default().probits().iter().enumerate().map(moved).collect();
        let first = (20.0 * random::uniform(22, seed, 0)) as usize;
        let pooled = scores[first];
        scores[first..first + (seed % 7) as usize].fill(pooled);
        knots.place_sorted(&scores, 8.0);
        knots
    }

    /// What one guard has where its ledger's score is `r`.
    struct At {
        x: f64,
        slope: f64,
        tail: f64,
        b: f64,
        c: f64,
    }

    impl At {
        fn new(knots: &Knots, guard: &alone::Integrals<'_>, r: f64) -> Self {
            let (mut cells, scores) = ([0; ROW], [r; ROW]);
            alone::find_exactly(knots, &scores, &mut cells);
            let [from, anchor, slope, per_slope, u, v] = dispatch!(Level::new(), simd => {
                let cell = guard.at(simd, &[cells[0]; 8]);
                [cell.from, cell.anchor, cell.slope, cell.per_slope, cell.u, cell.v].map(|of| of[0])
            });
            let offset = r - from;
            let x = anchor + offset * per_slope;
            let area = normal::density(x) - x.abs() * normal::sf(x.abs());
            let moment = 0.5 * (normal::sf(x.abs()) - x.abs() * area);
            let above = r >= knots.scores()[SIDE - 1];
            let signed = if above { moment } else { -moment };
            let tail = if above { normal::sf(x) } else { -normal::cdf(x) };
            At { x, slope, tail, b: slope * area + u, c: slope * slope * signed + v - u * offset }
        }
    }

    /// B falls by Φ(−|x|), with the sign of the side, and C by B, per unit of r; both are 0 far out, and continuous but for the median.
    /// Differences over 2e-4 are wrong by their third derivatives, at most (1/γ + 1/γ²)/2, times 2e-9; knots are stepped over. A few roundings
    /// are 1e-14.
    #[test]
    fn their_derivatives_are_what_they_integrate() {
        const STEP: f64 = 1e-4;
        let mut pooled = 0;
        for seed in 0..200 {
            let knots = knots(seed);
            pooled += knots.scores().windows(2).filter(|pair| pair[0] == pair[1]).count();
            let (across_median, guard) = dispatch!(Level::new(), simd => {
                let sums = alone::Sums::new(simd, &knots);
                (sums.across_median, alone::Integrals::new(simd, &sums, &knots))
            });
            let at = |r: f64| At::new(&knots, &guard, r);
            for i in 0..200 {
                let r = 0.05 * f64::from(i) - 5.0;
                let apart = |knot: &f64| (knot - r).abs() > 2.0 * STEP;
                if !knots.scores().iter().all(apart) {
                    continue;
                }
                let [before, here, after] = [r - STEP, r, r + STEP].map(at);
                assert!((here.x - knots.apply(r)).abs() < 1e-13, "{seed} {r}: {}", here.x);
                let slopes = [(before.b - after.b) / (2.0 * STEP), (before.c - after.c) / (2.0 * STEP)];
                let room = 1e-11 + 1e-9 * (1.0 / here.slope + 1.0 / (here.slope * here.slope));
                assert!((slopes[0] - here.tail).abs() < room, "{seed} {r}: {slopes:?} {}", here.tail);
                assert!((slopes[1] - here.b).abs() < room, "{seed} {r}: {slopes:?} {}", here.b);
            }
            let [low, high] = [-40.0, 40.0].map(at);
            assert_eq!([low.b, low.c, high.b, high.c], [0.0; 4]);
            for &knot in knots.scores() {
                let [before, after] = [knot.next_down(), knot].map(at);
                let at_median = knot == knots.scores()[SIDE - 1];
                let [b, c] = if at_median { across_median } else { [0.0; 2] };
                let close = (after.b - before.b - b).abs() < 1e-14 && (after.c - before.c - c).abs() < 1e-14;
                assert!(close, "{seed} {knot}: {} {} {} {}", before.b, after.b, before.c, after.c);
            }
        }
        assert!(pooled > 100, "{pooled}");
    }

    /// At every distance, at the knots and just below them, whatever cell is guessed: what eight guards have together is what each has alone.
    #[test]
    fn eight_guards_have_the_cells_of_each() {
        for seed in 0..50 {
            let guards: [Knots; 8] = std::array::from_fn(|s| knots(8 * seed + s as u64));
            let mut together = together::Integrals::empty();
            let table = guards[0].table();
            dispatch!(Level::new(), simd => together.fill(simd, guards.each_ref()));
            for i in 0..300_u64 {
                let draw = |s: u64| random::uniform(23, 300 * seed + i, s as u32);
                let scores: Eight = std::array::from_fn(|s| match i % 3 {
                    0 => 12.0 * draw(s as u64) - 6.0,
                    1 => guards[s].scores()[(27.0 * draw(s as u64)) as usize],
                    _ => guards[s].scores()[(27.0 * draw(s as u64)) as usize].next_down(),
                });
                let mut first = (28.0 * draw(8)) as usize;
                let cells: [Eight; 6] = dispatch!(Level::new(), simd => {
                    let cell = together.at(table, f64x8::simd_from(simd, scores), &mut first);
                    [cell.from, cell.anchor, cell.slope, cell.per_slope, cell.u, cell.v].map(|of| of.into())
                });
                for (s, guard) in guards.iter().enumerate() {
                    let mut number = [0; ROW];
                    alone::find_exactly(guard, &[scores[s]; ROW], &mut number);
                    let alone: [f64; 6] = dispatch!(Level::new(), simd => {
                        let sums = alone::Sums::new(simd, guard);
                        let cell = alone::Integrals::new(simd, &sums, guard).at(simd, &[number[0]; 8]);
                        [cell.from, cell.anchor, cell.slope, cell.per_slope, cell.u, cell.v].map(|of| of[0])
                    });
                    assert_eq!(cells.map(|of| of[s]), alone, "{seed} {i} {s}: {scores:?}");
                }
            }
        }
    }
}
