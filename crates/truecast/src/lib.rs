//! Honest uncertainty for any forecaster, on any stream.
//!
//! Give Truecast the predictive distributions F_t of a forecaster, one per step, and the outcomes y_t as they come. It gives back
//! distributions G_t that are calibrated, even on data chosen by an adversary, and that lose nothing in accuracy:
//! no regret in CRPS against F_t.
//!
//! ```
//! use truecast::{Forecast, Gaussian, Pipeline, Stream};
//!
//! let mut stream = Stream::new(Pipeline::default());
//! // Before the outcome is known: a calibrated forecast, and a ticket for the outcome.
//! let (ticket, calibrated) = stream.issue(Gaussian::new(20.0, 2.0)?)?;
//! let (low, high) = calibrated.interval(0.8)?;
//! let chance_of_frost = calibrated.cdf(0.0);
//! // When it is known:
//! stream.resolve(ticket, 23.5)?;
//! println!("{}", stream.recalibrator().certificate());
//! # assert!(low < high && chance_of_frost < 1e-6);
//! # Ok::<(), truecast::Error>(())
//! ```
//!
//! # The few types
//!
//! - [`Forecast`] is the trait of a predictive distribution. [`Gaussian`], [`Quantiles`], [`Samples`] and eight more implement it, your
//!   own type can, and so does what comes out, [`Recalibrated`]. [`AnyForecast`] is all kinds in one type.
//! - [`Pipeline`] is the recalibrator to start with; [`Parameters`] says what can be changed. [`recalibrate::AlgorithmOne`] is the
//!   published algorithm over any binary [`subroutine`].
//! - [`Stream`] keeps what was announced until its outcome comes: late, in batches, in any order, or never. It saves to bytes and
//!   resumes bit for bit.
//! - [`finite`] recalibrates probabilities of events and of a few outcomes, in place of whole distributions.
//! - [`decision`] has losses, their expected values under a forecast and the actions that minimise them.
//! - [`score`] has proper scores, [`monitor`] running measurements and the [`monitor::Certificate`].
//!
//! # Two verbs
//!
//! Forecasting is pure: [`Recalibrator::recalibrate`] takes `&self`, and asking twice gives the same answer. Learning is the only
//! mutation: [`Recalibrator::observe`], or [`Stream::resolve`]. Before the first outcome the map is the identity. Random draws, where an option asks
//! for them, are functions of (seed, step).
//!
//! # Cost
//!
//! One step at the defaults is O(levels · experts), whatever came before: some microseconds, no allocation over normal forecasts, less than 24 KB per stream in memory and about 4 KB saved.
//!
//! # What it does not do
//!
//! It does not forecast, does no I/O, starts no threads, reads no clock. Failures are typed [`Error`]s, never numbers: a non-finite
//! outcome is refused, and a missing one is simply not resolved. The guarantees and their limits are in `docs/theory.md`.

#![forbid(unsafe_code)]

pub mod decision;
pub mod error;
pub mod expert;
pub mod finite;
pub mod forecast;
pub mod grid;
pub mod monitor;
pub mod normal;
mod quadrature;
pub mod random;
pub mod recalibrate;
pub mod score;
pub mod stream;
pub mod subroutine;

pub use error::{Error, Result, SnapshotError};
pub use forecast::{AnyForecast, Forecast, Gaussian, Quantiles, Recalibrated, Samples};
pub use recalibrate::{
    Groups, GuardMode, LedgerKind, Parameters, Pipeline, Protection, Recalibrator, Scores,
};
pub use stream::{Stream, Ticket};

/// The README's example, so that it is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
