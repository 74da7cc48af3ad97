//! The native part of the Python package `truecast`: convert, call, convert.
//!
//! | file | what it holds |
//! |---|---|
//! | `distribution.rs`, `kinds.rs`, `held.rs` | the class of a distribution, its kinds, and how one is held |
//! | `foreign.rs` | distributions of SciPy, PyTorch and others |
//! | `recalibrator.rs`, `stream.rs`, `fleet.rs`, `point.rs` | what learns: one lock each, so that any thread may call |
//! | `scale.rs` | the scale of point forecasts, and the bytes that keep it |
//! | `forecasts.rs`, `keys.rs`, `batch.rs`, `run.rs` | batches |
//! | `space.rs`, `study.rs`, `trial.rs` | optimisation: what is searched, the study, and its log |
//! | `frame.rs`, `summary.rs` | frames as cells for `truecast-events`, which knows what they mean; their scores |
//! | `scores.rs` | scores over arrays |
//! | `settings.rs`, `certificate.rs`, `markup.rs` | keyword arguments, the dataclass, tables for notebooks |
//! | `numbers.rs` | a float or an array of them |
//! | `errors.rs` | Rust's errors as Python's exceptions |
//!
//! Everything is immutable or behind a lock, so the module works without the global interpreter lock. Sub-interpreters are refused
//! when the package is imported (`python/truecast/interpreters.py`).

// What PyO3 extracts from Python's arguments is passed by value, used or not.
#![allow(clippy::needless_pass_by_value)]

mod batch;
mod certificate;
mod distribution;
mod errors;
mod fleet;
mod forecasts;
mod foreign;
mod frame;
mod held;
mod keys;
mod kinds;
mod markup;
mod numbers;
mod point;
mod recalibrator;
mod run;
mod scale;
mod scores;
mod settings;
mod space;
mod stream;
mod study;
mod summary;
mod trial;

/// The module `truecast._core`.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::distribution::Distribution;
    #[pymodule_export]
    use crate::fleet::Fleet;
    #[pymodule_export]
    use crate::forecasts::Forecasts;
    #[pymodule_export]
    use crate::frame::{Desk, Frame};
    #[pymodule_export]
    use crate::kinds::{
        Cdf, Gaussian, Laplace, LogNormal, Logistic, Mixture, Quantiles, Recalibrated, Samples, StudentT,
        Uniform,
    };
    #[pymodule_export]
    use crate::point::{Point, PointScale};
    #[pymodule_export]
    use crate::recalibrator::Recalibrator;
    #[pymodule_export]
    use crate::scores::{crps_ensemble, crps_normal, crps_quantile, interval_score, pinball_loss};
    #[pymodule_export]
    use crate::space::Space;
    #[pymodule_export]
    use crate::stream::Stream;
    #[pymodule_export]
    use crate::study::Study;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // The one list of methods is the core's.
        let methods = truecast::recalibrate::Method::ALL.map(truecast::recalibrate::Method::name);
        module.setattr("_METHODS", pyo3::types::PyTuple::new(module.py(), methods)?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
