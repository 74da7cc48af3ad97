//! The action of least expected loss.
//!
//! [`best_of`] compares a list. [`best_in`] searches an interval:
//!
//! 1. A loss that knows its minimiser and is convex in the action (newsvendor, absolute, squared) is done: the answer is the
//!    minimiser, moved into the interval.
//! 2. Otherwise the expected loss is taken on 65 equally spaced actions, at the forecast's kinks and 17 of its quantiles, and at
//!    the actions at which the loss has kinks. Expected losses have their own kinks at these places, so a minimum on a kink
//!    is found exactly; the table loss ([`PiecewiseLinear`](super::PiecewiseLinear)), linear between them, always is.
//! 3. Around every local minimum of that grid a golden-section search narrows the bracket of its neighbours to 1e-9 of the
//!    interval's length. The action is then right to about √ε of its scale (the expected loss is flat there), the
//!    expected loss to its own error of about 1e-10.
//!
//! Nothing is assumed about convexity. A dip narrower than the grid, away from every kink and quantile, can be missed.
//!
//! Cost: one expected loss per entry, or 82 + kinks, and 40 per local minimum.

use super::expected::Expectation;
use super::loss::Loss;
use crate::error::{self, Error, Result};
use crate::forecast::Forecast;

/// An action and its expected loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Action {
    /// The action.
    pub value: f64,
    /// The loss to expect of it.
    pub expected_loss: f64,
}

/// The best of a list of actions; of equally good ones the first.
pub fn best_of<F, L>(forecast: &F, loss: &L, actions: &[f64]) -> Result<Action>
where
    F: Forecast + ?Sized,
    L: Loss + ?Sized,
{
    let expectation = Expectation::new(forecast);
    let mut best: Option<Action> = None;
    for &value in actions {
        let expected_loss = expectation.of(loss, value)?;
        if best.is_none_or(|best| expected_loss < best.expected_loss) {
            best = Some(Action { value, expected_loss });
        }
    }
    best.ok_or(Error::TooFew { what: "actions", least: 1, found: 0 })
}

/// Equal parts of the interval.
const PARTS: u32 = 64;

/// A bracket is narrowed to this share of the interval.
const NARROW: f64 = 1e-9;

/// The best action between `low` and `high`, ends included; see the module for how exactly.
pub fn best_in<F, L>(forecast: &F, loss: &L, low: f64, high: f64) -> Result<Action>
where
    F: Forecast + ?Sized,
    L: Loss + ?Sized,
{
    error::finite("least action", low)?;
    error::finite("greatest action", high)?;
    if low > high {
        return Err(Error::NotIncreasing {
            what: "ends of the interval",
            index: 1,
            previous: low,
            value: high,
        });
    }
    error::finite("range of the actions", high - low)?;
    let expectation = Expectation::new(forecast);
    let at = |value: f64| Ok(Action { value, expected_loss: expectation.of(loss, value)? });
    if let Some(value) = loss.minimiser(&forecast)? {
        if value.is_nan() {
            return Err(Error::NotFinite { what: "best action", value });
        }
        return at(value.clamp(low, high));
    }

    let mut values: Vec<f64> =
        (0..=PARTS).map(|i| low + (high - low) * (f64::from(i) / f64::from(PARTS))).collect();
    values.extend((-8..=8).map(|i| forecast.at_probit(0.5 * f64::from(i))));
    forecast.kinks(&mut values);
    loss.action_kinks(&mut values);
    values.push(high);
    values.retain(|value| (low..=high).contains(value));
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    let grid: Vec<Action> = values.into_iter().map(at).collect::<Result<_>>()?;

    let mut best = grid[0];
    let mut better = |found: Action| {
        if found.expected_loss < best.expected_loss {
            best = found;
        }
    };
    for (i, &here) in grid.iter().enumerate() {
        better(here);
        let left = if i > 0 { grid[i - 1] } else { here };
        let right = if i + 1 < grid.len() { grid[i + 1] } else { here };
        let least = here.expected_loss <= left.expected_loss && here.expected_loss <= right.expected_loss;
        let flat = here.expected_loss == left.expected_loss && here.expected_loss == right.expected_loss;
        if least && !flat {
            better(golden_section(at, left.value, right.value, NARROW * (high - low))?);
        }
    }
    Ok(best)
}

/// Narrows a bracket to `width`, and gives the best action it saw.
fn golden_section(
    at: impl Fn(f64) -> Result<Action>,
    mut low: f64,
    mut high: f64,
    width: f64,
) -> Result<Action> {
    const SHARE: f64 = 0.618_033_988_749_894_9; // (√5 − 1)/2
    let mut left = at(high - SHARE * (high - low))?;
    let mut right = at(low + SHARE * (high - low))?;
    let mut best = if left.expected_loss < right.expected_loss { left } else { right };
    while high - low > width && low < left.value && left.value < right.value && right.value < high {
        let found = if left.expected_loss < right.expected_loss {
            (high, right) = (right.value, left);
            left = at(high - SHARE * (high - low))?;
            left
        } else {
            (low, left) = (left.value, right);
            right = at(low + SHARE * (high - low))?;
            right
        };
        if found.expected_loss < best.expected_loss {
            best = found;
        }
    }
    Ok(best)
}
