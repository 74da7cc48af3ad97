//! `truecast calibrate`: the same rows, with calibrated forecasts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use truecast_data::recognise::{Layout, recognise};
use truecast_data::table::{Batch, Column, Text};
use truecast_data::{Error as DataError, Format, NewFile};
use truecast_fleet::{Ask, Fleet, Lateness, Settings};

use crate::config::Config;
use crate::destination::{self, Destination};
use crate::failure::{Failure, Result};
use crate::flags::{ColumnFlags, InputFlags, MethodFlags, OnError, Percentages, Probabilities};
use crate::long;
use crate::numbers::Numbers;
use crate::pipeline::{Batches, Chunk};
use crate::plan::OutputPlan;
use crate::refusals::Refusals;
use crate::reporting::{FAN_ROWS, Recorder};
use crate::summary;
use crate::terminal::{count, percent, plural, say};
use crate::wide::WideRows;

/// More than any machine of today has cores.
const MOST_THREADS: usize = 1024;

/// Calibrate the forecasts in a file
///
/// Reads forecasts with their outcomes in time order and writes the same rows with calibrated forecasts. Each forecast is
/// calibrated with what was known before it, never with its own outcome. Rows without an outcome are forecast and change nothing.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  truecast calibrate forecasts.csv -o calibrated.csv --report report.html
  truecast calibrate m4.parquet --model AutoARIMA --intervals 80,95 -o m4-calibrated.parquet
  truecast calibrate today.csv --state model.state -o out.csv    # goes on where yesterday stopped
  zcat log.ndjson.gz | truecast calibrate - --form gaussian --scores | head

Columns are recognised by name, and what was recognised is said on standard error:
  the outcome              y, outcome, actual, observed
  mean and spread          mean, std; mu, sigma; mean, variance
  quantiles                q0.1, q10, 0.1 or quantile_P10
  intervals                Model-lo-80, Model-hi-80, and Model for the median
  an ensemble              sample_1, sample_2
  one number               yhat, point, forecast: its scale is learned, and intervals are added
  a hub's long form        output_type, output_type_id, value, with --outcomes or an outcome column
  the M5 competition       id, F1 to F28, with --outcomes
  series                   key, unique_id, series_id
  times of late outcomes   ds, timestamp, date or t, and outcome_time")]
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

    /// How many more forecasts of a series are made before an outcome is known [default: 0, known before the next one]
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true, help_heading = "Input")]
    delay: Option<u64>,

    /// What to do with a row that breaks a rule [default: fail]
    #[arg(long, value_name = "WHAT", help_heading = "Input")]
    on_error: Option<OnError>,

    #[command(flatten)]
    columns: ColumnFlags,

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
    let opened = args.input.open()?;
    let layout = recognise(opened.reader.file(), opened.reader.names(), &args.columns.wishes(&config))?;
    if !args.quiet {
        say!("{}: {layout}", opened.reader.file());
    }
    let lateness = lateness(args.delay.or(config.delay), &layout)?;
    let settings = args.method.settings(&config, lateness)?;
    let groups = group_columns(args, &config, &layout, opened.reader.file())?;
    let mut fleet = continued(args.state.as_deref(), settings)?;
    let quantiles = args.quantiles.as_ref().or(config.quantiles.as_ref());
    let intervals = args.intervals.as_ref().or(config.intervals.as_ref());
    let scores = args.scores || config.scores.unwrap_or(false);
    let plan = Arc::new(OutputPlan::new(&layout, quantiles, intervals, scores)?);
    let ask = Ask {
        answer: plan.answer.clone(),
        row_scores: plan.needs_scores() || args.report.is_some(),
        scoreboards: args.report.is_some() || args.summary.is_some(),
        fan: if args.report.is_some() { FAN_ROWS } else { 0 },
        raw_only: false,
    };
    let mut recorder = Recorder::new(args.report.is_some());
    let mut refusals = Refusals::new(args.on_error.or(config.on_error).unwrap_or(OnError::Fail), args.quiet);
    let file = opened.reader.file().to_owned();
    let files = Files::create(args)?;
    let mut destination = Destination::open(args.output.as_deref(), args.output_format, &opened)?;
    let mut written = false;
    if layout.form.is_long() {
        let outcomes = args.input.outcomes.as_deref();
        let table = long::read(opened, &layout, outcomes, &mut refusals, args.quiet)?;
        let sheets = long::calibrate(table, &layout, &mut fleet, &ask, &mut recorder, &mut refusals)?;
        for sheet in sheets {
            written = true;
            destination = destination.write(sheet)?;
        }
    } else {
        no_outcome_file(args.input.outcomes.as_deref())?;
        let times = fleet.settings().lateness == Lateness::Times;
        let mut batches = Batches::new(opened, Numbers::columns(&layout), args.quiet);
        while let Some(Chunk { mut batch, names, numbers, .. }) = batches.next()? {
            written = true;
            let rows = WideRows::new(&file, &batch, &numbers, &layout).in_groups(&groups).at_times(times);
            let mut answers = fleet.run(&rows, &ask);
            recorder.record(batch.rows(), &answers.scores)?;
            let broken = std::mem::take(&mut batch.broken);
            let refused = std::mem::take(&mut answers.refused);
            let lines: Vec<usize> = refused.iter().map(|(row, _)| *row).collect();
            refusals.take(broken, refused)?;
            let plan = Arc::clone(&plan);
            destination = destination
                .write_made(move || plan.sheet(&names, batch, &answers.values, &answers.scores, &lines))?;
        }
    }
    if !written {
        // A table without rows still has its columns.
        let columns = vec![Column::Text(Text::default()); layout.names.len()];
        let none = Batch { columns, ..Batch::default() };
        destination = destination.write(plan.sheet(&layout.names, none, &[], &[], &[]))?;
    }
    let output = destination.finish()?;
    files.finish(output, &fleet, &file, &recorder, &refusals)?;
    if !args.quiet {
        tell(&fleet, &refusals);
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
        refusals: &Refusals,
    ) -> Result<()> {
        if let Some(place) = &self.summary {
            place.fill(&summary::json(&summary::of(&fleet.scoreboard()?, fleet.certificate()))?)?;
        }
        if let Some(place) = &self.report {
            let report = recorder.report(fleet, file, refusals.skipped(), false)?;
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

/// The run in words.
fn tell(fleet: &Fleet, refusals: &Refusals) {
    let (tally, series) = (fleet.tally(), fleet.series().count() as u64);
    let rows = format!("{} {}", count(tally.rows), plural(tally.rows, "row", "rows"));
    say!("{rows} in {} series", count(series));
    if tally.outcomes > 0 {
        let (raw, calibrated) =
            (percent(tally.raw, tally.outcomes), percent(tally.calibrated, tally.outcomes));
        let outcomes = format!("{} {}", count(tally.outcomes), plural(tally.outcomes, "outcome", "outcomes"));
        say!("80 % intervals held {raw} of {outcomes}; calibrated they hold {calibrated}");
    } else {
        say!(
            "no outcome was there to learn from: the forecasts are as calibrated as the state that they began with"
        );
    }
    if tally.repaired > 0 {
        let rows = plural(tally.repaired, "row", "rows");
        say!("quantiles crossed in {} {rows} and were sorted", count(tally.repaired));
    }
    if refusals.skipped() > 0 {
        let rows = plural(refusals.skipped(), "row was", "rows were");
        say!("{} {rows} left out", count(refusals.skipped()));
    }
    if series > 1 && series == tally.rows {
        say!(
            "note: every row is a series of its own, so nothing could be learned; --key names the column of the series"
        );
    }
}

/// When outcomes become known, from flags and columns.
pub(crate) fn lateness(delay: Option<u64>, layout: &Layout) -> Result<Lateness> {
    match (delay, layout.outcome_time) {
        (Some(_), Some(column)) if !layout.form.is_long() => {
            let problem = format!(
                "--delay and the column {} both say when outcomes become known",
                layout.names[column]
            );
            Err(Failure::usage(problem, "leave one of them out"))
        }
        (Some(0), _) => Ok(Lateness::Next),
        (Some(rows), _) => Ok(Lateness::Rows(rows)),
        (None, Some(_)) => Ok(Lateness::Times),
        (None, None) => Ok(Lateness::Next),
    }
}

fn group_columns(args: &Args, config: &Config, layout: &Layout, file: &str) -> Result<Vec<usize>> {
    let mut columns = Vec::new();
    for group in args.method.groups(config) {
        let found = layout.names.iter().position(|name| *name == group.column);
        columns.push(found.ok_or_else(|| DataError::File {
            file: file.to_owned(),
            problem: format!("there is no column {:?}, which --ledger names", group.column),
            hint: format!("the columns are {}", layout.names.join(", ")),
        })?);
    }
    if !columns.is_empty() && layout.form.is_long() {
        return Err(Failure::usage("group ledgers are for forms with one row for each forecast", ""));
    }
    Ok(columns)
}

/// The fleet that the state file holds, or a new one.
fn continued(state: Option<&Path>, settings: Settings) -> Result<Fleet> {
    let Some(path) = state.filter(|path| path.exists()) else { return Ok(Fleet::new(settings)?) };
    let file = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|source| DataError::Io { file: file.clone(), source })?;
    let fleet = Fleet::from_bytes(&bytes).and_then(|fleet| {
        fleet.expect(&settings)?;
        Ok(fleet)
    });
    fleet.map_err(|error| Failure::of_state(&file, error))
}

pub(crate) fn no_outcome_file(outcomes: Option<&Path>) -> Result<()> {
    match outcomes {
        None => Ok(()),
        Some(_) => {
            let problem = "--outcomes is for hub and M5 forms; here a row holds its own outcome";
            Err(Failure::usage(problem, "name the outcome's column with --outcome"))
        }
    }
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
