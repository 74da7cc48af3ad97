//! What is measured of one method on one stream.

use std::time::{Duration, Instant};

use truecast::monitor::{CalibrationScore, Coverage, QuantileError, Regret};
use truecast::recalibrate::AnyRecalibrator;
use truecast::{Forecast, Gaussian, Stream, random};
use truecast_streams::Step;

use crate::figures::{change, mean_and_error};

const NOMINAL: [f64; 3] = [0.5, 0.8, 0.98];
/// The quantiles whose frequencies are compared: the ends of the usual intervals, and a grid between them.
const QUANTILES: [f64; 27] = [
    0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7,
    0.75, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999,
];
const WINDOW: u64 = 500;
const COVERAGE_80: f64 = 0.8;

/// A method that is being measured.
#[derive(Debug)]
pub struct Measurement {
    stream: Stream<AnyRecalibrator, Gaussian>,
    base: Side,
    calibrated: Side,
    regret: Regret,
    time: Duration,
    steps: u32,
}

/// One of the two forecasts.
#[derive(Debug)]
struct Side {
    coverage: Coverage,
    quantiles: QuantileError,
    score: CalibrationScore,
    window_hits: u64,
    rolling_errors: Vec<f64>,
    seen: u64,
}

impl Side {
    fn new() -> Self {
        Side {
            coverage: Coverage::new(NOMINAL.to_vec(), 500.0).unwrap(),
            quantiles: QuantileError::new(QUANTILES.to_vec()).unwrap(),
            score: CalibrationScore::default(),
            window_hits: 0,
            rolling_errors: Vec::new(),
            seen: 0,
        }
    }

    fn observe(&mut self, forecast: &dyn Forecast, outcome: f64, draw: f64) {
        self.coverage.observe(forecast, outcome).unwrap();
        let score = forecast.randomised_probit(outcome, draw);
        self.quantiles.observe_probit(score).unwrap();
        self.score.observe_probit(score).unwrap();
        let (low, high) = forecast.interval(COVERAGE_80).unwrap();
        self.window_hits += u64::from(low <= outcome && outcome <= high);
        self.seen += 1;
        if self.seen.is_multiple_of(WINDOW) {
            self.rolling_errors.push((self.window_hits as f64 / WINDOW as f64 - COVERAGE_80).abs());
            self.window_hits = 0;
        }
    }

    fn figures(&self, crps_change: f64) -> Figures {
        let rolling = &self.rolling_errors;
        Figures {
            crps_change,
            coverage: [0, 1, 2].map(|k| 100.0 * self.coverage.share(k).unwrap_or(f64::NAN)),
            off: self.quantiles.largest().map_or(f64::NAN, |(_, error)| 100.0 * error.abs()),
            rolling: 100.0 * rolling.iter().sum::<f64>() / rolling.len() as f64,
            score: self.score.score().unwrap_or(f64::NAN),
            nanoseconds: f64::NAN,
        }
    }
}

impl Measurement {
    /// Nothing measured yet.
    pub fn new(recalibrator: AnyRecalibrator) -> Self {
        let stream = Stream::new(recalibrator);
        let (base, calibrated) = (Side::new(), Side::new());
        Measurement { stream, base, calibrated, regret: Regret::default(), time: Duration::ZERO, steps: 0 }
    }

    /// Learns without measuring.
    pub fn learn(&mut self, step: &Step) {
        self.stream.observe(step.forecast(), step.outcome).unwrap();
    }

    /// Measures one step.
    pub fn step(&mut self, step: &Step) {
        let (forecast, outcome) = (step.forecast(), step.outcome);
        let start = Instant::now();
        let (ticket, calibrated) = self.stream.issue(forecast).unwrap();
        let predicted = start.elapsed();
        let draw = random::uniform(1, ticket.number(), random::ATOM_LANE);
        self.base.observe(&forecast, outcome, draw);
        self.calibrated.observe(&calibrated, outcome, draw);
        self.regret.observe(forecast.crps(outcome), calibrated.crps(outcome)).unwrap();
        let start = Instant::now();
        self.stream.resolve(ticket, outcome).unwrap();
        self.time += predicted + start.elapsed();
        self.steps += 1;
    }

    /// What it came to.
    pub fn summary(&self) -> Summary {
        let change = self.regret.regret_percent().unwrap_or(f64::NAN);
        let mut calibrated = self.calibrated.figures(change);
        calibrated.nanoseconds = self.time.as_nanos() as f64 / f64::from(self.steps.max(1));
        Summary { base: self.base.figures(0.0), calibrated }
    }
}

/// What one run came to.
#[derive(Debug)]
pub struct Summary {
    base: Figures,
    calibrated: Figures,
}

impl Summary {
    /// The base forecast.
    pub fn base(&self) -> &Figures {
        &self.base
    }

    /// What was announced.
    pub fn calibrated(&self) -> &Figures {
        &self.calibrated
    }
}

/// The columns of the table.
#[derive(Debug)]
pub struct Figures {
    /// In percent.
    pub crps_change: f64,
    /// Of the 50, 80 and 98 % intervals, in percent.
    pub coverage: [f64; 3],
    off: f64,
    rolling: f64,
    score: f64,
    /// For a step.
    pub nanoseconds: f64,
}

/// One line of the table: means over the runs.
pub fn row(name: &str, runs: &[Summary], side: impl Fn(&Summary) -> &Figures) -> String {
    let column =
        |figure: &dyn Fn(&Figures) -> f64| runs.iter().map(|run| figure(side(run))).collect::<Vec<_>>();
    let change = change(&column(&|f| f.crps_change));
    let plain = |figure: &dyn Fn(&Figures) -> f64| mean_and_error(&column(figure)).0;
    let [fifty, eighty, ninety_eight] = [0, 1, 2].map(|k| plain(&|f: &Figures| f.coverage[k]));
    let (off, rolling, score) = (plain(&|f| f.off), plain(&|f| f.rolling), plain(&|f| f.score));
    let time = plain(&|f| f.nanoseconds);
    let time = if time.is_nan() { String::new() } else { format!("{time:.0}") };
    let rolling = if rolling.is_nan() { "–".to_string() } else { format!("{rolling:.1}") };
    format!(
        "| {name} | {change} | {fifty:.1} | {eighty:.1} | {ninety_eight:.1} | {off:.1} | {rolling} | {score:.5} | {time} |"
    )
}
