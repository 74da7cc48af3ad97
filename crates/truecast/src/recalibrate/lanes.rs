//! Straight passes over the levels.
//!
//! One step is a handful of passes over vectors with one entry per level. They are free functions over slices, and not inlined,
//! because that is what lets the compiler turn them into vector instructions: separate `&mut` arguments are known not to
//! overlap, fields of one struct are not. The vectors are padded to a multiple of [`LANES`] so that no pass ends in a scalar
//! remainder. Every pass works level by level, or sums in a fixed order, so results are the same on every machine.

use multiversion::multiversion;

/// Vectors per level are padded to a multiple of this.
pub(crate) const LANES: usize = 4;

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

/// Σ a·b for padded vectors: down the lanes, then across them.
#[multiversion(targets("x86_64+avx2"))]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for l in 0..LANES {
            sums[l] += a[l] * b[l];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// Σ a, in the order of [`dot`].
#[multiversion(targets("x86_64+avx2"))]
pub(crate) fn sum(a: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for a in a.chunks_exact(LANES) {
        for l in 0..LANES {
            sums[l] += a[l];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_ignore_zero_padding() {
        let values: Vec<f64> = (1..=25).map(f64::from).collect();
        assert_eq!(sum(&pad(&values, 0.0)), 325.0);
        assert_eq!(dot(&pad(&values, 0.0), &pad(&values, 7.0)), 5525.0);
        assert_eq!(padded(25), 28);
    }
}
