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
//! Cost: O(K), no allocation.

use multiversion::multiversion;

use super::{COUNT, Knots};
use crate::normal;
use crate::normal::rows::ROW;

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
    pub(in crate::recalibrate) anchors: [f64; ROW],
    /// How long a cell is in calibrated score, and one over that; 1 for those beyond the outer guarded quantiles.
    runs: [f64; ROW],
    per_run: [f64; ROW],
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
                table.areas[k] = area(outer);
                table.moments[k] = moment(outer);
                table.area_rises[k] = area(inner) - area(outer);
                table.moment_rises[k] = moment(inner) - moment(outer) - area(outer) * run;
            }
        }
        table
    }
}

/// B and C at the outer end of each cell, and what the rest follows from.
#[derive(Debug)]
pub(in crate::recalibrate) struct Sums {
    /// The length of each cell in the ledger's score.
    runs: [f64; ROW],
    slopes: [f64; ROW],
    per_slope: [f64; ROW],
    areas: [f64; ROW],
    moments: [f64; ROW],
    /// B above the median less B below, and C above less C below, at the median.
    pub(in crate::recalibrate) across_median: [f64; 2],
}

impl Sums {
    /// A part of vector loops elsewhere.
    #[inline(always)]
    pub(in crate::recalibrate) fn new(knots: &Knots) -> Self {
        let table = knots.table();
        let scores = knots.padded_scores();
        // Beyond the outer guarded quantiles the guard only shifts.
        let (mut runs, mut slopes, mut per_slope) = ([0.0; ROW], [1.0; ROW], [1.0; ROW]);
        let (mut area_rises, mut moment_rises) = ([0.0; ROW], [0.0; ROW]);
        macro_rules! measure {
            ($cells:expr) => {
                for k in $cells {
                    let run = scores[k + 1] - scores[k];
                    let slope = run * table.per_run[k];
                    runs[k] = run;
                    slopes[k] = slope;
                    per_slope[k] = table.runs[k] / run;
                    area_rises[k] = slope * table.area_rises[k];
                    moment_rises[k] = slope * slope * table.moment_rises[k];
                }
            };
        }
        // Whole vectors first.
        measure!(0..24);
        measure!(24..COUNT - 1);
        let (mut areas, mut moments) = ([0.0; ROW], [0.0; ROW]);
        let (mut b, mut c) = ([table.area_rises[NONE]; 2], [table.moment_rises[NONE]; 2]);
        for step in 1..SIDE {
            let (low, high) = (step - 1, COUNT - 1 - step);
            (areas[low], moments[low]) = (b[0], c[0]);
            (areas[high], moments[high]) = (b[1], c[1]);
            c[0] += b[0] * runs[low] + moment_rises[low];
            c[1] += b[1] * runs[high] + moment_rises[high];
            b[0] += area_rises[low];
            b[1] += area_rises[high];
        }
        Sums { runs, slopes, per_slope, areas, moments, across_median: [b[1] - b[0], c[1] + c[0]] }
    }
}

/// The integrals in every cell of one guard.
#[derive(Debug)]
#[repr(align(64))]
pub(in crate::recalibrate) struct Integrals {
    /// The ledger's score at the lower end.
    pub(in crate::recalibrate) from: [f64; ROW],
    /// γ and 1/γ.
    pub(in crate::recalibrate) slopes: [f64; ROW],
    pub(in crate::recalibrate) per_slope: [f64; ROW],
    pub(in crate::recalibrate) u: [f64; ROW],
    pub(in crate::recalibrate) v: [f64; ROW],
}

impl Integrals {
    /// Apart from the sums, which were stored number by number: long after them, they are there to be read as vectors.
    #[inline(always)]
    pub(in crate::recalibrate) fn new(sums: &Sums, knots: &Knots) -> Self {
        let table = knots.table();
        let scores = knots.scores();
        let (mut from, mut u, mut v) = ([scores[0] - FAR; ROW], [0.0; ROW], [0.0; ROW]);
        let (mut slopes, mut per_slope) = ([0.0; ROW], [0.0; ROW]);
        from[..COUNT].copy_from_slice(&scores[..COUNT]);
        for k in 0..ROW {
            let slope = sums.slopes[k];
            let u_here = sums.areas[k] - slope * table.areas[k];
            let v_outside = sums.moments[k] - slope * slope * table.moments[k];
            u[k] = u_here;
            // From the outer end to the lower one, which is another above the median.
            v[k] = table.signs[k] * v_outside + u_here * (table.above[k] * sums.runs[k]);
            slopes[k] = slope;
            per_slope[k] = sums.per_slope[k];
        }
        Integrals { from, slopes, per_slope, u, v }
    }
}

/// The cell in which each score lies; at a guarded quantile, the one above it. Seven digits are compared: where they do not tell a score from the
/// guarded quantile above it, the cell is too high.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(in crate::recalibrate) fn find(knots: &Knots, scores: &[f64; ROW], cells: &mut [u32; ROW]) {
    /// 2²³: a whole number below it stands in its last bits.
    const NATURAL: f32 = 8_388_608.0;
    let mut narrow = [0.0; ROW];
    for j in 0..ROW {
        narrow[j] = scores[j] as f32;
    }
    let (mut found, mut cell) = ([NATURAL + NONE as f32; ROW], NATURAL);
    for &knot in knots.scores() {
        let knot = knot as f32;
        for j in 0..ROW {
            let before = found[j];
            found[j] = if knot <= narrow[j] { cell } else { before };
        }
        cell += 1.0;
    }
    for j in 0..ROW {
        cells[j] = found[j].to_bits() % ROW as u32;
    }
}

/// The same by all digits.
#[cold]
pub(in crate::recalibrate) fn find_exactly(knots: &Knots, scores: &[f64; ROW], cells: &mut [u32; ROW]) {
    for (cell, score) in cells.iter_mut().zip(scores) {
        let below = knots.scores().partition_point(|knot| knot <= score);
        *cell = below.checked_sub(1).unwrap_or(NONE) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

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
            let (sums, table) = (Sums::new(&knots), knots.table());
            let guard = Integrals::new(&sums, &knots);
            let at = |r: f64| {
                let (mut cells, scores) = ([0; ROW], [r; ROW]);
                find_exactly(&knots, &scores, &mut cells);
                let k = cells[0] as usize;
                let (offset, slope) = (r - guard.from[k], guard.slopes[k]);
                let x = table.anchors[k] + offset * guard.per_slope[k];
                let area = normal::density(x) - x.abs() * normal::sf(x.abs());
                let moment = 0.5 * (normal::sf(x.abs()) - x.abs() * area);
                let above = r >= knots.scores()[SIDE - 1];
                let signed = if above { moment } else { -moment };
                let tail = if above { normal::sf(x) } else { -normal::cdf(x) };
                (
                    (x, slope),
                    tail,
                    slope * area + guard.u[k],
                    slope * slope * signed + guard.v[k] - guard.u[k] * offset,
                )
            };
            for i in 0..200 {
                let r = 0.05 * f64::from(i) - 5.0;
                let apart = |knot: &f64| (knot - r).abs() > 2.0 * STEP;
                if !knots.scores().iter().all(apart) {
                    continue;
                }
                let [(.., b_before, c_before), ((x, slope), tail, b, _), (.., b_after, c_after)] =
                    [r - STEP, r, r + STEP].map(at);
                assert!((x - knots.apply(r)).abs() < 1e-13, "{seed} {r}: {x}");
                let slopes = [(b_before - b_after) / (2.0 * STEP), (c_before - c_after) / (2.0 * STEP)];
                let room = 1e-11 + 1e-9 * (1.0 / slope + 1.0 / (slope * slope));
                assert!((slopes[0] - tail).abs() < room, "{seed} {r}: {slopes:?} {tail}");
                assert!((slopes[1] - b).abs() < room, "{seed} {r}: {slopes:?} {b}");
            }
            let [(.., b_low, c_low), (.., b_high, c_high)] = [-40.0, 40.0].map(at);
            assert_eq!([b_low, c_low, b_high, c_high], [0.0; 4]);
            for &knot in knots.scores() {
                let [before, after] = [knot.next_down(), knot].map(at);
                let at_median = knot == knots.scores()[SIDE - 1];
                let [b, c] = if at_median { sums.across_median } else { [0.0; 2] };
                let close = (after.2 - before.2 - b).abs() < 1e-14 && (after.3 - before.3 - c).abs() < 1e-14;
                assert!(close, "{seed} {knot}: {before:?} {after:?}");
            }
        }
        assert!(pooled > 100, "{pooled}");
    }
}
