//! Columns of a frame as rows for a fleet.

use std::borrow::Cow;

use numpy::{PyReadonlyArray1, ndarray::ArrayView1};
use pyo3::prelude::*;
use rayon::prelude::*;
use truecast::{Gaussian, Quantiles};
use truecast_data::recognise::Form;
use truecast_data::table::{Column, Text};
use truecast_fleet::{Answer, Given, Part, Parts, Rows, Task};

use crate::errors::{Error, Result};
use crate::recognise::Layout;

/// Numbers of a column.
type Real<'py> = PyReadonlyArray1<'py, f64>;
/// A column of texts: for each row which of the texts, −1 for none.
type Coded<'py> = (PyReadonlyArray1<'py, i64>, Vec<String>);

/// Texts by row.
#[derive(Debug, Default)]
struct Labels {
    /// Empty if all rows have the empty text.
    codes: Vec<i64>,
    texts: Vec<String>,
}

impl Labels {
    fn new(coded: Option<Coded<'_>>) -> Self {
        let Some((codes, texts)) = coded else { return Labels::default() };
        Labels { codes: codes.as_array().iter().copied().collect(), texts }
    }

    fn get(&self, row: usize) -> &str {
        let code = self.codes.get(row).and_then(|&code| usize::try_from(code).ok());
        code.and_then(|code| self.texts.get(code)).map_or("", String::as_str)
    }
}

/// One forecast of a long table.
#[derive(Debug)]
struct Gathered {
    parts: Parts,
    /// Where each of the parts stands.
    rows: Vec<usize>,
}

impl Gathered {
    /// The row that says outcome, times and key.
    fn first(&self) -> usize {
        self.rows.first().copied().unwrap_or(0)
    }
}

#[derive(Debug)]
enum Forecasts {
    /// One in each row: numbers row by row, in the order of the form's columns.
    Wide { form: Form, names: Vec<String>, values: Vec<f64>, width: usize },
    /// One in several rows, ordered by the time at which they were made.
    Long(Vec<Gathered>),
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
}

/// The number at a row; `None` where it is missing.
fn number(values: &[f64], row: usize) -> Option<f64> {
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
        }
    }

    /// A hub's long form. `tasks` says which forecast a row belongs to.
    #[staticmethod]
    #[pyo3(signature = (tasks, kinds, ids, values, names, *, outcome = None, outcome_name = "", keys = None, time = None,
        due = None))]
    #[allow(clippy::too_many_arguments)]
    fn hub<'py>(
        tasks: PyReadonlyArray1<'py, i64>,
        kinds: Coded<'py>,
        ids: Coded<'py>,
        values: Real<'py>,
        names: [String; 2],
        outcome: Option<Real<'py>>,
        outcome_name: &str,
        keys: Option<Coded<'py>>,
        time: Option<Real<'py>>,
        due: Option<Real<'py>>,
    ) -> Result<Self> {
        let [id_name, value_name] = names;
        let (kinds, ids) = (Labels::new(Some(kinds)), Labels::new(Some(ids)));
        let probabilities = Column::Text(ids.texts.iter().map(String::as_bytes).collect::<Text>());
        let (tasks, values) = (tasks.as_array(), values.as_array());
        let mut places: Vec<Option<usize>> = Vec::new();
        let mut gathered: Vec<Gathered> = Vec::new();
        for row in 0..values.len() {
            let part = match kinds.get(row) {
                "quantile" => {
                    let code = usize::try_from(ids.codes[row]).ok();
                    let found = code.and_then(|code| probabilities.number(code).ok().flatten());
                    match found.filter(|p| *p > 0.0 && *p < 1.0) {
                        Some(p) => Part::Quantile(p),
                        None => {
                            let value = ids.get(row).to_owned();
                            return Err(Error::NotAProbability { value }.in_column(&id_name).at_row(row));
                        }
                    }
                }
                "median" => Part::Quantile(0.5),
                "mean" => Part::Mean,
                "sample" => Part::Member,
                _ => continue,
            };
            let value = finite(values[row]).map_err(|error| error.in_column(&value_name).at_row(row))?;
            let task = usize::try_from(tasks[row]).unwrap_or(0);
            if places.len() <= task {
                places.resize(task + 1, None);
            }
            let at = *places[task].get_or_insert_with(|| {
                gathered.push(Gathered { parts: Parts::default(), rows: Vec::new() });
                gathered.len() - 1
            });
            gathered[at].parts.push(part, value);
            gathered[at].rows.push(row);
        }
        let time = read(time);
        // Stable: forecasts made at the same time keep the order of the frame.
        let made = |forecast: &Gathered| number(&time, forecast.first()).unwrap_or(0.0);
        gathered.sort_by(|a, b| made(a).total_cmp(&made(b)));
        Ok(Table {
            rows: values.len(),
            forecasts: Forecasts::Long(gathered),
            outcome: read(outcome),
            outcome_name: outcome_name.to_owned(),
            keys: Labels::new(keys),
            groups: Vec::new(),
            time,
            due: read(due),
        })
    }
}

/// A forecast's number, which must be there.
fn finite(value: f64) -> Result<f64> {
    if value.is_nan() {
        Err(Error::NoForecast)
    } else if value.is_infinite() {
        Err(truecast::Error::NotFinite { what: "forecast", value }.into())
    } else {
        Ok(value)
    }
}

impl Table {
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn is_long(&self) -> bool {
        matches!(self.forecasts, Forecasts::Long(_))
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
            Forecasts::Long(gathered) => {
                let wanted = gathered.iter().flat_map(|forecast| forecast.parts.wanted());
                let mut probabilities: Vec<f64> = wanted.filter(|p| !p.is_nan()).collect();
                probabilities.sort_by(f64::total_cmp);
                probabilities.dedup();
                Answer::MeanQuantiles(probabilities)
            }
        }
    }

    /// Answers as columns of the frame. In a long table there is one, NaN where nothing was calibrated.
    pub(crate) fn columns(&self, answer: &Answer, values: &[f64]) -> Vec<Vec<f64>> {
        let width = answer.width();
        let Forecasts::Long(gathered) = &self.forecasts else {
            return (0..width).map(|k| values.iter().skip(k).step_by(width).copied().collect()).collect();
        };
        let Answer::MeanQuantiles(probabilities) = answer else { return Vec::new() };
        let mut column = vec![f64::NAN; self.rows];
        for (at, forecast) in gathered.iter().enumerate() {
            for (&row, p) in forecast.rows.iter().zip(forecast.parts.wanted()) {
                let k = if p.is_nan() { 0 } else { 1 + probabilities.partition_point(|&known| known < p) };
                column[row] = values[at * width + k];
            }
        }
        vec![column]
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
            Forecasts::Long(gathered) => return Ok(gathered[at].parts.forecast()?),
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
            Forecasts::Long(gathered) => gathered[at].first(),
        }
    }

    /// Everything but the groups, which cannot break a rule by themselves.
    fn understood(&self, at: usize) -> Result<Task> {
        let (table, row) = (self.table, self.row(at));
        let forecast = table.forecast(at)?;
        let outcome = number(&table.outcome, row);
        if let Some(value) = outcome.filter(|value| !value.is_finite()) {
            let error = truecast::Error::NotFinite { what: "outcome", value };
            return Err(Error::from(error).in_column(&table.outcome_name));
        }
        let (mut now, mut due) = (None, None);
        // The state of a fleet that does not ask for times has none.
        if self.timed || table.is_long() {
            (now, due) = (number(&table.time, row), number(&table.due, row));
        }
        if self.timed && (now.is_none() || outcome.is_some() && due.is_none()) {
            return Err(truecast_fleet::Error::NoTime.into());
        }
        Ok(Task { forecast, outcome, groups: Vec::new(), now, due })
    }
}

impl Rows for Asked<'_> {
    type Error = Error;

    fn len(&self) -> usize {
        match &self.table.forecasts {
            Forecasts::Wide { .. } => self.table.rows,
            Forecasts::Long(gathered) => gathered.len(),
        }
    }

    fn key(&self, at: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.table.keys.get(self.row(at)).as_bytes())
    }

    fn task(&self, at: usize) -> Result<Task> {
        let group = |(name, labels): &(String, Labels)| format!("{name}={}", labels.get(at));
        let groups = self.table.groups.iter().map(group).collect();
        Ok(Task { groups, ..self.understood(at)? })
    }

    fn refuse(&self, _at: usize, error: truecast_fleet::Error) -> Error {
        error.into()
    }
}
