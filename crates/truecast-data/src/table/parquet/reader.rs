//! Reads Parquet, a page of each column at a time.

use std::fs::{self, File};
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::cells::append;
use super::kind::Kind;
use super::{BROKEN, failed, twice};
use crate::error::{Error, Result};
use crate::source::{Position, Source};
use crate::table::{Batch, TableReader};

const MAGIC: &[u8] = b"PAR1";

/// Reads Parquet.
pub struct ParquetReader {
    file: String,
    names: Vec<String>,
    kinds: Vec<Kind>,
    reader: Box<dyn FileReader>,
    /// The row group that is next.
    group: usize,
    /// The columns of the row group that is being read.
    chunks: Vec<ColumnReader>,
    /// Rows of it that were not read yet.
    left: usize,
    /// Rows read in all.
    row: u64,
    progress: Progress,
}

impl std::fmt::Debug for ParquetReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetReader")
            .field("file", &self.file)
            .field("names", &self.names)
            .field("row", &self.row)
            .finish_non_exhaustive()
    }
}

impl ParquetReader {
    /// Opens a file by its path; what has no end to begin from is read into memory first, because the index is there.
    pub fn open(path: &Path, source: Source) -> Result<Self> {
        let Source { name: file, mut reader, position, size } = source;
        let (reader, size) = match seekable(path).map_err(Error::io(&file))? {
            Some(on_disk) => {
                let size = on_disk.metadata().map_err(Error::io(&file))?.len();
                (index(&file, on_disk, size)?, size)
            }
            None => {
                let mut bytes = Vec::new();
                reader.read_to_end(&mut bytes).map_err(Error::io(&file))?;
                let length = bytes.len() as u64;
                (index(&file, Bytes::from(bytes), length)?, size.unwrap_or_else(|| position.get()))
            }
        };
        position.set(0);
        let schema = reader.metadata().file_metadata().schema_descr();
        let (mut names, mut kinds) = (Vec::new(), Vec::new());
        for column in schema.columns() {
            let (name, kind) = flat(&file, column)?;
            names.push(name);
            kinds.push(kind);
        }
        if let Some(name) = twice(names.iter().map(String::as_str)) {
            return Err(Error::file(&file, format!("two columns are named {name:?}"), "rename one of them"));
        }
        let progress = Progress::new(reader.as_ref(), position, size);
        Ok(ParquetReader {
            file,
            names,
            kinds,
            reader,
            group: 0,
            chunks: Vec::new(),
            left: 0,
            row: 0,
            progress,
        })
    }

    /// Opens the next row group that has rows; false after the last.
    fn next_group(&mut self) -> Result<bool, ParquetError> {
        // Rows without cells are none: what they would cost nobody could bound.
        while self.left == 0 && self.group < self.reader.num_row_groups() && !self.names.is_empty() {
            let group = self.reader.get_row_group(self.group)?;
            self.left = usize::try_from(group.metadata().num_rows())?;
            self.chunks =
                (0..self.names.len()).map(|k| group.get_column_reader(k)).collect::<Result<_, _>>()?;
            self.group += 1;
        }
        Ok(self.left > 0)
    }

    fn read_rows(&mut self, rows: usize) -> Result<Batch> {
        let mut batch =
            Batch { columns: self.kinds.iter().map(|kind| kind.empty()).collect(), ..Batch::default() };
        while batch.rows() < rows && self.next_group().map_err(|error| failed(&self.file, error, BROKEN))? {
            let now = self.left.min(rows - batch.rows());
            for (k, (chunk, column)) in self.chunks.iter_mut().zip(&mut batch.columns).enumerate() {
                append(self.kinds[k], chunk, now, column)
                    .map_err(|trouble| trouble.told(&self.file, &self.names[k], self.row))?;
            }
            batch.lines.extend(self.row + 1..=self.row + now as u64);
            self.row += now as u64;
            self.left -= now;
            self.progress.show(self.group, self.left);
        }
        Ok(batch)
    }
}

impl TableReader for ParquetReader {
    fn file(&self) -> &str {
        &self.file
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn read(&mut self, rows: usize) -> Result<Option<Batch>> {
        // A damaged page can break an assertion of the decoder. Nothing that it held is used again: an error ends the table.
        let read = catch_unwind(AssertUnwindSafe(|| self.read_rows(rows)))
            .unwrap_or_else(|_| Err(Error::file(&self.file, "a page cannot be decoded", BROKEN)));
        if read.is_err() {
            self.chunks.clear();
            (self.group, self.left) = (self.reader.num_row_groups(), 0);
        }
        read.map(|batch| (batch.rows() > 0).then_some(batch))
    }

    fn position(&self) -> u64 {
        self.progress.position.get()
    }
}

/// Bytes of the file that the rows read so far take.
struct Progress {
    position: Position,
    /// Bytes in all, as they are stored.
    size: u64,
    /// Rows of each row group, and its bytes with those of the groups before it.
    groups: Vec<(u64, u64)>,
}

impl Progress {
    fn new(reader: &dyn FileReader, position: Position, size: u64) -> Self {
        let mut bytes = 0u64;
        let groups = reader.metadata().row_groups().iter().map(|group| {
            bytes = bytes.saturating_add(group.compressed_size().max(0).unsigned_abs());
            (group.num_rows().max(0).unsigned_abs(), bytes)
        });
        Progress { position, size, groups: groups.collect() }
    }

    /// So many groups were opened, and so many rows of the last of them are left.
    fn show(&self, opened: usize, left: usize) {
        let (rows, through) = self.groups[opened - 1];
        let before = if opened > 1 { self.groups[opened - 2].1 } else { 0 };
        let all = self.groups.last().map_or(0, |group| group.1);
        let part = (through - before) as f64 * (1.0 - left as f64 / rows.max(1) as f64);
        // The index and what lies between the groups are spread over them, so that the last row is the file's end; a file
        // whose index names no bytes moves at its end only.
        let share = if all > 0 { (before as f64 + part) / all as f64 } else { 0.0 };
        let done = opened == self.groups.len() && left == 0;
        self.position.set(if done { self.size } else { (share * self.size as f64) as u64 });
    }
}

/// The file, if it can be read from its end as it is.
fn seekable(path: &Path) -> std::io::Result<Option<File>> {
    // A pipe must not be opened twice: what the first reader took would be lost.
    if path == Path::new("-") || !fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(None);
    }
    let mut head = Vec::new();
    File::open(path)?.take(2).read_to_end(&mut head)?;
    if head == [0x1f, 0x8b] { Ok(None) } else { File::open(path).map(Some) }
}

/// Reads the index at the end.
fn index<R: ChunkReader + 'static>(file: &str, input: R, size: u64) -> Result<Box<dyn FileReader>> {
    if size == 0 {
        return Err(Error::file(file, "the file is empty", "even a table without rows has a schema"));
    }
    let ends = |start| input.get_bytes(start, MAGIC.len()).map_err(|error| failed(file, error, BROKEN));
    if size < 4 || ends(0)? != MAGIC {
        let hint = "name the format that it is in: csv or ndjson";
        return Err(Error::file(file, "this is not a Parquet file: it does not begin with PAR1", hint));
    }
    match &*ends(size - 4)? {
        b"PARE" => return Err(Error::file(file, "the file is encrypted", "write it without encryption")),
        // Twelve bytes: the magic twice and the index's length.
        MAGIC if size >= 12 => {}
        _ => {
            let problem = "the file is cut short: it does not end with PAR1";
            return Err(Error::file(file, problem, "write or copy it again"));
        }
    }
    let reader = SerializedFileReader::new(input).map_err(|error| failed(file, error, BROKEN))?;
    check_chunks(file, &reader, size)?;
    Ok(Box::new(reader))
}

/// The name of a column and how it is read, if it has one cell in each row.
fn flat(file: &str, column: &ColumnDescriptor) -> Result<(String, Kind)> {
    let path = column.path().parts();
    if path.len() != 1 || column.max_rep_level() > 0 {
        let name = path.first().map_or("", String::as_str);
        let problem = format!("the column {name:?} is nested: its cells hold lists or structures");
        let hint =
            "drop it, or spread it over plain columns (polars: explode, unnest; pandas: json_normalize)";
        return Err(Error::file(file, problem, hint));
    }
    let kind = Kind::of(column).ok_or_else(|| {
        let meaning = match column.logical_type_ref() {
            Some(logical) => format!(" ({logical:?})"),
            None => String::new(),
        };
        let problem = format!(
            "the column {:?} is of the type {}{meaning}, which is not read",
            path[0],
            column.physical_type()
        );
        Error::file(file, problem, "drop it, or write it as numbers, text, dates or timestamps")
    })?;
    Ok((path[0].clone(), kind))
}

/// What the index says of each column must lie within the file, and be compressed as we can read.
fn check_chunks(file: &str, reader: &dyn FileReader, length: u64) -> Result<()> {
    for column in reader.metadata().row_groups().iter().flat_map(|group| group.columns()) {
        let name = column.column_path().string();
        if let codec @ (Compression::BROTLI(_) | Compression::LZO) = column.compression() {
            let problem = format!("the column {name:?} is compressed with {codec}, which is not read");
            return Err(Error::file(file, problem, "write it with zstd, snappy, lz4 or gzip"));
        }
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let end = u64::try_from(start).ok().zip(u64::try_from(column.compressed_size()).ok());
        if end.and_then(|(start, size)| start.checked_add(size)).is_none_or(|end| end > length) {
            return Err(Error::file(file, format!("the column {name:?} lies outside the file"), BROKEN));
        }
    }
    Ok(())
}
