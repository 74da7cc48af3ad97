//! A rolling conformal predictive distribution: the quantiles of the last scaled residuals.
//!
//! ```text
//! x_i = (y_i − location_i)/scale_i                 the last W
//! H(x) = (Φ(x) + #{x_i ≤ x})/(n + 1)               quantile q_k of G_t at location + scale · H⁻¹(q_k)
//! symmetric: the same with every −x_i beside x_i, which makes every interval that of |x_i|
//! ```
//!
//! A conformal predictive distribution leaves 1/(n + 1) of the probability undecided, to be put anywhere, in particular at ±∞; here the base has it, so that the
//! outer quantiles are finite and G_t = F_t at first. By default it is **not symmetric**: each tail has its own residuals, so that biases are learned too.
//! The symmetric form is the usual normalised split-conformal interval around an unchanged median.
//!
//! Each quantile covers up to 1/(n + 1) if residuals are exchangeable; on a stream that changes nothing is promised.
//! Source: Vovk, Shen, Manokhin & Xie 2019 ("Nonparametric predictive distributions based on conformal prediction"); Papadopoulos, Gammerman & Vovk 2008
//! for scaled residuals; a rolling window in place of all of the past, as for time series everybody does.
//! Cost: O(W) moved numbers for an outcome, 27 · O(log W) for a forecast; 3 W numbers, twice that if symmetric.
//! W = 100 did best of 100, 250 and 500 on the streams of `truecast-streams`.

use serde::{Deserialize, Serialize};

use super::residual::{Occasion, PROBITS, ResidualRule, Told};
use crate::error::{Result, SnapshotError};
use crate::normal;
use crate::recalibrate::comparator::History;

/// The base counts for one outcome.
const PRIOR: f64 = 1.0;

/// Options of [`RollingConformal`].
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `window` | 100 | W, residuals that are kept | 1 to a million |
/// | `symmetric` | false | whether both tails share their residuals | |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RollingConformalOptions {
    /// W, residuals that are kept.
    pub window: usize,
    /// Whether both tails share their residuals.
    pub symmetric: bool,
}

impl Default for RollingConformalOptions {
    fn default() -> Self {
        RollingConformalOptions { window: 100, symmetric: false }
    }
}

/// The quantiles of the last scaled residuals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct RollingConformal {
    options: RollingConformalOptions,
    residuals: History,
}

impl RollingConformal {
    fn held(&self) -> usize {
        if self.options.symmetric { 2 * self.options.window } else { self.options.window }
    }
}

impl ResidualRule for RollingConformal {
    const NAME: &'static str = "rolling-conformal";
    type Options = RollingConformalOptions;

    fn start(options: RollingConformalOptions) -> Result<Self> {
        super::window(options.window, 1)?;
        let mut rule = RollingConformal { options, residuals: History::new(0, PRIOR) };
        rule.residuals = History::new(rule.held(), PRIOR);
        Ok(rule)
    }

    fn say(&self, _: &Occasion, said: &mut Vec<f64>, _: &mut Vec<f64>) {
        said.extend(PROBITS.iter().map(|&t| self.residuals.quantile(normal::cdf(t))));
    }

    fn learn(&mut self, told: &Told<'_>) {
        self.residuals.push(told.residual);
        if self.options.symmetric {
            self.residuals.push(-told.residual);
        }
    }

    fn validate(&self) -> Result<(), SnapshotError> {
        Ok(())
    }
}

/// The saved form: everything else follows from it.
#[derive(Serialize, Deserialize)]
struct State {
    options: RollingConformalOptions,
    /// Residuals so far, and the last of them, oldest first.
    count: u64,
    residuals: Vec<f64>,
}

impl TryFrom<State> for RollingConformal {
    type Error = crate::Error;
    fn try_from(state: State) -> Result<Self> {
        let mut rule = RollingConformal::start(state.options)?;
        let even = !rule.options.symmetric || state.count.is_multiple_of(2);
        let kept = rule.held().min(usize::try_from(state.count).unwrap_or(usize::MAX));
        if !even || state.residuals.len() != kept || !state.residuals.iter().all(|x| x.is_finite()) {
            let rule = "finite, and as many as are kept";
            return Err(SnapshotError::Invalid { field: "residuals", rule }.into());
        }
        rule.residuals.restore(&state.residuals, state.count);
        Ok(rule)
    }
}

impl From<RollingConformal> for State {
    fn from(of: RollingConformal) -> Self {
        State { count: of.residuals.steps(), residuals: of.residuals.scores().collect(), options: of.options }
    }
}
