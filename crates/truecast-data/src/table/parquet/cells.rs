//! The cells of one column, from one page after another.

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;

use super::kind::{self, Kind};
use super::{BROKEN, failed};
use crate::error::{Error, Result, RowError};
use crate::table::column::Column;

/// Why cells could not be read.
pub(super) enum Trouble {
    Parquet(ParquetError),
    /// The column has fewer rows than its row group.
    Short,
    /// A cell, by its place among those asked for.
    Cell(usize, Refused),
}

pub(super) struct Refused {
    value: Option<String>,
    rule: &'static str,
    hint: &'static str,
}

impl Trouble {
    /// With file, column and row; `before` rows came before those asked for.
    pub(super) fn told(self, file: &str, column: &str, before: u64) -> Error {
        match self {
            Trouble::Parquet(ParquetError::External(inner)) if inner.is::<std::io::Error>() => {
                failed(file, ParquetError::External(inner), "")
            }
            Trouble::Parquet(error) => match failed(file, error, BROKEN) {
                Error::File { problem, .. } => {
                    Error::file(file, format!("the column {column:?} cannot be read: {problem}"), BROKEN)
                }
                other => other,
            },
            Trouble::Short => {
                Error::file(file, format!("the column {column:?} has fewer rows than its row group"), BROKEN)
            }
            Trouble::Cell(at, Refused { value, rule, hint }) => RowError {
                file: file.to_owned(),
                line: before + at as u64 + 1,
                column: Some(column.to_owned()),
                value,
                rule: rule.to_owned(),
                hint: hint.to_owned(),
            }
            .into(),
        }
    }
}

/// Adds the next rows of a column.
pub(super) fn append(
    kind: Kind,
    chunk: &mut ColumnReader,
    rows: usize,
    column: &mut Column,
) -> Result<(), Trouble> {
    use ColumnReader as R;
    match (kind, chunk, column) {
        (Kind::Real, R::DoubleColumnReader(chunk), Column::Real(cells)) => fill(chunk, rows, cells, Ok),
        (Kind::Real, R::FloatColumnReader(chunk), Column::Real(cells)) => {
            fill(chunk, rows, cells, |value| Ok(f64::from(value)))
        }
        (Kind::Integer, R::Int32ColumnReader(chunk), Column::Integer(cells)) => {
            fill(chunk, rows, cells, |value| Ok(i64::from(value)))
        }
        (Kind::Integer, R::Int64ColumnReader(chunk), Column::Integer(cells))
        | (Kind::Timestamp(_), R::Int64ColumnReader(chunk), Column::Timestamp(_, cells)) => {
            fill(chunk, rows, cells, Ok)
        }
        (Kind::Unsigned, R::Int32ColumnReader(chunk), Column::Integer(cells)) => {
            fill(chunk, rows, cells, |value| Ok(i64::from(value.cast_unsigned())))
        }
        (Kind::Unsigned, R::Int64ColumnReader(chunk), Column::Integer(cells)) => {
            fill(chunk, rows, cells, |value| match value {
                0.. => Ok(value),
                _ => Err(Refused {
                    value: Some(value.cast_unsigned().to_string()),
                    rule: "whole numbers end at 9223372036854775807",
                    hint: "write the column as text or as real numbers",
                }),
            })
        }
        (Kind::Boolean, R::BoolColumnReader(chunk), Column::Boolean(cells)) => fill(chunk, rows, cells, Ok),
        (Kind::Date, R::Int32ColumnReader(chunk), Column::Date(cells)) => fill(chunk, rows, cells, Ok),
        (Kind::Julian, R::Int96ColumnReader(chunk), Column::Timestamp(_, cells)) => {
            fill(chunk, rows, cells, |value| {
                kind::julian(value.data()).ok_or(Refused {
                    value: None,
                    rule: "timestamps of 96 bits are read from 1677 to 2262",
                    hint: "write the column as a timestamp of 64 bits",
                })
            })
        }
        (Kind::Decimal(scale), R::Int32ColumnReader(chunk), Column::Real(cells)) => {
            fill(chunk, rows, cells, |value| decimal(Some(i128::from(value)), scale))
        }
        (Kind::Decimal(scale), R::Int64ColumnReader(chunk), Column::Real(cells)) => {
            fill(chunk, rows, cells, |value| decimal(Some(i128::from(value)), scale))
        }
        (Kind::Decimal(scale), R::ByteArrayColumnReader(chunk), Column::Real(cells)) => {
            fill(chunk, rows, cells, |value| decimal(kind::big_endian(value.data()), scale))
        }
        (Kind::Decimal(scale), R::FixedLenByteArrayColumnReader(chunk), Column::Real(cells)) => {
            fill(chunk, rows, cells, |value| decimal(kind::big_endian(value.data()), scale))
        }
        (Kind::Text, R::ByteArrayColumnReader(chunk), Column::Text(cells)) => take(chunk, rows, |value| {
            let bytes = value.as_ref().map_or(&[][..], |value| value.data());
            cells.push(
                std::str::from_utf8(bytes)
                    .map_err(|_| Refused {
                        value: Some(String::from_utf8_lossy(bytes).into_owned()),
                        rule: "text must be valid UTF-8",
                        hint: "drop the column, or write it as text",
                    })?
                    .as_bytes(),
            );
            Ok(())
        }),
        // The kind was taken from the same schema as the reader and the column.
        _ => Err(Trouble::Parquet(ParquetError::General("the row group has another type".into()))),
    }
}

fn decimal(digits: Option<i128>, scale: i32) -> Result<f64, Refused> {
    digits.and_then(|digits| kind::decimal(digits, scale)).ok_or(Refused {
        value: None,
        rule: "decimal numbers are read up to 38 digits",
        hint: "write the column as real numbers",
    })
}

/// Adds the next rows to typed cells.
fn fill<T: DataType, C>(
    chunk: &mut ColumnReaderImpl<T>,
    rows: usize,
    cells: &mut Vec<Option<C>>,
    convert: impl Fn(T::T) -> Result<C, Refused>,
) -> Result<(), Trouble> {
    take(chunk, rows, |value| {
        cells.push(value.map(&convert).transpose()?);
        Ok(())
    })
}

/// Gives the next rows, one by one.
fn take<T: DataType>(
    chunk: &mut ColumnReaderImpl<T>,
    rows: usize,
    mut put: impl FnMut(Option<T::T>) -> Result<(), Refused>,
) -> Result<(), Trouble> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let read = chunk.read_records(rows, Some(&mut levels), None, &mut values).map_err(Trouble::Parquet)?;
    if read.0 < rows {
        return Err(Trouble::Short);
    }
    // A column that is never missing has no levels; elsewhere 1 is a value and 0 is none.
    let mut values = values.into_iter();
    for row in 0..rows {
        let present = levels.get(row).is_none_or(|&level| level > 0);
        let value = if present { values.next() } else { None };
        put(value).map_err(|refused| Trouble::Cell(row, refused))?;
    }
    Ok(())
}
