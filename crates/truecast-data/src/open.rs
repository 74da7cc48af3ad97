//! Opens tables in whatever format they are.

use std::path::Path;

use crate::error::{Error, Result};
use crate::format::Format;
use crate::output::Sink;
use crate::source::Source;
use crate::table::{CsvReader, CsvWriter, NdjsonReader, NdjsonWriter, TableReader, TableWriter};
#[cfg(feature = "parquet")]
use crate::table::{ParquetReader, ParquetWriter};

/// A table that was opened.
#[derive(Debug)]
pub struct Opened {
    /// The rows.
    pub reader: Box<dyn TableReader>,
    /// The format it is in.
    pub format: Format,
    /// What separates cells, in CSV.
    pub separator: Option<u8>,
    /// Bytes in all, where that is known.
    pub size: Option<u64>,
}

/// Opens a table: a file's name, or `-` for standard input. What is not said is read from the name, then from the first bytes.
pub fn open(path: &Path, format: Option<Format>, separator: Option<u8>) -> Result<Opened> {
    let mut source = Source::open(path)?;
    let size = source.size;
    let format = match format.or_else(|| Format::of_name(path)) {
        Some(format) => format,
        None => Format::of_content(source.reader.fill_buf().map_err(Error::io(&source.name))?),
    };
    Ok(match format {
        Format::Csv => {
            let reader = CsvReader::new(source, separator)?;
            let separator = Some(reader.separator());
            Opened { reader: Box::new(reader), format, separator, size }
        }
        Format::Ndjson => {
            Opened { reader: Box::new(NdjsonReader::new(source)?), format, separator: None, size }
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => {
            Opened { reader: Box::new(ParquetReader::open(path, source)?), format, separator: None, size }
        }
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => return Err(without_parquet(&source.name)),
    })
}

#[cfg(not(feature = "parquet"))]
fn without_parquet(file: &str) -> Error {
    Error::file(file, "Parquet was left out of this build", "build it with the feature parquet, or use CSV")
}

/// A writer in a format. Parquet is refused where the feature `parquet` is off.
pub fn writer<W: Sink + 'static>(
    output: W,
    file: &str,
    format: Format,
    separator: u8,
) -> Result<Box<dyn TableWriter>> {
    Ok(match format {
        Format::Csv => Box::new(CsvWriter::new(output, file, separator)),
        Format::Ndjson => Box::new(NdjsonWriter::new(output, file)),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(ParquetWriter::new(output, file)),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => return Err(without_parquet(file)),
    })
}
