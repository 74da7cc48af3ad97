//! Words for people: standard output is data or the table that was asked for, everything else goes to standard error.

use std::io::{self, Write};

use crate::failure::Result;

pub(crate) use truecast_report::number::count;

/// A line on standard error. That it cannot be written is no reason to stop.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}
pub(crate) use say;

/// Writes to standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut output = io::stdout().lock();
    output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush())
        .map_err(|source| truecast_data::Error::Io { file: "standard output".to_owned(), source }.into())
}

/// 61.2 %, or a dash before anything is known.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}

/// One word or the other.
pub(crate) fn plural<'a>(count: u64, one: &'a str, many: &'a str) -> &'a str {
    if count == 1 { one } else { many }
}
