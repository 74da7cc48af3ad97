//! Gaussian process regression: a forecast by nearness to what was seen, wide where nothing was.
//!
//! The function is a priori Gaussian with a constant mean and the covariance of `kernel.rs`; outcomes lie around it with normal noise. At given
//! hyperparameters everything is in closed form (`posterior.rs`); these maximise the evidence (`fit.rs`). Besides forecasts there are what
//! Bayesian optimisation asks for, gradients of mean and standard deviation in the inputs, and leave-one-out forecasts, which give a recalibrator
//! honest scores of the very rows that the process was fitted to.
//!
//! Cost with n rows: `refit` O(starts · evaluations · n³), `learn` between refits O(n²), `predict` O(n²); memory O(n²). Up to about a
//! thousand rows. Assumes noise of one scale; the hyperparameters and the mean count as known, so that a process of few rows is too sure of itself.

mod fit;
mod kernel;
mod parameters;
mod posterior;

use serde::{Deserialize, Serialize};
use truecast::{AnyForecast, Gaussian};

pub use kernel::{Hyperparameters, Kernel};
pub use parameters::{GaussianProcessBuilder, GaussianProcessParameters, Mean, Noise};
pub use posterior::Latent;

use crate::error::{self, Error, Result};
use crate::model::Model;
use posterior::{Posterior, Rows};

/// Outcomes from which `learn` fits hyperparameters: the first two that can differ.
const LEAST: usize = 2;

/// A Gaussian process.
///
/// ```
/// use truecast_models::{GaussianProcess, GaussianProcessParameters};
///
/// let mut model = GaussianProcess::new(1, GaussianProcessParameters::default())?;
/// for step in 0..20 {
///     let x = 0.3 * f64::from(step);
///     model.learn(&[x], x.sin())?;
/// }
/// let (near, far) = (model.predict(&[3.15])?, model.predict(&[9.0])?);
/// assert!((near.mean() - 3.15_f64.sin()).abs() < 0.01);
/// assert!(near.std() < 0.02 && far.std() > 0.3);
/// # Ok::<(), truecast_models::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct GaussianProcess {
    parameters: GaussianProcessParameters,
    width: usize,
    inputs: Vec<f64>,
    outcomes: Vec<f64>,
    state: Option<State>,
}

#[derive(Debug, Clone, PartialEq)]
struct State {
    hyperparameters: Hyperparameters,
    /// Rows that the last whole factorisation had; the others were added one by one.
    factored: usize,
    posterior: Posterior,
}

impl GaussianProcess {
    /// A process of this many inputs, before any outcome.
    pub fn new(inputs: usize, parameters: GaussianProcessParameters) -> Result<Self> {
        error::parameter(
            "the number of inputs",
            "between 1 and 100000",
            inputs as f64,
            (1..=100_000).contains(&inputs),
        )?;
        Ok(GaussianProcess {
            parameters,
            width: inputs,
            inputs: Vec::new(),
            outcomes: Vec::new(),
            state: None,
        })
    }

    fn rows(&self) -> Rows<'_> {
        Rows { width: self.width, inputs: &self.inputs, outcomes: &self.outcomes }
    }

    /// Outcomes learned.
    pub fn count(&self) -> usize {
        self.outcomes.len()
    }

    /// The hyperparameters in use, if any are yet.
    pub fn hyperparameters(&self) -> Option<&Hyperparameters> {
        self.state.as_ref().map(|state| &state.hyperparameters)
    }

    /// The mean of the process, given the outcomes so far.
    pub fn mean(&self) -> Option<f64> {
        self.state.as_ref().map(|state| state.posterior.mean())
    }

    /// What was added to the diagonal so that it has a factor: zero, nearly always.
    pub fn jitter(&self) -> Option<f64> {
        self.state.as_ref().map(|state| state.posterior.jitter())
    }

    fn state(&self, x: &[f64]) -> Result<&State> {
        error::inputs(self.width, x)?;
        self.fitted()
    }

    fn fitted(&self) -> Result<&State> {
        self.state.as_ref().ok_or(Error::NotEnoughOutcomes { least: LEAST, found: self.count() })
    }

    /// The forecast of an outcome at `x`, noise included. Refused before there are hyperparameters.
    pub fn predict(&self, x: &[f64]) -> Result<Gaussian> {
        let State { hyperparameters, posterior, .. } = self.state(x)?;
        let (mean, variance) = posterior.latent(self.parameters.kernel(), hyperparameters, x);
        let std = (variance + hyperparameters.noise_variance()).sqrt();
        Ok(Gaussian::new(
            error::computed("the mean", mean)?,
            error::computed("the standard deviation", std)?,
        )?)
    }

    /// The function at `x`, without noise: mean, standard deviation, and their gradients in `x`.
    pub fn latent(&self, x: &[f64]) -> Result<Latent> {
        let State { hyperparameters, posterior, .. } = self.state(x)?;
        let latent = posterior.latent_gradient(self.parameters.kernel(), hyperparameters, x);
        let numbers =
            latent.mean_gradient.iter().chain(&latent.std_gradient).chain([&latent.mean, &latent.std]);
        numbers
            .copied()
            .try_for_each(|number| error::computed("the function or its gradient", number).map(|_| ()))?;
        Ok(latent)
    }

    /// The forecast of each outcome so far by all the others, at the hyperparameters and the mean in use.
    pub fn leave_one_out(&self) -> Result<Vec<Gaussian>> {
        self.fitted()?.posterior.leave_one_out(self.rows())
    }

    /// ln p(y), the log evidence of the outcomes.
    pub fn log_evidence(&self) -> Result<f64> {
        Ok(self.fitted()?.posterior.log_evidence(self.rows()))
    }

    /// Gradient of the log evidence in (ln signal variance, ln length scales…, ln noise variance).
    pub fn log_evidence_gradient(&self) -> Result<Vec<f64>> {
        let State { hyperparameters, posterior, .. } = self.fitted()?;
        Ok(posterior.log_evidence_gradient(self.parameters.kernel(), hyperparameters))
    }

    /// Takes in an outcome, and refits when `refit_every` says so: after the second outcome, and after each so many.
    pub fn learn(&mut self, x: &[f64], y: f64) -> Result<()> {
        error::inputs(self.width, x)?;
        error::outcome(y)?;
        self.inputs.extend_from_slice(x);
        self.outcomes.push(y);
        self.next_state().map(|state| self.state = state).inspect_err(|_| {
            // A row that cannot be fitted leaves the model as it was.
            self.outcomes.pop();
            self.inputs.truncate(self.outcomes.len() * self.width);
        })
    }

    fn next_state(&self) -> Result<Option<State>> {
        let values = self.parameters.values();
        match (&self.state, values.refit_every) {
            (Some(_), Some(every)) if self.count().is_multiple_of(every) => self.optimised().map(Some),
            (None, Some(_)) if self.count() >= LEAST => self.optimised().map(Some),
            (Some(state), _) => self.extended(state).map(Some),
            (None, _) => Ok(None),
        }
    }

    /// The state with the last row added.
    fn extended(&self, state: &State) -> Result<State> {
        let values = self.parameters.values();
        let State { hyperparameters, factored, posterior } = state;
        let rows = self.rows();
        match posterior.extended(values.kernel, hyperparameters, rows, values.mean.fixed())? {
            Some(posterior) => {
                Ok(State { hyperparameters: hyperparameters.clone(), factored: *factored, posterior })
            }
            None => self.factored(hyperparameters.clone()),
        }
    }

    fn factored(&self, hyperparameters: Hyperparameters) -> Result<State> {
        let values = self.parameters.values();
        let posterior = Posterior::new(values.kernel, &hyperparameters, self.rows(), values.mean.fixed())?;
        Ok(State { hyperparameters, factored: self.count(), posterior })
    }

    fn optimised(&self) -> Result<State> {
        self.factored(fit::maximise(self.rows(), self.parameters.values(), self.hyperparameters())?)
    }

    /// Maximises the evidence of all outcomes so far.
    pub fn refit(&mut self) -> Result<()> {
        if self.count() < LEAST {
            return Err(Error::NotEnoughOutcomes { least: LEAST, found: self.count() });
        }
        self.state = Some(self.optimised()?);
        Ok(())
    }

    /// Uses these hyperparameters from now on, until a refit. Needs an outcome.
    pub fn set_hyperparameters(&mut self, hyperparameters: Hyperparameters) -> Result<()> {
        let lengths = hyperparameters.length_scales().len();
        if lengths != 1 && lengths != self.width {
            return Err(Error::InputLength { expected: self.width, found: lengths });
        }
        self.state = Some(self.factored(hyperparameters)?);
        Ok(())
    }
}

impl Model for GaussianProcess {
    fn predict(&self, x: &[f64]) -> Result<AnyForecast> {
        self.predict(x).map(AnyForecast::from)
    }

    fn learn(&mut self, x: &[f64], y: f64) -> Result<()> {
        self.learn(x, y)
    }
}

/// What is saved: the rows, and how the factor came about. It is made again on loading, in the same way and so to the same bits.
#[derive(Serialize, Deserialize)]
struct Parts {
    parameters: GaussianProcessParameters,
    width: usize,
    inputs: Vec<f64>,
    outcomes: Vec<f64>,
    hyperparameters: Option<Hyperparameters>,
    factored: usize,
}

impl From<GaussianProcess> for Parts {
    fn from(of: GaussianProcess) -> Self {
        let GaussianProcess { parameters, width, inputs, outcomes, state } = of;
        let factored = state.as_ref().map_or(0, |state| state.factored);
        let hyperparameters = state.map(|state| state.hyperparameters);
        Parts { parameters, width, inputs, outcomes, hyperparameters, factored }
    }
}

impl TryFrom<Parts> for GaussianProcess {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        let Parts { parameters, width, inputs, outcomes, hyperparameters, factored } = parts;
        let count = outcomes.len();
        let mut model = GaussianProcess::new(width, parameters)?;
        if count.checked_mul(width) != Some(inputs.len()) || factored > count {
            return Err(Error::State { rule: "every outcome has its row of inputs" });
        }
        for (i, y) in outcomes.into_iter().enumerate() {
            error::outcome(y)?;
            let row = &inputs[i * width..(i + 1) * width];
            error::inputs(width, row)?;
            model.inputs.extend_from_slice(row);
            model.outcomes.push(y);
            match (&hyperparameters, &model.state) {
                (Some(hyperparameters), None) if i + 1 == factored => {
                    model.set_hyperparameters(hyperparameters.clone())?;
                }
                (_, Some(state)) => model.state = Some(model.extended(state)?),
                _ => {}
            }
        }
        if model.state.is_some() != hyperparameters.is_some() {
            return Err(Error::State {
                rule: "hyperparameters come with the rows that they were factored for",
            });
        }
        Ok(model)
    }
}
