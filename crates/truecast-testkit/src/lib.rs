//! Laws every Truecast implementation must pass, seeded streams, adversaries and golden values.

// A law that is broken must stop the test that runs it, with all it knows.
#![allow(clippy::panic, clippy::expect_used, clippy::unwrap_used)]

pub mod laws;
