//! `truecast reproduce`: the paper's tables and figures, one folder for each experiment.

mod bo;
mod picture;
mod uci;

use crate::failure::Result;

/// Reproduce the paper's tables and figures
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, clap::Subcommand)]
enum Experiment {
    Uci(uci::Args),
    Bo(bo::Args),
}

pub(crate) fn run(args: &Args) -> Result<()> {
    match &args.experiment {
        Experiment::Uci(args) => uci::run(args),
        Experiment::Bo(args) => bo::run(args),
    }
}
