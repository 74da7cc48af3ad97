//! Online quantile regression: every quantile is an affine function of the forecast's location and scale, learned by steps against its pinball loss.
//!
//! ```text
//! Q_k = l + s b_k + s̄ θ_k·φ        φ = (s/s̄, (l − l̄)/sd(l), 1), the second held in ±3        b_k: the base's quantile as a residual
//! g = (1{y ≤ Q_k} − τ_k) φ         the gradient of the pinball loss, in units of s̄
//! S ← λ S + g²,   θ ← θ − η g/√S,   S = 10 τ_k(1 − τ_k) at first            for each coefficient (AdaGrad)          λ = 2^(−1/half-life)
//! ```
//!
//! l̄, sd(l) and s̄ are running means over the last 500 outcomes or so. Steps do not depend on the units of y. The quantiles are sorted before they are announced;
//! each learns from its own.
//!
//! Without forgetting the regret against the best coefficients within reach of D is O(D √T) for bounded φ (Duchi, Hazan & Singer 2011); with it, as
//! here by default, a changing stream is followed instead. Nothing is promised of coverage, or beside the base.
//! Source: Koenker & Bassett 1978 for the loss; Bremnes 2004 and Taillardat et al. 2016 for the regression on a forecast's own statistics; AdaGrad for the steps.
//! The defaults did best of rates 0.1 to 1 and half-lives 50 to ∞ on the streams of `truecast-streams`. Cost: O(27); 27 × 6 + 4 numbers.

use serde::{Deserialize, Serialize};

use super::residual::{FARTHEST, Occasion, PROBITS, QUANTILES, ResidualRule, Told};
use crate::error::{self, Result, SnapshotError};
use crate::normal;

const FEATURES: usize = 3;
/// The prior counts for so many outcomes in the size of a step.
const PRIOR: f64 = 10.0;
/// Running means forget after so many outcomes.
const LONGEST: f64 = 500.0;
const LARGEST_FEATURE: f64 = 3.0;
/// A ratio of scales is held within this.
const LARGEST_RATIO: f64 = 1e6;

/// Options of [`QuantileRegression`].
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `rate` | 0.15 | η, in mean scales | > 0 |
/// | `half_life` | 100 | outcomes after which a gradient counts half in the size of a step; `None`: for ever | > 0 |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuantileRegressionOptions {
    /// η, in mean scales.
    pub rate: f64,
    /// Outcomes after which a gradient counts half in the size of a step.
    pub half_life: Option<f64>,
}

impl Default for QuantileRegressionOptions {
    fn default() -> Self {
        QuantileRegressionOptions { rate: 0.15, half_life: Some(100.0) }
    }
}

/// Online quantile regression on location and scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuantileRegression {
    options: QuantileRegressionOptions,
    /// θ and S of each quantile.
    coefficients: Vec<[f64; FEATURES]>,
    squares: Vec<[f64; FEATURES]>,
    seen: f64,
    location: f64,
    variance: f64,
    scale: f64,
}

impl QuantileRegression {
    fn features(&self, location: f64, scale: f64) -> [f64; FEATURES] {
        if self.seen == 0.0 {
            return [1.0, 0.0, 1.0];
        }
        let spread = self.variance.sqrt();
        let far = if spread > 0.0 { (location - self.location) / spread } else { 0.0 };
        let ratio = (scale / self.scale).clamp(1.0 / LARGEST_RATIO, LARGEST_RATIO);
        [ratio, far.clamp(-LARGEST_FEATURE, LARGEST_FEATURE), 1.0]
    }
}

impl ResidualRule for QuantileRegression {
    const NAME: &'static str = "quantile-regression";
    type Options = QuantileRegressionOptions;

    fn start(options: QuantileRegressionOptions) -> Result<Self> {
        error::positive("rate", options.rate)?;
        if let Some(half_life) = options.half_life {
            error::positive("half-life", half_life)?;
        }
        let squares = PROBITS.map(|t| [PRIOR * normal::cdf(t) * normal::sf(t); FEATURES]).to_vec();
        let coefficients = vec![[0.0; FEATURES]; QUANTILES];
        Ok(QuantileRegression {
            options,
            coefficients,
            squares,
            seen: 0.0,
            location: 0.0,
            variance: 0.0,
            scale: 0.0,
        })
    }

    fn say(&self, occasion: &Occasion, said: &mut Vec<f64>, memo: &mut Vec<f64>) {
        let features = self.features(occasion.location, occasion.scale);
        said.extend(occasion.base.iter().zip(&self.coefficients).map(|(base, coefficients)| {
            let shift: f64 = coefficients.iter().zip(&features).map(|(c, f)| c * f).sum();
            (base + shift / features[0]).clamp(-FARTHEST, FARTHEST)
        }));
        memo.extend(features);
    }

    fn memo_length(&self) -> usize {
        FEATURES
    }

    fn learn(&mut self, told: &Told<'_>) {
        let keep = self.options.half_life.map_or(1.0, |half_life| libm::exp2(-1.0 / half_life));
        let rows = self.coefficients.iter_mut().zip(&mut self.squares);
        for ((coefficients, squares), (t, said)) in rows.zip(PROBITS.iter().zip(told.said)) {
            // 1{y ≤ Q} − τ, without the difference of numbers near 1.
            let slope = if told.residual <= *said { normal::sf(*t) } else { -normal::cdf(*t) };
            for ((c, square), feature) in coefficients.iter_mut().zip(squares).zip(told.memo) {
                let gradient = slope * feature;
                *square = keep * *square + gradient * gradient;
                if *square > 0.0 {
                    *c -= self.options.rate * gradient / square.sqrt();
                }
            }
        }
        self.seen = (self.seen + 1.0).min(LONGEST);
        let (gain, error) = (1.0 / self.seen, told.location - self.location);
        self.location += gain * error;
        self.variance = (1.0 - gain) * (self.variance + gain * error * error);
        self.scale += gain * (told.scale - self.scale);
    }

    fn validate(&self) -> Result<(), SnapshotError> {
        let QuantileRegression { options, coefficients, squares, seen, location, variance, scale } = self;
        let numbers = coefficients.iter().flatten().chain([location]).all(|x| x.is_finite());
        let sizes =
            squares.iter().flatten().chain([seen, variance, scale]).all(|x| *x >= 0.0 && x.is_finite());
        let shape = coefficients.len() == QUANTILES && squares.len() == QUANTILES;
        let options = Self::start(options.clone()).is_ok();
        if numbers && sizes && shape && options && (*seen == 0.0 || *scale > 0.0) {
            Ok(())
        } else {
            let rule = "27 rows of finite coefficients, and sizes that are not negative";
            Err(SnapshotError::Invalid { field: "quantile regression", rule })
        }
    }
}
