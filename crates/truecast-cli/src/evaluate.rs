//! `truecast evaluate`: scores forecasts as they are.

use std::fmt::Write as _;
use std::path::PathBuf;

use truecast::monitor::Scoreboard;
use truecast_data::NewFile;
use truecast_data::recognise::recognise;
use truecast_fleet::{Answer, Ask, Fleet, Settings};

use crate::calibrate::{no_outcome_file, use_threads};
use crate::config::Config;
use crate::destination;
use crate::failure::{Failure, Result};
use crate::flags::{ColumnFlags, InputFlags, OnError};
use crate::long;
use crate::numbers::Numbers;
use crate::pipeline::{Batches, Chunk};
use crate::refusals::Refusals;
use crate::reporting::{FAN_ROWS, Recorder};
use crate::summary;
use crate::terminal::{count, plural, print, say};
use crate::wide::WideRows;

/// Score the forecasts in a file as they are
///
/// Prints how often intervals held the outcome, how wide they were, the CRPS and the calibration score. Nothing is
/// recalibrated: `truecast calibrate` does that.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  truecast evaluate forecasts.csv
  truecast calibrate forecasts.csv -q | truecast evaluate -    # and after calibration")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputFlags,

    /// Write a report with charts: one HTML file that needs nothing else
    #[arg(long, value_name = "R.html", help_heading = "Output")]
    report: Option<PathBuf>,

    /// Write the numbers as JSON
    #[arg(long, value_name = "S.json", help_heading = "Output")]
    summary: Option<PathBuf>,

    /// What to do with a row that breaks a rule
    #[arg(long, value_name = "WHAT", default_value = "fail", help_heading = "Input")]
    on_error: OnError,

    #[command(flatten)]
    columns: ColumnFlags,

    /// How many threads to use [default: all cores]
    #[arg(long, value_name = "N", help_heading = "Run")]
    threads: Option<usize>,

    /// Say nothing on standard error but errors
    #[arg(short, long, help_heading = "Run")]
    quiet: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    use_threads(args.threads)?;
    destination::apart(&[args.summary.as_deref(), args.report.as_deref()])?;
    let opened = args.input.open()?;
    let file = opened.reader.file().to_owned();
    let layout = recognise(&file, opened.reader.names(), &args.columns.wishes(&Config::default()))?;
    if !args.quiet {
        say!("{file}: {layout}");
    }
    let mut fleet = Fleet::new(Settings::default())?;
    let ask = Ask {
        answer: Answer::Nothing,
        row_scores: args.report.is_some(),
        scoreboards: true,
        fan: if args.report.is_some() { FAN_ROWS } else { 0 },
        raw_only: true,
    };
    let mut recorder = Recorder::new(args.report.is_some());
    let mut refusals = Refusals::new(args.on_error, args.quiet);
    if layout.form.is_long() {
        let table = long::read(opened, &layout, args.input.outcomes.as_deref(), &mut refusals, args.quiet)?;
        long::calibrate(table, &layout, &mut fleet, &ask, &mut recorder, &mut refusals)?;
    } else {
        no_outcome_file(args.input.outcomes.as_deref())?;
        let mut batches = Batches::new(opened, Numbers::columns(&layout), args.quiet);
        while let Some(Chunk { batch, numbers, .. }) = batches.next()? {
            let rows = WideRows::new(&file, &batch, &numbers, &layout);
            let answers = fleet.run(&rows, &ask);
            recorder.record(batch.rows(), &answers.scores)?;
            refusals.take(batch.broken, answers.refused)?;
        }
    }
    let scoreboard = fleet.scoreboard()?;
    if scoreboard.rows() == 0 {
        let problem = format!("{file}: no row has an outcome, so there is nothing to score");
        return Err(Failure::usage(problem, "name the outcome's column with --outcome"));
    }
    if let Some(path) = &args.summary {
        summary::write(path, &summary::of_raw(&scoreboard))?;
    }
    if let Some(path) = &args.report {
        let report = recorder.report(&fleet, &file, refusals.skipped(), true)?;
        NewFile::write(path, report.to_html().as_bytes())?;
    }
    if refusals.skipped() > 0 && !args.quiet {
        say!("{} {} left out", count(refusals.skipped()), plural(refusals.skipped(), "row was", "rows were"));
    }
    print(&table(&scoreboard))
}

/// One column of numbers, with a word on what each should be.
fn table(scoreboard: &Scoreboard) -> String {
    let (summary, raw) = (scoreboard.summary(), scoreboard.raw());
    let mut text = format!("{} {}\n", count(summary.rows), plural(summary.rows, "outcome", "outcomes"));
    for (k, &coverage) in raw.coverage().coverages().iter().enumerate() {
        let share = raw.coverage().share(k).unwrap_or(f64::NAN);
        let width = raw.sharpness().mean_width(k).map_or("-".to_owned(), |width| format!("{width:.5}"));
        let _ = writeln!(
            text,
            "{:>4} % interval covers {:>5.1} %   mean width {width}",
            100.0 * coverage,
            100.0 * share
        );
    }
    let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let _ = writeln!(text, "CRPS               {:.6}", number(summary.crps.raw));
    let _ = writeln!(text, "calibration score  {:.6}", number(summary.calibration_score.raw));
    let _ = writeln!(text, "PIT off uniform    {:.1} %", 100.0 * number(raw.pit().total_variation()));
    text
}
