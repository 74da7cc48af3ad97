//! Recalibrates three built-in streams and prints coverage, CRPS and the certificate, before and after.
//!
//! ```text
//! cargo run --release --example 01_recalibrate_stream
//! ```

#![allow(clippy::print_stdout, reason = "an example talks to people")]

use truecast::monitor::Scoreboard;
use truecast::{Gaussian, Pipeline, Result, Stream, random};
use truecast_streams::Scenario;

const STEPS: usize = 20_000;
const SEED: u64 = 1;

fn main() -> Result<()> {
    let streams = [
        (Scenario::Regimes, "The forecaster is far too cautious, then far too sure of itself, in turns."),
        (Scenario::Drift, "The truth moves away and back, and the forecaster is 200 steps behind."),
        (
            Scenario::Heteroscedastic,
            "Wide forecasts are perfect, narrow ones biased: Algorithm 1 loses 35 % of CRPS here.",
        ),
    ];
    for (scenario, story) in streams {
        println!("\n== {} ({STEPS} steps) ==\n{story}\n", scenario.name());
        let mut stream: Stream<Pipeline, Gaussian> = Stream::new(Pipeline::default());
        let mut scores = Scoreboard::default();
        for (t, step) in scenario.stream(STEPS, SEED).iter().enumerate() {
            let forecast = step.forecast();
            let (ticket, calibrated) = stream.issue(forecast)?;
            let draw = random::uniform(SEED, t as u64, random::ATOM_LANE);
            scores.observe(&forecast, &calibrated, step.outcome, draw)?;
            stream.resolve(ticket, step.outcome)?;
        }
        println!("{scores}\n");
        println!("Certificate: {}", stream.recalibrator().certificate());
    }
    Ok(())
}
