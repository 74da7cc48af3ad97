//! The paper's experiment on Bayesian optimisation (table 2 and the convergence figures), with the controls that tell what made a difference.
//!
//! Each benchmark is minimised by each variant from the same random initial points, seed by seed; 30 steps with two inputs and 50 with more. The paper has
//! five runs from fixed initial points and no steps or κ given; here runs differ by seed, and differences are paired. Runs are spread over all cores,
//! and are the same however many there are.
//!
//! Two controls need no data: smaller constants κ, and κ on a line from 2 to 1. A recalibrated surrogate that does no better than these
//! has explored less, not learned more.

mod comparison;
mod run;
mod variant;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use comparison::{Comparison, Estimate, Row};
pub use run::{Coverage, Run};
pub use variant::{INITIAL, Variant};

use crate::benchmark::Benchmark;
use crate::draws::{self, Purpose};
use crate::error::{self, Result};
use crate::study::StudySettings;
use crate::surrogate::SurrogateSettings;

/// What is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reproduction {
    /// What is minimised.
    pub benchmarks: Vec<Benchmark>,
    /// How; `plain` is what the others are compared with.
    pub variants: Vec<Variant>,
    /// Runs of each.
    pub seeds: u64,
    /// Steps after the initial points; none: 30 with two inputs, 50 with more.
    pub steps: Option<usize>,
    /// The surrogate of every run; the noise is learned unless this says otherwise, though the benchmarks have none.
    pub surrogate: SurrogateSettings,
    /// The key of all runs.
    pub seed: u64,
}

impl Default for Reproduction {
    fn default() -> Self {
        Reproduction {
            benchmarks: Benchmark::ALL.to_vec(),
            variants: Variant::ALL.to_vec(),
            seeds: 30,
            steps: None,
            surrogate: SurrogateSettings::default(),
            seed: 0,
        }
    }
}

impl Reproduction {
    /// Steps of a run on this benchmark.
    pub fn steps_of(&self, benchmark: Benchmark) -> usize {
        self.steps.unwrap_or(if benchmark.inputs() <= 2 { 30 } else { 50 })
    }

    /// Every run that is to be made, by benchmark, variant and seed.
    pub fn jobs(&self) -> Result<Vec<Job>> {
        error::setting("the number of seeds", "1 or more", self.seeds as f64, self.seeds > 0)?;
        let seeds = draws::seed(self.seed, Purpose::Runs);
        let mut jobs = Vec::new();
        for &benchmark in &self.benchmarks {
            for &variant in &self.variants {
                let steps = self.steps_of(benchmark);
                jobs.extend((seeds..seeds + self.seeds).map(|seed| {
                    let settings = variant.settings(steps, seed);
                    let settings = StudySettings { surrogate: self.surrogate.clone(), ..settings };
                    Job { benchmark, variant, steps, settings }
                }));
            }
        }
        Ok(jobs)
    }

    /// Sums up runs of these benchmarks and variants, in any order.
    pub fn summed(&self, runs: &[Run]) -> Result<Comparison> {
        let of = |benchmark: Benchmark, variant: Variant| -> Vec<&Run> {
            runs.iter().filter(|run| (run.benchmark, run.variant) == (benchmark, variant)).collect()
        };
        let mut rows = Vec::new();
        for &benchmark in &self.benchmarks {
            let (plain, typical) = (of(benchmark, Variant::Plain), run::typical(benchmark)?);
            rows.extend(
                self.variants.iter().filter_map(|&variant| Row::of(&of(benchmark, variant), &plain, typical)),
            );
        }
        Ok(Comparison { rows })
    }

    /// Runs everything and sums it up.
    ///
    /// ```
    /// use truecast_bo::Benchmark;
    /// use truecast_bo::reproduction::{Reproduction, Variant};
    ///
    /// let small = Reproduction {
    ///     benchmarks: vec![Benchmark::McCormick],
    ///     variants: vec![Variant::Plain, Variant::Online],
    ///     seeds: 2,
    ///     steps: Some(4),
    ///     ..Default::default()
    /// };
    /// let comparison = small.compare()?;
    /// assert_eq!(comparison.rows.len(), 2);
    /// assert!(comparison.to_string().contains("| mccormick | online |"));
    /// # Ok::<(), truecast_bo::Error>(())
    /// ```
    pub fn compare(&self) -> Result<Comparison> {
        let runs = self.jobs()?.into_par_iter().map(|job| job.run()).collect::<Result<Vec<_>>>()?;
        self.summed(&runs)
    }
}

/// A run that is to be made; jobs do not depend on one another.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// What is minimised.
    pub benchmark: Benchmark,
    /// How.
    pub variant: Variant,
    /// Steps after the initial points.
    pub steps: usize,
    /// The settings, seed included.
    pub settings: StudySettings,
}

impl Job {
    /// Makes the run.
    pub fn run(&self) -> Result<Run> {
        Run::new(self.benchmark, self.variant, self.steps, self.settings.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_share_initial_points_and_runs_repeat() {
        let run = |variant: Variant| {
            Run::new(Benchmark::SixHumpCamel, variant, 4, variant.settings(4, 11)).unwrap()
        };
        let plain = run(Variant::Plain);
        for variant in Variant::ALL {
            let other = run(variant);
            assert_eq!(other.curve[0], plain.curve[0]);
            assert_eq!(other.curve.len(), 5);
            assert!(other.curve.windows(2).all(|pair| pair[1] <= pair[0]));
            assert_eq!((other.at_random.count, other.fallbacks), (40, 0));
            assert_eq!(variant.name().parse(), Ok(variant));
        }
        assert_eq!(run(Variant::Plain), plain);
    }

    #[test]
    fn a_run_is_stuck_when_it_is_flat_and_far() {
        let run = |curve: &[f64]| Run {
            curve: curve.to_vec(),
            ..Run::new(Benchmark::Beale, Variant::Plain, 0, Variant::Plain.settings(0, 0)).unwrap()
        };
        assert!(run(&[9.0, 8.0, 8.0, 8.0]).is_stuck(100.0));
        assert!(!run(&[9.0, 8.0, 8.0, 6.0]).is_stuck(100.0));
        assert!(!run(&[9.0, 2.0, 2.0, 2.0]).is_stuck(100.0));
    }

    /// By hand: 1, 2, 6 have mean 3, s² = 7, so that the error is √(7/3).
    #[test]
    fn estimates_have_standard_errors() {
        let estimate = Estimate::of(&[1.0, 2.0, 6.0]).unwrap();
        assert!(
            (estimate.mean - 3.0).abs() < 1e-15
                && (estimate.error.unwrap() - (7.0_f64 / 3.0).sqrt()).abs() < 1e-15
        );
        assert_eq!(format!("{estimate:.2}"), "3.00 ± 1.53");
        assert_eq!(Estimate::of(&[1.0]).unwrap().error, None);
        assert_eq!(Estimate::of(&[]), None);
    }
}
