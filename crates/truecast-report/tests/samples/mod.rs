//! Reports from seeded streams, for the tests of the page.

#![allow(dead_code, reason = "each test binary uses a part")]

use truecast::monitor::Sides;
use truecast::{Gaussian, Pipeline, Recalibrator, normal, random};
use truecast_report::{Fan, FanPoint, MapCurve, Report, ReportKind, SeriesLine, TimelineRow};

/// A standard normal draw.
fn noise(seed: u64, row: u64, lane: u32) -> f64 {
    normal::quantile(random::uniform(seed, row, lane).max(1e-12))
}

/// A forecaster that is `scale` times as wide as the truth; the truth swings with a period of 40 rows.
pub(crate) fn stream(rows: u64, scale: f64, seed: u64) -> Report {
    let mut recalibrator = Pipeline::default();
    let mut report = Report {
        title: "Day-ahead wind power".into(),
        source: "forecasts.csv".into(),
        settings: vec![
            ("method".into(), "ledger".into()),
            ("levels".into(), "49".into()),
            ("seed".into(), seed.to_string()),
        ],
        ..Report::default()
    };
    let mut fan = Fan { series: "north".into(), points: Vec::new() };
    for row in 0..rows {
        let mean = 20.0 + 3.0 * (row as f64 * std::f64::consts::TAU / 40.0).sin();
        let base = Gaussian::new(mean, 2.0 * scale).unwrap();
        let outcome = mean + 2.0 * noise(seed, row, 0);
        let calibrated = recalibrator.recalibrate(base).unwrap();
        let draw = random::uniform(seed, row, random::ATOM_LANE);
        report.scoreboard.observe(&base, &calibrated, outcome, draw).unwrap();
        report.timeline.record(row, &TimelineRow::new(&base, &calibrated, outcome).unwrap()).unwrap();
        if row + 60 >= rows {
            let known = (row + 3 < rows).then_some(outcome);
            let time = format!("2026-03-{:02}T{:02}:00Z", 1 + (row / 24) % 28, row % 24);
            fan.points.push(FanPoint::new(&time, known, &base, &calibrated).unwrap());
        }
        recalibrator.observe(&base, outcome).unwrap();
    }
    let next = recalibrator.recalibrate(Gaussian::new(0.0, 1.0).unwrap()).unwrap();
    report.map = Some(MapCurve::new("north", next.map()));
    report.fan = (rows > 0).then_some(fan);
    report.certificate = Some(recalibrator.certificate());
    report
}

/// Names of all kinds, one of them long and without a place to break.
pub(crate) fn with_series(mut report: Report, count: u64) -> Report {
    let long = format!("plant/{}/<script>alert(1)</script>&\"'", "x".repeat(400));
    report.series = (0..count)
        .map(|index| {
            let share = |lane: u32| Some(random::uniform(7, index, lane));
            SeriesLine {
                key: if index == 3 { long.clone() } else { format!("turbine {index}") },
                rows: 10 + 37 * index,
                coverage80: Sides { raw: share(0), calibrated: share(1) },
                crps: Sides { raw: share(2).map(|x| 1e4 * x), calibrated: share(3) },
            }
        })
        .collect();
    if let Some(fan) = &mut report.fan {
        fan.series = long.clone();
    }
    report.notes = vec!["12 rows skipped: no outcome".into(), format!("series {long} has gaps")];
    report.settings.push((long.clone(), long.clone()));
    report.source = format!("/data/{}/forecasts.csv", "directory".repeat(40));
    report.title = format!("Every turbine <b>of</b> {long}");
    report
}

/// The same numbers times a constant: axes with very long or very short numbers.
fn magnified(rows: u64, factor: f64) -> Report {
    let mut report = Report { title: format!("In units of {factor}"), ..Report::default() };
    let mut fan = Fan::default();
    for row in 0..rows {
        let base = Gaussian::new(factor, factor).unwrap();
        let calibrated = Gaussian::new(factor, 0.7 * factor).unwrap();
        let outcome = factor * (1.0 + noise(9, row, 0));
        report.scoreboard.observe(&base, &calibrated, outcome, 0.5).unwrap();
        let line = TimelineRow::new(&base, &calibrated, outcome).unwrap();
        report.timeline.record(1_000_000 * row, &line).unwrap();
        fan.points.push(FanPoint::new(&row.to_string(), Some(outcome), &base, &calibrated).unwrap());
    }
    report.fan = Some(fan);
    report.certificate = stream(rows, 0.6, 8).certificate.map(|mut certificate| {
        for ledger in &mut certificate.ledgers {
            let announced = ledger.announced_regret.iter_mut();
            announced.chain([&mut ledger.regret, &mut ledger.regret_bound]).for_each(|sum| *sum *= factor);
        }
        certificate
    });
    report
}

/// Every report that the tests look at, by name.
pub(crate) fn all() -> Vec<(&'static str, Report)> {
    let mut evaluation = stream(5_000, 0.5, 4);
    evaluation.kind = ReportKind::Evaluation;
    evaluation.title = "How good are the wind forecasts?".into();
    let bare = Report { title: "Nothing".into(), ..Report::default() };
    vec![
        ("narrow", stream(20_000, 0.6, 1)),
        ("series", with_series(stream(1_200, 1.8, 2), 3_000)),
        ("right", stream(700, 1.0, 3)),
        ("evaluation", with_series(evaluation, 5)),
        ("empty", stream(0, 1.0, 5)),
        ("bare", bare),
        ("one", stream(1, 1.0, 6)),
        ("huge", magnified(300, 3e9)),
        ("tiny", magnified(300, 3e-9)),
    ]
}
