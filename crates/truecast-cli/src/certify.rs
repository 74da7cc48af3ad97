//! `truecast certify`: plays an adversary against a method and prints what it owes.

use truecast::monitor::Scoreboard;
use truecast::random;
use truecast_fleet::Lateness;
use truecast_streams::Opponent;

use crate::config::Config;
use crate::failure::{Failure, Result};
use crate::flags::MethodFlags;
use crate::game;
use crate::interrupt;
use crate::progress::Progress;
use crate::simulate::opponents;
use crate::terminal::print;

/// Play an adaptive adversary against a method, and print the certificate
///
/// The adversary sees every calibrated forecast before it chooses the outcome. One line for each promise, with what was measured; exit code 1 if a bound
/// is broken.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  truecast certify
  truecast certify --adversary worst-pit --steps 100000
  truecast certify --guard strict  # coverage whatever it costs")]
pub(crate) struct Args {
    /// Who chooses the outcomes
    #[arg(long, value_name = "NAME", default_value = "interval", value_parser = opponents())]
    adversary: String,

    /// How many rounds
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    steps: u64,

    #[command(flatten)]
    method: MethodFlags,

    /// Show no progress
    #[arg(short, long, help_heading = "Run")]
    quiet: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let settings = args.method.settings(&Config::default(), Lateness::Next)?;
    if settings.groups > 0 {
        return Err(Failure::usage("the adversary's forecasts belong to no group", "leave --ledger out"));
    }
    let opponent: Opponent = args.adversary.parse()?;
    let mut board = Scoreboard::default();
    let progress = Progress::over_steps(args.steps, args.quiet);
    let end = game::play(settings.build(b"")?, opponent, args.steps, settings.seed, |step, round| {
        if step % 1_000 == 0 {
            interrupt::check()?;
            progress.step(1_000.min(args.steps - step));
        }
        let draw = random::uniform(settings.seed, step, random::ATOM_LANE);
        Ok(board.observe(&round.base, round.calibrated, round.outcome, draw)?)
    })?;
    progress.done();
    let head =
        format!("{} against the adversary {opponent}, who {}\n\n", settings.method, opponent.description());
    let certificate = end.certificate();
    print(&format!("{head}{board}\n\n{certificate}\n"))?;
    if certificate.holds() {
        return print("\nEvery bound that is promised holds.\n");
    }
    Err(Failure::Check("a bound of the certificate is broken: please report this as a defect".to_owned()))
}
