//! Rows of a table in which each row holds one forecast.

use std::borrow::Cow;

use truecast::{Gaussian, Quantiles};
use truecast_data::recognise::{Form, Layout};
use truecast_data::table::{Batch, Column};
use truecast_data::{Error as DataError, RowError};
use truecast_fleet::{Error, Given, Rows, Task};

use crate::numbers::Numbers;

/// A batch with the meaning of its columns.
#[derive(Debug)]
pub(crate) struct WideRows<'a> {
    file: &'a str,
    batch: &'a Batch,
    layout: &'a Layout,
    numbers: &'a Numbers,
    groups: &'a [usize],
    times: bool,
}

impl<'a> WideRows<'a> {
    /// Every row a series' next forecast, with its outcome if it has one.
    pub(crate) fn new(file: &'a str, batch: &'a Batch, numbers: &'a Numbers, layout: &'a Layout) -> Self {
        WideRows { file, batch, layout, numbers, groups: &[], times: false }
    }

    /// The values of these columns are groups.
    pub(crate) fn in_groups(self, groups: &'a [usize]) -> Self {
        WideRows { groups, ..self }
    }

    /// If `times`, outcomes become known at the times that rows say.
    pub(crate) fn at_times(self, times: bool) -> Self {
        WideRows { times, ..self }
    }

    /// What is wrong with one cell.
    fn cell_error(&self, row: usize, column: usize, rule: impl Into<String>, hint: &str) -> DataError {
        let value = self.batch.columns[column].text(row);
        RowError {
            file: self.file.to_owned(),
            line: self.batch.lines[row],
            column: Some(self.layout.names[column].clone()),
            value: Some(String::from_utf8_lossy(&value).into_owned()),
            rule: rule.into(),
            hint: hint.to_owned(),
        }
        .into()
    }

    /// The finite number in a cell; `None` where it is missing.
    #[inline]
    fn number(&self, row: usize, column: usize) -> Result<Option<f64>, DataError> {
        match self.numbers.get(row, column) {
            Some(value) => Ok(Some(value)),
            None => self.unread_number(row, column),
        }
    }

    /// The same for a cell in which no finite number was found at first: why not?
    #[cold]
    fn unread_number(&self, row: usize, column: usize) -> Result<Option<f64>, DataError> {
        match self.batch.columns[column].number(row) {
            Ok(Some(value)) if value.is_finite() => Ok(Some(value)),
            Ok(Some(_)) => Err(self.cell_error(row, column, "must be finite", "")),
            Ok(None) => Ok(None),
            Err(_) => {
                let cells = &self.batch.columns[column];
                let text = cells.text(row);
                let quoted = matches!(cells, Column::Json(_))
                    && std::str::from_utf8(&text).is_ok_and(|text| text.parse::<f64>().is_ok());
                let hint = if quoted {
                    "in JSON a number has no quotes"
                } else if text.contains(&b',') {
                    "numbers are written with a point: 1.5"
                } else {
                    "a missing outcome is an empty cell or NA; --on-error skip leaves such rows out"
                };
                Err(self.cell_error(row, column, "must be a number", hint))
            }
        }
    }

    /// The finite number in a cell that must hold one.
    #[inline]
    fn forecast_number(&self, row: usize, column: usize) -> Result<f64, DataError> {
        match self.numbers.get(row, column) {
            Some(value) => Ok(value),
            None => self.unread_forecast_number(row, column),
        }
    }

    #[cold]
    fn unread_forecast_number(&self, row: usize, column: usize) -> Result<f64, DataError> {
        self.unread_number(row, column)?.ok_or_else(|| {
            let hint = "a row may lack an outcome, not a forecast; --on-error skip leaves such rows out";
            self.cell_error(row, column, "a forecast must be there", hint)
        })
    }

    fn numbers(&self, row: usize, columns: impl Iterator<Item = usize>) -> Result<Vec<f64>, DataError> {
        columns.map(|column| self.forecast_number(row, column)).collect()
    }

    fn forecast(&self, row: usize) -> Result<Given, DataError> {
        let refused = |error: truecast::Error| self.refuse(row, error.into());
        Ok(match &self.layout.form {
            Form::Gaussian { mean, spread, variance } => {
                let (mean, value) = (self.forecast_number(row, *mean)?, self.forecast_number(row, *spread)?);
                if value <= 0.0 {
                    let hint = "a forecaster that is sure has a small standard deviation, not none";
                    return Err(self.cell_error(row, *spread, "must be greater than zero", hint));
                }
                let std = if *variance { value.sqrt() } else { value };
                Given::Distribution(Gaussian::new(mean, std).map_err(refused)?.into())
            }
            Form::Quantiles(columns) => {
                let probabilities: Vec<f64> = columns.iter().map(|&(p, _)| p).collect();
                let values = self.numbers(row, columns.iter().map(|&(_, column)| column))?;
                Given::Distribution(Quantiles::new(&probabilities, &values).map_err(refused)?.into())
            }
            Form::Samples(columns) => Given::Ensemble(self.numbers(row, columns.iter().copied())?),
            Form::Point(column) => Given::Point(self.forecast_number(row, *column)?),
            Form::Hubverse { .. } | Form::M5 { .. } => {
                // These come through `long`, which gathers a forecast from its rows.
                let error = truecast::Error::TooFew { what: "rows of a forecast", least: 2, found: 1 };
                return Err(refused(error));
            }
        })
    }

    /// A time as a number: itself, or the seconds of a date.
    fn time(&self, row: usize, column: usize) -> Result<Option<f64>, DataError> {
        let rule = "must be a number or a time such as 2026-11-16 or 2026-11-16T12:00:00";
        match self.batch.columns[column].time(row) {
            Ok(Some(time)) if !time.is_finite() => Err(self.cell_error(row, column, "must be finite", "")),
            Ok(time) => Ok(time),
            Err(_) => Err(self.cell_error(row, column, rule, "")),
        }
    }
}

impl Rows for WideRows<'_> {
    type Error = DataError;

    fn len(&self) -> usize {
        self.batch.rows()
    }

    fn key(&self, row: usize) -> Cow<'_, [u8]> {
        match self.layout.keys[..] {
            [] => Cow::Borrowed(b""),
            [column] => match &self.batch.columns[column] {
                Column::Text(cells) => Cow::Borrowed(cells.get(row)),
                cells => cells.text(row),
            },
            ref columns => {
                let cells: Vec<_> =
                    columns.iter().map(|&column| self.batch.columns[column].text(row)).collect();
                Cow::Owned(cells.join(&b'\x1f'))
            }
        }
    }

    fn task(&self, row: usize) -> Result<Task, DataError> {
        let outcome = match self.layout.outcome {
            Some(column) => self.number(row, column)?,
            None => None,
        };
        let group = |&column: &usize| {
            let value = self.batch.columns[column].text(row);
            format!("{}={}", self.layout.names[column], String::from_utf8_lossy(&value))
        };
        let (mut now, mut due) = (None, None);
        if self.times {
            for (slot, column) in [(&mut now, self.layout.time), (&mut due, self.layout.outcome_time)] {
                if let Some(column) = column {
                    *slot = self.time(row, column)?;
                }
            }
            if outcome.is_some()
                && due.is_none()
                && let Some(column) = self.layout.outcome_time
            {
                return Err(self.cell_error(
                    row,
                    column,
                    "an outcome must have the time at which it became known",
                    "",
                ));
            }
        }
        let groups = self.groups.iter().map(group).collect();
        Ok(Task { forecast: self.forecast(row)?, outcome, groups, now, due })
    }

    #[inline]
    fn plain(&self, row: usize) -> Option<(Gaussian, f64)> {
        let Form::Gaussian { variance: false, .. } = self.layout.form else { return None };
        if self.layout.outcome.is_none() || self.times || !self.groups.is_empty() {
            return None;
        }
        // NaN is no mean and no outcome.
        let &[outcome, mean, std] = self.numbers.row(row) else { return None };
        Gaussian::new(mean, std).ok().zip((!outcome.is_nan()).then_some(outcome))
    }

    fn label(&self, row: usize) -> String {
        match self.layout.time {
            Some(column) => String::from_utf8_lossy(&self.batch.columns[column].text(row)).into_owned(),
            None => self.batch.lines[row].saturating_sub(1).to_string(),
        }
    }

    fn refuse(&self, row: usize, error: Error) -> DataError {
        let hint = match &error {
            Error::TooManyGroups { .. } => "say how many there are: --ledger group=COLUMN:N",
            Error::Backwards { .. } => "sort the file by time",
            Error::NoTime => "name the columns with --time and --outcome-time",
            _ => "",
        };
        RowError {
            file: self.file.to_owned(),
            line: self.batch.lines[row],
            column: None,
            value: None,
            rule: error.to_string(),
            hint: hint.to_owned(),
        }
        .into()
    }
}
