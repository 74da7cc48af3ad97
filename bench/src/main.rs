//! Benchmarks of one recalibration step, beside the straightforward scalar loop it replaces.
//!
//! ```text
//! cargo run --release -p truecast-bench -- step            ns per step, best of many short batches, all in one run
//! cargo run --release -p truecast-bench -- horizon         ns per step after 10³ … 10⁷ steps, and bytes per stream
//! cargo run --release -p truecast-bench -- instructions    instructions per step, counted by valgrind
//! cargo run --release -p truecast-bench -- models [CSV]    the base forecasters: streams and single fits
//! cargo run --release -p truecast-bench -- file [ROWS]     a file through the command `truecast`, beside reading it alone
//! ```
//!
//! Machines are noisy: contestants take turns in short batches and the best batch counts, so that ratios mean something even where
//! absolute times do not.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark prints, and its inputs are its own"
)]

mod files;
mod models;

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use truecast::forecast::Quantiles;
use truecast::monitor::Scoreboard;
use truecast::{Forecast, Gaussian, GuardMode, Parameters, Pipeline, Recalibrated, Stream};
use truecast_streams::{Scenario, Step};

/// Steps per batch: long enough for the clock, short enough to fit between interruptions.
const BATCH: usize = 1_000;
const BATCHES: usize = 300;

/// What the others are compared with.
const REFERENCE: &str = "default";

/// Everything that takes a forecast and an outcome per step.
type Contestant = (&'static str, Box<dyn FnMut(&Step)>);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["step"] => step(),
        ["horizon"] => horizon(),
        ["instructions"] => instructions(),
        ["models"] => models::run(None),
        ["models", file] => models::run(Some(file)),
        ["file"] => files::run(10_000_000),
        ["file", rows] => files::run(rows.parse().unwrap()),
        ["run", name, steps] => run(name, steps.parse().unwrap()),
        _ => println!("usage: truecast-bench [step | horizon | instructions | models [CSV] | file [ROWS]]"),
    }
}

fn contestants() -> Vec<Contestant> {
    let paper = || Parameters::paper(20).unwrap().randomised(false).build().unwrap();
    vec![
        ("default", observing(Parameters::default())),
        ("default, reading an 80 % interval", reading(Parameters::default())),
        ("default, reading mean and standard deviation", reading_of(Step::forecast, moments)),
        ("default, reading the CRPS", reading_of(Step::forecast, crps)),
        ("default, with a scoreboard", scoring(Parameters::default())),
        ("default, making a table of 9 quantiles", reading_of(table(9), |_, _| 0.0)),
        ("default, and its mean and standard deviation", reading_of(table(9), moments)),
        ("default, and its CRPS", reading_of(table(9), crps)),
        ("default, making a table of 23 quantiles", reading_of(table(23), |_, _| 0.0)),
        ("default, and mean and standard deviation of it", reading_of(table(23), moments)),
        ("default, and the CRPS of it", reading_of(table(23), crps)),
        ("default, outcomes at once", at_once(Parameters::default())),
        ("default without guard", observing(Parameters::builder().guard(GuardMode::Off).build().unwrap())),
        ("ledgers alone", observing(Parameters::ledger().build().unwrap())),
        ("paper preset, expected plays", observing(paper())),
        ("paper preset, randomised", observing(Parameters::paper(20).unwrap().build().unwrap())),
        ("default with 8 groups", observing(Parameters::builder().groups(8).build().unwrap())),
    ]
}

/// Predict and observe: the plan is made, and settled with the outcome.
fn observing(parameters: Parameters) -> Box<dyn FnMut(&Step)> {
    let mut stream = Stream::<_, Gaussian>::new(Pipeline::new(parameters));
    Box::new(move |step| {
        let (ticket, calibrated) = stream.issue(step.forecast()).unwrap();
        black_box(&calibrated);
        black_box(stream.resolve(ticket, step.outcome).unwrap());
    })
}

/// The same without a ticket, as files and frames are read whose outcomes stand beside their forecasts.
fn at_once(parameters: Parameters) -> Box<dyn FnMut(&Step)> {
    let mut stream = Stream::<_, Gaussian>::new(Pipeline::new(parameters));
    Box::new(move |step| {
        black_box(stream.observe(step.forecast(), step.outcome).unwrap());
    })
}

/// The same with an interval read in between.
fn reading(parameters: Parameters) -> Box<dyn FnMut(&Step)> {
    let mut stream = Stream::<_, Gaussian>::new(Pipeline::new(parameters));
    Box::new(move |step| {
        let (ticket, calibrated) = stream.issue(step.forecast()).unwrap();
        black_box(calibrated.interval(0.8).unwrap());
        black_box(stream.resolve(ticket, step.outcome).unwrap());
    })
}

/// The same with something read in between from the forecast that `base` makes of the step's, seen through the map.
fn reading_of<F: Forecast + 'static>(
    base: impl Fn(&Step) -> F + 'static,
    read: impl Fn(&dyn Forecast, f64) -> f64 + 'static,
) -> Box<dyn FnMut(&Step)> {
    let mut stream = Stream::<_, Gaussian>::new(Pipeline::default());
    Box::new(move |step| {
        let (ticket, calibrated) = stream.issue(step.forecast()).unwrap();
        let base = base(step);
        black_box(read(&Recalibrated::new(&base, calibrated.map()), step.outcome));
        black_box(stream.resolve(ticket, step.outcome).unwrap());
    })
}

/// Mean and standard deviation.
fn moments(forecast: &dyn Forecast, _: f64) -> f64 {
    let moments = forecast.moments();
    moments.mean + moments.std()
}

fn crps(forecast: &dyn Forecast, y: f64) -> f64 {
    forecast.crps(y)
}

/// The normal distribution by `count` of its quantiles.
fn table(count: u32) -> impl Fn(&Step) -> Quantiles {
    let probabilities: Vec<f64> = (1..=count).map(|k| f64::from(k) / f64::from(count + 1)).collect();
    move |step| {
        let values: Vec<f64> = probabilities.iter().map(|&p| step.forecast().quantile(p)).collect();
        Quantiles::new(&probabilities, &values).unwrap()
    }
}

/// The same with everything that a report needs: two CRPS, coverage, widths and PITs.
fn scoring(parameters: Parameters) -> Box<dyn FnMut(&Step)> {
    let mut stream = Stream::<_, Gaussian>::new(Pipeline::new(parameters));
    let mut board = Scoreboard::default();
    Box::new(move |step| {
        let forecast = step.forecast();
        let (ticket, calibrated) = stream.issue(forecast).unwrap();
        board.observe(&forecast, &calibrated, step.outcome, 0.5).unwrap();
        black_box(stream.resolve(ticket, step.outcome).unwrap());
    })
}

fn step() {
    let data = Scenario::Volatility.stream(BATCH, 1);
    let mut all = contestants();
    let mut times = vec![Vec::with_capacity(BATCHES); all.len()];
    for _ in 0..BATCHES {
        for ((_, contestant), times) in all.iter_mut().zip(&mut times) {
            let start = Instant::now();
            data.iter().for_each(&mut *contestant);
            times.push(start.elapsed().as_nanos() as f64 / BATCH as f64);
        }
    }
    let of_reference = all.iter().zip(&times).find(|((name, _), _)| *name == REFERENCE);
    let reference = of_reference.map_or(f64::NAN, |(_, times)| best(times));
    println!("| step | best ns | median ns | of the default |\n|---|---|---|---|");
    for ((name, _), times) in all.iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        let (best, median) = (times[0], times[times.len() / 2]);
        println!("| {name} | {best:.0} | {median:.0} | {:.2} |", best / reference);
    }
}

fn best(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

fn horizon() {
    let data = Scenario::Volatility.stream(BATCH, 1);
    let mut all = contestants();
    let (_, contestant) = &mut all[0];
    println!("| after steps | best ns |\n|---|---|");
    let mut done = 0;
    for target in [1_000, 10_000, 100_000, 1_000_000, 10_000_000] {
        let mut times = Vec::new();
        while done < target {
            let start = Instant::now();
            data.iter().for_each(&mut *contestant);
            times.push(start.elapsed().as_nanos() as f64 / BATCH as f64);
            done += BATCH;
        }
        println!("| {target} | {:.0} |", best(&times[times.len().saturating_sub(1_000)..]));
    }
}

/// Runs one contestant for so many steps: what `instructions` counts.
fn run(name: &str, steps: usize) {
    let data = Scenario::Volatility.stream(BATCH, 1);
    let mut all = contestants();
    let (_, contestant) = all.iter_mut().find(|(known, _)| *known == name).unwrap();
    data.iter().cycle().take(steps).for_each(contestant);
}

/// Counts twice, so that what happens before the first step cancels.
fn instructions() {
    println!("| step | instructions |\n|---|---|");
    for (name, _) in contestants() {
        let count = |steps: usize| count_instructions(name, steps);
        println!("| {name} | {} |", (count(12_000) - count(2_000)) / 10_000);
    }
}

fn count_instructions(name: &str, steps: usize) -> u64 {
    let this = std::env::current_exe().unwrap();
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(this)
        .args(["run", name, &steps.to_string()])
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = report.lines().find(|line| line.contains("Collected")).unwrap_or_else(|| panic!("{report}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}
