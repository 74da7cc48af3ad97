//! Dates and instants as text, and back: the proleptic Gregorian calendar, as ISO 8601 writes it.
//!
//! Days are counted from 1970-01-01 by shifting the year to begin in March, so that the leap day is its last: then the day of
//! the year is a linear function of the month.

use super::column::Clock;

const SECONDS_PER_DAY: i64 = 86_400;

/// `2026-11-16` for a number of days.
pub(crate) fn date(days: i32) -> String {
    let (year, month, day) = civil(i64::from(days));
    format!("{year:04}-{month:02}-{day:02}")
}

/// `2026-11-16T12:00:00.500` for an instant, with a `Z` at the end if it is of UTC: without the fraction where it is zero, and as short as its unit
/// allows.
pub(crate) fn timestamp(value: i64, clock: Clock) -> String {
    let per_second = clock.unit.per_second();
    let (seconds, fraction) = (value.div_euclid(per_second), value.rem_euclid(per_second));
    let (days, second) = (seconds.div_euclid(SECONDS_PER_DAY), seconds.rem_euclid(SECONDS_PER_DAY));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if fraction != 0 {
        let digits = per_second.ilog10() as usize;
        text.push_str(&format!(".{fraction:0digits$}"));
    }
    if clock.is_utc {
        text.push('Z');
    }
    text
}

/// Seconds since 1970-01-01T00:00 for a date or an instant in ISO 8601, with or without an offset.
pub fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some(seconds) = usual(text.as_bytes()) {
        return Some(seconds);
    }
    let (date, time) = match text.find(['T', ' ']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let mut parts = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) || date.len() < 8 {
        return None;
    }
    let midnight = (days(year, month, day) * SECONDS_PER_DAY) as f64;
    match time {
        None => Some(midnight),
        Some(time) => Some(midnight + seconds_of_day(time)?),
    }
}

/// The same for `2026-11-16` and `2026-11-16T12:30:15`, which most tables have: a tenth of the time.
#[inline]
pub(super) fn usual(text: &[u8]) -> Option<f64> {
    let two = |at: usize| {
        let (tens, ones) = (text[at].wrapping_sub(b'0'), text[at + 1].wrapping_sub(b'0'));
        (tens < 10 && ones < 10).then_some(i64::from(tens) * 10 + i64::from(ones))
    };
    if !matches!(text.len(), 10 | 19) || text[4] != b'-' || text[7] != b'-' {
        return None;
    }
    let (year, month, day) = (100 * two(0)? + two(2)?, two(5)?, two(8)?);
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
        return None;
    }
    let mut seconds = days(year, month, day) * SECONDS_PER_DAY;
    if text.len() == 19 {
        let (hour, minute, second) = (two(11)?, two(14)?, two(17)?);
        if !matches!(text[10], b'T' | b' ')
            || text[13] != b':'
            || text[16] != b':'
            || hour.max(minute).max(second) > 59
        {
            return None;
        }
        seconds += 3600 * hour + 60 * minute + second;
    }
    Some(seconds as f64)
}

/// Seconds after midnight UTC of `12:30`, `12:30:15.5`, `12:30Z` or `12:30+02:00`.
fn seconds_of_day(time: &str) -> Option<f64> {
    let (clock, offset) = match time.find(['Z', '+', '-']) {
        Some(at) if &time[at..] == "Z" => (&time[..at], 0.0),
        Some(at) => {
            let minutes = clock_seconds(&time[at + 1..])?;
            (&time[..at], if time[at..].starts_with('-') { minutes } else { -minutes })
        }
        None => (time, 0.0),
    };
    Some(clock_seconds(clock)? + offset)
}

fn clock_seconds(clock: &str) -> Option<f64> {
    let mut seconds = 0.0;
    let mut unit = 3600.0;
    let mut parts = 0;
    for part in clock.split(':') {
        let value: f64 = part.parse().ok().filter(|value| (0.0..61.0).contains(value))?;
        seconds += value * unit;
        unit /= 60.0;
        parts += 1;
    }
    (parts <= 3).then_some(seconds)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    // 719,468 days lie between 0000-03-01 and 1970-01-01; an era of 400 years has 146,097.
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month and day of a number of days since 1970-01-01.
fn civil(days_since: i64) -> (i64, i64, i64) {
    // A first guess from the mean length of a year, then at most one step.
    let mut year = 1970 + (days_since as f64 / 365.2425).floor() as i64;
    while days(year + 1, 1, 1) <= days_since {
        year += 1;
    }
    while days(year, 1, 1) > days_since {
        year -= 1;
    }
    let mut month = 1;
    while month < 12 && days(year, month + 1, 1) <= days_since {
        month += 1;
    }
    (year, month, days_since - days(year, month, 1) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days() {
        for (text, expected) in [
            ("1970-01-01", 0),
            ("2000-02-29", 11_016),
            ("2026-11-16", 20_773),
            ("1969-12-31", -1),
            ("1900-03-01", -25_508),
        ] {
            assert_eq!(seconds(text), Some((expected * SECONDS_PER_DAY) as f64), "{text}");
            assert_eq!(date(expected as i32), text);
        }
    }

    #[test]
    fn instants_with_and_without_offsets() {
        let noon = Some((20_773 * SECONDS_PER_DAY + 43_200) as f64);
        for text in
            ["2026-11-16T12:00", "2026-11-16 12:00:00", "2026-11-16T12:00:00Z", "2026-11-16T14:00+02:00"]
        {
            assert_eq!(seconds(text), noon, "{text}");
        }
        assert_eq!(seconds("2026-11-16T12:00:00.25"), noon.map(|seconds| seconds + 0.25));
        for text in ["", "x", "2026-13-01", "2026-02-30", "12:00", "2026-11-16T25h", "17"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn every_day_of_eight_centuries_goes_there_and_back() {
        for day in -150_000..150_000 {
            let (year, month, of_month) = civil(day);
            assert_eq!(days(year, month, of_month), day);
        }
    }
}
