//! Tables as streams of batches: readers and writers for CSV, NDJSON and Parquet.
//!
//! A reader gives [`Batch`]es of a bounded number of rows, so that memory does not grow with the file; a writer takes
//! [`Sheet`]s, whose columns are cells of the input passed through or numbers that were computed.

pub mod calendar;
mod column;
mod csv_line;
mod csv_reader;
mod csv_writer;
mod decimal;
mod grid;
mod ndjson;
mod nearest;
#[cfg(feature = "parquet")]
mod parquet;
mod plain_rows;
mod text;

pub use column::{Clock, Column, NotANumber, TimeUnit, number_of, time_of};
pub use csv_reader::CsvReader;
pub use csv_writer::CsvWriter;
pub use ndjson::{NdjsonReader, NdjsonWriter};
#[cfg(feature = "parquet")]
pub use parquet::{ParquetReader, ParquetWriter};
pub use text::Text;

use crate::error::{Result, RowError};

/// Some rows of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Batch {
    /// The line at which each row begins, counted from 1; for Parquet the row, counted from 1.
    pub lines: Vec<u64>,
    /// One for each name of the reader, in its order.
    pub columns: Vec<Column>,
    /// Rows that were left out because they could not be split into cells.
    pub broken: Vec<RowError>,
}

impl Batch {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.lines.len()
    }
}

/// Gives a table in batches.
pub trait TableReader: Send + std::fmt::Debug {
    /// The file's name, for messages.
    fn file(&self) -> &str;

    /// The columns' names. NDJSON may add to them while it is read.
    fn names(&self) -> &[String];

    /// The next rows, at most `rows` of them; `None` at the end.
    fn read(&mut self, rows: usize) -> Result<Option<Batch>>;

    /// Bytes of the input read so far, as they are on disk: for progress.
    fn position(&self) -> u64;
}

/// A column to write.
#[derive(Debug, Clone, PartialEq)]
pub enum SheetColumn {
    /// Cells of the input.
    Cells(Column),
    /// Numbers that were computed; NaN is missing.
    Numbers(Vec<f64>),
    /// Cells of the input that are numbers, some of which were computed anew: the others pass through as they stand, but for
    /// files whose columns have types, which get numbers throughout.
    Mixed(Column, Vec<Option<f64>>),
    /// The same with none computed anew.
    Numeric(Column),
}

impl SheetColumn {
    /// A column of the input that holds numbers, as it is: where it came as text, files with types still get numbers.
    pub fn numeric(cells: Column) -> Self {
        match cells {
            Column::Text(_) | Column::Json(_) => SheetColumn::Numeric(cells),
            typed => SheetColumn::Cells(typed),
        }
    }
}

/// Rows to write.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sheet {
    /// Names and cells, in order.
    pub columns: Vec<(String, SheetColumn)>,
    /// Which of the cells are written, in this order.
    pub rows: Vec<u32>,
}

/// Takes a table in sheets. All sheets of a file have the same columns, but for NDJSON.
pub trait TableWriter: Send {
    /// Writes some rows.
    fn write(&mut self, sheet: &Sheet) -> Result<()>;

    /// Writes what is left.
    fn finish(self: Box<Self>) -> Result<()>;
}
