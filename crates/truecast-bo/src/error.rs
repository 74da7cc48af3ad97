//! The one error type of the crate: the value that was refused, and the rule that it broke.

/// What [`Result`](std::result::Result) means in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an input was refused, or a step could not be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A forecast or a recalibrator refused.
    #[error(transparent)]
    Core(#[from] truecast::Error),
    /// The surrogate refused, or could not be fitted.
    #[error(transparent)]
    Model(#[from] truecast_models::Error),
    /// A setting breaks its rule.
    #[error("{what} must be {rule}, got {value}")]
    Setting {
        /// The setting, in words.
        what: &'static str,
        /// The rule, so that "`what` must be `rule`" is a sentence.
        rule: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// A dimension of a space breaks its rule.
    #[error("dimension `{name}` must have {rule}, got {found}")]
    Dimension {
        /// The dimension's name.
        name: String,
        /// The rule, so that "must have `rule`" is a sentence.
        rule: &'static str,
        /// What was given.
        found: String,
    },
    /// A space without dimensions, or with two of the same name.
    #[error("a space must have {rule}, got {found}")]
    Space {
        /// The rule, so that "must have `rule`" is a sentence.
        rule: &'static str,
        /// What was given.
        found: String,
    },
    /// A point has another number of values than the space has dimensions.
    #[error("a point of this space has {expected} values, got {found}")]
    PointLength {
        /// Dimensions of the space.
        expected: usize,
        /// Values that were given.
        found: usize,
    },
    /// A value does not belong to its dimension.
    #[error("the value of `{name}` must be {rule}, got {found}")]
    Value {
        /// The dimension's name.
        name: String,
        /// The rule, so that "must be `rule`" is a sentence.
        rule: String,
        /// What was given.
        found: String,
    },
    /// An outcome is not a number that can be learned.
    #[error(
        "an outcome must be finite and at most 1e100 in absolute value, got {value}; report a failed evaluation as one"
    )]
    Outcome {
        /// The value that was given.
        value: f64,
    },
    /// A number that was computed left the range of `f64`.
    #[error("{what} came out as {value}")]
    NotFinite {
        /// The quantity, in words.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// There are too few outcomes for a surrogate.
    #[error("{found} outcomes seen, at least {least} are needed for a surrogate")]
    TooFewOutcomes {
        /// Outcomes needed.
        least: usize,
        /// Outcomes seen.
        found: usize,
    },
    /// No benchmark, variant or option has this name.
    #[error("`{name}` is not {what}; there are {known}")]
    UnknownName {
        /// What was looked for, with its article.
        what: &'static str,
        /// The name that was given.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A saved state contradicts itself.
    #[error("the saved state is not one of a study: {rule}")]
    State {
        /// The rule that it broke.
        rule: &'static str,
    },
}

/// `value`, if it `holds` its rule.
pub(crate) fn setting(what: &'static str, rule: &'static str, value: f64, holds: bool) -> Result<f64> {
    if holds { Ok(value) } else { Err(Error::Setting { what, rule, value }) }
}

/// A computed number, if it stayed finite.
pub(crate) fn computed(what: &'static str, value: f64) -> Result<f64> {
    if value.is_finite() { Ok(value) } else { Err(Error::NotFinite { what, value }) }
}
