//! The `truecast` command as a person meets it: the real program, in a folder of its own, on files with rough edges.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod harness;
mod reference;

mod commands;
mod errors;
mod formats;
mod forms;
mod keys;
mod late;
mod report;
mod state;
