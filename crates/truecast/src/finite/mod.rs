//! Forecasts of an event, or of one of a few outcomes: from probabilities p_t to calibrated probabilities.
//!
//! | type | file | takes | announces | on every sequence |
//! |---|---|---|---|---|
//! | [`FosterVohra`] | `foster_vohra.rs` | nothing | a probability from scratch | calibrated |
//! | [`PToP`] | `p_to_p.rs` | p_t | a subroutine's play in p_t's cell | calibrated, and no regret in squared loss |
//! | [`Calibeating`] | `calibeating.rs` | p_t | the running mean of p_t's cell | Brier score of the base without its calibration part |
//! | [`Scaling`] | `scaling.rs` | p_t | Platt's or the beta map, learned online | log loss against every fixed map, bound booked |
//! | [`SimplexRecalibrator`] | `simplex.rs` | a point of the simplex, K ≤ 4 | another one | weakly calibrated, and no regret up to the mesh |
//!
//! `triangulation.rs` cuts the simplex into cells, `fixed_point.rs` finds the play in them, and [`non_proper`] shows why the loss must be
//! proper.
//!
//! Two verbs, as everywhere: planning and forecasting are pure, settling is the only mutation. Everything serialises, and loading
//! validates.

mod calibeating;
mod fixed_point;
mod foster_vohra;
pub mod non_proper;
mod p_to_p;
mod scaling;
mod simplex;
mod triangulation;

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

pub use calibeating::Calibeating;
pub use foster_vohra::{FosterVohra, FosterVohraParameters};
pub use p_to_p::{PToP, PToPParameters};
pub use scaling::{Scaling, ScalingFamily, ScalingParameters};
pub use simplex::{SimplexParameters, SimplexPlan, SimplexRecalibrator};
pub use triangulation::{Cell, LARGEST_OUTCOMES, Location, Triangulation};

use crate::error::{self, Error, Result};
use crate::grid::Plays;
use crate::subroutine::Play;

/// What was announced for one event: kept until its outcome is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BinaryPlan {
    /// The base probability.
    pub base: f64,
    /// The probability that is announced.
    pub probability: f64,
    /// The subroutine's play, where there is a subroutine.
    pub play: Option<Play>,
}

/// Turns the probability of an event into a better one, and learns whether the event happened.
pub trait BinaryRecalibrator: Debug + Clone + Send + Sync {
    /// Decides what to announce for the base probability of step number `step`. Pure.
    fn plan(&self, base: f64, step: u64) -> Result<BinaryPlan>;

    /// Learns whether the event of `plan` happened: late, and in any order.
    fn settle(&mut self, plan: &BinaryPlan, happened: bool) -> Result<()>;

    /// Outcomes settled so far.
    fn steps(&self) -> u64;

    /// The probability to announce next. Pure.
    fn recalibrate(&self, base: f64) -> Result<f64> {
        Ok(self.plan(base, self.steps())?.probability)
    }

    /// Announces and learns at once; gives what was announced.
    fn observe(&mut self, base: f64, happened: bool) -> Result<f64> {
        let plan = self.plan(base, self.steps())?;
        self.settle(&plan, happened)?;
        Ok(plan.probability)
    }
}

/// Refuses a play that is not on this grid.
fn check_play(plays: &Plays, play: Play) -> Result<()> {
    error::probability("played probability", play.probability)?;
    error::probability("fraction of the play", play.fraction)?;
    if play.cell as usize >= plays.intervals() {
        let (what, rule) = ("cell of the play", "less than the number of play intervals");
        return Err(Error::OutOfRange { what, rule, value: f64::from(play.cell) });
    }
    let mixed = Play::new(plays, play.cell as usize, play.fraction).probability;
    if (mixed - play.probability).abs() > 1e-9 {
        let (what, rule) = ("played probability", "the mixture that its cell and fraction say");
        return Err(Error::OutOfRange { what, rule, value: play.probability });
    }
    Ok(())
}

/// `cells`, if [0, 1] can be cut into so many.
fn check_cells(cells: usize) -> Result<usize> {
    match cells {
        0 => Err(Error::TooFew { what: "cells", least: 1, found: 0 }),
        1..=100_000 => Ok(cells),
        _ => Err(Error::OutOfRange { what: "cells", rule: "at most 100000", value: cells as f64 }),
    }
}

/// The cell of `cells` equal ones that holds a probability; 1 belongs to the last.
fn cell_of(cells: usize, probability: f64) -> usize {
    ((probability * cells as f64) as usize).min(cells - 1)
}

fn indicator(happened: bool) -> f64 {
    f64::from(u8::from(happened))
}
