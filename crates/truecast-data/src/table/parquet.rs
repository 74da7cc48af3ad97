//! Parquet, by row groups.

use std::path::Path;

use super::{Batch, Sheet, TableReader, TableWriter};
use crate::error::{Error, Result};
use crate::output::Sink;
use crate::source::Source;

/// Reads Parquet.
#[derive(Debug)]
pub struct ParquetReader {
    file: String,
}

impl ParquetReader {
    /// Opens a file; what comes from elsewhere is read into memory first, because the index is at the end.
    pub fn open(path: &Path, _source: Source) -> Result<Self> {
        Err(Error::file(&path.display().to_string(), "Parquet is not read yet", ""))
    }
}

impl TableReader for ParquetReader {
    fn file(&self) -> &str {
        &self.file
    }

    fn names(&self) -> &[String] {
        &[]
    }

    fn read(&mut self, _rows: usize) -> Result<Option<Batch>> {
        Ok(None)
    }

    fn position(&self) -> u64 {
        0
    }
}

/// Writes Parquet.
#[derive(Debug)]
pub struct ParquetWriter<W: Sink> {
    output: W,
    file: String,
}

impl<W: Sink> ParquetWriter<W> {
    /// Writes to `output`, which `file` names in messages.
    pub fn new(output: W, file: &str) -> Self {
        ParquetWriter { output, file: file.to_owned() }
    }
}

impl<W: Sink> TableWriter for ParquetWriter<W> {
    fn write(&mut self, _sheet: &Sheet) -> Result<()> {
        Err(Error::file(&self.file, "Parquet is not written yet", ""))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.output.finish().map_err(Error::io(&self.file))
    }
}
