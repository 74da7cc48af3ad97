//! Files of other implementations, written by `parquet/make.py`, read as the values written there.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::path::Path;

use truecast_data::table::{Batch, Clock, Column, TimeUnit};
use truecast_data::{Error, Result, open};

const NOON: i64 = 1_794_830_400_500;

fn read(name: &str) -> Result<(Vec<String>, Batch)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parquet").join(name);
    let mut opened = open(&path, None, None)?;
    let batch = opened.reader.read(10_000)?.unwrap();
    assert_eq!(opened.reader.read(10_000)?, None);
    Ok((opened.reader.names().to_vec(), batch))
}

fn check(file: &str, expected: &[(&str, Column)]) {
    let (names, batch) = read(file).unwrap();
    assert_eq!(names, expected.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "{file}");
    for ((name, expected), found) in expected.iter().zip(&batch.columns) {
        assert_eq!(found, expected, "{file}, {name}");
    }
}

fn text(cells: &[&str]) -> Column {
    Column::Text(cells.iter().map(|cell| cell.as_bytes()).collect())
}

/// A value, a missing one, a value.
fn reals(first: f64, last: f64) -> Column {
    Column::Real(vec![Some(first), None, Some(last)])
}

fn integers(first: i64, last: i64) -> Column {
    Column::Integer(vec![Some(first), None, Some(last)])
}

/// Noon and a half second, a missing one, the last second of 1969.
fn times(unit: TimeUnit) -> Column {
    times_by(Clock::local(unit))
}

fn times_by(clock: Clock) -> Column {
    let thousandth = clock.unit.per_second() / 1_000;
    Column::Timestamp(clock, vec![Some(NOON * thousandth), None, Some(-1_000 * thousandth)])
}

fn days() -> Column {
    Column::Date(vec![Some(20_773), None, Some(-1)])
}

#[test]
fn pandas() {
    check(
        "pandas.parquet",
        &[
            ("y", reals(1.5, -2.25)),
            ("single", Column::Real(vec![Some(0.5), Some(1.5), Some(2.5)])),
            ("count", integers(1, 3)),
            ("small", Column::Integer(vec![Some(-1), Some(0), Some(127)])),
            ("name", text(&["a", "", "ü"])),
            ("group", text(&["x", "y", "x"])),
            ("flag", Column::Boolean(vec![Some(true), None, Some(false)])),
            ("time", times(TimeUnit::Microseconds)),
            ("__index_level_0__", Column::Integer(vec![Some(10), Some(20), Some(30)])),
        ],
    );
}

#[test]
fn pyarrow() {
    let whole_second =
        Column::Timestamp(Clock::local(TimeUnit::Milliseconds), vec![Some(NOON - 500), None, Some(-1_000)]);
    check(
        "pyarrow.parquet",
        &[
            ("time_s", whole_second),
            ("time_ms", times(TimeUnit::Milliseconds)),
            ("time_us", times(TimeUnit::Microseconds)),
            ("time_ns", times(TimeUnit::Nanoseconds)),
            ("time_utc", times_by(Clock::utc(TimeUnit::Microseconds))),
            ("day", days()),
            ("decimal_32", reals(123.45, -0.01)),
            ("decimal_64", reals(123.45, -0.01)),
            ("decimal_128", reals(123.45, -0.01)),
            ("decimal_256", reals(123.45, -0.01)),
            ("u8", integers(0, 255)),
            ("u32", integers(0, 4_294_967_295)),
            ("u64", integers(0, i64::MAX)),
            ("bytes", text(&["plain", "", ""])),
            ("nothing", Column::Integer(vec![None; 3])),
        ],
    );
}

#[test]
fn pyarrow_as_it_was() {
    let expected = [("time", times(TimeUnit::Nanoseconds)), ("decimal", reals(123.45, -0.01))];
    check("old.parquet", &expected);
}

#[test]
fn polars() {
    let (_, batch) = read("polars.parquet").unwrap();
    // NaN is a value there, beside null; it is not equal to itself.
    let numbers: Vec<_> = (0..3).map(|row| batch.columns[1].number(row)).collect();
    assert_eq!(numbers, [Ok(Some(0.5)), Ok(None), Ok(Some(1.0))]);
    let expected = [
        reals(1.5, -2.25),
        text(&["a", "", "ü"]),
        days(),
        times(TimeUnit::Microseconds),
        integers(1, 3),
        Column::Boolean(vec![Some(true), None, Some(false)]),
        text(&["x", "y", "x"]),
    ];
    assert_eq!(batch.columns[0], expected[0]);
    assert_eq!(batch.columns[2..], expected[1..]);
}

#[test]
fn codecs_and_encodings() {
    let rows = 0..1_000i64;
    let choice = |k: i64| if k % 5 == 0 { "" } else { ["a", "b", "c"][k as usize % 3] };
    let series: Vec<String> = rows.clone().map(|k| format!("series-{}", k / 7)).collect();
    for file in ["none.parquet", "lz4.parquet", "gzip.parquet"] {
        check(
            file,
            &[
                ("delta", Column::Integer(rows.clone().map(|k| Some(k * k - 500)).collect())),
                ("split", Column::Real(rows.clone().map(|k| Some(k as f64 / 8.0)).collect())),
                ("prefix", text(&series.iter().map(String::as_str).collect::<Vec<_>>())),
                ("choice", text(&rows.clone().map(choice).collect::<Vec<_>>())),
            ],
        );
    }
}

#[test]
fn what_is_not_read_is_told_by_name() {
    for (file, problem) in [
        ("list.parquet", "the column \"members\" is nested"),
        ("struct.parquet", "the column \"point\" is nested"),
        ("time.parquet", "the column \"at\" is of the type INT64 (Time("),
        ("brotli.parquet", "the column \"delta\" is compressed with BROTLI"),
    ] {
        let error = read(file).unwrap_err();
        assert!(matches!(error, Error::File { .. }), "{error}");
        assert!(error.to_string().contains(problem), "{error}");
        assert!(error.to_string().contains("\nhint: "), "{error}");
    }
    for (file, problem) in [
        ("large.parquet", "line 2, column n: \"9223372036854775808\": whole numbers end at"),
        ("binary.parquet", "line 2, column b: \"\u{fffd}\": text must be valid UTF-8"),
    ] {
        let error = read(file).unwrap_err();
        assert!(error.is_row() && error.to_string().contains(problem), "{error}");
    }
}
