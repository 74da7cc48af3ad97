//! The guarantees, on arbitrary streams: every kind of forecast, any scales, ties, far tails, outcomes chosen against the announcement, late, missing and
//! shuffled outcomes, and any combination of settings. Runs repeat: the seed is fixed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

mod aggregation;
mod greedy;
mod guard;
mod isotonic;
mod ledgers;
mod protocol;
mod stop_loss;
mod streams;
