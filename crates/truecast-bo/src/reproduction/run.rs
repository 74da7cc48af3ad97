//! One run: a benchmark, a variant and a seed.

use serde::{Deserialize, Serialize};
use truecast::Forecast;

use super::variant::Variant;
use crate::benchmark::Benchmark;
use crate::draws::{self, Purpose};
use crate::error::Result;
use crate::space::Value;
use crate::study::{Study, StudySettings};
use crate::surrogate::Surrogate;

/// Random points at which coverage is measured at each step.
const PROBES: u64 = 10;

/// How often something was covered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Times that it was.
    pub hits: u64,
    /// Times in all.
    pub count: u64,
}

impl Coverage {
    fn add(&mut self, (low, high): (f64, f64), y: f64) {
        self.hits += u64::from(low <= y && y <= high);
        self.count += 1;
    }

    /// Both together.
    pub fn and(self, other: Coverage) -> Coverage {
        Coverage { hits: self.hits + other.hits, count: self.count + other.count }
    }

    /// The share, if there is any.
    pub fn share(self) -> Option<f64> {
        (self.count > 0).then(|| self.hits as f64 / self.count as f64)
    }
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// What was minimised.
    pub benchmark: Benchmark,
    /// How.
    pub variant: Variant,
    /// By which seed.
    pub seed: u64,
    /// The least outcome so far, after the initial points and after each step.
    pub curve: Vec<f64>,
    /// κ_t of each step, where there is one.
    pub multipliers: Vec<Option<f64>>,
    /// Of the surrogate's own 80 % interval at the points that it chose.
    pub at_chosen: Coverage,
    /// Of the recalibrated 80 % interval there.
    pub recalibrated_at_chosen: Coverage,
    /// Of the surrogate's own 80 % interval at uniform random points.
    pub at_random: Coverage,
    /// Of the recalibrated 80 % interval there.
    pub recalibrated_at_random: Coverage,
    /// Steps in which something did not work.
    pub fallbacks: u64,
}

impl Run {
    /// Runs so many steps after the initial points, with the variant's settings or others like them.
    pub fn new(
        benchmark: Benchmark,
        variant: Variant,
        steps: usize,
        settings: StudySettings,
    ) -> Result<Self> {
        let (seed, initial) = (settings.seed, settings.initial);
        let mut study = Study::new(benchmark.space()?, settings)?;
        let probes = draws::seed(seed, Purpose::Coverage);
        let mut run = Run {
            benchmark,
            variant,
            seed,
            curve: Vec::with_capacity(steps + 1),
            multipliers: Vec::with_capacity(steps),
            at_chosen: Coverage::default(),
            recalibrated_at_chosen: Coverage::default(),
            at_random: Coverage::default(),
            recalibrated_at_random: Coverage::default(),
            fallbacks: 0,
        };
        let mut least = f64::INFINITY;
        for number in 0..initial + steps {
            let point = study.suggest()?;
            let y = evaluate(benchmark, &point)?;
            if number >= initial {
                run.measure(&study, y, probes)?;
            }
            study.observe(&point, y)?;
            least = least.min(y);
            if number + 1 >= initial {
                run.curve.push(least);
            }
        }
        Ok(run)
    }

    /// What was foretold at the step that is about to be told, and at random points.
    fn measure(&mut self, study: &Study, y: f64, seed: u64) -> Result<()> {
        let Some(step) = study.steps().last() else { return Ok(()) };
        self.multipliers.push(step.multiplier);
        self.fallbacks += u64::from(step.fallback.is_some());
        if let Some(forecast) = step.forecast {
            self.at_chosen.add(forecast.interval(0.8)?, y);
        }
        if let Some(interval) = step.interval {
            self.recalibrated_at_chosen.add(interval, y);
        }
        // A surrogate that cannot be fitted has no interval to cover anything, and is counted as a fallback.
        let Ok(surrogate) = study.surrogate() else { return Ok(()) };
        // A recalibration that fails is counted as a fallback, and forecasts are then taken as they are.
        let remap = study.remap(&surrogate, step.number).unwrap_or_default();
        for probe in 0..PROBES {
            let place = draws::point(seed, step.number * PROBES + probe, study.space().width());
            let y = evaluate(self.benchmark, &study.space().decode(&place)?)?;
            let base = surrogate.outcome(&place)?;
            self.at_random.add(base.interval(0.8)?, y);
            self.recalibrated_at_random.add(remap.applied(&base)?.interval(0.8)?, y);
        }
        Ok(())
    }

    /// The least outcome of all.
    pub fn last(&self) -> f64 {
        self.curve.last().copied().unwrap_or(f64::INFINITY)
    }

    /// Stuck: the last half of the steps gained less than a thousandth of `typical`, and what is left to the minimum is more than a twentieth of it. `typical`
    /// is how far a uniform random point lies above the minimum, on average.
    pub fn is_stuck(&self, typical: f64) -> bool {
        let half = self.curve.get(self.curve.len() / 2).copied().unwrap_or(f64::INFINITY);
        let last = self.last();
        half - last < 1e-3 * typical && last - self.benchmark.minimum() > 0.05 * typical
    }
}

fn evaluate(benchmark: Benchmark, point: &[Value]) -> Result<f64> {
    let x: Vec<f64> = point.iter().filter_map(Value::as_real).collect();
    benchmark.value(&x)
}

/// How far a uniform random point lies above the minimum, on average over 1,000.
pub(super) fn typical(benchmark: Benchmark) -> Result<f64> {
    const POINTS: u64 = 1000;
    let (space, seed) = (benchmark.space()?, draws::seed(0, Purpose::Coverage));
    let mut sum = 0.0;
    for i in 0..POINTS {
        sum += evaluate(benchmark, &space.decode(&draws::point(seed, i, space.width()))?)?;
    }
    Ok(sum / POINTS as f64 - benchmark.minimum())
}
