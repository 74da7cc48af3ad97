//! Rows of the M5 uncertainty competition: `id` is the series, a quantile's probability and `validation` or `evaluation`, joined by
//! underscores; `F1` to `F28` are the days. Validation comes before evaluation.
//!
//! Outcomes come from a file with `id` (series and phase, or series alone) and either `F1`, … or the sales' days `d_1914`, …:
//! validation begins on day 1914 and evaluation on day 1942 of the competition's calendar.

use std::collections::HashMap;

use truecast_data::RowError;
use truecast_data::recognise::{Form, Layout};
use truecast_fleet::{Part, Parts};

use super::LongTable;
use super::gathered::{Cell, Gathered, Gathering};
use crate::failure::{Failure, Result};
use crate::outcome_file::OutcomeFile;

/// The first days of both phases.
const FIRST_DAYS: [(&str, usize); 2] = [("validation", 1914), ("evaluation", 1942)];

pub(super) fn gather(
    table: &mut LongTable,
    layout: &Layout,
    outcomes: Option<&OutcomeFile>,
) -> Result<Vec<RowError>> {
    let Form::M5 { id, days } = &layout.form else { return Ok(Vec::new()) };
    let outcomes = outcomes.map(|file| Actuals::new(file, days.len())).transpose()?;
    let (mut gathering, mut refused, mut rows) = (Gathering::default(), Vec::new(), Vec::new());
    for batch in 0..table.batches.len() {
        for row in 0..table.batches[batch].rows() {
            // A row is taken whole or not at all: it is one quantile of every day.
            let understood = parse(table, Cell { batch, row, column: *id }).and_then(|id| {
                let value = |&column: &usize| table.number(Cell { batch, row, column });
                Ok((id, days.iter().map(value).collect::<Result<Vec<f64>, _>>()?))
            });
            let ((series, probability, phase), values) = match understood {
                Ok(understood) => understood,
                Err(error) => {
                    refused.push(*error);
                    rows.push((batch, row));
                    continue;
                }
            };
            for (day, (&column, value)) in days.iter().zip(values).enumerate() {
                let date = FIRST_DAYS[phase].1 + day;
                let begin = || {
                    Ok(Gathered {
                        key: series.clone().into_bytes(),
                        parts: Parts::default(),
                        cells: Vec::new(),
                        outcome: outcomes.as_ref().and_then(|actuals| actuals.get(&series, phase, day)),
                        now: Some(date as f64),
                        due: None,
                        label: format!("day {date}"),
                        line: table.batches[batch].lines[row],
                    })
                };
                let task = format!("{series}\u{1f}{date}").into_bytes();
                match gathering.forecast(task, begin) {
                    Ok(forecast) => {
                        forecast.push(Part::Quantile(probability), value, Cell { batch, row, column });
                    }
                    Err(error) => refused.push(*error),
                }
            }
        }
    }
    table.refused = rows;
    table.forecasts = gathering.forecasts;
    Ok(refused)
}

/// Series, probability and phase of an `id`.
fn parse(table: &LongTable, id: Cell) -> Result<(String, f64, usize), Box<RowError>> {
    let rule =
        "must be a series, a probability and validation or evaluation, such as Total_X_0.250_validation";
    let refused = || table.cell_error(id, rule);
    let text = table.text(id);
    let (rest, phase) = text.rsplit_once('_').ok_or_else(refused)?;
    let (series, probability) = rest.rsplit_once('_').ok_or_else(refused)?;
    let phase = FIRST_DAYS.iter().position(|(name, _)| *name == phase).ok_or_else(refused)?;
    let probability: f64 = probability.parse().map_err(|_| refused())?;
    if !(probability > 0.0 && probability < 1.0) {
        return Err(refused());
    }
    Ok((series.to_owned(), probability, phase))
}

/// What was sold.
struct Actuals {
    /// By `F` columns, for series and phase together or for a series in both.
    by_day: HashMap<String, Vec<Option<f64>>>,
    /// By days of the calendar.
    by_date: HashMap<String, HashMap<usize, f64>>,
}

impl Actuals {
    fn new(file: &OutcomeFile, days: usize) -> Result<Self> {
        let needed = "M5 outcomes have id and F1, F2, … or d_1914, d_1915, …";
        if !file.has("id") {
            return Err(Failure::usage(format!("{}: there is no column id", file.name()), needed));
        }
        let dated = |name: &String| Some((name.strip_prefix("d_")?.parse().ok()?, name.clone()));
        let dates: Vec<(usize, String)> = file.names().iter().filter_map(dated).collect();
        if !file.has("F1") && dates.is_empty() {
            return Err(Failure::usage(format!("{}: there are no columns of days", file.name()), needed));
        }
        let days: Vec<String> = (1..=days).map(|day| format!("F{day}")).collect();
        let mut actuals = Actuals { by_day: HashMap::new(), by_date: HashMap::new() };
        for row in 0..file.rows() {
            let id = file.text(row, "id");
            let mut sold = HashMap::new();
            for (date, name) in &dates {
                if let Some(value) = file.number(row, name)? {
                    sold.insert(*date, value);
                }
            }
            // Sales files call their rows …_validation or …_evaluation whatever days they hold.
            let series = FIRST_DAYS.iter().find_map(|(phase, _)| id.strip_suffix(&format!("_{phase}")));
            actuals.by_date.insert(series.unwrap_or(&id).to_owned(), sold);
            if file.has("F1") {
                let cells = days.iter().map(|name| file.number(row, name)).collect::<Result<_>>()?;
                actuals.by_day.insert(id, cells);
            }
        }
        Ok(actuals)
    }

    fn get(&self, series: &str, phase: usize, day: usize) -> Option<f64> {
        let (name, first) = FIRST_DAYS[phase];
        let of_phase = self.by_day.get(&format!("{series}_{name}")).or_else(|| self.by_day.get(series));
        let by_day = of_phase.and_then(|cells| cells.get(day).copied().flatten());
        by_day.or_else(|| self.by_date.get(series)?.get(&(first + day)).copied())
    }
}
