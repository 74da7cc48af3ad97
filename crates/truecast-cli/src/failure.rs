//! Everything that can end a command early, and the exit code that it has.

use std::process::ExitCode;

/// What [`Result`](std::result::Result) means in this crate.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why a command ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The data, or a file, was refused.
    #[error(transparent)]
    Data(#[from] truecast_data::Error),
    /// The core or the fleet refused a setting.
    #[error("{error}{}", hint_line(.hint))]
    Fleet {
        /// What was refused.
        error: truecast_fleet::Error,
        /// What to do about it.
        hint: &'static str,
    },
    /// The command line says something that cannot be.
    #[error("{problem}{}", hint_line(.hint))]
    Usage {
        /// What is wrong.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// A check did not pass.
    #[error("{0}")]
    Check(String),
    /// A person pressed Ctrl-C.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// The same, where something was kept.
    #[error("{problem}{}", hint_line(.hint))]
    Stopped {
        /// How far it came.
        problem: String,
        /// How to go on.
        hint: String,
    },
}

impl Failure {
    pub(crate) fn usage(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Failure::Usage { problem: problem.into(), hint: hint.into() }
    }

    /// A state file was refused.
    pub(crate) fn of_state(file: &str, error: truecast_fleet::Error) -> Self {
        match Failure::from(error) {
            Failure::Fleet { error, hint } => Failure::usage(format!("{file}: {error}"), hint),
            other => other,
        }
    }

    /// 0 if nobody needs to hear of it, 1 if a check failed, 2 for bad usage or data, 130 after Ctrl-C.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Data(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
            Failure::Check(_) => ExitCode::from(1),
            Failure::Interrupted | Failure::Stopped { .. } => ExitCode::from(130),
            Failure::Data(_) | Failure::Fleet { .. } | Failure::Usage { .. } => ExitCode::from(2),
        }
    }

    /// True if there is something to say.
    pub(crate) fn is_silent(&self) -> bool {
        matches!(self, Failure::Data(error) if error.is_broken_pipe())
    }
}

fn hint_line(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!("\nhint: {hint}") }
}

impl From<truecast_fleet::Error> for Failure {
    fn from(error: truecast_fleet::Error) -> Self {
        use truecast_fleet::Error;
        let hint = match &error {
            Error::TooManyGroups { .. } => "say how many there are: --ledger group=COLUMN:N",
            Error::OtherSettings { .. } => "use the settings of the state, or another state file",
            Error::NotASetting { .. } => "leave it out, or use another --method: experts has all settings",
            Error::NoTime => "name the columns with --time and --outcome-time",
            Error::Backwards { .. } => "sort the file by time",
            Error::Core(truecast::Error::Snapshot(_)) => {
                "a state is a file that `truecast calibrate --state` wrote; another name begins a new one"
            }
            _ => "",
        };
        Failure::Fleet { error, hint }
    }
}

impl From<truecast::Error> for Failure {
    fn from(error: truecast::Error) -> Self {
        truecast_fleet::Error::from(error).into()
    }
}

impl From<truecast_models::Error> for Failure {
    fn from(error: truecast_models::Error) -> Self {
        Failure::usage(format!("the base model: {error}"), "")
    }
}

impl From<truecast_bo::Error> for Failure {
    fn from(error: truecast_bo::Error) -> Self {
        Failure::usage(error.to_string(), "")
    }
}

impl From<truecast_streams::UnknownName> for Failure {
    fn from(error: truecast_streams::UnknownName) -> Self {
        Failure::usage(error.to_string(), "")
    }
}
