//! One forecast, gathered from cells all over a table.

use std::collections::HashMap;

use truecast_data::RowError;
use truecast_fleet::{Part, Parts};

/// A cell of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) batch: usize,
    pub(super) row: usize,
    pub(super) column: usize,
}

/// A forecast with the cells that it came from.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) key: Vec<u8>,
    pub(super) parts: Parts,
    /// Where each of the parts stands.
    pub(super) cells: Vec<Cell>,
    pub(super) outcome: Option<f64>,
    pub(super) now: Option<f64>,
    pub(super) due: Option<f64>,
    pub(super) label: String,
    /// The line of its first cell, for messages.
    pub(super) line: u64,
}

/// Forecasts by what tells them apart.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    index: HashMap<Vec<u8>, usize>,
    pub(super) forecasts: Vec<Gathered>,
}

impl Gathered {
    /// Adds a cell.
    pub(super) fn push(&mut self, part: Part, value: f64, cell: Cell) {
        self.parts.push(part, value);
        self.cells.push(cell);
    }
}

impl Gathering {
    /// The forecast of `task`, which begins here if it was not met before.
    pub(super) fn forecast(
        &mut self,
        task: Vec<u8>,
        begin: impl FnOnce() -> Result<Gathered, Box<RowError>>,
    ) -> Result<&mut Gathered, Box<RowError>> {
        let at = match self.index.get(&task) {
            Some(&at) => at,
            None => {
                self.forecasts.push(begin()?);
                self.index.insert(task, self.forecasts.len() - 1);
                self.forecasts.len() - 1
            }
        };
        Ok(&mut self.forecasts[at])
    }
}
