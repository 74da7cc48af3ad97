//! Cells of a table, wherever they come from: a batch of a file, or columns of a program.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use truecast_data::RowError;
use truecast_data::table::{Batch, Column, NotANumber};

use crate::numbers::Numbers;

/// Some rows of a table. Columns and rows are counted from 0.
pub trait Cells: Sync {
    /// How many rows there are.
    fn rows(&self) -> usize;

    /// Where a row stands, for messages: its line in a file.
    fn place(&self, row: usize) -> u64;

    /// The number in a cell, `None` where it is missing.
    fn number(&self, column: usize, row: usize) -> Result<Option<f64>, NotANumber>;

    /// The time in a cell: a number as it is, a date or an instant in seconds.
    fn time(&self, column: usize, row: usize) -> Result<Option<f64>, NotANumber>;

    /// A cell as text, empty where it is missing.
    fn text(&self, column: usize, row: usize) -> Cow<'_, [u8]>;

    /// Calls `take` with the number of each of these rows, in order.
    fn numbers(
        &self,
        column: usize,
        rows: Range<usize>,
        mut take: impl FnMut(Result<Option<f64>, NotANumber>),
    ) {
        rows.for_each(|row| take(self.number(column, row)));
    }

    /// True if a number stands there as a text, which its format tells apart.
    fn is_quoted(&self, _column: usize, _row: usize) -> bool {
        false
    }
}

impl Cells for Batch {
    fn rows(&self) -> usize {
        Batch::rows(self)
    }

    fn place(&self, row: usize) -> u64 {
        self.lines[row]
    }

    #[inline]
    fn number(&self, column: usize, row: usize) -> Result<Option<f64>, NotANumber> {
        self.columns[column].number(row)
    }

    #[inline]
    fn time(&self, column: usize, row: usize) -> Result<Option<f64>, NotANumber> {
        self.columns[column].time(row)
    }

    #[inline]
    fn text(&self, column: usize, row: usize) -> Cow<'_, [u8]> {
        match &self.columns[column] {
            Column::Text(cells) => Cow::Borrowed(cells.get(row)),
            cells => cells.text(row),
        }
    }

    #[inline]
    fn numbers(&self, column: usize, rows: Range<usize>, take: impl FnMut(Result<Option<f64>, NotANumber>)) {
        self.columns[column].numbers(rows, take);
    }

    fn is_quoted(&self, column: usize, row: usize) -> bool {
        matches!(self.columns[column], Column::Json(_)) && self.text(column, row).first() != Some(&b'{')
    }
}

/// Rows with what is said about them in messages, and their numbers read ahead.
#[derive(Debug)]
pub struct Piece<C> {
    /// What the file is called.
    pub file: Arc<str>,
    /// The rows.
    pub cells: C,
    /// Their numbers.
    pub numbers: Numbers,
}

impl<C: Cells> Piece<C> {
    /// Rows whose numbers nobody needs at once.
    pub fn new(file: impl Into<Arc<str>>, cells: C) -> Self {
        Piece { file: file.into(), cells, numbers: Numbers::default() }
    }

    /// What is wrong with one cell of a column with this name.
    pub(crate) fn cell_error(
        &self,
        row: usize,
        column: usize,
        name: &str,
        rule: impl Into<String>,
        hint: impl Into<String>,
    ) -> Box<RowError> {
        Box::new(RowError {
            column: Some(name.to_owned()),
            value: Some(String::from_utf8_lossy(&self.cells.text(column, row)).into_owned()),
            ..*self.row_error(row, rule, hint)
        })
    }

    /// What is wrong with a row.
    pub(crate) fn row_error(
        &self,
        row: usize,
        rule: impl Into<String>,
        hint: impl Into<String>,
    ) -> Box<RowError> {
        Box::new(RowError {
            file: self.file.to_string(),
            line: self.cells.place(row),
            rule: rule.into(),
            hint: hint.into(),
            ..RowError::default()
        })
    }

    /// A cell as text.
    pub(crate) fn shown(&self, column: usize, row: usize) -> String {
        String::from_utf8_lossy(&self.cells.text(column, row)).into_owned()
    }
}
