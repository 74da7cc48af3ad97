//! The `truecast` command as a person meets it: the real program, in a folder of its own, on files with rough edges.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod harness;
mod reference;

mod cases;
mod commands;
mod errors;
mod events;
mod formats;
mod forms;
mod help;
mod keys;
mod late;
mod long_forms;
mod optimize;
mod report;
mod state;
mod summary;
