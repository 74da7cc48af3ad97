//! The integrals of one guard, eight of its cells at a time.

use fearless_simd::{Simd, f64x8, prelude::*};

use super::{Cell, FAR, NONE, SIDE, Stretch, Table};
use crate::grid::cells::ROW;
use crate::lanes::{Eight, eights, eights_mut, wide};
use crate::recalibrate::guard::{COUNT, Knots};

/// B and C at the outer end of each cell, and what the rest follows from.
#[derive(Debug)]
#[repr(align(64))]
pub(in crate::recalibrate) struct Sums {
    runs: [f64; ROW],
    areas: [f64; ROW],
    moments: [f64; ROW],
    /// B above the median less B below, and C above less C below, at the median.
    pub(in crate::recalibrate) across_median: [f64; 2],
}

impl Sums {
    #[inline(always)]
    pub(in crate::recalibrate) fn new<S: Simd>(simd: S, knots: &Knots) -> Self {
        let table = knots.table();
        // Cells beyond the outer guarded quantiles have no length.
        let scores = knots.padded_scores();
        let mut padded = [scores[COUNT - 1]; ROW + 8];
        padded[..scores.len()].copy_from_slice(scores);
        padded[COUNT..scores.len()].fill(scores[COUNT - 1]);
        let mut runs = [0.0; ROW];
        let (mut area_rises, mut moment_rises) = ([0.0; ROW], [0.0; ROW]);
        for i in 0..ROW / 8 {
            let from = f64x8::from_slice(simd, &padded[8 * i..8 * i + 8]);
            let to = f64x8::from_slice(simd, &padded[8 * i + 1..8 * i + 9]);
            let constants = table.constants(|row| wide(simd, eights(row)[i]));
            let stretch = Stretch::new(to - from, &constants);
            let [area, moment] = stretch.rises(&constants);
            eights_mut(&mut runs)[i] = stretch.run.into();
            eights_mut(&mut area_rises)[i] = area.into();
            eights_mut(&mut moment_rises)[i] = moment.into();
        }
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
        Sums { runs, areas, moments, across_median: [b[1] - b[0], c[1] + c[0]] }
    }
}

/// The integrals in every cell of one guard.
#[derive(Debug)]
#[repr(align(64))]
pub(in crate::recalibrate) struct Integrals<'a> {
    table: &'a Table,
    from: [f64; ROW],
    slopes: [f64; ROW],
    per_slope: [f64; ROW],
    u: [f64; ROW],
    v: [f64; ROW],
}

impl<'a> Integrals<'a> {
    /// Apart from the sums, which were stored number by number: long after them, they are there to be read as vectors.
    #[inline(always)]
    pub(in crate::recalibrate) fn new<S: Simd>(simd: S, sums: &Sums, knots: &'a Knots) -> Self {
        let (table, scores) = (knots.table(), knots.scores());
        let mut from = [scores[0] - FAR; ROW];
        from[..COUNT].copy_from_slice(&scores[..COUNT]);
        let zero = [0.0; ROW];
        let mut all = Integrals { table, from, slopes: zero, per_slope: zero, u: zero, v: zero };
        for i in 0..ROW / 8 {
            let constants = table.constants(|row| wide(simd, eights(row)[i]));
            let stretch = Stretch::new(wide(simd, eights(&sums.runs)[i]), &constants);
            let [area, moment] = [&sums.areas, &sums.moments].map(|row| wide(simd, eights(row)[i]));
            let [u, v] = stretch.rest(area, moment, &constants);
            eights_mut(&mut all.slopes)[i] = stretch.slope.into();
            eights_mut(&mut all.per_slope)[i] = stretch.per_slope.into();
            eights_mut(&mut all.u)[i] = u.into();
            eights_mut(&mut all.v)[i] = v.into();
        }
        all
    }

    /// The cells with these numbers.
    #[inline(always)]
    pub(in crate::recalibrate) fn at<S: Simd>(&self, simd: S, cells: &[u32; 8]) -> Cell<S> {
        let read = |row: &[f64; ROW]| wide(simd, gather(row, cells));
        Cell {
            from: read(&self.from),
            anchor: read(&self.table.anchors),
            slope: read(&self.slopes),
            per_slope: read(&self.per_slope),
            u: read(&self.u),
            v: read(&self.v),
        }
    }
}

/// What stands in each of eight places.
#[inline(always)]
fn gather(row: &[f64; ROW], places: &[u32; 8]) -> Eight {
    let at = |l: usize| row[places[l] as usize % ROW];
    [at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)]
}

/// The cell in which each score lies; at a guarded quantile, the one above it. Seven digits are compared: where they do not tell a score from the
/// guarded quantile above it, the cell is too high.
#[inline(always)]
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
