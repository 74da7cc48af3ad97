//! Every method on every stream: accuracy, coverage and cost, in one table per stream.
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

mod measure;

use measure::{Measurement, Summary};
use truecast::recalibrate::comparator::{QuantileRecalibrator, QuantileRule};
use truecast::recalibrate::{AnyRecalibrator, Family, Method, ParametersBuilder};
use truecast::{LedgerRecalibrator, Parameters};
use truecast_streams::adversary::IntervalStepper;
use truecast_streams::{Scenario, Step};

const SEEDS: u64 = 5;
const STEPS: usize = 20_000;

fn main() {
    println!("# Every method on every stream\n");
    println!("    cargo run --release -p truecast-experiments --bin methods > experiments/methods.md\n");
    println!(
        "CRPS change is against the base forecast; *off* is the largest distance of any of 27 quantiles from its nominal frequency; \
         *rolling* is the mean distance of the 80 % interval's coverage from 80 % over windows of 500 steps. Means over {SEEDS} seeds, \
         ± the standard error. Quantile methods may put a quantile at the end of the line, and CRPS then grows with where the line ends: here at {REACH} standard \
         deviations. \
         Times are for a step that is predicted and observed, on a shared machine: compare them within the table.\n"
    );
    let streams = [
        Scenario::TwiceTooWide,
        Scenario::TenTimesTooWide,
        Scenario::FourTimesTooNarrow,
        Scenario::Perfect,
        Scenario::Regimes,
        Scenario::Heteroscedastic,
        Scenario::Drift,
        Scenario::HeavyTails,
        Scenario::Volatility,
    ];
    for scenario in streams {
        table(scenario.name(), |method, seed| follow(method.build(seed), &scenario.stream(STEPS, seed)));
    }
    table("scale jump: the 1,000 steps after outcomes triple their scale", |method, seed| {
        let steps = Scenario::ScaleJump.stream(STEPS, seed);
        let mut measurement = Measurement::new(method.build(seed));
        steps[..STEPS / 2].iter().for_each(|step| measurement.learn(step));
        steps[STEPS / 2..STEPS / 2 + 1_000].iter().for_each(|step| measurement.step(step));
        measurement.summary()
    });
    table(
        "interval adversary: 3,000 outcomes just outside of the 80 % interval, within ±4",
        |method, seed| {
            let mut adversary = IntervalStepper::new(0.8, 4.0, seed).unwrap();
            let mut measurement = Measurement::new(method.build(seed));
            (0..3_000).for_each(|_| measurement.step_against(&mut adversary));
            measurement.summary()
        },
    );
    for steps in [200, 1_500] {
        let name = format!(
            "the authors' experiment: N(0, 2²) forecasts of N(0, 1) outcomes, N = 20, {steps} steps, paper preset (variants of the ledger: default grids)"
        );
        table(&name, |method, seed| {
            follow(method.build_paper(seed), &Scenario::TwiceTooWide.stream(steps, seed))
        });
    }
}

/// How far out, in standard deviations of the base, a comparator's whole line ends here. Its CRPS grows with this; its coverage on
/// these streams does not depend on it.
const REACH: f64 = 50.0;

/// What takes part: every method at its defaults, and ours with parts of it changed.
#[derive(Clone, Copy)]
enum Contestant {
    Plain(Method),
    Ours(&'static str, fn(ParametersBuilder) -> ParametersBuilder),
}

const OURS: [Contestant; 3] = [
    Contestant::Ours("ledger without guard", |parameters| parameters.guard(false)),
    Contestant::Ours("ledger without memories", |parameters| parameters.memory(false)),
    Contestant::Ours("ledger, half-life 200", |parameters| parameters.half_life(200.0)),
];

fn contestants() -> impl Iterator<Item = Contestant> {
    let [first, rest @ ..] = Method::ALL;
    std::iter::once(Contestant::Plain(first)).chain(OURS).chain(rest.map(Contestant::Plain))
}

impl Contestant {
    fn name(self) -> &'static str {
        match self {
            Contestant::Plain(method) => method.name(),
            Contestant::Ours(name, _) => name,
        }
    }

    fn build(self, seed: u64) -> AnyRecalibrator {
        fn within_reach<R: QuantileRule>() -> Box<QuantileRecalibrator<R>> {
            Box::new(QuantileRecalibrator::with_reach(R::Options::default(), REACH).unwrap())
        }
        match self {
            Contestant::Plain(Method::Aci) => AnyRecalibrator::Aci(within_reach()),
            Contestant::Plain(Method::DtAci) => AnyRecalibrator::DtAci(within_reach()),
            Contestant::Plain(Method::SfOgd) => AnyRecalibrator::SfOgd(within_reach()),
            Contestant::Plain(Method::Saocp) => AnyRecalibrator::Saocp(within_reach()),
            Contestant::Plain(Method::Pid) => AnyRecalibrator::Pid(within_reach()),
            Contestant::Plain(method) => method.build(seed).unwrap(),
            Contestant::Ours(_, change) => {
                let parameters = change(Parameters::builder()).seed(seed).build().unwrap();
                AnyRecalibrator::Ledger(Box::new(LedgerRecalibrator::new(parameters)))
            }
        }
    }

    /// In the paper's setting, where there is one.
    fn build_paper(self, seed: u64) -> AnyRecalibrator {
        match self {
            Contestant::Plain(method) if method.family() != Family::Comparator => {
                method.build_paper(20, seed).unwrap()
            }
            _ => self.build(seed),
        }
    }
}

fn follow(recalibrator: AnyRecalibrator, steps: &[Step]) -> Summary {
    let mut measurement = Measurement::new(recalibrator);
    steps.iter().for_each(|step| measurement.step(step));
    measurement.summary()
}

/// One table: every method, means over the seeds.
fn table(name: &str, run: impl Fn(Contestant, u64) -> Summary) {
    eprintln!("{name} …");
    println!("## {name}\n");
    println!("| method | CRPS change % | 50 % | 80 % | 98 % | off % | rolling % | calibration score | ns |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (k, contestant) in contestants().enumerate() {
        let runs: Vec<Summary> = (0..SEEDS).map(|seed| run(contestant, seed)).collect();
        if k == 0 {
            println!("{}", measure::row("base", &runs, Summary::base));
        }
        println!("{}", measure::row(contestant.name(), &runs, Summary::calibrated));
    }
    println!();
}
