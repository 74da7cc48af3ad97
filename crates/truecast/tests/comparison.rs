//! The comparators beside the default recalibrator: accuracy and coverage on the seeded streams, and speed. Printed, not asserted.
//!
//! ```text
//! cargo test --release -p truecast --test comparison -- --ignored --nocapture
//! ```

// Helpers of tests: what is broken must stop the test that met it.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use truecast::recalibrate::comparator::{
    Aci, DtAci, Pid, QuantileRecalibrator, QuantileRule, Saocp, SfOgd, quantiles,
};
use truecast::{Forecast, Gaussian, Groups, Pipeline, Recalibrator, normal};
use truecast_streams::Scenario;
use truecast_streams::adversary::{Adversary, IntervalStepper};

/// A reach at which the CRPS of forecasts that touch the end of the line still says something: no score comes near it.
const NEAR: f64 = 50.0;

#[derive(Default)]
struct Measured {
    base: f64,
    calibrated: f64,
    inside: [f64; 2],
    /// Between the 10 % and the 90 % rule's own thresholds, before sorting; NaN for the default, which sorts nothing.
    own: f64,
    steps: f64,
}

impl Measured {
    fn observe(&mut self, forecast: &dyn Forecast, calibrated: &dyn Forecast, y: f64) {
        self.base += forecast.crps(y);
        self.calibrated += calibrated.crps(y);
        for (inside, coverage) in self.inside.iter_mut().zip([0.8, 0.98]) {
            let (low, high) = calibrated.interval(coverage).expect("is a coverage");
            *inside += if (low..=high).contains(&y) { 1.0 } else { 0.0 };
        }
        self.steps += 1.0;
    }

    fn print(&self, stream: &str, name: &str) {
        let [eighty, ninety_eight] = self.inside.map(|inside| 100.0 * inside / self.steps);
        let change = 100.0 * (self.calibrated / self.base - 1.0);
        let own = 100.0 * self.own / self.steps;
        println!(
            "{stream:16} {name:18} 80 %: {eighty:5.1} (own {own:5.1})   98 %: {ninety_eight:5.1}   CRPS {change:+9.2} %"
        );
    }
}

fn on_streams<R: Recalibrator>(name: &str, make: impl Fn() -> R, own: impl Fn(&R, f64) -> f64) {
    for scenario in [Scenario::TwiceTooWide, Scenario::Regimes, Scenario::ScaleJump] {
        let (mut recalibrator, mut measured) = (make(), Measured::default());
        for step in scenario.stream(20_000, 0) {
            let forecast = step.forecast();
            let calibrated = recalibrator.recalibrate(forecast).expect("is valid");
            measured.observe(&forecast, &calibrated, step.outcome);
            measured.own += own(&recalibrator, forecast.probit(step.outcome));
            recalibrator.observe(&forecast, step.outcome).expect("is finite");
        }
        measured.print(scenario.name(), name);
    }
    let forecast = Gaussian::new(0.0, 1.0).expect("is valid");
    let (mut recalibrator, mut measured) = (make(), Measured::default());
    let mut adversary = IntervalStepper::new(0.8, 4.0, 0).expect("a coverage");
    for _ in 0..3_000 {
        let calibrated = recalibrator.recalibrate(forecast).expect("is valid");
        let y = adversary.outcome(&forecast, &calibrated);
        measured.observe(&forecast, &calibrated, y);
        measured.own += own(&recalibrator, forecast.probit(y));
        recalibrator.observe(&forecast, y).expect("is finite");
    }
    measured.print("interval-stepper", name);
}

fn both_reaches<R: QuantileRule>() {
    for (reach, note) in [(NEAR, ""), (QuantileRecalibrator::<R>::LARGEST_REACH, ", far")] {
        let make = || QuantileRecalibrator::<R>::with_reach(R::Options::default(), reach).expect("is valid");
        let own = |of: &QuantileRecalibrator<R>, z: f64| {
            let threshold = |q: f64| {
                let k = quantiles().map(normal::cdf).position(|p| (p - q).abs() < 1e-9).expect("is followed");
                of.rules()[k].threshold(of.history())
            };
            if threshold(0.1) < z && z <= threshold(0.9) { 1.0 } else { 0.0 }
        };
        on_streams(&format!("{}{note}", R::NAME), make, own);
    }
}

#[test]
#[ignore = "prints a table"]
fn accuracy_and_coverage() {
    on_streams("experts (default)", Pipeline::default, |_, _| f64::NAN);
    both_reaches::<Aci>();
    both_reaches::<DtAci>();
    both_reaches::<SfOgd>();
    both_reaches::<Saocp>();
    both_reaches::<Pid>();
}

/// The best of 200 batches of 500 steps, plan and settle, after 20,000 steps of warming up.
fn time<R: Recalibrator>(name: &str, mut recalibrator: R) {
    let steps = Scenario::Regimes.stream(20_000, 1);
    let mut plan = recalibrator.empty_plan();
    let mut best = f64::INFINITY;
    let mut number = 0;
    let mut batch = |recalibrator: &mut R, part: &[truecast_streams::Step]| {
        let begin = Instant::now();
        for step in part {
            let forecast = step.forecast();
            recalibrator.plan(black_box(&forecast), Groups::NONE, number, &mut plan).expect("is valid");
            black_box(recalibrator.resolve(&plan, &forecast, step.outcome).expect("is finite"));
            number += 1;
        }
        begin.elapsed().as_nanos() as f64 / part.len() as f64
    };
    batch(&mut recalibrator, &steps);
    for _ in 0..5 {
        for part in steps.chunks(500) {
            best = best.min(batch(&mut recalibrator, part));
        }
    }
    println!("{name:18} {best:8.0} ns per step, {:6.1} per quantile", best / 27.0);
}

#[test]
#[ignore = "prints times"]
fn speed() {
    fn comparator<R: QuantileRule>() {
        time(R::NAME, QuantileRecalibrator::<R>::new(R::Options::default()).expect("is valid"));
    }
    time("experts (default)", Pipeline::default());
    comparator::<SfOgd>();
    comparator::<Pid>();
    comparator::<Aci>();
    comparator::<DtAci>();
    comparator::<Saocp>();
}
