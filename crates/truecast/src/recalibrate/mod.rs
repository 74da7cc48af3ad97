//! Recalibrators: from forecasts F_t and outcomes to calibrated forecasts G_t.
//!
//! ```text
//! forecast F ─► experts ─► aggregation ─► isotonic ─► map ─► stop-loss ─► paired guard, priced ─► G
//!                  ▲            ▲                               ▲                ▲
//!                  └────────────┴── outcomes, when they become known ────────────┘
//! ```
//!
//! | file | concept |
//! |---|---|
//! | `../expert/` | one file each: what an expert says, and how it learns |
//! | `mixture.rs` | the experts together, as a method |
//! | `aggregate.rs` | how they are weighed (theorem 2) |
//! | `isotonic.rs` | probabilities of nested events must not cross |
//! | `curve.rs`, `map.rs` | from probabilities at the levels to a whole distribution |
//! | `pipeline.rs` | any method behind stop-loss and guard; [`Pipeline::default`] is the default |
//! | `stop_loss.rs` | never behind the base by more than a hair (theorem 1) |
//! | `guard.rs` | coverage within a √n budget, even against an adversary who sees the interval (theorem 3) |
//! | `paper/` | the paper's Algorithm 1 over any binary subroutine, and its baselines |
//! | `comparator/` | conformal methods for one quantile, at all guarded quantiles at once |
//! | `rival/` | what people use instead: each by its name |
//! | `method.rs` | every method by its name |
//! | `parameters.rs`, `plan.rs` | what goes in, and what is announced at one step |

pub(crate) mod aggregate;
mod any_recalibrator;
pub mod comparator;
mod curve;
mod guard;
mod isotonic;
mod map;
mod method;
mod mixture;
mod paper;
mod parameters;
mod pipeline;
mod plan;
mod protection;
pub mod rival;
mod stop_loss;

use std::fmt::Debug;

pub use aggregate::Aggregate;
pub use any_recalibrator::AnyRecalibrator;
pub use curve::Curve;
pub use guard::Guard;
pub use isotonic::project as isotonic_projection;
pub use map::{Map, MapShape};
pub use method::{Family, Method};
pub use mixture::Mixture;
pub use paper::{
    AlgorithmOne, AlgorithmOneParameters, AlgorithmOneReport, ClaimedBound, IsotonicRegression,
    IsotonicRegressionParameters, Tophat, WithoutCovariates, WithoutCovariatesParameters,
};
pub use parameters::{Groups, LedgerKind, MOST_GROUPS, Parameters, ParametersBuilder};
pub use pipeline::Pipeline;
pub use plan::Plan;
pub use protection::{GuardMode, Protection, STOP_LOSS};
pub use stop_loss::{Furthest, StopLoss};

use crate::error::{self, Result, SnapshotError};
use crate::expert::Ledgers;
use crate::forecast::{Forecast, Recalibrated};
use crate::random;

/// The probit scores of one outcome, under the base forecast and under the calibrated one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    /// Φ⁻¹(F_t(y_t)), with atoms split at random.
    pub base: f64,
    /// Φ⁻¹(G_t(y_t)).
    pub calibrated: f64,
    /// The CRPS of both, where the stop-loss has [booked](Recalibrator::books_crps) it.
    pub crps: Option<[f64; 2]>,
}

/// Turns forecasts into calibrated ones, and learns from outcomes.
///
/// Two verbs: [`recalibrate`](Recalibrator::recalibrate) is pure, [`observe`](Recalibrator::observe) learns; they are the pair for outcomes that arrive
/// at once. A [`Stream`](crate::Stream) keeps the plans of those that arrive later: it plans, says that the plan was [announced](Recalibrator::announced),
/// and [resolves](Recalibrator::resolve) it when the outcome is known.
///
/// A method implements [`propose`](Recalibrator::propose) and [`learn`](Recalibrator::learn); [`Pipeline`] puts stop-loss and guard behind it.
///
/// ```
/// use truecast::{Forecast, Gaussian, Pipeline, Recalibrator};
///
/// let mut recalibrator = Pipeline::default();
/// let forecast = Gaussian::new(20.0, 2.0)?;
/// let calibrated = recalibrator.recalibrate(forecast)?; // changes nothing
/// assert_eq!(calibrated.quantile(0.9), forecast.quantile(0.9)); // no outcome yet
/// recalibrator.observe(&forecast, 23.0)?;
/// # Ok::<(), truecast::Error>(())
/// ```
pub trait Recalibrator: Debug + Clone + Send + Sync {
    /// Fills `plan` for the forecast with number `step`. Pure; called by [`plan`](Recalibrator::plan), which has read the forecast's form.
    fn propose(&self, forecast: &dyn Forecast, groups: Groups, step: u64, plan: &mut Plan) -> Result<()>;

    /// Learns that the forecast of `plan` met an outcome with base probit score `z` (which may be infinite, not NaN).
    fn learn(&mut self, plan: &Plan, z: f64) -> Result<()>;

    /// The same, for a method that learns in the outcome's own units and not from its probit score.
    fn learn_outcome(&mut self, plan: &Plan, z: f64, _outcome: f64) -> Result<()> {
        self.learn(plan, z)
    }

    /// Outcomes settled so far.
    fn steps(&self) -> u64;

    /// The key of all random draws.
    fn seed(&self) -> u64;

    /// Checks a plan that was loaded from a snapshot.
    fn validate_plan(&self, plan: &Plan) -> Result<(), SnapshotError>;

    /// Decides what to announce for the forecast with number `step`. Pure, and allocates nothing once `plan` has grown.
    fn plan(&self, forecast: &dyn Forecast, groups: Groups, step: u64, plan: &mut Plan) -> Result<()> {
        if self.reads_form() {
            plan.form.get_or_insert_default().take(forecast, self.bounds())?;
        } else {
            plan.form = None;
        }
        self.propose(forecast, groups, step, plan)
    }

    /// The plan was announced, and waits for its outcome.
    fn announced(&mut self, _plan: &Plan) {}

    /// Learns the outcome of the forecast that the plan was made for, after it was announced. On an error nothing changes.
    fn resolve(&mut self, plan: &Plan, forecast: &dyn Forecast, outcome: f64) -> Result<Scores> {
        error::finite("outcome", outcome)?;
        let scores = scores(plan, forecast, outcome, self.seed())?;
        self.learn_outcome(plan, scores.base, outcome)?;
        Ok(scores)
    }

    /// Says why [`resolve`](Recalibrator::resolve) would refuse an outcome of a plan of its own, and changes nothing.
    fn check(&self, plan: &Plan, forecast: &dyn Forecast, outcome: f64) -> Result<()> {
        error::finite("outcome", outcome)?;
        scores(plan, forecast, outcome, self.seed()).map(|_| ())
    }

    /// The outcome of an announced plan will never come.
    fn expire(&mut self, _plan: &Plan) {}

    /// What is known of the outcome.
    fn bounds(&self) -> Option<(f64, f64)> {
        None
    }

    /// Whether plans need the forecast's scored form.
    fn reads_form(&self) -> bool {
        false
    }

    /// Whether the CRPS of this forecast and of what is announced are booked when its outcome is known: normal forecasts without bounds.
    fn books_crps(&self, _forecast: &dyn Forecast) -> bool {
        false
    }

    /// How many announced plans wait, where that is counted.
    fn waits(&self) -> Option<u64> {
        None
    }

    /// The ledgers, if the method has them.
    fn ledgers(&self) -> Option<&Ledgers> {
        None
    }

    /// A plan to be filled.
    fn empty_plan(&self) -> Plan {
        Plan::default()
    }

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
        error::finite("outcome", outcome)?;
        let mut plan = Plan::at_once();
        self.plan(forecast, Groups::NONE, self.steps(), &mut plan)?;
        self.conclude(&plan, forecast, outcome)
    }

    /// A plan is announced, and its outcome is known at once. An outcome that is no number, or beyond known bounds, changes nothing; after any other error the
    /// plan was announced and has expired.
    fn conclude(&mut self, plan: &Plan, forecast: &dyn Forecast, outcome: f64) -> Result<Scores> {
        error::finite("outcome", outcome)?;
        error::within_bounds(outcome, self.bounds())?;
        self.announced(plan);
        let scores = self.resolve(plan, forecast, outcome);
        if scores.is_err() {
            self.expire(plan);
        }
        scores
    }
}

/// The probit scores of an outcome under the base and under what was announced; atoms are split by the plan's draw.
fn scores(plan: &Plan, forecast: &dyn Forecast, outcome: f64, seed: u64) -> Result<Scores> {
    let draw = || random::uniform(seed, plan.step, random::ATOM_LANE);
    // A normal forecast has no atoms to split.
    let base = match forecast.as_gaussian() {
        Some(normal) => normal.probit(outcome),
        None => forecast.randomised_probit(outcome, draw()),
    };
    let calibrated = match plan.map.announced() {
        None => plan.map.probit(base),
        Some(_) => plan.calibrated(forecast).randomised_probit(outcome, draw()),
    };
    Ok(Scores { base: error::score(base)?, calibrated: error::score(calibrated)?, crps: None })
}
