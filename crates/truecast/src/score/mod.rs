//! Proper scores.

pub mod crps;
