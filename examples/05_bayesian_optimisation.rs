//! Bayesian optimisation with honest uncertainty, and the paper's table 2 with its controls.
//!
//! ```text
//! cargo run --release -p truecast-bo --example 05_bayesian_optimisation -- --seeds 20 [--steps N] \
//!     [--noise VARIANCE] [--separate-lengths true] [--benchmark NAME]… [--variant NAME]…
//! ```

#![allow(clippy::print_stdout, reason = "an example talks to people")]

use std::error::Error;
use std::process::ExitCode;

use truecast_bo::reproduction::Reproduction;
use truecast_bo::{Benchmark, Calibration, Study, StudySettings, Value};
use truecast_models::Noise;

fn main() -> ExitCode {
    match small().and_then(|()| reproduction(std::env::args().skip(1))) {
        Ok(table) => {
            print!("{table}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            println!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Ask and tell: twelve points of the six-hump camel.
fn small() -> Result<(), Box<dyn Error>> {
    let camel = Benchmark::SixHumpCamel;
    let settings = StudySettings { calibration: Calibration::online_scale(), seed: 1, ..Default::default() };
    let mut study = camel.space().and_then(|space| Study::new(space, settings))?;
    for _ in 0..12 {
        let point = study.suggest()?;
        let x: Vec<f64> = point.iter().filter_map(Value::as_real).collect();
        study.observe(&point, camel.value(&x)?)?;
    }
    if let Some(best) = study.best() {
        println!("six-hump camel after 12 points: {best:?}\n");
    }
    Ok(())
}

fn reproduction(mut arguments: impl Iterator<Item = String>) -> Result<String, Box<dyn Error>> {
    let mut plan = Reproduction { seeds: 5, ..Default::default() };
    let (mut benchmarks, mut variants) = (Vec::new(), Vec::new());
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{flag} needs a value"))?;
        let number = || value.parse().map_err(|_| format!("{flag} needs a whole number, got {value}"));
        match flag.as_str() {
            "--seeds" => plan.seeds = number()?,
            "--steps" => plan.steps = Some(number()? as usize),
            "--noise" => plan.surrogate.noise = Noise::Fixed(value.parse()?),
            "--separate-lengths" => plan.surrogate.separate_lengths = value.parse()?,
            "--benchmark" => benchmarks.push(value.parse()?),
            "--variant" => variants.push(value.parse()?),
            _ => {
                return Err(format!(
                    "{flag} is not a flag; there are --seeds, --steps, --noise, --separate-lengths, --benchmark, --variant"
                )
                .into());
            }
        }
    }
    if !benchmarks.is_empty() {
        plan.benchmarks = benchmarks;
    }
    if !variants.is_empty() {
        plan.variants = variants;
    }
    Ok(plan.compare()?.to_string())
}
