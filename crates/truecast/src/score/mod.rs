//! Proper scores of a forecast against the outcome that came. Lower is better in all of them.
//!
//! | score | file | of | units |
//! |---|---|---|---|
//! | [`crps`] | `crps.rs` | the whole distribution; ensembles; quantiles | the outcome's |
//! | [`log_score`] | `log_score.rs` | the density at the outcome, or its probability among K | nats |
//! | [`pinball`] | `pinball.rs` | one quantile | the outcome's |
//! | [`interval`] | `interval.rs` | central intervals: Winkler's score and the weighted interval score | the outcome's |
//! | [`brier`] | `brier.rs` | the probability of one event, or of K outcomes | none |
//!
//! Arguments come as (forecast, outcome, parameters). `evaluate` takes a [`Forecast`](crate::Forecast), the functions
//! named `of_…` take what users hold in its place. A NaN or infinite outcome is an error, never a score.
//!
//! `form.rs` says which score a kind of forecast is held to by the stop-loss; `table.rs` and `worst_case.rs` have what that takes.
//!
//! To follow scores along a stream, see [`monitor`](crate::monitor).

pub mod brier;
pub mod crps;
pub(crate) mod form;
pub mod interval;
pub mod log_score;
pub mod pinball;
pub(crate) mod table;
mod worst_case;
