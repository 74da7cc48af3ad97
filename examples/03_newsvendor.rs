//! A seller orders each day under a forecaster who is far too sure, before and after recalibration.
//!
//! A lost sale costs 8, an unsold unit 2, so the best order is the quantile of demand at 80 %. Demand has a weekly rhythm and,
//! a quarter of the time, a restless spell; the forecaster knows the rhythm and always claims a third of the quiet spread.
//!
//! ```text
//! cargo run --release --example 03_newsvendor
//! ```

#![allow(clippy::print_stdout, reason = "an example talks to people")]

use truecast::decision::{Expectation, Loss, Newsvendor};
use truecast::monitor::MarkovMonitor;
use truecast::{Forecast, Gaussian, Pipeline, Result, Stream, normal, random};

const DAYS: u64 = 5_000;
const SEED: u64 = 3;

/// What a seller pays, promises and covers.
#[derive(Default)]
struct Books {
    cost: f64,
    promised: f64,
    served: u32,
    monitor: MarkovMonitor,
}

impl Books {
    /// Orders on a forecast and meets the demand.
    fn trade(&mut self, seller: &Newsvendor, forecast: &impl Forecast, demand: f64) -> Result<()> {
        let order = seller.order(forecast)?;
        self.promised += order.expected_cost;
        self.cost += seller.loss(demand, order.quantity);
        self.served += u32::from(demand <= order.quantity);
        // Markov's inequality speaks of a monotone loss: the sales that are lost.
        let lost_sales = Newsvendor::new(seller.underage(), 0.0)?;
        let estimate = Expectation::new(forecast).of(&lost_sales, order.quantity)?;
        self.monitor.observe(lost_sales.loss(demand, order.quantity), estimate)
    }

    fn report(&self, who: &str) {
        let days = DAYS as f64;
        println!(
            "{who:<22} {:>12.2} {:>14.2} {:>17.1} %",
            self.cost / days,
            self.promised / days,
            100.0 * f64::from(self.served) / days
        );
    }
}

/// A standard normal draw, the same in every run.
fn draw(day: u64) -> f64 {
    normal::quantile(random::uniform(SEED, day, 0).max(1e-16))
}

fn main() -> Result<()> {
    let seller = Newsvendor::new(8.0, 2.0)?;
    let mut stream: Stream<Pipeline, Gaussian> = Stream::new(Pipeline::default());
    let (mut raw, mut calibrated, mut knowing) = (Books::default(), Books::default(), Books::default());
    for day in 0..DAYS {
        let rhythm = 100.0 + 20.0 * libm::sin(std::f64::consts::TAU * day as f64 / 7.0);
        let spread = if (day / 250) % 4 == 3 { 30.0 } else { 15.0 };
        let demand = rhythm + spread * draw(day);

        let forecast = Gaussian::new(rhythm, 5.0)?;
        let (ticket, recalibrated) = stream.issue(forecast)?;
        raw.trade(&seller, &forecast, demand)?;
        calibrated.trade(&seller, &recalibrated, demand)?;
        knowing.trade(&seller, &Gaussian::new(rhythm, spread)?, demand)?;
        stream.resolve(ticket, demand)?;
    }

    println!(
        "{DAYS} days; a lost sale costs 8, an unsold unit 2: order so that 80 % of days are served in full\n"
    );
    println!("{:<22} {:>12} {:>14} {:>19}", "orders on", "cost a day", "promised", "days served");
    raw.report("the forecaster");
    calibrated.report("the same, recalibrated");
    knowing.report("the truth");
    let saved = 100.0 * (raw.cost - calibrated.cost) / raw.cost;
    let possible = 100.0 * (raw.cost - knowing.cost) / raw.cost;
    println!(
        "\nRecalibration saves {saved:.1} % of the cost; {possible:.1} % is possible for one who knows the truth."
    );

    println!(
        "What it knows of single quantiles is what the experts learned: the guard keeps central intervals."
    );

    println!("\nMarkov's inequality for lost sales on the forecaster's word:\n{}", raw.monitor);
    println!("\nand on the calibrated one:\n{}", calibrated.monitor);
    Ok(())
}
