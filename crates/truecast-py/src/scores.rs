//! The module `truecast.scores`: scores in the order (obs, forecast …), over arrays that broadcast.

use numpy::{PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyTuple};
use truecast::Gaussian;
use truecast::score::interval::{CentralInterval, of_interval};
use truecast::score::{crps, pinball};

use crate::errors::{Error, Result};
use crate::numbers::{List, Numbers, read, shaped};

/// Arrays brought to one shape, entry by entry.
struct Together {
    columns: Vec<Vec<f64>>,
    shape: Vec<usize>,
    /// All were single numbers, and so is the answer.
    single: bool,
}

impl Together {
    fn new<'py>(py: Python<'py>, numbers: Vec<Numbers<'py>>) -> Result<Self> {
        if numbers.iter().all(|numbers| matches!(numbers, Numbers::One(_))) {
            let columns = numbers.into_iter().map(|numbers| Ok(numbers.flatten()?.0));
            return Ok(Together {
                columns: columns.collect::<Result<_>>()?,
                shape: Vec::new(),
                single: true,
            });
        }
        let arrays = numbers.into_iter().map(|numbers| match numbers {
            Numbers::One(number) => PyFloat::new(py, number).into_any(),
            Numbers::Many(array) => array.into_any(),
        });
        let arrays: Vec<_> = arrays.collect();
        let broadcast = py.import("numpy")?.call_method1("broadcast_arrays", PyTuple::new(py, arrays)?)?;
        let mut together = Together { columns: Vec::new(), shape: Vec::new(), single: false };
        for array in broadcast.try_iter()? {
            let array = array?.cast_into::<PyArrayDyn<f64>>().map_err(PyErr::from)?;
            together.shape = array.shape().to_vec();
            together.columns.push(read(&array)?);
        }
        Ok(together)
    }

    /// The score of each entry; a refusal names the entry.
    fn score<'py>(
        self,
        py: Python<'py>,
        score: impl Fn(&dyn Fn(usize) -> f64) -> Result<f64, truecast::Error> + Sync + Send,
    ) -> Result<Bound<'py, PyAny>> {
        let Together { columns, shape, single } = self;
        let count = columns.first().map_or(0, Vec::len);
        let values = py.detach(|| {
            let one =
                |entry: usize| score(&|column: usize| columns[column][entry]).map_err(|error| (entry, error));
            (0..count).map(one).collect::<Result<Vec<f64>, _>>()
        });
        let values = values.map_err(|(entry, error)| match single {
            true => Error::from(error),
            false => Error::from(error).at_row(entry),
        })?;
        answer(py, values, &shape, single)
    }
}

fn answer<'py>(
    py: Python<'py>,
    values: Vec<f64>,
    shape: &[usize],
    single: bool,
) -> Result<Bound<'py, PyAny>> {
    match values[..] {
        [value] if single => Ok(PyFloat::new(py, value).into_any()),
        _ => Ok(shaped(py, values, shape)?.into_any()),
    }
}

/// The CRPS of normal forecasts.
///
/// Parameters
/// ----------
/// obs : array_like
///     Outcomes.
/// mu, sigma : array_like
///     Means and standard deviations; all three broadcast.
///
/// Returns
/// -------
/// float or ndarray
///
/// Examples
/// --------
/// >>> from truecast import scores
/// >>> round(scores.crps_normal(0.0, 0.0, 1.0), 6)
/// 0.233695
#[pyfunction]
pub(crate) fn crps_normal<'py>(
    py: Python<'py>,
    obs: Numbers<'py>,
    mu: Numbers<'py>,
    sigma: Numbers<'py>,
) -> Result<Bound<'py, PyAny>> {
    Together::new(py, vec![obs, mu, sigma])?.score(py, |at| crps::of(&Gaussian::new(at(1), at(2))?, at(0)))
}

/// The pinball loss of quantiles.
///
/// Parameters
/// ----------
/// obs : array_like
///     Outcomes.
/// fct : array_like
///     Quantiles.
/// q : array_like
///     Their probabilities; all three broadcast.
///
/// Returns
/// -------
/// float or ndarray
#[pyfunction(name = "pinball")]
pub(crate) fn pinball_loss<'py>(
    py: Python<'py>,
    obs: Numbers<'py>,
    fct: Numbers<'py>,
    q: Numbers<'py>,
) -> Result<Bound<'py, PyAny>> {
    Together::new(py, vec![obs, fct, q])?.score(py, |at| pinball::of_quantile(at(1), at(0), at(2)))
}

/// Winkler's score of central intervals: the width, and misses times 2 / (1 − coverage).
///
/// Parameters
/// ----------
/// obs : array_like
///     Outcomes.
/// lower, upper : array_like
///     Ends of the intervals.
/// coverage : array_like
///     Their probability; all four broadcast.
///
/// Returns
/// -------
/// float or ndarray
#[pyfunction]
pub(crate) fn interval_score<'py>(
    py: Python<'py>,
    obs: Numbers<'py>,
    lower: Numbers<'py>,
    upper: Numbers<'py>,
    coverage: Numbers<'py>,
) -> Result<Bound<'py, PyAny>> {
    Together::new(py, vec![obs, lower, upper, coverage])?
        .score(py, |at| of_interval(CentralInterval { coverage: at(3), low: at(1), high: at(2) }, at(0)))
}

/// Forecasts along the last axis: as many rows as there are outcomes.
fn by_row<'py>(
    py: Python<'py>,
    obs: Numbers<'py>,
    fct: Numbers<'py>,
    score: impl Fn(&[f64], f64) -> Result<f64, truecast::Error> + Send + Sync,
) -> Result<Bound<'py, PyAny>> {
    let (obs, shape) = obs.flatten()?;
    let (values, fct_shape) = fct.flatten()?;
    let Some((&columns, rows)) = fct_shape.split_last() else {
        return Err(Error::wrong_type(
            "fct needs at least one dimension, the last one for the forecast".into(),
        ));
    };
    if rows != shape {
        return Err(Error::wrong_type(format!(
            "fct must have the shape of obs and one more dimension: {shape:?} and {fct_shape:?} do not go together"
        )));
    }
    let single = shape.is_empty();
    let scores = py.detach(|| {
        let one = |(row, &y): (usize, &f64)| {
            score(&values[row * columns..(row + 1) * columns], y).map_err(|error| (row, error))
        };
        obs.iter().enumerate().map(one).collect::<Result<Vec<f64>, _>>()
    });
    let scores = scores.map_err(|(row, error)| match single {
        true => Error::from(error),
        false => Error::from(error).at_row(row),
    })?;
    answer(py, scores, &shape, single)
}

/// The CRPS from quantiles: twice their mean pinball loss.
///
/// Parameters
/// ----------
/// obs : array_like
///     Outcomes.
/// fct : array_like
///     Quantiles along the last axis.
/// q : array_like, one dimension
///     Their probabilities.
///
/// Returns
/// -------
/// float or ndarray
#[pyfunction]
pub(crate) fn crps_quantile<'py>(
    py: Python<'py>,
    obs: Numbers<'py>,
    fct: Numbers<'py>,
    q: List,
) -> Result<Bound<'py, PyAny>> {
    by_row(py, obs, fct, |values, y| crps::of_quantiles(&q.0, values, y))
}

/// The CRPS of ensembles.
///
/// Parameters
/// ----------
/// obs : array_like
///     Outcomes.
/// fct : array_like
///     Members along the last axis.
/// fair : bool
///     The estimator whose expectation does not depend on the ensemble's size.
///
/// Returns
/// -------
/// float or ndarray
#[pyfunction]
#[pyo3(signature = (obs, fct, *, fair = false))]
pub(crate) fn crps_ensemble<'py>(
    py: Python<'py>,
    obs: Numbers<'py>,
    fct: Numbers<'py>,
    fair: bool,
) -> Result<Bound<'py, PyAny>> {
    let score = if fair { crps::of_ensemble_fair } else { crps::of_ensemble };
    by_row(py, obs, fct, score)
}
