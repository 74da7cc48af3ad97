//! Covariance functions, with their gradients in the logarithms of their parameters and in the inputs.
//!
//! ```text
//! r² = Σ_k ((x_k − x'_k)/ℓ_k)²,   k(x, x') = v g(r²)
//! squared exponential  g = exp(−r²/2)                            g' = −½ exp(−r²/2)
//! Matérn 5/2           g = (1 + √5 r + 5r²/3) exp(−√5 r)         g' = −⅚ (1 + √5 r) exp(−√5 r)
//! ∂k/∂ln ℓ_k = −2 v g' ((x_k − x'_k)/ℓ_k)²,   ∂k/∂x_k = 2 v g' (x_k − x'_k)/ℓ_k²
//! ```
//!
//! with g' = dg/d(r²), which is smooth at r = 0 in both. Source: Rasmussen & Williams (2006), 4.2.1. O(d) per pair.

use serde::{Deserialize, Serialize};

use crate::error::{self, Error, Result};

/// √5.
const ROOT_5: f64 = 2.236_067_977_499_79;

/// The form of the covariance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// exp(−r²/2): infinitely smooth functions.
    SquaredExponential,
    /// (1 + √5 r + 5r²/3) exp(−√5 r): twice differentiable functions.
    #[default]
    Matern52,
}

impl Kernel {
    /// g and g' at r².
    pub(super) fn shape(self, square: f64) -> (f64, f64) {
        match self {
            Kernel::SquaredExponential => {
                let g = libm::exp(-0.5 * square);
                (g, -0.5 * g)
            }
            Kernel::Matern52 => {
                let root = ROOT_5 * square.sqrt();
                let decay = libm::exp(-root);
                if decay == 0.0 {
                    // Farther than this the polynomial can leave the range of f64, and 0 · ∞ is not a number.
                    return (0.0, 0.0);
                }
                ((1.0 + root + 5.0 / 3.0 * square) * decay, -5.0 / 6.0 * (1.0 + root) * decay)
            }
        }
    }
}

/// What the marginal likelihood is maximised over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Hyperparameters {
    signal_variance: f64,
    length_scales: Vec<f64>,
    noise_variance: f64,
}

impl Hyperparameters {
    /// A positive signal variance, one positive length scale per input (or one for all), and a noise variance of zero or more.
    pub fn new(signal_variance: f64, length_scales: Vec<f64>, noise_variance: f64) -> Result<Self> {
        error::positive("the signal variance", signal_variance)?;
        error::not_negative("the noise variance", noise_variance)?;
        error::parameter("the number of length scales", "1 or more", 0.0, !length_scales.is_empty())?;
        length_scales.iter().try_for_each(|&length| error::positive("a length scale", length).map(|_| ()))?;
        Ok(Hyperparameters { signal_variance, length_scales, noise_variance })
    }

    /// v, the variance of the function.
    pub fn signal_variance(&self) -> f64 {
        self.signal_variance
    }

    /// ℓ, one per input, or one for all.
    pub fn length_scales(&self) -> &[f64] {
        &self.length_scales
    }

    /// The variance of an outcome around the function.
    pub fn noise_variance(&self) -> f64 {
        self.noise_variance
    }

    /// ℓ of input `k`.
    pub(super) fn length(&self, k: usize) -> f64 {
        self.length_scales[if self.length_scales.len() == 1 { 0 } else { k }]
    }

    /// A row in length scales, so that r² is the squared distance between two of them.
    pub(super) fn scaled(&self, row: &[f64], out: &mut Vec<f64>) {
        out.extend(row.iter().enumerate().map(|(k, x)| x / self.length(k)));
    }
}

/// r² between two rows in length scales.
pub(super) fn square_distance(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[derive(Serialize, Deserialize)]
struct Parts {
    signal_variance: f64,
    length_scales: Vec<f64>,
    noise_variance: f64,
}

impl TryFrom<Parts> for Hyperparameters {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        Hyperparameters::new(parts.signal_variance, parts.length_scales, parts.noise_variance)
    }
}

impl From<Hyperparameters> for Parts {
    fn from(of: Hyperparameters) -> Self {
        let Hyperparameters { signal_variance, length_scales, noise_variance } = of;
        Parts { signal_variance, length_scales, noise_variance }
    }
}
