//! Two streams on which the paper's lemmas 1 and 3 do not hold, and what does: docs/theory.md, section 3.
//!
//! ```text
//! cargo run --release --example 04_counter_examples
//! ```

#![allow(clippy::print_stdout, reason = "an example talks to people")]

use truecast::grid::{Levels, Plays};
use truecast::monitor::{PitHistogram, Regret, ThresholdCalibration};
use truecast::recalibrate::{AlgorithmOne, AlgorithmOneParameters, MapShape};
use truecast::subroutine::{Approachability, LedgerRule, Subroutine};
use truecast::{Forecast, Gaussian, LedgerKind, Parameters, Pipeline, Recalibrator, Result, Stream};
use truecast_streams::Scenario;

const SEED: u64 = 0;

/// Follows one method over one stream and prints a row. `worst_level` reads the largest calibration error of a level.
fn follow<R: Recalibrator>(
    name: &str,
    recalibrator: R,
    worst_level: impl Fn(&R) -> f64,
    (scenario, steps): (Scenario, usize),
) -> Result<()> {
    let mut stream: Stream<R, Gaussian> = Stream::new(recalibrator);
    let mut regret = Regret::default();
    let mut pit = PitHistogram::new(10)?;
    let mut at_half = ThresholdCalibration::new(0.5, 20)?;
    for step in scenario.stream(steps, SEED) {
        let (forecast, y) = (step.forecast(), step.outcome);
        let (ticket, calibrated) = stream.issue(forecast)?;
        regret.observe(forecast.crps(y), calibrated.crps(y))?;
        at_half.observe(&calibrated, y)?;
        pit.observe_probit(stream.resolve(ticket, y)?.calibrated)?;
    }
    let level = worst_level(stream.recalibrator());
    let [change, pit, at_half] = [regret.regret_percent(), pit.total_variation(), at_half.error()]
        .map(|measured| measured.unwrap_or(f64::NAN));
    println!("{name:<34} {steps:>6} {level:>11.3} {pit:>7.3} {change:>+8.2} {at_half:>9.3}");
    Ok(())
}

/// Algorithm 1's worst level.
fn of_subroutines<S: Subroutine>(method: &AlgorithmOne<S>) -> f64 {
    method.report(None).largest_calibration_error
}

/// The uniform ledger's worst level.
fn of_ledger(method: &Pipeline) -> f64 {
    let ledgers = method.certificate().ledgers.map_or_else(Vec::new, |certificate| certificate.ledgers);
    ledgers.iter().find(|ledger| ledger.kind == LedgerKind::Uniform).map_or(f64::NAN, |l| l.calibration_error)
}

/// Follows every method over one stream.
fn table(scenario: Scenario) -> Result<()> {
    println!(
        "{:<34} {:>6} {:>11} {:>7} {:>8} {:>9}",
        "", "T", "worst level", "PIT off", "CRPS %", "C_T(0.5)"
    );
    for run in [(scenario, 4_000), (scenario, 20_000)] {
        let paper = AlgorithmOneParameters::paper(20)?;
        let fine = AlgorithmOneParameters {
            levels: Levels::default(),
            plays: Plays::default(),
            randomised: false,
            shape: MapShape::Probit,
            seed: 0,
        };
        let coins = AlgorithmOne::<Approachability>::new(paper, Default::default())?;
        follow("Algorithm 1, steps of 1/20, coins", coins, of_subroutines, run)?;
        let rule = AlgorithmOne::<LedgerRule>::new(fine, Default::default())?;
        follow("Algorithm 1, default grids", rule, of_subroutines, run)?;
        follow("default", Pipeline::default(), of_ledger, run)?;
        let threshold = Parameters::ledger().threshold(0.5).build()?;
        follow("ledgers alone + threshold(0.5)", Pipeline::new(threshold), of_ledger, run)?;
    }
    Ok(())
}

fn main() -> Result<()> {
    println!("A. Wide forecasts are right, narrow ones biased (lemma 3: no regret in CRPS)\n");
    table(Scenario::Heteroscedastic)?;
    println!("\nAlgorithm 1 claims calibrated levels, which is true, and no CRPS regret, which is not.");
    println!("The default claims to be behind by 0.5 % and a quarter of one score at most, at every step.");
    println!("\nB. Two forecasts, each wrong in its own direction (lemma 1: calibrated at every y)\n");
    table(Scenario::FixedPoint)?;
    println!(
        "\nAlgorithm 1 claims that C_T(y) comes down to its subroutine's error at every y, which is not true."
    );
    println!("The default claims nothing at a fixed y; a threshold ledger claims its own y, for its plays.");
    Ok(())
}
