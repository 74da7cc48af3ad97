//! From a run to its report.

use truecast::Recalibrator;
use truecast::monitor::Sides;
use truecast_fleet::{Fleet, RowScores, Series, Settings};
use truecast_report::{
    Fan, FanPoint, MapCurve, Report, ReportKind, RowSide, SeriesLine, Timeline, TimelineRow,
};

use crate::failure::Result;
use crate::terminal::{count, plural};

/// Forecasts in the fan chart.
pub(crate) const FAN_ROWS: usize = 120;

/// Follows a run in flat memory.
#[derive(Debug)]
pub(crate) struct Recorder {
    wanted: bool,
    rows: u64,
    timeline: Timeline,
}

impl Recorder {
    pub(crate) fn new(wanted: bool) -> Self {
        Recorder { wanted, rows: 0, timeline: Timeline::default() }
    }

    /// Takes the scores of a batch of this many rows.
    pub(crate) fn record(&mut self, rows: usize, scores: &[RowScores]) -> Result<()> {
        if self.wanted {
            for score in scores {
                let side = |k: usize| RowSide {
                    covered: score.covered[k],
                    crps: score.crps[k],
                    width: score.width[k],
                };
                let row = TimelineRow { raw: side(0), calibrated: side(1) };
                self.timeline.record(self.rows + score.row as u64, &row)?;
            }
        }
        self.rows += rows as u64;
        Ok(())
    }

    /// The report of a run.
    pub(crate) fn report(
        &self,
        fleet: &Fleet,
        source: &str,
        mut notes: Vec<String>,
        raw_only: bool,
    ) -> Result<Report> {
        let first = fleet.series().next();
        let repaired = fleet.tally().repaired;
        if repaired > 0 {
            let rows = plural(repaired, "row", "rows");
            notes.push(format!("Quantiles crossed in {} {rows} and were sorted.", count(repaired)));
        }
        Ok(Report {
            kind: if raw_only { ReportKind::Evaluation } else { ReportKind::Calibration },
            title: if raw_only { "How honest are these forecasts?" } else { "Calibration report" }.to_owned(),
            source: source.to_owned(),
            settings: if raw_only { Vec::new() } else { settings(fleet) },
            scoreboard: fleet.scoreboard()?,
            timeline: self.timeline.clone(),
            fan: first.filter(|series| series.fan().next().is_some()).map(fan),
            map: match first {
                Some(series) if !raw_only => Some(map(series)?),
                _ => None,
            },
            certificate: if raw_only { None } else { fleet.certificate() },
            series: fleet.series().filter_map(line).collect(),
            notes,
        })
    }
}

/// The method, and every setting that was changed.
fn settings(fleet: &Fleet) -> Vec<(String, String)> {
    let (settings, usual) =
        (fleet.settings(), Settings { method: fleet.settings().method, ..Settings::default() });
    let pairs = settings.named().into_iter().zip(usual.named());
    let told = pairs.filter(|((name, value), usual)| ["method", "seed"].contains(name) || *value != usual.1);
    told.map(|((name, value), _)| (name.to_owned(), value)).collect()
}

fn fan(series: &Series) -> Fan {
    let point = |point: &truecast_fleet::FanPoint| FanPoint {
        time: point.label.clone(),
        outcome: point.outcome,
        quantiles: point.calibrated,
        raw: point.raw,
    };
    Fan { series: series.label(), points: series.fan().map(point).collect() }
}

/// The map that the series' next forecast would go through, if it were like those of late.
fn map(series: &Series) -> Result<MapCurve> {
    let recalibrator = series.recalibrator();
    let calibrated = recalibrator.recalibrate(recalibrator.usual_forecast())?;
    Ok(MapCurve::new(&series.label(), calibrated.map()))
}

fn line(series: &Series) -> Option<SeriesLine> {
    let summary = series.scoreboard()?.summary();
    let crps = Sides { raw: summary.crps.raw, calibrated: summary.crps.calibrated };
    let coverage80 = summary.coverage.get("0.8").copied().unwrap_or_default();
    Some(SeriesLine { key: series.label(), rows: summary.rows, coverage80, crps })
}
