//! The saved form of the ledgers: of each book the balances that were ever touched, from the first to the last of them.
//!
//! After a thousand outcomes plays have seen about a fifth of the grid, so that this is what keeps a series small.

use serde::{Deserialize, Serialize};

use super::{Book, Ledgers};

/// The saved form of [`Ledgers`]; parameters are saved beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedLedgers {
    inflation: f64,
    steps: u64,
    effective: f64,
    last: Vec<(u32, f64)>,
    bounds: Vec<f64>,
    /// A and W of the ledgers whose weights are the same at every level, once each.
    flat: Vec<(f64, f64)>,
    books: Vec<SavedBook>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedBook {
    first: u16,
    balances: Vec<f64>,
    shift: f64,
    /// A and W, where they are this level's own.
    sums: Option<(f64, f64)>,
}

impl Ledgers {
    pub(crate) fn saved(&self) -> SavedLedgers {
        let flat = self.kinds.iter().zip(self.at(0)).filter(|(kind, _)| kind.is_flat());
        let kinds = self.kinds.iter().cycle();
        let save = |(book, kind): (&Book, &crate::recalibrate::LedgerKind)| {
            let touched = |balance: &f64| *balance != 0.0;
            let first = book.balances.iter().position(touched).unwrap_or(0);
            let end = book.balances.iter().rposition(touched).map_or(first, |last| last + 1);
            SavedBook {
                first: first as u16,
                balances: book.balances[first..end].to_vec(),
                shift: book.shift,
                sums: (!kind.is_flat()).then_some((book.square, book.total)),
            }
        };
        SavedLedgers {
            inflation: self.inflation,
            steps: self.steps,
            effective: self.effective,
            last: self.last.clone(),
            bounds: self.bounds.clone(),
            flat: flat.map(|(_, book)| (book.square, book.total)).collect(),
            books: self.books.iter().zip(kinds).map(save).collect(),
        }
    }

    /// Takes up what was saved; `false` where its shape is not that of the parameters.
    pub(crate) fn restore(&mut self, saved: SavedLedgers) -> bool {
        let plays = self.plays.values().len();
        let flat_count = self.kinds.iter().filter(|kind| kind.is_flat()).count();
        let levels = self.levels.count();
        if (saved.last.len(), saved.bounds.len(), saved.flat.len()) != (levels, levels, flat_count)
            || saved.books.len() != self.books.len()
        {
            return false;
        }
        for (at, (book, from)) in self.books.iter_mut().zip(saved.books).enumerate() {
            let (ledger, first) = (at % self.kinds.len(), usize::from(from.first));
            let Some(room) = book.balances.get_mut(first..first + from.balances.len()) else { return false };
            debug_assert!(room.len() <= plays);
            room.copy_from_slice(&from.balances);
            book.shift = from.shift;
            let flat = self.kinds[..ledger].iter().filter(|kind| kind.is_flat()).count();
            match (self.kinds[ledger].is_flat(), from.sums) {
                (true, None) => (book.square, book.total) = saved.flat[flat],
                (false, Some(own)) => (book.square, book.total) = own,
                _ => return false,
            }
        }
        self.inflation = saved.inflation;
        self.steps = saved.steps;
        self.effective = saved.effective;
        self.last = saved.last;
        self.bounds = saved.bounds;
        true
    }
}
