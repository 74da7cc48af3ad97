//! Online base forecasters for [`truecast`]: they predict, then learn, and give forecasts of the core.
//!
//! ```
//! use truecast::{Pipeline, Stream};
//! use truecast_models::{BayesianRidge, BayesianRidgeParameters, Model};
//!
//! let mut model = BayesianRidge::new(2, BayesianRidgeParameters::default())?;
//! let mut stream = Stream::new(Pipeline::default());
//! for step in 0..200 {
//!     let x = [(0.1 * f64::from(step)).sin(), (0.3 * f64::from(step)).cos()];
//!     let y = 1.0 + 2.0 * x[0] - x[1] + 0.1 * (7.0 * f64::from(step)).sin();
//!     if model.count() > 0 {
//!         let (ticket, _calibrated) = stream.issue(Model::predict(&model, &x)?)?;
//!         stream.resolve(ticket, y)?; // what was forecast, and what came
//!     }
//!     model.learn(&x, y)?;
//! }
//! let weights = model.fit().map(|fit| fit.coefficients().to_vec()).unwrap_or_default();
//! assert!((weights[0] - 2.0).abs() < 0.05 && (weights[1] + 1.0).abs() < 0.05);
//! # Ok::<(), truecast_models::Error>(())
//! ```
//!
//! # The models
//!
//! | model | forecast | for | one step | refit |
//! |---|---|---|---|---|
//! | [`BayesianRidge`] | Gaussian | outcomes linear in d inputs; scikit-learn's `BayesianRidge`, online | O(d²) | O(d³), no row is kept |
//! | [`Autoregression`] | Student-t | a series by its own last p outcomes | O(p²) | none needed |
//! | [`GaussianProcess`] | Gaussian | smooth functions of a few inputs, up to a thousand rows | O(n²) | O(n³) per evaluation |
//! | [`External`] | any | a model that lives elsewhere and is pushed in | O(1) | |
//!
//! Each opens its own file with its equations, its assumptions and its source.
//!
//! # Two verbs
//!
//! [`Model`] has two: `predict` is pure, `learn` is the only mutation. `learn` also refits where the parameters say so (`refit_every`);
//! a row that is refused, or that cannot be fitted, leaves the model as it was. Each model has methods of the same names that give its own kind of
//! forecast; those of the trait give an [`AnyForecast`](truecast::AnyForecast), so that models of all kinds can stand in one list. [`AnyModel`] is all kinds in one
//! type, and saves and loads: a loaded model goes on bit for bit, and loading validates as strictly as building.
//!
//! # Units
//!
//! Autoregressions and Gaussian processes work in units of the data: shifting or scaling outcomes or inputs does the same to the forecasts. Bayesian ridge
//! regression does not, because the model it is does not: one prior for all weights means that the inputs' units matter. Standardise inputs if they should not.
//!
//! # What it does not do
//!
//! No I/O, no threads, no clock; random starting points are a function of (seed, start). None of these models is honest about its uncertainty on every
//! stream: that is the recalibrator's work. Failures are typed [`Error`]s, never numbers.

#![forbid(unsafe_code)]

pub mod autoregression;
pub mod bayesian_ridge;
pub mod error;
pub mod external;
pub mod gaussian_process;
mod minimise;
pub mod model;
mod triangle;

pub use autoregression::{Autoregression, AutoregressionBuilder, AutoregressionParameters};
pub use bayesian_ridge::{BayesianRidge, BayesianRidgeBuilder, BayesianRidgeParameters, Stop};
pub use error::{Error, Result};
pub use external::External;
pub use gaussian_process::{
    GaussianProcess, GaussianProcessBuilder, GaussianProcessParameters, Hyperparameters, Kernel, Latent,
    Mean, Noise,
};
pub use model::{AnyModel, Model};
