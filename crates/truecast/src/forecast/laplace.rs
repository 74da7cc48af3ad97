//! The Laplace distribution: exponential tails on both sides. Every function is elementary, and the probit score is
//! exact at any distance because the tail's logarithm is.

use std::f64::consts::LN_2;

use serde::{Deserialize, Serialize};

use super::{Forecast, Moments};
use crate::error::{self, Error, Result};
use crate::normal;

/// A Laplace (double exponential) forecast.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Laplace {
    location: f64,
    scale: f64,
}

impl Laplace {
    /// A Laplace distribution with a finite location and a positive scale (the mean absolute deviation).
    pub fn new(location: f64, scale: f64) -> Result<Self> {
        error::finite("location", location)?;
        error::positive("scale", scale)?;
        Ok(Laplace { location, scale })
    }

    /// The location: mean, median and mode.
    pub fn location(&self) -> f64 {
        self.location
    }

    /// The scale: the mean absolute deviation.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    fn standard(&self, y: f64) -> f64 {
        (y - self.location) / self.scale
    }
}

impl Forecast for Laplace {
    fn cdf(&self, y: f64) -> f64 {
        lower(self.standard(y))
    }

    fn sf(&self, y: f64) -> f64 {
        lower(-self.standard(y))
    }

    fn quantile(&self, probability: f64) -> f64 {
        self.location
            + self.scale
                * if probability < 0.5 {
                    libm::log(2.0 * probability)
                } else {
                    -libm::log(2.0 * (1.0 - probability))
                }
    }

    fn probit(&self, y: f64) -> f64 {
        let x = self.standard(y);
        let z = -normal::quantile_of_ln(-x.abs() - LN_2);
        if x < 0.0 { -z } else { z }
    }

    fn at_probit(&self, z: f64) -> f64 {
        let size = -(normal::ln_cdf(-z.abs()) + LN_2);
        self.location + self.scale * if z < 0.0 { -size } else { size }
    }

    fn kinks(&self, out: &mut Vec<f64>) {
        out.push(self.location); // the density's peak is a corner
    }

    fn ln_density(&self, y: f64) -> Option<f64> {
        Some(-self.standard(y).abs() - LN_2 - libm::log(self.scale))
    }

    /// |x| + e^(−|x|) − ¾ in units of the scale, Jordan, Krüger & Lerch (2019), app. A.
    fn crps(&self, y: f64) -> f64 {
        let size = self.standard(y).abs();
        // Written with expm1, because near the centre |x| and e^(−|x|) − 1 cancel.
        self.scale * (size + libm::expm1(-size) + 0.25)
    }

    fn moments(&self) -> Moments {
        Moments { mean: self.location, variance: 2.0 * self.scale * self.scale }
    }
}

/// P(X ≤ x) of the standard distribution.
fn lower(x: f64) -> f64 {
    if x < 0.0 { 0.5 * libm::exp(x) } else { 1.0 - 0.5 * libm::exp(-x) }
}

#[derive(Serialize, Deserialize)]
struct Parts {
    location: f64,
    scale: f64,
}

impl TryFrom<Parts> for Laplace {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        Laplace::new(parts.location, parts.scale)
    }
}

impl From<Laplace> for Parts {
    fn from(of: Laplace) -> Self {
        Parts { location: of.location, scale: of.scale }
    }
}
