//! Every method on every stream: accuracy, coverage and cost, in one table for all and one per stream.
//!
//! ```text
//! cargo run --release -p truecast-experiments --bin methods > experiments/methods.md
//! ```
//!
//! Seeded: everything but the times repeats. Means over [`SEEDS`] seeds; ± is the standard error over them.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a table is printed, inputs are its own"
)]

use truecast::recalibrate::{AnyRecalibrator, Family, Method};
use truecast_experiments::contestant::{Contestant, REACH};
use truecast_experiments::figures::{change, mean_and_error};
use truecast_experiments::measure::{self, Measurement, Summary};
use truecast_streams::{Scenario, Step};

const SEEDS: u64 = 5;
const STEPS: usize = 5_000;

/// What is measured of one contestant: a row of summaries, one per seed, for every stream.
struct Entry {
    contestant: Contestant,
    streams: Vec<Vec<Summary>>,
}

fn main() {
    let contestants: Vec<Contestant> =
        Method::ALL.into_iter().flat_map(|m| [Contestant::announced(m), Contestant::bare(m)]).collect();
    let entries: Vec<Entry> = contestants.into_iter().map(measure_everywhere).collect();
    println!("# Every method on every stream\n");
    println!("    cargo run --release -p truecast-experiments --bin methods > experiments/methods.md\n");
    println!(
        "All {} built-in streams, {STEPS} steps, {SEEDS} seeds; ± is the standard error over the seeds. A method is measured as it is announced by default, behind the \
         stop-loss (ours also behind the guard), and *bare*: what the method itself says. Quantile methods may put a quantile at the end of the line, and CRPS \
         then grows with where the line ends: here at {REACH} standard deviations. Times are for a step that is predicted and observed, on a shared machine: compare \
         them within a table. Made to be read with [README.md](README.md).\n",
        Scenario::ALL.len()
    );
    summary("As announced by default", &entries, false);
    summary("Bare", &entries, true);
    standings(&entries);
    for (k, scenario) in Scenario::ALL.iter().enumerate() {
        println!("## {scenario}: {}\n", scenario.description());
        println!(
            "*off* is the largest distance of any of 27 quantiles from its nominal frequency; *rolling* is the mean distance of the 80 % interval's coverage from \
             80 % over windows of 500 steps.\n"
        );
        rows(entries.iter().map(|entry| (entry.contestant.name(), &entry.streams[k])));
    }
    jump();
    authors();
}

fn measure_everywhere(contestant: Contestant) -> Entry {
    eprintln!("{} …", contestant.name());
    let runs = |scenario: Scenario| {
        (0..SEEDS).map(|seed| follow(contestant.build(seed), &scenario.stream(STEPS, seed))).collect()
    };
    Entry { contestant, streams: Scenario::ALL.into_iter().map(runs).collect() }
}

fn follow(recalibrator: AnyRecalibrator, steps: &[Step]) -> Summary {
    let mut measurement = Measurement::new(recalibrator);
    steps.iter().for_each(|step| measurement.step(step));
    measurement.summary()
}

impl Entry {
    /// The change of the CRPS on stream `k`, one per seed.
    fn changes(&self, k: usize) -> Vec<f64> {
        self.streams[k].iter().map(|run| run.calibrated().crps_change).collect()
    }

    /// The mean over the streams, one per seed.
    fn mean_changes(&self) -> Vec<f64> {
        let count = self.streams.len() as f64;
        let of = |seed: usize| {
            self.streams.iter().map(|runs| runs[seed].calibrated().crps_change).sum::<f64>() / count
        };
        (0..SEEDS as usize).map(of).collect()
    }

    /// The mean distance of an interval's coverage from its nominal one, in points.
    fn coverage_error(&self, interval: usize, nominal: f64) -> f64 {
        let runs = self.streams.iter().flatten();
        let errors: Vec<f64> =
            runs.map(|run| (run.calibrated().coverage[interval] - nominal).abs()).collect();
        mean_and_error(&errors).0
    }
}

/// One line per method, the best first.
fn summary(title: &str, entries: &[Entry], bare: bool) {
    println!("## {title}: all streams\n");
    println!("| method | mean CRPS change % | worst stream | coverage error at 80 % | at 98 % | ns |");
    println!("|---|---|---|---|---|---|");
    let mut entries: Vec<&Entry> = entries.iter().filter(|entry| entry.contestant.bare == bare).collect();
    let mean = |entry: &Entry| mean_and_error(&entry.mean_changes()).0;
    entries.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
    for entry in entries {
        let worst = (0..entry.streams.len())
            .map(|k| (mean_and_error(&entry.changes(k)).0, Scenario::ALL[k]))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let worst = worst.map(|(change, scenario)| format!("{change:+.2} ({scenario})")).unwrap_or_default();
        let times: Vec<f64> =
            entry.streams.iter().flatten().map(|run| run.calibrated().nanoseconds).collect();
        println!(
            "| {} | {} | {worst} | {:.2} | {:.2} | {:.0} |",
            entry.contestant.method,
            change(&entry.mean_changes()),
            entry.coverage_error(1, 80.0),
            entry.coverage_error(2, 98.0),
            mean_and_error(&times).0,
        );
    }
    println!();
}

/// Where the default method stands on each stream, beside the best other one, announced and bare.
fn standings(entries: &[Entry]) {
    println!("## `experts` beside the best other method, stream by stream\n");
    println!(
        "*behind* is how much larger the change of `experts` is, over the same seeds; **bold** where that is more than two standard errors above 0. `ledger` does not count as another.\n"
    );
    println!("| stream | experts | best other, announced | behind | best other, bare | behind |");
    println!("|---|---|---|---|---|---|");
    let ours = &entries[0];
    for (k, scenario) in Scenario::ALL.iter().enumerate() {
        print!("| {scenario} | {} |", change(&ours.changes(k)));
        for bare in [false, true] {
            let others = entries.iter().filter(|entry| {
                entry.contestant.bare == bare && entry.contestant.method.family() != Family::Ours
            });
            let mean = |entry: &Entry| mean_and_error(&entry.changes(k)).0;
            let Some(best) = others.min_by(|a, b| mean(a).total_cmp(&mean(b))) else { continue };
            let behind: Vec<f64> = ours.changes(k).iter().zip(best.changes(k)).map(|(a, b)| a - b).collect();
            let (distance, error) = mean_and_error(&behind);
            let behind = change(&behind);
            let behind = if distance > 2.0 * error { format!("**{behind}**") } else { behind };
            print!(" {} {} | {behind} |", best.contestant.method, change(&best.changes(k)));
        }
        println!();
    }
    println!();
}

fn rows<'a>(entries: impl Iterator<Item = (String, &'a Vec<Summary>)>) {
    println!("| method | CRPS change % | 50 % | 80 % | 98 % | off % | rolling % | calibration score | ns |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (k, (name, runs)) in entries.enumerate() {
        if k == 0 {
            println!("{}", measure::row("base", runs, Summary::base));
        }
        println!("{}", measure::row(&name, runs, Summary::calibrated));
    }
    println!();
}

/// How soon a change of scale is followed.
fn jump() {
    const LENGTH: usize = 20_000;
    println!("## scale jump: the 1,000 steps after outcomes triple their scale, in the middle of {LENGTH}\n");
    let measured = |contestant: Contestant| {
        let run = |seed: u64| {
            let steps = Scenario::ScaleJump.stream(LENGTH, seed);
            let mut measurement = Measurement::new(contestant.build(seed));
            steps[..LENGTH / 2].iter().for_each(|step| measurement.learn(step));
            steps[LENGTH / 2..LENGTH / 2 + 1_000].iter().for_each(|step| measurement.step(step));
            measurement.summary()
        };
        (0..SEEDS).map(run).collect::<Vec<_>>()
    };
    let fast = Method::ALL.into_iter().filter(|method| *method != Method::InternalRegret);
    let all: Vec<_> = fast.map(|m| (m.name().to_string(), measured(Contestant::announced(m)))).collect();
    rows(all.iter().map(|(name, runs)| (name.clone(), runs)));
}

/// The paper's first experiment.
fn authors() {
    for steps in [200, 1_500] {
        println!(
            "## the authors' experiment: N(0, 2²) forecasts of N(0, 1) outcomes, N = 20, {steps} steps, the paper's setting\n"
        );
        let of = |method: &Method| {
            matches!(method.family(), Family::Paper | Family::Baseline) || *method == Method::Ledger
        };
        let all = Method::ALL.into_iter().filter(of).map(|method| {
            let run = |seed: u64| {
                follow(method.build_paper(20, seed).unwrap(), &Scenario::TwiceTooWide.stream(steps, seed))
            };
            (method.name().to_string(), (0..SEEDS).map(run).collect::<Vec<_>>())
        });
        let all: Vec<_> = all.collect();
        rows(all.iter().map(|(name, runs)| (name.clone(), runs)));
    }
}
