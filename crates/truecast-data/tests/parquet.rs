//! What we write reads back, whatever the batches; broken files are told.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::Int64Type;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use truecast_data::source::Source;
use truecast_data::table::{
    Batch, Clock, Column, ParquetReader, ParquetWriter, Sheet, SheetColumn, TableReader, TableWriter, Text,
    TimeUnit,
};
use truecast_data::{Result, open};

const NOON: i64 = 1_794_830_400_500;

fn text(cells: &[&str]) -> Column {
    Column::Text(cells.iter().map(|cell| cell.as_bytes()).collect())
}

fn write(sheets: &[Sheet]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut writer = ParquetWriter::new(&mut bytes, "o.parquet");
    sheets.iter().try_for_each(|sheet| writer.write(sheet))?;
    Box::new(writer).finish()?;
    Ok(bytes)
}

/// From memory: the path is that of standard input.
fn reader(bytes: &[u8]) -> Result<ParquetReader> {
    ParquetReader::open(Path::new("-"), Source::from_bytes("t.parquet", bytes.to_vec()))
}

/// All rows, in batches of `rows`, put together.
fn read(reader: &mut dyn TableReader, rows: usize) -> Result<(Vec<String>, Batch)> {
    let mut all = reader.read(rows)?.unwrap_or_default();
    while let Some(batch) = reader.read(rows)? {
        assert!((1..=rows).contains(&batch.rows()));
        all.lines.extend(&batch.lines);
        for (column, more) in all.columns.iter_mut().zip(batch.columns) {
            match (column, more) {
                (Column::Text(cells), Column::Text(more)) => {
                    (0..more.len()).for_each(|row| cells.push(more.get(row)));
                }
                (Column::Real(cells), Column::Real(more)) => cells.extend(more),
                (Column::Integer(cells), Column::Integer(more)) => cells.extend(more),
                (Column::Boolean(cells), Column::Boolean(more)) => cells.extend(more),
                (Column::Date(cells), Column::Date(more)) => cells.extend(more),
                (Column::Timestamp(_, cells), Column::Timestamp(_, more)) => cells.extend(more),
                (column, more) => assert_eq!(*column, more, "a column of one type goes on as another"),
            }
        }
    }
    Ok((reader.names().to_vec(), all))
}

fn sheet(columns: Vec<(&str, SheetColumn)>, rows: Vec<u32>) -> Sheet {
    Sheet { columns: columns.into_iter().map(|(name, column)| (name.to_owned(), column)).collect(), rows }
}

#[test]
fn every_type_reads_back_with_its_missing_cells() {
    let columns = vec![
        ("text", text(&["a", "", "ü,\"\n"])),
        ("real", Column::Real(vec![Some(0.1), None, Some(f64::NEG_INFINITY)])),
        ("integer", Column::Integer(vec![Some(i64::MIN), None, Some(i64::MAX)])),
        ("boolean", Column::Boolean(vec![Some(true), None, Some(false)])),
        ("date", Column::Date(vec![Some(20_773), None, Some(-1)])),
        ("ms", Column::Timestamp(Clock::local(TimeUnit::Milliseconds), vec![Some(NOON), None, Some(-1)])),
        (
            "us",
            Column::Timestamp(Clock::local(TimeUnit::Microseconds), vec![Some(NOON * 1_000), None, Some(-1)]),
        ),
        (
            "ns",
            Column::Timestamp(
                Clock::local(TimeUnit::Nanoseconds),
                vec![Some(NOON * 1_000_000), None, Some(-1)],
            ),
        ),
        (
            "utc",
            Column::Timestamp(Clock::utc(TimeUnit::Microseconds), vec![Some(NOON * 1_000), None, Some(-1)]),
        ),
        ("dotted.name", Column::Real(vec![None; 3])),
    ];
    let cells = columns.iter().map(|(name, column)| (*name, SheetColumn::Cells(column.clone())));
    let bytes = write(&[sheet(cells.collect(), vec![0, 1, 2])]).unwrap();
    let (names, batch) = read(&mut reader(&bytes).unwrap(), 100).unwrap();
    assert_eq!(names, columns.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    assert_eq!(batch.lines, [1, 2, 3]);
    for ((name, expected), found) in columns.iter().zip(&batch.columns) {
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn computed_numbers_and_json_become_columns_and_rows_are_selected() {
    let json: Text = [&b"\"a\""[..], b"null", b"", b"1.5"].into_iter().collect();
    let columns = vec![
        ("m", SheetColumn::Numbers(vec![1.0, f64::NAN, 3.0, 4.0])),
        ("j", SheetColumn::Cells(Column::Json(json))),
    ];
    let all = sheet(columns.clone(), vec![0, 1, 2, 3]);
    let some = sheet(columns, vec![3, 0]);
    let bytes = write(&[all, some]).unwrap();
    let (_, batch) = read(&mut reader(&bytes).unwrap(), 4).unwrap();
    assert_eq!(batch.lines, [1, 2, 3, 4, 5, 6]);
    let expected = Column::Real(vec![Some(1.0), None, Some(3.0), Some(4.0), Some(4.0), Some(1.0)]);
    assert_eq!(batch.columns, [expected, text(&["a", "", "", "1.5", "1.5", "a"])]);
    assert!(String::from_utf8_lossy(&bytes).contains("truecast 0."));
}

#[test]
fn row_groups_follow_one_another() {
    // 300,000 rows are three row groups of at most 131,072; the sheets end elsewhere.
    let number = |row: u32| if row.is_multiple_of(3) { f64::NAN } else { f64::from(row) / 7.0 };
    let rows: Vec<u32> = (0..300_000).collect();
    let sheets: Vec<Sheet> = rows
        .chunks(70_000)
        .map(|rows| {
            let names: Text = rows.iter().map(|row| if row % 2 == 0 { &b"even"[..] } else { b"" }).collect();
            let columns = vec![
                ("m", SheetColumn::Numbers(rows.iter().map(|&row| number(row)).collect())),
                ("s", SheetColumn::Cells(Column::Text(names))),
            ];
            sheet(columns, (0..rows.len() as u32).collect())
        })
        .collect();
    let bytes = write(&sheets).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    fs::write(&path, &bytes).unwrap();
    let mut opened = open(&path, None, None).unwrap();
    assert_eq!((opened.reader.position(), opened.size), (0, Some(bytes.len() as u64)));
    let (mut row, mut position) = (0, 0);
    while let Some(batch) = opened.reader.read(9_999).unwrap() {
        for k in 0..batch.rows() {
            assert_eq!(batch.lines[k], u64::from(row) + 1);
            assert_eq!(
                batch.columns[0].number(k).unwrap(),
                Some(number(row)).filter(|value| !value.is_nan())
            );
            assert_eq!(&*batch.columns[1].text(k), if row % 2 == 0 { &b"even"[..] } else { b"" });
            row += 1;
        }
        assert!(opened.reader.position() > position);
        position = opened.reader.position();
    }
    assert_eq!((row, position), (300_000, bytes.len() as u64));
}

#[test]
fn a_large_row_group_reads_the_same_in_small_batches() {
    const ROWS: usize = 250_000;
    let schema = parse_message_type("message m { required int64 a; optional int64 b; }").unwrap();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(
        &mut bytes,
        Arc::new(schema),
        Arc::new(WriterProperties::builder().build()),
    )
    .unwrap();
    let values: Vec<i64> = (0..ROWS as i64).map(|row| row * row % 1_009).collect();
    let levels: Vec<i16> = (0..ROWS).map(|row| i16::from(row % 4 != 1)).collect();
    let mut group = writer.next_row_group().unwrap();
    for levels in [None, Some(&levels[..])] {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&values, levels, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    let at_once = reader(&bytes).unwrap().read(usize::MAX).unwrap().unwrap();
    assert_eq!(at_once.rows(), ROWS);
    let (_, in_batches) = read(&mut reader(&bytes).unwrap(), 100).unwrap();
    assert!(in_batches == at_once);
}

#[test]
fn tables_without_rows_or_columns_are_valid() {
    let none = write(&[]).unwrap();
    let (names, batch) = read(&mut reader(&none).unwrap(), 10).unwrap();
    assert_eq!((names.len(), batch.rows()), (0, 0));
    let header = write(&[sheet(vec![("m", SheetColumn::Numbers(vec![]))], vec![])]).unwrap();
    let (names, batch) = read(&mut reader(&header).unwrap(), 10).unwrap();
    assert_eq!((names, batch.rows()), (vec!["m".to_owned()], 0));
}

#[test]
fn sheets_of_other_columns_are_refused() {
    let numbers = |name: &'static str| sheet(vec![(name, SheetColumn::Numbers(vec![1.0]))], vec![0]);
    let error = |sheets: &[Sheet]| write(sheets).unwrap_err().to_string();
    assert_eq!(
        error(&[numbers("a"), numbers("b")]),
        "o.parquet: the field \"b\" appears after the header was written\n\
         hint: write NDJSON instead, where every row names its fields"
    );
    let words = sheet(vec![("a", SheetColumn::Cells(text(&["x"])))], vec![0]);
    assert!(error(&[numbers("a"), words]).contains("the field \"a\" is of another type"));
    let cell = SheetColumn::Numbers(vec![1.0]);
    let double = sheet(vec![("a", cell.clone()), ("a", cell)], vec![0]);
    assert!(error(&[double]).contains("two columns are named \"a\""));
    let latin: Text = [&b"\xfc"[..]].into_iter().collect();
    let latin = sheet(vec![("a", SheetColumn::Cells(Column::Text(latin)))], vec![0]);
    assert!(error(&[latin]).contains("the column \"a\" holds text that is not valid UTF-8"));
}

#[test]
fn gzipped_files_are_read_through_memory() {
    let bytes = write(&[sheet(vec![("m", SheetColumn::Numbers(vec![1.5]))], vec![0])]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet.gz");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&bytes).unwrap();
    let packed = packed.finish().unwrap();
    fs::write(&path, &packed).unwrap();
    let mut opened = open(&path, None, None).unwrap();
    let (_, batch) = read(opened.reader.as_mut(), 10).unwrap();
    assert_eq!(batch.columns, [Column::Real(vec![Some(1.5)])]);
    assert_eq!((opened.reader.position(), opened.size), (packed.len() as u64, Some(packed.len() as u64)));
}

#[test]
fn broken_files_are_told() {
    let whole =
        write(&[sheet(vec![("m", SheetColumn::Numbers(vec![1.5; 100]))], (0..100).collect())]).unwrap();
    let damaged = [&b"PAR1"[..], &[0xff; 40], b"\x10\0\0\0PAR1"].concat();
    for (bytes, problem) in [
        (&[][..], "t.parquet: the file is empty"),
        (b"y,mean\n1,2\n", "t.parquet: this is not a Parquet file: it does not begin with PAR1"),
        (b"PAR", "it does not begin with PAR1"),
        (b"PAR1", "t.parquet: the file is cut short"),
        (&whole[..whole.len() / 2], "t.parquet: the file is cut short: it does not end with PAR1"),
        (&damaged, "hint: the file may be damaged"),
    ] {
        let error = reader(bytes).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn a_damaged_byte_is_an_error_or_a_value_and_never_a_panic() {
    let cells = SheetColumn::Cells(text(&["a", "", "b"]));
    let columns = vec![("m", SheetColumn::Numbers(vec![1.5, f64::NAN, 2.5])), ("s", cells)];
    let whole = write(&[sheet(columns, vec![0, 1, 2])]).unwrap();
    for at in 0..whole.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            let _ = reader(&bytes).and_then(|mut reader| read(&mut reader, 2));
        }
    }
}

proptest! {
    #[test]
    fn random_tables_read_back(
        rows in prop::collection::vec(
            (any::<Option<f64>>(), any::<Option<i64>>(), any::<Option<bool>>(), any::<Option<i32>>(), ".{0,5}"),
            1..200,
        ),
        batch in 1usize..70,
        cut in 0usize..200,
    ) {
        let columns = vec![
            ("real", Column::Real(rows.iter().map(|row| row.0).collect())),
            ("integer", Column::Integer(rows.iter().map(|row| row.1).collect())),
            ("boolean", Column::Boolean(rows.iter().map(|row| row.2).collect())),
            ("date", Column::Date(rows.iter().map(|row| row.3).collect())),
            ("time", Column::Timestamp(Clock::local(TimeUnit::Microseconds), rows.iter().map(|row| row.1).collect())),
            ("text", Column::Text(rows.iter().map(|row| row.4.as_bytes()).collect())),
        ];
        let cells = |rows| {
            let cells = columns.iter().map(|(name, column)| (*name, SheetColumn::Cells(column.clone())));
            sheet(cells.collect(), rows)
        };
        let (count, cut) = (rows.len() as u32, cut.min(rows.len()) as u32);
        let bytes = write(&[cells((0..cut).collect()), cells((cut..count).collect())]).unwrap();
        let (_, found) = read(&mut reader(&bytes).unwrap(), batch).unwrap();
        let expected: Vec<Column> = columns.into_iter().map(|(_, column)| column).collect();
        prop_assert_eq!(found.columns, expected);
    }
}
