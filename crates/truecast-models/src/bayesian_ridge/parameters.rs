//! Parameters of Bayesian ridge regression: a builder, and what it validates to.

use serde::{Deserialize, Serialize};

use crate::error::{self, Error, Result};

/// When the evidence has been maximised.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// When the precisions no longer change: both moved by less than 1e-12 of themselves.
    FixedPoint,
    /// When the coefficients moved by less than this in total (Σ|w_new − w_old|), as scikit-learn's `tol` says. It depends on
    /// the units of the inputs, and may stop early where they are large.
    Change(f64),
}

/// Validated parameters of a [`BayesianRidge`](super::BayesianRidge). The defaults are scikit-learn's, apart from the stop.
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `noise_shape`, `noise_rate` | 1e-6, 1e-6 | gamma prior of the noise precision α (scikit-learn's `alpha_1`, `alpha_2`) | ≥ 0 |
/// | `weight_shape`, `weight_rate` | 1e-6, 1e-6 | gamma prior of the weights' precision λ (`lambda_1`, `lambda_2`) | ≥ 0 |
/// | `stop` | fixed point | when the evidence is maximised | a change > 0 |
/// | `most_iterations` | 300 | where to stop at the latest | ≥ 1 |
/// | `refit_every` | 10 | outcomes after which `learn` maximises the evidence again; none: only `refit` does | ≥ 1 |
/// | `sequential` | true | between refits, update the posterior at the precisions of the last one; else leave it | |
///
/// ```
/// use truecast_models::{BayesianRidgeParameters, Stop};
///
/// let parameters = BayesianRidgeParameters::builder().stop(Stop::Change(1e-3)).refit_every(1).build()?;
/// assert_eq!(parameters.most_iterations(), 300);
/// assert!(BayesianRidgeParameters::builder().stop(Stop::Change(-1.0)).build().is_err());
/// # Ok::<(), truecast_models::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BayesianRidgeBuilder", into = "BayesianRidgeBuilder")]
pub struct BayesianRidgeParameters {
    inner: BayesianRidgeBuilder,
}

/// Builds [`BayesianRidgeParameters`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BayesianRidgeBuilder {
    pub(super) noise_shape: f64,
    pub(super) noise_rate: f64,
    pub(super) weight_shape: f64,
    pub(super) weight_rate: f64,
    pub(super) stop: Stop,
    pub(super) most_iterations: usize,
    pub(super) refit_every: Option<u64>,
    pub(super) sequential: bool,
}

impl Default for BayesianRidgeBuilder {
    fn default() -> Self {
        BayesianRidgeBuilder {
            noise_shape: 1e-6,
            noise_rate: 1e-6,
            weight_shape: 1e-6,
            weight_rate: 1e-6,
            stop: Stop::FixedPoint,
            most_iterations: 300,
            refit_every: Some(10),
            sequential: true,
        }
    }
}

impl BayesianRidgeBuilder {
    /// Gamma prior of the noise precision: shape and rate.
    #[must_use]
    pub fn noise_prior(mut self, shape: f64, rate: f64) -> Self {
        (self.noise_shape, self.noise_rate) = (shape, rate);
        self
    }

    /// Gamma prior of the weights' precision: shape and rate.
    #[must_use]
    pub fn weight_prior(mut self, shape: f64, rate: f64) -> Self {
        (self.weight_shape, self.weight_rate) = (shape, rate);
        self
    }

    /// When the evidence is maximised.
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Where to stop at the latest.
    #[must_use]
    pub fn most_iterations(mut self, count: usize) -> Self {
        self.most_iterations = count;
        self
    }

    /// Outcomes after which `learn` maximises the evidence again; `None` leaves it to `refit`.
    #[must_use]
    pub fn refit_every(mut self, outcomes: impl Into<Option<u64>>) -> Self {
        self.refit_every = outcomes.into();
        self
    }

    /// Whether the posterior is updated between refits.
    #[must_use]
    pub fn sequential(mut self, sequential: bool) -> Self {
        self.sequential = sequential;
        self
    }

    /// Validates.
    pub fn build(self) -> Result<BayesianRidgeParameters> {
        error::not_negative("the noise prior's shape", self.noise_shape)?;
        error::not_negative("the noise prior's rate", self.noise_rate)?;
        error::not_negative("the weight prior's shape", self.weight_shape)?;
        error::not_negative("the weight prior's rate", self.weight_rate)?;
        if let Stop::Change(change) = self.stop {
            error::positive("the change at which to stop", change)?;
        }
        error::parameter(
            "the most iterations",
            "1 or more",
            self.most_iterations as f64,
            self.most_iterations > 0,
        )?;
        if let Some(outcomes) = self.refit_every {
            error::parameter("the outcomes between refits", "1 or more", outcomes as f64, outcomes > 0)?;
        }
        Ok(BayesianRidgeParameters { inner: self })
    }
}

impl BayesianRidgeParameters {
    /// Starts from the defaults.
    pub fn builder() -> BayesianRidgeBuilder {
        BayesianRidgeBuilder::default()
    }

    /// Where to stop at the latest.
    pub fn most_iterations(&self) -> usize {
        self.inner.most_iterations
    }

    /// When the evidence is maximised.
    pub fn stop(&self) -> Stop {
        self.inner.stop
    }

    /// Outcomes between refits, if `learn` does them.
    pub fn refit_every(&self) -> Option<u64> {
        self.inner.refit_every
    }

    pub(super) fn values(&self) -> &BayesianRidgeBuilder {
        &self.inner
    }
}

impl TryFrom<BayesianRidgeBuilder> for BayesianRidgeParameters {
    type Error = Error;
    fn try_from(builder: BayesianRidgeBuilder) -> Result<Self> {
        builder.build()
    }
}

impl From<BayesianRidgeParameters> for BayesianRidgeBuilder {
    fn from(parameters: BayesianRidgeParameters) -> Self {
        parameters.inner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid() {
        assert_eq!(BayesianRidgeParameters::builder().build(), Ok(BayesianRidgeParameters::default()));
    }

    #[test]
    fn bad_values_are_named() {
        let refused = BayesianRidgeParameters::builder().noise_prior(-1.0, 0.0).build();
        let rule = "finite and 0 or more";
        assert_eq!(refused, Err(Error::Parameter { what: "the noise prior's shape", rule, value: -1.0 }));
        assert!(BayesianRidgeParameters::builder().most_iterations(0).build().is_err());
        assert!(BayesianRidgeParameters::builder().refit_every(0).build().is_err());
        assert!(serde_json::from_str::<BayesianRidgeParameters>(r#"{"noise_rate": -1.0}"#).is_err());
    }
}
