//! A mixture of forecasts: with probability w_i the outcome is one of part i.
//!
//! Probabilities are weighted sums, in each tail on its own. Where they leave the range of `f64` the probit score comes
//! from their logarithms, by log-sum-exp over the parts' scores, so it does not saturate. Quantiles are found between
//! those of the parts, by a bracketed search that is safe with atoms and gaps; expect some twenty evaluations of every
//! part. The CRPS is closed where all parts are normal, and by quadrature else.

use serde::{Deserialize, Serialize};

use super::{AnyForecast, Forecast, Gaussian, Moments};
use crate::error::{self, Error, Result};
use crate::{normal, score};

/// A weighted mixture of forecasts of any kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Mixture {
    weights: Vec<f64>,
    components: Vec<AnyForecast>,
}

impl Mixture {
    /// A mixture of at least one part, with positive weights that need not sum to 1: they are normalised.
    pub fn new(weights: &[f64], components: Vec<AnyForecast>) -> Result<Self> {
        if weights.len() != components.len() {
            return Err(Error::LengthMismatch {
                what: "weights and components",
                left: weights.len(),
                right: components.len(),
            });
        }
        if components.is_empty() {
            return Err(Error::TooFew { what: "components", least: 1, found: 0 });
        }
        for &weight in weights {
            error::positive("weight", weight)?;
        }
        let sum = error::finite("sum of the weights", weights.iter().sum())?;
        // Weights that sum to 1 up to rounding stay as they are, so that a saved mixture loads bit for bit.
        let close = (sum - 1.0).abs() <= f64::EPSILON * weights.len() as f64;
        let weights: Vec<f64> = weights.iter().map(|w| if close { *w } else { w / sum }).collect();
        for &weight in &weights {
            error::positive("share of a weight in the sum", weight)?;
        }
        Ok(Mixture { weights, components })
    }

    /// The weights, which sum to 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The parts.
    pub fn components(&self) -> &[AnyForecast] {
        &self.components
    }

    fn parts(&self) -> impl Iterator<Item = (f64, &AnyForecast)> {
        self.weights.iter().copied().zip(&self.components)
    }

    /// Σ w_i p(part i).
    fn weighted(&self, probability: impl Fn(&AnyForecast) -> f64) -> f64 {
        self.parts().fold(0.0, |sum, (w, part)| sum + w * probability(part)).min(1.0)
    }

    /// ln Σ w_i exp(l(part i)), scaled by the largest term.
    fn ln_mean(&self, ln_probability: impl Fn(&AnyForecast) -> f64) -> f64 {
        let terms = || self.parts().map(|(w, part)| libm::log(w) + ln_probability(part));
        let largest = terms().fold(f64::NEG_INFINITY, f64::max);
        if largest.is_infinite() {
            return largest;
        }
        (largest + libm::log(terms().fold(0.0, |sum, term| sum + libm::exp(term - largest)))).min(0.0)
    }

    /// The mixture's probit score from the scores of the parts.
    fn combined(&self, score: impl Fn(&AnyForecast) -> f64) -> f64 {
        // Below this a tail's terms may be subnormal and short of digits.
        const SMALL: f64 = 1e-290;
        let below = self.weighted(|part| normal::cdf(score(part)));
        let above = self.weighted(|part| normal::sf(score(part)));
        if below < SMALL {
            normal::quantile_of_ln(self.ln_mean(|part| normal::ln_cdf(score(part))))
        } else if above < SMALL {
            -normal::quantile_of_ln(self.ln_mean(|part| normal::ln_cdf(-score(part))))
        } else {
            normal::probit(below, above)
        }
    }

    /// The smallest y with a score of at least `z`, given that the score at `low` is less and the one at `high` is not.
    ///
    /// Regula falsi in probit units with the Illinois rule, and a bisection wherever a step did not halve the bracket.
    /// Bisections halve the count of doubles in the bracket, not its length, so that the search ends within 2 · 64 steps
    /// whatever the scales of the parts.
    fn search(&self, z: f64, mut low: f64, mut high: f64) -> f64 {
        let (mut at_low, mut at_high) = (self.probit(low) - z, self.probit(high) - z);
        let (mut bisect, mut rose) = (false, None);
        loop {
            let middle = between_doubles(low, high);
            if middle <= low || middle >= high {
                return high;
            }
            let guess = low + (high - low) * (at_low / (at_low - at_high));
            let y = if !bisect && guess > low && guess < high { guess } else { middle };
            let (before, value) = (high - low, self.probit(y) - z);
            let rises = value < 0.0;
            // An end that stays twice in a row counts half, lest it stay for ever.
            let stale = if rose == Some(rises) { 0.5 } else { 1.0 };
            if rises {
                (low, at_low, at_high) = (y, value, at_high * stale);
            } else {
                (high, at_high, at_low) = (y, value, at_low * stale);
            }
            rose = Some(rises);
            // Infinite scores, and a bracket of infinite length, fail this comparison and are bisected.
            bisect = !(high - low <= 0.5 * before && before.is_finite());
            if high - low <= f64::EPSILON * low.abs().min(high.abs()) {
                return high;
            }
        }
    }

    /// E|X − y| − ½ E|X − X′|, Grimit, Gneiting, Berrocal & Johnson (2006), eq. 5, if every part is normal.
    fn gaussian_crps(&self, y: f64) -> Option<f64> {
        let all_normal = self.components.iter().all(|part| matches!(part, AnyForecast::Gaussian(_)));
        if !all_normal {
            return None;
        }
        let gaussians = || {
            self.parts().filter_map(|(w, part)| match part {
                AnyForecast::Gaussian(gaussian) => Some((w, gaussian)),
                _ => None,
            })
        };
        let to = |a: &Gaussian, mean: f64, std: f64| {
            mean_absolute_normal(a.mean() - mean, libm::hypot(a.std(), std))
        };
        Some(gaussians().fold(0.0, |sum, (w, a)| {
            let among = gaussians().fold(0.0, |sum, (v, b)| sum + v * to(a, b.mean(), b.std()));
            sum + w * (to(a, y, 0.0) - 0.5 * among)
        }))
    }
}

/// E|X| of a normal X: 2σφ(μ/σ) + μ(2Φ(μ/σ) − 1).
fn mean_absolute_normal(mean: f64, std: f64) -> f64 {
    let z = mean / std;
    2.0 * std * normal::density(z) + mean * libm::erf(z * std::f64::consts::FRAC_1_SQRT_2)
}

/// The double in the middle of those between two finite ones.
fn between_doubles(low: f64, high: f64) -> f64 {
    // Flipping the lower bits of negative numbers makes the order of the bits that of the numbers; it undoes itself.
    let flip = |bits: i64| bits ^ (((bits >> 63) as u64) >> 1) as i64;
    let (a, b) = (flip(low.to_bits() as i64), flip(high.to_bits() as i64));
    f64::from_bits(flip((a >> 1) + (b >> 1) + (a & b & 1)) as u64)
}

impl Forecast for Mixture {
    fn cdf(&self, y: f64) -> f64 {
        self.weighted(|part| part.cdf(y))
    }

    fn sf(&self, y: f64) -> f64 {
        self.weighted(|part| part.sf(y))
    }

    fn quantile(&self, probability: f64) -> f64 {
        self.at_probit(normal::quantile(probability))
    }

    fn probit(&self, y: f64) -> f64 {
        self.combined(|part| part.probit(y))
    }

    fn probit_left(&self, y: f64) -> f64 {
        self.combined(|part| part.probit_left(y))
    }

    fn at_probit(&self, z: f64) -> f64 {
        // Below the least of the parts' quantiles every part has less than the probability asked for, at the
        // greatest every part has enough.
        let ends = self.components.iter().map(|part| part.at_probit(z));
        let (low, high) = ends
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (f64::min(low, y), f64::max(high, y)));
        if z.is_infinite() {
            return if z < 0.0 { low } else { high };
        }
        let (low, high) = (low.max(f64::MIN), high.min(f64::MAX));
        if z.is_nan() || self.probit(low) >= z {
            low
        } else if self.probit(high) < z {
            high // by rounding only
        } else {
            self.search(z, low, high)
        }
    }

    fn kinks(&self, out: &mut Vec<f64>) {
        for part in &self.components {
            part.kinks(out);
        }
    }

    fn ln_density(&self, y: f64) -> Option<f64> {
        let mut largest = f64::NEG_INFINITY;
        for (w, part) in self.parts() {
            largest = largest.max(libm::log(w) + part.ln_density(y)?);
        }
        if largest.is_infinite() {
            return Some(largest);
        }
        let mut sum = 0.0;
        for (w, part) in self.parts() {
            sum += libm::exp(libm::log(w) + part.ln_density(y)? - largest);
        }
        Some(largest + libm::log(sum))
    }

    fn crps(&self, y: f64) -> f64 {
        self.gaussian_crps(y).unwrap_or_else(|| score::crps::evaluate(self, y))
    }

    /// Σ w m, and Σ w (v + (m − mean)²), with the distances between parts taken from the first one.
    fn moments(&self) -> Moments {
        let parts = || self.parts().map(|(w, part)| (w, part.moments()));
        let origin = self.components[0].mean();
        let shift = parts().fold(0.0, |sum, (w, part)| sum + w * (part.mean - origin));
        let variance = parts().fold(0.0, |sum, (w, part)| {
            let distance = (part.mean - origin) - shift;
            sum + w * (part.variance + distance * distance)
        });
        // A part whose mean leaves the range of f64 leaves nothing to measure distances from.
        if shift.is_finite() {
            Moments { mean: origin + shift, variance }
        } else {
            Moments { mean: parts().fold(0.0, |sum, (w, part)| sum + w * part.mean), variance: f64::INFINITY }
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Parts {
    weights: Vec<f64>,
    components: Vec<AnyForecast>,
}

impl TryFrom<Parts> for Mixture {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        Mixture::new(&parts.weights, parts.components)
    }
}

impl From<Mixture> for Parts {
    fn from(of: Mixture) -> Self {
        Parts { weights: of.weights, components: of.components }
    }
}
