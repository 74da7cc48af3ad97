//! How long something takes: `7d`, `36h`, `15min`, `2w`, or a plain number where times are numbers.

use std::fmt;
use std::str::FromStr;

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Span {
    /// In seconds, as dates and instants are.
    Seconds(f64),
    /// In whatever numbers the times are.
    Units(f64),
    /// In rows of a series.
    Rows(u64),
}

const UNITS: [(&str, f64); 6] =
    [("rows", 0.0), ("min", 60.0), ("w", 604_800.0), ("d", 86_400.0), ("h", 3_600.0), ("s", 1.0)];

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || {
            format!(
                "{text:?} is no length of time: write 7d, 36h, 15min, 90s, 2w, 3rows, or a number where times are numbers"
            )
        };
        let text = text.trim();
        let unit = UNITS.iter().find(|(unit, _)| text.ends_with(unit));
        let number = unit.map_or(text, |(unit, _)| text.trim_end_matches(unit)).trim();
        match unit {
            Some(("rows", _)) => number.parse().map(Span::Rows).map_err(|_| refused()),
            _ => {
                let number: f64 = number.parse().map_err(|_| refused())?;
                if !(number.is_finite() && number >= 0.0) {
                    return Err(refused());
                }
                Ok(unit.map_or(Span::Units(number), |(_, seconds)| Span::Seconds(number * seconds)))
            }
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Span::Rows(rows) => write!(f, "{rows} rows"),
            Span::Units(number) => write!(f, "{number}"),
            Span::Seconds(seconds) => {
                let whole = |length: &f64| seconds % length == 0.0;
                let usual = [("d", 86_400.0), ("h", 3_600.0), ("min", 60.0)];
                // 7 d is a week to nobody who wrote 7d.
                match usual.iter().find(|(_, length)| whole(length)).filter(|_| *seconds > 0.0) {
                    Some((unit, length)) => write!(f, "{}{unit}", seconds / length),
                    None => write!(f, "{seconds}s"),
                }
            }
        }
    }
}

impl Span {
    /// In the units of times that are dates, or numbers; the other kind means nothing there.
    pub(crate) fn of_times(self, are_dates: bool) -> Option<f64> {
        match self {
            Span::Seconds(seconds) if are_dates => Some(seconds),
            Span::Units(number) if !are_dates || number == 0.0 => Some(number),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_as_people_write_them() {
        for (text, expected, shown) in [
            ("7d", Span::Seconds(604_800.0), "7d"),
            ("2w", Span::Seconds(1_209_600.0), "14d"),
            ("36h", Span::Seconds(129_600.0), "36h"),
            ("15min", Span::Seconds(900.0), "15min"),
            ("1.5s", Span::Seconds(1.5), "1.5s"),
            ("3rows", Span::Rows(3), "3 rows"),
            ("3 rows", Span::Rows(3), "3 rows"),
            ("2.5", Span::Units(2.5), "2.5"),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
            assert_eq!(expected.to_string(), shown);
        }
        for text in ["", "d", "-1d", "soon", "1.5rows", "inf"] {
            assert!(text.parse::<Span>().unwrap_err().contains("is no length of time"), "{text}");
        }
    }
}
