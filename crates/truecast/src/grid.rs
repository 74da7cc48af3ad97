//! The two grids everything is built on: levels (where we predict) and plays (what we may announce).

use serde::{Deserialize, Serialize};

use crate::error::{self, Error, Result};
use crate::normal;

/// The levels u_j = Φ(z_j): points of the base forecast's probability scale at which probabilities are announced.
///
/// Invariant: at least two finite, strictly increasing probit scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub struct Levels {
    probits: Vec<f64>,
    probabilities: Vec<f64>,
    gaps: Vec<f64>,
}

impl Default for Levels {
    /// 25 levels stretched over ±6.
    fn default() -> Self {
        Levels::from_increasing(stretched(25, 6.0, 3.0))
    }
}

impl Levels {
    /// Levels at the given probit scores.
    pub fn new(probits: Vec<f64>) -> Result<Self> {
        if probits.len() < 2 {
            return Err(Error::TooFew { what: "levels", least: 2, found: probits.len() });
        }
        error::increasing("levels", &probits)?;
        Ok(Levels::from_increasing(probits))
    }

    fn from_increasing(probits: Vec<f64>) -> Self {
        let probabilities = probits.iter().map(|&z| normal::cdf(z)).collect();
        let last = probits.len() - 1;
        let gap = |j: usize| match j {
            0 => probits[1] - probits[0],
            _ if j == last => probits[last] - probits[last - 1],
            _ => 0.5 * (probits[j + 1] - probits[j - 1]),
        };
        Levels { gaps: (0..=last).map(gap).collect(), probits, probabilities }
    }

    /// 49 levels stretched over ±6: where forecasts without quantiles of their own are read.
    pub(crate) fn fine() -> Self {
        Levels::from_increasing(stretched(49, 6.0, 3.0))
    }

    /// `count` levels z = span · sinh(stretch·x)/sinh(stretch), x equally spaced on [−1, 1]: dense in the
    /// middle for underconfident forecasters, wide for overconfident ones.
    pub fn stretched(count: usize, span: f64, stretch: f64) -> Result<Self> {
        error::positive("span of the levels", span)?;
        error::positive("stretch of the levels", stretch)?;
        Levels::new(stretched(count, span, stretch))
    }

    /// The paper's levels: the inner edges j/M of M equal intervals of [0, 1]. (The outer edges 0 and 1 need
    /// no forecaster: the events have probability 0 and 1.)
    pub fn uniform(intervals: usize) -> Result<Self> {
        Levels::new((1..intervals).map(|j| normal::quantile(j as f64 / intervals as f64)).collect())
    }

    /// How many levels there are.
    pub fn count(&self) -> usize {
        self.probits.len()
    }

    /// The probit scores z_j.
    pub fn probits(&self) -> &[f64] {
        &self.probits
    }

    /// The probabilities u_j = Φ(z_j).
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// Half the distance between the neighbouring probit scores (at the two ends, the distance to the one neighbour).
    pub fn gaps(&self) -> &[f64] {
        &self.gaps
    }
}

impl TryFrom<Vec<f64>> for Levels {
    type Error = Error;
    fn try_from(probits: Vec<f64>) -> Result<Self> {
        Levels::new(probits)
    }
}

impl From<Levels> for Vec<f64> {
    fn from(levels: Levels) -> Self {
        levels.probits
    }
}

/// The play grid v_0 = 0 < … < v_N = 1: the probabilities a subroutine mixes its announcements from.
///
/// Invariant: at least two strictly increasing probabilities, the first 0 and the last 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub struct Plays {
    values: Vec<f64>,
}

impl Default for Plays {
    /// 16 intervals, the inner plays at Φ of an equal grid on ±3.3.
    fn default() -> Self {
        Plays { values: probit_plays(16, 3.3) }
    }
}

impl Plays {
    /// A play grid from its points, which must begin with 0 and end with 1.
    pub fn new(values: Vec<f64>) -> Result<Self> {
        if values.len() < 2 {
            return Err(Error::TooFew { what: "plays", least: 2, found: values.len() });
        }
        error::increasing("plays", &values)?;
        for (value, end) in [(values[0], 0.0), (values[values.len() - 1], 1.0)] {
            if value != end {
                return Err(Error::OutOfRange {
                    what: "outer play",
                    rule: "0 at the first, 1 at the last",
                    value,
                });
            }
        }
        Ok(Plays { values })
    }

    /// `intervals` play intervals whose inner points are Φ of an equal grid on [−span, span].
    pub fn probit(intervals: usize, span: f64) -> Result<Self> {
        if intervals < 3 {
            return Err(Error::TooFew { what: "play intervals", least: 3, found: intervals });
        }
        error::positive("span of the plays", span)?;
        Plays::new(probit_plays(intervals, span))
    }

    /// The paper's plays i/N.
    pub fn uniform(intervals: usize) -> Result<Self> {
        Plays::new((0..=intervals).map(|i| i as f64 / intervals as f64).collect())
    }

    /// N, the number of intervals; there is one play more.
    pub fn intervals(&self) -> usize {
        self.values.len() - 1
    }

    /// The plays v_0 … v_N.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The interval that holds `p`, and how far `p` lies into it: p = (1 − a) v_i + a v_{i+1}.
    pub fn locate(&self, p: f64) -> (usize, f64) {
        let i = self.values.partition_point(|&v| v <= p).clamp(1, self.intervals()) - 1;
        let (low, high) = (self.values[i], self.values[i + 1]);
        (i, ((p - low) / (high - low)).clamp(0.0, 1.0))
    }
}

impl TryFrom<Vec<f64>> for Plays {
    type Error = Error;
    fn try_from(values: Vec<f64>) -> Result<Self> {
        Plays::new(values)
    }
}

impl From<Plays> for Vec<f64> {
    fn from(plays: Plays) -> Self {
        plays.values
    }
}

fn stretched(count: usize, span: f64, stretch: f64) -> Vec<f64> {
    let at = |x: f64| span * libm::sinh(stretch * x) / libm::sinh(stretch);
    equally_spaced(-1.0, 1.0, count).map(at).collect()
}

fn probit_plays(intervals: usize, span: f64) -> Vec<f64> {
    let inner = equally_spaced(-span, span, intervals - 1).map(normal::cdf);
    std::iter::once(0.0).chain(inner).chain(std::iter::once(1.0)).collect()
}

/// `count` points from `first` to `last`, both included. The middle of a symmetric range is exactly 0.
pub(crate) fn equally_spaced(first: f64, last: f64, count: usize) -> impl Iterator<Item = f64> {
    let steps = count.saturating_sub(1).max(1) as f64;
    (0..count).map(move |k| (first * (steps - k as f64) + last * k as f64) / steps)
}
