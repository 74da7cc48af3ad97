//! Rows of the input with what becomes of them, as rows to write.

use truecast_data::table::Column;
use truecast_data::table::{Batch, Sheet, SheetColumn, Text};
use truecast_events::{Changes, Replaced};

/// The rows of a batch with calibrated numbers. Rows that were refused are left out.
pub(crate) fn sheet(names: &[String], batch: Batch, mut changes: Changes, outcome: Option<usize>) -> Sheet {
    let rows = batch.rows();
    let mut columns = Vec::with_capacity(names.len());
    for (at, (name, cells)) in names.iter().zip(batch.columns).enumerate() {
        if changes.is_dropped(at) {
            continue;
        }
        let column = match changes.replaced(at) {
            Some(Replaced::All(numbers)) => SheetColumn::Numbers(numbers),
            Some(Replaced::Some(numbers)) => SheetColumn::Mixed(cells, numbers),
            None if changes.is_forecast(at) => SheetColumn::Mixed(cells, vec![None; rows]),
            None if Some(at) == outcome => SheetColumn::numeric(cells),
            None => SheetColumn::Cells(cells),
        };
        columns.push((name.clone(), column));
    }
    columns.extend(changes.added().into_iter().map(|(name, numbers)| (name, SheetColumn::Numbers(numbers))));
    let mut left_out = changes.left_out().iter().peekable();
    let kept = (0..rows as u32).filter(|&row| left_out.next_if_eq(&&(row as usize)).is_none());
    Sheet { rows: kept.collect(), columns }
}

/// A batch of no rows.
pub(crate) fn empty(columns: usize) -> Batch {
    Batch { columns: vec![Column::Text(Text::default()); columns], ..Batch::default() }
}
