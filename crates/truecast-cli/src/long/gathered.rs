//! One forecast, gathered from cells all over a table.

use std::collections::HashMap;

use truecast::Quantiles;
use truecast_data::RowError;
use truecast_fleet::Given;

/// A cell of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) batch: usize,
    pub(super) row: usize,
    pub(super) column: usize,
}

/// What a cell of a forecast holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    /// The quantile at a probability.
    Quantile(f64),
    /// A member of an ensemble.
    Member,
    /// The mean.
    Mean,
}

/// A forecast with the cells that it came from.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) key: Vec<u8>,
    pub(super) cells: Vec<(Part, f64, Cell)>,
    pub(super) outcome: Option<f64>,
    pub(super) now: Option<f64>,
    pub(super) due: Option<f64>,
    pub(super) label: String,
    /// The line of its first cell, for messages.
    pub(super) line: u64,
}

impl Gathered {
    /// For each cell the probability of the quantile that takes its place; NaN for the mean. Members move to the quantiles of
    /// their ranks.
    pub(super) fn wanted(&self) -> Vec<f64> {
        let is_member = |at: &usize| self.cells[*at].0 == Part::Member;
        let mut members: Vec<usize> = (0..self.cells.len()).filter(is_member).collect();
        members.sort_by(|&a, &b| self.cells[a].1.total_cmp(&self.cells[b].1));
        let probability = |(part, _, _): &(Part, f64, Cell)| match part {
            Part::Quantile(p) => *p,
            Part::Member | Part::Mean => f64::NAN,
        };
        let mut wanted: Vec<f64> = self.cells.iter().map(probability).collect();
        for (rank, &at) in members.iter().enumerate() {
            wanted[at] = (rank as f64 + 0.5) / members.len() as f64;
        }
        wanted
    }

    /// The distribution that the cells say: by quantiles if there are two, or else by members.
    pub(super) fn forecast(&self) -> Result<Given, truecast::Error> {
        let (mut quantiles, mut members) = (Vec::new(), Vec::new());
        for &(part, value, _) in &self.cells {
            match part {
                Part::Quantile(p) => quantiles.push((p, value)),
                Part::Member => members.push(value),
                Part::Mean => {}
            }
        }
        quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        // A median that is also there as the quantile 0.5 says the same thing twice.
        quantiles.dedup_by(|a, b| a.0 == b.0);
        if quantiles.len() >= 2 {
            let (probabilities, values): (Vec<f64>, Vec<f64>) = quantiles.into_iter().unzip();
            return Ok(Given::Distribution(Quantiles::new(&probabilities, &values)?.into()));
        }
        if members.len() >= 2 {
            return Ok(Given::Ensemble(members));
        }
        let found = quantiles.len().max(members.len());
        Err(truecast::Error::TooFew { what: "quantiles or samples of one forecast", least: 2, found })
    }
}

/// Forecasts by what tells them apart.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    index: HashMap<Vec<u8>, usize>,
    pub(super) forecasts: Vec<Gathered>,
}

impl Gathering {
    /// Adds a cell to the forecast of `task`, which begins with it if it was not met before.
    pub(super) fn add(
        &mut self,
        task: Vec<u8>,
        part: (Part, f64, Cell),
        begin: impl FnOnce() -> Result<Gathered, Box<RowError>>,
    ) -> Result<(), Box<RowError>> {
        let at = match self.index.get(&task) {
            Some(&at) => at,
            None => {
                self.forecasts.push(begin()?);
                self.index.insert(task, self.forecasts.len() - 1);
                self.forecasts.len() - 1
            }
        };
        self.forecasts[at].cells.push(part);
        Ok(())
    }
}
