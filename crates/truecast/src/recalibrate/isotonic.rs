//! Weighted projection onto non-decreasing vectors (pool adjacent violators).
//!
//! Announced probabilities of nested events may cross. The indicators o_1 ≤ … ≤ o_M of one outcome never do, so they
//! lie in the convex cone of non-decreasing vectors, and projecting on it brings the announcement no further from them:
//! the weighted squared loss never rises, whatever the outcome (docs/theory.md, "Isotonic projection").
//!
//! Cost: O(M), one comparison per level when nothing crosses. Allocates nothing once the scratch has grown.

/// Room for the blocks of one projection.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    blocks: Vec<Block>,
}

impl Scratch {
    /// Room for vectors of this length: one block per entry at most.
    pub(crate) fn for_length(length: usize) -> Self {
        Scratch { blocks: Vec::with_capacity(length) }
    }
}

#[derive(Debug, Clone, Copy)]
struct Block {
    value: f64,
    weight: f64,
    end: usize,
}

/// Projects `values` in place. `weight(j)` must be ≥ 0; a weight of 0 counts as a vanishing one.
pub fn project(values: &mut [f64], weight: impl Fn(usize) -> f64, scratch: &mut Scratch) {
    if is_non_decreasing(values) {
        return;
    }
    let blocks = &mut scratch.blocks;
    blocks.clear();
    for (j, &value) in values.iter().enumerate() {
        let mut last = Block { value, weight: weight(j).max(1e-300), end: j + 1 };
        while let Some(before) = blocks.pop_if(|before| before.value > last.value) {
            let weight = before.weight + last.weight;
            let value = (before.value * before.weight + last.value * last.weight) / weight;
            // Rounding must not carry the mean outside of what it is a mean of.
            last = Block { value: value.clamp(last.value, before.value), weight, end: last.end };
        }
        blocks.push(last);
    }
    let mut start = 0;
    for block in blocks {
        values[start..block.end].fill(block.value);
        start = block.end;
    }
}

/// One branch-free pass: almost always nothing crosses.
#[inline(never)] // vectorises by itself
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
        project(&mut values, |j| [1.0, 1.0, 2.0, 1.0, 1.0, 3.0][j], &mut Scratch::default());
        let expected = [0.1, 0.3, 0.3, 0.4, 0.825, 0.825];
        for (got, want) in values.iter().zip(expected) {
            assert!((got - want).abs() < 1e-15, "{values:?}");
        }
    }

    #[test]
    fn zero_weights_are_vanishing_ones() {
        let mut values = [0.7, 0.2];
        project(&mut values, |j| [0.0, 1.0][j], &mut Scratch::default());
        assert_eq!(values, [0.2, 0.2]);
        let mut values = [0.7, 0.2];
        project(&mut values, |_| 0.0, &mut Scratch::default());
        assert!((values[0] - 0.45).abs() < 1e-15 && values[0] == values[1]);
    }
}
