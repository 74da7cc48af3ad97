//! Conformal PID control, P and I: quantile tracking plus an integrator that saturates at ±∞.
//!
//! ```text
//! θ_{t+1} = x_{t+1} + r_t(E_t),    E_t = Σ_{s ≤ t} (q − hit_s),    x_{t+1} = x_t + η (q − hit_t),   x_1 = Φ⁻¹(q)
//! r_t(E) = K tan(E ln t / (t C)),   ±∞ where the angle is outside of (−π/2, π/2);   C = c √(q (1−q))
//! ```
//!
//! Guarantee, on every stream, unbounded scores included: let h(t) = (π/2) C t/ln t. Where |E_t| ≥ h(t) the threshold is ±∞, so the next
//! outcome takes E back towards 0; otherwise |E_{t+1}| ≤ h(t) + 1. h increases from t = 3 on, hence for T > 3
//!
//! ```text
//! |Σ_t (hit_t − q)| ≤ max(3, h(T − 1) + 1),          |share − q| ≤ (π/2) C / ln(T−1) + 1/T
//! ```
//!
//! Slow in T: it is the tracker that is fast. It alone has |Σ (hit − q)| ≤ (B + |Φ⁻¹(q)| + η)/η for scores within B, as gradient descent
//! with a constant step.
//!
//! Defaults, in probit units: η = 0.05 crosses a doubled scale in a few hundred outcomes and jitters by less than the gap between guarded
//! quantiles; K = 0.2 is the strength of our guard's order (0.16); c = 1 lets one binomial standard deviation turn the angle by at most
//! ln t/√t ≤ 0.74 of its 1.57, and the source has no default that knows q. Cost: O(1), one tangent; two numbers.
//!
//! Source: Angelopoulos, Candès & Tibshirani 2023, "Conformal PID control for time series prediction", theorem 1 and the tangent
//! integrator. We have no D part (a forecaster of scores: the base forecast is one), and C scales with √(q(1−q)), as the hits do.

use std::f64::consts::FRAC_PI_2;

use serde::{Deserialize, Serialize};

use super::{History, QuantileRule};
use crate::error::{self, Result, SnapshotError};

/// Options of [`Pid`].
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `rate` | 0.05 | η, the tracker's step in probit units | ≥ 0 |
/// | `gain` | 0.2 | K, the integrator's strength in probit units | > 0 |
/// | `saturation` | 1 | c, where the integrator saturates, in √(q(1−q)) | > 0 |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PidOptions {
    /// η, the tracker's step in probit units.
    pub rate: f64,
    /// K, the integrator's strength in probit units.
    pub gain: f64,
    /// c, where the integrator saturates, in √(q(1−q)).
    pub saturation: f64,
}

impl Default for PidOptions {
    fn default() -> Self {
        PidOptions { rate: 0.05, gain: 0.2, saturation: 1.0 }
    }
}

/// Conformal PI control for one quantile.
#[derive(Debug, Clone, PartialEq)]
pub struct Pid {
    q: f64,
    rate: f64,
    gain: f64,
    /// 1 / C.
    per_error: f64,
    tracker: f64,
    error: f64,
}

impl Pid {
    /// E_t: how many hits are missing so far.
    pub fn error(&self) -> f64 {
        self.error
    }
}

impl QuantileRule for Pid {
    const NAME: &'static str = "pid";
    type Options = PidOptions;

    fn start(options: &PidOptions, q: f64, start: f64) -> Result<Self> {
        let q = error::inner_probability("quantile", q)?;
        Ok(Pid {
            q,
            rate: error::not_negative("rate", options.rate)?,
            gain: error::positive("gain", options.gain)?,
            per_error: 1.0 / (error::positive("saturation", options.saturation)? * (q * (1.0 - q)).sqrt()),
            tracker: error::finite("start", start)?,
            error: 0.0,
        })
    }

    fn threshold(&self, history: &History) -> f64 {
        let angle = self.error * self.per_error * history.ln_steps_per_step();
        if angle >= FRAC_PI_2 {
            f64::INFINITY
        } else if angle <= -FRAC_PI_2 {
            f64::NEG_INFINITY
        } else {
            self.tracker + self.gain * libm::tan(angle)
        }
    }

    fn settle(&mut self, announced: f64, score: f64, _history: &History) {
        let missing = if score <= announced { self.q - 1.0 } else { self.q };
        self.error += missing;
        self.tracker += self.rate * missing;
    }

    fn state(&self) -> Vec<f64> {
        vec![self.tracker, self.error]
    }

    fn restore(&mut self, state: &[f64]) -> Result<(), SnapshotError> {
        match *state {
            [tracker, error] if tracker.is_finite() && error.is_finite() => {
                (self.tracker, self.error) = (tracker, error);
                Ok(())
            }
            _ => Err(SnapshotError::Invalid { field: "pid", rule: "a finite tracker and a finite error" }),
        }
    }
}
