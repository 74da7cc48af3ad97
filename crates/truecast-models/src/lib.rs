//! Online base forecasters.
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
