//! Bayesian ridge regression, online: a linear forecast whose regularisation and noise are found from the data.
//!
//! ```text
//! y = c + xᵀw + e,   e ~ N(0, 1/α),   w ~ N(0, I/λ),   α and λ where the evidence is largest (`evidence.rs`)
//! P = λI + α Σ (x − x̄)(x − x̄)ᵀ
//! forecast at x: N(ȳ + (x − x̄)ᵀw, 1/α + (x − x̄)ᵀ P⁻¹ (x − x̄)),   w = α P⁻¹ Σ (x − x̄)(y − ȳ)
//! ```
//!
//! The same numbers as scikit-learn's `BayesianRidge` (mean and `return_std`), to 1e-6 on four datasets in `tests/bayesian_ridge.rs`, but no row is
//! kept: the state is x̄, ȳ and the square root of the centred Gram matrix (`triangle.rs`), which a new row enters as
//! √(n/(n+1)) (x − x̄, y − ȳ) (Welford's update, as a row).
//!
//! Cost: `learn` and `predict` O(d²); `refit` O(d³ + iterations · d), whatever the number of rows.
//!
//! Assumes noise of one scale, and outcomes linear in the inputs; while there are fewer rows than inputs the rows are interpolated and the
//! forecast is far too narrow. That is what recalibration is for.

mod evidence;
mod parameters;
mod spectrum;

use serde::{Deserialize, Serialize};
use truecast::{AnyForecast, Gaussian};

pub use parameters::{BayesianRidgeBuilder, BayesianRidgeParameters, Stop};

use crate::error::{self, Error, Result};
use crate::model::Model;
use crate::triangle::Triangle;

/// Bayesian ridge regression.
///
/// ```
/// use truecast_models::{BayesianRidge, BayesianRidgeParameters};
///
/// let mut model = BayesianRidge::new(1, BayesianRidgeParameters::default())?;
/// for step in 0..40 {
///     let x = f64::from(step);
///     model.learn(&[x], 3.0 + 2.0 * x + (x * 1.7).sin())?;
/// }
/// model.refit()?;
/// let forecast = model.predict(&[50.0])?;
/// assert!((forecast.mean() - 103.0).abs() < 0.5);
/// assert!((forecast.std() - 0.75).abs() < 0.05);
/// # Ok::<(), truecast_models::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct BayesianRidge {
    parameters: BayesianRidgeParameters,
    count: u64,
    centre: Centre,
    gram: Triangle,
    fit: Option<Fit>,
}

/// The means of inputs and outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Centre {
    inputs: Vec<f64>,
    outcome: f64,
}

/// The posterior at the precisions of the last refit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    noise_precision: f64,
    weight_precision: f64,
    iterations: usize,
    converged: bool,
    centre: Centre,
    posterior: Triangle,
    coefficients: Vec<f64>,
}

impl Fit {
    /// α, the precision of the noise.
    pub fn noise_precision(&self) -> f64 {
        self.noise_precision
    }

    /// λ, the precision of the weights' prior.
    pub fn weight_precision(&self) -> f64 {
        self.weight_precision
    }

    /// Iterations that the last refit took.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// False where the last refit stopped at `most_iterations`.
    pub fn converged(&self) -> bool {
        self.converged
    }

    /// w, the mean of the weights.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// c, the forecast's mean where all inputs are zero.
    pub fn intercept(&self) -> f64 {
        self.centre.outcome - dot(&self.centre.inputs, &self.coefficients)
    }
}

impl BayesianRidge {
    /// A model of this many inputs, before any outcome.
    pub fn new(inputs: usize, parameters: BayesianRidgeParameters) -> Result<Self> {
        error::parameter(
            "the number of inputs",
            "between 1 and 100000",
            inputs as f64,
            (1..=100_000).contains(&inputs),
        )?;
        Ok(BayesianRidge {
            parameters,
            count: 0,
            centre: Centre { inputs: vec![0.0; inputs], outcome: 0.0 },
            gram: Triangle::zero(inputs + 1),
            fit: None,
        })
    }

    /// Outcomes learned.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// What the last refit found, with the outcomes since then; none before the first.
    pub fn fit(&self) -> Option<&Fit> {
        self.fit.as_ref()
    }

    /// The forecast at `x`. Refused before the first refit.
    pub fn predict(&self, x: &[f64]) -> Result<Gaussian> {
        error::inputs(self.centre.inputs.len(), x)?;
        let fit =
            self.fit.as_ref().ok_or(Error::NotEnoughOutcomes { least: 1, found: self.count as usize })?;
        let away: Vec<f64> = x.iter().zip(&fit.centre.inputs).map(|(x, mean)| x - mean).collect();
        let mean = fit.centre.outcome + dot(&away, &fit.coefficients);
        let variance = 1.0 / fit.noise_precision + fit.posterior.leverage(&away);
        Ok(Gaussian::new(
            error::computed("the mean", mean)?,
            error::computed("the variance", variance)?.sqrt(),
        )?)
    }

    /// Takes in an outcome, and refits when `refit_every` says so: after the first outcome, and after each so many.
    pub fn learn(&mut self, x: &[f64], y: f64) -> Result<()> {
        error::inputs(self.centre.inputs.len(), x)?;
        error::outcome(y)?;
        let n = self.count as f64;
        let (part, root) = (1.0 / (n + 1.0), (n / (n + 1.0)).sqrt());
        let mut row: Vec<f64> =
            x.iter().zip(&self.centre.inputs).map(|(x, mean)| root * (x - mean)).collect();
        row.push(root * (y - self.centre.outcome));
        // Changed as a copy, so that a fit that fails leaves the model as it was; copying is O(d²), as the update is.
        let mut next = self.clone();
        for (mean, x) in next.centre.inputs.iter_mut().zip(x) {
            *mean += (x - *mean) * part;
        }
        next.centre.outcome += (y - next.centre.outcome) * part;
        next.count += 1;
        next.gram.absorb(&mut row.clone());
        match next.parameters.refit_every() {
            Some(every) if next.fit.is_none() || next.count.is_multiple_of(every) => next.refit()?,
            _ => next.update(&mut row)?,
        }
        *self = next;
        Ok(())
    }

    /// Maximises the evidence of all outcomes so far.
    pub fn refit(&mut self) -> Result<()> {
        if self.count == 0 {
            return Err(Error::NotEnoughOutcomes { least: 1, found: 0 });
        }
        let found = evidence::maximise(&self.gram, self.count, self.parameters.values())?;
        let d = self.centre.inputs.len();
        let mut posterior = self.gram.clone();
        posterior.scale(found.noise_precision.sqrt());
        let mut row = vec![0.0; d + 1];
        for k in 0..d {
            row.fill(0.0);
            row[k] = found.weight_precision.sqrt();
            posterior.absorb(&mut row);
        }
        self.fit = Some(Fit {
            noise_precision: found.noise_precision,
            weight_precision: found.weight_precision,
            iterations: found.iterations,
            converged: found.converged,
            coefficients: solved(&posterior)?,
            centre: self.centre.clone(),
            posterior,
        });
        Ok(())
    }
}

impl BayesianRidge {
    /// The posterior at fixed precisions after one more centred row.
    fn update(&mut self, row: &mut [f64]) -> Result<()> {
        if let Some(fit) = &mut self.fit
            && self.parameters.values().sequential
        {
            let root = fit.noise_precision.sqrt();
            for entry in row.iter_mut() {
                *entry *= root;
            }
            fit.posterior.absorb(row);
            fit.coefficients = solved(&fit.posterior)?;
            fit.centre.clone_from(&self.centre);
        }
        Ok(())
    }
}

impl Model for BayesianRidge {
    fn predict(&self, x: &[f64]) -> Result<AnyForecast> {
        self.predict(x).map(AnyForecast::from)
    }

    fn learn(&mut self, x: &[f64], y: f64) -> Result<()> {
        self.learn(x, y)
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

fn solved(posterior: &Triangle) -> Result<Vec<f64>> {
    if !posterior.is_regular() {
        return Err(Error::OutOfRange { what: "the root of the posterior precision", value: 0.0 });
    }
    let coefficients = posterior.coefficients();
    for &coefficient in &coefficients {
        error::computed("a coefficient", coefficient)?;
    }
    Ok(coefficients)
}

#[derive(Deserialize)]
struct Parts {
    parameters: BayesianRidgeParameters,
    count: u64,
    centre: Centre,
    gram: Triangle,
    fit: Option<Fit>,
}

impl Centre {
    fn check(&self, inputs: usize) -> Result<()> {
        error::inputs(inputs, &self.inputs)?;
        error::outcome(self.outcome)
    }
}

impl TryFrom<Parts> for BayesianRidge {
    type Error = Error;
    fn try_from(Parts { parameters, count, centre, gram, fit }: Parts) -> Result<Self> {
        let inputs = centre.inputs.len();
        if inputs == 0 {
            return Err(Error::State { rule: "there is at least one input" });
        }
        centre.check(inputs)?;
        gram.check_size(inputs + 1)?;
        if let Some(fit) = &fit {
            if count == 0 {
                return Err(Error::State { rule: "a fit has outcomes" });
            }
            fit.centre.check(inputs)?;
            fit.posterior.check_size(inputs + 1)?;
            error::positive("the noise precision", fit.noise_precision)?;
            error::positive("the weights' precision", fit.weight_precision)?;
            if solved(&fit.posterior)? != fit.coefficients {
                return Err(Error::State { rule: "the coefficients are those of the posterior" });
            }
        }
        Ok(BayesianRidge { parameters, count, centre, gram, fit })
    }
}
