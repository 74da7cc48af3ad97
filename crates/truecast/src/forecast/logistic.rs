//! The logistic distribution: bell-shaped with exponential tails. Every function is elementary, and the probit score
//! is exact at any distance because the tail's logarithm is.

use serde::{Deserialize, Serialize};

use super::{Forecast, Moments};
use crate::error::{self, Error, Result};
use crate::normal;

/// A logistic forecast.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Logistic {
    location: f64,
    scale: f64,
}

impl Logistic {
    /// A logistic distribution with a finite location and a positive scale; its standard deviation is scale · π/√3.
    pub fn new(location: f64, scale: f64) -> Result<Self> {
        error::finite("location", location)?;
        error::positive("scale", scale)?;
        Ok(Logistic { location, scale })
    }

    /// The location: mean, median and mode.
    pub fn location(&self) -> f64 {
        self.location
    }

    /// The scale.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    fn standard(&self, y: f64) -> f64 {
        (y - self.location) / self.scale
    }
}

impl Forecast for Logistic {
    fn cdf(&self, y: f64) -> f64 {
        lower(self.standard(y))
    }

    fn sf(&self, y: f64) -> f64 {
        lower(-self.standard(y))
    }

    fn quantile(&self, probability: f64) -> f64 {
        self.location + self.scale * (libm::log(probability) - libm::log1p(-probability))
    }

    fn probit(&self, y: f64) -> f64 {
        let x = self.standard(y);
        let size = x.abs();
        let z = -normal::quantile_of_ln(-size - libm::log1p(libm::exp(-size)));
        if x < 0.0 { -z } else { z }
    }

    fn at_probit(&self, z: f64) -> f64 {
        self.location + self.scale * (normal::ln_cdf(z) - normal::ln_cdf(-z))
    }

    fn ln_density(&self, y: f64) -> Option<f64> {
        let size = self.standard(y).abs();
        Some(-size - 2.0 * libm::log1p(libm::exp(-size)) - libm::log(self.scale))
    }

    /// x − 2 ln F(x) − 1 in units of the scale, Jordan, Krüger & Lerch (2019), app. A, in its symmetric form.
    fn crps(&self, y: f64) -> f64 {
        let size = self.standard(y).abs();
        self.scale * (size + 2.0 * libm::log1p(libm::exp(-size)) - 1.0)
    }

    /// The variance is (π s)²/3.
    fn moments(&self) -> Moments {
        let width = std::f64::consts::PI * self.scale;
        Moments { mean: self.location, variance: width * width / 3.0 }
    }
}

/// P(X ≤ x) of the standard distribution. The exponent is never positive, so that nothing overflows.
fn lower(x: f64) -> f64 {
    if x < 0.0 {
        let e = libm::exp(x);
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + libm::exp(-x))
    }
}

#[derive(Serialize, Deserialize)]
struct Parts {
    location: f64,
    scale: f64,
}

impl TryFrom<Parts> for Logistic {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        Logistic::new(parts.location, parts.scale)
    }
}

impl From<Logistic> for Parts {
    fn from(of: Logistic) -> Self {
        Parts { location: of.location, scale: of.scale }
    }
}
