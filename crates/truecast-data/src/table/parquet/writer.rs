//! Writes Parquet, one row group at a time.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{
    Compression, LogicalType, Repetition, TimeUnit as ParquetUnit, Type as Physical, ZstdLevel,
};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};

use super::{failed, twice};
use crate::error::{Error, Result};
use crate::output::Sink;
use crate::table::column::{Clock, Column, TimeUnit};
use crate::table::{Sheet, SheetColumn, TableWriter};

/// Rows of a row group: enough that what is said once for each is small beside them.
const GROUP_ROWS: usize = 131_072;
/// Cells of a row group: a table of many hundred columns has fewer rows in each, so that a group stays near 128 MiB.
const GROUP_CELLS: usize = 1 << 24;

/// Writes Parquet: every column may have missing cells, and a row group is held until it is full.
pub struct ParquetWriter<W: Sink> {
    file: String,
    /// Until the first sheet tells the columns.
    output: Option<W>,
    open: Option<Open<W>>,
}

struct Open<W: Sink> {
    writer: SerializedFileWriter<W>,
    columns: Vec<(String, Cells)>,
    /// Rows that are held.
    rows: usize,
    /// Rows that make a row group.
    full: usize,
}

impl<W: Sink> std::fmt::Debug for ParquetWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetWriter").field("file", &self.file).finish_non_exhaustive()
    }
}

impl<W: Sink> ParquetWriter<W> {
    /// Writes to `output`, which `file` names in messages.
    pub fn new(output: W, file: &str) -> Self {
        ParquetWriter { file: file.to_owned(), output: Some(output), open: None }
    }

    /// The open file; the first sheet opens it with its columns, and those after it must have the same.
    fn opened(&mut self, sheet: &Sheet) -> Result<&mut Open<W>> {
        if let Some(output) = self.output.take() {
            if let Some(name) = twice(sheet.columns.iter().map(|(name, _)| name.as_str())) {
                let problem = format!("two columns are named {name:?}");
                return Err(Error::file(&self.file, problem, "rename one of them"));
            }
            let columns = sheet.columns.iter().map(|(name, column)| (name.clone(), Cells::of(column)));
            let open = Open::new(output, columns.collect()).map_err(|error| failed(&self.file, error, ""))?;
            self.open = Some(open);
        }
        let Some(open) = &mut self.open else {
            return Err(Error::file(&self.file, "writing has failed before", ""));
        };
        open.check(&self.file, sheet)?;
        Ok(open)
    }
}

impl<W: Sink> TableWriter for ParquetWriter<W> {
    fn write(&mut self, sheet: &Sheet) -> Result<()> {
        let file = self.file.clone();
        let open = self.opened(sheet)?;
        let mut rows = sheet.rows.as_slice();
        while !rows.is_empty() {
            let (now, later) = rows.split_at(rows.len().min(open.full - open.rows));
            for ((name, held), (_, column)) in open.columns.iter_mut().zip(&sheet.columns) {
                if !held.extend(column, now) {
                    let problem = format!("the column {name:?} holds text that is not valid UTF-8");
                    return Err(Error::file(&file, problem, "convert the input with iconv"));
                }
            }
            open.rows += now.len();
            rows = later;
            if open.rows == open.full {
                open.flush().map_err(|error| failed(&file, error, ""))?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        if self.output.is_some() {
            // No sheet came: a table without columns.
            self.opened(&Sheet::default())?;
        }
        let Some(mut open) = self.open.take() else {
            return Err(Error::file(&self.file, "writing has failed before", ""));
        };
        let finished = open.flush().and_then(|()| open.writer.into_inner());
        let mut output = finished.map_err(|error| failed(&self.file, error, ""))?;
        output.finish().map_err(Error::io(&self.file))
    }
}

impl<W: Sink> Open<W> {
    fn new(output: W, columns: Vec<(String, Cells)>) -> Result<Self, ParquetError> {
        let mut properties = WriterProperties::builder()
            .set_created_by(format!("truecast {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::ZSTD(ZstdLevel::default()));
        let mut fields = Vec::with_capacity(columns.len());
        for (name, cells) in &columns {
            let (physical, logical) = cells.stored();
            if physical == Physical::DOUBLE {
                // Numbers that were computed hardly ever repeat: a dictionary of them is built in vain.
                properties =
                    properties.set_column_dictionary_enabled(ColumnPath::new(vec![name.clone()]), false);
            }
            let field = Type::primitive_type_builder(name, physical)
                .with_repetition(Repetition::OPTIONAL)
                .with_logical_type(logical)
                .build()?;
            fields.push(Arc::new(field));
        }
        let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
        let writer = SerializedFileWriter::new(output, schema, Arc::new(properties.build()))?;
        let full = (GROUP_CELLS / columns.len().max(1)).clamp(1, GROUP_ROWS);
        Ok(Open { writer, columns, rows: 0, full })
    }

    fn check(&self, file: &str, sheet: &Sheet) -> Result<()> {
        let same = self.columns.len() == sheet.columns.len();
        if !same || self.columns.iter().zip(&sheet.columns).any(|((held, _), (name, _))| held != name) {
            let mut names = sheet.columns.iter().map(|(name, _)| name);
            let new = names.find(|&name| self.columns.iter().all(|(held, _)| held != name));
            let problem = match new {
                Some(name) => format!("the field {name:?} appears after the header was written"),
                None => "a field is missing or in another place after the header was written".to_owned(),
            };
            return Err(Error::file(file, problem, "write NDJSON instead, where every row names its fields"));
        }
        for ((name, held), (_, column)) in self.columns.iter().zip(&sheet.columns) {
            if held.stored() != Cells::of(column).stored() {
                let problem = format!("the field {name:?} is of another type than in the rows before");
                return Err(Error::file(
                    file,
                    problem,
                    "write CSV or NDJSON instead, where every cell may differ",
                ));
            }
        }
        Ok(())
    }

    /// Writes the rows that are held as a row group.
    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 || self.columns.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for (_, held) in &mut self.columns {
            held.write(&mut group)?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

/// Values without the missing ones, and for each cell 1 if it has a value and 0 if not.
struct Held<T> {
    levels: Vec<i16>,
    values: Vec<T>,
}

impl<T> Default for Held<T> {
    fn default() -> Self {
        Held { levels: Vec::new(), values: Vec::new() }
    }
}

impl<T> Held<T> {
    fn extend(&mut self, cells: impl Iterator<Item = Option<T>>) {
        for cell in cells {
            self.levels.push(i16::from(cell.is_some()));
            self.values.extend(cell);
        }
    }

    fn write<D, W>(&mut self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<(), ParquetError>
    where
        D: DataType<T = T>,
        W: Sink,
    {
        write_column::<D, W>(group, &self.levels, &self.values)?;
        self.levels.clear();
        self.values.clear();
        Ok(())
    }
}

fn write_column<D: DataType, W: Sink>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    levels: &[i16],
    values: &[D::T],
) -> Result<(), ParquetError> {
    let mut column = group
        .next_column()?
        .ok_or_else(|| ParquetError::General("the schema has fewer columns than the sheet".into()))?;
    column.typed::<D>().write_batch(values, Some(levels), None)?;
    column.close()
}

/// Cells of one column that wait for their row group.
enum Cells {
    Real(Held<f64>),
    Integer(Held<i64>),
    Boolean(Held<bool>),
    Date(Held<i32>),
    Timestamp(Clock, Held<i64>),
    /// Where each text ends in the bytes.
    Text(Held<usize>, Vec<u8>),
}

impl Cells {
    fn of(column: &SheetColumn) -> Self {
        match column {
            SheetColumn::Numbers(_)
            | SheetColumn::Mixed(..)
            | SheetColumn::Numeric(_)
            | SheetColumn::Cells(Column::Real(_)) => Cells::Real(Held::default()),
            SheetColumn::Cells(Column::Integer(_)) => Cells::Integer(Held::default()),
            SheetColumn::Cells(Column::Boolean(_)) => Cells::Boolean(Held::default()),
            SheetColumn::Cells(Column::Date(_)) => Cells::Date(Held::default()),
            SheetColumn::Cells(Column::Timestamp(clock, _)) => Cells::Timestamp(*clock, Held::default()),
            SheetColumn::Cells(Column::Text(_) | Column::Json(_)) => Cells::Text(Held::default(), Vec::new()),
        }
    }

    fn stored(&self) -> (Physical, Option<LogicalType>) {
        match self {
            Cells::Real(_) => (Physical::DOUBLE, None),
            Cells::Integer(_) => (Physical::INT64, None),
            Cells::Boolean(_) => (Physical::BOOLEAN, None),
            Cells::Date(_) => (Physical::INT32, Some(LogicalType::Date)),
            Cells::Timestamp(clock, _) => {
                let unit = match clock.unit {
                    TimeUnit::Milliseconds => ParquetUnit::MILLIS,
                    TimeUnit::Microseconds => ParquetUnit::MICROS,
                    TimeUnit::Nanoseconds => ParquetUnit::NANOS,
                };
                (Physical::INT64, Some(LogicalType::timestamp(clock.is_utc, unit)))
            }
            Cells::Text(..) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        }
    }

    /// Adds some rows of a column of the same type; false if their text is not valid UTF-8.
    fn extend(&mut self, column: &SheetColumn, rows: &[u32]) -> bool {
        let rows = rows.iter().map(|&row| row as usize);
        match (self, column) {
            (Cells::Real(held), SheetColumn::Numbers(numbers)) => {
                held.extend(rows.map(|row| Some(numbers[row]).filter(|number| !number.is_nan())));
            }
            (Cells::Real(held), SheetColumn::Mixed(cells, numbers)) => {
                let known = |row: usize| cells.number(row).ok().flatten();
                let number = |row: usize| numbers[row].or_else(|| known(row)).filter(|x| !x.is_nan());
                held.extend(rows.map(number));
            }
            (Cells::Real(held), SheetColumn::Numeric(cells)) => {
                held.extend(rows.map(|row| cells.number(row).ok().flatten()));
            }
            (Cells::Real(held), SheetColumn::Cells(Column::Real(cells))) => {
                held.extend(rows.map(|row| cells[row]));
            }
            (Cells::Integer(held), SheetColumn::Cells(Column::Integer(cells)))
            | (Cells::Timestamp(_, held), SheetColumn::Cells(Column::Timestamp(_, cells))) => {
                held.extend(rows.map(|row| cells[row]));
            }
            (Cells::Boolean(held), SheetColumn::Cells(Column::Boolean(cells))) => {
                held.extend(rows.map(|row| cells[row]));
            }
            (Cells::Date(held), SheetColumn::Cells(Column::Date(cells))) => {
                held.extend(rows.map(|row| cells[row]));
            }
            (Cells::Text(held, bytes), SheetColumn::Cells(cells)) => {
                for row in rows {
                    let text = cells.text(row);
                    if std::str::from_utf8(&text).is_err() {
                        return false;
                    }
                    bytes.extend_from_slice(&text);
                    held.extend(std::iter::once((!text.is_empty()).then_some(bytes.len())));
                }
            }
            // The sheet was compared with the schema before.
            _ => debug_assert!(false, "a column of another type"),
        }
        true
    }

    /// Writes the next column of a row group, and forgets the cells.
    fn write<W: Sink>(&mut self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<(), ParquetError> {
        match self {
            Cells::Real(held) => held.write::<DoubleType, W>(group),
            Cells::Integer(held) | Cells::Timestamp(_, held) => held.write::<Int64Type, W>(group),
            Cells::Boolean(held) => held.write::<BoolType, W>(group),
            Cells::Date(held) => held.write::<Int32Type, W>(group),
            Cells::Text(held, bytes) => {
                let (bytes, mut start) = (Bytes::from(std::mem::take(bytes)), 0);
                let slice =
                    |&end: &usize| ByteArray::from(bytes.slice(std::mem::replace(&mut start, end)..end));
                let values: Vec<ByteArray> = held.values.iter().map(slice).collect();
                write_column::<ByteArrayType, W>(group, &held.levels, &values)?;
                held.levels.clear();
                held.values.clear();
                Ok(())
            }
        }
    }
}
