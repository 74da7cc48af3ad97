//! The uniform distribution on an interval. Outcomes beyond it have the probit scores −∞ and +∞. All is elementary.

use serde::{Deserialize, Serialize};

use super::{Forecast, Moments};
use crate::error::{self, Error, Result};
use crate::normal;

/// A uniform forecast.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Uniform {
    low: f64,
    high: f64,
}

impl Uniform {
    /// The uniform distribution between two finite ends, the first less than the second.
    pub fn new(low: f64, high: f64) -> Result<Self> {
        error::increasing("ends of the interval", &[low, high])?;
        error::finite("length of the interval", high - low)?;
        Ok(Uniform { low, high })
    }

    /// The lower end.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The upper end.
    pub fn high(&self) -> f64 {
        self.high
    }

    fn length(&self) -> f64 {
        self.high - self.low
    }

    /// The outcome with a share `below` of the probability under it and a share `above` over it, measured from the
    /// nearer end.
    fn between(&self, below: f64, above: f64) -> f64 {
        if below <= above { self.low + self.length() * below } else { self.high - self.length() * above }
    }
}

impl Forecast for Uniform {
    fn cdf(&self, y: f64) -> f64 {
        ((y - self.low) / self.length()).clamp(0.0, 1.0)
    }

    fn sf(&self, y: f64) -> f64 {
        ((self.high - y) / self.length()).clamp(0.0, 1.0)
    }

    fn quantile(&self, probability: f64) -> f64 {
        self.between(probability, 1.0 - probability)
    }

    fn at_probit(&self, z: f64) -> f64 {
        self.between(normal::cdf(z), normal::sf(z))
    }

    fn kinks(&self, out: &mut Vec<f64>) {
        out.extend([self.low, self.high]);
    }

    fn ln_density(&self, y: f64) -> Option<f64> {
        let inside = (self.low..=self.high).contains(&y);
        Some(if inside { -libm::log(self.length()) } else { f64::NEG_INFINITY })
    }

    /// (F³ + S³)/3 in units of the length with S = 1 − F, plus the distance from the interval: the integral of a
    /// squared line on each side of the outcome.
    fn crps(&self, y: f64) -> f64 {
        let (below, above) = (self.cdf(y), self.sf(y));
        let outside = (self.low - y).max(y - self.high).max(0.0);
        outside + self.length() * (below * below * below + above * above * above) / 3.0
    }

    fn moments(&self) -> Moments {
        let length = self.length();
        Moments { mean: self.low + 0.5 * length, variance: length * length / 12.0 }
    }
}

#[derive(Serialize, Deserialize)]
struct Parts {
    low: f64,
    high: f64,
}

impl TryFrom<Parts> for Uniform {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        Uniform::new(parts.low, parts.high)
    }
}

impl From<Uniform> for Parts {
    fn from(of: Uniform) -> Self {
        Parts { low: of.low, high: of.high }
    }
}
