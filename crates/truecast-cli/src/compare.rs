//! `truecast compare`: several methods on the same rows, in one table.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use truecast::monitor::{Scoreboard, Side};
use truecast::recalibrate::Method;
use truecast_data::recognise::recognise;
use truecast_fleet::{Answer, Ask, Fleet, Lateness, Settings};

use crate::calibrate::{lateness, no_outcome_file, use_threads};
use crate::config::Config;
use crate::failure::{Failure, Result};
use crate::flags::{ColumnFlags, InputFlags, OnError, Preset};
use crate::numbers::Numbers;
use crate::pipeline::{Batches, Chunk};
use crate::refusals::Refusals;
use crate::summary;
use crate::terminal::{count, plural, print, say};
use crate::wide::WideRows;

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

    /// How many more forecasts of a series are made before an outcome is known [default: 0, known before the next one]
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true)]
    delay: Option<u64>,

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

    /// How many threads to use [default: all cores]
    #[arg(long, value_name = "N", help_heading = "Run")]
    threads: Option<usize>,

    /// Say nothing on standard error but errors
    #[arg(short, long, help_heading = "Run")]
    quiet: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    use_threads(args.threads)?;
    let opened = args.input.open()?;
    let file = opened.reader.file().to_owned();
    let layout = recognise(&file, opened.reader.names(), &args.columns.wishes(&Config::default()))?;
    if layout.form.is_long() {
        let problem = "methods are compared on forms with one row for each forecast";
        return Err(Failure::usage(problem, "run `truecast calibrate --summary` once for each method"));
    }
    no_outcome_file(args.input.outcomes.as_deref())?;
    if !args.quiet {
        say!("{file}: {layout}");
    }
    let lateness = lateness(args.delay, &layout)?;
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
    let ask = Ask { answer: Answer::Nothing, row_scores: false, scoreboards: true, fan: 0, raw_only: false };
    let mut refusals = Refusals::new(args.on_error, args.quiet);
    let mut batches = Batches::new(opened, Numbers::columns(&layout), args.quiet);
    while let Some(Chunk { batch, numbers, .. }) = batches.next()? {
        let times = lateness == Lateness::Times;
        let rows = WideRows::new(&file, &batch, &numbers, &layout).at_times(times);
        let mut refused = Vec::new();
        for fleet in &mut fleets {
            refused = fleet.run(&rows, &ask).refused;
            crate::interrupt::check()?;
        }
        refusals.take(batch.broken, refused)?;
    }
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
