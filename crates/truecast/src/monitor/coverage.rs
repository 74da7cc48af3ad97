//! How often central intervals hold the outcome.
//!
//! The central interval of coverage c runs from the quantile at (1 − c)/2 to the one at (1 + c)/2, both ends
//! included. An outcome with probit score z lies in it if and only if |z| ≤ z_c, z_c = Φ⁻¹((1 + c)/2), so no quantile
//! is needed.
//!
//! *Atoms.* An interval that ends on an atom holds all of it and so more than its nominal probability:
//! [`observe`](Coverage::observe) counts the interval as it is announced (low ≤ y ≤ high), and a calibrated forecast with
//! atoms then covers too much. [`observe_probit`](Coverage::observe_probit) with a randomised score splits the atom and
//! attains the nominal value. Without atoms the two agree.
//!
//! Cost per outcome: one probit score and one comparison per coverage.

use serde::{Deserialize, Serialize};

use crate::error::{self, Error, Result};
use crate::forecast::Forecast;
use crate::normal;

/// The coverages that reports show.
pub const DEFAULT_COVERAGES: [f64; 5] = [0.5, 0.8, 0.9, 0.95, 0.98];

/// After this many further outcomes one counts half in [`Coverage::recent`].
pub(super) const DEFAULT_HALF_LIFE: f64 = 200.0;

/// Running coverage of central intervals at a few nominal values.
///
/// ```
/// use truecast::{Gaussian, monitor::Coverage};
///
/// let mut coverage = Coverage::default();
/// let forecast = Gaussian::new(0.0, 1.0)?;
/// coverage.observe(&forecast, 0.9)?; // in the 80 % interval, not in the 50 % one
/// coverage.observe(&forecast, -0.1)?;
/// assert_eq!(coverage.share(0), Some(0.5));
/// assert_eq!(coverage.share(1), Some(1.0));
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Coverage {
    parts: Parts,
    /// z_c of each coverage; follows from `parts.coverages`.
    bounds: Vec<f64>,
    /// What a past outcome's weight in the recent share is multiplied by at each step.
    decay: f64,
}

impl Coverage {
    /// Follows the given coverages, each greater than 0 and less than 1.
    ///
    /// `half_life`: after so many further outcomes, one counts half in [`recent`](Coverage::recent).
    pub fn new(coverages: Vec<f64>, half_life: f64) -> Result<Self> {
        Parts::empty(coverages, half_life).try_into()
    }

    /// Counts an outcome: is it in the interval, ends included.
    pub fn observe<F: Forecast + ?Sized>(&mut self, forecast: &F, y: f64) -> Result<()> {
        let (z_left, z) = Coverage::scores(forecast, y)?;
        self.count(z_left, z);
        Ok(())
    }

    /// Counts an outcome by its probit score, which may be infinite but not NaN.
    pub fn observe_probit(&mut self, z: f64) -> Result<()> {
        not_nan(z)?;
        self.count(z, z);
        Ok(())
    }

    /// The probit scores of P(Y < y) and P(Y ≤ y), checked.
    pub(super) fn scores<F: Forecast + ?Sized>(forecast: &F, y: f64) -> Result<(f64, f64)> {
        error::finite("outcome", y)?;
        Ok((not_nan(forecast.probit_left(y))?, not_nan(forecast.probit(y))?))
    }

    /// Whether the central interval of a coverage, greater than 0 and less than 1, holds `y`, ends included: as [`observe`](Coverage::observe) counts it.
    ///
    /// The quantile at such an end may round to either side of an atom; this does not.
    pub fn holds<F: Forecast + ?Sized>(forecast: &F, y: f64, coverage: f64) -> bool {
        is_within(bound(coverage), forecast.probit_left(y), forecast.probit(y))
    }

    pub(super) fn count(&mut self, z_left: f64, z: f64) {
        let parts = &mut self.parts;
        parts.rows += 1;
        parts.recent_rows = self.decay * parts.recent_rows + 1.0;
        for (k, &bound) in self.bounds.iter().enumerate() {
            let hit = is_within(bound, z_left, z);
            parts.hits[k] += u64::from(hit);
            parts.recent_hits[k] = self.decay * parts.recent_hits[k] + f64::from(u8::from(hit));
        }
    }

    /// The nominal coverages.
    pub fn coverages(&self) -> &[f64] {
        &self.parts.coverages
    }

    /// How many outcomes were counted.
    pub fn rows(&self) -> u64 {
        self.parts.rows
    }

    /// The share of outcomes in the intervals of the `index`-th coverage.
    pub fn share(&self, index: usize) -> Option<f64> {
        let hits = *self.parts.hits.get(index)?;
        (self.parts.rows > 0).then(|| hits as f64 / self.parts.rows as f64)
    }

    /// The same with outcomes weighted down as they age, to see a drift that the overall share hides.
    pub fn recent(&self, index: usize) -> Option<f64> {
        let hits = *self.parts.recent_hits.get(index)?;
        (self.parts.recent_rows > 0.0).then(|| hits / self.parts.recent_rows)
    }

    /// Adds the counts of another monitor of the same coverages and half-life.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let (left, right) = (&mut self.parts, &other.parts);
        same_shape("coverages", &left.coverages, &right.coverages)?;
        same_shape("half-life", &[left.half_life], &[right.half_life])?;
        left.rows += right.rows;
        left.recent_rows += right.recent_rows;
        for k in 0..left.hits.len() {
            left.hits[k] += right.hits[k];
            left.recent_hits[k] += right.recent_hits[k];
        }
        Ok(())
    }

    fn assemble(parts: Parts) -> Self {
        let bounds = parts.coverages.iter().map(|&c| bound(c)).collect();
        Coverage { bounds, decay: libm::exp2(-1.0 / parts.half_life), parts }
    }
}

impl Default for Coverage {
    fn default() -> Self {
        Coverage::assemble(Parts::empty(DEFAULT_COVERAGES.to_vec(), DEFAULT_HALF_LIFE))
    }
}

/// y ≥ low iff P(Y ≤ y) ≥ (1 − c)/2, and y ≤ high iff P(Y < y) ≤ (1 + c)/2.
fn is_within(bound: f64, z_left: f64, z: f64) -> bool {
    z >= -bound && z_left <= bound
}

/// z_c: half the probability outside lies below −z_c.
pub(super) fn bound(coverage: f64) -> f64 {
    -normal::quantile(0.5 * (1.0 - coverage))
}

/// `z`, unless it is NaN.
pub(super) fn not_nan(z: f64) -> Result<f64> {
    if z.is_nan() { Err(Error::NotFinite { what: "probit score", value: z }) } else { Ok(z) }
}

/// The sum of counts. A loaded state may hold any: it saturates.
pub(super) fn total(counts: &[u64]) -> u64 {
    counts.iter().fold(0, |sum, &count| sum.saturating_add(count))
}

/// Monitors merge only where they measure the same.
pub(super) fn same_shape(what: &'static str, left: &[f64], right: &[f64]) -> Result<()> {
    if left.len() != right.len() {
        return Err(Error::LengthMismatch { what, left: left.len(), right: right.len() });
    }
    match left.iter().zip(right).find(|(a, b)| a != b) {
        None => Ok(()),
        Some((_, &value)) => {
            Err(Error::OutOfRange { what, rule: "the same on both sides of a merge", value })
        }
    }
}

/// What is saved: the rest follows from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Parts {
    coverages: Vec<f64>,
    half_life: f64,
    rows: u64,
    hits: Vec<u64>,
    recent_hits: Vec<f64>,
    recent_rows: f64,
}

impl Parts {
    fn empty(coverages: Vec<f64>, half_life: f64) -> Self {
        let (hits, recent_hits) = (vec![0; coverages.len()], vec![0.0; coverages.len()]);
        Parts { coverages, half_life, rows: 0, hits, recent_hits, recent_rows: 0.0 }
    }
}

impl TryFrom<Parts> for Coverage {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        const WHAT: &str = "coverages and their counts";
        error::positive("half-life", parts.half_life)?;
        for &coverage in &parts.coverages {
            error::inner_probability("coverage", coverage)?;
        }
        let left = parts.coverages.len();
        for right in [parts.hits.len(), parts.recent_hits.len()] {
            if left != right {
                return Err(Error::LengthMismatch { what: WHAT, left, right });
            }
        }
        for (k, &hits) in parts.hits.iter().enumerate() {
            if hits > parts.rows {
                let value = hits as f64;
                return Err(Error::OutOfRange { what: "hits", rule: "at most the number of rows", value });
            }
            // Also catches NaN.
            if !(0.0..=parts.recent_rows).contains(&parts.recent_hits[k]) {
                let value = parts.recent_hits[k];
                return Err(Error::OutOfRange {
                    what: "recent hits",
                    rule: "between 0 and the recent rows",
                    value,
                });
            }
        }
        error::finite("recent rows", parts.recent_rows)?;
        Ok(Coverage::assemble(parts))
    }
}

impl From<Coverage> for Parts {
    fn from(of: Coverage) -> Self {
        of.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gaussian;

    #[test]
    fn the_probit_path_agrees_with_the_intervals() {
        let forecast = Gaussian::new(3.0, 2.0).unwrap();
        let (mut by_forecast, mut by_probit) = (Coverage::default(), Coverage::default());
        let mut by_interval = [0_u32; 5];
        for k in 0..2_000 {
            let y = 3.0 + 0.01 * (f64::from(k) - 1_000.3);
            by_forecast.observe(&forecast, y).unwrap();
            by_probit.observe_probit(forecast.probit(y)).unwrap();
            for (count, c) in by_interval.iter_mut().zip(DEFAULT_COVERAGES) {
                let (low, high) = forecast.interval(c).unwrap();
                *count += u32::from(low <= y && y <= high);
            }
        }
        assert_eq!(by_forecast, by_probit);
        for (k, count) in by_interval.into_iter().enumerate() {
            assert_eq!(by_probit.share(k), Some(f64::from(count) / 2_000.0));
        }
    }

    #[test]
    fn the_recent_share_forgets() {
        let mut coverage = Coverage::new(vec![0.5], 10.0).unwrap();
        for _ in 0..1_000 {
            coverage.observe_probit(0.0).unwrap();
        }
        for _ in 0..10 {
            coverage.observe_probit(9.0).unwrap();
        }
        // One half-life of misses; the weights of the 990 older outcomes beyond the window are below 2⁻⁹⁹.
        assert!((coverage.recent(0).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(coverage.share(0), Some(1_000.0 / 1_010.0));
    }

    #[test]
    fn nothing_counted_is_none_and_bad_input_is_refused_unchanged() {
        let mut coverage = Coverage::default();
        assert_eq!((coverage.share(0), coverage.recent(0), coverage.share(9)), (None, None, None));
        let before = coverage.clone();
        assert!(matches!(
            coverage.observe_probit(f64::NAN),
            Err(Error::NotFinite { what: "probit score", .. })
        ));
        let forecast = Gaussian::new(0.0, 1.0).unwrap();
        assert!(matches!(
            coverage.observe(&forecast, f64::INFINITY),
            Err(Error::NotFinite { what: "outcome", .. })
        ));
        assert_eq!(coverage, before);
        assert!(matches!(Coverage::new(vec![1.0], 1.0), Err(Error::OutOfRange { what: "coverage", .. })));
        assert!(coverage.merge(&Coverage::new(vec![0.5], 200.0).unwrap()).is_err());
    }

    #[test]
    fn saved_and_loaded_is_equal_and_loading_validates() {
        let mut coverage = Coverage::default();
        for k in 0..100 {
            coverage.observe_probit(f64::from(k % 7) - 3.0).unwrap();
        }
        let text = serde_json::to_string(&coverage).unwrap();
        assert_eq!(serde_json::from_str::<Coverage>(&text).unwrap(), coverage);
        let bad = text.replace("\"rows\":100", "\"rows\":1");
        assert!(serde_json::from_str::<Coverage>(&bad).is_err());
    }
}
