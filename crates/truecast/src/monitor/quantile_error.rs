//! How far quantiles are from their probabilities.
//!
//! ```text
//! error_q = (1/T) #{t : F_t(y_t) ≤ q} − q          largest |error_q| over a grid of q
//! ```
//!
//! On a grid fine enough this is the Kolmogorov distance of the PITs from uniform; for independent uniform PITs it
//! stays below about 1.36/√T in 95 % of streams.

use serde::{Deserialize, Serialize};

use super::coverage::{not_nan, same_shape, total};
use crate::error::{self, Error, Result};
use crate::normal;

/// Running error of quantiles on a grid of probabilities.
///
/// ```
/// use truecast::monitor::QuantileError;
///
/// let mut error = QuantileError::new(vec![0.1, 0.5, 0.9])?;
/// error.observe_probit(-0.2)?; // below the median, above the 10 % quantile
/// assert_eq!(error.error(1), Some(0.5));
/// assert_eq!(error.largest(), Some((0.5, 0.5)));
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct QuantileError {
    parts: Parts,
}

impl QuantileError {
    /// On the given probabilities, which increase and are greater than 0 and less than 1.
    pub fn new(probabilities: Vec<f64>) -> Result<Self> {
        let counts = vec![0; probabilities.len() + 1];
        Parts { probabilities, counts }.try_into()
    }

    /// Counts an outcome by its probit score.
    pub fn observe_probit(&mut self, z: f64) -> Result<()> {
        let pit = normal::cdf(not_nan(z)?);
        let parts = &mut self.parts;
        parts.counts[parts.probabilities.partition_point(|&q| q < pit)] += 1;
        Ok(())
    }

    /// The probabilities of the grid.
    pub fn probabilities(&self) -> &[f64] {
        &self.parts.probabilities
    }

    /// How many outcomes were counted.
    pub fn rows(&self) -> u64 {
        total(&self.parts.counts)
    }

    /// The share of outcomes at or below the `index`-th quantile, less its probability.
    pub fn error(&self, index: usize) -> Option<f64> {
        let probability = self.parts.probabilities.get(index)?;
        let rows = self.rows();
        let hits = total(&self.parts.counts[..=index]);
        (rows > 0).then(|| hits as f64 / rows as f64 - probability)
    }

    /// The probability with the largest error, and that error with its sign.
    pub fn largest(&self) -> Option<(f64, f64)> {
        let errors = (0..self.parts.probabilities.len()).filter_map(|k| self.error(k));
        self.parts
            .probabilities
            .iter()
            .copied()
            .zip(errors)
            .max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()))
    }

    /// Adds the counts of another monitor on the same grid.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        same_shape("probabilities", self.probabilities(), other.probabilities())?;
        for (count, more) in self.parts.counts.iter_mut().zip(&other.parts.counts) {
            *count += more;
        }
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Parts {
    probabilities: Vec<f64>,
    /// Of PITs between neighbouring probabilities, one more than there are probabilities.
    counts: Vec<u64>,
}

impl TryFrom<Parts> for QuantileError {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        if parts.probabilities.is_empty() {
            return Err(Error::TooFew { what: "probabilities", least: 1, found: 0 });
        }
        for &probability in &parts.probabilities {
            error::inner_probability("probability", probability)?;
        }
        error::increasing("probabilities", &parts.probabilities)?;
        let (left, right) = (parts.probabilities.len() + 1, parts.counts.len());
        if left != right {
            return Err(Error::LengthMismatch { what: "intervals and their counts", left, right });
        }
        Ok(QuantileError { parts })
    }
}

impl From<QuantileError> for Parts {
    fn from(of: QuantileError) -> Self {
        of.parts
    }
}
