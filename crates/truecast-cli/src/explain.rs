//! `truecast explain`: what a saved state does to the next forecast.

use std::fmt::Write as _;
use std::path::PathBuf;

use truecast::recalibrate::AnyRecalibrator;
use truecast::{Recalibrator, normal};
use truecast_data::Error as DataError;
use truecast_fleet::{Fleet, Series};

use crate::failure::{Failure, Result};
use crate::terminal::{count, plural, print};

/// Calibrated quantiles that are explained.
const PROBABILITIES: [f64; 13] = [0.01, 0.025, 0.05, 0.1, 0.2, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 0.975, 0.99];
/// Series that are named when one must be chosen.
const NAMED: usize = 10;

/// Print the current map of a saved state as a table
///
/// Each line says which quantile of the forecaster's own distribution stands for a calibrated quantile now, and how far out
/// that is in its standard deviations.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  truecast calibrate forecasts.csv --state model.state -o calibrated.csv
  truecast explain model.state
  truecast explain model.state --key \"north / shoes\"")]
pub(crate) struct Args {
    /// A file that `truecast calibrate --state` wrote
    #[arg(value_name = "STATE")]
    state: PathBuf,

    /// The series to explain; cells of several key columns separated by ` / `
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let file = args.state.display().to_string();
    let bytes = std::fs::read(&args.state).map_err(|source| DataError::Io { file: file.clone(), source })?;
    let fleet = Fleet::from_bytes(&bytes).map_err(|error| Failure::of_state(&file, error))?;
    let series = choose(&fleet, args.key.as_deref(), &file)?;
    print(&table(&fleet, series)?)
}

fn choose<'a>(fleet: &'a Fleet, key: Option<&str>, file: &str) -> Result<&'a Series> {
    let labels = || {
        if fleet.series().all(|series| series.label().is_empty()) {
            return "its one series has no key: leave --key out".to_owned();
        }
        let named: Vec<String> = fleet.series().take(NAMED).map(Series::label).collect();
        let rest = if fleet.series().count() > NAMED { ", …" } else { "" };
        format!("the series are {}{rest}", named.join(", "))
    };
    match key {
        Some(key) => fleet
            .series()
            .find(|series| series.label() == key)
            .ok_or_else(|| Failure::usage(format!("{file}: there is no series {key:?}"), labels())),
        None => {
            let mut all = fleet.series();
            match (all.next(), all.next()) {
                (Some(only), None) => Ok(only),
                (None, _) => Err(Failure::usage(format!("{file}: the state has no series yet"), "")),
                (Some(_), Some(_)) => {
                    let problem =
                        format!("{file}: the state has {} series", count(fleet.series().count() as u64));
                    Err(Failure::usage(problem, format!("choose one with --key; {}", labels())))
                }
            }
        }
    }
}

fn table(fleet: &Fleet, series: &Series) -> Result<String> {
    let recalibrator = series.recalibrator();
    let calibrated = recalibrator.recalibrate(recalibrator.usual_forecast())?;
    let map = calibrated.map();
    let label = series.label();
    let name = if label.is_empty() { String::new() } else { format!("series {label}, ") };
    let steps = recalibrator.steps();
    let outcomes = plural(steps, "outcome", "outcomes");
    let mut text = format!("{name}method {}, {} {outcomes} learned\n", fleet.settings().method, count(steps));
    if series.waiting() > 0 {
        let waiting = series.waiting() as u64;
        let wait = plural(waiting, "outcome is", "outcomes are");
        let _ = writeln!(text, "{} {wait} read and not due yet", count(waiting));
    }
    for (number, group) in series.groups().iter().enumerate() {
        let _ = writeln!(text, "group {number} is {group}");
    }
    text.push_str(&trusted(recalibrator));
    let _ = writeln!(text, "\ncalibrated      is the forecaster's   in its standard deviations");
    let _ = writeln!(text, "quantile        own quantile          (a calibrated one: its own)");
    for p in PROBABILITIES {
        let own = normal::quantile(p);
        let z = map.invert(own);
        let _ = writeln!(text, "{p:<16}{:<22.4}{z:+.3} ({own:+.3})", normal::cdf(z));
    }
    let between = |coverage: f64| {
        let z = normal::quantile(0.5 + 0.5 * coverage);
        normal::cdf(map.probit(z)) - normal::cdf(map.probit_left(-z))
    };
    let _ = writeln!(text, "\nthe forecaster's own intervals are believed to cover");
    for coverage in [0.5, 0.8, 0.9, 0.95, 0.98] {
        let _ = writeln!(text, "{:>4} %   {:.1} %", 100.0 * coverage, 100.0 * between(coverage));
    }
    let _ = writeln!(text, "\npromised:\n{}", recalibrator.certificate());
    Ok(text)
}

/// Which experts are followed, in words, the most trusted first.
fn trusted(recalibrator: &AnyRecalibrator) -> String {
    let Some(mixture) = recalibrator.mixture() else { return String::new() };
    let mut experts = mixture.trusted();
    if experts.len() < 2 {
        return String::new();
    }
    experts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut text = "\nwhom it trusts now\n".to_owned();
    for (expert, weight) in experts {
        let _ = writeln!(text, "{:>5.1} %  {expert:<8} {}", 100.0 * weight, expert.words());
    }
    text
}
