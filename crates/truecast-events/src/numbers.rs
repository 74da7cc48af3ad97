//! The numbers of some rows, read once and in their order.
//!
//! The rows of a series lie far apart where many series take turns. Read when they are needed, cells would come from all over memory; here
//! the numbers of a row end up side by side, and all cores read.

use rayon::prelude::*;

use crate::cells::Cells;

/// Rows that one core reads in one piece.
const PIECE: usize = 1 << 10;

/// Which columns are read ahead: numbers, then times.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ahead {
    pub(crate) numbers: Vec<usize>,
    pub(crate) times: Vec<usize>,
}

/// Numbers of some columns.
#[derive(Debug, Default)]
pub struct Numbers {
    /// Where a column's number is among those of its row.
    places: Vec<Option<usize>>,
    width: usize,
    /// Row by row; NaN where a cell holds no finite number, whatever it does hold.
    values: Vec<f64>,
}

impl Numbers {
    /// Reads the numbers of some columns.
    pub fn read(cells: &impl Cells, ahead: &Ahead) -> Self {
        let columns: Vec<usize> = ahead.numbers.iter().chain(&ahead.times).copied().collect();
        let mut places = vec![None; columns.iter().max().map_or(0, |last| last + 1)];
        columns.iter().enumerate().for_each(|(place, &column)| places[column] = Some(place));
        let width = columns.len();
        let mut values = vec![f64::NAN; cells.rows() * width];
        values.par_chunks_mut((PIECE * width).max(1)).enumerate().for_each(|(piece, values)| {
            let first = piece * PIECE;
            let rows = first..first + values.len() / width;
            for (place, &column) in columns.iter().enumerate() {
                let mut at = place;
                let mut take = |number: Option<f64>| {
                    if let Some(number) = number
                        && number.is_finite()
                    {
                        values[at] = number;
                    }
                    at += width;
                };
                if place < ahead.numbers.len() {
                    cells.numbers(column, rows.clone(), |number| take(number.ok().flatten()));
                } else {
                    rows.clone().for_each(|row| take(cells.time(column, row).ok().flatten()));
                }
            }
        });
        Numbers { places, width, values }
    }

    /// The numbers of a row in the order of the columns, NaN where a cell holds no finite one.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        self.values.get(row * self.width..(row + 1) * self.width).unwrap_or_default()
    }

    /// The finite number in a cell. `None` says nothing about why there is none.
    #[inline]
    pub(crate) fn get(&self, column: usize, row: usize) -> Option<f64> {
        let place = self.places.get(column).copied().flatten()?;
        Some(self.values[row * self.width + place]).filter(|value| !value.is_nan())
    }
}
