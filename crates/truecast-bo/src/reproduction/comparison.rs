//! Runs summed up: means with standard errors, differences of paired runs, and a table of them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::run::{Coverage, Run};
use super::variant::Variant;
use crate::benchmark::Benchmark;

/// A mean over runs and its standard error; that of one run is not known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its standard error, s/√n with n − 1 in s².
    pub error: Option<f64>,
}

impl Estimate {
    /// Of these numbers; `None` where there are none.
    pub fn of(numbers: &[f64]) -> Option<Self> {
        let n = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / n;
        let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
        let error = (numbers.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt());
        (!numbers.is_empty()).then_some(Estimate { mean, error })
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(3);
        match (self.error, f.sign_plus()) {
            (Some(error), true) => write!(f, "{:+.digits$} ± {error:.digits$}", self.mean),
            (Some(error), false) => write!(f, "{:.digits$} ± {error:.digits$}", self.mean),
            (None, true) => write!(f, "{:+.digits$}", self.mean),
            (None, false) => write!(f, "{:.digits$}", self.mean),
        }
    }
}

/// A variant on a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What was minimised.
    pub benchmark: Benchmark,
    /// How.
    pub variant: Variant,
    /// The final least outcome.
    pub last: Estimate,
    /// Its difference to `plain` with the same initial points; below 0 is better.
    pub difference: Option<Estimate>,
    /// The share of runs that were stuck; see [`Run::is_stuck`].
    pub stuck: f64,
    /// Of the surrogate's own 80 % interval at the points that it chose.
    pub at_chosen: Coverage,
    /// Of the recalibrated one there.
    pub recalibrated_at_chosen: Coverage,
    /// Of the surrogate's own 80 % interval at random points.
    pub at_random: Coverage,
    /// Of the recalibrated one there.
    pub recalibrated_at_random: Coverage,
    /// The mean κ_t.
    pub multiplier: Option<f64>,
    /// Steps in which something did not work.
    pub fallbacks: u64,
    /// The convergence curve: the least outcome so far, after the initial points and after each step.
    pub curve: Vec<Estimate>,
}

impl Row {
    /// The runs of one variant on one benchmark, beside those of `plain` on it.
    pub(super) fn of(runs: &[&Run], plain: &[&Run], typical: f64) -> Option<Self> {
        let first = runs.first()?;
        let last: Vec<f64> = runs.iter().map(|run| run.last()).collect();
        let pairs: Vec<f64> = runs
            .iter()
            .filter_map(|run| {
                let partner = plain.iter().find(|partner| partner.seed == run.seed)?;
                Some(run.last() - partner.last())
            })
            .collect();
        let multipliers: Vec<f64> =
            runs.iter().flat_map(|run| run.multipliers.iter().flatten()).copied().collect();
        let sum =
            |part: fn(&Run) -> Coverage| runs.iter().fold(Coverage::default(), |sum, run| sum.and(part(run)));
        let at = |step: usize| {
            let values: Vec<f64> = runs.iter().filter_map(|run| run.curve.get(step)).copied().collect();
            Estimate::of(&values)
        };
        Some(Row {
            benchmark: first.benchmark,
            variant: first.variant,
            last: Estimate::of(&last)?,
            difference: if first.variant == Variant::Plain { None } else { Estimate::of(&pairs) },
            stuck: runs.iter().filter(|run| run.is_stuck(typical)).count() as f64 / runs.len() as f64,
            at_chosen: sum(|run| run.at_chosen),
            recalibrated_at_chosen: sum(|run| run.recalibrated_at_chosen),
            at_random: sum(|run| run.at_random),
            recalibrated_at_random: sum(|run| run.recalibrated_at_random),
            multiplier: Estimate::of(&multipliers).map(|estimate| estimate.mean),
            fallbacks: runs.iter().map(|run| run.fallbacks).sum(),
            curve: (0..first.curve.len()).filter_map(at).collect(),
        })
    }
}

/// All rows; displayed as a table in Markdown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// By benchmark, then by variant.
    pub rows: Vec<Row>,
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| benchmark | variant | final least | against plain | stuck | mean κ_t | 80 % covers: chosen | … recalibrated | random | … recalibrated | fallbacks |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|---|---|---|---|")?;
        let percent =
            |share: Option<f64>| share.map_or(String::new(), |share| format!("{:.0} %", 100.0 * share));
        for row in &self.rows {
            writeln!(
                f,
                "| {} | {} | {:.3} | {} | {} | {} | {} | {} | {} | {} | {} |",
                row.benchmark,
                row.variant,
                row.last,
                row.difference.map_or(String::new(), |difference| format!("{difference:.3}")),
                percent(Some(row.stuck)),
                row.multiplier.map_or(String::new(), |kappa| format!("{kappa:.2}")),
                percent(row.at_chosen.share()),
                percent(row.recalibrated_at_chosen.share()),
                percent(row.at_random.share()),
                percent(row.recalibrated_at_random.share()),
                row.fallbacks,
            )?;
        }
        Ok(())
    }
}
