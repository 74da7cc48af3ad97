//! Laws: what every implementation of a trait owes, one function per trait.

pub mod recalibrator;
pub mod subroutine;
