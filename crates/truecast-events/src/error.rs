//! Why a table, or something that was asked of it, was refused.

/// What [`Result`](std::result::Result) means in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A table, or one of its rows.
    #[error(transparent)]
    Data(#[from] truecast_data::Error),
    /// A setting, or a state.
    #[error(transparent)]
    Fleet(#[from] truecast_fleet::Error),
    /// What was asked for cannot be.
    #[error("{problem}{}", if .hint.is_empty() { String::new() } else { format!("\nhint: {hint}") })]
    Usage {
        /// What is wrong.
        problem: String,
        /// What to do about it.
        hint: String,
    },
}

impl Error {
    pub(crate) fn usage(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Usage { problem: problem.into(), hint: hint.into() }
    }
}

impl From<Box<truecast_data::RowError>> for Error {
    fn from(error: Box<truecast_data::RowError>) -> Self {
        Error::Data(truecast_data::Error::Row(error))
    }
}

impl From<truecast::Error> for Error {
    fn from(error: truecast::Error) -> Self {
        Error::Fleet(error.into())
    }
}
