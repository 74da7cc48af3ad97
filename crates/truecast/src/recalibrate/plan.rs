//! What a recalibrator announces at one step, with all that is needed to book the outcome later.

use serde::{Deserialize, Serialize};

use super::guard::INTERVALS;
use super::map::Map;
use super::stop_loss::Stake;
use super::Curve;
use crate::error::{Error, Result, SnapshotError};
use crate::forecast::{Forecast, Recalibrated};
use crate::score::form::Form;

/// The announcement of one step.
///
/// Made by [`Recalibrator::plan`](super::Recalibrator::plan), read through [`Plan::calibrated`], and handed back to
/// [`Recalibrator::resolve`](super::Recalibrator::resolve) with the outcome. Buffers are reused when a plan is filled again.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Plan {
    /// The number of the forecast: keys the random draws.
    pub(crate) step: u64,
    /// How many outcomes had been settled when this was planned; tells late outcomes from immediate ones.
    pub(crate) settled: u64,
    /// The base forecast's widths at the levels; empty where no part of the recalibrator uses them.
    pub(crate) widths: Vec<f64>,
    /// The base's location and ln scale.
    pub(crate) place: (f64, f64),
    /// What each expert said, or each subroutine played, or where a comparator put each quantile.
    pub(crate) said: Vec<f64>,
    /// What they want to remember, one after the other.
    pub(crate) memo: Vec<f64>,
    /// The mixture, before projection; empty where nothing is mixed.
    pub(crate) mixed: Vec<f64>,
    /// What is announced.
    pub(crate) map: Map,
    /// The quantiles that are announced, of a forecast that is scored by quantiles.
    pub(crate) values: Vec<f64>,
    /// Where the ends of the guarded intervals are, in base probit scores; empty without a guard.
    pub(crate) ends: Vec<f64>,
    /// The outcome is booked before the next forecast is made: what is reserved until then need not be exact, only no less than the worst case.
    #[serde(skip)]
    pub(crate) at_once: bool,
    /// What a strict guard was put behind, since the stop-loss answers for that alone.
    pub(crate) before_guard: Option<(Curve, Vec<f64>)>,
    /// What the announcement risks.
    pub(crate) stake: Stake,
    /// The forecast as it is scored; made again from the forecast after loading.
    #[serde(skip)]
    pub(crate) form: Option<Box<Form>>,
    /// Room for intermediate results.
    #[serde(skip)]
    pub(crate) room: Box<Room>,
}

/// Curves and quantiles on their way to the announced ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Room {
    pub(crate) map: Curve,
    pub(crate) blend: Curve,
    pub(crate) guarded: Curve,
    /// The quantiles from which, and the places between which, a table is blended.
    pub(crate) base: Vec<f64>,
    pub(crate) from: Vec<f64>,
    pub(crate) to: Vec<f64>,
    /// What one expert wants to remember, and what is announced at the levels.
    pub(crate) memo: Vec<f64>,
    pub(crate) announced: Vec<f64>,
}

/// Equal in what is announced, and what is kept for the outcome.
impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        let kept = |plan: &Plan| (plan.step, plan.settled, plan.place, plan.stake);
        let rows = |plan: &Plan| [plan.widths.clone(), plan.said.clone(), plan.memo.clone(), plan.mixed.clone()];
        kept(self) == kept(other) && rows(self) == rows(other) && self.map == other.map && self.ends == other.ends
    }
}

impl Plan {
    /// Room for plans whose outcomes are booked before the next forecast is made: what they announce is the same, and costs less to find.
    pub fn at_once() -> Self {
        Plan { at_once: true, ..Plan::default() }
    }

    /// The calibrated forecast: the base forecast, which must be the one that was planned for, through the map.
    pub fn calibrated<F: Forecast>(&self, base: F) -> Recalibrated<F, &Map> {
        Recalibrated::new(base, &self.map)
    }

    /// The map in force.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// How far the base was blended towards the map, and the result towards the guarded map: 1 where the stop-loss held nothing back.
    pub fn blends(&self) -> [f64; 2] {
        self.stake.blends
    }

    /// The worst that the announcement can lose to the base, reserved until the outcome is known.
    pub fn reserved(&self) -> f64 {
        self.stake.reserved
    }

    /// What experts, subroutines or rules said, one after the other.
    pub fn said(&self) -> &[f64] {
        &self.said
    }

    /// The mixture of the experts, before projection.
    pub fn mixed(&self) -> &[f64] {
        &self.mixed
    }

    /// Refuses a plan of another shape.
    pub(crate) fn expect_said(&self, count: usize, memo: usize) -> Result<()> {
        if (self.said.len(), self.memo.len()) == (count, memo) {
            Ok(())
        } else {
            Err(Error::ForeignPlan { expected: count, found: self.said.len() })
        }
    }

    /// The same for a plan that was loaded; what was said must be made of probabilities, if it is.
    pub(crate) fn validate_said(&self, count: usize, memo: usize, probabilities: bool) -> Result<(), SnapshotError> {
        let field = "pending plan";
        if (self.said.len(), self.memo.len()) != (count, memo) {
            return Err(SnapshotError::Invalid { field, rule: "of the recalibrator's shape" });
        }
        let mut said = self.said.iter().chain(&self.mixed);
        if probabilities && !said.all(|p| (0.0..=1.0).contains(p)) {
            return Err(SnapshotError::Invalid { field, rule: "made of probabilities" });
        }
        let mut numbers = self.said.iter().chain(&self.memo);
        if numbers.any(|x| x.is_nan()) || !self.widths.iter().all(|w| *w >= 0.0 && w.is_finite()) {
            return Err(SnapshotError::Invalid { field, rule: "made of numbers, and of widths that are not negative" });
        }
        Ok(())
    }

    /// What stop-loss and guard need of a plan that was loaded.
    pub(crate) fn validate_stake(&self, guarded: bool) -> Result<(), SnapshotError> {
        let Stake { reserved, expected, blends } = self.stake;
        let sizes = [reserved, expected].iter().all(|x| *x >= 0.0 && x.is_finite());
        let ends = if guarded { 2 * INTERVALS } else { 0 };
        let shares = blends.iter().all(|l| (0.0..=1.0).contains(l));
        let numbers = self.values.iter().chain(&self.ends).all(|x| x.is_finite());
        if sizes && shares && numbers && self.ends.len() == ends {
            Ok(())
        } else {
            Err(SnapshotError::Invalid { field: "pending plan", rule: "of the recalibrator's shape" })
        }
    }
}
