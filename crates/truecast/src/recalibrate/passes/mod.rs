//! The two passes over the levels that a step consists of: one to announce, one to learn.
//!
//! The formulas of one level are in the files of their concepts; here they are put together, four levels at a time, so that every number
//! is read and written once. `lanes.rs` says how the vectors are laid out. Three habits let the compiler make vectors of them:
//!
//! - what a row of levels changes is copied, computed, and stored at the row's end, so that no row is seen to depend on another;
//! - sums over the levels are stored lane by lane, and added up across the lanes elsewhere;
//! - whether the ledgers are the usual two is asked once, and not at each row.

mod announce;
mod learn;

pub(super) use announce::{announce, follow, walk};
pub(super) use learn::{Gains, Sums, book, judge, judge_and_book, weighted_gain};
