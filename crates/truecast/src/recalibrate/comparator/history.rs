//! The last W scores, behind a prior that the base forecast is right.
//!
//! ```text
//! H(x) = (κ Φ(x) + #{scores ≤ x}) / (κ + n)          n = min(W, outcomes)
//! quantile(p) = min {x : H(x) ≥ p}, −∞ if p ≤ 0, +∞ if p ≥ 1
//! ```
//!
//! Without outcomes H = Φ and quantiles are the base's own; κ is the prior's weight in outcomes. H is strictly increasing, so
//! z ≤ quantile(p) exactly where H(z−) ≤ p.
//!
//! Cost: O(log W) per question, O(W) moved numbers per outcome; 3 W numbers. Allocates only while it grows.

use std::collections::VecDeque;

use crate::normal;

/// The scores that the rules of all quantiles share.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    capacity: usize,
    prior: f64,
    /// Oldest first.
    recent: VecDeque<f64>,
    /// The same, sorted, and Φ of each.
    sorted: Vec<f64>,
    probabilities: Vec<f64>,
    steps: u64,
    ln_steps_per_step: f64,
}

impl History {
    /// An empty history of at most `capacity` scores (0: outcomes are counted and not kept), with a prior worth `prior` outcomes.
    pub fn new(capacity: usize, prior: f64) -> Self {
        History {
            capacity,
            prior,
            recent: VecDeque::with_capacity(capacity),
            sorted: Vec::with_capacity(capacity),
            probabilities: Vec::with_capacity(capacity),
            steps: 0,
            ln_steps_per_step: 0.0,
        }
    }

    /// Outcomes so far, forgotten ones included.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// (ln t)/t after t outcomes, and 0 before the first.
    pub fn ln_steps_per_step(&self) -> f64 {
        self.ln_steps_per_step
    }

    /// The scores that are kept, oldest first.
    pub fn scores(&self) -> impl Iterator<Item = f64> + '_ {
        self.recent.iter().copied()
    }

    /// How many scores are kept at most.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Adds a finite score, and forgets the oldest one if there are too many.
    pub fn push(&mut self, score: f64) {
        self.count(self.steps + 1);
        if self.capacity == 0 {
            return;
        }
        if self.recent.len() == self.capacity
            && let Some(oldest) = self.recent.pop_front()
        {
            let i = self.sorted.partition_point(|&s| s < oldest);
            self.sorted.remove(i);
            self.probabilities.remove(i);
        }
        let score = score + 0.0; // one zero only, so that the order of ties cannot be told
        self.recent.push_back(score);
        let i = self.sorted.partition_point(|&s| s < score);
        self.sorted.insert(i, score);
        self.probabilities.insert(i, normal::cdf(score));
    }

    /// A history that goes on from saved scores.
    pub(crate) fn restore(&mut self, scores: &[f64], steps: u64) {
        scores.iter().for_each(|&score| self.push(score));
        self.count(steps);
    }

    fn count(&mut self, steps: u64) {
        self.steps = steps;
        let t = steps.max(1) as f64;
        self.ln_steps_per_step = libm::log(t) / t;
    }

    /// The smallest x with H(x) ≥ `level`.
    pub fn quantile(&self, level: f64) -> f64 {
        if level <= 0.0 {
            return f64::NEG_INFINITY;
        }
        if level >= 1.0 {
            return f64::INFINITY;
        }
        let mass = level * (self.prior + self.sorted.len() as f64);
        // The first score at which H, its own jump included, reaches the level.
        let (mut first, mut end) = (0, self.sorted.len());
        while first < end {
            let middle = first + (end - first) / 2;
            if self.prior * self.probabilities[middle] + (middle + 1) as f64 >= mass {
                end = middle;
            } else {
                first = middle + 1;
            }
        }
        // Between the score before it and itself only the prior rises.
        let x = normal::quantile(((mass - first as f64) / self.prior).clamp(0.0, 1.0));
        let low = if first > 0 { self.sorted[first - 1] } else { f64::NEG_INFINITY };
        let high = self.sorted.get(first).copied().unwrap_or(f64::INFINITY);
        x.max(low).min(high)
    }

    /// H(`score`): how likely an outcome at or below it is.
    pub fn level_at(&self, score: f64) -> f64 {
        let below = self.sorted.partition_point(|&s| s <= score);
        (self.prior * normal::cdf(score) + below as f64) / (self.prior + self.sorted.len() as f64)
    }

    /// H(`score`−): the smallest level whose quantile is at least `score`.
    pub fn level_below(&self, score: f64) -> f64 {
        let below = self.sorted.partition_point(|&s| s < score);
        (self.prior * normal::cdf(score) + below as f64) / (self.prior + self.sorted.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_with_the_base_and_is_unbounded_at_the_ends() {
        let history = History::new(4, 10.0);
        for level in [0.001, 0.3, 0.5, 0.975] {
            assert_eq!(history.quantile(level), normal::quantile(level));
        }
        assert_eq!(history.quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(history.quantile(1.0), f64::INFINITY);
    }

    /// The quantile is the smallest x with H(x) ≥ p, and forgotten scores do not count.
    #[test]
    fn quantiles_invert_the_mixture() {
        let mut history = History::new(5, 2.0);
        for score in [9.0, -9.0, 0.3, 0.3, -1.0, 0.2, 4.0] {
            history.push(score);
        }
        assert_eq!(history.scores().collect::<Vec<_>>(), [0.3, 0.3, -1.0, 0.2, 4.0]);
        let kept = [0.3, 0.3, -1.0, 0.2, 4.0];
        let h = |x: f64, open: bool| {
            let count = kept.iter().filter(|&&s| if open { s < x } else { s <= x }).count();
            (2.0 * normal::cdf(x) + count as f64) / 7.0
        };
        for k in 1..100 {
            let level = f64::from(k) / 100.0;
            let x = history.quantile(level);
            assert!(h(x, false) >= level - 1e-12 && h(x, true) <= level + 1e-12, "{level}: {x}");
            assert!((history.level_below(x) - h(x, true)).abs() < 1e-15);
        }
    }
}
