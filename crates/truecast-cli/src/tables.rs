//! The input: one file, several, or the folders that hold them, as one table.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use truecast_data::table::Batch;
use truecast_data::{Error as DataError, Format, Opened, open};
use truecast_events::{Outcomes, Piece};

use crate::failure::Result;

/// Files with the same columns, read one after the other.
#[derive(Debug)]
pub(crate) struct Tables {
    opened: Opened,
    file: Arc<str>,
    rest: std::vec::IntoIter<PathBuf>,
    how: (Option<Format>, Option<u8>),
    /// What all of them are called.
    pub(crate) name: String,
    /// The format of the first.
    pub(crate) format: Format,
    /// What separates its cells.
    pub(crate) separator: Option<u8>,
    /// Bytes in all, where that is known and there is one file.
    pub(crate) size: Option<u64>,
}

impl Tables {
    /// Opens the first file, which reads its beginning. A folder stands for the tables in it, by name.
    pub(crate) fn open(paths: &[PathBuf], format: Option<Format>, separator: Option<u8>) -> Result<Self> {
        let mut files = Vec::new();
        for path in paths {
            if path.is_dir() {
                files.extend(in_folder(path)?);
            } else {
                files.push(path.clone());
            }
        }
        let count = files.len();
        let mut files = files.into_iter();
        let first = files.next().unwrap_or_else(|| PathBuf::from("-"));
        let opened = open(&first, format, separator)?;
        let file: Arc<str> = opened.reader.file().into();
        let name = if count == 1 { file.to_string() } else { format!("{file} and {} more", count - 1) };
        let (size, how) = (opened.size.filter(|_| count == 1), (format, separator));
        let (format, separator) = (opened.format, opened.separator);
        Ok(Tables { opened, file, rest: files, how, name, format, separator, size })
    }

    /// What the present file is called.
    pub(crate) fn file(&self) -> Arc<str> {
        Arc::clone(&self.file)
    }

    /// The columns.
    pub(crate) fn names(&self) -> &[String] {
        self.opened.reader.names()
    }

    /// Bytes of the present file that were read.
    pub(crate) fn position(&self) -> u64 {
        self.opened.reader.position()
    }

    /// The next rows of a file, then of the one after it.
    pub(crate) fn read(&mut self, rows: usize) -> Result<Option<Batch>, DataError> {
        loop {
            if let Some(batch) = self.opened.reader.read(rows)? {
                return Ok(Some(batch));
            }
            let Some(next) = self.rest.next() else { return Ok(None) };
            let opened = open(&next, self.how.0, self.how.1)?;
            if opened.reader.names() != self.names() {
                let problem = format!(
                    "its columns are {}, and those of {} are {}",
                    opened.reader.names().join(", "),
                    self.file,
                    self.names().join(", ")
                );
                return Err(DataError::file(
                    opened.reader.file(),
                    problem,
                    "files that are read together have the same columns",
                ));
            }
            self.file = opened.reader.file().into();
            self.opened = opened;
        }
    }
}

fn in_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let name = folder.display().to_string();
    let entries = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>());
    let entries = entries.map_err(|source| DataError::Io { file: name.clone(), source })?;
    let mut files: Vec<PathBuf> =
        entries.into_iter().filter(|path| path.is_file() && Format::of_name(path).is_some()).collect();
    files.sort();
    if files.is_empty() {
        return Err(DataError::file(
            &name,
            "there is no table in this folder",
            "name a file, or a folder with CSV, NDJSON or Parquet files",
        )
        .into());
    }
    Ok(files)
}

/// Reads outcomes from a file, or from those in a folder.
pub(crate) fn outcomes(path: &Path) -> Result<Outcomes<Batch>> {
    let mut tables = Tables::open(&[path.to_owned()], None, None)?;
    let file = tables.name.clone();
    let mut pieces = Vec::new();
    while let Some(mut batch) = tables.read(1 << 14)? {
        if let Some(broken) = batch.broken.pop() {
            return Err(DataError::from(broken).into());
        }
        pieces.push(Piece::new(tables.file(), batch));
    }
    Ok(Outcomes { file, names: tables.names().to_vec(), pieces })
}
