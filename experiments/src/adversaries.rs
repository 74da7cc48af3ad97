//! Adversaries who see the forecast before they choose the outcome, and the numbers that the design promises.
//!
//! ```text
//! cargo run --release -p truecast-experiments --bin adversaries > experiments/adversaries.md
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

use truecast::recalibrate::{GuardMode, Method, Protection};
use truecast::{Forecast, Gaussian, Stream};
use truecast_experiments::contestant::Contestant;
use truecast_experiments::figures::{change, mean_and_error};
use truecast_streams::adversary::{Adversary, Alternator, IntervalStepper, LevelFlipper, Repeater, WorstPit};
use truecast_streams::{Draws, Scenario};

const SEEDS: u64 = 20;
/// Of the streams whose numbers are promised.
const STREAM_SEEDS: u64 = 5;
const MARKS: [usize; 2] = [3_000, 10_000];
/// How long they are.
const STEPS: usize = 20_000;

fn main() {
    println!("# Adversaries, and the numbers of the design\n");
    println!(
        "    cargo run --release -p truecast-experiments --bin adversaries > experiments/adversaries.md\n"
    );
    println!(
        "The base says N(0, 1) at every step; whoever chooses the outcome sees what was announced. Share of outcomes within the announced 80 % interval and change of the CRPS \
         against the base, both up to then, {SEEDS} seeds: mean and, of the coverage, the lowest run; ± is the standard error. *priced* is the default guard, *strict* the one that covers whatever it \
         costs. Read with [README.md](README.md).\n"
    );
    against("steps outside of the 80 % interval, within ±4", 0, |seed| {
        Box::new(IntervalStepper::new(0.8, 4.0, seed).unwrap())
    });
    against("the same within ±8", 0, |seed| Box::new(IntervalStepper::new(0.8, 8.0, seed).unwrap()));
    for bound in [4.0, 8.0] {
        let title =
            format!("steps outside of it within ±{bound}, and to the base's median where there is no room");
        against(&title, 0, |seed| Box::new(StepperOrMedian { bound, draws: Draws::new(seed) }));
    }
    against("steps outside within ±4, outcomes 5 late", 5, |seed| {
        Box::new(IntervalStepper::new(0.8, 4.0, seed).unwrap())
    });
    against("steps outside within ±4, outcomes 23 late", 23, |seed| {
        Box::new(IntervalStepper::new(0.8, 4.0, seed).unwrap())
    });
    against("always exactly the median of the base", 0, |_| Box::new(Repeater::new(0.0).unwrap()));
    against("always 1.5 standard deviations up", 0, |_| Box::new(Repeater::new(1.5).unwrap()));
    against("makes the median event disagree", 0, |seed| Box::new(LevelFlipper::new(0.5, seed).unwrap()));
    against("fills the fullest bin of the PIT, within ±4", 0, |seed| {
        Box::new(WorstPit::new(10, 4.0, seed).unwrap())
    });
    against("−3, 0 and 3 in turn, 50 steps at each", 0, |_| {
        Box::new(Alternator::new(vec![-3.0, 0.0, 3.0], 50).unwrap())
    });
    promised();
    after_the_jump();
}

/// Steps just outside of the announced 80 % interval, on a random side; where neither has room, at the base's median, for which what was made
/// wide has to pay.
#[derive(Debug)]
struct StepperOrMedian {
    bound: f64,
    draws: Draws,
}

impl Adversary for StepperOrMedian {
    fn outcome(&mut self, forecast: &dyn Forecast, calibrated: &dyn Forecast) -> f64 {
        let out = |p: f64, step: f64| forecast.probit(calibrated.quantile(p)) + step;
        let within = |z: f64| (z.abs() <= self.bound).then_some(z);
        let (above, below) =
            (within(out(0.9, IntervalStepper::STEP)), within(out(0.1, -IntervalStepper::STEP)));
        let step = if self.draws.coin() { above.or(below) } else { below.or(above) };
        forecast.at_probit(step.unwrap_or(0.0))
    }
}

fn against(title: &str, delay: usize, adversary: impl Fn(u64) -> Box<dyn Adversary>) {
    eprintln!("{title} …");
    println!("## {title}\n");
    println!("| method | covered at 3,000 | lowest | CRPS % | covered at 10,000 | lowest | CRPS % |");
    println!("|---|---|---|---|---|---|---|");
    let guarded = |guard| Protection { guard, ..Protection::default() };
    let rows = [
        ("experts, priced", Method::Experts, guarded(GuardMode::Priced)),
        ("experts, strict", Method::Experts, guarded(GuardMode::Strict)),
        ("experts, no guard", Method::Experts, guarded(GuardMode::Off)),
        ("experts, bare", Method::Experts, Protection::NONE),
        ("ledger, priced", Method::Ledger, guarded(GuardMode::Priced)),
        ("ledger, strict", Method::Ledger, guarded(GuardMode::Strict)),
        ("sf-ogd", Method::SfOgd, guarded(GuardMode::Off)),
        ("sf-ogd, bare", Method::SfOgd, Protection::NONE),
        ("aci, bare", Method::Aci, Protection::NONE),
        ("emos, bare", Method::Emos, Protection::NONE),
        ("rolling-conformal, bare", Method::RollingConformal, Protection::NONE),
        ("quantile-regression, bare", Method::QuantileRegression, Protection::NONE),
        ("crps-learning, bare", Method::CrpsLearning, Protection::NONE),
    ];
    for (name, method, protection) in rows {
        let runs: Vec<[(f64, f64); 2]> =
            (0..SEEDS).map(|seed| play(method, protection, seed, delay, adversary(seed))).collect();
        print!("| {name} |");
        for mark in 0..MARKS.len() {
            let covered: Vec<f64> = runs.iter().map(|run| run[mark].0).collect();
            let changes: Vec<f64> = runs.iter().map(|run| run[mark].1).collect();
            let lowest = covered.iter().copied().fold(f64::INFINITY, f64::min);
            print!(" {:.1} | {lowest:.1} | {} |", mean_and_error(&covered).0, change(&changes));
        }
        println!();
    }
    println!();
}

/// Coverage and change of the CRPS, in percent, at the marks.
fn play(
    method: Method,
    protection: Protection,
    seed: u64,
    delay: usize,
    mut adversary: Box<dyn Adversary>,
) -> [(f64, f64); 2] {
    let recalibrator = Contestant::announced(method).build_with(seed, protection);
    let mut stream: Stream<_, Gaussian> = Stream::new(recalibrator);
    let forecast = Gaussian::new(0.0, 1.0).unwrap();
    let (mut base, mut announced, mut covered) = (0.0, 0.0, 0_u32);
    let mut at = [(0.0, 0.0); 2];
    let mut waiting = VecDeque::new();
    for t in 1..=MARKS[1] {
        let (ticket, calibrated) = stream.issue(forecast).unwrap();
        let outcome = adversary.outcome(&forecast, &calibrated);
        base += forecast.crps(outcome);
        announced += calibrated.crps(outcome);
        let (low, high) = calibrated.interval(0.8).unwrap();
        covered += u32::from((low..=high).contains(&outcome));
        waiting.push_back((ticket, outcome));
        if waiting.len() > delay
            && let Some((ticket, outcome)) = waiting.pop_front()
        {
            stream.resolve(ticket, outcome).unwrap();
        }
        if let Some(mark) = MARKS.iter().position(|mark| *mark == t) {
            at[mark] = (100.0 * f64::from(covered) / t as f64, 100.0 * (announced / base - 1.0));
        }
    }
    at
}

/// DESIGN.md says what the default reaches on these.
fn promised() {
    eprintln!("promised numbers …");
    println!("## {STEPS} steps, {STREAM_SEEDS} seeds, `experts` at its defaults\n");
    println!("| stream | CRPS % | promised | 80 % covers | 98 % covers |");
    println!("|---|---|---|---|---|");
    let streams = [
        (Scenario::TwiceTooWide, "−14.2"),
        (Scenario::TenTimesTooWide, "−76"),
        (Scenario::FourTimesTooNarrow, "−17"),
        (Scenario::Regimes, "−12.1"),
        (Scenario::Drift, "−55"),
        (Scenario::Heteroscedastic, "−1.0"),
        (Scenario::Perfect, "at most +0.02"),
    ];
    for (scenario, promised) in streams {
        let runs: Vec<[f64; 3]> = (0..STREAM_SEEDS)
            .map(|seed| {
                let mut stream: Stream<_, Gaussian> =
                    Stream::new(Contestant::announced(Method::Experts).build(seed));
                let (mut base, mut announced, mut covered) = (0.0, 0.0, [0_u32; 2]);
                for step in scenario.steps(STEPS, seed) {
                    let (ticket, calibrated) = stream.issue(step.forecast()).unwrap();
                    base += step.forecast().crps(step.outcome);
                    announced += calibrated.crps(step.outcome);
                    for (covered, nominal) in covered.iter_mut().zip([0.8, 0.98]) {
                        let (low, high) = calibrated.interval(nominal).unwrap();
                        *covered += u32::from((low..=high).contains(&step.outcome));
                    }
                    stream.resolve(ticket, step.outcome).unwrap();
                }
                let share = covered.map(|covered| 100.0 * f64::from(covered) / STEPS as f64);
                [100.0 * (announced / base - 1.0), share[0], share[1]]
            })
            .collect();
        let column = |k: usize| runs.iter().map(|run| run[k]).collect::<Vec<_>>();
        let covers = [1, 2].map(|k| format!("{:.2}", mean_and_error(&column(k)).0)).join(" | ");
        println!("| {scenario} | {} | {promised} | {covers} |", change(&column(0)));
    }
    println!();
}

fn after_the_jump() {
    let shares: Vec<f64> = (0..STREAM_SEEDS)
        .map(|seed| {
            let mut stream: Stream<_, Gaussian> =
                Stream::new(Contestant::announced(Method::Experts).build(seed));
            let mut covered = 0_u32;
            for (t, step) in Scenario::ScaleJump.steps(STEPS, seed).enumerate() {
                let (ticket, calibrated) = stream.issue(step.forecast()).unwrap();
                let (low, high) = calibrated.interval(0.8).unwrap();
                let counts = (STEPS / 2..STEPS / 2 + 1_000).contains(&t);
                covered += u32::from(counts && (low..=high).contains(&step.outcome));
                stream.resolve(ticket, step.outcome).unwrap();
            }
            f64::from(covered) / 10.0
        })
        .collect();
    let (mean, error) = mean_and_error(&shares);
    println!(
        "After outcomes triple their scale the 80 % interval covers {mean:.1} ± {error:.1} % of the next 1,000 (promised: at least 78)."
    );
}
