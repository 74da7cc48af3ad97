//! From a run to its report.

use truecast::Recalibrator;
use truecast::forecast::Gaussian;
use truecast::monitor::Sides;
use truecast_fleet::{Fleet, Lateness, RowScores, Series};
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

fn settings(fleet: &Fleet) -> Vec<(String, String)> {
    let settings = fleet.settings();
    let mut lines = vec![("method".to_owned(), settings.method.to_string())];
    let mut add = |name: &str, value: String| lines.push((name.to_owned(), value));
    if settings.paper.is_some() {
        add("preset", "paper".to_owned());
    }
    if let Some(half_life) = settings.half_life {
        add("half-life", half_life.to_string());
    }
    if let Some(prior) = settings.prior {
        add("prior", prior.to_string());
    }
    if settings.groups > 0 {
        add("groups", format!("up to {}", settings.groups));
    }
    for threshold in &settings.thresholds {
        add("threshold", threshold.to_string());
    }
    for (name, on) in [("memory", settings.memory), ("trust", settings.trust), ("guard", settings.guard)] {
        if !on {
            add(name, "off".to_owned());
        }
    }
    if settings.randomised == Some(true) {
        add("randomised", "on".to_owned());
    }
    if settings.lateness != Lateness::Next {
        add("outcomes", settings.lateness.to_string());
    }
    add("seed", settings.seed.to_string());
    lines
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

/// The map that the series' next forecast would go through, if it were a standard normal one.
fn map(series: &Series) -> Result<MapCurve> {
    let calibrated = series.recalibrator().recalibrate(Gaussian::new(0.0, 1.0)?)?;
    Ok(MapCurve::new(&series.label(), calibrated.map()))
}

fn line(series: &Series) -> Option<SeriesLine> {
    let summary = series.scoreboard()?.summary();
    let crps = Sides { raw: summary.crps.raw, calibrated: summary.crps.calibrated };
    let coverage80 = summary.coverage.get("0.8").copied().unwrap_or_default();
    Some(SeriesLine { key: series.label(), rows: summary.rows, coverage80, crps })
}
