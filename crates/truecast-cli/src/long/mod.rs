//! Forms in which one forecast is spread over several rows: a hub's long form, and the M5 competition's.
//!
//! Rows of one forecast need not be neighbours, and forecasts need not be in time order, so the whole file is read before
//! anything is computed. Rows come out in the order in which they came in, with calibrated values in their place.

mod gathered;
mod hubverse;
mod m5;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use truecast_data::recognise::{Form, Layout};
use truecast_data::table::{Batch, Sheet, SheetColumn};
use truecast_data::{Error as DataError, Opened, RowError};
use truecast_fleet::{Answer, Ask, Error, Fleet, Rows, Task};

use self::gathered::{Cell, Gathered};
use crate::failure::Result;
use crate::interrupt;
use crate::outcome_file::OutcomeFile;
use crate::pipeline::Batches;
use crate::refusals::Refusals;
use crate::reporting::Recorder;

/// Forecasts that run at once.
const WINDOW: usize = 1 << 14;

/// The whole file, and the forecasts in it.
#[derive(Debug)]
pub(crate) struct LongTable {
    file: String,
    names: Vec<String>,
    batches: Vec<Batch>,
    forecasts: Vec<Gathered>,
    /// Rows that belong to no forecast because they break a rule, by batch and place.
    refused: Vec<(usize, usize)>,
}

/// Reads the file and gathers its forecasts, ordered by the time at which they were made.
pub(crate) fn read(
    opened: Opened,
    layout: &Layout,
    outcomes: Option<&Path>,
    refusals: &mut Refusals,
    quiet: bool,
) -> Result<LongTable> {
    let file = opened.reader.file().to_owned();
    let outcomes = outcomes.map(OutcomeFile::read).transpose()?;
    let mut names = layout.names.clone();
    let mut stream = Batches::new(opened, Vec::new(), quiet);
    let mut batches = Vec::new();
    while let Some(mut chunk) = stream.next()? {
        refusals.take(std::mem::take(&mut chunk.batch.broken), Vec::new())?;
        names = chunk.names;
        batches.push(chunk.batch);
    }
    let mut table = LongTable { file, names, batches, forecasts: Vec::new(), refused: Vec::new() };
    let refused = match &layout.form {
        Form::Hubverse { .. } => hubverse::gather(&mut table, layout, outcomes.as_ref())?,
        _ => m5::gather(&mut table, layout, outcomes.as_ref())?,
    };
    refusals.take(refused, Vec::new())?;
    // Stable: forecasts made at the same time keep the order of the file.
    table.forecasts.sort_by(|a, b| a.now.unwrap_or(0.0).total_cmp(&b.now.unwrap_or(0.0)));
    Ok(table)
}

/// Runs all forecasts and puts the calibrated values into their cells.
pub(crate) fn calibrate(
    mut table: LongTable,
    layout: &Layout,
    fleet: &mut Fleet,
    ask: &Ask,
    recorder: &mut Recorder,
    refusals: &mut Refusals,
) -> Result<Vec<Sheet>> {
    let mut probabilities: Vec<f64> =
        table.forecasts.iter().flat_map(|forecast| forecast.parts.wanted()).filter(|p| !p.is_nan()).collect();
    probabilities.sort_by(f64::total_cmp);
    probabilities.dedup();
    let answer = if ask.raw_only { Answer::Nothing } else { Answer::MeanQuantiles(probabilities.clone()) };
    let ask = Ask { answer, ..ask.clone() };
    let (mut numbers, mut refused) = (Vec::new(), Vec::new());
    for start in (0..table.forecasts.len()).step_by(WINDOW) {
        interrupt::check()?;
        let end = table.forecasts.len().min(start + WINDOW);
        let answers = fleet.run(&Window { table: &table, forecasts: start..end }, &ask);
        recorder.record(end - start, &answers.scores)?;
        numbers.extend(answers.values);
        refused.extend(answers.refused.iter().map(|(row, _)| start + row));
        refusals.take(Vec::new(), answers.refused)?;
    }
    if ask.raw_only {
        return Ok(Vec::new());
    }
    let (width, forecasts) = (ask.answer.width(), layout.form.columns());
    let mut refused = refused.into_iter().peekable();
    let mut values: HashMap<(usize, usize), Vec<Option<f64>>> = HashMap::new();
    let mut dropped: Vec<Vec<bool>> = table.batches.iter().map(|batch| vec![false; batch.rows()]).collect();
    for &(batch, row) in &table.refused {
        dropped[batch][row] = true;
    }
    for (at, forecast) in table.forecasts.iter().enumerate() {
        let refused = refused.next_if_eq(&at).is_some();
        for (&cell, p) in forecast.cells.iter().zip(forecast.parts.wanted()) {
            if refused {
                dropped[cell.batch][cell.row] = true;
                continue;
            }
            let k = if p.is_nan() { 0 } else { 1 + probabilities.partition_point(|&known| known < p) };
            // What no forecast has a say in stays as it came.
            let column = values
                .entry((cell.batch, cell.column))
                .or_insert_with(|| vec![None; table.batches[cell.batch].rows()]);
            column[cell.row] = Some(numbers[at * width + k]);
        }
    }
    let mut sheets = Vec::new();
    for (at, batch) in std::mem::take(&mut table.batches).into_iter().enumerate() {
        let rows = (0..batch.rows() as u32).filter(|&row| !dropped[at][row as usize]).collect();
        let rows_here = batch.rows();
        let columns = table.names.iter().zip(batch.columns).enumerate().map(|(column, (name, cells))| {
            let cells = if forecasts.contains(&column) {
                let numbers = values.remove(&(at, column)).unwrap_or_else(|| vec![None; rows_here]);
                SheetColumn::Mixed(cells, numbers)
            } else if Some(column) == layout.outcome {
                SheetColumn::numeric(cells)
            } else {
                SheetColumn::Cells(cells)
            };
            (name.clone(), cells)
        });
        sheets.push(Sheet { columns: columns.collect(), rows });
    }
    Ok(sheets)
}

/// Some of the forecasts, so that Ctrl-C is heard in between.
#[derive(Debug)]
struct Window<'a> {
    table: &'a LongTable,
    forecasts: Range<usize>,
}

impl Window<'_> {
    fn forecast(&self, row: usize) -> &Gathered {
        &self.table.forecasts[self.forecasts.start + row]
    }
}

impl Rows for Window<'_> {
    type Error = DataError;

    fn len(&self) -> usize {
        self.forecasts.len()
    }

    fn key(&self, row: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.forecast(row).key)
    }

    fn task(&self, row: usize) -> Result<Task, DataError> {
        let gathered = self.forecast(row);
        let forecast = gathered.parts.forecast().map_err(|error| self.refuse(row, error.into()))?;
        let Gathered { outcome, now, due, .. } = *gathered;
        Ok(Task { forecast, outcome, groups: Vec::new(), now, due })
    }

    fn label(&self, row: usize) -> String {
        self.forecast(row).label.clone()
    }

    fn refuse(&self, row: usize, error: Error) -> DataError {
        let rule = format!("the forecast that begins here: {error}");
        let (file, line) = (self.table.file.clone(), self.forecast(row).line);
        let hint = match error {
            Error::Core(truecast::Error::NotIncreasing { .. }) => {
                "two rows have different values of one quantile; a column that tells their forecasts apart may be missing"
            }
            _ => "",
        };
        RowError { file, line, rule, hint: hint.to_owned(), ..RowError::default() }.into()
    }
}

impl LongTable {
    /// What is wrong with one cell.
    fn cell_error(&self, cell: Cell, rule: &str) -> Box<RowError> {
        Box::new(RowError {
            file: self.file.clone(),
            line: self.batches[cell.batch].lines[cell.row],
            column: Some(self.names[cell.column].clone()),
            value: Some(self.text(cell)),
            rule: rule.to_owned(),
            hint: String::new(),
        })
    }

    /// The finite number that a cell must hold.
    fn number(&self, cell: Cell) -> Result<f64, Box<RowError>> {
        match self.batches[cell.batch].columns[cell.column].number(cell.row) {
            Ok(Some(value)) if value.is_finite() => Ok(value),
            Ok(Some(_)) => Err(self.cell_error(cell, "must be finite")),
            Ok(None) => Err(self.cell_error(cell, "a number must be there")),
            Err(_) => Err(self.cell_error(cell, "must be a number")),
        }
    }

    fn text(&self, cell: Cell) -> String {
        String::from_utf8_lossy(&self.batches[cell.batch].columns[cell.column].text(cell.row)).into_owned()
    }
}
