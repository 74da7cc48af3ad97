//! Following a stream of forecasts and outcomes: is it calibrated, is it sharp, what did it cost.
//!
//! A monitor takes one outcome at a time through `observe…`, needs the same memory at the millionth as at the first,
//! can be saved and loaded, and can be merged with another of the same shape, as for many series or many machines.
//! Before the first outcome it answers `None`, not 0.
//!
//! | monitor | file | question |
//! |---|---|---|
//! | [`Coverage`] | `coverage.rs` | how often do central intervals hold the outcome, in all and recently |
//! | [`PitHistogram`] | `pit.rs` | are the probability integral transforms uniform |
//! | [`CalibrationScore`] | `calibration_score.rs` | the paper's score of the same |
//! | [`QuantileError`] | `quantile_error.rs` | which quantile is furthest from its probability |
//! | [`ThresholdCalibration`] | `threshold.rs` | the paper's ρ_T(y, p) and C_T(y) at one y |
//! | [`Sharpness`] | `sharpness.rs` | how wide are the intervals |
//! | [`Regret`] | `regret.rs` | CRPS of the calibrated forecasts against that of the base |
//! | [`MarkovMonitor`] | `markov.rs` | how often do losses exceed r times their estimates, against 1/r |
//! | [`Certificate`] | `certificate.rs` | what is promised, and what was measured |
//! | [`Scoreboard`] | `scoreboard.rs` | all of these, raw and calibrated side by side |
//!
//! Where a forecast has atoms its PIT is not one number: pass the
//! [randomised probit score](crate::Forecast::randomised_probit), as [`Scoreboard`] does.

mod calibration_score;
mod certificate;
mod coverage;
mod markov;
mod pit;
mod quantile_error;
mod regret;
mod scoreboard;
mod sharpness;
mod sum;
mod threshold;

pub use calibration_score::CalibrationScore;
pub use certificate::{
    Certificate, GuardCertificate, IntervalCertificate, LedgerCertificate, LedgersCertificate,
    StopLossCertificate,
};
pub use coverage::{Coverage, DEFAULT_COVERAGES};
pub use markov::{DEFAULT_RATIOS, MarkovMonitor};
pub use pit::PitHistogram;
pub use quantile_error::QuantileError;
pub use regret::Regret;
pub use scoreboard::{CrpsSummary, Scoreboard, Side, Sides, Summary};
pub use sharpness::Sharpness;
pub use sum::CompensatedSum;
pub use threshold::ThresholdCalibration;
