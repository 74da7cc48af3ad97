//! The price of calibration: CRPS of the calibrated forecasts less that of the base.
//!
//! ```text
//! regret = Σ_t CRPS(G_t, y_t) − Σ_t CRPS(F_t, y_t)
//! ```
//!
//! Negative where recalibration helps. The regret has a sum of its own: as the difference of two large sums it would
//! lose the digits that matter.

use serde::{Deserialize, Serialize};

use super::sum::CompensatedSum;
use crate::error::{self, Result};

/// Running CRPS of base and calibrated forecasts.
///
/// ```
/// use truecast::monitor::Regret;
///
/// let mut regret = Regret::default();
/// regret.observe(1.0, 0.75)?;
/// assert_eq!(regret.regret(), -0.25);
/// assert_eq!(regret.regret_percent(), Some(-25.0));
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Regret {
    rows: u64,
    base: CompensatedSum,
    calibrated: CompensatedSum,
    difference: CompensatedSum,
}

impl Regret {
    /// Counts the scores of one outcome.
    pub fn observe(&mut self, base: f64, calibrated: f64) -> Result<()> {
        error::finite("score of the base forecast", base)?;
        error::finite("score of the calibrated forecast", calibrated)?;
        self.rows += 1;
        self.base.add(base);
        self.calibrated.add(calibrated);
        self.difference.add(calibrated - base);
        Ok(())
    }

    /// How many outcomes were counted.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The mean score of the base forecasts.
    pub fn base_mean(&self) -> Option<f64> {
        (self.rows > 0).then(|| self.base.value() / self.rows as f64)
    }

    /// The mean score of the calibrated forecasts.
    pub fn calibrated_mean(&self) -> Option<f64> {
        (self.rows > 0).then(|| self.calibrated.value() / self.rows as f64)
    }

    /// The sum of the base forecasts' scores.
    pub fn base_total(&self) -> f64 {
        self.base.value()
    }

    /// The sum of the calibrated forecasts' scores.
    pub fn calibrated_total(&self) -> f64 {
        self.calibrated.value()
    }

    /// The calibrated forecasts' sum less that of the base.
    pub fn regret(&self) -> f64 {
        self.difference.value()
    }

    /// The regret in percent of the base forecasts' sum; `None` where that is 0.
    pub fn regret_percent(&self) -> Option<f64> {
        let base = self.base.value();
        (base > 0.0).then(|| 100.0 * self.regret() / base)
    }

    /// Adds what another monitor has counted.
    pub fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.base.merge(&other.base);
        self.calibrated.merge(&other.calibrated);
        self.difference.merge(&other.difference);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores near 1e6 that differ by 1e-3: after 10⁶ steps the sums are 1e12, one rounding of which is 1e-4 and a
    /// million roundings 1e2. The difference of each step is itself good to 1e-10 only, one rounding of 1e6; so is
    /// their mean.
    #[test]
    fn a_small_regret_between_large_scores_is_kept() {
        let mut regret = Regret::default();
        let mut merged = Regret::default();
        for k in 0..1_000_000 {
            let base = 1e6 + f64::from(k % 13);
            regret.observe(base, base + 1e-3).unwrap();
            if k % 1_000 == 999 {
                merged.merge(&regret);
                regret = Regret::default();
            }
        }
        assert_eq!(merged.rows(), 1_000_000);
        assert!((merged.regret() / 1e6 - 1e-3).abs() < 1e-10, "{}", merged.regret());
    }

    #[test]
    fn nothing_counted_is_none_and_infinite_scores_are_refused() {
        let mut regret = Regret::default();
        assert_eq!(
            (regret.base_mean(), regret.calibrated_mean(), regret.regret_percent()),
            (None, None, None)
        );
        assert!(regret.observe(f64::INFINITY, 1.0).is_err() && regret.observe(1.0, f64::NAN).is_err());
        assert_eq!(regret, Regret::default());
        regret.observe(0.0, 0.0).unwrap();
        assert_eq!((regret.base_mean(), regret.regret_percent()), (Some(0.0), None));
    }
}
