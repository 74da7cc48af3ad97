//! Parquet: flat tables of typed columns, read and written by row groups.
//!
//! Reading holds one page of each column and the rows that were asked for, whatever the size of the file or of its row
//! groups; writing holds one row group. The index is at a file's end, so that what cannot be read from its end (standard
//! input, a pipe, a gzipped file) is read into memory as a whole.

mod cells;
mod kind;
mod reader;
mod writer;

pub use reader::ParquetReader;
pub use writer::ParquetWriter;

use std::io;

use parquet::errors::ParquetError;

use crate::error::Error;

/// The hint where the file itself is at fault.
const BROKEN: &str = "the file may be damaged: write or copy it again";

/// What went wrong, as ours: the system's own words where the system failed, so that a broken pipe is known as one.
fn failed(file: &str, error: ParquetError, hint: &str) -> Error {
    let problem = match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(source) => return Error::Io { file: file.to_owned(), source: *source },
            Err(inner) => inner.to_string(),
        },
        ParquetError::General(problem) | ParquetError::EOF(problem) | ParquetError::NYI(problem) => problem,
        other => other.to_string(),
    };
    Error::file(file, problem, hint)
}

/// The first name that stands for two columns.
fn twice<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = std::collections::HashSet::new();
    names.into_iter().find(|&name| !seen.insert(name))
}
