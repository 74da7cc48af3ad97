//! The one error type of the crate.
//!
//! Every variant carries the value that was refused and the rule that it broke. Failures are never turned
//! into numbers: a non-finite outcome is an error, and a missing one is simply not passed.

use crate::expert::ExpertKind;
use crate::recalibrate::Method;
use crate::stream::Ticket;

/// What [`Result`](std::result::Result) means in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an input was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number that must be finite is NaN or infinite.
    #[error("{what} must be finite, got {value}")]
    NotFinite {
        /// The quantity, in words.
        what: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// A number that must be greater than zero is not.
    #[error("{what} must be greater than zero, got {value}")]
    NotPositive {
        /// The quantity, in words.
        what: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// A number is outside of the range that it must lie in.
    #[error("{what} must be {rule}, got {value}")]
    OutOfRange {
        /// The quantity, in words.
        what: &'static str,
        /// The rule, so that "`what` must be `rule`" is a sentence.
        rule: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// A list that needs entries has too few.
    #[error("{what} must have at least {least} entries, got {found}")]
    TooFew {
        /// The list, in words.
        what: &'static str,
        /// The smallest length that is allowed.
        least: usize,
        /// The length that was given.
        found: usize,
    },
    /// Two lists that go together differ in length.
    #[error("{what}: {left} entries on one side and {right} on the other")]
    LengthMismatch {
        /// The two lists, in words.
        what: &'static str,
        /// Length of the first.
        left: usize,
        /// Length of the second.
        right: usize,
    },
    /// A list that must increase does not.
    #[error("{what} must increase, but entry {index} is {value} after {previous}")]
    NotIncreasing {
        /// The list, in words.
        what: &'static str,
        /// Index of the first entry that breaks the rule, counted from 0.
        index: usize,
        /// The entry before it.
        previous: f64,
        /// The entry itself.
        value: f64,
    },
    /// Quantiles cross, and the caller asked for them to be refused instead of repaired.
    #[error(
        "quantiles cross: {value} at probability {probability} lies below {previous} at a smaller probability"
    )]
    CrossingQuantiles {
        /// The probability at which the quantiles first cross.
        probability: f64,
        /// The quantile before it.
        previous: f64,
        /// The quantile that lies below.
        value: f64,
    },
    /// A group number is not among those the recalibrator was built with.
    #[error("group {group} is unknown: the recalibrator has {count} group ledgers")]
    UnknownGroup {
        /// The group that was named.
        group: usize,
        /// How many group ledgers there are.
        count: usize,
    },
    /// A forecast is so wide, or so narrow, that its squared widths leave the range of `f64`.
    #[error("the forecast's width {width:e} at level {level} is outside of what can be squared and summed")]
    WidthOutOfRange {
        /// Index of the level.
        level: usize,
        /// The width in units of the outcome.
        width: f64,
    },
    /// A score needs a density and the forecast has none (it has atoms, or is known by its CDF alone).
    #[error("the forecast has no density at {outcome}")]
    NoDensity {
        /// The outcome at which the density was asked for.
        outcome: f64,
    },
    /// An expected value that is infinite, or whose tails fall too slowly for it to be computed.
    #[error("{what} is infinite under this forecast, or its tails fall too slowly for it to be computed")]
    NoExpectation {
        /// The expected value, in words.
        what: &'static str,
    },
    /// A ticket that this stream never gave out.
    #[error("{ticket} was never issued by this stream")]
    UnknownTicket {
        /// The ticket.
        ticket: Ticket,
    },
    /// A ticket that was resolved or expired before.
    #[error("{ticket} was resolved or expired before")]
    ClosedTicket {
        /// The ticket.
        ticket: Ticket,
    },
    /// A plan is resolved that was not announced, or has been resolved before.
    #[error(
        "no announced plan waits for an outcome: a plan is announced before it is resolved, and resolved once"
    )]
    NotAnnounced,
    /// A plan was settled with a recalibrator of another shape than the one that made it.
    #[error(
        "the plan, of {found} numbers, was made by another recalibrator than this one, whose plans have {expected}"
    )]
    ForeignPlan {
        /// What this recalibrator's experts, subroutines or rules say at one step.
        expected: usize,
        /// What those of the plan said.
        found: usize,
    },
    /// A method that is not known by this name.
    #[error("{name:?} is not a method; there are {}", names(Method::ALL.iter().map(|method| method.name())))]
    UnknownMethod {
        /// The name that was given.
        name: String,
    },
    /// An expert that is not known by this name.
    #[error("{name:?} is not an expert; there are {}", names(ExpertKind::ALL.iter().map(|kind| kind.name())))]
    UnknownExpert {
        /// The name that was given.
        name: String,
    },
    /// A guard that is not known by this name.
    #[error("{name:?} is not a guard; there are priced, strict and off")]
    UnknownGuard {
        /// The name that was given.
        name: String,
    },
    /// A saved state could not be loaded.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

/// Why a saved state was refused. See `docs/formats.md` for the layout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The bytes do not begin with the magic of a Truecast snapshot.
    #[error("not a Truecast snapshot: the first bytes are not the magic")]
    BadMagic,
    /// The snapshot was written by a newer version.
    #[error("snapshot version {found} is newer than {newest}, the newest this build reads")]
    UnsupportedVersion {
        /// The version in the header.
        found: u16,
        /// The newest version this build knows.
        newest: u16,
    },
    /// The snapshot ends early, or has bytes behind its end.
    #[error("snapshot has {found} bytes where its header says {expected}")]
    WrongLength {
        /// Bytes expected in all.
        expected: usize,
        /// Bytes found.
        found: usize,
    },
    /// The checksum does not match the payload.
    #[error("snapshot checksum {found:08x} does not match {expected:08x}: the bytes are damaged")]
    WrongChecksum {
        /// The checksum in the header.
        expected: u32,
        /// The checksum of the payload.
        found: u32,
    },
    /// The payload is not of the form that its version has.
    #[error("snapshot payload does not decode: {reason}")]
    Malformed {
        /// What the decoder said.
        reason: String,
    },
    /// The payload decodes, and a value in it breaks a rule.
    #[error("snapshot field {field} must be {rule}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// The rule, so that "`field` must be `rule`" is a sentence.
        rule: &'static str,
    },
}

/// "a, b and c".
fn names(all: impl Iterator<Item = &'static str>) -> String {
    let all: Vec<&str> = all.collect();
    match all.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => all.concat(),
    }
}

impl Error {
    /// True where the caller's ticket, not a number, is at fault.
    pub fn is_ticket(&self) -> bool {
        matches!(self, Error::UnknownTicket { .. } | Error::ClosedTicket { .. })
    }

    /// True where a saved state could not be loaded.
    pub fn is_snapshot(&self) -> bool {
        matches!(self, Error::Snapshot(_))
    }

    /// True where a number or a list that was given breaks a rule.
    pub fn is_invalid_input(&self) -> bool {
        !self.is_ticket() && !self.is_snapshot()
    }
}

/// `value`, if it is finite.
pub(crate) fn finite(what: &'static str, value: f64) -> Result<f64> {
    if value.is_finite() { Ok(value) } else { Err(Error::NotFinite { what, value }) }
}

/// `outcome`, if it lies within the bounds that are known of it.
pub(crate) fn within_bounds(outcome: f64, bounds: Option<(f64, f64)>) -> Result<f64> {
    match bounds {
        Some((low, high)) if !(low..=high).contains(&outcome) => {
            let rule = "within the bounds that were given for it";
            Err(Error::OutOfRange { what: "outcome", rule, value: outcome })
        }
        _ => Ok(outcome),
    }
}

/// `z`, if it is a probit score: infinite where an outcome lies beyond a bounded support, but a number.
pub(crate) fn score(z: f64) -> Result<f64> {
    if z.is_nan() { Err(Error::NotFinite { what: "probit score of the outcome", value: z }) } else { Ok(z) }
}

/// `value`, if it is finite and greater than zero.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64> {
    finite(what, value)?;
    if value > 0.0 { Ok(value) } else { Err(Error::NotPositive { what, value }) }
}

/// `value`, if it is a probability.
pub(crate) fn probability(what: &'static str, value: f64) -> Result<f64> {
    // Written so that NaN fails as well.
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(Error::OutOfRange { what, rule: "between 0 and 1", value })
    }
}

/// `value`, if it is a probability other than 0 and 1.
pub(crate) fn inner_probability(what: &'static str, value: f64) -> Result<f64> {
    if value > 0.0 && value < 1.0 {
        Ok(value)
    } else {
        Err(Error::OutOfRange { what, rule: "greater than 0 and less than 1", value })
    }
}

/// Checks that a list of finite numbers strictly increases.
pub(crate) fn increasing(what: &'static str, values: &[f64]) -> Result<()> {
    for &value in values {
        finite(what, value)?;
    }
    match values.windows(2).position(|pair| pair[0] >= pair[1]) {
        None => Ok(()),
        Some(i) => {
            Err(Error::NotIncreasing { what, index: i + 1, previous: values[i], value: values[i + 1] })
        }
    }
}

/// `value`, if it is finite and not negative.
pub(crate) fn not_negative(what: &'static str, value: f64) -> Result<f64> {
    finite(what, value)?;
    if value >= 0.0 { Ok(value) } else { Err(Error::OutOfRange { what, rule: "zero or more", value }) }
}
