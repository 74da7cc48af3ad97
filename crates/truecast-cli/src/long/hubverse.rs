//! A hub's long form: rows of `output_type`, `output_type_id` and `value`; all other columns together say which forecast they
//! belong to. Rows of a type that is no quantile, sample, median or mean pass through as they are.

use truecast_data::RowError;
use truecast_data::recognise::{Form, Layout};
use truecast_fleet::{Part, Parts};

use super::LongTable;
use super::gathered::{Cell, Gathered, Gathering};
use crate::failure::{Failure, Result};
use crate::outcome_file::OutcomeFile;

pub(super) fn gather(
    table: &mut LongTable,
    layout: &Layout,
    outcomes: Option<&OutcomeFile>,
) -> Result<Vec<RowError>> {
    let Form::Hubverse { output_type, output_type_id, value } = layout.form else { return Ok(Vec::new()) };
    // What tells forecasts apart, whichever of the columns tell series apart.
    let rest = [Some(output_type), Some(output_type_id), Some(value), layout.outcome];
    let task: Vec<usize> = (0..layout.names.len()).filter(|column| !rest.contains(&Some(*column))).collect();
    let join = match outcomes {
        Some(file) => {
            let is_shared = |column: &usize| file.has(&layout.names[*column]);
            let shared: Vec<usize> = task.iter().copied().filter(is_shared).collect();
            if shared.is_empty() {
                let problem = format!("{}: no column says which forecast an outcome belongs to", file.name());
                let hint =
                    "it must have some of the forecasts' columns, such as location and target_end_date";
                return Err(Failure::usage(problem, hint));
            }
            let names: Vec<&str> = shared.iter().map(|&column| layout.names[column].as_str()).collect();
            Some((file.by(&names)?, shared))
        }
        None => None,
    };
    let (mut gathering, mut refused, mut rows) = (Gathering::default(), Vec::new(), Vec::new());
    for batch in 0..table.batches.len() {
        for row in 0..table.batches[batch].rows() {
            let cell = |column: usize| Cell { batch, row, column };
            let joined = |columns: &[usize]| {
                let cells: Vec<_> =
                    columns.iter().map(|&c| table.batches[batch].columns[c].text(row)).collect();
                cells.join(&b'\x1f')
            };
            let Some(part) = part(table, cell(output_type), cell(output_type_id)).transpose() else {
                continue;
            };
            let begin = || {
                let known = join.as_ref().and_then(|(outcomes, shared)| outcomes.get(&joined(shared)));
                Ok(Gathered {
                    key: joined(&layout.keys),
                    parts: Parts::default(),
                    cells: Vec::new(),
                    outcome: known.copied(),
                    now: layout.time.map(|column| time(table, cell(column))).transpose()?,
                    due: layout.outcome_time.map(|column| time(table, cell(column))).transpose()?,
                    label: layout.outcome_time.or(layout.time).map_or(String::new(), |c| table.text(cell(c))),
                    line: table.batches[batch].lines[row],
                })
            };
            let added = part.and_then(|part| {
                let number = table.number(cell(value))?;
                let forecast = gathering.forecast(joined(&task), begin)?;
                // Any of a forecast's rows may say the outcome.
                if let (None, Some(column)) = (&join, layout.outcome)
                    && let Some(said) = outcome(table, cell(column))?
                    && *forecast.outcome.get_or_insert(said) != said
                {
                    let rule = "the forecast's rows before this one have another outcome";
                    return Err(table.cell_error(cell(column), rule));
                }
                forecast.push(part, number, cell(value));
                Ok(())
            });
            if let Err(error) = added {
                refused.push(*error);
                rows.push((batch, row));
            }
        }
    }
    table.refused = rows;
    table.forecasts = gathering.forecasts;
    Ok(refused)
}

/// What a row's value is; `None` for types that pass through.
fn part(table: &LongTable, kind: Cell, id: Cell) -> Result<Option<Part>, Box<RowError>> {
    Ok(match table.text(kind).as_str() {
        "quantile" => {
            let probability = table.number(id)?;
            if !(probability > 0.0 && probability < 1.0) {
                return Err(table.cell_error(id, "a quantile's probability lies between 0 and 1"));
            }
            Some(Part::Quantile(probability))
        }
        "median" => Some(Part::Quantile(0.5)),
        "mean" => Some(Part::Mean),
        "sample" => Some(Part::Member),
        _ => None,
    })
}

fn outcome(table: &LongTable, cell: Cell) -> Result<Option<f64>, Box<RowError>> {
    match table.batches[cell.batch].columns[cell.column].number(cell.row) {
        Ok(Some(value)) if !value.is_finite() => Err(table.cell_error(cell, "must be finite")),
        Ok(value) => Ok(value),
        Err(_) => Err(table.cell_error(cell, "must be a number")),
    }
}

fn time(table: &LongTable, cell: Cell) -> Result<f64, Box<RowError>> {
    let time = table.batches[cell.batch].columns[cell.column].time(cell.row);
    time.ok().flatten().ok_or_else(|| table.cell_error(cell, "must be a date such as 2026-11-16"))
}
