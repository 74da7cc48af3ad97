//! Four levels at a time, or eight.
//!
//! One step is three passes over the levels (`passes/`), four of them at once, written with the vector types of `fearless_simd` for every instruction set.
//! Vectors with one entry per level are padded to a multiple of [`LANES`], so that no pass ends in a scalar remainder. Every pass
//! works level by level, or sums in a fixed order, so results are the same on every machine. Moments take eight numbers at once: of eight levels, or of
//! one level of eight forecasts.

use std::ops::{Add, Div, Mul, Sub};

use fearless_simd::{Simd, f64x4, f64x8, prelude::*};
use multiversion::multiversion;

/// Vectors per level are padded to a multiple of this.
pub(crate) const LANES: usize = 4;

/// One number for each of four neighbouring levels.
pub(crate) type Quad = [f64; LANES];

/// The same as one vector.
#[inline(always)]
pub(crate) fn vector<S: Simd>(simd: S, quad: Quad) -> f64x4<S> {
    f64x4::simd_from(simd, quad)
}

/// One number for each of eight neighbouring levels, or of eight forecasts.
pub(crate) type Eight = [f64; 8];

/// The same as one vector.
#[inline(always)]
pub(crate) fn wide<S: Simd>(simd: S, eight: Eight) -> f64x8<S> {
    f64x8::simd_from(simd, eight)
}

/// A number, or a vector of them: what formulas are written for that are evaluated for one level and for several.
pub(crate) trait Number:
    Copy
    + Add<Output = Self>
    + Add<f64, Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Mul<f64, Output = Self>
    + Div<Output = Self>
{
    /// One number, in all lanes.
    fn everywhere(self, number: f64) -> Self;
}

impl Number for f64 {
    #[inline(always)]
    fn everywhere(self, number: f64) -> Self {
        number
    }
}

impl<S: Simd> Number for f64x4<S> {
    #[inline(always)]
    fn everywhere(self, number: f64) -> Self {
        f64x4::splat(self.token(), number)
    }
}

impl<S: Simd> Number for f64x8<S> {
    #[inline(always)]
    fn everywhere(self, number: f64) -> Self {
        f64x8::splat(self.token(), number)
    }
}

/// The padded length for `count` levels.
pub(crate) fn padded(count: usize) -> usize {
    count.next_multiple_of(LANES)
}

/// `values` followed by copies of `filler` up to the padded length.
pub(crate) fn pad(values: &[f64], filler: f64) -> Vec<f64> {
    let mut out = values.to_vec();
    out.resize(padded(values.len()), filler);
    out
}

/// A padded vector, four levels at a time.
#[inline(always)]
pub(crate) fn quads(values: &[f64]) -> &[Quad] {
    values.as_chunks().0
}

/// The same, to be written to.
#[inline(always)]
pub(crate) fn quads_mut(values: &mut [f64]) -> &mut [Quad] {
    values.as_chunks_mut().0
}

/// A vector whose length is a multiple of eight, eight levels at a time.
#[inline(always)]
pub(crate) fn eights(values: &[f64]) -> &[Eight] {
    values.as_chunks().0
}

/// The same, to be written to.
#[inline(always)]
pub(crate) fn eights_mut(values: &mut [f64]) -> &mut [Eight] {
    values.as_chunks_mut().0
}

/// The sum of what was added up lane by lane.
#[inline(always)]
pub(crate) fn across(sums: Quad) -> f64 {
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// How many of some values are below each of two numbers.
#[inline]
pub(crate) fn count_below_each(rows: &[Quad], x: [f64; 2]) -> [usize; 2] {
    let mut counts = [[0.0; LANES]; 2];
    count_below_by_lane(rows, x, &mut counts);
    counts.map(|count| small_integer(across(count)))
}

/// A whole number from 0 to 2²⁰. Added to 2⁵² it stands in the lowest bits; `as` would take care of NaN and infinities too.
#[inline(always)]
fn small_integer(x: f64) -> usize {
    const SHIFT: f64 = (1_u64 << 52) as f64;
    (x + SHIFT).to_bits() as usize & 0xf_ffff
}

/// In floating point, as everything else in a vector is.
#[multiversion(targets("x86_64+avx2"))]
fn count_below_by_lane(rows: &[Quad], x: [f64; 2], counts: &mut [Quad; 2]) {
    let (mut low, mut high) = ([0.0; LANES], [0.0; LANES]);
    for row in rows {
        for l in 0..LANES {
            low[l] += if row[l] < x[0] { 1.0 } else { 0.0 };
            high[l] += if row[l] < x[1] { 1.0 } else { 0.0 };
        }
    }
    *counts = [low, high];
}

/// How many of a few sorted values are at most `x`; 0 for NaN. Counting them all is faster than bisection, whose steps wait for each other.
#[inline]
pub(crate) fn count_at_most(sorted: &[f64], x: f64) -> usize {
    sorted.iter().map(|value| u64::from(*value <= x)).sum::<u64>() as usize
}

/// The same, as a part of vector code.
#[inline(always)]
pub(crate) fn count_at_most_with<S: Simd>(simd: S, sorted: &[f64], x: f64) -> usize {
    let (rows, rest) = sorted.as_chunks();
    let mut count = count_at_most(rest, x) as u32;
    for &row in rows {
        count += vector(simd, row).simd_le(x).to_bitmask().count_ones();
    }
    count as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_ignore_zero_padding() {
        let values: Vec<f64> = (1..=25).map(f64::from).collect();
        assert_eq!(padded(25), 28);
        let values = pad(&values, 0.0);
        let rows = quads(&values).iter();
        assert_eq!(
            across(rows.fold([0.0; LANES], |sums, row| std::array::from_fn(|l| sums[l] + row[l]))),
            325.0
        );
    }
}
