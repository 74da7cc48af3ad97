//! Laws every Truecast implementation must pass, and golden values.
//!
//! Not published. [`golden`] reads the numbers that an independent implementation wrote; [`laws`] are what every
//! implementation of a trait owes. [`kinds`] has one forecast of every kind, and [`account`] books theorem 1 from what is
//! announced alone. The streams and adversaries that tests run on are in `truecast-streams`.

#![forbid(unsafe_code)]
// Test code: a broken fixture or a failed comparison must stop the test that met it, with everything it knows.
#![allow(clippy::panic, clippy::expect_used, clippy::unwrap_used)]

pub mod account;
pub mod golden;
pub mod kinds;
pub mod laws;
