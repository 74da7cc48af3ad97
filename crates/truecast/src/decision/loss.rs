//! Losses: what an action costs once the outcome is known.
//!
//! ```text
//! Newsvendor   underage (y − a)⁺ + overage (a − y)⁺          order a, demand y
//! Absolute     |y − a|                                       best action: a median
//! Squared      (y − a)²                                      best action: the mean
//! Threshold    a C + (1 − a) L 1{event}                      a = 1 protects at cost C, a = 0 risks the loss L
//! by(f)        f(y, a)                                       any function
//! ```
//!
//! A loss that is piecewise linear in the outcome says so through [`Loss::lines`], and its expected value is then exact
//! for piecewise normal forecasts. One that knows its best action says so through [`Loss::minimiser`].
//!
//! Sources: the newsvendor, K. Arrow, T. Harris & J. Marschak, "Optimal Inventory Policy", Econometrica 19 (1951); the
//! cost/loss problem, A. Murphy, "The Value of Climatological, Categorical and Probabilistic Forecasts in the Cost-Loss
//! Ratio Situation", Monthly Weather Review 105 (1977).

use std::fmt::{self, Debug};

use serde::{Deserialize, Serialize};

use super::expected;
use super::lines::{Corner, Lines};
use crate::error::{self, Error, Result};
use crate::forecast::Forecast;

/// What an action costs once the outcome is known; less is better.
///
/// Only [`loss`](Loss::loss) is required. The other methods say what is known about its form, and make expected values
/// faster and exact.
pub trait Loss: Debug + Send + Sync {
    /// The cost of `action` when `outcome` came.
    fn loss(&self, outcome: f64, action: f64) -> f64;

    /// Adds the outcomes at which the loss of this action has a kink or a jump, for quadrature to split at.
    fn kinks(&self, _action: f64, _out: &mut Vec<f64>) {}

    /// The loss of this action as a function of the outcome, if it is piecewise linear.
    fn lines(&self, _action: f64) -> Option<Lines> {
        None
    }

    /// Adds the actions at which the loss, as a function of the action, has a kink for every outcome.
    fn action_kinks(&self, _out: &mut Vec<f64>) {}

    /// The best of all actions, if a formula is known and the loss is convex in the action: the best one in an interval is
    /// then the nearest one in it. May be infinite.
    fn minimiser(&self, _forecast: &dyn Forecast) -> Result<Option<f64>> {
        Ok(None)
    }
}

/// A linear cost for each unit by which the action falls short of the outcome, and another for each unit too many.
///
/// With `overage` 0 it is a pure shortage cost, non-decreasing in the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Costs", into = "Costs")]
pub struct Newsvendor {
    underage: f64,
    overage: f64,
}

impl Newsvendor {
    /// `underage`: cost of each unit short; `overage`: of each unit left over. Finite, not negative, not both 0.
    pub fn new(underage: f64, overage: f64) -> Result<Self> {
        error::not_negative("underage cost", underage)?;
        error::not_negative("overage cost", overage)?;
        error::positive("sum of underage and overage cost", underage + overage)?;
        Ok(Newsvendor { underage, overage })
    }

    /// The cost of each unit short.
    pub fn underage(&self) -> f64 {
        self.underage
    }

    /// The cost of each unit left over.
    pub fn overage(&self) -> f64 {
        self.overage
    }
}

impl Loss for Newsvendor {
    fn loss(&self, outcome: f64, action: f64) -> f64 {
        if outcome > action { self.underage * (outcome - action) } else { self.overage * (action - outcome) }
    }

    fn kinks(&self, action: f64, out: &mut Vec<f64>) {
        out.push(action);
    }

    fn lines(&self, action: f64) -> Option<Lines> {
        Lines::new(vec![Corner::continuous(action, 0.0)], -self.overage, self.underage).ok()
    }

    fn minimiser(&self, forecast: &dyn Forecast) -> Result<Option<f64>> {
        Ok(Some(forecast.quantile(self.probability())))
    }
}

/// The absolute error |y − a|.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Absolute;

impl Loss for Absolute {
    fn loss(&self, outcome: f64, action: f64) -> f64 {
        (outcome - action).abs()
    }

    fn kinks(&self, action: f64, out: &mut Vec<f64>) {
        out.push(action);
    }

    fn lines(&self, action: f64) -> Option<Lines> {
        Lines::new(vec![Corner::continuous(action, 0.0)], -1.0, 1.0).ok()
    }

    fn minimiser(&self, forecast: &dyn Forecast) -> Result<Option<f64>> {
        Ok(Some(forecast.at_probit(0.0)))
    }
}

/// The squared error (y − a)².
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Squared;

impl Loss for Squared {
    fn loss(&self, outcome: f64, action: f64) -> f64 {
        (outcome - action) * (outcome - action)
    }

    fn minimiser(&self, forecast: &dyn Forecast) -> Result<Option<f64>> {
        expected::mean(forecast).map(Some)
    }
}

/// On which side of a threshold the harmful event lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// y ≤ threshold, as frost.
    AtMost,
    /// y ≥ threshold, as a flood.
    AtLeast,
}

/// Cost/loss: pay to protect, or lose if the event comes.
///
/// The action is the share that is protected, 1 for all and 0 for nothing. Protecting is better if and only if the event's
/// probability exceeds cost/damage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Protection", into = "Protection")]
pub struct Threshold {
    parts: Protection,
}

impl Threshold {
    /// Protection costs `cost`; the event, if nothing is protected, `damage`. Neither may be negative.
    pub fn new(threshold: f64, event: Event, cost: f64, damage: f64) -> Result<Self> {
        Protection { threshold, event, cost, damage }.try_into()
    }

    /// The probability of the event under a forecast.
    pub fn probability<F: Forecast + ?Sized>(&self, forecast: &F) -> f64 {
        match self.parts.event {
            Event::AtMost => forecast.cdf(self.parts.threshold),
            Event::AtLeast => crate::normal::sf(forecast.probit_left(self.parts.threshold)),
        }
    }
}

impl Loss for Threshold {
    fn loss(&self, outcome: f64, action: f64) -> f64 {
        let Protection { threshold, event, cost, damage } = self.parts;
        let happens = match event {
            Event::AtMost => outcome <= threshold,
            Event::AtLeast => outcome >= threshold,
        };
        action * cost + if happens { (1.0 - action) * damage } else { 0.0 }
    }

    fn kinks(&self, _action: f64, out: &mut Vec<f64>) {
        out.push(self.parts.threshold);
    }

    fn lines(&self, action: f64) -> Option<Lines> {
        let Protection { threshold, event, cost, damage } = self.parts;
        let (base, more) = (action * cost, action * cost + (1.0 - action) * damage);
        let (below, above) = if event == Event::AtMost { (more, base) } else { (base, more) };
        Lines::new(vec![Corner { y: threshold, below, at: more, above }], 0.0, 0.0).ok()
    }
}

/// Any function (outcome, action) ↦ cost as a [`Loss`]. Its expected value is taken by quadrature; where the function has
/// kinks in the outcome, a type of your own that names them is faster.
///
/// ```
/// use truecast::{Gaussian, decision};
///
/// let late = decision::by(|arrival: f64, departure: f64| if arrival > departure { 60.0 } else { departure - arrival });
/// let leave = decision::best_in(&Gaussian::new(30.0, 5.0)?, &late, 20.0, 60.0)?;
/// assert!(leave.value > 38.0 && leave.expected_loss < 12.0);
/// # Ok::<(), truecast::Error>(())
/// ```
pub fn by<F: Fn(f64, f64) -> f64 + Send + Sync>(function: F) -> impl Loss {
    By(function)
}

struct By<F>(F);

impl<F> Debug for By<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("By(function)")
    }
}

impl<F: Fn(f64, f64) -> f64 + Send + Sync> Loss for By<F> {
    fn loss(&self, outcome: f64, action: f64) -> f64 {
        (self.0)(outcome, action)
    }
}

#[derive(Serialize, Deserialize)]
struct Costs {
    underage: f64,
    overage: f64,
}

impl TryFrom<Costs> for Newsvendor {
    type Error = Error;
    fn try_from(costs: Costs) -> Result<Self> {
        Newsvendor::new(costs.underage, costs.overage)
    }
}

impl From<Newsvendor> for Costs {
    fn from(of: Newsvendor) -> Self {
        Costs { underage: of.underage, overage: of.overage }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Protection {
    threshold: f64,
    event: Event,
    cost: f64,
    damage: f64,
}

impl TryFrom<Protection> for Threshold {
    type Error = Error;
    fn try_from(parts: Protection) -> Result<Self> {
        error::finite("threshold", parts.threshold)?;
        error::not_negative("cost of protection", parts.cost)?;
        error::not_negative("damage", parts.damage)?;
        Ok(Threshold { parts })
    }
}

impl From<Threshold> for Protection {
    fn from(of: Threshold) -> Self {
        of.parts
    }
}
