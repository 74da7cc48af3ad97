//! The histogram of probability integral transforms.
//!
//! The PIT of an outcome is u = F(y) = Φ(z), uniform on [0, 1] for a calibrated forecaster. A hump in the middle is a
//! forecaster that is too wide, a U one that is too narrow, a slope one that is biased.
//!
//! Bins are (k/B, (k + 1)/B], the first with 0: a PIT on an edge counts below it, as the event {F(y) ≤ k/B} does.
//! Where forecasts have atoms, pass [randomised](crate::Forecast::randomised_probit) scores.
//!
//! Reference: T. Gneiting, F. Balabdaoui and A. E. Raftery, "Probabilistic Forecasts, Calibration and Sharpness",
//! Journal of the Royal Statistical Society B 69 (2007).

use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF};

use super::coverage::{not_nan, total};
use crate::error::{self, Error, Result};
use crate::normal;

/// Counts of PITs in equal bins.
///
/// ```
/// use truecast::monitor::PitHistogram;
///
/// let mut histogram = PitHistogram::new(4)?;
/// for pit in [0.1, 0.3, 0.6, 0.9] {
///     histogram.observe(pit)?;
/// }
/// assert_eq!(histogram.counts(), [1, 1, 1, 1]);
/// assert_eq!(histogram.total_variation(), Some(0.0));
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u64>", into = "Vec<u64>")]
pub struct PitHistogram {
    /// Invariant: at least two.
    counts: Vec<u64>,
}

impl PitHistogram {
    /// An empty histogram of at least two bins.
    pub fn new(bins: usize) -> Result<Self> {
        if bins < 2 {
            return Err(Error::TooFew { what: "bins", least: 2, found: bins });
        }
        Ok(PitHistogram { counts: vec![0; bins] })
    }

    /// Counts a PIT.
    pub fn observe(&mut self, pit: f64) -> Result<()> {
        let bin = self.bin(error::probability("PIT", pit)?);
        self.counts[bin] += 1;
        Ok(())
    }

    /// Counts an outcome by its probit score.
    pub fn observe_probit(&mut self, z: f64) -> Result<()> {
        self.observe(normal::cdf(not_nan(z)?))
    }

    /// The bin of `pit`, by the edges k/B as they are in `f64`, so that a PIT that was computed as k/B lies on its edge.
    fn bin(&self, pit: f64) -> usize {
        let last = self.counts.len() - 1;
        let edge = |k: usize| k as f64 / self.counts.len() as f64;
        let mut bin = ((pit * self.counts.len() as f64) as usize).min(last);
        while bin > 0 && pit <= edge(bin) {
            bin -= 1;
        }
        while bin < last && pit > edge(bin + 1) {
            bin += 1;
        }
        bin
    }

    /// The counts, from the lowest bin up.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// How many PITs were counted.
    pub fn rows(&self) -> u64 {
        total(&self.counts)
    }

    /// The share of PITs in each bin, over 1/B: 1 everywhere for a calibrated forecaster.
    pub fn relative_frequencies(&self) -> Option<Vec<f64>> {
        let expected = self.expected()?;
        Some(self.counts.iter().map(|&count| count as f64 / expected).collect())
    }

    /// ½ Σ |share − 1/B|: the share of outcomes that would have to move for the histogram to be flat.
    pub fn total_variation(&self) -> Option<f64> {
        let expected = self.expected()?;
        let sum: f64 = self.counts.iter().map(|&count| (count as f64 - expected).abs()).sum();
        Some(0.5 * sum / self.rows() as f64)
    }

    /// Pearson's Σ (count − expected)² / expected. For independent uniform PITs its mean is B − 1.
    pub fn chi_square(&self) -> Option<f64> {
        let expected = self.expected()?;
        Some(
            self.counts
                .iter()
                .map(|&count| (count as f64 - expected) * (count as f64 - expected) / expected)
                .sum(),
        )
    }

    /// The counts between which a bin lies with at least the given probability if PITs are independent and uniform:
    /// binomial quantiles, for each bin on its own. With 20 bins and 0.95, one bin outside is expected.
    pub fn band(&self, coverage: f64) -> Result<(u64, u64)> {
        error::inner_probability("coverage", coverage)?;
        let share = 1.0 / self.counts.len() as f64;
        let tail = 0.5 * (1.0 - coverage);
        // The share is in (0, 1/2], which the constructor always takes.
        Ok(Binomial::new(share, self.rows())
            .map_or((0, self.rows()), |law| (law.inverse_cdf(tail), law.inverse_cdf(1.0 - tail))))
    }

    /// Adds the counts of another histogram with as many bins.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let (left, right) = (self.counts.len(), other.counts.len());
        if left != right {
            return Err(Error::LengthMismatch { what: "bins", left, right });
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        Ok(())
    }

    fn expected(&self) -> Option<f64> {
        let rows = self.rows();
        (rows > 0).then(|| rows as f64 / self.counts.len() as f64)
    }
}

impl Default for PitHistogram {
    /// 20 bins: the cells of the paper's levels j/20.
    fn default() -> Self {
        PitHistogram { counts: vec![0; 20] }
    }
}

impl TryFrom<Vec<u64>> for PitHistogram {
    type Error = Error;
    fn try_from(counts: Vec<u64>) -> Result<Self> {
        PitHistogram::new(counts.len())?;
        Ok(PitHistogram { counts })
    }
}

impl From<PitHistogram> for Vec<u64> {
    fn from(histogram: PitHistogram) -> Self {
        histogram.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pit_on_an_edge_counts_below_it() {
        for bins in [2, 3, 7, 10, 20, 49, 100] {
            let histogram = PitHistogram::new(bins).unwrap();
            assert_eq!(histogram.bin(0.0), 0);
            for k in 1..=bins {
                let edge = k as f64 / bins as f64;
                assert_eq!(histogram.bin(edge), k - 1, "edge {k} of {bins}");
                assert_eq!(
                    histogram.bin(edge.next_up().min(1.0)),
                    k.min(bins - 1),
                    "after edge {k} of {bins}"
                );
            }
        }
    }

    #[test]
    fn distances_of_a_histogram_by_hand() {
        let histogram = PitHistogram::try_from(vec![6, 2, 2, 2]).unwrap();
        assert_eq!(histogram.rows(), 12);
        assert_eq!(histogram.total_variation(), Some(3.0 / 12.0));
        assert_eq!(histogram.chi_square(), Some((9.0 + 1.0 + 1.0 + 1.0) / 3.0));
        assert_eq!(histogram.relative_frequencies(), Some(vec![2.0, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]));
        assert_eq!(PitHistogram::new(4).unwrap().total_variation(), None);
    }

    /// scipy.stats.binom.ppf([0.025, 0.975], 1000, 0.05) is 37 and 64; of (12, 0.25), 0 and 6.
    #[test]
    fn the_band_is_the_binomial_one() {
        let mut counts = vec![50; 20];
        assert_eq!(PitHistogram::try_from(counts.clone()).unwrap().band(0.95), Ok((37, 64)));
        counts.truncate(4);
        assert_eq!(PitHistogram::try_from(vec![3; 4]).unwrap().band(0.95), Ok((0, 6)));
        assert_eq!(PitHistogram::new(4).unwrap().band(0.95), Ok((0, 0)));
    }

    #[test]
    fn bad_input_by_its_error() {
        assert_eq!(PitHistogram::new(1), Err(Error::TooFew { what: "bins", least: 2, found: 1 }));
        let mut histogram = PitHistogram::new(2).unwrap();
        assert!(matches!(histogram.observe(1.5), Err(Error::OutOfRange { what: "PIT", .. })));
        assert!(histogram.observe(f64::NAN).is_err() && histogram.observe_probit(f64::NAN).is_err());
        assert!(histogram.merge(&PitHistogram::new(3).unwrap()).is_err());
        assert_eq!(histogram.rows(), 0);
        assert!(serde_json::from_str::<PitHistogram>("[1]").is_err());
    }
}
