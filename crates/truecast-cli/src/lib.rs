//! The `truecast` command as a library. One file for each command; this one only parses and dispatches. What rows mean is `truecast-events`.

#![forbid(unsafe_code)]

mod calibrate;
mod certify;
mod compare;
mod config;
mod demo;
mod destination;
mod evaluate;
mod explain;
mod failure;
mod flags;
mod game;
mod generate;
mod interrupt;
mod optimize;
mod pipeline;
mod progress;
mod refusals;
mod reporting;
mod reproduce;
mod resolve;
mod sheets;
mod simulate;
mod summary;
mod tables;
mod terminal;
mod told;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use terminal::say;

/// Honest uncertainty for any forecaster, on any stream.
///
/// Truecast takes the forecasts in a file and returns ones that are calibrated: an 80 % interval holds the outcome 80 % of the
/// time, even on data that drifts or that an adversary chooses, without losing accuracy.
#[derive(Debug, Parser)]
#[command(name = "truecast", version, max_term_width = 110, arg_required_else_help = true)]
#[command(after_help = "Begin with `truecast demo`, then `truecast calibrate FILE --report report.html`.\n\
                        Exit codes: 0 ok, 1 a check failed, 2 bad usage or data, 130 interrupted.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Args),
    Calibrate(Box<calibrate::Args>),
    Resolve(resolve::Args),
    Evaluate(Box<evaluate::Args>),
    Compare(Box<compare::Args>),
    Simulate(simulate::Args),
    Certify(certify::Args),
    Explain(explain::Args),
    Optimize(Box<optimize::Args>),
    Reproduce(reproduce::Args),
    Completions(generate::CompletionArgs),
    Man(generate::ManArgs),
}

/// Runs the command that the arguments of this process say.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors: clap prints them on standard output and knows their code.
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let done = interrupt::listen().and_then(|()| match &cli.command {
        Command::Demo(args) => demo::run(args),
        Command::Calibrate(args) => calibrate::run(args),
        Command::Resolve(args) => resolve::run(args),
        Command::Evaluate(args) => evaluate::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Certify(args) => certify::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Optimize(args) => optimize::run(args),
        Command::Reproduce(args) => reproduce::run(args),
        Command::Completions(args) => generate::completions(args),
        Command::Man(args) => generate::man_pages(args),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.is_silent() {
                say!("error: {failure}");
            }
            failure.exit_code()
        }
    }
}
