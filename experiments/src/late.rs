//! Every built-in stream with outcomes that come late: by nothing, 5, 23 and 100 steps.
//!
//! ```text
//! cargo run --release -p truecast-experiments --bin late > experiments/late.md
//! ```
//!
//! Seeded: everything repeats.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a table is printed, inputs are its own"
)]

use std::collections::VecDeque;

use truecast::recalibrate::Method;
use truecast::{Forecast, Gaussian, Stream};
use truecast_experiments::contestant::Contestant;
use truecast_experiments::figures::{change, mean_and_error};
use truecast_streams::{Scenario, Step};

const SEEDS: u64 = 5;
const STEPS: usize = 5_000;
const DELAYS: [usize; 4] = [0, 5, 23, 100];

/// One run: the change of the CRPS and the coverage of the 80 % interval, in percent.
struct Run {
    change: f64,
    covered: f64,
}

fn main() {
    let announced = [Method::Experts, Method::Ledger, Method::Emos, Method::RollingConformal];
    let bare = [Method::Experts, Method::Emos, Method::RollingConformal];
    let contestants: Vec<Contestant> =
        announced.map(Contestant::announced).into_iter().chain(bare.map(Contestant::bare)).collect();
    println!("# Outcomes that come late\n");
    println!("    cargo run --release -p truecast-experiments --bin late > experiments/late.md\n");
    println!(
        "All {} built-in streams, {STEPS} steps, {SEEDS} seeds; the outcome of a forecast becomes known before the forecast so many steps later is made, one later than \
         it would otherwise. Changes of CRPS against the base in percent; ± is the standard error over the seeds. *worst run* is the worst of all streams and seeds. \
         Methods are announced by default, or *bare*: without stop-loss and guard. Read with [README.md](README.md).\n",
        Scenario::ALL.len()
    );
    let mut tables = String::new();
    println!("| method | late | mean CRPS change % | worst stream | worst run | coverage error at 80 % |");
    println!("|---|---|---|---|---|---|");
    for contestant in contestants {
        eprintln!("{} …", contestant.name());
        let mut columns = Vec::new();
        for delay in DELAYS {
            let streams: Vec<Vec<Run>> = Scenario::ALL
                .into_iter()
                .map(|scenario| (0..SEEDS).map(|seed| run(contestant, scenario, seed, delay)).collect())
                .collect();
            println!("| {} | {delay} | {} |", contestant.name(), line(&streams));
            columns.push(streams);
        }
        tables += &table(contestant, &columns);
    }
    println!("\n{tables}");
}

fn run(contestant: Contestant, scenario: Scenario, seed: u64, delay: usize) -> Run {
    let mut stream: Stream<_, Gaussian> = Stream::new(contestant.build(seed));
    let mut waiting = VecDeque::new();
    let (mut base, mut announced, mut covered) = (0.0, 0.0, 0);
    for step in scenario.steps(STEPS, seed) {
        let forecast = step.forecast();
        let (ticket, calibrated) = stream.issue(forecast).unwrap();
        base += forecast.crps(step.outcome);
        announced += calibrated.crps(step.outcome);
        let (low, high) = calibrated.interval(0.8).unwrap();
        covered += u32::from((low..=high).contains(&step.outcome));
        waiting.push_back((ticket, step));
        while waiting.len() > delay {
            let Some((ticket, Step { outcome, .. })) = waiting.pop_front() else { break };
            stream.resolve(ticket, outcome).unwrap();
        }
    }
    Run { change: 100.0 * (announced / base - 1.0), covered: 100.0 * f64::from(covered) / STEPS as f64 }
}

/// The four columns of a method and a delay.
fn line(streams: &[Vec<Run>]) -> String {
    let count = streams.len() as f64;
    let means: Vec<f64> = (0..SEEDS as usize)
        .map(|seed| streams.iter().map(|runs| runs[seed].change).sum::<f64>() / count)
        .collect();
    let worst_stream = streams
        .iter()
        .zip(Scenario::ALL)
        .map(|(runs, scenario)| (mean(runs), scenario))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(change, scenario)| format!("{change:+.2} ({scenario})"))
        .unwrap_or_default();
    let worst_run = streams.iter().flatten().map(|run| run.change).fold(f64::NEG_INFINITY, f64::max);
    let off: Vec<f64> = streams.iter().flatten().map(|run| (run.covered - 80.0).abs()).collect();
    format!("{} | {worst_stream} | {worst_run:+.2} | {:.2}", change(&means), mean_and_error(&off).0)
}

fn mean(runs: &[Run]) -> f64 {
    mean_and_error(&runs.iter().map(|run| run.change).collect::<Vec<_>>()).0
}

fn table(contestant: Contestant, columns: &[Vec<Vec<Run>>]) -> String {
    let mut text = format!("## {}\n\n| stream |", contestant.name());
    let cells = |of: fn(usize) -> String| DELAYS.map(of).join(" | ");
    text += &format!(
        " {} |\n|---|---|---|---|---|\n",
        cells(|delay| format!("{delay} late: CRPS %, 80 % covers"))
    );
    for (k, scenario) in Scenario::ALL.iter().enumerate() {
        text += &format!("| {scenario} |");
        for streams in columns {
            let runs = &streams[k];
            let changes: Vec<f64> = runs.iter().map(|run| run.change).collect();
            let covered: Vec<f64> = runs.iter().map(|run| run.covered).collect();
            text += &format!(" {}, {:.1} |", change(&changes), mean_and_error(&covered).0);
        }
        text += "\n";
    }
    text + "\n"
}
