//! A loss given by a table: actions, outcomes, and the loss at each pair.
//!
//! Linear in the outcome between the table's outcomes and, with the outer slopes, beyond them; linear in the action between
//! the table's actions, constant beyond them. The expected loss is then linear in the action between the table's actions, so
//! the best action in an interval is one of them or an end of the interval, found exactly.

use serde::{Deserialize, Serialize};

use super::lines::{Corner, Lines};
use super::loss::Loss;
use crate::error::{self, Error, Result};

/// A table of losses, piecewise linear in the outcome.
///
/// ```
/// use truecast::decision::{PiecewiseLinear, best_of};
/// use truecast::Gaussian;
///
/// // Staff 1 or 2 people for 0, 10 or 20 customers.
/// let staff = PiecewiseLinear::new(&[1.0, 2.0], &[0.0, 10.0, 20.0], &[&[5.0, 5.0, 25.0], &[10.0, 10.0, 10.0]])?;
/// assert_eq!(best_of(&Gaussian::new(8.0, 2.0)?, &staff, &[1.0, 2.0])?.value, 1.0);
/// assert_eq!(best_of(&Gaussian::new(15.0, 2.0)?, &staff, &[1.0, 2.0])?.value, 2.0);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct PiecewiseLinear {
    parts: Parts,
}

impl PiecewiseLinear {
    /// One row of `losses` per action, one entry per outcome; actions and outcomes increase, and there are at least two
    /// outcomes.
    pub fn new(actions: &[f64], outcomes: &[f64], losses: &[&[f64]]) -> Result<Self> {
        let losses = losses.iter().map(|row| row.to_vec()).collect();
        Parts { actions: actions.to_vec(), outcomes: outcomes.to_vec(), losses }.try_into()
    }

    /// The table's actions.
    pub fn actions(&self) -> &[f64] {
        &self.parts.actions
    }

    /// The rows around an action, and the share of the second.
    fn rows(&self, action: f64) -> (&[f64], &[f64], f64) {
        let Parts { actions, losses, .. } = &self.parts;
        let last = actions.len() - 1;
        match actions.partition_point(|&a| a <= action) {
            0 => (&losses[0], &losses[0], 0.0),
            next if next > last => (&losses[last], &losses[last], 0.0),
            next => {
                let (a, b) = (actions[next - 1], actions[next]);
                (&losses[next - 1], &losses[next], (action - a) / (b - a))
            }
        }
    }
}

impl Loss for PiecewiseLinear {
    fn loss(&self, outcome: f64, action: f64) -> f64 {
        let (left, right, share) = self.rows(action);
        let y = &self.parts.outcomes;
        let i = y.partition_point(|&y| y <= outcome).clamp(1, y.len() - 1);
        let at = |j: usize| left[j] + share * (right[j] - left[j]);
        at(i - 1) + (at(i) - at(i - 1)) * ((outcome - y[i - 1]) / (y[i] - y[i - 1]))
    }

    fn kinks(&self, _action: f64, out: &mut Vec<f64>) {
        out.extend(&self.parts.outcomes);
    }

    fn lines(&self, action: f64) -> Option<Lines> {
        let (left, right, share) = self.rows(action);
        let y = &self.parts.outcomes;
        let values = left.iter().zip(right).map(|(a, b)| a + share * (b - a));
        let corners: Vec<Corner> = y.iter().zip(values).map(|(&y, at)| Corner::continuous(y, at)).collect();
        let slope = |a: Corner, b: Corner| (b.at - a.at) / (b.y - a.y);
        let last = corners.len() - 1;
        let (lower, upper) = (slope(corners[0], corners[1]), slope(corners[last - 1], corners[last]));
        Lines::new(corners, lower, upper).ok()
    }

    fn action_kinks(&self, out: &mut Vec<f64>) {
        out.extend(&self.parts.actions);
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Parts {
    actions: Vec<f64>,
    outcomes: Vec<f64>,
    losses: Vec<Vec<f64>>,
}

impl TryFrom<Parts> for PiecewiseLinear {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        let Parts { actions, outcomes, losses } = &parts;
        for (what, least, list) in [("actions", 1, actions), ("outcomes of the table", 2, outcomes)] {
            if list.len() < least {
                return Err(Error::TooFew { what, least, found: list.len() });
            }
            error::increasing(what, list)?;
        }
        if actions.len() != losses.len() {
            let (left, right) = (actions.len(), losses.len());
            return Err(Error::LengthMismatch { what: "actions and rows of losses", left, right });
        }
        for row in losses {
            if row.len() != outcomes.len() {
                let (left, right) = (outcomes.len(), row.len());
                return Err(Error::LengthMismatch { what: "outcomes and losses of an action", left, right });
            }
            for &loss in row {
                error::finite("loss", loss)?;
            }
        }
        Ok(PiecewiseLinear { parts })
    }
}

impl From<PiecewiseLinear> for Parts {
    fn from(of: PiecewiseLinear) -> Self {
        of.parts
    }
}
