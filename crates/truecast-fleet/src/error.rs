//! Why a setting, a row or a state file was refused.

use truecast::recalibrate::MOST_GROUPS;

/// What [`Result`](std::result::Result) means in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The core refused a number.
    #[error(transparent)]
    Core(#[from] truecast::Error),
    /// A setting that the method does not have, or that its preset fixes.
    #[error("{setting} is no setting of {of}")]
    NotASetting {
        /// The setting.
        setting: &'static str,
        /// The method, or its preset.
        of: &'static str,
    },
    /// A series has more groups than ledgers were set up for.
    #[error("group {label:?} is one more than the {count} that were set up (at most {MOST_GROUPS})")]
    TooManyGroups {
        /// The label of the first that is too many.
        label: String,
        /// How many there are room for.
        count: u8,
    },
    /// The state was made with other settings.
    #[error("the state was made with {saved} and cannot go on with {asked}")]
    OtherSettings {
        /// What the state says.
        saved: String,
        /// What was asked for.
        asked: String,
    },
    /// A row without the time that late outcomes need.
    #[error("outcomes that arrive late need the time of every forecast")]
    NoTime,
    /// Times that run backwards within a series.
    #[error("time {now} lies before {last}, the time of the series' row before it")]
    Backwards {
        /// The time of the row.
        now: f64,
        /// The time before it.
        last: f64,
    },
}
