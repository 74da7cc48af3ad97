//! The kinds of distributions as classes: each a thin constructor over the core's type of the same name.

use pyo3::PyClassInitializer;
use pyo3::prelude::*;
use truecast::forecast::{self, AnyForecast};
use truecast::normal;

use crate::distribution::{Distribution, Like};
use crate::errors::{Error, Result};
use crate::held::{Base, Held};
use crate::numbers::List;

/// Declares a subclass of `Distribution` without data of its own.
macro_rules! kind {
    ($(#[$doc:meta])* $name:ident, $python:literal) => {
        $(#[$doc])*
        #[derive(Debug)]
        #[pyclass(frozen, extends = Distribution, module = "truecast", name = $python)]
        pub(crate) struct $name;
    };
}

/// A new object, before Python has it.
type New<T> = PyClassInitializer<T>;

macro_rules! initial {
    ($kind:ident, $forecast:expr) => {
        PyClassInitializer::from(Distribution { held: Held::Plain(Base::new($forecast)) }).add_subclass($kind)
    };
}

/// The core's forecast of the given kind; each class holds its own kind by construction.
macro_rules! inner {
    ($slf:expr, $kind:ident) => {
        match &$slf.as_super().held {
            Held::Plain(Base::Other(forecast)) => match &**forecast {
                AnyForecast::$kind(inner) => Ok(inner),
                _ => Err(another_kind()),
            },
            _ => Err(another_kind()),
        }
    };
}

fn another_kind() -> Error {
    Error::wrong_type("the object holds a distribution of another kind".into())
}

kind! {
    /// A normal distribution.
    ///
    /// Parameters
    /// ----------
    /// mu : float
    ///     The mean, finite.
    /// sigma : float
    ///     The standard deviation, finite and greater than zero.
    ///
    /// Examples
    /// --------
    /// >>> import truecast as tc
    /// >>> tc.Gaussian(20.0, 2.0)
    /// Gaussian(mu=20.0, sigma=2.0)
    Gaussian, "Gaussian"
}

#[pymethods]
impl Gaussian {
    #[new]
    fn new(mu: f64, sigma: f64) -> Result<New<Self>> {
        let gaussian = forecast::Gaussian::new(mu, sigma)?;
        Ok(PyClassInitializer::from(Distribution { held: Held::Plain(Base::Gaussian(gaussian)) })
            .add_subclass(Gaussian))
    }

    /// The mean.
    #[getter]
    fn mu(slf: PyRef<'_, Self>) -> f64 {
        slf.as_super().held.with(|forecast| forecast.mean())
    }

    /// The standard deviation.
    #[getter]
    fn sigma(slf: PyRef<'_, Self>) -> f64 {
        slf.as_super().held.with(|forecast| forecast.std())
    }
}

kind! {
    /// Student's t distribution.
    ///
    /// Parameters
    /// ----------
    /// df : float
    ///     Degrees of freedom, greater than zero.
    /// loc : float
    /// scale : float
    ///     Greater than zero.
    StudentT, "StudentT"
}

#[pymethods]
impl StudentT {
    #[new]
    #[pyo3(signature = (df, loc = 0.0, scale = 1.0))]
    fn new(df: f64, loc: f64, scale: f64) -> Result<New<Self>> {
        Ok(initial!(StudentT, forecast::StudentT::new(df, loc, scale)?))
    }

    /// Degrees of freedom.
    #[getter]
    fn df(slf: PyRef<'_, Self>) -> Result<f64> {
        Ok(inner!(slf, StudentT)?.dof())
    }

    /// The middle.
    #[getter]
    fn loc(slf: PyRef<'_, Self>) -> Result<f64> {
        Ok(inner!(slf, StudentT)?.location())
    }

    /// The scale.
    #[getter]
    fn scale(slf: PyRef<'_, Self>) -> Result<f64> {
        Ok(inner!(slf, StudentT)?.scale())
    }
}

/// A kind that is given by a location and a scale.
macro_rules! location_scale {
    ($(#[$doc:meta])* $name:ident, $python:literal) => {
        kind! { $(#[$doc])* $name, $python }

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = (loc = 0.0, scale = 1.0))]
            fn new(loc: f64, scale: f64) -> Result<New<Self>> {
                Ok(initial!($name, forecast::$name::new(loc, scale)?))
            }

            /// The middle.
            #[getter]
            fn loc(slf: PyRef<'_, Self>) -> Result<f64> {
                Ok(inner!(slf, $name)?.location())
            }

            /// The scale.
            #[getter]
            fn scale(slf: PyRef<'_, Self>) -> Result<f64> {
                Ok(inner!(slf, $name)?.scale())
            }
        }
    };
}

location_scale! {
    /// A Laplace distribution.
    ///
    /// Parameters
    /// ----------
    /// loc : float
    /// scale : float
    ///     Greater than zero.
    Laplace, "Laplace"
}

location_scale! {
    /// A logistic distribution.
    ///
    /// Parameters
    /// ----------
    /// loc : float
    /// scale : float
    ///     Greater than zero.
    Logistic, "Logistic"
}

kind! {
    /// The distribution of exp(X) for a normal X.
    ///
    /// Parameters
    /// ----------
    /// mu, sigma : float
    ///     Mean and standard deviation of X.
    LogNormal, "LogNormal"
}

#[pymethods]
impl LogNormal {
    #[new]
    fn new(mu: f64, sigma: f64) -> Result<New<Self>> {
        Ok(initial!(LogNormal, forecast::LogNormal::new(mu, sigma)?))
    }

    /// The mean of the logarithm.
    #[getter]
    fn mu(slf: PyRef<'_, Self>) -> Result<f64> {
        Ok(inner!(slf, LogNormal)?.mu())
    }

    /// The standard deviation of the logarithm.
    #[getter]
    fn sigma(slf: PyRef<'_, Self>) -> Result<f64> {
        Ok(inner!(slf, LogNormal)?.sigma())
    }
}

kind! {
    /// A uniform distribution.
    ///
    /// Parameters
    /// ----------
    /// low, high : float
    ///     The ends of the support, in this order.
    Uniform, "Uniform"
}

#[pymethods]
impl Uniform {
    #[new]
    fn new(low: f64, high: f64) -> Result<New<Self>> {
        Ok(initial!(Uniform, forecast::Uniform::new(low, high)?))
    }

    /// The lower end.
    #[getter]
    fn low(slf: PyRef<'_, Self>) -> Result<f64> {
        Ok(inner!(slf, Uniform)?.low())
    }

    /// The upper end.
    #[getter]
    fn high(slf: PyRef<'_, Self>) -> Result<f64> {
        Ok(inner!(slf, Uniform)?.high())
    }
}

kind! {
    /// A forecast given by some of its quantiles.
    ///
    /// Between quantiles it is linear in probit units, so that a normal distribution is recovered from any two of its quantiles;
    /// tails are normal. Quantiles that tie make an atom.
    ///
    /// Parameters
    /// ----------
    /// q : array_like
    ///     Probabilities between 0 and 1, increasing; at least two.
    /// values : array_like
    ///     The quantiles.
    /// support : pair of float, optional
    ///     The range of possible outcomes; either end may be infinite.
    /// strict : bool
    ///     Refuse quantiles that cross, instead of sorting them.
    Quantiles, "Quantiles"
}

#[pymethods]
impl Quantiles {
    #[new]
    #[pyo3(signature = (q, values, *, support = None, strict = false))]
    fn new(q: List, values: List, support: Option<(f64, f64)>, strict: bool) -> Result<New<Self>> {
        let make = if strict { forecast::Quantiles::strict } else { forecast::Quantiles::new };
        let mut quantiles = make(&q.0, &values.0)?;
        if let Some((low, high)) = support {
            quantiles = quantiles.with_support(low, high)?;
        }
        Ok(initial!(Quantiles, quantiles))
    }

    /// The probabilities.
    #[getter]
    fn q(slf: PyRef<'_, Self>) -> Result<Vec<f64>> {
        Ok(inner!(slf, Quantiles)?.probabilities().to_vec())
    }

    /// The quantiles, in order.
    #[getter]
    fn values(slf: PyRef<'_, Self>) -> Result<Vec<f64>> {
        Ok(inner!(slf, Quantiles)?.values().to_vec())
    }

    /// The range of possible outcomes.
    #[getter]
    fn support(slf: PyRef<'_, Self>) -> Result<(f64, f64)> {
        Ok(inner!(slf, Quantiles)?.support())
    }

    /// How many quantiles had to be moved because they crossed.
    #[getter]
    fn repaired(slf: PyRef<'_, Self>) -> Result<usize> {
        Ok(inner!(slf, Quantiles)?.repaired())
    }
}

kind! {
    /// An ensemble as a forecast.
    ///
    /// Parameters
    /// ----------
    /// values : array_like
    ///     Finite samples in any order; at least one.
    Samples, "Samples"
}

#[pymethods]
impl Samples {
    #[new]
    fn new(values: List) -> Result<New<Self>> {
        Ok(initial!(Samples, forecast::Samples::new(&values.0)?))
    }

    /// The samples, in order.
    #[getter]
    fn values(slf: PyRef<'_, Self>) -> Result<Vec<f64>> {
        Ok(inner!(slf, Samples)?.values().to_vec())
    }
}

kind! {
    /// A forecast given by its distribution function at some points, linear between them.
    ///
    /// Parameters
    /// ----------
    /// points : array_like
    ///     Increasing; a repeated point is a jump.
    /// probabilities : array_like
    ///     P(Y ≤ point), not decreasing. What is missing below the first and above the last point sits on it.
    Cdf, "CDF"
}

#[pymethods]
impl Cdf {
    #[new]
    fn new(points: List, probabilities: List) -> Result<New<Self>> {
        Ok(initial!(Cdf, forecast::CdfTable::new(&points.0, &probabilities.0)?))
    }

    /// The points, from one end of the support to the other.
    #[getter]
    fn points(slf: PyRef<'_, Self>) -> Result<Vec<f64>> {
        Ok(inner!(slf, CdfTable)?.points().collect())
    }

    /// The probabilities at these points, from 0 to 1.
    #[getter]
    fn probabilities(slf: PyRef<'_, Self>) -> Result<Vec<f64>> {
        Ok(inner!(slf, CdfTable)?.probabilities().collect())
    }
}

kind! {
    /// A mixture of distributions.
    ///
    /// Parameters
    /// ----------
    /// weights : array_like
    ///     Zero or more, not all zero; divided by their sum.
    /// components : sequence of distributions
    ///     As many; any kind that is understood as a forecast.
    Mixture, "Mixture"
}

#[pymethods]
impl Mixture {
    #[new]
    fn new(weights: List, components: Vec<Like>) -> Result<New<Self>> {
        let components = components.into_iter().map(|Like(base)| base.to_any()).collect();
        Ok(initial!(Mixture, forecast::Mixture::new(&weights.0, components)?))
    }

    /// The weights.
    #[getter]
    fn weights(slf: PyRef<'_, Self>) -> Result<Vec<f64>> {
        Ok(inner!(slf, Mixture)?.weights().to_vec())
    }

    /// The components.
    #[getter]
    fn components(slf: PyRef<'_, Self>) -> Result<Vec<Py<PyAny>>> {
        let components = inner!(slf, Mixture)?.components().to_vec();
        components.into_iter().map(|component| object(slf.py(), component.into())).collect()
    }
}

kind! {
    /// What a recalibrator made of a forecast: a distribution like any other.
    Recalibrated, "Recalibrated"
}

impl Recalibrated {
    /// A new object: the hot path of a step.
    pub(crate) fn object(py: Python<'_>, held: Held) -> PyResult<Py<Self>> {
        Py::new(py, PyClassInitializer::from(Distribution { held }).add_subclass(Recalibrated))
    }
}

#[pymethods]
impl Recalibrated {
    /// The forecast before recalibration.
    #[getter]
    fn base(slf: PyRef<'_, Self>) -> Result<Py<PyAny>> {
        match &slf.as_super().held {
            Held::Calibrated { base, .. } => object(slf.py(), base.to_any().into()),
            Held::Plain(_) => Err(another_kind()),
        }
    }

    /// The map in force: probabilities of the base where it bends, and what is announced in their place.
    #[getter]
    fn map(slf: PyRef<'_, Self>) -> Result<(Vec<f64>, Vec<f64>)> {
        match &slf.as_super().held {
            Held::Calibrated { map, .. } => {
                Ok(map.bends().map(|(z, t)| (normal::cdf(z), normal::cdf(t))).unzip())
            }
            Held::Plain(_) => Err(another_kind()),
        }
    }
}

/// The object for a distribution, of the class of its kind.
pub(crate) fn object(py: Python<'_>, held: Held) -> Result<Py<PyAny>> {
    macro_rules! of_class {
        ($class:ident) => {
            Py::new(py, PyClassInitializer::from(Distribution { held }).add_subclass($class))?.into_any()
        };
    }
    Ok(match &held {
        Held::Calibrated { .. } => of_class!(Recalibrated),
        Held::Plain(Base::Gaussian(_)) => of_class!(Gaussian),
        Held::Plain(Base::Other(forecast)) => match &**forecast {
            AnyForecast::StudentT(_) => of_class!(StudentT),
            AnyForecast::Laplace(_) => of_class!(Laplace),
            AnyForecast::Logistic(_) => of_class!(Logistic),
            AnyForecast::LogNormal(_) => of_class!(LogNormal),
            AnyForecast::Uniform(_) => of_class!(Uniform),
            AnyForecast::Quantiles(_) => of_class!(Quantiles),
            AnyForecast::Samples(_) => of_class!(Samples),
            AnyForecast::CdfTable(_) => of_class!(Cdf),
            AnyForecast::Mixture(_) => of_class!(Mixture),
            AnyForecast::Gaussian(_) | AnyForecast::Recalibrated(_) | _ => {
                Py::new(py, Distribution { held })?.into_any()
            }
        },
    })
}

/// A distribution in one line.
pub(crate) fn describe(held: &Held) -> String {
    match held {
        Held::Plain(base) => describe_any(&base.to_any()),
        Held::Calibrated { base, .. } => {
            let (low, high) = held.with(|f| f.interval(0.8)).unwrap_or((f64::NAN, f64::NAN));
            format!("Recalibrated({}, 80 % within {low:.6} … {high:.6})", describe_any(&base.to_any()))
        }
    }
}

fn describe_any(forecast: &AnyForecast) -> String {
    match forecast {
        AnyForecast::Gaussian(f) => format!("Gaussian(mu={:?}, sigma={:?})", f.mean(), f.std()),
        AnyForecast::StudentT(f) => {
            format!("StudentT(df={:?}, loc={:?}, scale={:?})", f.dof(), f.location(), f.scale())
        }
        AnyForecast::Laplace(f) => format!("Laplace(loc={:?}, scale={:?})", f.location(), f.scale()),
        AnyForecast::Logistic(f) => format!("Logistic(loc={:?}, scale={:?})", f.location(), f.scale()),
        AnyForecast::LogNormal(f) => format!("LogNormal(mu={:?}, sigma={:?})", f.mu(), f.sigma()),
        AnyForecast::Uniform(f) => format!("Uniform(low={:?}, high={:?})", f.low(), f.high()),
        AnyForecast::Quantiles(f) => {
            let (low, high) = f.support();
            let support = match low.is_finite() || high.is_finite() {
                true => format!(", support=({low:?}, {high:?})"),
                false => String::new(),
            };
            format!("Quantiles(q={}, values={}{support})", short(f.probabilities()), short(f.values()))
        }
        AnyForecast::Samples(f) => format!("Samples({})", short(f.values())),
        AnyForecast::CdfTable(f) => {
            let (points, probabilities): (Vec<f64>, Vec<f64>) =
                (f.points().collect(), f.probabilities().collect());
            format!("CDF(points={}, probabilities={})", short(&points), short(&probabilities))
        }
        AnyForecast::Mixture(f) => {
            let components: Vec<String> = f.components().iter().map(describe_any).collect();
            format!("Mixture(weights={}, components=[{}])", short(f.weights()), components.join(", "))
        }
        AnyForecast::Recalibrated(f) => format!("Recalibrated({})", describe_any(f.base())),
        _ => "Distribution".to_string(),
    }
}

/// A list, cut short where it is long.
fn short(values: &[f64]) -> String {
    const MOST: usize = 6;
    if values.len() <= MOST {
        return format!("{values:?}");
    }
    let (first, last) = (&values[..3], values[values.len() - 1]);
    format!("[{:?}, {:?}, {:?}, … {last:?}; {} in all]", first[0], first[1], first[2], values.len())
}
