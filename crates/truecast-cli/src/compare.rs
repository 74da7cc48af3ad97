//! `truecast compare`: several methods on the same rows, in one table.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use truecast::monitor::{Scoreboard, Side};
use truecast::recalibrate::Method;
use truecast_events::{Desk, Request};
use truecast_fleet::{Answer, Ask, Fleet, Settings};

use crate::calibrate::{each, use_threads};
use crate::config::Config;
use crate::failure::{Failure, Result};
use crate::flags::{ColumnFlags, EventFlags, InputFlags, OnError, Preset};
use crate::refusals::Refusals;
use crate::reporting::Recorder;
use crate::summary;
use crate::tables;
use crate::terminal::{count, plural, print, say};

/// Run several methods side by side on the same file
///
/// Prints a table with one line for each method: how often the intervals held the outcome, CRPS and its change against the
/// forecasts as they are, and the calibration score.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  truecast compare forecasts.csv
  truecast compare forecasts.csv --methods ledger,aci,isotonic --summary methods.json")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputFlags,

    /// Methods to run [default: all of them]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    methods: Vec<Method>,

    /// The paper's setting of every method that has one
    #[arg(long, value_name = "PRESET")]
    preset: Option<Preset>,

    /// Key of all random draws
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Write the summary of every method as JSON
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
    let tables = args.input.open()?;
    let file = tables.name.clone();
    let skip = args.on_error == OnError::Skip;
    let request = Request { skip, ..args.events.request(&args.columns, &Config::default()) };
    let mut desk = Desk::open(&tables.file(), tables.names(), request)?;
    if !args.quiet {
        say!("{file}: {}", desk.said());
    }
    let lateness = desk.lateness();
    let methods = if args.methods.is_empty() { Method::ALL.to_vec() } else { args.methods.clone() };
    let mut fleets = Vec::new();
    for &method in &methods {
        let paper = args.preset.map(|Preset::Paper| 20);
        fleets.push(Fleet::new(Settings {
            method,
            paper,
            seed: args.seed,
            lateness,
            ..Settings::default()
        })?);
    }
    let ask = Ask { scoreboards: true, ..Ask::numbers(Answer::Nothing) };
    let mut refusals = Refusals::new(args.on_error, args.quiet);
    let mut all: Vec<&mut Fleet> = fleets.iter_mut().collect();
    if let Some(path) = &args.input.outcomes {
        desk.bring(&mut all, &tables::outcomes(path)?, &ask)?;
    }
    let mut recorder = Recorder::new(false);
    each(&mut desk, &mut all, tables, &ask, &mut recorder, &mut refusals, args.quiet, &mut |_, _, _| Ok(()))?;
    let boards: Vec<Scoreboard> =
        fleets.iter().map(|fleet| Ok(fleet.scoreboard()?)).collect::<Result<_>>()?;
    if boards[0].rows() == 0 {
        let problem = format!("{file}: no row has an outcome, so there is nothing to compare");
        return Err(Failure::usage(problem, "name the outcome's column with --outcome"));
    }
    if let Some(path) = &args.summary {
        let named = methods.iter().zip(&boards).zip(&fleets);
        let summaries: BTreeMap<&str, _> = named
            .map(|((method, board), fleet)| (method.name(), summary::of(board, fleet.certificate())))
            .collect();
        summary::write(path, &summaries)?;
    }
    if refusals.skipped() > 0 && !args.quiet {
        say!("{} {} left out", count(refusals.skipped()), plural(refusals.skipped(), "row was", "rows were"));
    }
    print(&table(&methods, &boards))
}

/// One line for each method, the forecasts as they are first.
fn table(methods: &[Method], boards: &[Scoreboard]) -> String {
    let mut text = format!(
        "{} {}; share of them in the interval, CRPS, calibration score\n",
        count(boards[0].rows()),
        plural(boards[0].rows(), "outcome", "outcomes")
    );
    let _ = writeln!(
        text,
        "{:<17}{:>9}{:>9}{:>9}{:>9} {:>13} {:>13} {:>9}",
        "method", "50 %", "80 %", "95 %", "98 %", "CRPS", "change", "score"
    );
    let mut line = |name: &str, side: &Side, crps: Option<f64>, change: Option<f64>| {
        let _ = write!(text, "{name:<17}");
        for wanted in [0.5, 0.8, 0.95, 0.98] {
            let at = side.coverage().coverages().iter().position(|&coverage| coverage == wanted);
            let share = at.and_then(|at| side.coverage().share(at)).unwrap_or(f64::NAN);
            let _ = write!(text, "{:>7.1} %", 100.0 * share);
        }
        let change = change.map_or(String::new(), |percent| format!("{percent:+.2} %"));
        let score = side.calibration_score().score().unwrap_or(f64::NAN);
        let _ = writeln!(text, " {:>13.6} {change:>13} {score:>9.5}", crps.unwrap_or(f64::NAN));
    };
    line("(as they are)", boards[0].raw(), boards[0].regret().base_mean(), None);
    for (method, board) in methods.iter().zip(boards) {
        let regret = board.regret();
        line(method.name(), board.calibrated(), regret.calibrated_mean(), regret.regret_percent());
    }
    text
}
