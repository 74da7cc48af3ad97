//! Laws every Truecast implementation must pass, seeded streams, adversaries and golden values.
//!
//! Not published. [`streams`] are outcomes fixed in advance, each with a forecaster that is wrong in one known way;
//! [`adversary`] is for outcomes chosen after the forecast was seen; [`golden`] reads the numbers that an independent
//! implementation wrote; [`laws`] are what every implementation of a trait owes.

#![forbid(unsafe_code)]
// Test code: a broken fixture or a failed comparison must stop the test that met it, with everything it knows.
#![allow(clippy::panic, clippy::expect_used, clippy::unwrap_used)]

pub mod adversary;
pub mod golden;
pub mod laws;
pub mod streams;
