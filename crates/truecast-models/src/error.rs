//! The one error type of the crate: the value that was refused, and the rule that it broke.

/// What [`Result`](std::result::Result) means in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a model refused an input, or could not be fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number that the core refuses, or a forecast that it cannot build.
    #[error(transparent)]
    Core(#[from] truecast::Error),
    /// A row of inputs has another length than the model was built for.
    #[error("the model takes {expected} inputs, got {found}")]
    InputLength {
        /// Inputs of the model.
        expected: usize,
        /// Inputs that were given.
        found: usize,
    },
    /// An input is NaN, infinite, or so large that its square cannot be summed.
    #[error("input {index} must be finite and at most {LARGEST:e} in absolute value, got {value}")]
    Input {
        /// Index of the input, counted from 0.
        index: usize,
        /// The value that was given.
        value: f64,
    },
    /// An outcome is NaN, infinite, or so large that its square cannot be summed.
    #[error("the outcome must be finite and at most {LARGEST:e} in absolute value, got {value}")]
    Outcome {
        /// The value that was given.
        value: f64,
    },
    /// A parameter breaks its rule.
    #[error("{what} must be {rule}, got {value}")]
    Parameter {
        /// The parameter, in words.
        what: &'static str,
        /// The rule, so that "`what` must be `rule`" is a sentence.
        rule: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// The model has not seen enough outcomes for a forecast or a fit.
    #[error("{found} outcomes seen, at least {least} are needed")]
    NotEnoughOutcomes {
        /// Outcomes needed.
        least: usize,
        /// Outcomes seen.
        found: usize,
    },
    /// A model that lives elsewhere was asked before its forecast was given.
    #[error("no forecast was given for the next outcome")]
    NoForecast,
    /// The kernel matrix has no Cholesky factor, even with the largest jitter that is allowed on its diagonal.
    #[error(
        "the kernel matrix of {rows} rows is not positive definite, even with a jitter of {jitter:e} on a diagonal of \
         {diagonal:e} (the closest rows are {closest:e} length scales apart)"
    )]
    NotPositiveDefinite {
        /// Rows of the matrix.
        rows: usize,
        /// The largest jitter that was tried.
        jitter: f64,
        /// The diagonal without it.
        diagonal: f64,
        /// The smallest distance between two rows: zero says that a row repeats, and needs noise.
        closest: f64,
    },
    /// Two rows have the same inputs and different outcomes, and the model was told that there is no noise.
    #[error(
        "rows {first} and {second} have the same inputs but the outcomes {left} and {right}, and the noise variance is 0"
    )]
    Contradiction {
        /// The earlier row, counted from 0.
        first: usize,
        /// The later one.
        second: usize,
        /// Outcome of the earlier row.
        left: f64,
        /// Outcome of the later one.
        right: f64,
    },
    /// The data's scales leave the range of `f64`.
    #[error("{what} came out as {value}: the scales of the data leave the range of f64")]
    OutOfRange {
        /// The quantity, in words.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// An iteration that must converge did not.
    #[error("{what} did not converge")]
    NoConvergence {
        /// The iteration, in words.
        what: &'static str,
    },
    /// A saved state contradicts itself.
    #[error("the saved state is not one of a model: {rule}")]
    State {
        /// The rule that it broke.
        rule: &'static str,
    },
}

/// The largest input or outcome: the sum of 10⁷ squares of it is still an `f64`.
pub const LARGEST: f64 = 1e150;

/// Checks a row of inputs: its length, and each value.
pub(crate) fn inputs(expected: usize, x: &[f64]) -> Result<()> {
    if x.len() != expected {
        return Err(Error::InputLength { expected, found: x.len() });
    }
    match x.iter().position(|&value| outcome(value).is_err()) {
        None => Ok(()),
        Some(index) => Err(Error::Input { index, value: x[index] }),
    }
}

/// Checks an outcome. NaN fails as well.
pub(crate) fn outcome(value: f64) -> Result<()> {
    if value.abs() <= LARGEST { Ok(()) } else { Err(Error::Outcome { value }) }
}

/// `value`, if it is finite and greater than zero.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64> {
    parameter(what, "finite and greater than 0", value, value.is_finite() && value > 0.0)
}

/// `value`, if it is finite and not negative.
pub(crate) fn not_negative(what: &'static str, value: f64) -> Result<f64> {
    parameter(what, "finite and 0 or more", value, value.is_finite() && value >= 0.0)
}

/// `value`, if it `holds` its rule.
pub(crate) fn parameter(what: &'static str, rule: &'static str, value: f64, holds: bool) -> Result<f64> {
    if holds { Ok(value) } else { Err(Error::Parameter { what, rule, value }) }
}

/// A computed number, if it stayed finite.
pub(crate) fn computed(what: &'static str, value: f64) -> Result<f64> {
    if value.is_finite() { Ok(value) } else { Err(Error::OutOfRange { what, value }) }
}
