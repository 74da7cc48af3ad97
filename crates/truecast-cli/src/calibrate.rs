//! `truecast calibrate`: the same rows, with calibrated forecasts.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use truecast_data::{Error as DataError, Format, NewFile};
use truecast_events::{Desk, Request, Span, by_horizon, expire};
use truecast_fleet::{Answer, Ask, Fleet, Settings};

use crate::config::Config;
use crate::destination::{self, Destination};
use crate::failure::{Failure, Result};
use crate::flags::{
    ColumnFlags, EventFlags, InputFlags, MethodFlags, OnError, Percentages, Probabilities, Revisions,
};
use crate::interrupt;
use crate::pipeline::{Batches, Chunk};
use crate::refusals::Refusals;
use crate::reporting::{FAN_ROWS, Recorder};
use crate::sheets;
use crate::summary;
use crate::tables::{self, Tables};
use crate::terminal::say;
use crate::told;

/// More than any machine of today has cores.
const MOST_THREADS: usize = 1024;

/// Calibrate the forecasts in a file
///
/// Reads forecasts with their outcomes and writes the same rows with calibrated forecasts. Each forecast is calibrated with what
/// was known when it was made. With --state, forecasts without an outcome wait for it: bring it tomorrow with --outcomes.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  truecast calibrate forecasts.csv -o calibrated.csv --report report.html
  truecast calibrate m4.parquet --model AutoARIMA --intervals 80,95 -o m4-calibrated.parquet
  truecast calibrate week.csv --state model.state --outcomes truth.csv -o out.csv    # every week
  truecast calibrate model-output/TEAM --outcomes target-hospital-admissions.csv -o out.csv
  zcat log.ndjson.gz | truecast calibrate - --form gaussian --scores | head

Columns are recognised by name, and what was recognised is said on standard error:
  the outcome              y, outcome, actual, observed
  mean and spread          mean, std; mu, sigma; mean, variance
  quantiles                q0.1, q10, 0.1 or quantile_P10
  intervals                Model-lo-80, Model-hi-80, and Model for the median
  an ensemble              sample_1, sample_2
  one number               yhat, point, forecast: its scale is learned, and intervals are added
  other quantiles          NHITS-ql0.1; y_q0.100; yhat_lower, yhat_upper with --interval-width
  a hub's long form        output_type, output_type_id, value (or type, quantile, value), with --outcomes or an outcome column
  the M5 competition       id, F1 to F28, with --outcomes
  series                   key, unique_id, series_id
  made at                  cutoff, origin, reference_date, origin_date, forecast_date, made_at, issued_at
  about                    ds, target_end_date, target_date, valid_time, timestamp, date, time or t
  how far ahead            horizon, h, lead, step_ahead
  outcome known at         known_at, available_at, outcome_time

Where forecasts say when they were made, they learn only from outcomes that were known by then, and series are told apart by
how far ahead they look. Where they do not, each outcome is known before the next row, and two rows about the same time are
refused.")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputFlags,

    /// Where to write; its name says the format (.csv, .tsv, .ndjson, .parquet, each also .gz but for Parquet) [default: standard output]
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    output: Option<PathBuf>,

    /// The output's format, if its name does not say: csv, ndjson or parquet [default: the input's]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    output_format: Option<Format>,

    /// Write these quantiles instead of the form that came in
    #[arg(long, value_name = "0.05,0.5,…", help_heading = "Output")]
    quantiles: Option<Probabilities>,

    /// Write these central intervals, in percent, instead of the form that came in
    #[arg(long, value_name = "50,80,…", help_heading = "Output")]
    intervals: Option<Percentages>,

    /// Add PIT and CRPS of every row, before (pit_raw, crps_raw) and after (pit, crps)
    #[arg(long, help_heading = "Output")]
    scores: bool,

    /// Write a report with charts: one HTML file that needs nothing else
    #[arg(long, value_name = "R.html", help_heading = "Output")]
    report: Option<PathBuf>,

    /// Write the numbers of the report as JSON
    #[arg(long, value_name = "S.json", help_heading = "Output")]
    summary: Option<PathBuf>,

    /// Go on from this file if it exists, and save to it: two runs in a row are one run, bit for bit
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    state: Option<PathBuf>,

    /// Which of several outcomes about the same counts: the first, or the last that is known before it is used [default: first]
    #[arg(long, value_name = "WHICH", help_heading = "Times and outcomes")]
    revisions: Option<Revisions>,

    /// A forecast takes the place of another about the same that waits in the state, instead of being refused
    #[arg(long, help_heading = "Times and outcomes")]
    replace: bool,

    /// Forget forecasts that still wait and were made this much before the last one: 90d
    #[arg(long, value_name = "LENGTH", help_heading = "Times and outcomes")]
    expire: Option<Span>,

    /// What to do with a row that breaks a rule [default: fail]
    #[arg(long, value_name = "WHAT", help_heading = "Input")]
    on_error: Option<OnError>,

    #[command(flatten)]
    columns: ColumnFlags,

    #[command(flatten)]
    events: EventFlags,

    #[command(flatten)]
    method: MethodFlags,

    /// Read flags from a TOML file; those on the command line come first
    #[arg(long, value_name = "truecast.toml", help_heading = "Run")]
    config: Option<PathBuf>,

    /// How many threads compute [default: all cores]; reading and writing have their own
    #[arg(long, value_name = "N", help_heading = "Run")]
    threads: Option<usize>,

    /// Say nothing but errors
    #[arg(short, long, help_heading = "Run")]
    quiet: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let config = Config::read(args.config.as_deref())?;
    use_threads(args.threads)?;
    let tables = args.input.open()?;
    let file = tables.name.clone();
    let mut desk = Desk::open(&tables.file(), tables.names(), request(args, &config))?;
    if !args.quiet {
        say!("{file}: {}", desk.said());
    }
    let settings = args.method.settings(&config, desk.lateness())?;
    let mut fleet = continued(args.state.as_deref(), settings)?;
    let (report, summary) = (args.report.is_some(), args.summary.is_some());
    let ask = Ask {
        row_scores: report,
        scoreboards: report || summary,
        fan: if report { FAN_ROWS } else { 0 },
        ..Ask::numbers(Answer::Nothing)
    };
    let mut recorder = Recorder::new(report);
    let mut refusals = Refusals::new(args.on_error.or(config.on_error).unwrap_or(OnError::Fail), args.quiet);
    let files = Files::create(args)?;
    let destination = Destination::open(args.output.as_deref(), args.output_format, &tables)?;
    if let Some(path) = &args.input.outcomes {
        desk.bring(&mut [&mut fleet], &tables::outcomes(path)?, &ask)?;
    }
    let outcome = desk.layout().outcome;
    let columns = desk.layout().names.clone();
    let (mut destination, written) = (Some(destination), Cell::new(false));
    let mut write = |names: Vec<String>, batch, changes| -> Result<()> {
        written.set(true);
        if let Some(open) = destination.take() {
            destination = Some(open.write_made(move || sheets::sheet(&names, batch, changes, outcome))?);
        }
        Ok(())
    };
    each(&mut desk, &mut [&mut fleet], tables, &ask, &mut recorder, &mut refusals, args.quiet, &mut write)?;
    if !written.get() {
        // A table without rows still has its columns.
        let none = truecast_events::Piece::new("", sheets::empty(columns.len()));
        for changes in desk.take(&mut [&mut fleet], &[none], &ask, &mut || true)?.changes {
            write(columns.clone(), sheets::empty(columns.len()), changes)?;
        }
    }
    desk.close(&mut fleet)?;
    let expired = args.expire.map_or(Ok(0), |after| expire(&mut fleet, after))?;
    let output = destination.map_or(Ok(None), Destination::finish)?;
    let horizons = by_horizon(&fleet)?;
    let told =
        told::Run { fleet: &fleet, desk: &desk, horizons: &horizons, skipped: refusals.skipped(), expired };
    files.finish(output, &fleet, &file, &recorder, &told)?;
    if !args.quiet {
        told.say();
    }
    Ok(())
}

/// What this command asks of its table.
fn request(args: &Args, config: &Config) -> Request {
    let quantiles = args.quantiles.as_ref().or(config.quantiles.as_ref());
    let intervals = args.intervals.as_ref().or(config.intervals.as_ref());
    Request {
        groups: args.method.groups(config).into_iter().map(|group| group.column).collect(),
        last_counts: args.revisions.or(config.revisions) == Some(Revisions::Last),
        replace: args.replace,
        keep: args.state.is_some(),
        skip: args.on_error.or(config.on_error) == Some(OnError::Skip),
        quantiles: quantiles.map_or_else(Vec::new, |list| list.0.clone()),
        intervals: intervals.map_or_else(Vec::new, |list| list.0.clone()),
        scores: args.scores || config.scores.unwrap_or(false),
        ..args.events.request(&args.columns, config)
    }
}

/// Takes the rows of a table, batch by batch or whole, and gives them on with what becomes of them.
#[allow(clippy::too_many_arguments)]
pub(crate) fn each(
    desk: &mut Desk,
    fleets: &mut [&mut Fleet],
    tables: Tables,
    ask: &Ask,
    recorder: &mut Recorder,
    refusals: &mut Refusals,
    quiet: bool,
    write: &mut dyn FnMut(Vec<String>, truecast_data::table::Batch, truecast_events::Changes) -> Result<()>,
) -> Result<()> {
    let (holds, ahead) = (desk.holds(), desk.ahead());
    let mut batches = Batches::new(tables, ahead, quiet);
    let mut go_on = || interrupt::check().is_ok();
    let mut take = |chunks: Vec<Chunk>| -> Result<()> {
        let (mut pieces, mut names) = (Vec::new(), Vec::new());
        let mut broken = Vec::new();
        for Chunk { mut piece, names: columns, .. } in chunks {
            broken.append(&mut piece.cells.broken);
            names = columns;
            pieces.push(piece);
        }
        let taken = desk.take(fleets, &pieces, ask, &mut go_on);
        interrupt::check()?;
        let taken = taken?;
        recorder.record(taken.forecasts, &taken.scores)?;
        refusals.take(broken, taken.refused)?;
        for (piece, changes) in pieces.into_iter().zip(taken.changes) {
            write(names.clone(), piece.cells, changes)?;
        }
        Ok(())
    };
    if holds {
        let chunks = batches.all()?;
        return if chunks.is_empty() { Ok(()) } else { take(chunks) };
    }
    while let Some(chunk) = batches.next()? {
        take(vec![chunk])?;
    }
    Ok(())
}

/// The files beside the rows. They are begun before anything is read, so that a place that cannot be written to is told at once, and
/// none of them appears unless all can.
struct Files {
    summary: Option<NewFile>,
    report: Option<NewFile>,
    state: Option<NewFile>,
}

impl Files {
    fn create(args: &Args) -> Result<Self> {
        destination::apart(&[&args.output, &args.summary, &args.report, &args.state].map(Option::as_deref))?;
        let create = |path: &Option<PathBuf>| path.as_deref().map(NewFile::create).transpose();
        Ok(Files {
            summary: create(&args.summary)?,
            report: create(&args.report)?,
            state: create(&args.state)?,
        })
    }

    /// Puts all files in their places, the state last: if the machine fails in between, the old state makes the same output again.
    fn finish(
        self,
        output: Option<NewFile>,
        fleet: &Fleet,
        file: &str,
        recorder: &Recorder,
        told: &told::Run<'_>,
    ) -> Result<()> {
        if let Some(place) = &self.summary {
            let summary = summary::of(&fleet.scoreboard()?, fleet.certificate()).with(told);
            place.fill(&summary::json(&summary)?)?;
        }
        if let Some(place) = &self.report {
            let report = recorder.report(fleet, file, told.notes(), false)?;
            place.fill(report.to_html().as_bytes())?;
        }
        if let Some(place) = &self.state {
            place.fill(&fleet.to_bytes()?)?;
        }
        for place in [output, self.summary, self.report, self.state].into_iter().flatten() {
            place.commit()?;
        }
        Ok(())
    }
}

/// The fleet that the state file holds, or a new one.
fn continued(state: Option<&Path>, settings: Settings) -> Result<Fleet> {
    let Some(path) = state.filter(|path| path.exists()) else { return Ok(Fleet::new(settings)?) };
    let fleet = state_of(path)?;
    fleet.expect(&settings).map_err(|error| Failure::of_state(&path.display().to_string(), error))?;
    Ok(fleet)
}

/// The fleet that a state file holds.
pub(crate) fn state_of(path: &Path) -> Result<Fleet> {
    let file = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|source| DataError::Io { file: file.clone(), source })?;
    Fleet::from_bytes(&bytes).map_err(|error| Failure::of_state(&file, error))
}

pub(crate) fn use_threads(threads: Option<usize>) -> Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    if threads == 0 {
        return Err(Failure::usage("--threads must be at least 1", ""));
    }
    // Asked for in earnest, as many would exhaust the system, and its own message about that helps nobody.
    if threads > MOST_THREADS {
        return Err(Failure::usage(
            format!("--threads must be at most {MOST_THREADS}, and is {threads}"),
            "more threads than cores are of no use",
        ));
    }
    let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    built.map_err(|error| Failure::usage(format!("cannot start {threads} threads: {error}"), ""))
}
