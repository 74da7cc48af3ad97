//! Four levels at a time.
//!
//! One step is two passes over the levels (`passes/`), four of them at once, which the compiler turns into vector instructions.
//! Vectors with one entry per level are padded to a multiple of [`LANES`], so that no pass ends in a scalar remainder. Every pass
//! works level by level, or sums in a fixed order, so results are the same on every machine.

use multiversion::multiversion;

/// Vectors per level are padded to a multiple of this.
pub(crate) const LANES: usize = 4;

/// One number for each of four neighbouring levels.
pub(crate) type Quad = [f64; LANES];

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

/// The sum of what was added up lane by lane.
#[inline(always)]
pub(crate) fn across(sums: Quad) -> f64 {
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// How many of a few sorted values are at most each of two numbers.
#[multiversion(targets("x86_64+avx2"))]
pub(crate) fn count_at_most_each(sorted: &[f64], x: [f64; 2]) -> [usize; 2] {
    let mut counts = [0_u64; 2];
    for value in sorted {
        counts[0] += u64::from(*value <= x[0]);
        counts[1] += u64::from(*value <= x[1]);
    }
    counts.map(|count| count as usize)
}

/// How many of a few sorted values are at most `x`; 0 for NaN. Counting them all is faster than bisection, whose steps wait for each other.
#[inline]
pub(crate) fn count_at_most(sorted: &[f64], x: f64) -> usize {
    sorted.iter().map(|value| u64::from(*value <= x)).sum::<u64>() as usize
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
