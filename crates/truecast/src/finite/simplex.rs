//! Recalibration of forecasts over K = 2, 3 or 4 outcomes: a weakly calibrated rule in each cell of a triangulated simplex.
//!
//! Guarantee, on every sequence and with no probability attached. In each cell of the base forecast b_t (resolution M), with
//! L_v = Σ_t w_v(p_t)(o_t − p_t), w the weights of the play triangulation (resolution N, V vertices), o_t the outcome's corner:
//!
//! ```text
//! Σ_v ‖L_v‖² ≤ n (2 + κ)                       so the weak calibration error Σ_v ‖L_v‖₁ / n ≤ √(V K (2 + κ)/n)
//! Σ ‖p−o‖² − ‖u−o‖² = −2 Σ_v ⟨v − u, L_v⟩ − Σ ‖p−u‖²                      Brier, any constant u; base: + 2√2 ‖u − b‖
//! Σ ℓ(o,p) − ℓ(o,u) ≤ Σ_v ⟨L_v, ℓ(v) − ℓ(u)⟩ + √2 Λ_ℓ h n                 any proper ℓ with Lipschitz constant Λ_ℓ, h the play mesh
//! ```
//!
//! For K = 2 these are the binary ledger rule's bounds, every norm counted once per outcome (a factor 2).
//!
//! **Play.** S(p) = Σ_v w_v(p) (L_v + κ(b − v)) is piecewise linear. Announce a p that no corner pushes away from:
//! S_k(p) = max_j S_j(p) for all k with p_k > 0. Then ⟨S(p), o − p⟩ ≤ 0 for every outcome, which is the potential's proof. Such a p exists
//! (Brouwer); `fixed_point.rs` finds it. ‖o − p‖² ≤ 2, and the prior's
//! drift is 2κ⟨p − b, o − p⟩ ≤ κ‖o − b‖²/2 ≤ κ. **Randomised**: announce corner v with probability w_v; strict
//! calibration, up to the mesh in ℓ2 (in ℓ1 up to √(VK) meshes).
//!
//! Cost: one K × K solve where the last cell holds the play again, N^(K−1) of them and more at worst (fixed points are hard to find in
//! general: hence K ≤ 4). Memory V·K numbers per cell of the base that was met. Sources: the paper, appendix "Low regret relative to
//! baseline classifiers"; Kakade & Foster (2004); Foster & Hart (2021), "Forecast hedging and calibration". Where we differ: the search is exact in place
//! of approximate, and a prior of κ observations keeps the announcement at b_t until outcomes speak.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fixed_point::PlayGrid;
use super::triangulation::{Cell, LARGEST_OUTCOMES as MOST, Location, Triangulation};
use crate::error::{self, Error, Result, SnapshotError};
use crate::random;

/// Parameters of [`SimplexRecalibrator`].
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `outcomes` | 3 | K | 2 to 4 |
/// | `base_resolution` | 4 | M, parts of an edge in the cells of the base forecast | at most 20,000 cells |
/// | `resolution` | 8 | N, parts of an edge in the plays | at most 20,000 cells |
/// | `prior` | 4 | κ: for how many observations the base counts | greater than 0 |
/// | `randomised` | false | announce a corner by coin | |
/// | `seed` | 0 | key of all coins | |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SimplexParameters {
    /// K.
    pub outcomes: usize,
    /// M, parts of an edge in the cells of the base forecast.
    pub base_resolution: usize,
    /// N, parts of an edge in the plays.
    pub resolution: usize,
    /// κ: for how many observations the base counts.
    pub prior: f64,
    /// Whether to announce a corner by coin.
    pub randomised: bool,
    /// The key of all coins.
    pub seed: u64,
}

impl Default for SimplexParameters {
    fn default() -> Self {
        SimplexParameters {
            outcomes: 3,
            base_resolution: 4,
            resolution: 8,
            prior: 4.0,
            randomised: false,
            seed: 0,
        }
    }
}

/// What was announced for one step: kept until its outcome is known. Entries from K on are 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SimplexPlan {
    /// The base forecast.
    pub base: [f64; MOST],
    /// The probabilities that are announced.
    pub probabilities: [f64; MOST],
    /// Where they lie.
    pub location: Location,
    /// The piece of the play grid that was searched last.
    piece: u32,
}

/// Weakly calibrated forecasts over a few outcomes.
///
/// ```
/// use truecast::finite::{SimplexParameters, SimplexRecalibrator};
///
/// let mut recalibrator = SimplexRecalibrator::new(SimplexParameters::default())?;
/// let base = [0.6, 0.3, 0.1];
/// assert_eq!(recalibrator.recalibrate(&base)?, base); // no outcome yet
/// for t in 0..900 {
///     recalibrator.observe(&base, t % 3)?; // each happens a third of the time
/// }
/// assert!(recalibrator.recalibrate(&base)?.iter().all(|p| (p - 1.0 / 3.0).abs() < 0.02));
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct SimplexRecalibrator {
    parameters: SimplexParameters,
    grid: Arc<Grid>,
    cells: BTreeMap<u32, Ledger>,
    steps: u64,
    regret: f64,
}

/// What does not change: the cells of the base, and the grid of the plays.
#[derive(Debug, PartialEq)]
struct Grid {
    base: Triangulation,
    base_cells: Vec<Cell>,
    plays: PlayGrid,
}

/// The balances of one cell of the base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Ledger {
    /// L_v, K numbers for each vertex.
    balances: Vec<f64>,
    count: u64,
    /// Where the last play was found.
    piece: u32,
}

impl SimplexRecalibrator {
    /// Starts with no outcomes.
    pub fn new(parameters: SimplexParameters) -> Result<Self> {
        if parameters.outcomes < 2 {
            return Err(Error::TooFew { what: "outcomes", least: 2, found: parameters.outcomes });
        }
        error::positive("prior", parameters.prior)?;
        let base = Triangulation::new(parameters.outcomes, parameters.base_resolution)?;
        let plays = PlayGrid::new(Triangulation::new(parameters.outcomes, parameters.resolution)?)?;
        let grid = Arc::new(Grid { base_cells: base.cells(), base, plays });
        Ok(SimplexRecalibrator { parameters, grid, cells: BTreeMap::new(), steps: 0, regret: 0.0 })
    }

    /// Decides what to announce for the base forecast of step number `step`. Pure.
    pub fn plan(&self, base: &[f64], step: u64) -> Result<SimplexPlan> {
        let base = self.check_point(base)?;
        let (mut location, mut piece) = (self.grid.plays.triangulation().locate(&base).1, 0);
        let mut probabilities = base;
        if let Some(ledger) = self.cells.get(&self.base_cell(&base)) {
            let (k, points) = (self.parameters.outcomes, self.grid.plays.points());
            let push = |vertex: usize, j: usize| {
                ledger.balances[vertex * k + j] + self.parameters.prior * (base[j] - points[vertex][j])
            };
            let scale = (1.0 + ledger.count as f64).sqrt();
            (piece, location) = self.grid.plays.search(ledger.piece, scale, push).unwrap_or((0, location));
            probabilities = self.grid.plays.point(&location);
        }
        if self.parameters.randomised {
            let mut left = random::uniform(self.parameters.seed, step, 0);
            let drawn = location.weights.iter().position(|w| {
                left -= w;
                left < 0.0
            });
            let drawn = drawn.unwrap_or(0);
            location =
                Location { vertices: [location.vertices[drawn], 0, 0, 0], weights: [1.0, 0.0, 0.0, 0.0] };
            probabilities = self.grid.plays.point(&location);
        }
        Ok(SimplexPlan { base, probabilities, location, piece })
    }

    /// Learns which outcome came, counted from 0: late, and in any order.
    pub fn settle(&mut self, plan: &SimplexPlan, outcome: usize) -> Result<()> {
        let k = self.parameters.outcomes;
        if outcome >= k {
            let (what, rule) = ("outcome", "less than the number of outcomes");
            return Err(Error::OutOfRange { what, rule, value: outcome as f64 });
        }
        let base = self.check_point(&plan.base[..k])?;
        let p = self.check_point(&plan.probabilities[..k])?;
        self.check_point_weights(&plan.location)?;
        let piece = plan.piece.min(self.grid.plays.pieces() - 1);
        let key = self.base_cell(&base);
        let length = self.grid.plays.points().len() * k;
        let ledger =
            self.cells.entry(key).or_insert_with(|| Ledger { balances: vec![0.0; length], count: 0, piece });
        for j in 0..k {
            let o = f64::from(u8::from(j == outcome));
            for (&vertex, weight) in plan.location.vertices.iter().zip(plan.location.weights) {
                ledger.balances[vertex as usize * k + j] += weight * (o - p[j]);
            }
            self.regret += (p[j] - base[j]) * (p[j] + base[j] - 2.0 * o);
        }
        ledger.count += 1;
        ledger.piece = piece;
        self.steps += 1;
        Ok(())
    }

    /// The probabilities to announce next. Pure.
    pub fn recalibrate(&self, base: &[f64]) -> Result<Vec<f64>> {
        Ok(self.plan(base, self.steps)?.probabilities[..self.parameters.outcomes].to_vec())
    }

    /// Announces and learns at once; gives what was announced.
    pub fn observe(&mut self, base: &[f64], outcome: usize) -> Result<SimplexPlan> {
        let plan = self.plan(base, self.steps)?;
        self.settle(&plan, outcome)?;
        Ok(plan)
    }

    /// Outcomes settled so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Σ over cells and vertices of ‖L_v‖₁ / T.
    pub fn calibration_error(&self) -> f64 {
        let owed = |l: &Ledger| l.balances.iter().map(|x| x.abs()).sum::<f64>();
        self.cells.values().map(owed).sum::<f64>() / self.steps.max(1) as f64
    }

    /// Σ_c √(V K n_c² (2 + κ)/n_c) / T: what the calibration error can be at most, unless plays are drawn or outcomes late.
    pub fn calibration_bound(&self) -> f64 {
        let numbers = (self.grid.plays.points().len() * self.parameters.outcomes) as f64;
        let owed = |l: &Ledger| (numbers * (2.0 + self.parameters.prior) * l.count as f64).sqrt();
        self.cells.values().map(owed).sum::<f64>() / self.steps.max(1) as f64
    }

    /// Σ ‖p − o‖² − ‖b − o‖² so far.
    pub fn regret(&self) -> f64 {
        self.regret
    }

    /// The balances Σ_v ‖L_v‖² and the count of each cell of the base that was met.
    pub fn potentials(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.cells.values().map(|l| (l.balances.iter().map(|x| x * x).sum(), l.count))
    }

    /// The parameters.
    pub fn parameters(&self) -> &SimplexParameters {
        &self.parameters
    }

    fn base_cell(&self, base: &[f64; MOST]) -> u32 {
        let (cell, _) = self.grid.base.locate(base);
        self.grid.base_cells.binary_search(&cell).unwrap_or(0) as u32
    }

    fn check_point(&self, point: &[f64]) -> Result<[f64; MOST]> {
        let k = self.parameters.outcomes;
        if point.len() != k {
            let what = "probabilities of the outcomes";
            return Err(Error::LengthMismatch { what, left: k, right: point.len() });
        }
        let mut copy = [0.0; MOST];
        for (to, &p) in copy.iter_mut().zip(point) {
            *to = error::probability("probability of an outcome", p)?;
        }
        let total: f64 = copy.iter().sum();
        if (total - 1.0).abs() > 1e-9 {
            let what = "sum of the probabilities";
            return Err(Error::OutOfRange { what, rule: "1, within 1e-9", value: total });
        }
        Ok(copy)
    }

    fn check_point_weights(&self, location: &Location) -> Result<()> {
        let count = self.grid.plays.points().len();
        for (&vertex, weight) in location.vertices.iter().zip(location.weights) {
            error::probability("weight of a corner", weight)?;
            if vertex as usize >= count {
                return Err(Error::ForeignPlan { expected: count, found: vertex as usize });
            }
        }
        let total: f64 = location.weights.iter().sum();
        if (total - 1.0).abs() > 1e-9 {
            return Err(Error::OutOfRange {
                what: "sum of the weights",
                rule: "1, within 1e-9",
                value: total,
            });
        }
        Ok(())
    }
}

/// The saved form.
#[derive(Serialize, Deserialize)]
struct State {
    parameters: SimplexParameters,
    cells: Vec<(u32, Ledger)>,
    regret: f64,
}

impl TryFrom<State> for SimplexRecalibrator {
    type Error = Error;
    fn try_from(state: State) -> Result<Self> {
        let mut recalibrator = SimplexRecalibrator::new(state.parameters)?;
        let k = state.parameters.outcomes;
        let grid = &recalibrator.grid;
        for (cell, ledger) in &state.cells {
            let known = (*cell as usize) < grid.base_cells.len() && ledger.piece < grid.plays.pieces();
            let size = ledger.balances.len() == grid.plays.points().len() * k;
            if !known || !size || ledger.count == 0 {
                return Err(
                    SnapshotError::Invalid { field: "cells", rule: "of the parameters' shape" }.into()
                );
            }
            // What one outcome gains the others lose; one step adds at most 1 to a balance.
            let most = ledger.count as f64 * (1.0 + 1e-9);
            let balanced = ledger.balances.chunks_exact(k).all(|l| {
                l.iter().all(|x| x.abs() <= most) && l.iter().sum::<f64>().abs() <= 1e-6 * (1.0 + most)
            });
            if !balanced {
                let rule = "finite, and zero in sum at every vertex";
                return Err(SnapshotError::Invalid { field: "balances", rule }.into());
            }
            let sum = recalibrator.steps.checked_add(ledger.count);
            recalibrator.steps =
                sum.ok_or(SnapshotError::Invalid { field: "cells", rule: "counts that can be added" })?;
        }
        let count = state.cells.len();
        recalibrator.cells = state.cells.into_iter().collect();
        if recalibrator.cells.len() != count {
            return Err(SnapshotError::Invalid { field: "cells", rule: "named once" }.into());
        }
        recalibrator.regret = error::finite("regret", state.regret)?;
        Ok(recalibrator)
    }
}

impl From<SimplexRecalibrator> for State {
    fn from(of: SimplexRecalibrator) -> Self {
        State { parameters: of.parameters, cells: of.cells.into_iter().collect(), regret: of.regret }
    }
}
