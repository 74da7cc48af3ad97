//! A forecast given by some of its quantiles.
//!
//! The table is read in probit units: between two quantiles Φ⁻¹(F) is linear, and beyond the outer ones it goes on with
//! the slope of the chord over the outer four, which makes the tails normal. A normal distribution is thus recovered exactly from
//! any two of its quantiles. Quantiles that tie make an atom; where the outer four tie the support ends there.
//!
//! Quantiles that cross are put in order by sorting, the monotone rearrangement of Chernozhukov, Fernández-Val & Galichon,
//! "Quantile and Probability Curves without Crossing", Econometrica 78 (2010), which never moves the curve away from the
//! true one. CRPS and density are exact. Cost: a binary search per probability.

use serde::{Deserialize, Serialize};

use super::{Forecast, Knot, Moments, ProbitCurve, Tabular, by_probit};
use crate::error::{self, Error, Result};
use crate::normal;

/// The chord of a tail goes to the quantile so many places further in.
const CHORD: usize = 3;

/// A quantile table as a forecast.
///
/// ```
/// use truecast::forecast::{Forecast, Quantiles};
///
/// let demand = Quantiles::new(&[0.1, 0.5, 0.9], &[0.0, 0.0, 12.0])?.with_support(0.0, f64::INFINITY)?;
/// assert_eq!(demand.quantile(0.3), 0.0);
/// assert!((demand.cdf(0.0) - 0.5).abs() < 1e-15);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Quantiles {
    probabilities: Vec<f64>,
    /// Φ⁻¹ of them.
    probits: Vec<f64>,
    values: Vec<f64>,
    repaired: usize,
    low: f64,
    high: f64,
    curve: ProbitCurve,
}

impl Quantiles {
    /// A table of quantiles, put in order where they cross; see [`repaired`](Quantiles::repaired).
    ///
    /// Probabilities must increase and lie inside (0, 1); at least two quantiles are needed.
    pub fn new(probabilities: &[f64], values: &[f64]) -> Result<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let repaired = sorted.iter().zip(values).filter(|(after, before)| after != before).count();
        Quantiles::in_order(probabilities.to_vec(), sorted, repaired)
    }

    /// A table of quantiles that refuses those that cross.
    pub fn strict(probabilities: &[f64], values: &[f64]) -> Result<Self> {
        let table = Quantiles::new(probabilities, values)?;
        match values.windows(2).position(|pair| pair[0] > pair[1]) {
            None => Ok(table),
            Some(i) => Err(Error::CrossingQuantiles {
                probability: probabilities[i + 1],
                previous: values[i],
                value: values[i + 1],
            }),
        }
    }

    /// The same table on a support from `low` to `high`, either of which may be infinite. Probability beyond a bound
    /// becomes an atom on it.
    pub fn with_support(self, low: f64, high: f64) -> Result<Self> {
        for value in [low, high] {
            if value.is_nan() {
                return Err(Error::NotFinite { what: "bound of the support", value });
            }
        }
        if low >= high {
            return Err(Error::NotIncreasing {
                what: "bounds of the support",
                index: 1,
                previous: low,
                value: high,
            });
        }
        let (low, high) = (low.max(self.low), high.min(self.high));
        if low >= high {
            return Err(Error::OutOfRange {
                what: "new support",
                rule: "one that overlaps the support set before",
                value: low,
            });
        }
        let curve = self.curve.clone().within(low, high);
        Ok(Quantiles { low, high, curve, ..self })
    }

    fn in_order(probabilities: Vec<f64>, values: Vec<f64>, repaired: usize) -> Result<Self> {
        if probabilities.len() != values.len() {
            return Err(Error::LengthMismatch {
                what: "probabilities and quantiles",
                left: probabilities.len(),
                right: values.len(),
            });
        }
        if values.len() < 2 {
            return Err(Error::TooFew { what: "quantiles", least: 2, found: values.len() });
        }
        for &probability in &probabilities {
            error::inner_probability("probability of a quantile", probability)?;
        }
        error::increasing("probabilities of the quantiles", &probabilities)?;
        for &value in &values {
            error::finite("quantile", value)?;
        }
        error::finite("range of the quantiles", values[values.len() - 1] - values[0])?;
        let scores: Vec<f64> = probabilities.iter().map(|&p| normal::quantile(p)).collect();
        // Neighbouring doubles may share a score: such probabilities are refused, because no line passes through them.
        error::increasing("probit scores of the probabilities", &scores)?;
        let knots: Vec<Knot> = values.iter().zip(&scores).map(|(&y, &z)| Knot { y, z }).collect();
        let spread = |a: Knot, b: Knot| error::finite("spread of a tail", (b.y - a.y) / (b.z - a.z));
        let last = knots.len() - 1;
        let far = CHORD.min(last);
        let lower = spread(knots[0], knots[far])?;
        let upper = spread(knots[last - far], knots[last])?;
        let curve = ProbitCurve::from_parts(knots, lower, upper);
        let probits = scores;
        Ok(Quantiles {
            probabilities,
            probits,
            values,
            repaired,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            curve,
        })
    }

    /// The probabilities of the table.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// The quantiles of the table, in order, before the support clips them.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// How many quantiles moved when the table was put in order: 0 for one that did not cross.
    pub fn repaired(&self) -> usize {
        self.repaired
    }

    /// The bounds set by [`with_support`](Quantiles::with_support); infinite where there is none.
    pub fn support(&self) -> (f64, f64) {
        (self.low, self.high)
    }
}

impl Forecast for Quantiles {
    by_probit!();

    fn probit(&self, y: f64) -> f64 {
        self.curve.probit(y)
    }

    fn probit_left(&self, y: f64) -> f64 {
        self.curve.probit_left(y)
    }

    fn at_probit(&self, z: f64) -> f64 {
        // A bound too far out for a finite score is not in the curve.
        self.curve.at_probit(z).clamp(self.low, self.high)
    }

    fn curve(&self) -> Option<ProbitCurve> {
        Some(self.curve.clone())
    }

    fn as_curve(&self) -> Option<&ProbitCurve> {
        Some(&self.curve)
    }

    fn as_table(&self) -> Option<Tabular<'_>> {
        let Quantiles { probits, values, low, high, .. } = self;
        Some(Tabular::Quantiles { probits, values, support: (*low, *high) })
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
    probabilities: Vec<f64>,
    values: Vec<f64>,
    #[serde(default)]
    repaired: usize,
    /// Bounds of the support, if any: JSON has no infinity.
    #[serde(default)]
    low: Option<f64>,
    #[serde(default)]
    high: Option<f64>,
}

impl TryFrom<Parts> for Quantiles {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        let mut table = Quantiles::new(&parts.probabilities, &parts.values)?;
        // What was saved is in order already; the count tells what it was made from.
        table.repaired = table.repaired.max(parts.repaired.min(table.values.len()));
        match (parts.low, parts.high) {
            (None, None) => Ok(table),
            (low, high) => {
                table.with_support(low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY))
            }
        }
    }
}

impl From<Quantiles> for Parts {
    fn from(of: Quantiles) -> Self {
        let bound = |value: f64| value.is_finite().then_some(value);
        Parts {
            low: bound(of.low),
            high: bound(of.high),
            probabilities: of.probabilities,
            values: of.values,
            repaired: of.repaired,
        }
    }
}
