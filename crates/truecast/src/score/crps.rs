//! The continuous ranked probability score.
//!
//! ```text
//! CRPS(F, y) = ∫ (F(x) − 1{y ≤ x})² dx          over the real line
//!            = 2 ∫ pinball_p(F⁻¹(p), y) dp       over 0 < p < 1
//!            = E|X − y| − ½ E|X − X'|            X, X' independent from F
//! ```
//!
//! In the units of the outcome, 0 at best; of a point forecast it is the absolute error. Strictly proper among
//! distributions with a finite mean.
//!
//! Reference: T. Gneiting and A. E. Raftery, "Strictly Proper Scoring Rules, Prediction, and Estimation", Journal of
//! the American Statistical Association 102 (2007), section 4.2. The estimators from an ensemble: A. Jordan (2016)
//! for the sorted form, C. A. T. Ferro (2014) for the fair one.

pub(crate) mod pieces;

use super::pinball;
use crate::error::{self, Error, Result};
use crate::forecast::Forecast;
use crate::quadrature::{self, Integral, Tolerance};

/// The CRPS of any forecast, after a check of the outcome.
///
/// ```
/// use truecast::{Gaussian, score::crps};
///
/// let score = crps::of(&Gaussian::new(0.0, 1.0)?, 0.0)?;
/// assert!((score - 0.233695).abs() < 1e-6);
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn of<F: Forecast + ?Sized>(forecast: &F, y: f64) -> Result<f64> {
    Ok(forecast.crps(error::finite("outcome", y)?))
}

/// The CRPS by the general method, whatever closed form a forecast has of its own: exact for a piecewise normal one
/// ([`Forecast::curve`]), by quadrature otherwise. [`Forecast::crps`] calls this where it knows nothing better.
///
/// The quadrature is split at the outcome, at the forecast's [`kinks`](Forecast::kinks) and at quantiles out to
/// 1e-16; it integrates cdf² below the outcome and sf² above it, and goes on past the outer quantiles until nothing
/// is added. Relative error about 1e-10. NaN if the outcome is NaN; [`of`] refuses such an outcome.
pub fn evaluate<F: Forecast + ?Sized>(forecast: &F, y: f64) -> f64 {
    if y.is_nan() {
        return f64::NAN;
    }
    if y.is_infinite() {
        return f64::INFINITY;
    }
    match forecast.curve() {
        Some(curve) => curve.crps(y),
        None => by_quadrature(forecast, y),
    }
}

/// Where quantiles are taken for splitting: Φ(8.2) is the last below 1 in `f64`.
const SPLIT_AT_PROBITS: [f64; 13] = [-8.2, -6.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.2];

/// A panel may miss by this much of itself: a tenth of the promised 1e-10, and ten times the noise of a
/// distribution function that is good to 1e-12.
const RELATIVE: f64 = 1e-11;

/// A panel may miss by this much of the whole score, so that far tails are not resolved in vain; a thousand panels
/// may do so within the promise.
const NEGLIGIBLE: f64 = 1e-13;

fn by_quadrature<F: Forecast + ?Sized>(forecast: &F, y: f64) -> f64 {
    let mut points: Vec<f64> = SPLIT_AT_PROBITS.iter().map(|&z| forecast.at_probit(z)).collect();
    forecast.kinks(&mut points);
    points.push(y);
    points.retain(|x| x.is_finite());
    points.sort_unstable_by(f64::total_cmp);
    points.dedup();

    let below = |x: f64| square(forecast.cdf(x));
    let above = |x: f64| square(forecast.sf(x));
    // One look at each panel tells the size of the score, and so what is negligible; most panels are done with it.
    let first_look: Vec<Integral> = points
        .windows(2)
        .map(|ends| match (ends[0], ends[1]) {
            (low, high) if high <= y => quadrature::single(below, low, high),
            (low, high) => quadrature::single(above, low, high),
        })
        .collect();
    let rough: f64 = first_look.iter().map(|panel| panel.value).sum();
    let tolerance = Tolerance { relative: RELATIVE, absolute: NEGLIGIBLE * rough };
    let mut score = 0.0;
    for (ends, &panel) in points.windows(2).zip(&first_look) {
        score += match (ends[0], ends[1]) {
            _ if tolerance.is_met(panel) => panel.value,
            (low, high) if high <= y => quadrature::integrate(below, low, high, tolerance).value,
            (low, high) => quadrature::integrate(above, low, high, tolerance).value,
        };
    }
    if let [first, second, ..] = points[..] {
        score += tail(below, first, first - second, score, tolerance);
    }
    if let [.., second, last] = points[..] {
        score += tail(above, last, last - second, score, tolerance);
    }
    score
}

/// ∫ of `f` from `start` outwards, in panels that grow fourfold, until one adds nothing that matters; `step` is the
/// first panel's width, negative for a lower tail. Where the score is infinite it stops at the largest numbers.
fn tail(f: impl Fn(f64) -> f64, start: f64, step: f64, score: f64, tolerance: Tolerance) -> f64 {
    const GROWTH: f64 = 4.0;
    let (mut inner, mut step, mut sum) = (start, step, 0.0);
    while (inner + step).is_finite() {
        let outer = inner + step;
        let added = quadrature::integrate(&f, inner.min(outer), inner.max(outer), tolerance).value;
        sum += added;
        // A tail F ~ x^(-a) adds 4^(1 - 2a) of the panel before it, so for a ≥ 0.6 what is left is at most four times
        // the last panel. For a ≤ 0.5 the score is infinite.
        if added <= 0.1 * NEGLIGIBLE * (score + sum) {
            break;
        }
        inner = outer;
        step *= GROWTH;
    }
    sum
}

fn square(p: f64) -> f64 {
    p * p
}

/// The CRPS of the empirical distribution of an ensemble.
///
/// ```text
/// (1/M) Σ |x_i − y| − (1/2M²) Σ Σ |x_i − x_j|
/// ```
///
/// the energy form (NRG), computed by its equal, the quantile decomposition
/// (2/M) Σ (1{y ≤ x_(i)} − (2i − 1)/(2M)) (x_(i) − y) of the sorted members: all terms are positive, and the cost is
/// O(M log M).
///
/// ```
/// use truecast::score::crps;
///
/// // E|X − y| = 1 and ½ E|X − X'| = ½: the mean over four pairs, two of them equal.
/// assert_eq!(crps::of_ensemble(&[-1.0, 1.0], 0.0)?, 0.5);
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn of_ensemble(samples: &[f64], y: f64) -> Result<f64> {
    let sorted = sorted_members(samples, 1, y)?;
    let members = sorted.len() as f64;
    let sum: f64 =
        sorted.iter().enumerate().map(|(i, &x)| pinball::loss(x, y, (i as f64 + 0.5) / members)).sum();
    Ok(2.0 * sum / members)
}

/// The fair CRPS: unbiased for the distribution the members were drawn from, where [`of_ensemble`] scores the members
/// themselves. Needs two members; may be negative.
///
/// ```text
/// (1/M) Σ |x_i − y| − (1/2M(M − 1)) Σ Σ |x_i − x_j|
/// ```
///
/// ```
/// use truecast::score::crps;
///
/// // E|X − y| = 1, and the two members differ by 2: 1 − ½ · 2.
/// assert_eq!(crps::of_ensemble_fair(&[-1.0, 1.0], 0.0)?, 0.0);
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn of_ensemble_fair(samples: &[f64], y: f64) -> Result<f64> {
    let sorted = sorted_members(samples, 2, y)?;
    let members = sorted.len() as f64;
    // Σ_i Σ_j |x_i − x_j| = 2 Σ_k k (M − k) (x_(k+1) − x_(k)): no cancellation, however far from 0 the members lie.
    let spread: f64 = sorted
        .windows(2)
        .enumerate()
        .map(|(i, pair)| {
            let k = (i + 1) as f64;
            k * (members - k) * (pair[1] - pair[0])
        })
        .sum();
    let distance: f64 = sorted.iter().map(|x| (x - y).abs()).sum();
    Ok(distance / members - spread / (members * (members - 1.0)))
}

fn sorted_members(samples: &[f64], least: usize, y: f64) -> Result<Vec<f64>> {
    error::finite("outcome", y)?;
    if samples.len() < least {
        return Err(Error::TooFew { what: "samples", least, found: samples.len() });
    }
    for &x in samples {
        error::finite("sample", x)?;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Ok(sorted)
}

/// The CRPS as far as quantiles show it: twice the mean pinball loss.
///
/// It tends to the CRPS where the probabilities are the midpoints (2k − 1)/(2K) and K grows; at other probabilities it
/// is a proper score of those quantiles, on another scale.
///
/// ```
/// use truecast::score::crps;
///
/// // The median alone: the absolute error.
/// assert_eq!(crps::of_quantiles(&[0.5], &[3.0], 5.0)?, 2.0);
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn of_quantiles(probabilities: &[f64], quantiles: &[f64], y: f64) -> Result<f64> {
    let (left, right) = (probabilities.len(), quantiles.len());
    if left != right {
        return Err(Error::LengthMismatch { what: "probabilities and quantiles", left, right });
    }
    if left == 0 {
        return Err(Error::TooFew { what: "quantiles", least: 1, found: 0 });
    }
    let mut sum = 0.0;
    for (&probability, &quantile) in probabilities.iter().zip(quantiles) {
        sum += pinball::of_quantile(quantile, y, probability)?;
    }
    Ok(2.0 * sum / left as f64)
}

#[cfg(test)]
mod tests;
