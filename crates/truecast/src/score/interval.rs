//! Scores of central prediction intervals.
//!
//! ```text
//! Winkler:   S_α(l, u; y) = (u − l) + (2/α) (l − y)⁺ + (2/α) (y − u)⁺          α = 1 − coverage
//! weighted:  WIS = (½ |y − m| + Σ_k (α_k/2) S_αk) / (K + ½)                    m the median, K intervals
//! ```
//!
//! A central interval is two quantiles, and the Winkler score is 2/α times the sum of their pinball losses. The
//! weighted interval score is then twice their mean pinball loss, [`of_quantiles`](super::crps::of_quantiles), and
//! tends to the CRPS as intervals are added.
//!
//! References: R. L. Winkler, "A Decision-Theoretic Approach to Interval Estimation", Journal of the American
//! Statistical Association 67 (1972); J. Bracher, E. L. Ray, T. Gneiting and N. G. Reich, "Evaluating epidemic
//! forecasts in an interval format", PLOS Computational Biology 17 (2021).

use crate::error::{self, Error, Result};
use crate::forecast::Forecast;

/// A central prediction interval: below it and above it lies the same probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CentralInterval {
    /// The probability of the interval, greater than 0 and less than 1.
    pub coverage: f64,
    /// Its lower end.
    pub low: f64,
    /// Its upper end, not below the lower one.
    pub high: f64,
}

/// The Winkler score of the forecast's central interval.
///
/// ```
/// use truecast::{Forecast, Gaussian, score::interval};
///
/// let forecast = Gaussian::new(0.0, 1.0)?;
/// let (low, high) = forecast.interval(0.8)?;
/// assert_eq!(interval::evaluate(&forecast, 0.3, 0.8)?, high - low); // inside: the width
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn evaluate<F: Forecast + ?Sized>(forecast: &F, y: f64, coverage: f64) -> Result<f64> {
    let (low, high) = forecast.interval(coverage)?;
    of_interval(CentralInterval { coverage, low, high }, y)
}

/// The Winkler score of an interval.
///
/// ```
/// use truecast::score::interval::{CentralInterval, of_interval};
///
/// let interval = CentralInterval { coverage: 0.75, low: 1.0, high: 2.0 };
/// assert_eq!(of_interval(interval, 1.5)?, 1.0);
/// assert_eq!(of_interval(interval, 3.0)?, 9.0); // the width, and the miss 2/(1 − 0.75) times
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn of_interval(interval: CentralInterval, y: f64) -> Result<f64> {
    let CentralInterval { coverage, low, high } = interval;
    error::finite("outcome", y)?;
    error::inner_probability("coverage", coverage)?;
    error::finite("interval end", low)?;
    error::finite("interval end", high)?;
    if low > high {
        return Err(Error::NotIncreasing { what: "interval ends", index: 1, previous: low, value: high });
    }
    let miss = (low - y).max(y - high).max(0.0);
    Ok((high - low) + 2.0 / (1.0 - coverage) * miss)
}

/// The weighted interval score of the forecast's median and its central intervals at the given coverages.
///
/// ```
/// use truecast::{Gaussian, score::interval};
///
/// // Without an interval, the absolute error of the median.
/// assert_eq!(interval::weighted(&Gaussian::new(1.0, 2.0)?, 4.0, &[])?, 3.0);
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn weighted<F: Forecast + ?Sized>(forecast: &F, y: f64, coverages: &[f64]) -> Result<f64> {
    let intervals = coverages
        .iter()
        .map(|&coverage| {
            let (low, high) = forecast.interval(coverage)?;
            Ok(CentralInterval { coverage, low, high })
        })
        .collect::<Result<Vec<_>>>()?;
    weighted_of_intervals(forecast.quantile(0.5), &intervals, y)
}

/// The weighted interval score of a median and intervals.
///
/// ```
/// use truecast::score::interval::{CentralInterval, weighted_of_intervals};
///
/// let interval = CentralInterval { coverage: 0.5, low: -1.0, high: 1.0 };
/// // (½ · 0 + ¼ · 2) / (1 + ½)
/// assert_eq!(weighted_of_intervals(0.0, &[interval], 0.0)?, 0.5 / 1.5);
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn weighted_of_intervals(median: f64, intervals: &[CentralInterval], y: f64) -> Result<f64> {
    error::finite("outcome", y)?;
    error::finite("median", median)?;
    let mut sum = 0.5 * (y - median).abs();
    for &interval in intervals {
        sum += 0.5 * (1.0 - interval.coverage) * of_interval(interval, y)?;
    }
    Ok(sum / (intervals.len() as f64 + 0.5))
}
