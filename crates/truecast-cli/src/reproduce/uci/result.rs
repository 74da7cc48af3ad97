//! What the experiment found: a cell for each dataset and column, next to what the paper reports.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

use super::column::{Column, Run};
use super::dataset::Dataset;
use super::protocol::{Booking, Forecasts};
use crate::failure::Result;
use crate::progress::Progress;

/// One dataset under one column, over its runs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    pub(crate) score: Spread,
    pub(crate) crps: Spread,
    pub(crate) coverage80: Spread,
    /// After each batch: mean, lowest and highest score of the runs.
    pub(crate) curve: Vec<(f64, f64, f64)>,
}

/// A mean over runs with its standard error, which is 0 for one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) mean: f64,
    pub(crate) error: f64,
}

impl Spread {
    fn of(values: impl ExactSizeIterator<Item = f64> + Clone) -> Self {
        let count = values.len() as f64;
        let mean = values.clone().sum::<f64>() / count;
        let squares: f64 = values.map(|value| (value - mean) * (value - mean)).sum();
        let error = if count > 1.0 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
        Spread { mean, error }
    }
}

impl Cell {
    fn of(runs: &[Run]) -> Self {
        let spread = |value: fn(&Run) -> f64| Spread::of(runs.iter().map(value));
        let batches = runs.first().map_or(0, |run| run.curve.len());
        let point = |at: usize| {
            let scores = runs.iter().map(|run| run.curve[at]);
            let mean = scores.clone().sum::<f64>() / runs.len() as f64;
            (mean, scores.clone().fold(f64::INFINITY, f64::min), scores.fold(f64::NEG_INFINITY, f64::max))
        };
        Cell {
            score: spread(|run| run.curve.last().copied().unwrap_or(f64::NAN)),
            crps: spread(|run| run.crps),
            coverage80: spread(|run| run.coverage80),
            curve: (0..batches).map(point).collect(),
        }
    }
}

/// All cells of one dataset, in the order of [`Column::ALL`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) dataset: Dataset,
    pub(crate) rows: u64,
    pub(crate) cells: Vec<Cell>,
}

impl Outcome {
    pub(crate) fn cell(&self, column: Column) -> &Cell {
        &self.cells[column as usize]
    }

    /// CRPS against the forecasts as they are, in percent.
    pub(crate) fn crps_change(&self, column: Column) -> f64 {
        100.0 * (self.cell(column).crps.mean / self.cell(Column::Raw).crps.mean - 1.0)
    }
}

/// Every column on every dataset, in parallel; randomised columns with each seed.
pub(crate) fn measure(
    all: &[(Dataset, Forecasts)],
    booking: Booking,
    seeds: u64,
    first_seed: u64,
    quiet: bool,
) -> Result<Vec<Outcome>> {
    let mut jobs = Vec::new();
    for (dataset, forecasts) in all {
        for column in Column::ALL {
            let runs = if column.is_randomised() { seeds } else { 1 };
            jobs.extend((0..runs).map(|run| (*dataset, forecasts, column, first_seed + run)));
        }
    }
    // The longest first, so that no core is left with one of them at the end.
    jobs.sort_by_key(|&(_, forecasts, ..)| std::cmp::Reverse(forecasts.rows()));
    let progress = Progress::over_steps(jobs.iter().map(|job| job.1.rows()).sum(), quiet);
    let runs: Vec<_> = jobs
        .par_iter()
        .map(|&(dataset, forecasts, column, seed)| {
            Ok((dataset, column, column.run(forecasts, booking, seed, &|rows| progress.step(rows))?))
        })
        .collect::<Result<_>>()?;
    progress.done();
    let cell = |dataset: Dataset, column: Column| {
        let of = runs.iter().filter(|run| (run.0, run.1) == (dataset, column));
        Cell::of(&of.map(|run| run.2.clone()).collect::<Vec<_>>())
    };
    let outcome = |(dataset, forecasts): &(Dataset, Forecasts)| Outcome {
        dataset: *dataset,
        rows: forecasts.rows(),
        cells: Column::ALL.map(|column| cell(*dataset, column)).to_vec(),
    };
    Ok(all.iter().map(outcome).collect())
}

/// Score and standard error in the paper's table 1; it gives one line for both energy targets, and one randomised method.
pub(crate) fn paper(dataset: Dataset, column: Column) -> Option<(f64, f64)> {
    let line = match dataset {
        Dataset::Aquatic => [(0.0081, 0.0001), (0.0055, 0.0002), (0.0058, 0.0003), (0.0027, 0.0001)],
        Dataset::Fish => [(0.0111, 0.0), (0.0097, 0.0005), (0.0084, 0.0005), (0.0031, 0.0003)],
        Dataset::EnergyY1 | Dataset::EnergyY2 => {
            [(0.3322, 0.0001), (0.2857, 0.0356), (0.1702, 0.0094), (0.1156, 0.0061)]
        }
        Dataset::Facebook => [(0.2510, 0.0), (0.0589, 0.0050), (0.0623, 0.0), (0.0518, 0.0002)],
    };
    line.get(column as usize).copied()
}

#[derive(Debug, Serialize)]
pub(crate) struct CellSummary {
    score: f64,
    score_se: f64,
    crps: f64,
    coverage80: f64,
}

/// `--summary`: dataset → column → numbers.
pub(crate) fn summary(outcomes: &[Outcome]) -> BTreeMap<&'static str, BTreeMap<&'static str, CellSummary>> {
    let of = |cell: &Cell| CellSummary {
        score: cell.score.mean,
        score_se: cell.score.error,
        crps: cell.crps.mean,
        coverage80: cell.coverage80.mean,
    };
    let line = |outcome: &Outcome| {
        Column::ALL.into_iter().map(|column| (column.name(), of(outcome.cell(column)))).collect()
    };
    outcomes.iter().map(|outcome| (outcome.dataset.name(), line(outcome))).collect()
}
