//! The calibration score of the paper, section 6.
//!
//! ```text
//! score = Σ_j ((q_j − q_{j−1}) − p̂_j)²          p̂_j = the share of PITs between q_{j−1} and q_j
//! ```
//!
//! 0 for PITs that fall into the intervals exactly as often as they should; of n independent uniform PITs its
//! expectation is Σ_j w_j (1 − w_j)/n with w_j = q_j − q_{j−1}, so 0.82/n at the paper's levels 0, .2, .4, .5, .6, .8, 1.
//!
//! *Boundaries.* The paper writes q_{j−1} ≤ p ≤ q_j, which counts a PIT on a boundary twice. Here an interval is
//! (q_{j−1}, q_j], the first with 0, so that each PIT counts once and Σ p̂_j = 1. It matters for step functions
//! alone; with [randomised](crate::Forecast::randomised_probit) PITs no outcome falls on a boundary.

use serde::{Deserialize, Serialize};

use super::coverage::{not_nan, same_shape, total};
use crate::error::{self, Error, Result};
use crate::normal;

/// The levels of the paper's tables.
const PAPER_LEVELS: [f64; 7] = [0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 1.0];

/// Running calibration score.
///
/// ```
/// use truecast::monitor::CalibrationScore;
///
/// let mut score = CalibrationScore::new(vec![0.0, 0.5, 1.0])?;
/// score.observe(0.2)?;
/// assert_eq!(score.score(), Some(0.5)); // (½ − 1)² + (½ − 0)²
/// score.observe(0.7)?;
/// assert_eq!(score.score(), Some(0.0));
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct CalibrationScore {
    parts: Parts,
}

impl CalibrationScore {
    /// A score at the given levels, which begin with 0, increase, and end with 1.
    pub fn new(levels: Vec<f64>) -> Result<Self> {
        let counts = vec![0; levels.len().saturating_sub(1)];
        Parts { levels, counts }.try_into()
    }

    /// Counts a PIT.
    pub fn observe(&mut self, pit: f64) -> Result<()> {
        error::probability("PIT", pit)?;
        let inner = &self.parts.levels[1..self.parts.levels.len() - 1];
        self.parts.counts[inner.partition_point(|&level| level < pit)] += 1;
        Ok(())
    }

    /// Counts an outcome by its probit score.
    pub fn observe_probit(&mut self, z: f64) -> Result<()> {
        self.observe(normal::cdf(not_nan(z)?))
    }

    /// The levels q_0 … q_m.
    pub fn levels(&self) -> &[f64] {
        &self.parts.levels
    }

    /// How many PITs were counted.
    pub fn rows(&self) -> u64 {
        total(&self.parts.counts)
    }

    /// The score so far.
    pub fn score(&self) -> Option<f64> {
        let rows = self.rows();
        (rows > 0).then(|| {
            let shares = self.parts.counts.iter().map(|&count| count as f64 / rows as f64);
            let widths = self.parts.levels.windows(2).map(|q| q[1] - q[0]);
            widths.zip(shares).map(|(width, share)| (width - share) * (width - share)).sum()
        })
    }

    /// Adds the counts of another score at the same levels.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        same_shape("levels of the calibration score", self.levels(), other.levels())?;
        for (count, more) in self.parts.counts.iter_mut().zip(&other.parts.counts) {
            *count += more;
        }
        Ok(())
    }
}

impl Default for CalibrationScore {
    /// The paper's levels.
    fn default() -> Self {
        CalibrationScore {
            parts: Parts { levels: PAPER_LEVELS.to_vec(), counts: vec![0; PAPER_LEVELS.len() - 1] },
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Parts {
    levels: Vec<f64>,
    counts: Vec<u64>,
}

impl TryFrom<Parts> for CalibrationScore {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        const WHAT: &str = "levels of the calibration score";
        let found = parts.levels.len();
        if found < 2 {
            return Err(Error::TooFew { what: WHAT, least: 2, found });
        }
        error::increasing(WHAT, &parts.levels)?;
        for (value, end) in [(parts.levels[0], 0.0), (parts.levels[found - 1], 1.0)] {
            if value != end {
                return Err(Error::OutOfRange { what: WHAT, rule: "0 at the first, 1 at the last", value });
            }
        }
        if parts.counts.len() != found - 1 {
            let (left, right) = (found - 1, parts.counts.len());
            return Err(Error::LengthMismatch { what: "intervals and their counts", left, right });
        }
        Ok(CalibrationScore { parts })
    }
}

impl From<CalibrationScore> for Parts {
    fn from(of: CalibrationScore) -> Self {
        of.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pit_on_a_boundary_counts_once_and_below() {
        let mut score = CalibrationScore::default();
        for pit in PAPER_LEVELS {
            score.observe(pit).unwrap();
        }
        assert_eq!(score.parts.counts, [2, 1, 1, 1, 1, 1]);
    }

    /// Expectation 0.82/n, and at n = 10⁶ grid points the shares are exact to one in a million: 6e-12 at most.
    #[test]
    fn a_uniform_grid_scores_zero() {
        let mut score = CalibrationScore::default();
        for k in 0..1_000_000 {
            score.observe((f64::from(k) + 0.5) / 1e6).unwrap();
        }
        assert!(score.score().unwrap() < 6e-12);
    }

    #[test]
    fn bad_levels_by_their_error() {
        assert!(matches!(CalibrationScore::new(vec![0.0]), Err(Error::TooFew { least: 2, found: 1, .. })));
        assert!(matches!(
            CalibrationScore::new(vec![0.0, 0.5, 0.9]),
            Err(Error::OutOfRange { value: 0.9, .. })
        ));
        assert!(matches!(
            CalibrationScore::new(vec![0.0, 0.5, 0.5, 1.0]),
            Err(Error::NotIncreasing { index: 2, .. })
        ));
        assert!(serde_json::from_str::<CalibrationScore>(r#"{"levels":[0.0,1.0],"counts":[]}"#).is_err());
        assert_eq!(CalibrationScore::default().score(), None);
    }
}
