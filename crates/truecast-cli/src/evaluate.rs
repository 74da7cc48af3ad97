//! `truecast evaluate`: scores forecasts as they are.

use std::fmt::Write as _;
use std::path::PathBuf;

use truecast::monitor::Scoreboard;
use truecast_data::NewFile;
use truecast_events::{Desk, Request, table as parts_table};
use truecast_fleet::{Answer, Ask, Fleet, Settings};

use crate::calibrate::{each, use_threads};
use crate::config::Config;
use crate::destination;
use crate::failure::{Failure, Result};
use crate::flags::{ColumnFlags, EventFlags, InputFlags, OnError};
use crate::refusals::Refusals;
use crate::reporting::{FAN_ROWS, Recorder};
use crate::summary;
use crate::tables;
use crate::terminal::{count, plural, print, say};

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

    #[command(flatten)]
    events: EventFlags,

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
    let tables = args.input.open()?;
    let file = tables.name.clone();
    let skip = args.on_error == OnError::Skip;
    let request = Request { skip, ..args.events.request(&args.columns, &Config::default()) };
    let mut desk = Desk::open(&tables.file(), tables.names(), request)?;
    if !args.quiet {
        say!("{file}: {}", desk.said());
    }
    let mut fleet = Fleet::new(Settings { lateness: desk.lateness(), ..Settings::default() })?;
    let (report, row_scores) = (args.report.is_some(), args.report.is_some());
    let fan = if report { FAN_ROWS } else { 0 };
    let ask = Ask { row_scores, scoreboards: true, fan, raw_only: true, ..Ask::numbers(Answer::Nothing) };
    let mut recorder = Recorder::new(report);
    let mut refusals = Refusals::new(args.on_error, args.quiet);
    if let Some(path) = &args.input.outcomes {
        desk.bring(&mut [&mut fleet], &tables::outcomes(path)?, &ask)?;
    }
    each(
        &mut desk,
        &mut [&mut fleet],
        tables,
        &ask,
        &mut recorder,
        &mut refusals,
        args.quiet,
        &mut |_, _, _| Ok(()),
    )?;
    let scoreboard = fleet.scoreboard()?;
    if scoreboard.rows() == 0 {
        let problem = format!("{file}: no row has an outcome, so there is nothing to score");
        return Err(Failure::usage(problem, "name the outcome's column with --outcome"));
    }
    if let Some(path) = &args.summary {
        summary::write(path, &summary::of_raw(&scoreboard))?;
    }
    if let Some(path) = &args.report {
        let report = recorder.report(&fleet, &file, Vec::new(), true)?;
        NewFile::write(path, report.to_html().as_bytes())?;
    }
    if refusals.skipped() > 0 && !args.quiet {
        say!("{} {} left out", count(refusals.skipped()), plural(refusals.skipped(), "row was", "rows were"));
    }
    let parts: Vec<_> = desk.by().iter().map(|(name, tally)| (name.clone(), *tally)).collect();
    let by =
        if parts.is_empty() { String::new() } else { format!("\n{}\n", parts_table(desk.by_name(), &parts)) };
    print(&format!("{}{by}", table(&scoreboard)))
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
