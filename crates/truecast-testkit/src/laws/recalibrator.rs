//! The laws of a recalibrator.
