//! What the paper proposes and what it compares itself with.
//!
//! | file | method |
//! |---|---|
//! | `algorithm_one.rs` | Algorithm 1 over any binary subroutine |
//! | `target.rs` | from an accuracy to its parameters; what is claimed beside what is measured |
//! | `tophat.rs` | calibrated regression by the running histogram of the PIT: i.i.d. |
//! | `isotonic_regression.rs` | calibrated regression by isotonic regression: i.i.d., with an optional half-life |
//! | `without_covariates.rs` | calibrated forecasts from past outcomes alone |

mod algorithm_one;
mod isotonic_regression;
mod target;
mod tophat;
mod without_covariates;

pub use algorithm_one::{AlgorithmOne, AlgorithmOneParameters};
pub use isotonic_regression::{IsotonicRegression, IsotonicRegressionParameters};
pub use target::{AlgorithmOneReport, ClaimedBound};
pub use tophat::Tophat;
pub use without_covariates::{WithoutCovariates, WithoutCovariatesParameters};
