//! What a recalibrator announces at one step, with all that is needed to book the outcome later.

use serde::{Deserialize, Serialize};

use super::ledgers::LARGEST_WIDTH;
use super::map::{Map, MapShape};
use super::parameters::Parameters;
use crate::error::{Error, Result, SnapshotError};
use crate::forecast::{Forecast, Recalibrated};
use crate::lanes::{pad, padded};

/// The announcement of one step.
///
/// Made by [`Recalibrator::plan`](super::Recalibrator::plan), read through [`Plan::calibrated`], and handed back to
/// [`Recalibrator::settle`](super::Recalibrator::settle) with the outcome. Buffers are reused when a plan is filled again; those
/// per level are padded to a multiple of four (see `lanes.rs`).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// The number of the forecast: keys the random draws.
    pub(crate) step: u64,
    /// How many outcomes had been settled when this was planned; tells late outcomes from immediate ones.
    pub(crate) settled: u64,
    /// How many play intervals there are.
    pub(crate) intervals: u32,
    /// The probabilities played at the levels, before mixing and projection.
    pub(crate) plays: Vec<f64>,
    /// The play interval of each play, and how far into it the play lies.
    pub(crate) cells: Vec<u32>,
    pub(crate) fractions: Vec<f64>,
    /// Weight of each ledger (rows) at each level; of a flat ledger, the first entry of the row stands for all.
    pub(crate) weights: Vec<f64>,
    /// w / A for each ledger and level, A counting this step.
    pub(crate) ratios: Vec<f64>,
    /// The base forecast's widths at the levels; empty where no part of the recalibrator uses them.
    pub(crate) widths: Vec<f64>,
    /// The mixture of the plays with the memories; empty without memories.
    pub(crate) mixed: Vec<f64>,
    /// A comparator's thresholds, each rule's own before they are sorted, ±∞ allowed; empty for all others.
    pub(crate) thresholds: Vec<f64>,
    /// The weight on the plays; 1 where there is no trust.
    pub(crate) trust: f64,
    pub(crate) map: Map,
}

/// What a plan of a ledger recalibrator has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlanShape {
    pub(super) levels: usize,
    intervals: u32,
    weights: usize,
    widths: usize,
    mixed: usize,
    map: MapShape,
    guarded: bool,
}

impl PlanShape {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let levels = parameters.levels.count();
        let room = |wanted: bool| if wanted { padded(levels) } else { 0 };
        PlanShape {
            levels,
            intervals: parameters.plays.intervals() as u32,
            weights: parameters.ledgers.len() * padded(levels),
            widths: room(parameters.needs_widths()),
            mixed: room(parameters.memory),
            map: parameters.shape,
            guarded: parameters.guard,
        }
    }
}

impl Plan {
    /// An empty plan for `ledgers` ledgers on the levels of `map` and a grid of `intervals` play intervals.
    pub(crate) fn new(map: Map, intervals: usize, ledgers: usize, widths: bool) -> Self {
        let levels = padded(map.levels().count());
        Plan {
            step: 0,
            settled: 0,
            intervals: intervals as u32,
            plays: pad(map.announced(), 0.0),
            cells: vec![0; levels],
            fractions: vec![0.0; levels],
            weights: vec![0.0; ledgers * levels],
            ratios: vec![0.0; ledgers * levels],
            widths: vec![0.0; if widths { levels } else { 0 }],
            mixed: Vec::new(),
            thresholds: Vec::new(),
            trust: 1.0,
            map,
        }
    }

    /// The calibrated forecast: the base forecast, which must be the one that was planned for, through the map.
    pub fn calibrated<F: Forecast>(&self, base: F) -> Recalibrated<F, &Map> {
        Recalibrated::new(base, &self.map)
    }

    /// The map in force.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// What is mixed with the base: the plays, or their mixture with the memories.
    pub fn followed(&self) -> &[f64] {
        &self.followed_padded()[..self.map.levels().count()]
    }

    pub(crate) fn followed_padded(&self) -> &[f64] {
        if self.mixed.is_empty() { &self.plays } else { &self.mixed }
    }

    /// The probabilities played at the levels, before trust and projection.
    pub fn plays(&self) -> &[f64] {
        &self.plays[..self.map.levels().count()]
    }

    /// The weight on the plays against the base; 1 where trust is off.
    pub fn trust(&self) -> f64 {
        self.trust
    }

    /// Refuses a plan of another shape.
    pub(crate) fn expect_shape(&self, levels: usize, intervals: usize, ledgers: usize) -> Result<()> {
        let found = self.map.levels().count();
        let fits = found == levels && self.weights.len() == ledgers * padded(levels);
        if fits && self.intervals as usize == intervals {
            Ok(())
        } else {
            Err(Error::ForeignPlan { expected: levels, found })
        }
    }

    /// What it has room for.
    #[inline]
    pub(super) fn shape(&self) -> PlanShape {
        PlanShape {
            levels: self.map.levels().count(),
            intervals: self.intervals,
            weights: self.weights.len(),
            widths: self.widths.len(),
            mixed: self.mixed.len(),
            map: self.map.shape(),
            guarded: self.map.guard().is_some(),
        }
    }

    /// A plan for a comparator: the identity `map` and one threshold per guarded quantile.
    pub(crate) fn with_thresholds(map: Map) -> Self {
        let thresholds = map.guard().map_or_else(Vec::new, |knots| knots.probits().to_vec());
        Plan { thresholds, ..Plan::new(map, 1, 0, false) }
    }

    /// Puts the thresholds, sorted and held within ±`reach`, into the map.
    pub(crate) fn announce_thresholds(&mut self, reach: f64) {
        let Plan { thresholds, map, .. } = self;
        if let Some(knots) = map.guard_mut() {
            knots.place_sorted(thresholds, reach);
        }
    }

    /// Checks a comparator's plan that was loaded.
    pub(crate) fn validate_thresholds(&self, empty: &Plan) -> Result<(), SnapshotError> {
        let shape = self.plays == empty.plays
            && self.weights.is_empty()
            && self.thresholds.len() == empty.thresholds.len()
            && self.map.levels() == empty.map.levels()
            && self.map.announced() == empty.map.announced()
            && self.map.guard().is_some();
        if !shape {
            return Err(SnapshotError::Invalid {
                field: "pending plan",
                rule: "of the recalibrator's shape",
            });
        }
        if self.thresholds.iter().any(|threshold| threshold.is_nan()) {
            return Err(SnapshotError::Invalid { field: "pending plan", rule: "made of thresholds" });
        }
        Ok(())
    }

    /// Checks a plan that was loaded against the recalibrator it belongs to.
    pub(crate) fn validate(&self, empty: &Plan) -> Result<(), SnapshotError> {
        let shape = self.plays.len() == empty.plays.len()
            && self.cells.len() == empty.cells.len()
            && self.fractions.len() == empty.fractions.len()
            && self.weights.len() == empty.weights.len()
            && self.ratios.len() == empty.ratios.len()
            && self.widths.len() == empty.widths.len()
            && self.intervals == empty.intervals
            && self.thresholds.is_empty()
            && self.mixed.len() == empty.mixed.len()
            && self.map.levels() == empty.map.levels()
            && self.map.shape() == empty.map.shape()
            && self.map.guard().is_some() == empty.map.guard().is_some();
        let unit = |values: &[f64]| values.iter().all(|p| (0.0..=1.0).contains(p));
        let sizes = |values: &[f64]| values.iter().all(|w| *w >= 0.0 && *w < LARGEST_WIDTH);
        if !shape {
            return Err(SnapshotError::Invalid {
                field: "pending plan",
                rule: "of the recalibrator's shape",
            });
        }
        let probabilities = [&self.plays, &self.fractions, &self.mixed];
        if !probabilities.into_iter().all(|values| unit(values)) || !unit(&[self.trust]) {
            return Err(SnapshotError::Invalid { field: "pending plan", rule: "made of probabilities" });
        }
        if !sizes(&self.weights) || !sizes(&self.ratios) || !sizes(&self.widths) {
            return Err(SnapshotError::Invalid {
                field: "pending plan",
                rule: "made of weights that can be squared, zero or more",
            });
        }
        let count = self.map.levels().count();
        let rows = [&self.plays, &self.widths, &self.mixed].into_iter().map(Vec::as_slice);
        let mut padding = rows.flat_map(|row| row.get(count..).unwrap_or_default());
        if !padding.all(|entry| *entry == 0.0) {
            return Err(SnapshotError::Invalid { field: "pending plan", rule: "zero beyond its levels" });
        }
        if self.cells.iter().any(|&cell| cell >= self.intervals) {
            return Err(SnapshotError::Invalid { field: "pending plan", rule: "on the play grid" });
        }
        Ok(())
    }
}
