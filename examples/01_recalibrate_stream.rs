//! Placeholder until the recalibrator is in.
fn main() {}
