//! What a study has found, in the units of the objective: for the table, the summary and the page.

use std::collections::BTreeMap;

use serde::Serialize;
use truecast::Forecast;
use truecast_bo::study::{Evaluation, Step};
use truecast_bo::{Study, Value};

use crate::failure::Result;

/// A study seen from outside: numbers as they were told, whichever way is better.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Results<'a> {
    pub(crate) study: &'a Study,
    /// −1 where large outcomes are wanted.
    pub(crate) sign: f64,
}

/// A trial with its outcome.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told<'a> {
    pub(crate) step: &'a Step,
    pub(crate) value: f64,
}

/// How many outcomes fell into the 80 % interval that was made for them before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Held {
    pub(crate) hits: u64,
    pub(crate) count: u64,
}

impl Held {
    fn add(&mut self, (low, high): (f64, f64), y: f64) {
        self.hits += u64::from(low <= y && y <= high);
        self.count += 1;
    }
}

/// Held by the surrogate's own interval, and by the recalibrated one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Coverage {
    pub(crate) raw: Held,
    pub(crate) recalibrated: Held,
}

impl<'a> Results<'a> {
    pub(crate) fn new(study: &'a Study, sign: f64) -> Self {
        Results { study, sign }
    }

    /// Trials with an outcome, in their order.
    pub(crate) fn told(&self) -> Vec<Told<'a>> {
        let told = |step: &'a Step| Some(Told { step, value: self.sign * step.outcome()? });
        self.study.steps().iter().filter_map(told).collect()
    }

    /// Trials with an outcome, the best first; the first of equals before others.
    pub(crate) fn ranked(&self) -> Vec<Told<'a>> {
        let mut told = self.told();
        told.sort_by(|a, b| (self.sign * a.value).total_cmp(&(self.sign * b.value)));
        told
    }

    pub(crate) fn best(&self) -> Option<Told<'a>> {
        let step = self.study.best()?;
        Some(Told { step, value: self.sign * step.outcome()? })
    }

    /// Trials without an outcome, and why.
    pub(crate) fn failed(&self) -> Vec<(&'a Step, &'a str)> {
        let failed = |step: &'a Step| match &step.evaluation {
            Evaluation::Failed(why) => Some((step, why.as_str())),
            _ => None,
        };
        self.study.steps().iter().filter_map(failed).collect()
    }

    /// The best value after each trial with an outcome, by the trial's number from 1.
    pub(crate) fn best_so_far(&self) -> Vec<(u64, f64)> {
        let mut best: Option<f64> = None;
        let mut curve = Vec::new();
        for Told { step, value } in self.told() {
            let better = best.is_none_or(|best| self.sign * value < self.sign * best);
            let now = if better { value } else { best.unwrap_or(value) };
            best = Some(now);
            curve.push((step.number + 1, now));
        }
        curve
    }

    pub(crate) fn coverage(&self) -> Result<Coverage> {
        let mut coverage = Coverage::default();
        for step in self.study.steps() {
            let Some(y) = step.outcome() else { continue };
            if let Some(forecast) = step.forecast {
                coverage.raw.add(forecast.interval(0.8)?, y);
            }
            if let Some(interval) = step.interval {
                coverage.recalibrated.add(interval, y);
            }
        }
        Ok(coverage)
    }

    /// F(y) of each outcome by the surrogate's own forecast, made before it was known.
    pub(crate) fn pits(&self) -> Vec<f64> {
        let pit = |step: &Step| {
            let (forecast, y) = (step.forecast?, step.outcome()?);
            Some(if self.sign < 0.0 { forecast.sf(y) } else { forecast.cdf(y) })
        };
        self.study.steps().iter().filter_map(pit).collect()
    }

    /// For `--summary`.
    pub(crate) fn summary(&self) -> Result<Summary> {
        let names: Vec<String> = self.study.space().dimensions().map(|(name, _)| name.to_owned()).collect();
        let best = self.best().map(|told| BestSummary {
            value: told.value,
            trial: told.step.number + 1,
            point: names.into_iter().zip(told.step.point.iter().cloned()).collect(),
        });
        let value = |step: &Step| step.outcome().map(|y| self.sign * y);
        Ok(Summary {
            trials: self.study.steps().len(),
            ok: self.told().len(),
            failed: self.failed().len(),
            best,
            coverage80: self.coverage()?,
            values: self.study.steps().iter().map(value).collect(),
        })
    }
}

/// `--summary`, as `docs/formats.md` describes it.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    trials: usize,
    ok: usize,
    failed: usize,
    best: Option<BestSummary>,
    coverage80: Coverage,
    /// By trial; none where it failed.
    values: Vec<Option<f64>>,
}

#[derive(Debug, Serialize)]
struct BestSummary {
    value: f64,
    trial: u64,
    point: BTreeMap<String, Value>,
}
