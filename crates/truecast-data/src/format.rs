//! Which of the three formats a file is in: by its name, or by its first bytes.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A format of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Separated values, by whatever separator.
    Csv,
    /// One JSON object in each line.
    Ndjson,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    /// The names that people choose a format by.
    pub const NAMES: [&str; 3] = ["csv", "ndjson", "parquet"];

    /// The format that a file's name says, `.gz` aside.
    pub fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "csv" | "tsv" | "txt" | "psv" => Some(Format::Csv),
            "ndjson" | "jsonl" | "json" => Some(Format::Ndjson),
            "parquet" | "pq" => Some(Format::Parquet),
            _ => None,
        }
    }

    /// The format that a file's first bytes say.
    pub fn of_content(head: &[u8]) -> Self {
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        match head.trim_ascii_start().first() {
            _ if head.starts_with(b"PAR1") => Format::Parquet,
            Some(b'{') => Format::Ndjson,
            _ => Format::Csv,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Format::Csv => "csv",
            Format::Ndjson => "ndjson",
            Format::Parquet => "parquet",
        })
    }
}

impl FromStr for Format {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "csv" => Ok(Format::Csv),
            "ndjson" => Ok(Format::Ndjson),
            "parquet" => Ok(Format::Parquet),
            _ => Err(format!("{name:?} is not a format; there are {}", Format::NAMES.join(", "))),
        }
    }
}
