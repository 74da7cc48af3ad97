//! Bayesian optimisation with honest uncertainty: ask for a point, tell its outcome.
//!
//! ```text
//! cargo run --release -p truecast-bo --example 05_bayesian_optimisation
//! ```
//!
//! The paper's table 2, with controls, is `truecast reproduce bo`; a command of your own is optimised by `truecast optimize`.

#![allow(clippy::print_stdout, reason = "an example talks to people")]

use truecast_bo::{Benchmark, Calibration, Study, StudySettings, Value};

fn main() -> truecast_bo::Result<()> {
    let camel = Benchmark::SixHumpCamel;
    let settings = StudySettings { calibration: Calibration::online_scale(), seed: 1, ..Default::default() };
    let mut study = Study::new(camel.space()?, settings)?;
    for trial in 1..=20 {
        let point = study.suggest()?;
        let x: Vec<f64> = point.iter().filter_map(Value::as_real).collect();
        let y = camel.value(&x)?;
        study.observe(&point, y)?;
        let foretold = study.steps().last().and_then(|step| step.interval);
        let foretold = foretold
            .map_or("a first point".to_owned(), |(low, high)| format!("foretold {low:.2} to {high:.2}"));
        println!("trial {trial:>2} at ({:>5.2}, {:>5.2}): {y:>7.4}, {foretold}", x[0], x[1]);
    }
    if let Some(y) = study.best().and_then(|step| step.outcome()) {
        println!("\nthe least value is {y:.4}; that of the function is {:.4}", camel.minimum());
    }
    Ok(())
}
