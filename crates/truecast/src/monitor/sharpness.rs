//! How wide the intervals are.
//!
//! Among calibrated forecasters the sharper one is the better. An interval of infinite width (a guard that has pushed
//! a quantile out to the end of an unbounded support) has no place in a mean and is counted apart.

use serde::{Deserialize, Serialize};

use super::coverage::{DEFAULT_COVERAGES, bound, same_shape};
use super::sum::CompensatedSum;
use crate::error::{self, Error, Result};
use crate::forecast::Forecast;

/// Running mean width of central intervals.
///
/// ```
/// use truecast::{Gaussian, monitor::Sharpness};
///
/// let mut sharpness = Sharpness::new(vec![0.8])?;
/// sharpness.observe(&Gaussian::new(5.0, 2.0)?)?;
/// assert!((sharpness.mean_width(0).unwrap() - 2.0 * 2.0 * 1.281552).abs() < 1e-5);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Sharpness {
    parts: Parts,
    /// The probit scores of the intervals' lower ends, then of their upper ends.
    ends: Vec<f64>,
    /// The ends that were read and not yet counted: room for them, and no part of the state.
    read: Vec<f64>,
}

impl PartialEq for Sharpness {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts // the ends follow from it
    }
}

impl Sharpness {
    /// Follows the given coverages, each greater than 0 and less than 1.
    pub fn new(coverages: Vec<f64>) -> Result<Self> {
        let widths = vec![Widths::default(); coverages.len()];
        Parts { coverages, rows: 0, widths }.try_into()
    }

    /// Counts a forecast; its outcome is not needed.
    pub fn observe<F: Forecast + ?Sized>(&mut self, forecast: &F) -> Result<()> {
        self.read(forecast)?;
        self.count_read();
        Ok(())
    }

    /// Reads the widths of the forecast's intervals, possibly infinite, without counting them: a caller may still find a reason to refuse
    /// the forecast.
    pub(super) fn read<F: Forecast + ?Sized>(&mut self, forecast: &F) -> Result<()> {
        forecast.at_probits(&self.ends, &mut self.read);
        match widths(&self.read).find(|width| width.is_nan()) {
            Some(value) => Err(Error::NotFinite { what: "interval width", value }),
            None => Ok(()),
        }
    }

    /// Counts the widths that were read last.
    pub(super) fn count_read(&mut self) {
        self.parts.rows += 1;
        for (sums, width) in self.parts.widths.iter_mut().zip(widths(&self.read)) {
            if width.is_finite() {
                sums.sum.add(width);
            } else {
                sums.unbounded += 1;
            }
        }
    }

    /// The nominal coverages.
    pub fn coverages(&self) -> &[f64] {
        &self.parts.coverages
    }

    /// How many forecasts were counted.
    pub fn rows(&self) -> u64 {
        self.parts.rows
    }

    /// The mean width of the intervals of the `index`-th coverage, those of infinite width left out.
    pub fn mean_width(&self, index: usize) -> Option<f64> {
        let widths = self.parts.widths.get(index)?;
        let finite = self.parts.rows - widths.unbounded;
        (finite > 0).then(|| widths.sum.value() / finite as f64)
    }

    /// How many intervals of the `index`-th coverage were infinitely wide.
    pub fn unbounded(&self, index: usize) -> Option<u64> {
        self.parts.widths.get(index).map(|widths| widths.unbounded)
    }

    /// Adds the counts of another monitor of the same coverages.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        same_shape("coverages", self.coverages(), other.coverages())?;
        self.parts.rows += other.parts.rows;
        for (widths, more) in self.parts.widths.iter_mut().zip(&other.parts.widths) {
            widths.sum.merge(&more.sum);
            widths.unbounded += more.unbounded;
        }
        Ok(())
    }

    fn assemble(parts: Parts) -> Self {
        let bounds = parts.coverages.iter().map(|&c| bound(c));
        let ends: Vec<f64> = bounds.clone().map(|z| -z).chain(bounds).collect();
        Sharpness { read: vec![0.0; ends.len()], ends, parts }
    }
}

/// From the lower ends, followed by the upper ends.
fn widths(ends: &[f64]) -> impl Iterator<Item = f64> {
    let (low, high) = ends.split_at(ends.len() / 2);
    low.iter().zip(high).map(|(low, high)| high - low)
}

impl Default for Sharpness {
    fn default() -> Self {
        let coverages = DEFAULT_COVERAGES.to_vec();
        let widths = vec![Widths::default(); coverages.len()];
        Sharpness::assemble(Parts { coverages, rows: 0, widths })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Parts {
    coverages: Vec<f64>,
    rows: u64,
    widths: Vec<Widths>,
}

/// Of one coverage.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Widths {
    sum: CompensatedSum,
    unbounded: u64,
}

impl TryFrom<Parts> for Sharpness {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        let (left, right) = (parts.coverages.len(), parts.widths.len());
        if left != right {
            return Err(Error::LengthMismatch { what: "coverages and their widths", left, right });
        }
        for (&coverage, widths) in parts.coverages.iter().zip(&parts.widths) {
            error::inner_probability("coverage", coverage)?;
            if widths.unbounded > parts.rows {
                let value = widths.unbounded as f64;
                return Err(Error::OutOfRange {
                    what: "unbounded",
                    rule: "at most the number of rows",
                    value,
                });
            }
        }
        Ok(Sharpness::assemble(parts))
    }
}

impl From<Sharpness> for Parts {
    fn from(of: Sharpness) -> Self {
        of.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gaussian;

    #[test]
    fn mean_widths_follow_the_spread_and_merge() {
        let mut left = Sharpness::default();
        let mut right = Sharpness::default();
        for std in [1.0, 2.0] {
            left.observe(&Gaussian::new(0.0, std).unwrap()).unwrap();
        }
        right.observe(&Gaussian::new(0.0, 6.0).unwrap()).unwrap();
        left.merge(&right).unwrap();
        assert_eq!(left.rows(), 3);
        for (k, &c) in DEFAULT_COVERAGES.iter().enumerate() {
            let (low, high) = Gaussian::new(0.0, 3.0).unwrap().interval(c).unwrap();
            // Three roundings of numbers below 28.
            assert!((left.mean_width(k).unwrap() - (high - low)).abs() < 1e-13);
        }
        let text = serde_json::to_string(&left).unwrap();
        assert_eq!(serde_json::from_str::<Sharpness>(&text).unwrap(), left);
        assert!(serde_json::from_str::<Sharpness>(&text.replace("0.5", "1.5")).is_err());
    }
}
