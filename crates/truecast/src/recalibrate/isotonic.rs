//! Weighted projection onto non-decreasing vectors (pool adjacent violators).
//!
//! Announced probabilities of nested events may cross. The indicators o_1 ≤ … ≤ o_M of one outcome never do, so they
//! lie in the convex cone of non-decreasing vectors, and projecting on it brings the announcement no further from them:
//! the weighted squared loss never rises, whatever the outcome (docs/theory.md, "Isotonic projection").
//!
//! Cost: one comparison per level when nothing crosses, and otherwise only the blocks that are pooled. Allocates nothing.

use multiversion::multiversion;

/// Projects `values` in place. `weight(j)` must be ≥ 0; a weight of 0 counts as a vanishing one.
///
/// Each crossing is pooled with its neighbours until it fits between them. A pooled block's entries share one value, so a
/// later crossing that reaches into it takes in all of it: the result is that of pooling whole blocks, whatever the order.
pub fn project(values: &mut [f64], weight: impl Fn(usize) -> f64) {
    if is_non_decreasing(values) {
        return;
    }
    let weight = |j: usize| weight(j).max(1e-300);
    let mut next = 0;
    while next + 1 < values.len() {
        if values[next] <= values[next + 1] {
            next += 1;
            continue;
        }
        let (mut first, mut last) = (next, next + 1);
        let mut total = weight(first) + weight(last);
        let mut mean = (values[first] * weight(first) + values[last] * weight(last)) / total;
        loop {
            let taken = if first > 0 && values[first - 1] > mean {
                first -= 1;
                first
            } else if last + 1 < values.len() && values[last + 1] < mean {
                last += 1;
                last
            } else {
                break;
            };
            total += weight(taken);
            mean += (values[taken] - mean) * (weight(taken) / total);
        }
        // Rounding must not carry the mean past its neighbours.
        let floor = if first > 0 { values[first - 1] } else { mean };
        let ceiling = if last + 1 < values.len() { values[last + 1] } else { mean };
        values[first..=last].fill(mean.max(floor).min(ceiling));
        next = last;
    }
}

/// One branch-free pass: almost always nothing crosses.
#[multiversion(targets("x86_64+avx2"))]
pub(crate) fn is_non_decreasing(values: &[f64]) -> bool {
    let Some((_, after)) = values.split_first() else { return true };
    let crossings: u64 = values.iter().zip(after).map(|(a, b)| u64::from(a > b)).sum();
    crossings == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_by_weighted_means() {
        let mut values = [0.1, 0.5, 0.2, 0.4, 0.9, 0.8];
        project(&mut values, |j| [1.0, 1.0, 2.0, 1.0, 1.0, 3.0][j]);
        let expected = [0.1, 0.3, 0.3, 0.4, 0.825, 0.825];
        for (got, want) in values.iter().zip(expected) {
            assert!((got - want).abs() < 1e-15, "{values:?}");
        }
    }

    #[test]
    fn zero_weights_are_vanishing_ones() {
        let mut values = [0.7, 0.2];
        project(&mut values, |j| [0.0, 1.0][j]);
        assert_eq!(values, [0.2, 0.2]);
        let mut values = [0.7, 0.2];
        project(&mut values, |_| 0.0);
        assert!((values[0] - 0.45).abs() < 1e-15 && values[0] == values[1]);
    }
}
