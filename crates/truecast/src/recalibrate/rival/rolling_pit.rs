//! The distribution of the last PITs, behind a prior that the base is right.
//!
//! ```text
//! p_j = (κ u_j + #{i ≤ W : z_i ≤ z_j})/(κ + n)                at the default levels; the map goes through them
//! ```
//!
//! With independent, identically distributed PITs every p_j is within √(ln(2/δ)/2n) + κ/(n + κ) of the truth with probability 1 − δ (Dvoretzky, Kiefer &
//! Wolfowitz); on a stream that changes nothing is promised. This is the recalibration of Kuleshov, Fenner & Ermon 2018 with the window that
//! practice puts around it. Cost: O(W) moved numbers for an outcome, O(M log W) for a forecast; 3 W numbers. W = 100 did best of 100, 250 and 500 on the
//! streams of `truecast-streams`: shorter windows follow, longer ones know more of the tails.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{self, Result, SnapshotError};
use crate::forecast::Forecast;
use crate::grid::Levels;
use crate::recalibrate::comparator::History;
use crate::recalibrate::{Groups, MapShape, Plan, Recalibrator};
use crate::stream::Snapshot;

/// Options of [`RollingPit`].
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `window` | 100 | W, PITs that are kept | 1 to a million |
/// | `prior` | 5 | κ, outcomes for which the base counts | > 0 |
/// | `seed` | 0 | keys the splitting of atoms | |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RollingPitOptions {
    /// W, PITs that are kept.
    pub window: usize,
    /// κ, outcomes for which the base counts.
    pub prior: f64,
    /// Keys the splitting of atoms.
    pub seed: u64,
}

impl Default for RollingPitOptions {
    fn default() -> Self {
        RollingPitOptions { window: 100, prior: 5.0, seed: 0 }
    }
}

/// Recalibration by the last PITs.
///
/// ```
/// use truecast::recalibrate::rival::{RollingPit, RollingPitOptions};
/// use truecast::{Forecast, Gaussian, Recalibrator};
///
/// let mut recalibrator = RollingPit::new(RollingPitOptions { window: 100, ..Default::default() })?;
/// let forecast = Gaussian::new(0.0, 2.0)?;
/// for k in 0..1000 {
///     recalibrator.observe(&forecast, f64::from(k % 21 - 10) / 10.0)?; // within ±1: half a standard deviation
/// }
/// assert!(recalibrator.recalibrate(forecast)?.quantile(0.9) < 1.2);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct RollingPit {
    options: RollingPitOptions,
    levels: Arc<Levels>,
    history: History,
}

impl RollingPit {
    /// A method that has seen nothing.
    pub fn new(options: RollingPitOptions) -> Result<Self> {
        super::window(options.window, 1)?;
        error::positive("prior", options.prior)?;
        let history = History::new(options.window, options.prior);
        Ok(RollingPit { options, levels: Arc::new(Levels::default()), history })
    }

    /// What it was built with.
    pub fn options(&self) -> &RollingPitOptions {
        &self.options
    }
}

impl Recalibrator for RollingPit {
    fn propose(&self, _: &dyn Forecast, groups: Groups, step: u64, plan: &mut Plan) -> Result<()> {
        groups.none()?;
        (plan.step, plan.settled) = (step, self.history.steps());
        plan.memo.clear();
        plan.said.clear();
        plan.said.extend(self.levels.probits().iter().map(|&z| self.history.level_at(z)));
        if self.history.steps() == 0 {
            plan.map.set_identity();
        } else {
            plan.map.set_announced(&self.levels, &plan.said, MapShape::Probit);
        }
        Ok(())
    }

    fn learn(&mut self, plan: &Plan, z: f64) -> Result<()> {
        plan.expect_said(self.levels.count(), 0)?;
        self.history.push(error::score(z)?.clamp(-f64::MAX, f64::MAX));
        Ok(())
    }

    fn steps(&self) -> u64 {
        self.history.steps()
    }

    fn seed(&self) -> u64 {
        self.options.seed
    }

    fn validate_plan(&self, plan: &Plan) -> Result<(), SnapshotError> {
        plan.validate_said(self.levels.count(), 0, true)
    }
}

/// The saved form.
#[derive(Serialize, Deserialize)]
struct State {
    options: RollingPitOptions,
    steps: u64,
    /// Oldest first.
    scores: Vec<f64>,
}

impl TryFrom<State> for RollingPit {
    type Error = crate::Error;
    fn try_from(state: State) -> Result<Self> {
        let mut of = RollingPit::new(state.options)?;
        let kept = of.options.window.min(usize::try_from(state.steps).unwrap_or(usize::MAX));
        if state.scores.len() != kept || !state.scores.iter().all(|score| score.is_finite()) {
            let rule = "the finite scores of the last outcomes, as many as are kept";
            return Err(SnapshotError::Invalid { field: "scores", rule }.into());
        }
        of.history.restore(&state.scores, state.steps);
        Ok(of)
    }
}

impl From<RollingPit> for State {
    fn from(of: RollingPit) -> Self {
        State { steps: of.history.steps(), scores: of.history.scores().collect(), options: of.options }
    }
}

impl Snapshot for RollingPit {
    fn name() -> String {
        "rival/rolling-pit".to_owned()
    }
}
