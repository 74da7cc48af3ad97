//! The paper's protocol: rows arrive in batches, Bayesian ridge regression is fitted to all rows so far, and forecasts the next batch.
//!
//! ```text
//! batch 1           forecast by a model fitted to batch 1 itself (nothing came before it), or left out: `FirstBatch`
//! batch b > 1       forecast by a model fitted to batches 1 … b − 1
//! ```
//!
//! The model's forecasts of a batch are all made before any of its outcomes is known. The recalibrators hear of an outcome before the next
//! row, as Algorithm 1 is written, or with its whole batch: `Booking`.
//!
//! Cost: a row is O(d²) and a fit O(d³), whatever the number of rows before (sufficient statistics); no row is copied.

use truecast::Gaussian;
use truecast_models::{BayesianRidge, BayesianRidgeParameters};

use super::dataset::{Dataset, Table};
use crate::failure::Result;
use crate::interrupt;

/// What happens with the first batch, before which there is nothing to fit a model to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FirstBatch {
    /// The model that forecasts it was fitted to it.
    Fit,
    /// It only trains the model.
    Skip,
}

/// When the recalibrator hears of an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Booking {
    /// Before the next row of the same batch is recalibrated.
    Row,
    /// With its whole batch, after all of it was recalibrated.
    Batch,
}

/// Forecasts with their outcomes, batch by batch.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Forecasts {
    pub(crate) batches: Vec<Vec<(Gaussian, f64)>>,
}

impl Forecasts {
    /// Runs the model over a table.
    pub(crate) fn new(dataset: Dataset, table: &Table, first: FirstBatch) -> Result<Self> {
        let parameters = BayesianRidgeParameters::builder().refit_every(None).sequential(false).build()?;
        let inputs = table.inputs.first().map_or(0, Vec::len);
        let mut model = BayesianRidge::new(inputs, parameters)?;
        let mut batches = Vec::new();
        let pairs = table.inputs.chunks(dataset.batch()).zip(table.outcomes.chunks(dataset.batch()));
        for (number, (inputs, outcomes)) in pairs.enumerate() {
            interrupt::check()?;
            let ahead = number > 0;
            if ahead {
                batches.push(forecast(&model, inputs, outcomes)?);
            }
            for (x, &y) in inputs.iter().zip(outcomes) {
                model.learn(x, y)?;
            }
            model.refit()?;
            if !ahead && first == FirstBatch::Fit {
                batches.push(forecast(&model, inputs, outcomes)?);
            }
        }
        Ok(Forecasts { batches })
    }

    /// How many forecasts there are.
    pub(crate) fn rows(&self) -> u64 {
        self.batches.iter().map(|batch| batch.len() as u64).sum()
    }
}

fn forecast(model: &BayesianRidge, inputs: &[Vec<f64>], outcomes: &[f64]) -> Result<Vec<(Gaussian, f64)>> {
    inputs.iter().zip(outcomes).map(|(x, &y)| Ok((model.predict(x)?, y))).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn table(outcomes: &[f64]) -> Table {
        let inputs = (0..outcomes.len()).map(|k| vec![(k as f64).sin(); 6]).collect();
        Table { inputs, outcomes: outcomes.to_vec() }
    }

    #[test]
    fn no_forecast_after_the_first_batch_knows_its_own_batch() {
        let outcomes: Vec<f64> = (0..37).map(|k| (f64::from(k) * 1.7).cos()).collect();
        let mut changed = outcomes.clone();
        changed[20..].fill(9.0);
        let of = |outcomes: &[f64], first| Forecasts::new(Dataset::Fish, &table(outcomes), first).unwrap();
        let (left, right) = (of(&outcomes, FirstBatch::Fit), of(&changed, FirstBatch::Fit));
        assert_eq!(left.batches.iter().map(Vec::len).collect::<Vec<_>>(), [10, 10, 10, 7]);
        for (batch, same) in [(0, true), (1, true), (2, true), (3, false)] {
            let laws = |of: &Forecasts| of.batches[batch].iter().map(|row| row.0).collect::<Vec<_>>();
            assert_eq!(laws(&left) == laws(&right), same, "batch {batch}");
        }
        assert_eq!(of(&outcomes, FirstBatch::Skip).batches, left.batches[1..]);
    }
}
