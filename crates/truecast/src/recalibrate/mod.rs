//! Recalibrators: from forecasts F_t and outcomes to calibrated forecasts G_t.
//!
//! ```text
//! G_t = guard( isotonic( trust( memory( ledgers.play ) ) ) ) ∘ F_t
//! ```
//!
//! | file | concept |
//! |---|---|
//! | `ledger_recalibrator.rs` | the default: all of the above, one after the other |
//! | `ledgers/` | balances per level, play and promise; plays are roots of the balance |
//! | `memory.rs` | running means of the outcomes, followed where they are more accurate |
//! | `trust.rs` | how far to follow the ledgers away from the base |
//! | `isotonic.rs` | probabilities of nested events must not cross |
//! | `map.rs` | from probabilities at the levels to a whole distribution |
//! | `guard.rs` | coverage within a √n budget, even against an adversary who sees the interval |
//! | `paper/` | the paper's Algorithm 1 over any binary subroutine, and its baselines |
//! | `comparator/` | conformal methods for one quantile, at all guarded quantiles at once |
//! | `parameters.rs`, `plan.rs` | what goes in, and what is announced at one step |
//! | `walk.rs` | the map's knots in order, for whoever adds up over them |
//! | `bends.rs` | where the map's inverse bends, in any order: faster, for few levels over a normal base |
//! | `passes/` | the passes over the levels, four at a time |
//! | `waiting.rs` | calibrated normal forecasts that are read several at a time, … |
//! | `quantile_reader.rs`, `moment_reader.rs` | … their quantiles, and their means and variances |

mod any_recalibrator;
pub(crate) mod bends;
pub mod comparator;
mod guard;
mod isotonic;
mod ledger_recalibrator;
mod ledgers;
mod map;
mod memory;
mod method;
mod moment_reader;
mod paper;
mod parameters;
mod passes;
mod plan;
mod quantile_reader;
mod trust;
mod waiting;
mod walk;

use std::fmt::Debug;

pub use any_recalibrator::AnyRecalibrator;
pub use guard::{Guard, Knots};
pub use isotonic::project as isotonic_projection;
pub use ledger_recalibrator::LedgerRecalibrator;
pub use ledgers::Ledgers;
pub use map::{Map, MapShape};
pub use memory::Memories;
pub use method::{Family, Method};
pub use moment_reader::MomentReader;
pub use paper::{
    AlgorithmOne, AlgorithmOneParameters, AlgorithmOneReport, ClaimedBound, IsotonicRegression,
    IsotonicRegressionParameters, Tophat, WithoutCovariates, WithoutCovariatesParameters,
};
pub use parameters::{Groups, LedgerKind, MOST_GROUPS, Parameters, ParametersBuilder};
pub use plan::Plan;
pub use quantile_reader::QuantileReader;
pub use trust::Trust;
pub(crate) use walk::Walk;

use crate::error::{self, Result, SnapshotError};
use crate::forecast::{Forecast, Recalibrated};
use crate::random;

/// The probit scores of one outcome, under the base forecast and under the calibrated one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    /// Φ⁻¹(F_t(y_t)), with atoms split at random.
    pub base: f64,
    /// Φ⁻¹(G_t(y_t)).
    pub calibrated: f64,
}

/// Turns forecasts into calibrated ones, and learns from outcomes.
///
/// Two verbs: planning is pure, settling is the only mutation. [`recalibrate`](Recalibrator::recalibrate) and
/// [`observe`](Recalibrator::observe) are the pair for outcomes that arrive at once; a [`Stream`](crate::Stream) keeps the
/// plans of those that arrive later.
///
/// ```
/// use truecast::{Forecast, Gaussian, LedgerRecalibrator, Recalibrator};
///
/// let mut recalibrator = LedgerRecalibrator::default();
/// let forecast = Gaussian::new(20.0, 2.0)?;
/// let calibrated = recalibrator.recalibrate(forecast)?; // changes nothing
/// assert!((calibrated.quantile(0.9) - forecast.quantile(0.9)).abs() < 1e-6); // no outcome yet
/// recalibrator.observe(&forecast, 23.0)?;
/// # Ok::<(), truecast::Error>(())
/// ```
pub trait Recalibrator: Debug + Clone + Send + Sync {
    /// A plan of the right shape, to be filled by [`plan`](Recalibrator::plan) as often as wanted.
    fn empty_plan(&self) -> Plan;

    /// Decides what to announce for the forecast with number `step`. Pure, and allocates nothing once `plan` has grown.
    fn plan(&self, forecast: &dyn Forecast, groups: Groups, step: u64, plan: &mut Plan) -> Result<()>;

    /// Learns that the forecast of `plan` met an outcome with base probit score `z` (which may be infinite, not NaN).
    fn settle(&mut self, plan: &Plan, z: f64) -> Result<Scores>;

    /// Outcomes settled so far.
    fn steps(&self) -> u64;

    /// The key of all random draws.
    fn seed(&self) -> u64;

    /// Checks a plan that was loaded from a snapshot.
    fn validate_plan(&self, plan: &Plan) -> Result<(), SnapshotError>;

    /// The calibrated forecast for the next step. Pure.
    fn recalibrate<F: Forecast>(&self, forecast: F) -> Result<Recalibrated<F>>
    where
        Self: Sized,
    {
        let mut plan = self.empty_plan();
        self.plan(&forecast, Groups::NONE, self.steps(), &mut plan)?;
        Ok(Recalibrated::new(forecast, plan.map))
    }

    /// Learns the outcome of a forecast at once.
    fn observe(&mut self, forecast: &dyn Forecast, outcome: f64) -> Result<Scores>
    where
        Self: Sized,
    {
        let mut plan = self.empty_plan();
        self.plan(forecast, Groups::NONE, self.steps(), &mut plan)?;
        self.resolve(&plan, forecast, outcome)
    }

    /// Settles `plan` with the outcome of the forecast that it was made for; atoms are split by the plan's draw.
    fn resolve(&mut self, plan: &Plan, forecast: &dyn Forecast, outcome: f64) -> Result<Scores>
    where
        Self: Sized,
    {
        error::finite("outcome", outcome)?;
        // A normal forecast has no atoms to split.
        let z = match forecast.as_gaussian() {
            Some(normal) => normal.probit(outcome),
            None => {
                let draw = random::uniform(self.seed(), plan.step, random::ATOM_LANE);
                forecast.randomised_probit(outcome, draw)
            }
        };
        self.settle(plan, z)
    }
}
