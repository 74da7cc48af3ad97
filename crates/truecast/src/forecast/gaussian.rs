//! The normal distribution. Its probit score is (y − mean)/std, exact at any distance.

use multiversion::multiversion;
use serde::{Deserialize, Serialize};

use super::{Forecast, Knot, Moments, ProbitCurve, by_probit};
use crate::error::{self, Error, Result};
use crate::grid::Levels;
use crate::normal;

/// A normal forecast.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Gaussian {
    mean: f64,
    std: f64,
}

impl Default for Gaussian {
    /// The standard normal distribution.
    fn default() -> Self {
        Gaussian { mean: 0.0, std: 1.0 }
    }
}

impl Gaussian {
    /// A normal distribution with a finite mean and a positive, finite standard deviation.
    pub fn new(mean: f64, std: f64) -> Result<Self> {
        error::finite("mean", mean)?;
        error::positive("standard deviation", std)?;
        Ok(Gaussian { mean, std })
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The standard deviation.
    pub fn std(&self) -> f64 {
        self.std
    }
}

impl Forecast for Gaussian {
    by_probit!();

    #[inline]
    fn probit(&self, y: f64) -> f64 {
        (y - self.mean) / self.std
    }

    #[inline]
    fn at_probit(&self, z: f64) -> f64 {
        self.mean + self.std * z
    }

    #[inline]
    fn widths(&self, levels: &Levels, out: &mut [f64]) {
        scale(self.std, levels.gaps(), out);
    }

    fn curve(&self) -> Option<ProbitCurve> {
        Some(ProbitCurve::from_parts(vec![Knot { y: self.mean, z: 0.0 }], self.std, self.std))
    }

    fn ln_density(&self, y: f64) -> Option<f64> {
        Some(normal::ln_density(self.probit(y)) - libm::log(self.std))
    }

    /// σ [z (2Φ(z) − 1) + 2φ(z) − 1/√π], Gneiting & Raftery (2007), eq. 21.
    fn crps(&self, y: f64) -> f64 {
        const FRAC_1_SQRT_PI: f64 = 0.564_189_583_547_756_3;
        let z = self.probit(y);
        self.std * (z * (normal::cdf(z) - normal::sf(z)) + 2.0 * normal::density(z) - FRAC_1_SQRT_PI)
    }

    fn moments(&self) -> Moments {
        Moments { mean: self.mean, variance: self.std * self.std }
    }

    fn std(&self) -> f64 {
        self.std
    }

    fn as_gaussian(&self) -> Option<Gaussian> {
        Some(*self)
    }
}

/// out = factor · values.
#[multiversion(targets("x86_64+avx2"))]
fn scale(factor: f64, values: &[f64], out: &mut [f64]) {
    for (out, value) in out.iter_mut().zip(values) {
        *out = factor * value;
    }
}

#[derive(Serialize, Deserialize)]
struct Parts {
    mean: f64,
    std: f64,
}

impl TryFrom<Parts> for Gaussian {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        Gaussian::new(parts.mean, parts.std)
    }
}

impl From<Gaussian> for Parts {
    fn from(of: Gaussian) -> Self {
        Parts { mean: of.mean, std: of.std }
    }
}
