//! The saved form of the ledgers, and the checks it passes before it is used.

use serde::{Deserialize, Serialize};

use super::{Ledgers, Sums};
use crate::error::SnapshotError;
use crate::lanes::LANES;
use crate::recalibrate::Parameters;

/// The saved form of [`Ledgers`]; parameters are saved beside it. Nothing in it is padded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LedgersState {
    inflation: f64,
    steps: u64,
    effective: f64,
    latest: u64,
    cells: Vec<u32>,
    fractions: Vec<f64>,
    bounds: Vec<f64>,
    books: Vec<BookState>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct BookState {
    balances: Vec<f64>,
    squares: Vec<f64>,
    totals: Vec<f64>,
    shifts: Vec<f64>,
}

impl Ledgers {
    pub(crate) fn state(&self) -> LedgersState {
        let count = self.levels.count();
        let books = (0..self.books.len()).map(|g| BookState {
            balances: (0..count)
                .flat_map(|j| (0..self.plays.values().len()).map(move |i| (j, i)))
                .map(|(j, i)| self.balance(g, j, i))
                .collect(),
            squares: (0..self.sums_of(g)).map(|j| self.sums(g, j).square).collect(),
            totals: (0..self.sums_of(g)).map(|j| self.sums(g, j).total).collect(),
            shifts: (0..count).map(|j| self.shift(g, j)).collect(),
        });
        LedgersState {
            inflation: self.inflation,
            steps: self.steps,
            effective: self.effective,
            latest: self.latest,
            cells: self.cells[..count].to_vec(),
            fractions: self.fractions[..count].to_vec(),
            bounds: self.bounds[..count].to_vec(),
            books: books.collect(),
        }
    }

    pub(crate) fn from_state(parameters: &Parameters, state: LedgersState) -> Result<Self, SnapshotError> {
        let mut ledgers = Ledgers::new(parameters);
        state.validate(&ledgers)?;
        let (count, width) = (ledgers.levels.count(), ledgers.plays.values().len());
        let books = ledgers.books.len();
        for (g, saved) in state.books.into_iter().enumerate() {
            let book = &mut ledgers.books[g];
            for j in 0..count {
                let account = &mut ledgers.accounts[j / LANES * books + g];
                let (at, lane) = (j * width + state.cells[j] as usize, j % LANES);
                (account.low[lane], account.high[lane]) = (saved.balances[at], saved.balances[at + 1]);
                account.shift[lane] = saved.shifts[j];
                if book.flat.is_none() {
                    (account.square[lane], account.total[lane]) = (saved.squares[j], saved.totals[j]);
                }
            }
            if let Some(sums) = &mut book.flat {
                *sums = Sums { square: saved.squares[0], total: saved.totals[0] };
            }
            book.table = saved.balances;
        }
        ledgers.inflation = state.inflation;
        ledgers.steps = state.steps;
        ledgers.effective = state.effective;
        ledgers.latest = state.latest;
        ledgers.cells[..count].copy_from_slice(&state.cells);
        ledgers.fractions[..count].copy_from_slice(&state.fractions);
        ledgers.bounds[..count].copy_from_slice(&state.bounds);
        ledgers.find_cell_ends();
        Ok(ledgers)
    }

    /// How many A and W a ledger saves: a flat one has one of each for all levels.
    fn sums_of(&self, ledger: usize) -> usize {
        if self.books[ledger].flat.is_some() { 1 } else { self.levels.count() }
    }
}

impl LedgersState {
    fn validate(&self, empty: &Ledgers) -> Result<(), SnapshotError> {
        let levels = empty.levels.count();
        let lengths = self.cells.len() == levels
            && self.fractions.len() == levels
            && self.bounds.len() == levels
            && self.books.len() == empty.books.len()
            && self.books.iter().enumerate().all(|(g, book)| {
                let sums = empty.sums_of(g);
                book.balances.len() == levels * empty.plays.values().len()
                    && (book.squares.len(), book.totals.len(), book.shifts.len()) == (sums, sums, levels)
            });
        if !lengths {
            return Err(SnapshotError::Invalid { field: "ledgers", rule: "of the shape its parameters say" });
        }
        if self.cells.iter().any(|&cell| cell as usize >= empty.plays.intervals()) {
            return Err(SnapshotError::Invalid { field: "ledger cells", rule: "on the play grid" });
        }
        if !self.fractions.iter().all(|a| (0.0..=1.0).contains(a)) {
            return Err(SnapshotError::Invalid { field: "ledger fractions", rule: "between 0 and 1" });
        }
        let finite = self.bounds.iter().all(|b| b.is_finite())
            && self.books.iter().all(|book| book.balances.iter().all(|l| l.is_finite()));
        let sizes = self.books.iter().all(|book| {
            let sums = [&book.squares, &book.totals, &book.shifts];
            sums.iter().all(|values| values.iter().all(|x| *x >= 0.0 && x.is_finite()))
        });
        if !finite || !sizes {
            return Err(SnapshotError::Invalid {
                field: "ledger sums",
                rule: "finite, and not negative where squared",
            });
        }
        if !(self.inflation >= 1.0
            && self.inflation.is_finite()
            && self.effective >= 0.0
            && self.effective.is_finite())
        {
            return Err(SnapshotError::Invalid { field: "ledger counts", rule: "finite and not negative" });
        }
        Ok(())
    }
}
