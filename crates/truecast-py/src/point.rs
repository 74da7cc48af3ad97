//! The classes `Point` and `PointScale`: a forecast that is one number, and a point forecaster's scale, learned.

use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyType;
use truecast::forecast;

use crate::errors::{Error, Result};
use crate::held::{Base, Held};
use crate::kinds;

/// A forecast that is one number. It stands for a normal distribution whose scale is learned from past errors.
///
/// A `Recalibrator` and a `Stream` learn one scale, a `Fleet` one for each series, and keep it in their state. Before the first error
/// the scale is a tenth of the number's size (1 for 0). Where you know better, a `PointScale` begins at what you say.
///
/// Examples
/// --------
/// >>> import truecast as tc
/// >>> rc = tc.Recalibrator()
/// >>> rc.recalibrate(tc.Point(20.0)).base
/// Gaussian(mu=20.0, sigma=2.0)
/// >>> rc.observe(tc.Point(20.0), 26.0)
/// >>> rc.recalibrate(tc.Point(21.0)).base.sigma > 7.0
/// True
#[derive(Debug, Clone, Copy, PartialEq)]
#[pyclass(frozen, eq, module = "truecast")]
pub(crate) struct Point {
    pub(crate) value: f64,
}

#[pymethods]
impl Point {
    #[new]
    fn new(value: f64) -> Result<Self> {
        if value.is_finite() {
            Ok(Point { value })
        } else {
            Err(truecast::Error::NotFinite { what: "point forecast", value }.into())
        }
    }

    /// The number.
    #[getter]
    fn value(&self) -> f64 {
        self.value
    }

    fn __hash__(&self) -> u64 {
        // Numbers that are equal have equal hashes: zero has two signs.
        (self.value + 0.0).to_bits()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (f64,)) {
        (PyType::new::<Point>(slf.py()), (slf.get().value,))
    }

    fn __repr__(&self) -> String {
        format!("Point({:?})", self.value)
    }
}

/// Makes distributions of point forecasts: the scale is learned from residuals.
///
/// Parameters
/// ----------
/// initial_scale : float
///     A standard deviation to begin with, greater than zero; it counts as one residual.
/// half_life : float, optional
///     Residuals after which an old one counts half.
///
/// Examples
/// --------
/// >>> import truecast as tc
/// >>> scale = tc.PointScale(1.0)
/// >>> forecast = scale.forecast(20.0)
/// >>> forecast
/// Gaussian(mu=20.0, sigma=1.0)
/// >>> scale.observe(20.0, 26.0)
/// >>> scale.scale > 3.0
/// True
#[pyclass(frozen, module = "truecast")]
pub(crate) struct PointScale {
    scale: Mutex<forecast::PointScale>,
}

impl PointScale {
    fn lock(&self, py: Python<'_>) -> Result<MutexGuard<'_, forecast::PointScale>> {
        self.scale.lock_py_attached(py).map_err(|_| Error::Poisoned)
    }
}

#[pymethods]
impl PointScale {
    #[new]
    #[pyo3(signature = (initial_scale, *, half_life = None))]
    fn new(initial_scale: f64, half_life: Option<f64>) -> Result<Self> {
        let mut scale = forecast::PointScale::new(initial_scale)?;
        if let Some(half_life) = half_life {
            scale = scale.with_half_life(half_life)?;
        }
        Ok(PointScale { scale: Mutex::new(scale) })
    }

    /// The normal forecast around a point.
    fn forecast(&self, py: Python<'_>, value: f64) -> Result<Py<PyAny>> {
        let gaussian = self.lock(py)?.forecast(value)?;
        kinds::object(py, Held::Plain(Base::Gaussian(gaussian)))
    }

    /// Learns the outcome of a point forecast.
    fn observe(&self, py: Python<'_>, value: f64, y: f64) -> Result<()> {
        Ok(self.lock(py)?.observe(value, y)?)
    }

    /// The standard deviation as learned so far.
    #[getter]
    fn scale(&self, py: Python<'_>) -> Result<f64> {
        Ok(self.lock(py)?.scale())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<(Bound<'py, PyAny>, (Vec<u8>,))> {
        let scale = *slf.get().lock(slf.py())?;
        let bytes = postcard::to_allocvec(&scale).map_err(|error| unreadable(&error))?;
        Ok((PyType::new::<PointScale>(slf.py()).getattr("_from_bytes")?, (bytes,)))
    }

    /// For pickle.
    #[staticmethod]
    fn _from_bytes(bytes: &[u8]) -> Result<Self> {
        let scale = postcard::from_bytes(bytes).map_err(|error| unreadable(&error))?;
        Ok(PointScale { scale: Mutex::new(scale) })
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let scale = self.lock(py)?;
        Ok(match scale.half_life() {
            Some(half_life) => format!("PointScale({:?}, half_life={half_life:?})", scale.scale()),
            None => format!("PointScale({:?})", scale.scale()),
        })
    }
}

fn unreadable(error: &postcard::Error) -> Error {
    truecast::SnapshotError::Malformed { reason: error.to_string() }.into()
}
