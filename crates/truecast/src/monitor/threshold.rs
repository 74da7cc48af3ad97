//! Calibration at one threshold: the paper's ρ_T(y, p) and C_T(y), section 3.
//!
//! ```text
//! ρ_T(y, p) = Σ_t 1{y_t ≤ y, F_t(y) = p} / Σ_t 1{F_t(y) = p}
//! C_T(y)    = Σ_p |ρ_T(y, p) − p| · (1/T) Σ_t 1{F_t(y) = p}
//! ```
//!
//! Predictions p_t = F_t(y) go to the nearest of the N + 1 bins i/N (halves go up), and
//!
//! ```text
//! C_T(y) = (1/T) Σ_i |hits_i − Σ_{t in bin i} p_t|
//! ```
//!
//! which is the paper's sum where all predictions are among the i/N, and the usual binned calibration error otherwise: it
//! compares with the mean prediction of a bin, not with its centre, so a fine forecaster is not blamed for our grid.
//! Where no prediction fell into a bin the paper sets ρ to 0; we answer `None`.
//!
//! Cost: O(1) per outcome, O(N) memory.

use serde::{Deserialize, Serialize};

use super::sum::CompensatedSum;
use crate::error::{self, Error, Result};
use crate::forecast::Forecast;

/// Follows the predicted probabilities of the event Y ≤ y at one y.
///
/// ```
/// use truecast::monitor::ThresholdCalibration;
///
/// let mut at_zero = ThresholdCalibration::new(0.0, 20)?;
/// for happened in [true, true, true, false] {
///     at_zero.observe_probability(0.5, happened)?;
/// }
/// assert_eq!(at_zero.rho(10), Some(0.75));
/// assert_eq!(at_zero.error(), Some(0.25));
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct ThresholdCalibration {
    parts: Parts,
}

impl ThresholdCalibration {
    /// At the finite `threshold`, with `resolution` N ≥ 1.
    pub fn new(threshold: f64, resolution: usize) -> Result<Self> {
        Parts { threshold, bins: vec![Bin::default(); resolution.saturating_add(1)] }.try_into()
    }

    /// Counts a forecast and its outcome.
    pub fn observe<F: Forecast + ?Sized>(&mut self, forecast: &F, y: f64) -> Result<()> {
        error::finite("outcome", y)?;
        self.observe_probability(forecast.cdf(self.parts.threshold), y <= self.parts.threshold)
    }

    /// Counts a predicted probability of the event Y ≤ y, and whether it happened.
    pub fn observe_probability(&mut self, probability: f64, happened: bool) -> Result<()> {
        error::probability("predicted probability", probability)?;
        // Nearest bin; in range, because the probability is at most 1.
        let index = (probability * self.resolution() as f64 + 0.5) as usize;
        let bin = &mut self.parts.bins[index];
        bin.count += 1;
        bin.hits += u64::from(happened);
        bin.predicted.add(probability);
        Ok(())
    }

    /// The threshold y.
    pub fn threshold(&self) -> f64 {
        self.parts.threshold
    }

    /// N; there is one bin more.
    pub fn resolution(&self) -> usize {
        self.parts.bins.len() - 1
    }

    /// T, the number of outcomes.
    pub fn rows(&self) -> u64 {
        self.parts.bins.iter().fold(0, |sum, bin| sum.saturating_add(bin.count))
    }

    /// How many predictions fell into a bin.
    pub fn count(&self, bin: usize) -> u64 {
        self.parts.bins.get(bin).map_or(0, |bin| bin.count)
    }

    /// ρ_T: how often the event happened when the prediction was in the bin.
    pub fn rho(&self, bin: usize) -> Option<f64> {
        let bin = self.parts.bins.get(bin)?;
        (bin.count > 0).then(|| bin.hits as f64 / bin.count as f64)
    }

    /// The mean prediction in a bin: i/N where predictions lie on the grid.
    pub fn mean_prediction(&self, bin: usize) -> Option<f64> {
        let bin = self.parts.bins.get(bin)?;
        (bin.count > 0).then(|| bin.predicted.value() / bin.count as f64)
    }

    /// C_T(y).
    pub fn error(&self) -> Option<f64> {
        let rows = self.rows();
        let imbalance = |bin: &Bin| (bin.hits as f64 - bin.predicted.value()).abs();
        (rows > 0).then(|| self.parts.bins.iter().map(imbalance).sum::<f64>() / rows as f64)
    }

    /// Adds the counts of another monitor at the same threshold and resolution.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let (left, right) = (self.resolution(), other.resolution());
        if left != right {
            return Err(Error::LengthMismatch { what: "resolutions", left, right });
        }
        if self.threshold() != other.threshold() {
            let (what, rule) = ("threshold", "the same on both sides of a merge");
            return Err(Error::OutOfRange { what, rule, value: other.threshold() });
        }
        for (bin, more) in self.parts.bins.iter_mut().zip(&other.parts.bins) {
            bin.count += more.count;
            bin.hits += more.hits;
            bin.predicted.merge(&more.predicted);
        }
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Parts {
    threshold: f64,
    bins: Vec<Bin>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Bin {
    count: u64,
    hits: u64,
    predicted: CompensatedSum,
}

impl TryFrom<Parts> for ThresholdCalibration {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        error::finite("threshold", parts.threshold)?;
        if parts.bins.len() < 2 {
            return Err(Error::TooFew { what: "bins", least: 2, found: parts.bins.len() });
        }
        for bin in &parts.bins {
            if bin.hits > bin.count {
                let value = bin.hits as f64;
                return Err(Error::OutOfRange {
                    what: "hits",
                    rule: "at most the count of their bin",
                    value,
                });
            }
        }
        Ok(ThresholdCalibration { parts })
    }
}

impl From<ThresholdCalibration> for Parts {
    fn from(of: ThresholdCalibration) -> Self {
        of.parts
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{Gaussian, random};

    /// The paper's two definitions, written out over the set of predictions that occurred.
    #[test]
    fn on_the_grid_it_is_the_papers_definition() {
        for resolution in [1, 7, 20] {
            let mut monitor = ThresholdCalibration::new(0.0, resolution).unwrap();
            let mut seen: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
            let steps = 5_000;
            for t in 0..steps {
                let i = (random::uniform(1, t, 0) * (resolution + 1) as f64) as usize;
                let happened = random::uniform(1, t, 1) < 0.3;
                monitor.observe_probability(i as f64 / resolution as f64, happened).unwrap();
                let (count, hits) = seen.entry(i).or_default();
                *count += 1;
                *hits += u64::from(happened);
            }
            let mut error = 0.0;
            for (&i, &(count, hits)) in &seen {
                let rho = hits as f64 / count as f64;
                error += (rho - i as f64 / resolution as f64).abs() * (count as f64 / steps as f64);
                assert_eq!(monitor.rho(i), Some(rho));
                assert!((monitor.mean_prediction(i).unwrap() - i as f64 / resolution as f64).abs() < 1e-15);
            }
            // Rounding of at most 21 terms below 1.
            assert!((monitor.error().unwrap() - error).abs() < 1e-14, "N = {resolution}");
        }
    }

    #[test]
    fn a_forecast_is_read_at_the_threshold() {
        let mut monitor = ThresholdCalibration::new(1.0, 10).unwrap();
        let forecast = Gaussian::new(1.0, 3.0).unwrap();
        monitor.observe(&forecast, 1.0).unwrap(); // y ≤ threshold includes equality
        monitor.observe(&forecast, 1.1).unwrap();
        assert_eq!((monitor.count(5), monitor.rho(5), monitor.error()), (2, Some(0.5), Some(0.0)));
        assert_eq!((monitor.rho(4), monitor.rho(99)), (None, None));
        assert!(monitor.observe(&forecast, f64::NAN).is_err());
        assert!(monitor.observe_probability(-0.1, true).is_err());
        let mut other = ThresholdCalibration::new(1.0, 10).unwrap();
        other.merge(&monitor).unwrap();
        assert_eq!(other, monitor);
        assert!(ThresholdCalibration::new(2.0, 10).unwrap().merge(&monitor).is_err());
        assert!(ThresholdCalibration::new(1.0, 0).is_err());
    }
}
