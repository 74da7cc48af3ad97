//! `truecast simulate`: seeded streams of forecasts and outcomes, as a table.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use truecast::recalibrate::Method;
use truecast_data::Format;
use truecast_data::table::{Sheet, SheetColumn};
use truecast_streams::{Opponent, Scenario};

use crate::destination::Destination;
use crate::failure::Result;
use crate::game;
use crate::interrupt;
use crate::progress::Progress;

/// Rows written at once.
const ROWS: usize = 1 << 14;

/// Write a seeded stream of forecasts and outcomes
///
/// Columns: t, y, mean, std. The same scenario, steps and seed give the same rows, bit for bit.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  truecast simulate drift --steps 20000 -o drift.csv
  truecast simulate adversary --against aci | truecast evaluate -")]
pub(crate) struct Args {
    /// What is wrong with the forecaster
    #[arg(value_name = "SCENARIO", value_parser = scenarios())]
    scenario: String,

    /// How many rows
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    steps: u64,

    /// Key of all random draws
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// With the scenario adversary: the method that the adversary plays against
    #[arg(long, value_name = "METHOD", default_value_t = Method::Ledger)]
    against: Method,

    /// With the scenario adversary: which one
    #[arg(long, value_name = "NAME", default_value = "interval", value_parser = opponents())]
    adversary: String,

    /// Where to write; its name says the format [default: standard output, as CSV]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// The output's format, if its name does not say: csv, ndjson or parquet
    #[arg(long, value_name = "FORMAT")]
    output_format: Option<Format>,
}

fn scenarios() -> clap::builder::PossibleValuesParser {
    let fixed = Scenario::ALL
        .into_iter()
        .map(|scenario| PossibleValue::new(scenario.name()).help(scenario.description()));
    let adversary = PossibleValue::new("adversary")
        .help("outcomes chosen by an adversary who sees each calibrated forecast");
    fixed.chain([adversary]).collect::<Vec<_>>().into()
}

/// The names of all adversaries, for flags.
pub(crate) fn opponents() -> clap::builder::PossibleValuesParser {
    let named = Opponent::ALL
        .into_iter()
        .map(|opponent| PossibleValue::new(opponent.name()).help(opponent.description()));
    named.collect::<Vec<_>>().into()
}

/// Rows that wait to be written.
struct Table {
    destination: Option<Destination>,
    columns: [Vec<f64>; 4],
    progress: Progress,
}

impl Table {
    fn push(&mut self, row: [f64; 4]) -> Result<()> {
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.push(value);
        }
        if self.columns[0].len() == ROWS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        interrupt::check()?;
        let rows = self.columns[0].len();
        let columns = ["t", "y", "mean", "std"].into_iter().zip(&mut self.columns);
        let columns =
            columns.map(|(name, column)| (name.to_owned(), SheetColumn::Numbers(std::mem::take(column))));
        let sheet = Sheet { columns: columns.collect(), rows: (0..rows as u32).collect() };
        if let Some(destination) = self.destination.take() {
            self.destination = Some(destination.write(sheet)?);
        }
        self.progress.step(rows as u64);
        Ok(())
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let destination = Destination::with(args.output.as_deref(), args.output_format, Format::Csv, None)?;
    let progress = Progress::over_steps(args.steps, args.output.is_none());
    let mut table = Table { destination: Some(destination), columns: Default::default(), progress };
    if args.scenario == "adversary" {
        let opponent: Opponent = args.adversary.parse()?;
        game::play(args.against.build(args.seed)?, opponent, args.steps, args.seed, |step, round| {
            table.push([step as f64, round.outcome, round.base.mean(), round.base.std()])
        })?;
    } else {
        let scenario: Scenario = args.scenario.parse()?;
        for (step, row) in scenario.steps(args.steps as usize, args.seed).enumerate() {
            table.push([step as f64, row.outcome, row.mean(), row.std()])?;
        }
    }
    table.flush()?;
    table.progress.done();
    if let Some(destination) = table.destination
        && let Some(file) = destination.finish()?
    {
        file.commit()?;
    }
    Ok(())
}
