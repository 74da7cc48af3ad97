//! What the experiment found, next to what the paper reports.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;
use truecast_bo::Benchmark;
use truecast_bo::reproduction::{Comparison, Reproduction, Row, Run, Variant};

use crate::failure::Result;
use crate::interrupt;
use crate::progress::Progress;

/// Every run, in parallel.
pub(crate) fn measure(plan: &Reproduction, quiet: bool) -> Result<Comparison> {
    let mut jobs = plan.jobs()?;
    // The longest first, so that no core is left with one of them at the end.
    jobs.sort_by_key(|job| std::cmp::Reverse(job.benchmark.inputs() * job.steps));
    let progress = Progress::over_steps(jobs.len() as u64, quiet);
    let run = |job: &truecast_bo::reproduction::Job| {
        interrupt::check()?;
        let run = job.run()?;
        progress.step(1);
        Ok(run)
    };
    let runs: Vec<Run> = jobs.par_iter().map(run).collect::<Result<_>>()?;
    progress.done();
    Ok(plan.summed(&runs)?)
}

/// Mean and standard error in the paper's table 2; it has one recalibrated column, and does not say on which domain the camel is.
pub(crate) fn paper(benchmark: Benchmark, variant: Variant) -> Option<(f64, f64)> {
    let (plain, recalibrated) = match benchmark {
        Benchmark::Ackley(2) => ((9.925, 3.502), (8.313, 3.403)),
        Benchmark::SixHumpCamel | Benchmark::SixHumpCamelWide => ((-0.378, 0.146), (-1.029, 0.002)),
        Benchmark::Ackley(10) => ((14.638, 0.591), (10.867, 2.343)),
        Benchmark::Alpine(10) => ((13.911, 1.846), (12.163, 1.555)),
        _ => return None,
    };
    match variant {
        Variant::Plain => Some(plain),
        Variant::Paper => Some(recalibrated),
        _ => None,
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct RowSummary {
    mean: f64,
    se: Option<f64>,
    paired_difference: Option<f64>,
    paired_se: Option<f64>,
    stuck: f64,
    /// The mean multiplier κ_t.
    kappa: Option<f64>,
    coverage80: CoverageSummary,
    fallbacks: u64,
    /// The mean of the least outcome so far: after the initial points, and after each step.
    curve: Vec<f64>,
    paper_mean: Option<f64>,
    paper_se: Option<f64>,
}

/// Shares of outcomes in the 80 % interval.
#[derive(Debug, Serialize)]
struct CoverageSummary {
    queried_raw: Option<f64>,
    queried_recalibrated: Option<f64>,
    random_raw: Option<f64>,
    random_recalibrated: Option<f64>,
}

/// `--summary`: benchmark → variant → numbers.
pub(crate) fn summary(comparison: &Comparison) -> BTreeMap<String, BTreeMap<&'static str, RowSummary>> {
    let of = |row: &Row| RowSummary {
        mean: row.last.mean,
        se: row.last.error,
        paired_difference: row.difference.map(|difference| difference.mean),
        paired_se: row.difference.and_then(|difference| difference.error),
        stuck: row.stuck,
        kappa: row.multiplier,
        coverage80: CoverageSummary {
            queried_raw: row.at_chosen.share(),
            queried_recalibrated: row.recalibrated_at_chosen.share(),
            random_raw: row.at_random.share(),
            random_recalibrated: row.recalibrated_at_random.share(),
        },
        fallbacks: row.fallbacks,
        curve: row.curve.iter().map(|estimate| estimate.mean).collect(),
        paper_mean: paper(row.benchmark, row.variant).map(|reported| reported.0),
        paper_se: paper(row.benchmark, row.variant).map(|reported| reported.1),
    };
    let mut all: BTreeMap<String, BTreeMap<&'static str, RowSummary>> = BTreeMap::new();
    for row in &comparison.rows {
        all.entry(row.benchmark.to_string()).or_default().insert(row.variant.name(), of(row));
    }
    all
}
