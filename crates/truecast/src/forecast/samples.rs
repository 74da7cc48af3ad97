//! A forecast given by an ensemble of samples.
//!
//! The i-th smallest of m samples is the quantile at (i − ½)/m (Hazen's plotting position); between them Φ⁻¹(F) is
//! linear, beyond them the tails are normal with the sample's standard deviation. Samples that tie make an atom, and an
//! ensemble without spread is a point mass. CRPS and density are those of this curve, and exact.
//! Cost: sorting once, then a binary search per probability.

use serde::{Deserialize, Serialize};

use super::{Forecast, Knot, Moments, ProbitCurve, Tabular, by_probit};
use crate::error::{self, Error, Result};
use crate::normal;

/// An ensemble as a forecast.
///
/// ```
/// use truecast::forecast::{Forecast, Samples};
///
/// let ensemble = Samples::new(&[3.0, 1.0, 2.0])?;
/// assert_eq!(ensemble.quantile(0.5), 2.0);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Samples {
    /// In order.
    values: Vec<f64>,
    curve: ProbitCurve,
}

impl Samples {
    /// An ensemble of at least one finite sample, in any order.
    pub fn new(values: &[f64]) -> Result<Self> {
        Samples::from_vec(values.to_vec())
    }

    fn from_vec(mut values: Vec<f64>) -> Result<Self> {
        if values.is_empty() {
            return Err(Error::TooFew { what: "samples", least: 1, found: 0 });
        }
        for &value in &values {
            error::finite("sample", value)?;
        }
        values.sort_by(f64::total_cmp);
        let count = values.len();
        error::finite("range of the samples", values[count - 1] - values[0])?;

        let mut knots: Vec<Knot> = Vec::with_capacity(count);
        for (i, &y) in values.iter().enumerate() {
            let z = normal::quantile((i as f64 + 0.5) / count as f64);
            // Of samples that tie, only the first and the last carry information.
            match knots.as_mut_slice() {
                [.., a, b] if a.y == y && b.y == y => b.z = z,
                _ => knots.push(Knot { y, z }),
            }
        }
        let spread = standard_deviation(&values);
        Ok(Samples { values, curve: ProbitCurve::from_parts(knots, spread, spread) })
    }

    /// The samples, in order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

/// With m − 1 in the denominator; 0 for a single sample. Finite for finite samples with a finite range: deviations are
/// taken in units of the range.
pub(crate) fn standard_deviation(sorted: &[f64]) -> f64 {
    let (first, count) = (sorted[0], sorted.len() as f64);
    let range = sorted[sorted.len() - 1] - first;
    if range <= 0.0 {
        return 0.0;
    }
    let share = |y: f64| (y - first) / range;
    let mean = sorted.iter().map(|&y| share(y)).sum::<f64>() / count;
    let squares = sorted.iter().map(|&y| (share(y) - mean) * (share(y) - mean)).sum::<f64>();
    range * (squares / (count - 1.0)).sqrt()
}

impl Forecast for Samples {
    by_probit!();

    fn probit(&self, y: f64) -> f64 {
        self.curve.probit(y)
    }

    fn probit_left(&self, y: f64) -> f64 {
        self.curve.probit_left(y)
    }

    fn at_probit(&self, z: f64) -> f64 {
        self.curve.at_probit(z)
    }

    fn curve(&self) -> Option<ProbitCurve> {
        Some(self.curve.clone())
    }

    fn as_curve(&self) -> Option<&ProbitCurve> {
        Some(&self.curve)
    }

    fn as_table(&self) -> Option<Tabular<'_>> {
        Some(Tabular::Ensemble { values: &self.values })
    }

    fn kinks(&self, out: &mut Vec<f64>) {
        out.extend(self.curve.knots().iter().map(|k| k.y));
    }

    fn ln_density(&self, y: f64) -> Option<f64> {
        self.curve.ln_density(y)
    }

    fn crps(&self, y: f64) -> f64 {
        self.curve.crps(y)
    }

    fn moments(&self) -> Moments {
        self.curve.moments()
    }
}

#[derive(Serialize, Deserialize)]
struct Parts {
    values: Vec<f64>,
}

impl TryFrom<Parts> for Samples {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        Samples::from_vec(parts.values)
    }
}

impl From<Samples> for Parts {
    fn from(of: Samples) -> Self {
        Parts { values: of.values }
    }
}
