//! `truecast resolve`: outcomes for the forecasts that wait in a state.

use std::path::PathBuf;

use truecast_data::NewFile;
use truecast_data::recognise::Wishes;
use truecast_events::{Request, Span, by_horizon, expire, resolve, table, verdict};
use truecast_fleet::{Answer, Ask};

use crate::calibrate::state_of;
use crate::failure::Result;
use crate::flags::Revisions;
use crate::tables;
use crate::terminal::{count, percent, plural, say};
use crate::told;

/// Bring outcomes to the forecasts that wait in a state
///
/// `truecast calibrate --state` keeps forecasts without an outcome. This books the outcomes that have become known, says how the
/// forecasts met them, and saves the state.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  truecast resolve model.state --outcomes truth.csv
  truecast resolve model.state --outcomes truth.csv --expire 90d")]
pub(crate) struct Args {
    /// A file that `truecast calibrate --state` wrote
    #[arg(value_name = "STATE")]
    state: PathBuf,

    /// Outcomes: a file, or a folder of them, that has some of the forecasts' columns
    #[arg(long, value_name = "FILE")]
    outcomes: PathBuf,

    /// The column of the outcome
    #[arg(long, value_name = "COLUMN")]
    outcome: Option<String>,

    /// Which of several outcomes about the same counts: the first, or the last that is known before it is used
    #[arg(long, value_name = "WHICH", default_value = "first")]
    revisions: Revisions,

    /// Forget forecasts that still wait and were made this much before the last one: 90d
    #[arg(long, value_name = "LENGTH")]
    expire: Option<Span>,

    /// Say nothing but errors
    #[arg(short, long)]
    quiet: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut fleet = state_of(&args.state)?;
    let outcomes = tables::outcomes(&args.outcomes)?;
    let request = Request {
        wishes: Wishes { outcome: args.outcome.clone(), ..Wishes::default() },
        last_counts: args.revisions == Revisions::Last,
        ..Request::default()
    };
    let counts = resolve(&mut fleet, &outcomes, &request, &Ask::numbers(Answer::Nothing))?;
    let expired = args.expire.map_or(Ok(0), |after| expire(&mut fleet, after))?;
    NewFile::write(&args.state, &fleet.to_bytes()?)?;
    if args.quiet {
        return Ok(());
    }
    say!(
        "of {} {}, {} are about no forecast that waits",
        count(counts.outcomes),
        plural(counts.outcomes, "outcome", "outcomes"),
        count(counts.unmatched)
    );
    let tally = fleet.tally();
    if tally.outcomes > 0 {
        let (raw, calibrated) =
            (percent(tally.raw, tally.outcomes), percent(tally.calibrated, tally.outcomes));
        say!("80 % intervals held {raw} of {}; calibrated they held {calibrated}", count(tally.outcomes));
        say!("{}", verdict(&tally));
    }
    let horizons = by_horizon(&fleet)?;
    if horizons.len() > 1 {
        say!("{}", table("horizon", &horizons));
    }
    told::booked(&counts, &fleet, expired).iter().for_each(|line| say!("{line}"));
    Ok(())
}
