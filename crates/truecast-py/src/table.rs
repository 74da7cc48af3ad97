//! Columns of a frame as rows for a fleet.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use numpy::{PyReadonlyArray1, ndarray::ArrayView1};
use pyo3::prelude::*;
use rayon::prelude::*;
use truecast::{Gaussian, Quantiles};
use truecast_data::recognise::Form;
use truecast_fleet::{Answer, Given, Rows, Task};

use crate::errors::{Error, Result};
use crate::long::{Found, Gathered, Hub, M5};
use crate::recognise::Layout;

/// Numbers of a column.
type Real<'py> = PyReadonlyArray1<'py, f64>;
/// A column of texts: for each row which of the texts, −1 for none.
type Coded<'py> = (PyReadonlyArray1<'py, i64>, Vec<String>);

/// Texts by row.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    /// Empty if all rows have the empty text.
    codes: Vec<i64>,
    pub(crate) texts: Vec<String>,
}

impl Labels {
    fn new(coded: Option<Coded<'_>>) -> Self {
        let Some((codes, texts)) = coded else { return Labels::default() };
        Labels { codes: codes.as_array().iter().copied().collect(), texts }
    }

    pub(crate) fn code(&self, row: usize) -> Option<i64> {
        self.codes.get(row).copied()
    }

    fn text(&self, code: i64) -> &str {
        usize::try_from(code).ok().and_then(|code| self.texts.get(code)).map_or("", String::as_str)
    }

    pub(crate) fn get(&self, row: usize) -> &str {
        self.code(row).map_or("", |code| self.text(code))
    }
}

#[derive(Debug)]
enum Forecasts {
    /// One in each row: numbers row by row, in the order of the form's columns.
    Wide { form: Form, names: Vec<String>, values: Vec<f64>, width: usize },
    /// One in several rows, ordered by the time at which they were made; so many columns hold them.
    Long { gathered: Vec<Gathered>, width: usize },
}

/// What of a frame a fleet computes with. Numbers are copied: whoever holds the frame may write to it while others compute.
#[derive(Debug)]
#[pyclass(frozen, module = "truecast._core", name = "_Table")]
pub(crate) struct Table {
    rows: usize,
    forecasts: Forecasts,
    outcome: Vec<f64>,
    outcome_name: String,
    keys: Labels,
    /// Columns whose values are groups.
    groups: Vec<(String, Labels)>,
    time: Vec<f64>,
    due: Vec<f64>,
    /// Rows of a long table that belong to no forecast because they break a rule, until someone asks.
    refused: Mutex<Vec<(usize, Error)>>,
}

/// The number at a row; `None` where it is missing.
pub(crate) fn number(values: &[f64], row: usize) -> Option<f64> {
    values.get(row).copied().filter(|value| !value.is_nan())
}

fn read(column: Option<Real<'_>>) -> Vec<f64> {
    column.map_or_else(Vec::new, |column| column.as_array().iter().copied().collect())
}

#[pymethods]
impl Table {
    /// The columns of a form with one row for each forecast, in the layout's order.
    #[new]
    #[pyo3(signature = (layout, rows, columns, *, outcome = None, outcome_name = "", keys = None, groups = Vec::new(),
        time = None, due = None))]
    #[allow(clippy::too_many_arguments)]
    fn new<'py>(
        layout: &Layout,
        rows: usize,
        columns: Vec<Real<'py>>,
        outcome: Option<Real<'py>>,
        outcome_name: &str,
        keys: Option<Coded<'py>>,
        groups: Vec<(String, Coded<'py>)>,
        time: Option<Real<'py>>,
        due: Option<Real<'py>>,
    ) -> Self {
        let views: Vec<ArrayView1<'_, f64>> = columns.iter().map(|column| column.as_array()).collect();
        let width = views.len();
        let mut values = vec![0.0; rows * width];
        for (k, view) in views.iter().enumerate() {
            for (row, &value) in view.iter().enumerate() {
                values[row * width + k] = value;
            }
        }
        let layout = &layout.layout;
        let names = layout.form.columns().into_iter().map(|column| layout.names[column].clone()).collect();
        let groups = groups.into_iter().map(|(name, coded)| (name, Labels::new(Some(coded)))).collect();
        Table {
            rows,
            forecasts: Forecasts::Wide { form: layout.form.clone(), names, values, width },
            outcome: read(outcome),
            outcome_name: outcome_name.to_owned(),
            keys: Labels::new(keys),
            groups,
            time: read(time),
            due: read(due),
            refused: Mutex::default(),
        }
    }

    /// A hub's long form. `tasks` says which forecast a row belongs to. If rows may be left out, those that break a rule are no error.
    #[staticmethod]
    #[pyo3(signature = (tasks, kinds, ids, values, names, *, skip = false, outcome = None, outcome_name = "", keys = None,
        time = None, due = None))]
    #[allow(clippy::too_many_arguments)]
    fn hub<'py>(
        tasks: PyReadonlyArray1<'py, i64>,
        kinds: Coded<'py>,
        ids: Coded<'py>,
        values: Real<'py>,
        names: [String; 2],
        skip: bool,
        outcome: Option<Real<'py>>,
        outcome_name: &str,
        keys: Option<Coded<'py>>,
        time: Option<Real<'py>>,
        due: Option<Real<'py>>,
    ) -> Result<Self> {
        let tasks: Vec<i64> = tasks.as_array().iter().copied().collect();
        let (values, keys) = (read(Some(values)), Labels::new(keys));
        let found = Hub {
            tasks: &tasks,
            kinds: Labels::new(Some(kinds)),
            ids: Labels::new(Some(ids)),
            values: &values,
            names: [&names[0], &names[1], outcome_name],
            keys: &keys,
            outcome: &read(outcome),
            time: &read(time),
            due: &read(due),
        }
        .gather();
        Table::long(values.len(), 1, keys, found, skip)
    }

    /// The M5 form: series, probability and first day of each row, its days, and where the outcomes of its series and phase stand.
    #[staticmethod]
    #[pyo3(signature = (series, probabilities, first_days, days, names, *, skip = false, places = None, outcomes = Vec::new()))]
    #[allow(clippy::too_many_arguments)]
    fn m5<'py>(
        series: Coded<'py>,
        probabilities: Real<'py>,
        first_days: PyReadonlyArray1<'py, i64>,
        days: Vec<Real<'py>>,
        names: Vec<String>,
        skip: bool,
        places: Option<PyReadonlyArray1<'py, i64>>,
        outcomes: Vec<Real<'py>>,
    ) -> Result<Self> {
        let whole =
            |column: PyReadonlyArray1<'py, i64>| column.as_array().iter().copied().collect::<Vec<i64>>();
        let keys = Labels::new(Some(series));
        let days: Vec<Vec<f64>> = days.into_iter().map(|day| read(Some(day))).collect();
        let found = M5 {
            series: &keys.codes,
            probabilities: &read(Some(probabilities)),
            first_days: &whole(first_days),
            days: &days,
            names: &names,
            places: &places.map_or_else(Vec::new, whole),
            outcomes: &outcomes.into_iter().map(|day| read(Some(day))).collect::<Vec<_>>(),
        }
        .gather();
        let rows = keys.codes.len();
        Table::long(rows, days.len(), keys, found, skip)
    }
}

/// A forecast's number, which must be there.
pub(crate) fn finite(value: f64) -> Result<f64> {
    if value.is_nan() {
        Err(Error::NoForecast)
    } else if value.is_infinite() {
        Err(truecast::Error::NotFinite { what: "forecast", value }.into())
    } else {
        Ok(value)
    }
}

impl Table {
    fn long(rows: usize, width: usize, keys: Labels, found: Found, skip: bool) -> Result<Self> {
        let (gathered, mut refused) = found;
        if !skip && !refused.is_empty() {
            let (row, error) = refused.swap_remove(0);
            return Err(error.at_row(row));
        }
        Ok(Table {
            rows,
            forecasts: Forecasts::Long { gathered, width },
            outcome: Vec::new(),
            outcome_name: String::new(),
            keys,
            groups: Vec::new(),
            time: Vec::new(),
            due: Vec::new(),
            refused: Mutex::new(refused),
        })
    }

    /// The rows that were refused when the table was made.
    pub(crate) fn refused(&self) -> Vec<(usize, Error)> {
        std::mem::take(&mut *self.refused.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The rows of the frame in which a forecast stands.
    pub(crate) fn rows_of(&self, at: usize) -> Vec<usize> {
        match &self.forecasts {
            Forecasts::Wide { .. } => vec![at],
            Forecasts::Long { gathered, .. } => gathered[at].cells.iter().map(|&(row, _)| row).collect(),
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The numbers that take the forecast's place.
    pub(crate) fn answer(&self) -> Answer {
        match &self.forecasts {
            Forecasts::Wide { form, .. } => match form {
                Form::Gaussian { variance: true, .. } => Answer::MeanVariance,
                Form::Gaussian { .. } => Answer::MeanStd,
                Form::Samples(columns) => Answer::Members(columns.len()),
                Form::Quantiles(columns) => Answer::Quantiles(columns.iter().map(|&(p, _)| p).collect()),
                _ => Answer::Quantiles(vec![0.5]),
            },
            Forecasts::Long { gathered, .. } => {
                let wanted = gathered.iter().flat_map(|forecast| forecast.parts.wanted());
                let mut probabilities: Vec<f64> = wanted.filter(|p| !p.is_nan()).collect();
                probabilities.sort_by(f64::total_cmp);
                probabilities.dedup();
                Answer::MeanQuantiles(probabilities)
            }
        }
    }

    /// Answers as columns of the frame, NaN where nothing was calibrated.
    pub(crate) fn columns(&self, answer: &Answer, values: &[f64]) -> Vec<Vec<f64>> {
        let width = answer.width();
        let Forecasts::Long { gathered, width: columns } = &self.forecasts else {
            return (0..width).map(|k| values.iter().skip(k).step_by(width).copied().collect()).collect();
        };
        let Answer::MeanQuantiles(probabilities) = answer else { return Vec::new() };
        let mut cells = vec![vec![f64::NAN; self.rows]; *columns];
        for (at, forecast) in gathered.iter().enumerate() {
            for (&(row, column), p) in forecast.cells.iter().zip(forecast.parts.wanted()) {
                let k = if p.is_nan() { 0 } else { 1 + probabilities.partition_point(|&known| known < p) };
                cells[column][row] = values[at * width + k];
            }
        }
        cells
    }

    /// The first row that breaks a rule. Nothing has happened yet when it is told.
    pub(crate) fn check(&self, timed: bool) -> Result<()> {
        let asked = Asked { table: self, timed };
        let refused = (0..asked.len()).into_par_iter().find_map_first(|at| {
            let row = asked.row(at);
            asked.understood(at).err().map(|error| error.at_row(row))
        });
        refused.map_or(Ok(()), Err)
    }

    fn forecast(&self, at: usize) -> Result<Given> {
        let (form, names, values) = match &self.forecasts {
            Forecasts::Wide { form, names, values, width } => {
                (form, names, &values[at * width..(at + 1) * width])
            }
            Forecasts::Long { gathered, .. } => return Ok(gathered[at].parts.forecast()?),
        };
        for (k, &value) in values.iter().enumerate() {
            finite(value).map_err(|error| error.in_column(&names[k]))?;
        }
        Ok(match form {
            Form::Gaussian { variance, .. } => {
                let (mean, value) = (values[0], values[1]);
                if value <= 0.0 {
                    let what = if *variance { "variance" } else { "standard deviation" };
                    let error = truecast::Error::NotPositive { what, value };
                    return Err(Error::from(error).in_column(&names[1]));
                }
                let std = if *variance { value.sqrt() } else { value };
                Given::Distribution(Gaussian::new(mean, std)?.into())
            }
            Form::Quantiles(columns) => {
                let probabilities: Vec<f64> = columns.iter().map(|&(p, _)| p).collect();
                Given::Distribution(Quantiles::new(&probabilities, values)?.into())
            }
            Form::Samples(_) => Given::Ensemble(values.to_vec()),
            _ => Given::Point(values[0]),
        })
    }
}

/// A table as a fleet takes it.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) table: &'a Table,
    /// Outcomes become known at the times that rows say.
    pub(crate) timed: bool,
}

impl Asked<'_> {
    /// The row of the frame in which a forecast, or its first part, stands.
    pub(crate) fn row(&self, at: usize) -> usize {
        match &self.table.forecasts {
            Forecasts::Wide { .. } => at,
            Forecasts::Long { gathered, .. } => gathered[at].cells.first().map_or(0, |&(row, _)| row),
        }
    }

    /// Everything but the groups, which cannot break a rule by themselves.
    fn understood(&self, at: usize) -> Result<Task> {
        let (table, row) = (self.table, at);
        let forecast = table.forecast(at)?;
        if let Forecasts::Long { gathered, .. } = &table.forecasts {
            let Gathered { outcome, now, due, .. } = gathered[at];
            if self.timed && (now.is_none() || outcome.is_some() && due.is_none()) {
                return Err(truecast_fleet::Error::NoTime.into());
            }
            return Ok(Task { forecast, outcome, groups: Vec::new(), now, due });
        }
        let outcome = number(&table.outcome, row);
        if let Some(value) = outcome.filter(|value| !value.is_finite()) {
            let error = truecast::Error::NotFinite { what: "outcome", value };
            return Err(Error::from(error).in_column(&table.outcome_name));
        }
        let (mut now, mut due) = (None, None);
        // The state of a fleet that does not ask for times has none.
        if self.timed {
            (now, due) = (number(&table.time, row), number(&table.due, row));
            let unreadable = [now, due].into_iter().flatten().any(f64::is_infinite);
            if unreadable || now.is_none() || outcome.is_some() && due.is_none() {
                return Err(truecast_fleet::Error::NoTime.into());
            }
        }
        Ok(Task { forecast, outcome, groups: Vec::new(), now, due })
    }
}

impl Rows for Asked<'_> {
    type Error = Error;

    fn len(&self) -> usize {
        match &self.table.forecasts {
            Forecasts::Wide { .. } => self.table.rows,
            Forecasts::Long { gathered, .. } => gathered.len(),
        }
    }

    fn key(&self, at: usize) -> Cow<'_, [u8]> {
        let keys = &self.table.keys;
        Cow::Borrowed(match &self.table.forecasts {
            Forecasts::Wide { .. } => keys.get(at).as_bytes(),
            Forecasts::Long { gathered, .. } => keys.text(gathered[at].key).as_bytes(),
        })
    }

    fn code(&self, at: usize) -> Option<usize> {
        let code = match &self.table.forecasts {
            Forecasts::Wide { .. } => self.table.keys.code(at).unwrap_or(-1),
            Forecasts::Long { gathered, .. } => gathered[at].key,
        };
        // Those without a text come first.
        usize::try_from(code + 1).ok()
    }

    fn task(&self, at: usize) -> Result<Task> {
        let group = |(name, labels): &(String, Labels)| format!("{name}={}", labels.get(at));
        let groups = self.table.groups.iter().map(group).collect();
        Ok(Task { groups, ..self.understood(at)? })
    }

    fn plain(&self, at: usize) -> Option<(Gaussian, f64)> {
        let Forecasts::Wide { form: Form::Gaussian { variance: false, .. }, values, .. } =
            &self.table.forecasts
        else {
            return None;
        };
        let alone = !self.timed && self.table.groups.is_empty();
        let outcome = number(&self.table.outcome, at).filter(|outcome| alone && outcome.is_finite())?;
        Gaussian::new(values[2 * at], values[2 * at + 1]).ok().zip(Some(outcome))
    }

    fn refuse(&self, _at: usize, error: truecast_fleet::Error) -> Error {
        error.into()
    }
}
