//! Trust: how far to follow the ledgers away from the base.
//!
//! When the base is already right, moving away from it costs a little. One weight w in (0, 1) mixes the plays with the
//! base levels, p̂_j = w p_j + (1 − w) u_j, by exponential weights on what each would have lost:
//!
//! ```text
//! gain = Σ_j width_j [(u−o)² − (p−o)²] / (largest Σ width so far) + mean_j [(u−o)² − (p−o)²]
//! w ← share/2 + (1 − share) · w e^{8 gain} / (w e^{8 gain} + 1 − w),     share = 0.001, w = ½ at first
//! ```
//!
//! Both parts are needed: with the CRPS part alone, the loss on a stream whose widths differ a thousandfold is decided by
//! its wide steps. Guarantee: by convexity the mixture's regret against the base is at most the w-weighted sum of the
//! plays' regrets, which is kept exactly. Cost: O(M) and one exponential. See docs/theory.md, "Trust".

use serde::{Deserialize, Serialize};

use crate::error::SnapshotError;
use crate::lanes::Number;

const RATE: f64 = 8.0;
const SHARE: f64 = 0.001;

/// The weight on the ledgers' plays, learned from both losses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    weight: f64,
    largest: f64,
}

impl Default for Trust {
    fn default() -> Self {
        Trust { weight: 0.5, largest: 0.0 }
    }
}

impl Trust {
    /// The weight on the plays now; 1 − weight is on the base.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// What the odds are multiplied by is the exponential of this. `crps_gain` is Σ width [(u−o)² − (p−o)²], `total_width` is Σ width, `mean_gain`
    /// the unweighted mean over the levels.
    pub(crate) fn exponent(&mut self, crps_gain: f64, total_width: f64, mean_gain: f64) -> f64 {
        self.largest = if total_width > self.largest { total_width } else { self.largest };
        let relative = if self.largest > 0.0 { crps_gain / self.largest } else { 0.0 };
        RATE * (relative + mean_gain)
    }

    /// Multiplies the odds by `factor`.
    pub(crate) fn reweigh(&mut self, factor: f64) {
        let odds = self.weight * factor;
        self.weight = (1.0 - SHARE) * odds / (odds + 1.0 - self.weight) + SHARE * 0.5;
    }

    pub(crate) fn validate(&self) -> Result<(), SnapshotError> {
        let weight = self.weight > 0.0 && self.weight < 1.0;
        if !(weight && self.largest >= 0.0 && self.largest.is_finite()) {
            return Err(SnapshotError::Invalid {
                field: "trust",
                rule: "a weight in (0, 1) and a finite width",
            });
        }
        Ok(())
    }
}

/// (u−o)² − (p−o)² without cancellation, at one level or at several.
#[inline(always)]
pub(crate) fn gain<T: Number>(base: T, play: T, happened: T) -> T {
    (base - play) * (base + play - (happened + happened))
}

/// Plays mixed with the base probabilities; `rest` is 1 − `weight`.
#[inline(always)]
pub(crate) fn mix<T: Number>(weight: T, rest: T, play: T, base: T) -> T {
    weight * play + rest * base
}
