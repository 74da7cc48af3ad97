//! The numbers of a batch, read once and in the order of the file.
//!
//! The rows of a series lie far apart where many series take turns. Read when they are needed, cells would come from all over memory; here
//! the numbers of a row end up side by side, and all cores read.

use rayon::prelude::*;
use truecast_data::recognise::{Form, Layout};
use truecast_data::table::Batch;

/// Rows that one core reads in one piece.
const PIECE: usize = 1 << 10;

/// Numbers of the columns that forecasts and outcomes are in.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// Where a column's number is among those of its row.
    places: Vec<Option<usize>>,
    width: usize,
    /// Row by row; NaN where a cell holds no finite number, whatever it does hold.
    values: Vec<f64>,
}

impl Numbers {
    /// The columns in which a table with one forecast in each row has numbers.
    pub(crate) fn columns(layout: &Layout) -> Vec<usize> {
        let mut columns: Vec<usize> = layout.outcome.into_iter().collect();
        match &layout.form {
            Form::Gaussian { mean, spread, .. } => columns.extend([mean, spread]),
            Form::Quantiles(list) => columns.extend(list.iter().map(|&(_, column)| column)),
            Form::Samples(list) => columns.extend(list),
            Form::Point(column) => columns.push(*column),
            _ => {}
        }
        columns
    }

    /// Reads the numbers of some columns.
    pub(crate) fn read(batch: &Batch, columns: &[usize]) -> Self {
        let mut places = vec![None; batch.columns.len()];
        columns.iter().enumerate().for_each(|(place, &column)| places[column] = Some(place));
        let width = columns.len();
        let mut values = vec![f64::NAN; batch.rows() * width];
        values.par_chunks_mut((PIECE * width).max(1)).enumerate().for_each(|(piece, values)| {
            let first = piece * PIECE;
            let rows = first..first + values.len() / width;
            for (place, &column) in columns.iter().enumerate() {
                let mut at = place;
                batch.columns[column].numbers(rows.clone(), |number| {
                    if let Ok(Some(number)) = number
                        && number.is_finite()
                    {
                        values[at] = number;
                    }
                    at += width;
                });
            }
        });
        Numbers { places, width, values }
    }

    /// The numbers of a row in the order of the columns, NaN where a cell holds no finite one.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.width..][..self.width]
    }

    /// The finite number in a cell. `None` says nothing about why there is none.
    #[inline]
    pub(crate) fn get(&self, row: usize, column: usize) -> Option<f64> {
        let place = self.places[column]?;
        Some(self.values[row * self.width + place]).filter(|value| !value.is_nan())
    }
}
