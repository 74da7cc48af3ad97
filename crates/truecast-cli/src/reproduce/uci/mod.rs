//! `truecast reproduce uci`: table 1 and figures 1 and 2 of the paper.
//!
//! | file | concept |
//! |---|---|
//! | `dataset.rs` | the four files: where from, which version, what is in them |
//! | `protocol.rs` | batches, refits, forecasts |
//! | `column.rs` | what is done with the forecasts, and one run of it |
//! | `result.rs` | all runs, the paper's numbers, the summary |
//! | `table.rs`, `figure.rs`, `page.rs` | how it is shown |

mod column;
mod dataset;
mod figure;
mod page;
mod protocol;
mod result;
mod table;

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use truecast_data::{Error, NewFile};
use truecast_report::chart::Chart;

use self::dataset::Dataset;
use self::protocol::{Booking, FirstBatch, Forecasts};
use self::result::Outcome;
use super::picture;
use crate::calibrate::use_threads;
use crate::failure::Result;
use crate::summary;
use crate::terminal::{print, say};

/// Where the files are looked for if no folder is named.
const BESIDE: &str = "../shared/data";

/// Table 1 and figures 1 and 2: Bayesian ridge regression on four UCI datasets, recalibrated by each method
///
/// Prints the table, and writes it with the figures and a page that holds them into a folder. What is missing of the data is explained.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder with the four files from the UCI repository [default: ../shared/data, if it is there]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Go on with files that are not those the results were made with
    #[arg(long)]
    any_version: bool,

    /// Runs of the methods that toss coins
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,

    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Whether the first batch is forecast by a model fitted to it, or only trains
    #[arg(long, value_name = "WHAT", default_value = "fit")]
    first_batch: FirstBatch,

    /// When the recalibrators hear of an outcome: before the next row, or with its whole batch
    #[arg(long, value_name = "WHEN", default_value = "row")]
    outcomes: Booking,

    /// Where to write table, figures and page
    #[arg(short, long, value_name = "DIR", default_value = "uci-results")]
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
    let folder = match &args.data {
        Some(folder) => folder.as_path(),
        None if Path::new(BESIDE).is_dir() => Path::new(BESIDE),
        None => return Err(dataset::no_folder()),
    };
    let tables = Dataset::ALL
        .into_iter()
        .map(|dataset| Ok((dataset, dataset.read(folder, args.any_version)?)))
        .collect::<Result<Vec<_>>>()?;
    if !args.quiet {
        say!("fitting Bayesian ridge regression to {} streams", tables.len());
    }
    let forecasts = tables
        .par_iter()
        .rev()
        .map(|(dataset, table)| Ok((*dataset, Forecasts::new(*dataset, table, args.first_batch)?)))
        .collect::<Result<Vec<_>>>()?;
    let mut outcomes = result::measure(&forecasts, args.outcomes, args.seeds, args.seed, args.quiet)?;
    outcomes.reverse();
    write(args, &outcomes)?;
    print(&table::text(&outcomes))?;
    if !args.quiet {
        say!("figures and page: {}", args.output.join("index.html").display());
    }
    Ok(())
}

fn write(args: &Args, outcomes: &[Outcome]) -> Result<()> {
    let folder = &args.output;
    let io = |source| Error::Io { file: folder.display().to_string(), source };
    std::fs::create_dir_all(folder).map_err(io)?;
    let put = |name: String, bytes: &[u8]| NewFile::write(&folder.join(name), bytes);
    put("table.md".to_owned(), table::markdown(outcomes).as_bytes())?;
    for outcome in outcomes {
        let svg = figure::chart(outcome, args.seeds).to_standalone_svg();
        let name = outcome.dataset.name();
        put(format!("{name}.svg"), svg.as_bytes())?;
        if let Some(png) = picture::png(&svg)? {
            put(format!("{name}.png"), &png)?;
        }
    }
    if !picture::AVAILABLE && !args.quiet {
        say!("figures are SVG only: build with `--features png` to have them as PNG too");
    }
    put(
        "index.html".to_owned(),
        page::html(outcomes, args.first_batch, args.outcomes, args.seeds).as_bytes(),
    )?;
    if let Some(path) = &args.summary {
        summary::write(path, &result::summary(outcomes))?;
    }
    Ok(())
}
