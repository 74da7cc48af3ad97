//! What can be wrong with a file, told so that a person can mend it: file, line, column, value, rule, hint.

use std::fmt;
use std::io;

/// What [`Result`](std::result::Result) means in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be opened, read or written.
    #[error("{file}: {source}")]
    Io {
        /// The file's name as it was given.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// One row is at fault.
    #[error(transparent)]
    Row(Box<RowError>),
    /// The file as a whole is at fault: its header, its form, its encoding.
    #[error("{file}: {problem}{}", hint_line(.hint))]
    File {
        /// The file's name as it was given.
        file: String,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        hint: String,
    },
}

/// A row that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowError {
    /// The file's name as it was given.
    pub file: String,
    /// The line in the file, counted from 1; for Parquet the row, counted from 1.
    pub line: u64,
    /// The column's name, where one column is at fault.
    pub column: Option<String>,
    /// The value that was found, where there is one.
    pub value: Option<String>,
    /// The rule that it broke, as a sentence.
    pub rule: String,
    /// What to do about it; empty if nothing can be said.
    pub hint: String,
}

impl std::error::Error for RowError {}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", self.file, self.line)?;
        if let Some(column) = &self.column {
            write!(f, ", column {column}")?;
        }
        if let Some(value) = &self.value {
            // A whole document in one cell would hide the rule behind it.
            let short: String = value.chars().take(60).collect();
            let dots = if short.len() < value.len() { "…" } else { "" };
            write!(f, ": {short:?}{dots}")?;
        }
        write!(f, ": {}{}", self.rule, hint_line(&self.hint))
    }
}

fn hint_line(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!("\nhint: {hint}") }
}

impl Error {
    /// True if leaving out one row would mend it.
    pub fn is_row(&self) -> bool {
        matches!(self, Error::Row(_))
    }

    /// True if whoever reads our output has gone away: nobody needs to hear of it.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn io(file: &str) -> impl FnOnce(io::Error) -> Error {
        let file = file.to_owned();
        move |source| Error::Io { file, source }
    }

    /// The file as a whole is at fault.
    pub fn file(file: &str, problem: impl Into<String>, hint: impl Into<String>) -> Error {
        Error::File { file: file.to_owned(), problem: problem.into(), hint: hint.into() }
    }
}

impl From<RowError> for Error {
    fn from(error: RowError) -> Self {
        Error::Row(Box::new(error))
    }
}
