//! A loss that is not proper cannot be recalibrated: the numbers.
//!
//! ```text
//! cargo run --release --example 02_non_proper_loss
//! ```

#![allow(clippy::print_stdout, reason = "an example talks to people")]

use truecast::Result;
use truecast::finite::non_proper::{Losses, demonstration};

fn main() -> Result<()> {
    println!(
        "It rains on 70 % of days. The base forecaster says 100 % every day; recalibration learns to say 70 %.\n"
    );
    println!("{:>8}  {:<8}  {:>8}  {:>12}  {:>9}", "days", "loss", "base", "recalibrated", "regret");
    for steps in [100, 1_000, 10_000, 100_000] {
        let shown = demonstration(0.7, steps, 1)?;
        let row = |name: &str, losses: Losses| {
            let (base, after, regret) = (losses.base, losses.recalibrated, losses.regret());
            println!("{steps:>8}  {name:<8}  {base:>8.4}  {after:>12.4}  {regret:>+9.4}");
        };
        row("squared", shown.squared);
        row("absolute", shown.absolute);
    }
    let limit = demonstration(0.7, 1, 1)?;
    println!(
        "\nIn the limit: {:+.2} squared, {:+.2} absolute.",
        limit.squared.expected_regret(),
        limit.absolute.expected_regret()
    );
    println!(
        "The squared loss is proper: being calibrated pays. The absolute loss rewards saying 100 %, which is false;"
    );
    println!("no calibrated forecaster can keep up with that, at any resolution.");
    Ok(())
}
