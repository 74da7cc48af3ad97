//! The map in force at one step: how a calibrated forecast follows from its base.
//!
//! ```text
//! probit shape   a curve t(z) in probit scores (`curve.rs`): G = Φ ∘ t ∘ Φ⁻¹ ∘ F
//! step shape     the paper's: F(y) in [u_{j−1}, u_j) becomes p̂_j, and 1 in the last cell
//! announced      for forecasts that are scored by their quantiles, and where bounds are known: the distribution itself
//! ```
//!
//! Both shapes are non-decreasing and reach 0 and 1, so G is a distribution. The paper's outcomes are bounded and its G has an atom of size
//! p̂_1 at the lower end; on an unbounded axis we put that atom at the middle of the first cell (F = u_1/2).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Curve;
use crate::error::SnapshotError;
use crate::forecast::ProbitCurve;
use crate::grid::Levels;
use crate::normal;

/// How the probabilities announced at the levels become a whole distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MapShape {
    /// Straight lines in probit coordinates: a continuous distribution.
    Probit,
    /// The paper's step function.
    Step,
}

/// The map in force at one step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Map {
    curve: Curve,
    steps: Option<Steps>,
    announced: Option<ProbitCurve>,
}

impl Map {
    /// The continuous map that changes nothing.
    pub fn identity() -> Self {
        Map::default()
    }

    /// A map of the given shape with probabilities that do not decrease.
    pub(crate) fn set_announced(&mut self, levels: &Arc<Levels>, p: &[f64], shape: MapShape) {
        self.announced = None;
        match (shape, &mut self.steps) {
            (MapShape::Probit, steps) => {
                *steps = None;
                self.curve.set_announced(levels, p);
            }
            (MapShape::Step, Some(steps)) if Arc::ptr_eq(&steps.levels, levels) => {
                steps.announced.copy_from_slice(p);
            }
            (MapShape::Step, steps) => {
                *steps = Some(Steps { levels: levels.clone(), announced: p.to_vec() });
            }
        }
    }

    /// The map that puts quantile t_k of the calibrated forecast at base probit score `places[k]`.
    pub(crate) fn set_quantiles(&mut self, places: &[f64], t: &[f64]) {
        (self.steps, self.announced) = (None, None);
        self.curve.set_quantiles(places, t);
    }

    /// Becomes the map that changes nothing.
    pub(crate) fn set_identity(&mut self) {
        (self.steps, self.announced) = (None, None);
        self.curve.set_identity();
    }

    /// The distribution that is announced in place of the map's.
    pub(crate) fn announce(&mut self, announced: ProbitCurve) {
        self.announced = Some(announced);
    }

    /// The curve, to be written to; steps become part of it, and nothing else is announced.
    pub(crate) fn curve_mut(&mut self) -> &mut Curve {
        self.announced = None;
        if let Some(steps) = self.steps.take() {
            self.curve.set_steps(&steps.levels, &steps.announced, steps.first());
        }
        &mut self.curve
    }

    /// The curve of a continuous map; `None` for steps.
    pub fn curve(&self) -> Option<&Curve> {
        self.steps.is_none().then_some(&self.curve)
    }

    /// How levels become a distribution.
    pub fn shape(&self) -> MapShape {
        if self.steps.is_some() { MapShape::Step } else { MapShape::Probit }
    }

    /// The distribution that is announced, where it is not the map's over its base.
    pub(crate) fn announced(&self) -> Option<&ProbitCurve> {
        self.announced.as_ref()
    }

    /// The calibrated probit score of the base score `z`, continuous from the right.
    pub fn probit(&self, z: f64) -> f64 {
        match &self.steps {
            None => self.curve.level(z),
            Some(steps) => {
                steps.at(steps.levels.probits().partition_point(|&level| level <= z), |first| z >= first)
            }
        }
    }

    /// The limit of [`probit`](Map::probit) from the left.
    pub fn probit_left(&self, z: f64) -> f64 {
        match &self.steps {
            None => self.curve.level_left(z),
            Some(steps) => {
                steps.at(steps.levels.probits().partition_point(|&level| level < z), |first| z > first)
            }
        }
    }

    /// The smallest base probit score whose calibrated one is at least `t`.
    pub fn invert(&self, t: f64) -> f64 {
        match &self.steps {
            None => self.curve.quantile(t),
            Some(steps) => steps.invert(t),
        }
    }

    /// d(calibrated)/d(base) of the probit score at `z`, from the right; `None` where the map jumps or is a step.
    pub(crate) fn slope(&self, z: f64) -> Option<f64> {
        let jumps = self.steps.is_some() || self.curve.level_left(z) != self.curve.level(z);
        (!jumps).then(|| self.curve.slope(z))
    }

    /// Base and calibrated probit scores at the points where the map bends, or after its steps.
    pub fn bends(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let steps = self.jumps().map(|z| (z, self.probit(z)));
        let curve = self
            .curve()
            .into_iter()
            .flat_map(|curve| curve.places().iter().copied().zip(curve.levels().iter().copied()));
        curve.chain(steps)
    }

    /// Where the steps are, in base probit scores; none on a continuous map.
    pub(crate) fn jumps(&self) -> impl Iterator<Item = f64> + '_ {
        self.steps
            .iter()
            .flat_map(|steps| std::iter::once(steps.first()).chain(steps.levels.probits().iter().copied()))
    }
}

/// The paper's step function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StepsState", into = "StepsState")]
struct Steps {
    levels: Arc<Levels>,
    announced: Vec<f64>,
}

impl Steps {
    /// Where it leaves 0: the middle of the first cell.
    fn first(&self) -> f64 {
        normal::quantile(0.5 * self.levels.probabilities()[0])
    }

    /// In the cell below level `next`.
    fn at(&self, next: usize, reached: impl Fn(f64) -> bool) -> f64 {
        match next {
            0 if !reached(self.first()) => f64::NEG_INFINITY,
            j if j == self.levels.count() => f64::INFINITY,
            j => normal::quantile(self.announced[j]),
        }
    }

    fn invert(&self, t: f64) -> f64 {
        if t == f64::NEG_INFINITY {
            return t;
        }
        let p = normal::cdf(t);
        match self.announced.partition_point(|&announced| announced < p || announced == 0.0) {
            0 => self.first(),
            j => self.levels.probits()[j - 1],
        }
    }
}

#[derive(Serialize, Deserialize)]
struct StepsState {
    levels: Levels,
    announced: Vec<f64>,
}

impl TryFrom<StepsState> for Steps {
    type Error = SnapshotError;
    fn try_from(state: StepsState) -> Result<Self, SnapshotError> {
        let StepsState { levels, announced } = state;
        let ordered = announced.windows(2).all(|pair| pair[0] <= pair[1]);
        let probabilities = announced.iter().all(|p| (0.0..=1.0).contains(p));
        if announced.len() != levels.count() || !ordered || !probabilities {
            let rule = "one probability per level, non-decreasing";
            return Err(SnapshotError::Invalid { field: "announced", rule });
        }
        Ok(Steps { levels: Arc::new(levels), announced })
    }
}

impl From<Steps> for StepsState {
    fn from(of: Steps) -> Self {
        StepsState { levels: (*of.levels).clone(), announced: of.announced }
    }
}
