//! Which columns hold what: the recogniser of the command, for frames.

use pyo3::prelude::*;
use truecast_data::recognise::{self, Form, Idiom, Wishes};
use truecast_data::table::{Column, Text};

use crate::errors::{Error, Result};

/// Columns by their index.
#[derive(Debug)]
#[pyclass(frozen, module = "truecast._core", name = "_Layout")]
pub(crate) struct Layout {
    pub(crate) layout: recognise::Layout,
}

#[pymethods]
impl Layout {
    /// The form's name; intervals are quantiles.
    #[getter]
    fn form(&self) -> &'static str {
        match self.layout.form {
            Form::Gaussian { .. } => "gaussian",
            Form::Quantiles(_) => "quantiles",
            Form::Samples(_) => "samples",
            Form::Point(_) => "point",
            Form::Hubverse { .. } => "hubverse",
            Form::M5 { .. } => "m5",
        }
    }

    /// The columns that calibrated numbers take the place of.
    #[getter]
    fn columns(&self) -> Vec<usize> {
        self.layout.form.columns()
    }

    #[getter]
    fn outcome(&self) -> Option<usize> {
        self.layout.outcome
    }

    #[getter]
    fn keys(&self) -> Vec<usize> {
        self.layout.keys.clone()
    }

    #[getter]
    fn time(&self) -> Option<usize> {
        self.layout.time
    }

    #[getter]
    fn outcome_time(&self) -> Option<usize> {
        self.layout.outcome_time
    }

    /// The columns of a hub's output type and of its id.
    #[getter]
    fn output_type(&self) -> Option<(usize, usize)> {
        match self.layout.form {
            Form::Hubverse { output_type, output_type_id, .. } => Some((output_type, output_type_id)),
            _ => None,
        }
    }

    fn __repr__(&self) -> String {
        self.layout.to_string()
    }
}

/// Finds out what columns are by their names; what is not None was said.
#[pyfunction]
#[pyo3(signature = (names, *, form = None, outcome = None, key = None, time = None, outcome_time = None, mean = None,
    std = None, point = None, model = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn _recognise(
    names: Vec<String>,
    form: Option<&str>,
    outcome: Option<String>,
    key: Option<Vec<String>>,
    time: Option<String>,
    outcome_time: Option<String>,
    mean: Option<String>,
    std: Option<String>,
    point: Option<String>,
    model: Option<String>,
) -> Result<Layout> {
    let unknown = |problem: String| Error::Columns { problem, hint: String::new() };
    let form = form.map(|name| name.parse().map_err(unknown)).transpose()?;
    let idiom = Idiom::Keywords;
    let wishes = Wishes { outcome, keys: key, time, outcome_time, form, mean, std, point, model, idiom };
    Ok(Layout { layout: recognise::recognise("the frame", &names, &wishes)? })
}

/// Texts as times, each a number as it is or a date in seconds; None where it is missing.
#[pyfunction]
pub(crate) fn _times(texts: Vec<String>) -> Result<Vec<Option<f64>>> {
    let column = Column::Text(texts.iter().map(String::as_bytes).collect::<Text>());
    let mut times = Vec::with_capacity(texts.len());
    for (at, text) in texts.iter().enumerate() {
        times.push(column.time(at).map_err(|_| Error::NotATime { value: text.clone() })?);
    }
    Ok(times)
}
