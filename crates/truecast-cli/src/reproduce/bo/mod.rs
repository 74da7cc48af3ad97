//! `truecast reproduce bo`: table 2 of the paper and its convergence figures, with controls.
//!
//! | file | concept |
//! |---|---|
//! | `result.rs` | all runs, the paper's numbers, the summary |
//! | `table.rs`, `figure.rs`, `page.rs` | how it is shown |
//!
//! The experiment itself is `truecast_bo::reproduction`.

mod figure;
mod page;
mod result;
mod table;

use std::path::PathBuf;

use truecast_bo::Benchmark;
use truecast_bo::reproduction::{Comparison, Reproduction};
use truecast_data::{Error, NewFile};
use truecast_report::chart::Chart;

use super::picture;
use crate::calibrate::use_threads;
use crate::failure::Result;
use crate::summary;
use crate::terminal::{print, say};

/// Table 2 and the convergence figures: Bayesian optimisation with recalibrated surrogates, and with controls that need no data
///
/// Minimises the paper's functions from three random points by a lower confidence bound at κ = 2: plain, recalibrated as in the paper, by the ledger
/// recalibrator and online; beside them smaller constants κ and one that falls from 2 to 1 whatever the data. Runs of one seed share their initial
/// points. Prints the table, and writes it with the figures and a page that holds them into a folder.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Runs of each variant on each function
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,

    /// Steps after the three initial points [default: 30 with two inputs, 50 with more]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    steps: Option<u32>,

    /// Functions to minimise, of ackley-D, alpine-D, six-hump-camel, six-hump-camel-wide, beale, beale-gpyopt and mccormick [default: the paper's]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    benchmarks: Vec<Benchmark>,

    /// Key of all runs
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Where to write table, figures and page
    #[arg(short, long, value_name = "DIR", default_value = "bo-results")]
    output: PathBuf,

    /// Write the numbers as JSON
    #[arg(long, value_name = "S.json")]
    summary: Option<PathBuf>,

    /// How many threads to use [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Say nothing on standard error but errors
    #[arg(short, long)]
    quiet: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    use_threads(args.threads)?;
    let mut plan = Reproduction {
        seeds: args.seeds,
        steps: args.steps.map(|steps| steps as usize),
        seed: args.seed,
        ..Default::default()
    };
    if !args.benchmarks.is_empty() {
        plan.benchmarks.clone_from(&args.benchmarks);
        plan.benchmarks.dedup();
    }
    let comparison = result::measure(&plan, args.quiet)?;
    write(args, &plan, &comparison)?;
    print(&table::text(&comparison))?;
    if !args.quiet {
        say!("figures and page: {}", args.output.join("index.html").display());
    }
    Ok(())
}

fn write(args: &Args, plan: &Reproduction, comparison: &Comparison) -> Result<()> {
    let folder = &args.output;
    let io = |source| Error::Io { file: folder.display().to_string(), source };
    std::fs::create_dir_all(folder).map_err(io)?;
    let put = |name: String, bytes: &[u8]| NewFile::write(&folder.join(name), bytes);
    put("table.md".to_owned(), table::markdown(comparison).as_bytes())?;
    for &benchmark in &plan.benchmarks {
        let svg = figure::chart(benchmark, comparison).to_standalone_svg();
        put(format!("{benchmark}.svg"), svg.as_bytes())?;
        if let Some(png) = picture::png(&svg)? {
            put(format!("{benchmark}.png"), &png)?;
        }
    }
    if !picture::AVAILABLE && !args.quiet {
        say!("figures are SVG only: build with `--features png` to have them as PNG too");
    }
    put("index.html".to_owned(), page::html(plan, comparison).as_bytes())?;
    if let Some(path) = &args.summary {
        summary::write(path, &result::summary(comparison))?;
    }
    Ok(())
}
