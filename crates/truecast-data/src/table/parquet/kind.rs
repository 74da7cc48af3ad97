//! Which of our columns a Parquet column is, by how it is stored and what it is said to mean.
//!
//! Files say the meaning as a logical type, those of old writers as a converted type.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit as ParquetUnit, Type};
use parquet::schema::types::ColumnDescriptor;

use crate::table::column::{Clock, Column, TimeUnit};
use crate::table::text::Text;

/// How a column is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Real,
    Integer,
    Unsigned,
    Boolean,
    Text,
    Date,
    Timestamp(Clock),
    /// A day of the Julian calendar and nanoseconds of that day, in 96 bits.
    Julian,
    /// A whole number to be divided by ten to this power.
    Decimal(i32),
}

/// What a column is said to mean.
enum Meaning {
    Plain,
    Unsigned,
    Text,
    Date,
    Timestamp(Clock),
    Decimal(i32),
    Other,
}

impl Kind {
    /// `None` for types that are no number, time or text.
    pub(super) fn of(column: &ColumnDescriptor) -> Option<Self> {
        Some(match (column.physical_type(), Meaning::of(column)) {
            (Type::BOOLEAN, Meaning::Plain) => Kind::Boolean,
            (Type::FLOAT | Type::DOUBLE, Meaning::Plain) => Kind::Real,
            (Type::INT32 | Type::INT64, Meaning::Plain) => Kind::Integer,
            (Type::INT32 | Type::INT64, Meaning::Unsigned) => Kind::Unsigned,
            (Type::INT32, Meaning::Date) => Kind::Date,
            (Type::INT64, Meaning::Timestamp(clock)) => Kind::Timestamp(clock),
            (Type::INT96, Meaning::Plain) => Kind::Julian,
            (Type::BYTE_ARRAY, Meaning::Plain | Meaning::Text) => Kind::Text,
            (
                Type::INT32 | Type::INT64 | Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY,
                Meaning::Decimal(scale),
            ) => Kind::Decimal(scale),
            _ => return None,
        })
    }

    /// A column without cells.
    pub(super) fn empty(self) -> Column {
        match self {
            Kind::Real | Kind::Decimal(_) => Column::Real(Vec::new()),
            Kind::Integer | Kind::Unsigned => Column::Integer(Vec::new()),
            Kind::Boolean => Column::Boolean(Vec::new()),
            Kind::Text => Column::Text(Text::default()),
            Kind::Date => Column::Date(Vec::new()),
            Kind::Timestamp(clock) => Column::Timestamp(clock, Vec::new()),
            // What these are the time of is told nowhere.
            Kind::Julian => Column::Timestamp(Clock::local(TimeUnit::Nanoseconds), Vec::new()),
        }
    }
}

impl Meaning {
    fn of(column: &ColumnDescriptor) -> Self {
        match column.logical_type_ref() {
            // A column of nothing but missing cells is said to be of unknown type.
            Some(LogicalType::Unknown) => Meaning::Plain,
            Some(LogicalType::Integer(integer)) if integer.is_signed => Meaning::Plain,
            Some(LogicalType::Integer(_)) => Meaning::Unsigned,
            Some(LogicalType::String | LogicalType::Enum | LogicalType::Json) => Meaning::Text,
            Some(LogicalType::Date) => Meaning::Date,
            Some(LogicalType::Timestamp(timestamp)) => {
                let unit = match timestamp.unit {
                    ParquetUnit::MILLIS => TimeUnit::Milliseconds,
                    ParquetUnit::MICROS => TimeUnit::Microseconds,
                    ParquetUnit::NANOS => TimeUnit::Nanoseconds,
                };
                Meaning::Timestamp(Clock { unit, is_utc: timestamp.is_adjusted_to_u_t_c })
            }
            Some(LogicalType::Decimal(decimal)) => Meaning::Decimal(decimal.scale),
            Some(_) => Meaning::Other,
            None => Self::converted(column),
        }
    }

    fn converted(column: &ColumnDescriptor) -> Self {
        match column.converted_type() {
            ConvertedType::NONE
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64 => Meaning::Plain,
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => Meaning::Unsigned,
            ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON => Meaning::Text,
            ConvertedType::DATE => Meaning::Date,
            // By the format's rules a converted type is of UTC.
            ConvertedType::TIMESTAMP_MILLIS => Meaning::Timestamp(Clock::utc(TimeUnit::Milliseconds)),
            ConvertedType::TIMESTAMP_MICROS => Meaning::Timestamp(Clock::utc(TimeUnit::Microseconds)),
            ConvertedType::DECIMAL => Meaning::Decimal(column.type_scale()),
            _ => Meaning::Other,
        }
    }
}

/// The number nearest to `digits` / 10^`scale`.
pub(super) fn decimal(digits: i128, scale: i32) -> Option<f64> {
    // Below 2^53 and up to 10^22 both are exact as f64, and one division rounds once.
    if digits.unsigned_abs() < 1 << 53 && (0..=22).contains(&scale) {
        return Some(digits as f64 / 10f64.powi(scale));
    }
    format!("{digits}e{}", -i64::from(scale)).parse().ok()
}

/// A whole number in two's complement, most significant byte first; `None` if it takes more than 16 bytes.
pub(super) fn big_endian(bytes: &[u8]) -> Option<i128> {
    let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    let sign = if negative { 0xff } else { 0 };
    let (extra, kept) = bytes.split_at(bytes.len().saturating_sub(16));
    // What is left out must say no more than the sign, which the bytes that are kept must say too.
    let fits =
        extra.iter().all(|&byte| byte == sign) && (extra.is_empty() || (kept[0] & 0x80 != 0) == negative);
    let mut all = [sign; 16];
    all[16 - kept.len()..].copy_from_slice(kept);
    fits.then(|| i128::from_be_bytes(all))
}

/// Nanoseconds since 1970-01-01 of a Julian day and the nanoseconds of that day; `None` outside the years 1677 to 2262.
pub(super) fn julian(words: &[u32]) -> Option<i64> {
    let [low, high, day] = *words else { return None };
    // 1970-01-01 is the Julian day 2,440,588.
    let days = i128::from(day as i32) - 2_440_588;
    let nanoseconds = (u64::from(high) << 32 | u64::from(low)).cast_signed();
    i64::try_from(days * 86_400_000_000_000 + i128::from(nanoseconds)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_the_nearest_numbers() {
        for (digits, scale, expected) in [
            (12_345, 2, 123.45),
            (-1, 3, -0.001),
            (7, 0, 7.0),
            (123_456_789_012_345_678_901_234_567, 20, 1_234_567.890_123_456_8),
            (5, -2, 500.0),
        ] {
            assert_eq!(decimal(digits, scale), Some(expected), "{digits} / 10^{scale}");
        }
    }

    #[test]
    fn big_endian_numbers_of_any_width() {
        for (bytes, expected) in
            [(&[][..], 0), (&[0x01, 0x00], 256), (&[0xff], -1), (&[0x80], -128), (&[0xff, 0x7f], -129)]
        {
            assert_eq!(big_endian(bytes), Some(expected), "{bytes:?}");
        }
        let wide = |sign: u8, value: i128| [vec![sign; 16], value.to_be_bytes().to_vec()].concat();
        assert_eq!(big_endian(&wide(0, 77)), Some(77));
        assert_eq!(big_endian(&wide(0xff, -77)), Some(-77));
        assert_eq!(big_endian(&wide(0, -1)), None);
        assert_eq!(big_endian(&wide(1, 1)), None);
    }

    #[test]
    fn julian_days_begin_in_1970_for_us() {
        assert_eq!(julian(&[0, 0, 2_440_588]), Some(0));
        assert_eq!(julian(&[5, 1, 2_440_587]), Some(-86_400_000_000_000 + (1 << 32) + 5));
        assert_eq!(julian(&[0, 0, 0]), None);
    }
}
