//! A function of the outcome that is linear between corners and beyond them, and may jump at a corner.
//!
//! Such a function has an exact expected value. Measured from one corner k₀,
//!
//! ```text
//! ℓ(y) = ℓ(k₀) + Σ_{k ≥ k₀} (change of slope at k)(y − k)⁺ + Σ_{k ≤ k₀} (change of slope at k)(k − y)⁺ + jumps
//! ```
//!
//! where the whole slope beside k₀ counts as its change on either side: only E[(k − Y)⁺], E[(Y − k)⁺] and probabilities
//! are needed. The nearer k₀ is to the middle of the distribution, the less the terms cancel.
//!
//! Cost: one partial expectation per corner.

use crate::error::{self, Error, Result};

/// A corner of [`Lines`]: an outcome, and the function's values just below it, at it and just above it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corner {
    /// The outcome.
    pub y: f64,
    /// The limit from below.
    pub below: f64,
    /// The value at the corner itself.
    pub at: f64,
    /// The limit from above.
    pub above: f64,
}

impl Corner {
    /// A corner at which the function does not jump.
    pub fn continuous(y: f64, value: f64) -> Self {
        Corner { y, below: value, at: value, above: value }
    }
}

/// A piecewise linear function of the outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    corners: Vec<Corner>,
    lower_slope: f64,
    upper_slope: f64,
}

/// What [`Lines::expected`] asks of a distribution.
pub(super) trait Partials {
    /// The median, or a point near it.
    fn middle(&self) -> f64;
    /// E[(c − Y)⁺].
    fn shortfall(&self, c: f64) -> Result<f64>;
    /// E[(Y − c)⁺].
    fn excess(&self, c: f64) -> Result<f64>;
    /// (P(Y < c), P(Y ≤ c), P(Y ≥ c), P(Y > c)).
    fn tails(&self, c: f64) -> (f64, f64, f64, f64);
}

impl Lines {
    /// At least one corner, in increasing order of the outcome; all numbers finite.
    pub fn new(corners: Vec<Corner>, lower_slope: f64, upper_slope: f64) -> Result<Self> {
        if corners.is_empty() {
            return Err(Error::TooFew { what: "corners of a loss", least: 1, found: 0 });
        }
        for corner in &corners {
            for value in [corner.y, corner.below, corner.at, corner.above] {
                error::finite("corner of a loss", value)?;
            }
        }
        if let Some(i) = corners.windows(2).position(|pair| pair[0].y >= pair[1].y) {
            let (previous, value) = (corners[i].y, corners[i + 1].y);
            return Err(Error::NotIncreasing { what: "corners of a loss", index: i + 1, previous, value });
        }
        error::finite("slope of a loss", lower_slope)?;
        error::finite("slope of a loss", upper_slope)?;
        Ok(Lines { corners, lower_slope, upper_slope })
    }

    /// The corners, in order.
    pub fn corners(&self) -> &[Corner] {
        &self.corners
    }

    /// The function's value.
    pub fn value(&self, y: f64) -> f64 {
        let next = self.corners.partition_point(|corner| corner.y < y);
        let last = self.corners[self.corners.len() - 1];
        match self.corners.get(next) {
            None => last.above + self.upper_slope * (y - last.y),
            Some(corner) if corner.y == y => corner.at,
            Some(corner) if next == 0 => corner.below - self.lower_slope * (corner.y - y),
            Some(b) => {
                let a = self.corners[next - 1];
                a.above + (b.below - a.above) * ((y - a.y) / (b.y - a.y))
            }
        }
    }

    /// The slope below the corner with this index; beyond the last corner for their number.
    fn slope_below(&self, index: usize) -> f64 {
        match index {
            0 => self.lower_slope,
            i if i == self.corners.len() => self.upper_slope,
            i => {
                let (a, b) = (self.corners[i - 1], self.corners[i]);
                (b.below - a.above) / (b.y - a.y)
            }
        }
    }

    /// The expected value.
    pub(super) fn expected(&self, of: &impl Partials) -> Result<f64> {
        let middle = of.middle();
        // The corner next to the middle.
        let after = self.corners.partition_point(|corner| corner.y < middle).min(self.corners.len() - 1);
        let nearer = |a: usize, b: usize| {
            if middle - self.corners[a].y < self.corners[b].y - middle { a } else { b }
        };
        let anchor = if after > 0 { nearer(after - 1, after) } else { after };

        let mut sum = self.corners[anchor].at;
        let mut slope = 0.0;
        for (k, corner) in self.corners.iter().enumerate().skip(anchor) {
            let next = self.slope_below(k + 1);
            if next != slope {
                sum += (next - slope) * of.excess(corner.y)?;
            }
            slope = next;
            if corner.above != corner.at || corner.at != corner.below {
                let (_, _, at_least, more) = of.tails(corner.y);
                let before = if k == anchor { 0.0 } else { (corner.at - corner.below) * at_least };
                sum += before + (corner.above - corner.at) * more;
            }
        }
        slope = 0.0;
        for (k, corner) in self.corners.iter().enumerate().take(anchor + 1).rev() {
            let next = -self.slope_below(k);
            if next != slope {
                sum += (next - slope) * of.shortfall(corner.y)?;
            }
            slope = next;
            if corner.above != corner.at || corner.at != corner.below {
                let (less, at_most, _, _) = of.tails(corner.y);
                let after = if k == anchor { 0.0 } else { (corner.at - corner.above) * at_most };
                sum += after + (corner.below - corner.at) * less;
            }
        }
        Ok(sum)
    }
}
