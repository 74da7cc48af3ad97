//! What a report is made from.

use serde::{Deserialize, Serialize};
use truecast::monitor::{Certificate, Scoreboard, Sides};
use truecast::recalibrate::Map;
use truecast::{Forecast, Result, normal};

use crate::page;
use crate::timeline::{TIMELINE_COVERAGE, Timeline};

/// The probabilities of a fan's quantiles.
pub const FAN_PROBABILITIES: [f64; 7] = [0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975];

/// Whether there are calibrated forecasts to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportKind {
    /// Base and calibrated forecasts side by side.
    #[default]
    Calibration,
    /// Base forecasts alone. The calibrated side of scoreboard and timeline is not looked at; the fan's quantiles are the base's.
    Evaluation,
}

/// One report: fill the fields, then ask for [`to_html`](Report::to_html).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Report {
    /// Whether there are calibrated forecasts.
    pub kind: ReportKind,
    /// The page's title.
    pub title: String,
    /// Where the forecasts are from: "forecasts.csv".
    pub source: String,
    /// Names and values of the settings in force.
    pub settings: Vec<(String, String)>,
    /// Coverage, PIT, CRPS, sharpness.
    pub scoreboard: Scoreboard,
    /// The same along the stream.
    pub timeline: Timeline,
    /// The last forecasts.
    pub fan: Option<Fan>,
    /// The map in force.
    pub map: Option<MapCurve>,
    /// What the recalibrator owes, and can owe at most.
    pub certificate: Option<Certificate>,
    /// One line per series; shown if there is more than one.
    pub series: Vec<SeriesLine>,
    /// What the reader should know: "12 rows skipped".
    pub notes: Vec<String>,
}

impl Report {
    /// The report as one self-contained HTML page: no scripts, nothing fetched.
    pub fn to_html(&self) -> String {
        page::html(self)
    }

    pub(crate) fn compares(&self) -> bool {
        self.kind == ReportKind::Calibration
    }
}

/// The last forecasts of one series.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Fan {
    /// The series' name; may be empty where there is only one.
    pub series: String,
    /// From the earliest to the latest.
    pub points: Vec<FanPoint>,
}

/// One forecast of a [`Fan`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FanPoint {
    /// When: a time, or the number of the row.
    pub time: String,
    /// What happened, if it is known.
    pub outcome: Option<f64>,
    /// Calibrated quantiles at [`FAN_PROBABILITIES`].
    pub quantiles: [f64; 7],
    /// The base forecast's 80 % interval.
    pub raw: (f64, f64),
}

impl FanPoint {
    /// Of a base forecast and the calibrated one.
    pub fn new(
        time: &str,
        outcome: Option<f64>,
        base: &dyn Forecast,
        calibrated: &dyn Forecast,
    ) -> Result<Self> {
        Ok(FanPoint {
            time: time.to_owned(),
            outcome,
            quantiles: FAN_PROBABILITIES.map(|p| calibrated.quantile(p)),
            raw: base.interval(TIMELINE_COVERAGE)?,
        })
    }
}

/// The map from base to calibrated probabilities.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MapCurve {
    /// The series' name; may be empty where there is only one.
    pub series: String,
    /// (base probability, calibrated probability), from left to right.
    pub points: Vec<(f64, f64)>,
}

impl MapCurve {
    /// The map at 201 probabilities from 0 to 1.
    pub fn new(series: &str, map: &Map) -> Self {
        let point = |k: u32| {
            let p = f64::from(k) / 200.0;
            match k {
                0 | 200 => (p, p),
                _ => (p, normal::cdf(map.probit(normal::quantile(p)))),
            }
        };
        MapCurve { series: series.to_owned(), points: (0..=200).map(point).collect() }
    }
}

/// What is known of one series.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SeriesLine {
    /// The series' name.
    pub key: String,
    /// Its outcomes.
    pub rows: u64,
    /// The share of outcomes in the 80 % interval.
    pub coverage80: Sides,
    /// The mean CRPS.
    pub crps: Sides,
}
