//! The integrals of eight guards, one cell of all of them at a time.
//!
//! Forecasts that follow each other have nearly the same map, so a level mostly lies in the same cell of all eight guards.

use fearless_simd::{Simd, f64x8, prelude::*};

use super::{Cell, FAR, NONE, SIDE, Stretch, Table};
use crate::lanes::{Eight, wide};
use crate::recalibrate::guard::{COUNT, Knots};

/// The integrals in every cell of eight guards.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(in crate::recalibrate) struct Integrals {
    /// The first one lies below the guarded quantiles, each other one above the guarded quantile with the number before its own.
    cells: [Parts; COUNT + 1],
    /// B above the median less B below, and C above less C below, at the median.
    pub(in crate::recalibrate) across_median: [Eight; 2],
}

/// One cell of each guard.
#[derive(Debug, Clone, Copy, Default)]
struct Parts {
    from: Eight,
    slope: Eight,
    per_slope: Eight,
    u: Eight,
    v: Eight,
}

impl Integrals {
    /// To be [filled](Integrals::fill).
    pub(in crate::recalibrate) fn empty() -> Self {
        Integrals { cells: [Parts::default(); COUNT + 1], across_median: [[0.0; 8]; 2] }
    }

    /// The ledger's scores of a guarded quantile.
    #[inline(always)]
    pub(in crate::recalibrate) fn knots(&self, k: usize) -> &Eight {
        &self.cells[k + 1].from
    }

    #[inline(always)]
    pub(in crate::recalibrate) fn fill<S: Simd>(&mut self, simd: S, guards: [&Knots; 8]) {
        let table = guards[0].table();
        let scores = guards.map(Knots::padded_scores);
        for k in 0..COUNT {
            for s in 0..8 {
                self.cells[k + 1].from[s] = scores[s][k];
            }
        }
        self.cells[0].from = (wide(simd, *self.knots(0)) - FAR).into();
        let zero = f64x8::splat(simd, 0.0);
        self.fill_cell(table, NONE, zero, [zero; 2]);
        self.fill_cell(table, COUNT - 1, zero, [zero; 2]);
        let start = [&table.area_rises, &table.moment_rises].map(|row| f64x8::splat(simd, row[NONE]));
        let mut sums = [start; 2];
        for step in 1..SIDE {
            for (k, sums) in [step - 1, COUNT - 1 - step].into_iter().zip(&mut sums) {
                let run = wide(simd, *self.knots(k + 1)) - wide(simd, *self.knots(k));
                *sums = self.fill_cell(table, k, run, *sums);
            }
        }
        let [low, high] = sums;
        self.across_median = [(high[0] - low[0]).into(), (high[1] + low[1]).into()];
    }

    /// One cell of each guard, given how long it is and B and C at its outer end. Gives B and C at the inner end.
    #[inline(always)]
    fn fill_cell<S: Simd>(
        &mut self,
        table: &Table,
        k: usize,
        run: f64x8<S>,
        [b, c]: [f64x8<S>; 2],
    ) -> [f64x8<S>; 2] {
        let constants = table.constants(|row| f64x8::splat(run.token(), row[k]));
        let stretch = Stretch::new(run, &constants);
        let ([u, v], [area, moment]) = (stretch.rest(b, c, &constants), stretch.rises(&constants));
        let cell = &mut self.cells[number(k)];
        (cell.slope, cell.per_slope) = (stretch.slope.into(), stretch.per_slope.into());
        (cell.u, cell.v) = (u.into(), v.into());
        [b + area, c + (b * run + moment)]
    }

    /// The cells in which scores lie. `first` is a guess at the one that holds the lowest, and becomes it.
    #[inline(always)]
    pub(in crate::recalibrate) fn at<S: Simd>(
        &self,
        table: &Table,
        scores: f64x8<S>,
        first: &mut usize,
    ) -> Cell<S> {
        let simd = scores.token();
        while *first > 0 && scores.simd_lt(wide(simd, self.cells[*first].from)).any_true() {
            *first -= 1;
        }
        while *first < COUNT && scores.simd_ge(wide(simd, self.cells[*first + 1].from)).all_true() {
            *first += 1;
        }
        let mut found = self.read(simd, table, *first);
        for next in *first + 1..=COUNT {
            let beyond = scores.simd_ge(wide(simd, self.cells[next].from));
            if !beyond.any_true() {
                break;
            }
            let cell = self.read(simd, table, next);
            found = Cell {
                from: beyond.select(cell.from, found.from),
                anchor: beyond.select(cell.anchor, found.anchor),
                slope: beyond.select(cell.slope, found.slope),
                per_slope: beyond.select(cell.per_slope, found.per_slope),
                u: beyond.select(cell.u, found.u),
                v: beyond.select(cell.v, found.v),
            };
        }
        found
    }

    #[inline(always)]
    fn read<S: Simd>(&self, simd: S, table: &Table, number: usize) -> Cell<S> {
        let Parts { from, slope, per_slope, u, v } = &self.cells[number];
        let anchor = table.anchors[number.checked_sub(1).unwrap_or(NONE)];
        Cell {
            from: wide(simd, *from),
            anchor: f64x8::splat(simd, anchor),
            slope: wide(simd, *slope),
            per_slope: wide(simd, *per_slope),
            u: wide(simd, *u),
            v: wide(simd, *v),
        }
    }
}

/// Where a cell stands among all.
#[inline(always)]
fn number(k: usize) -> usize {
    if k == NONE { 0 } else { k + 1 }
}
