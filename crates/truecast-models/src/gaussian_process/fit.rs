//! Hyperparameters of largest evidence: bounded L-BFGS in their logarithms, from several starting points.
//!
//! Bounds are in units of the data (variances of the outcomes, ranges of the inputs), so that a change of units changes nothing. The first start is
//! the hyperparameters in use, or the middle of what is usual; the others are uniform in the box, a function of (seed, start). The best of all ends
//! counts; a point at which K has no factor is stepped back from, and the error is returned if every start is such a point.
//!
//! Cost: starts × evaluations × O(n³ + n² d).

use truecast::random;

use super::kernel::Hyperparameters;
use super::parameters::{GaussianProcessBuilder, Mean, Noise};
use super::posterior::{Posterior, Rows};
use crate::error::{Error, Result};
use crate::minimise::{Tolerance, minimise};

/// A gradient of the log evidence of 1e-5 per unit of a log-parameter moves nothing that a forecast would show.
const TOLERANCE: Tolerance = Tolerance { gradient: 1e-5, decrease: 1e-10, most_steps: 0 };

/// The hyperparameters of largest evidence that were found.
pub(super) fn maximise(
    rows: Rows<'_>,
    parameters: &GaussianProcessBuilder,
    current: Option<&Hyperparameters>,
) -> Result<Hyperparameters> {
    let space = Space::new(rows, parameters)?;
    let tolerance = Tolerance { most_steps: parameters.most_steps, ..TOLERANCE };
    let mut best: Option<(f64, Vec<f64>)> = None;
    let mut refused = None;
    for start in 0..parameters.starts {
        let point = match (start, current) {
            (0, Some(current)) => space.coordinates(current),
            (0, None) => space.usual.clone(),
            _ => space.draw(parameters.seed, start),
        };
        let mut evaluate = |x: &[f64]| match space.descent(x, rows, parameters) {
            Ok(value) => Some(value),
            Err(error) => {
                refused = Some(error);
                None
            }
        };
        let Some(end) = minimise(&mut evaluate, &point, &space.bounds, tolerance) else { continue };
        if best.as_ref().is_none_or(|(value, _)| end.value < *value) {
            best = Some((end.value, end.point));
        }
    }
    match (best, refused) {
        (Some((_, point)), _) => space.hyperparameters(&point),
        (None, Some(error)) => Err(error),
        (None, None) => Err(Error::NoConvergence { what: "the evidence" }),
    }
}

/// The box of log-parameters (ln v, ln ℓ…, ln noise if it is learned).
struct Space {
    bounds: Vec<(f64, f64)>,
    usual: Vec<f64>,
    fixed_noise: Option<f64>,
}

impl Space {
    fn new(rows: Rows<'_>, parameters: &GaussianProcessBuilder) -> Result<Self> {
        let n = rows.count() as f64;
        let mean = rows.outcomes.iter().sum::<f64>() / n;
        let variance = rows.outcomes.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / n;
        // Outcomes or inputs that do not differ have no unit of their own.
        let unit = |spread: f64| if spread > 0.0 && spread.is_finite() { spread } else { 1.0 };
        let variance = unit(variance);
        let ranges: Vec<f64> = (0..rows.width)
            .map(|k| {
                let column = (0..rows.count()).map(|i| rows.row(i)[k]);
                let (low, high) = column
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
                unit(high - low)
            })
            .collect();
        let mut space = Space { bounds: Vec::new(), usual: Vec::new(), fixed_noise: None };
        space.add(parameters.signal_bounds, (variance, variance), 1.0);
        // Distances grow with the root of the number of inputs.
        let usual = 0.3 * (rows.width as f64).sqrt();
        if parameters.separate_lengths {
            ranges.iter().for_each(|&range| space.add(parameters.length_bounds, (range, range), usual));
        } else {
            let smallest = ranges.iter().copied().fold(f64::INFINITY, f64::min);
            let largest = ranges.iter().copied().fold(0.0, f64::max);
            space.add(parameters.length_bounds, (smallest, largest), usual);
        }
        match parameters.noise {
            Noise::Learned => space.add(parameters.noise_bounds, (variance, variance), 1e-2),
            Noise::Fixed(variance) => space.fixed_noise = Some(variance),
        }
        match space.bounds.iter().find(|(low, high)| !low.is_finite() || !high.is_finite()) {
            Some(&(value, _)) => Err(Error::OutOfRange { what: "the logarithm of a bound", value }),
            None => Ok(space),
        }
    }

    fn add(&mut self, (low, high): (f64, f64), (least, most): (f64, f64), usual: f64) {
        let (low, high) = (libm::log(low * least), libm::log(high * most));
        self.bounds.push((low, high));
        self.usual.push((0.5 * (libm::log(least) + libm::log(most)) + libm::log(usual)).clamp(low, high));
    }

    fn draw(&self, seed: u64, start: u32) -> Vec<f64> {
        let uniform = |lane: usize| random::uniform(seed, u64::from(start), lane as u32);
        self.bounds.iter().enumerate().map(|(k, (low, high))| low + uniform(k) * (high - low)).collect()
    }

    fn coordinates(&self, of: &Hyperparameters) -> Vec<f64> {
        let mut point = vec![libm::log(of.signal_variance())];
        point.extend(of.length_scales().iter().map(|&length| libm::log(length)));
        if self.fixed_noise.is_none() {
            point.push(libm::log(of.noise_variance()));
        }
        // Where the number of length scales or the noise was set by hand, the usual ones fill in.
        if point.len() != self.bounds.len() || point.iter().any(|x| !x.is_finite()) {
            return self.usual.clone();
        }
        point
    }

    fn hyperparameters(&self, point: &[f64]) -> Result<Hyperparameters> {
        let lengths = self.bounds.len() - 1 - usize::from(self.fixed_noise.is_none());
        let noise = self.fixed_noise.unwrap_or_else(|| libm::exp(point[lengths + 1]));
        let length_scales = point[1..=lengths].iter().map(|&x| libm::exp(x)).collect();
        Hyperparameters::new(libm::exp(point[0]), length_scales, noise)
    }

    /// −ln p(y) and its gradient.
    fn descent(
        &self,
        point: &[f64],
        rows: Rows<'_>,
        parameters: &GaussianProcessBuilder,
    ) -> Result<(f64, Vec<f64>)> {
        let at = self.hyperparameters(point)?;
        let posterior = Posterior::new(parameters.kernel, &at, rows, parameters.mean.fixed())?;
        let mut gradient = posterior.log_evidence_gradient(parameters.kernel, &at);
        gradient.truncate(self.bounds.len());
        gradient.iter_mut().for_each(|g| *g = -*g);
        let value = -posterior.log_evidence(rows);
        if !value.is_finite() || gradient.iter().any(|g| !g.is_finite()) {
            return Err(Error::OutOfRange { what: "the evidence or its gradient", value });
        }
        Ok((value, gradient))
    }
}

impl Mean {
    /// The mean, where it is not fitted.
    pub(super) fn fixed(self) -> Option<f64> {
        match self {
            Mean::Fitted => None,
            Mean::Fixed(mean) => Some(mean),
        }
    }
}
