//! Many forecasts in one object: what batches are made of.

use std::borrow::Cow;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList};
use truecast::forecast::{AnyForecast, Gaussian, Quantiles, Samples, StudentT};
use truecast_fleet::Given;

use crate::distribution::Like;
use crate::errors::{Error, Result};
use crate::held::{Base, Held};
use crate::kinds;
use crate::numbers::{List, Table};
use crate::point::Point;
use crate::scale::{Offer, Scale};

/// The rows, each checked when the batch was made.
#[derive(Debug, Clone)]
pub(crate) enum Rows {
    Gaussian(Vec<Gaussian>),
    Each(Vec<Base>),
    /// Members row by row, so many in each.
    Ensembles(Vec<f64>, usize),
    Points(Vec<f64>),
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        match self {
            Rows::Gaussian(rows) => rows.len(),
            Rows::Each(rows) => rows.len(),
            Rows::Ensembles(values, members) => values.len() / members.max(&1),
            Rows::Points(values) => values.len(),
        }
    }

    /// The distribution of a row, or its point.
    fn offer(&self, row: usize) -> Result<Offer<Cow<'_, Base>>> {
        Ok(Offer::Distribution(match self {
            Rows::Gaussian(rows) => Cow::Owned(Base::Gaussian(rows[row])),
            Rows::Each(rows) => Cow::Borrowed(&rows[row]),
            Rows::Ensembles(values, members) => {
                Cow::Owned(Base::new(Samples::new(&values[row * members..(row + 1) * members])?))
            }
            Rows::Points(values) => return Ok(Offer::Point(values[row])),
        }))
    }

    /// The distribution of a row; that of a point has the scale learned so far.
    pub(crate) fn get(&self, row: usize, scale: &Scale) -> Result<Cow<'_, Base>> {
        match self.offer(row)? {
            Offer::Distribution(base) => Ok(base),
            Offer::Point(value) => Ok(Cow::Owned(scale.forecast(value)?)),
        }
    }

    /// The point of a row, if it is one.
    pub(crate) fn point(&self, row: usize) -> Option<f64> {
        match self {
            Rows::Points(values) => Some(values[row]),
            _ => None,
        }
    }

    /// The row as a fleet takes it.
    pub(crate) fn given(&self, row: usize) -> Given {
        match self {
            Rows::Gaussian(rows) => Given::Distribution(rows[row].into()),
            Rows::Each(rows) => Given::Distribution(rows[row].to_any()),
            Rows::Ensembles(values, members) => {
                Given::Ensemble(values[row * members..(row + 1) * members].to_vec())
            }
            Rows::Points(values) => Given::Point(values[row]),
        }
    }
}

/// Many forecasts, one for each row of a batch.
///
/// Made by one of `gaussian`, `student_t`, `quantiles`, `samples`, `points` and `of`; every row is checked.
///
/// Examples
/// --------
/// >>> import truecast as tc
/// >>> batch = tc.Forecasts.gaussian([20.0, 21.0], [2.0, 2.5])
/// >>> len(batch), batch[1]
/// (2, Gaussian(mu=21.0, sigma=2.5))
#[derive(Debug)]
#[pyclass(frozen, module = "truecast")]
pub(crate) struct Forecasts {
    /// Shared with whoever computes with them.
    pub(crate) rows: Arc<Rows>,
}

impl Forecasts {
    fn new(rows: Rows) -> Self {
        Forecasts { rows: Arc::new(rows) }
    }
}

fn together(what: &'static str, left: usize, right: usize) -> Result<()> {
    if left == right { Ok(()) } else { Err(truecast::Error::LengthMismatch { what, left, right }.into()) }
}

/// Every row's forecast, or the error of the first that is refused with its row.
fn each<T>(rows: usize, make: impl Fn(usize) -> Result<T>) -> Result<Vec<T>> {
    (0..rows).map(|row| make(row).map_err(|error| error.at_row(row))).collect()
}

#[pymethods]
impl Forecasts {
    /// Normal forecasts.
    ///
    /// Parameters
    /// ----------
    /// mu, sigma : array_like
    ///     Means and standard deviations.
    #[staticmethod]
    fn gaussian(mu: List, sigma: List) -> Result<Self> {
        together("mu and sigma", mu.0.len(), sigma.0.len())?;
        let rows = each(mu.0.len(), |row| Ok(Gaussian::new(mu.0[row], sigma.0[row])?))?;
        Ok(Forecasts::new(Rows::Gaussian(rows)))
    }

    /// Student's t forecasts.
    #[staticmethod]
    fn student_t(df: List, loc: List, scale: List) -> Result<Self> {
        together("df and loc", df.0.len(), loc.0.len())?;
        together("df and scale", df.0.len(), scale.0.len())?;
        let rows =
            each(df.0.len(), |row| Ok(Base::new(StudentT::new(df.0[row], loc.0[row], scale.0[row])?)))?;
        Ok(Forecasts::new(Rows::Each(rows)))
    }

    /// Forecasts given by their quantiles.
    ///
    /// Parameters
    /// ----------
    /// q : array_like
    ///     Probabilities, increasing.
    /// values : array_like, two dimensions
    ///     A row for each forecast, a column for each probability.
    #[staticmethod]
    fn quantiles(q: List, values: Table) -> Result<Self> {
        together("probabilities and columns", q.0.len(), values.columns)?;
        let rows = each(values.rows, |row| {
            let values = &values.values[row * values.columns..(row + 1) * values.columns];
            Ok(Base::new(Quantiles::new(&q.0, values)?))
        })?;
        Ok(Forecasts::new(Rows::Each(rows)))
    }

    /// Ensembles.
    ///
    /// Parameters
    /// ----------
    /// values : array_like, two dimensions
    ///     A row for each forecast, a column for each member.
    #[staticmethod]
    fn samples(values: Table) -> Result<Self> {
        let Table { values, rows, columns } = values;
        if columns == 0 {
            return Err(truecast::Error::TooFew { what: "samples", least: 1, found: 0 }.into());
        }
        each(rows, |row| Ok(Samples::new(&values[row * columns..(row + 1) * columns]).map(|_| ())?))?;
        Ok(Forecasts::new(Rows::Ensembles(values, columns)))
    }

    /// Point forecasts; who takes them learns their scale.
    #[staticmethod]
    fn points(values: List) -> Result<Self> {
        each(values.0.len(), |row| match values.0[row] {
            value if value.is_finite() => Ok(()),
            value => Err(truecast::Error::NotFinite { what: "point forecast", value }.into()),
        })?;
        Ok(Forecasts::new(Rows::Points(values.0)))
    }

    /// Any distributions, one by one; or points.
    ///
    /// Parameters
    /// ----------
    /// forecasts : iterable of distributions, or of `Point`s
    #[staticmethod]
    fn of(forecasts: &Bound<'_, PyAny>) -> Result<Self> {
        let (mut rows, mut points) = (Vec::new(), Vec::new());
        for (row, forecast) in forecasts.try_iter()?.enumerate() {
            let forecast = forecast?;
            if let Ok(point) = forecast.cast::<Point>() {
                points.push(point.get().value);
            } else {
                let Like(base) = Like::extract(forecast.as_borrowed()).map_err(|error| error.at_row(row))?;
                rows.push(base);
            }
            if !points.is_empty() && !rows.is_empty() {
                let mixed = "a batch is of points or of distributions, not of both";
                return Err(Error::wrong_type(mixed.into()).at_row(row));
            }
        }
        if !points.is_empty() {
            return Ok(Forecasts::new(Rows::Points(points)));
        }
        Ok(Forecasts::new(Rows::Each(rows)))
    }

    fn __len__(&self) -> usize {
        self.rows.len()
    }

    fn __getitem__(&self, py: Python<'_>, row: isize) -> Result<Py<PyAny>> {
        let count = self.rows.len();
        let at = if row < 0 { row + count as isize } else { row };
        match usize::try_from(at) {
            Ok(at) if at < count => match self.rows.offer(at)? {
                Offer::Distribution(base) => kinds::object(py, Held::Plain(base.into_owned())),
                Offer::Point(value) => Ok(Py::new(py, Point { value })?.into_any()),
            },
            _ => Err(pyo3::exceptions::PyIndexError::new_err(format!("row {row} of {count}")).into()),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyIterator>> {
        let rows = (0..self.rows.len()).map(|row| self.__getitem__(py, row as isize));
        Ok(PyList::new(py, rows.collect::<Result<Vec<_>>>()?)?.try_iter()?)
    }

    fn __repr__(&self) -> String {
        let kind = match &*self.rows {
            Rows::Gaussian(_) => "gaussian",
            Rows::Each(rows) => match rows.first().map(Base::to_any) {
                Some(AnyForecast::Quantiles(_)) => "quantiles",
                Some(AnyForecast::StudentT(_)) => "student_t",
                _ => "of",
            },
            Rows::Ensembles(..) => "samples",
            Rows::Points(_) => "points",
        };
        format!("Forecasts.{kind}({} rows)", self.rows.len())
    }

    fn _repr_html_(&self) -> String {
        crate::markup::table(&self.__repr__(), &[])
    }
}

/// A batch, or a sequence of distributions.
pub(crate) struct AnyForecasts(pub(crate) Arc<Rows>);

impl<'a, 'py> FromPyObject<'a, 'py> for AnyForecasts {
    type Error = Error;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> Result<Self> {
        match given.cast::<Forecasts>() {
            Ok(batch) => Ok(AnyForecasts(Arc::clone(&batch.get().rows))),
            Err(_) => Ok(AnyForecasts(Forecasts::of(&given)?.rows)),
        }
    }
}
