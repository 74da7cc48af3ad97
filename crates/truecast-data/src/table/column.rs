//! A column of a table, in the type that its file gives it.
//!
//! CSV gives text, NDJSON gives JSON tokens, Parquet gives typed values. Cells that nobody computes with pass through to the
//! output unread.

use std::borrow::Cow;
use std::ops::Range;

use super::calendar;
use super::decimal;
use super::text::Text;

/// Cells of one column.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Column {
    /// Text as it stands in the file; empty is missing.
    Text(Text),
    /// JSON tokens as they stand in the file; empty is a field that the row lacks.
    Json(Text),
    /// Numbers.
    Real(Vec<Option<f64>>),
    /// Whole numbers.
    Integer(Vec<Option<i64>>),
    /// True or false.
    Boolean(Vec<Option<bool>>),
    /// Days since 1970-01-01.
    Date(Vec<Option<i32>>),
    /// Instants, counted from 1970-01-01T00:00.
    Timestamp(Clock, Vec<Option<i64>>),
}

/// How a column counts its instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// What is counted.
    pub unit: TimeUnit,
    /// Whether it is said to be the time of UTC; else it is that of a place which is not told.
    pub is_utc: bool,
}

impl Clock {
    /// One that counts these, of UTC.
    pub fn utc(unit: TimeUnit) -> Self {
        Clock { unit, is_utc: true }
    }

    /// One that counts these, of a place that is not told.
    pub fn local(unit: TimeUnit) -> Self {
        Clock { unit, is_utc: false }
    }
}

/// What a timestamp counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Thousandths of a second.
    Milliseconds,
    /// Millionths of a second.
    Microseconds,
    /// Billionths of a second.
    Nanoseconds,
}

impl TimeUnit {
    /// How many make a second.
    pub fn per_second(self) -> i64 {
        match self {
            TimeUnit::Milliseconds => 1_000,
            TimeUnit::Microseconds => 1_000_000,
            TimeUnit::Nanoseconds => 1_000_000_000,
        }
    }
}

/// A cell that should hold a number and holds something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotANumber;

impl Column {
    /// How many cells there are.
    pub fn len(&self) -> usize {
        match self {
            Column::Text(cells) | Column::Json(cells) => cells.len(),
            Column::Real(cells) => cells.len(),
            Column::Integer(cells) => cells.len(),
            Column::Boolean(cells) => cells.len(),
            Column::Date(cells) => cells.len(),
            Column::Timestamp(_, cells) => cells.len(),
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number in a cell, or `None` where it is missing: empty, NA, NaN, null or None.
    pub fn number(&self, row: usize) -> Result<Option<f64>, NotANumber> {
        match self {
            Column::Text(cells) => parse(cells.get(row)),
            Column::Json(cells) => match cells.get(row) {
                b"" | b"null" => Ok(None),
                // Strings are not numbers, but the spellings of a missing one are strings for want of better.
                [b'"', inner @ .., b'"'] if is_missing(inner) => Ok(None),
                token => parse(token),
            },
            Column::Real(cells) => Ok(cells[row].filter(|value| !value.is_nan())),
            Column::Integer(cells) => Ok(cells[row].map(|value| value as f64)),
            Column::Boolean(_) => Err(NotANumber),
            Column::Date(cells) => Ok(cells[row].map(f64::from)),
            Column::Timestamp(clock, cells) => {
                Ok(cells[row].map(|value| value as f64 / clock.unit.per_second() as f64))
            }
        }
    }

    /// Calls `take` with the [`number`](Column::number) of each of these rows, in order.
    pub fn numbers(&self, rows: Range<usize>, mut take: impl FnMut(Result<Option<f64>, NotANumber>)) {
        match self {
            Column::Text(cells) => match cells.shared() {
                Some((grid, column)) => grid.column(column, rows).for_each(|cell| take(parse(cell))),
                None => rows.for_each(|row| take(self.number(row))),
            },
            Column::Real(cells) => {
                cells[rows].iter().for_each(|cell| take(Ok(cell.filter(|value| !value.is_nan()))));
            }
            _ => rows.for_each(|row| take(self.number(row))),
        }
    }

    /// The time in a cell, or `None` where it is missing: a number as it is, a date or an instant in seconds, whatever the type.
    pub fn time(&self, row: usize) -> Result<Option<f64>, NotANumber> {
        match self {
            Column::Date(cells) => return Ok(cells[row].map(|days| f64::from(days) * 86_400.0)),
            Column::Text(cells) => {
                if let Some(time) = calendar::usual(cells.get(row)) {
                    return Ok(Some(time));
                }
            }
            _ => {}
        }
        self.number(row).or_else(|_| time_of(&self.text(row)).map(Some).ok_or(NotANumber))
    }

    /// A cell as text: what a CSV file shows for it. Empty where it is missing.
    pub fn text(&self, row: usize) -> Cow<'_, [u8]> {
        fn shown<T: ToString>(cell: Option<T>) -> Cow<'static, [u8]> {
            Cow::Owned(cell.map_or(String::new(), |value| value.to_string()).into_bytes())
        }
        match self {
            Column::Text(cells) => Cow::Borrowed(cells.get(row)),
            Column::Json(cells) => json_text(cells.get(row)),
            Column::Real(cells) => {
                shown(cells[row].map(|value| zmij::Buffer::new().format(value).to_owned()))
            }
            Column::Integer(cells) => shown(cells[row]),
            Column::Boolean(cells) => shown(cells[row]),
            Column::Date(cells) => shown(cells[row].map(calendar::date)),
            Column::Timestamp(clock, cells) => {
                shown(cells[row].map(|value| calendar::timestamp(value, *clock)))
            }
        }
    }
}

/// The number that a text says, `None` where it says that one is missing.
pub fn number_of(text: &[u8]) -> Result<Option<f64>, NotANumber> {
    parse(text)
}

/// The time that a text says: a number as it is, a date or an instant in seconds.
pub fn time_of(text: &[u8]) -> Option<f64> {
    let seconds = || std::str::from_utf8(text).ok().and_then(calendar::seconds);
    // No number begins with four digits and a dash.
    if text.get(4) == Some(&b'-') { seconds() } else { parse(text).ok().flatten().or_else(seconds) }
}

/// The text that a JSON token stands for: strings without their quotes, everything else as it is.
fn json_text(token: &[u8]) -> Cow<'_, [u8]> {
    match token {
        b"null" => Cow::Borrowed(b""),
        [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => Cow::Borrowed(inner),
        [b'"', ..] => match serde_json::from_slice::<String>(token) {
            Ok(text) => Cow::Owned(text.into_bytes()),
            Err(_) => Cow::Borrowed(token),
        },
        _ => Cow::Borrowed(token),
    }
}

fn is_missing(cell: &[u8]) -> bool {
    cell.is_empty()
        || (cell.len() <= 4
            && [&b"NA"[..], b"NaN", b"N/A", b"null", b"None"]
                .iter()
                .any(|word| cell.eq_ignore_ascii_case(word)))
}

// Part of the loop over a column, whatever the compiler thinks of its length.
#[inline(always)]
fn parse(cell: &[u8]) -> Result<Option<f64>, NotANumber> {
    match decimal::read(cell) {
        Some(value) => Ok(Some(value)),
        None => parse_any(cell),
    }
}

/// The same for what is not written in the usual way.
#[inline(never)]
fn parse_any(cell: &[u8]) -> Result<Option<f64>, NotANumber> {
    let cell = cell.trim_ascii();
    // Ask for the rare words only if one begins like a word, or not at all.
    match cell.first() {
        None => return Ok(None),
        Some(b'0'..=b'9' | b'-' | b'+' | b'.') => {}
        Some(_) if is_missing(cell) => return Ok(None),
        Some(_) => {}
    }
    match fast_float2::parse::<f64, _>(cell) {
        Ok(value) if value.is_nan() => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(_) => Err(NotANumber),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(cells: &[&str]) -> Text {
        cells.iter().map(|cell| cell.as_bytes()).collect()
    }

    #[test]
    fn numbers_and_missing_ones_are_told_from_words() {
        let column = Column::Text(text(&["1.5", " -2e3 ", "", "NA", "nan", "None", "abc", "1,5", "inf"]));
        let numbers: Vec<_> = (0..column.len()).map(|row| column.number(row)).collect();
        let missing = Ok(None);
        assert_eq!(
            numbers,
            [
                Ok(Some(1.5)),
                Ok(Some(-2000.0)),
                missing,
                missing,
                missing,
                missing,
                Err(NotANumber),
                Err(NotANumber),
                Ok(Some(f64::INFINITY))
            ]
        );
    }

    proptest! {
        /// The same bits, and the same refusals, as the standard library.
        #[test]
        fn numbers_are_those_of_another_parser(
            cell in "[+-]?[0-9]{0,25}[.]?[0-9]{0,25}([eE][+-]?[0-9]{0,4})?|[-+]?(inf|NaN|infinity|Inf|iNFinitY|nan)|[-+0-9.,_eE xé]{0,8}|0x1p3",
            value in any::<f64>(),
        ) {
            for cell in [cell, value.to_string(), format!("{value:e}")] {
                let trimmed = cell.trim_ascii();
                let theirs = match trimmed.parse::<f64>() {
                    Ok(value) => Ok(Some(value.to_bits()).filter(|_| !value.is_nan())),
                    Err(_) if is_missing(trimmed.as_bytes()) => Ok(None),
                    Err(_) => Err(NotANumber),
                };
                prop_assert_eq!(parse(cell.as_bytes()).map(|ours| ours.map(f64::to_bits)), theirs, "{:?}", cell);
            }
        }
    }

    #[test]
    fn json_tokens_keep_their_types() {
        let column = Column::Json(text(&["1.5", "null", "", "\"NaN\"", "\"7\"", "true", "\"a\\nb\""]));
        assert_eq!(column.number(0), Ok(Some(1.5)));
        for row in 1..4 {
            assert_eq!(column.number(row), Ok(None), "row {row}");
        }
        // A quoted number is a string: whoever wrote it meant one, or should know.
        assert_eq!(column.number(4), Err(NotANumber));
        assert_eq!(column.number(5), Err(NotANumber));
        assert_eq!(&*column.text(6), b"a\nb");
        assert_eq!(&*column.text(1), b"");
    }

    #[test]
    fn a_time_is_the_same_in_every_type() {
        let midnight = Ok(Some(1_794_787_200.0));
        assert_eq!(Column::Text(text(&["2026-11-16"])).time(0), midnight);
        assert_eq!(Column::Json(text(&["\"2026-11-16T00:00\""])).time(0), midnight);
        assert_eq!(Column::Date(vec![Some(20_773)]).time(0), midnight);
        let instant =
            Column::Timestamp(Clock::local(TimeUnit::Milliseconds), vec![Some(1_794_787_200_000), None]);
        assert_eq!((instant.time(0), instant.time(1)), (midnight, Ok(None)));
        assert_eq!(Column::Integer(vec![Some(7)]).time(0), Ok(Some(7.0)));
        assert_eq!(Column::Text(text(&["soon"])).time(0), Err(NotANumber));
    }

    #[test]
    fn typed_values_read_as_a_person_writes_them() {
        assert_eq!(&*Column::Real(vec![Some(0.1)]).text(0), b"0.1");
        assert_eq!(&*Column::Date(vec![Some(20_773)]).text(0), b"2026-11-16");
        let noon = Column::Timestamp(Clock::local(TimeUnit::Milliseconds), vec![Some(1_794_830_400_500)]);
        assert_eq!(&*noon.text(0), b"2026-11-16T12:00:00.500");
        let greenwich = Column::Timestamp(Clock::utc(TimeUnit::Milliseconds), vec![Some(1_794_830_400_000)]);
        assert_eq!(&*greenwich.text(0), b"2026-11-16T12:00:00Z");
        assert_eq!(Column::Text(text(&["2026-11-16T12:00:00Z"])).time(0), greenwich.time(0));
        assert_eq!(&*Column::Integer(vec![None]).text(0), b"");
    }
}
