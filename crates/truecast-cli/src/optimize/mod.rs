//! `truecast optimize`: Bayesian optimisation of a command.
//!
//! | file | concept |
//! |---|---|
//! | `space_file.rs` | what is searched |
//! | `template.rs`, `shell.rs`, `objective.rs` | how a point becomes a number, or a failure |
//! | `trials.rs` | the loop |
//! | `study_file.rs` | what is kept between runs |
//! | `results.rs`, `table.rs`, `page.rs` | what came of it |

mod objective;
mod page;
mod results;
mod shell;
mod space_file;
mod study_file;
mod table;
mod template;
mod trials;

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use truecast_bo::{
    AnyAcquisition, Benchmark, Calibration, Kappa, Space, Study, StudySettings, SurrogateSettings,
};
use truecast_data::NewFile;
use truecast_models::Noise;

use self::objective::{Objective, Source};
use self::results::Results;
use self::study_file::StudyFile;
use self::template::Template;
use self::trials::Trials;
use crate::failure::{Failure, Result};
use crate::summary;
use crate::terminal::{plural, print, say};

/// Find the inputs at which a command prints its least number, in few trials
///
/// Bayesian optimisation: a Gaussian process learns from the trials so far and says which point to try next. A trial runs the command by the
/// shell with each {name} replaced by a value of the space; its outcome is the last number on standard output. A trial that fails, takes too long or prints
/// no number is told as failed, with the reason. TRUECAST_TRIAL holds the trial's number, from 1.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  truecast optimize --space space.toml --command \"python train.py --rate {rate} --depth {depth}\" --trials 40 --resume study.json
  truecast optimize --benchmark six-hump-camel --report report.html

A space file:
  [rate]
  type = \"real\"
  low = 1e-5
  high = 1.0
  scale = \"log\"

  [depth]
  type = \"integer\"
  low = 1
  high = 8

  [kind]
  type = \"choice\"
  choices = [\"relu\", \"tanh\"]

Exit code 1 if no trial has an outcome.")]
pub(crate) struct Args {
    /// What is searched: a table for each dimension
    #[arg(
        long,
        value_name = "SPACE.toml",
        required_unless_present = "benchmark",
        conflicts_with = "benchmark"
    )]
    space: Option<PathBuf>,

    /// What is run, with {name} for the value of each dimension
    #[arg(long, value_name = "COMMAND", required_unless_present = "benchmark", conflicts_with = "benchmark")]
    command: Option<String>,

    /// A built-in function in place of space and command: ackley-D, alpine-D (D inputs), six-hump-camel, six-hump-camel-wide, beale, beale-gpyopt or
    /// mccormick
    #[arg(long, value_name = "NAME")]
    benchmark: Option<Benchmark>,

    /// How many trials the study has in the end, failed ones and those of earlier runs included
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    trials: u32,

    /// Large numbers are wanted
    #[arg(long, visible_alias = "maximise", conflicts_with = "benchmark")]
    maximize: bool,

    /// Outcomes repeat exactly: no noise is learned, and no point is tried twice
    #[arg(long)]
    exact: bool,

    /// Keep the study in this file, written after every trial; if it is there already, go on with it
    #[arg(long, value_name = "STUDY", help_heading = "Run")]
    resume: Option<PathBuf>,

    /// How many trials run at once
    #[arg(long, value_name = "P", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000), help_heading = "Run")]
    parallel: u32,

    /// End a trial that takes longer than so many seconds, as failed
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Run", conflicts_with = "benchmark")]
    timeout: Option<Duration>,

    /// Key of all random draws
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Run")]
    seed: u64,

    /// Say nothing on standard error but errors
    #[arg(short, long, help_heading = "Run")]
    quiet: bool,

    /// Trials before there is a surrogate, spread over the space
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=1_000), help_heading = "Search")]
    initial: u32,

    /// What makes a point worth trying
    #[arg(long, value_name = "NAME", default_value = "lcb", help_heading = "Search")]
    acquisition: AcquisitionName,

    /// How many standard deviations below its mean a point is hoped to be, for lcb [default: 2]
    #[arg(long, value_name = "K", allow_negative_numbers = true, help_heading = "Search")]
    kappa: Option<f64>,

    /// How the surrogate's forecasts are recalibrated before they are acted on
    #[arg(long, value_name = "NAME", default_value = "none", help_heading = "Search")]
    calibration: CalibrationName,

    /// Write a page with charts
    #[arg(long, value_name = "R.html", help_heading = "Output")]
    report: Option<PathBuf>,

    /// Write the numbers as JSON
    #[arg(long, value_name = "S.json", help_heading = "Output")]
    summary: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AcquisitionName {
    /// Lower confidence bound: the best that it could well be
    Lcb,
    /// Expected improvement
    Ei,
    /// Probability of an improvement
    Pi,
    /// A random quantile, another at each trial
    Thompson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CalibrationName {
    /// Not at all
    None,
    /// Algorithm 1 on leave-one-out forecasts
    Paper,
    /// The ledgers on leave-one-out forecasts
    Ledger,
    /// The ledgers on forecasts made before their outcomes; narrows only
    Online,
    /// One factor for the width, from the same forecasts; narrows only
    OnlineScale,
}

impl From<CalibrationName> for Calibration {
    fn from(name: CalibrationName) -> Self {
        match name {
            CalibrationName::None => Calibration::None,
            CalibrationName::Paper => Calibration::paper(),
            CalibrationName::Ledger => Calibration::ledger(),
            CalibrationName::Online => Calibration::online(),
            CalibrationName::OnlineScale => Calibration::online_scale(),
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text:?} is not a number"))?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(format!("a timeout is more than 0 seconds, got {text}")),
    }
}

impl Args {
    fn settings(&self) -> Result<StudySettings> {
        let acquisition = match (self.acquisition, self.kappa) {
            (AcquisitionName::Lcb, kappa) => {
                AnyAcquisition::LowerConfidenceBound(Kappa::Fixed(kappa.unwrap_or(2.0)))
            }
            (_, Some(_)) => {
                return Err(Failure::usage("--kappa is for --acquisition lcb", "leave it out"));
            }
            (AcquisitionName::Ei, None) => AnyAcquisition::ExpectedImprovement,
            (AcquisitionName::Pi, None) => AnyAcquisition::ProbabilityOfImprovement { margin: 0.0 },
            (AcquisitionName::Thompson, None) => AnyAcquisition::ThompsonSampling,
        };
        let noise = if self.exact { Noise::Fixed(0.0) } else { Noise::Learned };
        let settings = StudySettings {
            initial: self.initial as usize,
            acquisition,
            calibration: self.calibration.into(),
            surrogate: SurrogateSettings { noise, ..Default::default() },
            seed: self.seed,
            ..Default::default()
        };
        settings.validate()?;
        Ok(settings)
    }

    /// What is searched, and what gives the outcomes.
    fn objective(&self) -> Result<(Space, Objective, Source)> {
        match (&self.space, &self.command, self.benchmark) {
            (_, _, Some(benchmark)) => {
                Ok((benchmark.space()?, Objective::Benchmark(benchmark), Source::Benchmark(benchmark)))
            }
            (Some(path), Some(command), None) => {
                let space = space_file::read(path)?;
                let template = Template::new(command, &space)?;
                let objective = Objective::Command { template, limit: self.timeout };
                Ok((space, objective, Source::Command(command.clone())))
            }
            // The parser asks for all that is needed.
            _ => Err(Failure::usage(
                "there is nothing to optimise",
                "name --space and --command, or --benchmark",
            )),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let settings = args.settings()?;
    let (space, objective, source) = args.objective()?;
    let described = match &source {
        Source::Command(command) => command.clone(),
        Source::Benchmark(benchmark) => benchmark.to_string(),
    };
    let mut study = Study::new(space, settings)?;
    let file = args.resume.as_deref().map(|path| StudyFile::new(path, source, args.maximize));
    if let Some(file) = &file {
        match file.load(&study)? {
            Some((there, changed)) => {
                study = there;
                let (name, trials) = (file.path().display(), study.steps().len() as u64);
                if !args.quiet {
                    say!("{name}: goes on after {trials} {}", plural(trials, "trial", "trials"));
                }
                if changed && !args.quiet {
                    say!(
                        "note: the study was begun with another command; its outcomes are taken as of this one"
                    );
                }
            }
            // That it can be written is known before the first trial.
            None => file.save(&study)?,
        }
    }
    let sign = if args.maximize { -1.0 } else { 1.0 };
    let trials = Trials {
        objective: &objective,
        count: args.trials as usize,
        parallel: args.parallel as usize,
        sign,
        quiet: args.quiet,
    };
    let ran = trials.run(&mut study, |study| file.as_ref().map_or(Ok(()), |file| file.save(study)));
    let results = Results::new(&study, sign);
    match ran {
        Err(Failure::Interrupted) => return Err(stopped(&results, file.as_ref())),
        other => other?,
    }
    if let Some(path) = &args.report {
        NewFile::write(path, page::html(&results, &described)?.as_bytes())?;
    }
    if let Some(path) = &args.summary {
        summary::write(path, &results.summary()?)?;
    }
    print(&table::text(&results)?)?;
    if !args.quiet {
        if let Some(path) = &args.report {
            say!("report: {}", path.display());
        }
        for hint in table::hints(&results, args.resume.as_deref()) {
            say!("hint: {hint}");
        }
    }
    match (results.best(), results.failed().last()) {
        (None, Some((_, why))) => {
            Err(Failure::Check(format!("no trial has an outcome; the last failed: {why}")))
        }
        _ => Ok(()),
    }
}

/// What to say after Ctrl-C.
fn stopped(results: &Results<'_>, file: Option<&StudyFile>) -> Failure {
    let ended = (results.told().len() + results.failed().len()) as u64;
    let problem = format!("interrupted after {ended} {}", plural(ended, "trial", "trials"));
    match file {
        Some(file) => Failure::Stopped {
            problem: format!("{problem}, which {} keeps", file.path().display()),
            hint: "the same command goes on".to_owned(),
        },
        None => Failure::Stopped {
            problem,
            hint: "with --resume STUDY a run can go on where it was stopped".to_owned(),
        },
    }
}
