//! The log-normal distribution, for positive outcomes. Its probit score is (ln y − μ)/σ, exact at any distance; an
//! outcome of 0 or below lies under the support and has the score −∞.

use std::f64::consts::FRAC_1_SQRT_2;

use serde::{Deserialize, Serialize};

use super::{Forecast, Moments, by_probit};
use crate::error::{self, Error, Result};
use crate::normal;

/// A forecast whose logarithm is normal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct LogNormal {
    mu: f64,
    sigma: f64,
}

impl LogNormal {
    /// The distribution of e^X, X normal with a finite mean `mu` and a positive standard deviation `sigma`.
    pub fn new(mu: f64, sigma: f64) -> Result<Self> {
        error::finite("mean of the logarithm", mu)?;
        error::positive("standard deviation of the logarithm", sigma)?;
        Ok(LogNormal { mu, sigma })
    }

    /// The mean of the logarithm.
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// The standard deviation of the logarithm.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }
}

impl Forecast for LogNormal {
    by_probit!();

    fn probit(&self, y: f64) -> f64 {
        if y <= 0.0 { f64::NEG_INFINITY } else { (libm::log(y) - self.mu) / self.sigma }
    }

    fn at_probit(&self, z: f64) -> f64 {
        libm::exp(self.mu + self.sigma * z)
    }

    fn kinks(&self, out: &mut Vec<f64>) {
        out.push(0.0);
    }

    fn ln_density(&self, y: f64) -> Option<f64> {
        if y <= 0.0 {
            return Some(f64::NEG_INFINITY);
        }
        Some(normal::ln_density(self.probit(y)) - libm::log(self.sigma) - libm::log(y))
    }

    /// y (2Φ(ω) − 1) − 2 e^(μ + σ²/2) [Φ(ω − σ) + Φ(σ/√2) − 1] with ω = (ln y − μ)/σ, Jordan, Krüger & Lerch (2019),
    /// app. A.
    fn crps(&self, y: f64) -> f64 {
        let (sigma, omega) = (self.sigma, self.probit(y));
        if sigma < 0.1 && omega.is_finite() {
            return libm::exp(self.mu) * narrow_crps(sigma, omega);
        }
        // In logarithms, because e^(σ²/2) may overflow where its product with a tail probability does not.
        let moment = |z: f64| 2.0 * libm::exp(self.mu + 0.5 * sigma * sigma + normal::ln_cdf(z));
        y * central(omega) - moment(omega - sigma) + moment(-sigma * FRAC_1_SQRT_2)
    }

    /// e^(μ + σ²/2), and its square times e^(σ²) − 1.
    fn moments(&self) -> Moments {
        let square = self.sigma * self.sigma;
        let mean = libm::exp(self.mu + 0.5 * square);
        // Underflow times overflow is no number: of the two the logarithms know better.
        let ln_growth = if square > 40.0 { square } else { libm::log(libm::expm1(square)) };
        Moments { mean, variance: libm::exp(2.0 * self.mu + square + ln_growth) }
    }
}

/// The score in units of e^μ for a small σ, where the formula's terms are of order 1 and the score of order σ: the
/// terms of order 1 are taken out beforehand.
fn narrow_crps(sigma: f64, omega: f64) -> f64 {
    let growth = libm::expm1(0.5 * sigma * sigma);
    let shape = central(sigma * FRAC_1_SQRT_2);
    // Φ(ω) − Φ(ω − σ) by three Gauss-Legendre points on each half of so short a range.
    const NODE: f64 = 0.774_596_669_241_483_4;
    let half = 0.25 * sigma;
    let mass = [omega - half, omega - 3.0 * half].iter().fold(0.0, |sum, &mid| {
        let outer = normal::density(mid - half * NODE) + normal::density(mid + half * NODE);
        sum + half * (5.0 * outer + 8.0 * normal::density(mid)) / 9.0
    });
    libm::expm1(sigma * omega) * central(omega) + 2.0 * mass
        - shape
        - growth * (central(omega - sigma) + shape)
}

/// 2Φ(z) − 1.
fn central(z: f64) -> f64 {
    libm::erf(z * FRAC_1_SQRT_2)
}

#[derive(Serialize, Deserialize)]
struct Parts {
    mu: f64,
    sigma: f64,
}

impl TryFrom<Parts> for LogNormal {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        LogNormal::new(parts.mu, parts.sigma)
    }
}

impl From<LogNormal> for Parts {
    fn from(of: LogNormal) -> Self {
        Parts { mu: of.mu, sigma: of.sigma }
    }
}
