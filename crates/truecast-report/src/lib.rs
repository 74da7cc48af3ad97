//! One self-contained page on how calibrated forecasts are, and the SVG charts that it is drawn with.
//!
//! ```
//! use truecast::{Gaussian, Pipeline, Recalibrator, normal, random};
//! use truecast_report::{FanPoint, Fan, MapCurve, Report, TimelineRow};
//!
//! let mut recalibrator = Pipeline::default();
//! let mut report = Report { title: "Wind power".into(), source: "forecasts.csv".into(), ..Report::default() };
//! let mut fan = Fan::default();
//! for row in 0..300 {
//!     let base = Gaussian::new(0.0, 0.5)?; // twice as sure as it should be
//!     let outcome = normal::quantile(random::uniform(1, row, 0).max(1e-9));
//!     let calibrated = recalibrator.recalibrate(base)?;
//!     report.scoreboard.observe(&base, &calibrated, outcome, random::uniform(1, row, random::ATOM_LANE))?;
//!     report.timeline.record(row, &TimelineRow::new(&base, &calibrated, outcome)?)?;
//!     if row >= 240 {
//!         fan.points.push(FanPoint::new(&row.to_string(), Some(outcome), &base, &calibrated)?);
//!     }
//!     recalibrator.observe(&base, outcome)?;
//! }
//! report.fan = Some(fan);
//! report.map = Some(MapCurve::new("", recalibrator.recalibrate(Gaussian::new(0.0, 1.0)?)?.map()));
//! report.certificate = Some(recalibrator.certificate());
//! let page = report.to_html(); // to be written to report.html
//! assert!(page.contains("Your 80\u{a0}% interval covered"));
//! # Ok::<(), truecast::Error>(())
//! ```
//!
//! # The few types
//!
//! - [`Report`] has public fields: fill those that are known. [`ReportKind::Evaluation`] is for forecasts that are judged and not
//!   recalibrated; pass the base forecast as the calibrated one to scoreboard and timeline.
//! - [`Timeline`] is what happened along a stream of any length, in at most 256 bins. Timelines of parts of a stream merge.
//! - [`Document`] is a page of figures, tables and words in the same style, for experiments.
//! - [`chart`] has the charts: in the page, or as files of their own.
//! - [`number`] has the ways in which numbers are written.
//!
//! # What the page promises
//!
//! It is one file that fetches nothing and runs no script. It reads on a telephone and on paper, in light and in dark; no table
//! makes the page wider than the window. All text from outside (keys, names, notes) is escaped. Words such as "better" are only used
//! where the difference is more than two standard errors; the error of the CRPS is measured by batch means over the timeline.
//!
//! # What it does not do
//!
//! It does no I/O and reads no clock: the same report gives the same page, byte for byte.

#![forbid(unsafe_code)]

pub mod chart;
mod document;
mod markup;
pub mod number;
mod page;
mod report;
mod timeline;

pub use document::{Document, DocumentTable};
pub use report::{FAN_PROBABILITIES, Fan, FanPoint, MapCurve, Report, ReportKind, SeriesLine};
pub use timeline::{
    Bin, BinSide, CoveragePoint, MOST_BINS, RowSide, TIMELINE_COVERAGE, Timeline, TimelineRow,
};
