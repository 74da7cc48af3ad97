//! The two verbs of a model, and one type for all models.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};
use truecast::AnyForecast;

use crate::error::Result;
use crate::{Autoregression, BayesianRidge, External, GaussianProcess};

/// An online forecaster: it predicts an outcome from its inputs, and then learns the outcome.
///
/// [`predict`](Model::predict) is pure; [`learn`](Model::learn) is the only mutation, and a refused row leaves the model as it was.
///
/// ```
/// use truecast_models::{Autoregression, AutoregressionParameters, Model};
///
/// let mut models: Vec<Box<dyn Model>> = vec![Box::new(Autoregression::new(AutoregressionParameters::default()))];
/// for model in &mut models {
///     model.learn(&[], 1.0)?;
/// }
/// # Ok::<(), truecast_models::Error>(())
/// ```
pub trait Model: Debug + Send + Sync {
    /// The forecast of the outcome that belongs to the inputs `x`.
    fn predict(&self, x: &[f64]) -> Result<AnyForecast>;

    /// Takes in that the inputs `x` had the outcome `y`.
    fn learn(&mut self, x: &[f64], y: f64) -> Result<()>;
}

impl<M: Model + ?Sized> Model for Box<M> {
    fn predict(&self, x: &[f64]) -> Result<AnyForecast> {
        (**self).predict(x)
    }

    fn learn(&mut self, x: &[f64], y: f64) -> Result<()> {
        (**self).learn(x, y)
    }
}

/// A model of any kind, for files and services. The tag is outside, and every kind validates what it loads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AnyModel {
    /// Bayesian ridge regression.
    BayesianRidge(BayesianRidge),
    /// Autoregression.
    Autoregression(Autoregression),
    /// A Gaussian process.
    GaussianProcess(GaussianProcess),
    /// A model that lives elsewhere.
    External(External),
}

impl Model for AnyModel {
    fn predict(&self, x: &[f64]) -> Result<AnyForecast> {
        match self {
            AnyModel::BayesianRidge(model) => Model::predict(model, x),
            AnyModel::Autoregression(model) => Model::predict(model, x),
            AnyModel::GaussianProcess(model) => Model::predict(model, x),
            AnyModel::External(model) => Model::predict(model, x),
        }
    }

    fn learn(&mut self, x: &[f64], y: f64) -> Result<()> {
        match self {
            AnyModel::BayesianRidge(model) => Model::learn(model, x, y),
            AnyModel::Autoregression(model) => Model::learn(model, x, y),
            AnyModel::GaussianProcess(model) => Model::learn(model, x, y),
            AnyModel::External(model) => Model::learn(model, x, y),
        }
    }
}

macro_rules! from_kind {
    ($($kind:ident),*) => {$(
        impl From<$kind> for AnyModel {
            fn from(model: $kind) -> Self {
                AnyModel::$kind(model)
            }
        }
    )*};
}

from_kind!(BayesianRidge, Autoregression, GaussianProcess, External);
