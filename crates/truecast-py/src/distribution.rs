//! The class `Distribution`: what every forecast, given or recalibrated, answers.

use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use truecast::forecast::AnyForecast;
use truecast::{Forecast, normal, random};

use crate::errors::{Error, Result};
use crate::foreign;
use crate::held::{Base, Held};
use crate::kinds;
use crate::markup;
use crate::numbers::{Numbers, shaped};

/// A predictive distribution of one real outcome.
///
/// Every method takes a float and returns a float, or takes an array (anything that NumPy makes an array of numbers of) and
/// returns an array of its shape. Distributions do not change.
///
/// Examples
/// --------
/// >>> import truecast as tc
/// >>> forecast = tc.Gaussian(20.0, 2.0)
/// >>> forecast.cdf(20.0)
/// 0.5
/// >>> forecast.quantile([0.1, 0.5, 0.9]).round(3)
/// array([17.437, 20.   , 22.563])
#[derive(Debug)]
#[pyclass(frozen, subclass, module = "truecast")]
pub(crate) struct Distribution {
    pub(crate) held: Held,
}

impl Distribution {
    fn ask<'py>(
        &self,
        numbers: Numbers<'py>,
        py: Python<'py>,
        question: impl Fn(&dyn Forecast, f64) -> Result<f64, truecast::Error> + Send + Sync,
    ) -> Result<Bound<'py, PyAny>> {
        self.held.with(|forecast| numbers.map(py, |number| question(forecast, number)))
    }
}

/// A number on the outcome's axis; the ends of the axis are on it.
fn not_nan(what: &'static str, value: f64) -> Result<f64, truecast::Error> {
    if value.is_nan() { Err(truecast::Error::NotFinite { what, value }) } else { Ok(value) }
}

fn finite(what: &'static str, value: f64) -> Result<f64, truecast::Error> {
    if value.is_finite() { Ok(value) } else { Err(truecast::Error::NotFinite { what, value }) }
}

pub(crate) fn probability(what: &'static str, value: f64) -> Result<f64, truecast::Error> {
    // Written so that NaN fails as well.
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(truecast::Error::OutOfRange { what, rule: "between 0 and 1", value })
    }
}

#[pymethods]
impl Distribution {
    /// P(Y ≤ y).
    ///
    /// Parameters
    /// ----------
    /// y : float or array_like
    ///
    /// Returns
    /// -------
    /// float or ndarray
    fn cdf<'py>(&self, py: Python<'py>, y: Numbers<'py>) -> Result<Bound<'py, PyAny>> {
        self.ask(y, py, |forecast, y| Ok(forecast.cdf(not_nan("outcome", y)?)))
    }

    /// P(Y > y), accurate in the upper tail where ``1 - cdf(y)`` is not.
    ///
    /// Parameters
    /// ----------
    /// y : float or array_like
    ///
    /// Returns
    /// -------
    /// float or ndarray
    fn sf<'py>(&self, py: Python<'py>, y: Numbers<'py>) -> Result<Bound<'py, PyAny>> {
        self.ask(y, py, |forecast, y| Ok(forecast.sf(not_nan("outcome", y)?)))
    }

    /// The smallest y with P(Y ≤ y) ≥ q.
    ///
    /// Parameters
    /// ----------
    /// q : float or array_like
    ///     Between 0 and 1; these two give the ends of the support.
    ///
    /// Returns
    /// -------
    /// float or ndarray
    fn quantile<'py>(&self, py: Python<'py>, q: Numbers<'py>) -> Result<Bound<'py, PyAny>> {
        self.ask(q, py, |forecast, q| Ok(forecast.quantile(probability("q", q)?)))
    }

    /// `quantile` under SciPy's name.
    fn ppf<'py>(&self, py: Python<'py>, q: Numbers<'py>) -> Result<Bound<'py, PyAny>> {
        self.quantile(py, q)
    }

    /// `quantile` under the name that PyTorch and new SciPy use.
    fn icdf<'py>(&self, py: Python<'py>, q: Numbers<'py>) -> Result<Bound<'py, PyAny>> {
        self.quantile(py, q)
    }

    /// The central interval that holds the outcome with probability `coverage`.
    ///
    /// Parameters
    /// ----------
    /// coverage : float or array_like
    ///     Greater than 0 and less than 1.
    ///
    /// Returns
    /// -------
    /// (lower, upper) : pair of float or ndarray
    ///
    /// Examples
    /// --------
    /// >>> import truecast as tc
    /// >>> low, high = tc.Gaussian(0.0, 1.0).interval(0.8)
    /// >>> round(low, 3), round(high, 3)
    /// (-1.282, 1.282)
    fn interval<'py>(
        &self,
        py: Python<'py>,
        coverage: Numbers<'py>,
    ) -> Result<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        self.held.with(|forecast| coverage.map_pair(py, |coverage| forecast.interval(coverage)))
    }

    /// The probability of low < Y ≤ high, without cancellation in either tail.
    fn between(&self, low: f64, high: f64) -> Result<f64> {
        let (low, high) = (not_nan("low", low)?, not_nan("high", high)?);
        Ok(self.held.with(|forecast| forecast.probability_between(low, high)))
    }

    /// The density at y.
    ///
    /// Raises
    /// ------
    /// NoDensityError
    ///     Where the distribution has none: at an atom, or known by its CDF alone.
    fn pdf<'py>(&self, py: Python<'py>, y: Numbers<'py>) -> Result<Bound<'py, PyAny>> {
        self.ask(y, py, |forecast, y| Ok(ln_density(forecast, y)?.exp()))
    }

    /// The logarithm of the density at y.
    fn logpdf<'py>(&self, py: Python<'py>, y: Numbers<'py>) -> Result<Bound<'py, PyAny>> {
        self.ask(y, py, ln_density)
    }

    /// The continuous ranked probability score against the outcome y: lower is better, in the outcome's units.
    ///
    /// Exact for normal, quantile and ensemble forecasts and what becomes of them, elsewhere by quadrature to about 1e-10.
    fn crps<'py>(&self, py: Python<'py>, y: Numbers<'py>) -> Result<Bound<'py, PyAny>> {
        self.ask(y, py, |forecast, y| Ok(forecast.crps(finite("outcome", y)?)))
    }

    /// The mean; the median where there is no mean (Student's t with at most one degree of freedom).
    fn mean(&self) -> f64 {
        self.held.with(|forecast| forecast.mean())
    }

    /// The median.
    fn median(&self) -> f64 {
        self.held.with(|forecast| forecast.at_probit(0.0))
    }

    /// The standard deviation, which may be infinite.
    fn std(&self) -> f64 {
        self.held.with(|forecast| forecast.std())
    }

    /// The variance, which may be infinite.
    fn var(&self) -> f64 {
        self.held.with(|forecast| forecast.variance())
    }

    /// Seeded draws.
    ///
    /// Parameters
    /// ----------
    /// size : int or tuple of int, optional
    ///     The shape; a single float without it.
    /// seed : int
    ///     The same seed gives the same draws, on every machine.
    ///
    /// Returns
    /// -------
    /// float or ndarray
    #[pyo3(signature = (size = None, *, seed = 0))]
    fn sample<'py>(&self, py: Python<'py>, size: Option<Size>, seed: u64) -> Result<Bound<'py, PyAny>> {
        let shape = size.map(|Size(shape)| shape);
        let count: usize = shape.as_ref().map_or(1, |shape| shape.iter().product());
        self.held.with(|forecast| {
            let draw = |step: usize| {
                let uniform = random::uniform(seed, step as u64, 0);
                forecast.at_probit(normal::quantile(uniform.max(f64::EPSILON / 4.0)))
            };
            match shape {
                None => Ok(draw(0).into_pyobject(py).map_err(PyErr::from)?.into_any()),
                Some(shape) => {
                    let draws = py.detach(|| (0..count).map(draw).collect());
                    Ok(shaped(py, draws, &shape)?.into_any())
                }
            }
        })
    }

    /// Draws, under SciPy's names.
    ///
    /// Parameters
    /// ----------
    /// size : int or tuple of int, optional
    /// random_state : int or numpy.random.Generator
    ///     A seed, or the generator to take uniform numbers from.
    #[pyo3(signature = (size = None, random_state = None))]
    fn rvs<'py>(
        &self,
        py: Python<'py>,
        size: Option<Size>,
        random_state: Option<Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyAny>> {
        match random_state {
            Some(state) if state.hasattr("random")? => {
                let uniforms = match size {
                    None => state.call_method0("random")?,
                    Some(Size(shape)) => state.call_method1("random", (shape,))?,
                };
                self.quantile(py, Numbers::extract(uniforms.as_borrowed())?)
            }
            Some(seed) => self.sample(py, size, seed.extract()?),
            None => self.sample(py, size, 0),
        }
    }

    fn __repr__(&self) -> String {
        kinds::describe(&self.held)
    }

    fn _repr_html_(&self) -> String {
        let row = |name: &str, value: f64| (name.to_string(), markup::number(value));
        let rows = self.held.with(|forecast| {
            let moments = forecast.moments();
            let quantile = |q: f64| row(&format!("quantile {q}"), forecast.quantile(q));
            let mut rows = vec![row("mean", moments.mean), row("standard deviation", moments.std())];
            rows.extend([0.025, 0.1, 0.5, 0.9, 0.975].map(quantile));
            rows
        });
        markup::table(&kinds::describe(&self.held), &rows)
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, comparison: CompareOp) -> Py<PyAny> {
        let py = other.py();
        let same =
            || other.cast::<Distribution>().ok().map(|other| self.held.to_any() == other.get().held.to_any());
        let answer = match comparison {
            CompareOp::Eq => same(),
            CompareOp::Ne => same().map(|same| !same),
            _ => None,
        };
        match answer {
            Some(answer) => answer
                .into_pyobject(py)
                .map_or_else(|error| match error {}, |b| b.to_owned().into_any().unbind()),
            None => py.NotImplemented(),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        let bytes = postcard::to_allocvec(&slf.get().held.to_any()).map_err(|e| unreadable(&e))?;
        let load = PyType::new::<Distribution>(py).getattr("_from_bytes")?;
        Ok((load, (PyBytes::new(py, &bytes),)))
    }

    /// For pickle.
    #[staticmethod]
    fn _from_bytes(py: Python<'_>, bytes: &[u8]) -> Result<Py<PyAny>> {
        let forecast: AnyForecast = postcard::from_bytes(bytes).map_err(|e| unreadable(&e))?;
        kinds::object(py, forecast.into())
    }
}

fn unreadable(error: &postcard::Error) -> Error {
    truecast::SnapshotError::Malformed { reason: error.to_string() }.into()
}

fn ln_density(forecast: &dyn Forecast, y: f64) -> Result<f64, truecast::Error> {
    forecast.ln_density(finite("outcome", y)?).ok_or(truecast::Error::NoDensity { outcome: y })
}

/// A shape: a number or several.
pub(crate) struct Size(Vec<usize>);

impl<'a, 'py> FromPyObject<'a, 'py> for Size {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match given.extract::<usize>() {
            Ok(count) => Ok(Size(vec![count])),
            Err(_) => Ok(Size(given.extract::<Vec<usize>>()?)),
        }
    }
}

/// Anything that is understood as a forecast: ours, or a foreign one that is recognised or tabulated.
pub(crate) struct Like(pub(crate) Base);

impl<'a, 'py> FromPyObject<'a, 'py> for Like {
    type Error = Error;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> Result<Self> {
        match given.cast::<Distribution>() {
            Ok(ours) => Ok(Like(ours.get().held.to_base())),
            Err(_) => Ok(Like(foreign::recognise(&given)?)),
        }
    }
}
