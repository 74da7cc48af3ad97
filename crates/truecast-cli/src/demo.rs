//! `truecast demo`: the main job on a built-in stream.

use std::borrow::Cow;
use std::path::PathBuf;

use truecast_data::NewFile;
use truecast_fleet::{Answer, Ask, Error, Fleet, Given, Rows, Settings, Task};
use truecast_streams::{Scenario, Step};

use crate::failure::Result;
use crate::reporting::{FAN_ROWS, Recorder};
use crate::terminal::{percent, print};

/// Calibrate a built-in stream: a table here, and charts in report.html
///
/// A forecaster of a daily cycle that is overconfident, drifts, and meets noisier days after 60 % of the run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many forecasts
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    steps: u64,

    /// Key of all random draws
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Where to write the report
    #[arg(long, value_name = "R.html", default_value = "report.html")]
    report: PathBuf,
}

/// The built-in stream as rows of a fleet.
struct Stream(Vec<Step>);

impl Rows for Stream {
    type Error = Error;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn key(&self, _row: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(b"")
    }

    fn task(&self, row: usize) -> Result<Task, Error> {
        let step = &self.0[row];
        let forecast = Given::Distribution(step.forecast().into());
        Ok(Task::plain(forecast, Some(step.outcome)))
    }

    fn refuse(&self, _row: usize, error: Error) -> Error {
        error
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let rows = Stream(Scenario::Demo.stream(args.steps as usize, args.seed));
    let mut fleet = Fleet::new(Settings { seed: args.seed, ..Settings::default() })?;
    let ask = Ask { row_scores: true, scoreboards: true, fan: FAN_ROWS, ..Ask::numbers(Answer::Nothing) };
    let answers = fleet.run(&rows, &ask);
    if let Some((_, error)) = answers.refused.into_iter().next() {
        return Err(error.into());
    }
    let mut recorder = Recorder::new(true);
    recorder.record(rows.len(), &answers.scores)?;
    let report = recorder.report(&fleet, "the built-in stream demo", Vec::new(), false)?;
    NewFile::write(&args.report, report.to_html().as_bytes())?;
    let tally = fleet.tally();
    let (raw, calibrated) = (percent(tally.raw, tally.outcomes), percent(tally.calibrated, tally.outcomes));
    print(&format!(
        "A forecaster that is {}.\n\n{}\nIts 80 % interval covered {raw}; calibrated it covers {calibrated}.\n\n\
         Charts: {}\n\nNext:\n  \
         truecast calibrate YOUR.csv -o calibrated.csv --report report.html   # columns y, mean, std, or many other forms\n  \
         truecast compare YOUR.csv                                           # every method side by side\n  \
         truecast simulate demo -o demo.csv                                  # this stream as a file to try things on\n  \
         truecast help calibrate                                             # all forms, late outcomes, saved states\n",
        "overconfident, drifts, and meets noisier days after 60 % of the run",
        fleet.scoreboard()?,
        args.report.display(),
    ))
}
