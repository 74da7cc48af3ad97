//! CRPS learning: simple recalibrations, weighed for each quantile on its own by Bernstein online aggregation.
//!
//! The experts, as residuals (b_k is the base's own quantile; m and v are running means with a half-life, of x and of |x|, or of |x − m|):
//!
//! | expert | its quantile k |
//! |---|---|
//! | base | b_k |
//! | shifted | m + b_k, half-life 30 |
//! | rescaled | v √(π/2) b_k, half-life 30 |
//! | both | m + v √(π/2) b_k, half-life 30 |
//! | both, slowly | the same, half-life 300 |
//! | recent | the quantile of the last 250 residuals, as `rolling-conformal` has it |
//!
//! For each quantile k and expert i, with Q = Σ w_i Q_i, and y in its own units:
//!
//! ```text
//! r_i = (1{y ≤ Q} − τ)(Q − Q_i)                                  the linearised regret in pinball loss
//! V_i ← (1−φ)V_i + r_i²,  E_i ← max((1−φ)E_i, |r_i|),  η_i = min(1/(2E_i), √(ln K/V_i))
//! R_i ← (1−φ)R_i + ½ [r_i (1 − η_i r_i) + 2E_i 1{η_i r_i > ½}]
//! w_i ∝ exp(η_i R_i), then smoothed over k:  (1 + λ D′D)⁻¹ w,  D the first differences over the 27 quantiles
//! ```
//!
//! Smoothing keeps weights not negative and their sum 1. Quantiles are sorted before they are announced.
//! Without forgetting and smoothing each quantile's loss is within O(√(T ln K)) of its best expert's.
//! Source: Berrisch & Ziel 2021, "CRPS learning"; Wintenberger 2017 for the aggregation. Weights have no factor η_i, as is the default of the authors' package;
//! they penalise second differences of splines, and can choose φ and λ as they go;
//! we fix both at the package's defaults, no forgetting and no smoothing, which did best here too (φ up to 0.02, λ up to 100, on the streams of
//! `truecast-streams`).
//! Cost: O(27 · 6) exponentials for a forecast, O(27 · 6) and O(W) moved numbers for an outcome; 27 × 18 + 757 numbers.

use serde::{Deserialize, Serialize};

use super::residual::{FARTHEST, Occasion, PROBITS, QUANTILES, ResidualRule, Told};
use crate::error::{self, Result, SnapshotError};
use crate::normal;
use crate::recalibrate::comparator::History;

const EXPERTS: usize = 6;
const WINDOW: usize = 250;
/// The base counts for one residual in the window…
const PRIOR: f64 = 1.0;
/// … and for ten in the running means.
const MEAN_PRIOR: f64 = 10.0;
/// Half-lives of 30 and of 300: 1/(1 − 2^(−1/h)).
const LONGEST: [f64; 2] = [43.782, 433.31];
/// √(π/2): a standard normal residual's |x| has the mean 1 over this.
const SPREAD: f64 = 1.253_314_137_315_500_3;
/// Regrets are held within this: their squares are summed.
const LARGEST: f64 = 1e140;

/// Options of [`CrpsLearning`].
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `forget` | 0 | φ, the share of past regret that an outcome wipes out | 0 to below 1 |
/// | `smooth` | 0 | λ, how smooth weights are in the quantile | ≥ 0 |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrpsLearningOptions {
    /// φ, the share of past regret that an outcome wipes out.
    pub forget: f64,
    /// λ, how smooth weights are in the quantile.
    pub smooth: f64,
}

impl Default for CrpsLearningOptions {
    fn default() -> Self {
        CrpsLearningOptions { forget: 0.0, smooth: 0.0 }
    }
}

/// What is known of one expert at one quantile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Account {
    regret: f64,
    squares: f64,
    largest: f64,
}

impl Account {
    /// η.
    fn rate(&self) -> f64 {
        let ln_experts = libm::log(EXPERTS as f64);
        (0.5 / self.largest.max(1e-150)).min((ln_experts / self.squares.max(1e-300)).sqrt())
    }

    fn learn(&mut self, r: f64, keep: f64) {
        self.squares = keep * self.squares + r * r;
        self.largest = (keep * self.largest).max(r.abs());
        let rate = self.rate();
        let clipped = if rate * r > 0.5 { 2.0 * self.largest } else { 0.0 };
        self.regret = keep * self.regret + 0.5 * (r * (1.0 - rate * r) + clipped);
    }
}

/// Means of x, of |x| and of |x − mean|.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Moments {
    count: f64,
    shift: f64,
    size: f64,
    distance: f64,
}

impl Moments {
    fn learn(&mut self, x: f64, longest: f64) {
        let gain = 1.0 / self.count.min(longest);
        self.distance += gain * ((x - self.shift).abs() - self.distance);
        self.size += gain * (x.abs() - self.size);
        self.shift += gain * (x - self.shift);
        self.count = (self.count + 1.0).min(longest);
    }
}

/// Simple recalibrations, weighed quantile by quantile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct CrpsLearning {
    options: CrpsLearningOptions,
    /// One row per quantile.
    accounts: Vec<[Account; EXPERTS]>,
    moments: [Moments; 2],
    residuals: History,
}

impl CrpsLearning {
    /// The weights of the experts, one row per quantile.
    pub fn weights(&self) -> [[f64; EXPERTS]; QUANTILES] {
        let mut weights = [[0.0; EXPERTS]; QUANTILES];
        for (row, accounts) in weights.iter_mut().zip(&self.accounts) {
            let logs = accounts.map(|account| account.rate() * account.regret);
            let most = logs.into_iter().fold(f64::NEG_INFINITY, f64::max);
            *row = logs.map(|log| libm::exp(log - most));
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|w| *w /= sum);
        }
        smooth(&mut weights, self.options.smooth);
        weights
    }

    /// Every expert's quantile k.
    fn experts(&self, k: usize, base: f64) -> [f64; EXPERTS] {
        let [fast, slow] = &self.moments;
        [
            base,
            fast.shift + base,
            fast.size * SPREAD * base,
            fast.shift + fast.distance * SPREAD * base,
            slow.shift + slow.distance * SPREAD * base,
            self.residuals.quantile(normal::cdf(PROBITS[k])),
        ]
    }
}

/// (1 + λ D′D)⁻¹ for each expert: a tridiagonal matrix, by elimination downwards and upwards.
fn smooth(weights: &mut [[f64; EXPERTS]; QUANTILES], lambda: f64) {
    let mut upper = [0.0; QUANTILES];
    for k in 0..QUANTILES {
        let neighbours = if k == 0 || k == QUANTILES - 1 { 1.0 } else { 2.0 };
        let before = if k == 0 { 0.0 } else { lambda };
        let pivot = 1.0 + lambda * neighbours - before * if k == 0 { 0.0 } else { upper[k - 1] };
        upper[k] = lambda / pivot;
        for i in 0..EXPERTS {
            let last = if k == 0 { 0.0 } else { weights[k - 1][i] };
            weights[k][i] = (weights[k][i] + before * last) / pivot;
        }
    }
    for k in (0..QUANTILES - 1).rev() {
        for i in 0..EXPERTS {
            weights[k][i] += upper[k] * weights[k + 1][i];
        }
    }
}

impl ResidualRule for CrpsLearning {
    const NAME: &'static str = "crps-learning";
    type Options = CrpsLearningOptions;

    fn start(options: CrpsLearningOptions) -> Result<Self> {
        if !(0.0..1.0).contains(&options.forget) {
            return Err(crate::Error::OutOfRange {
                what: "forget",
                rule: "at least 0 and below 1",
                value: options.forget,
            });
        }
        error::not_negative("smooth", options.smooth)?;
        let start = Moments { count: MEAN_PRIOR, shift: 0.0, size: 1.0 / SPREAD, distance: 1.0 / SPREAD };
        Ok(CrpsLearning {
            options,
            accounts: vec![[Account::default(); EXPERTS]; QUANTILES],
            moments: [start; 2],
            residuals: History::new(WINDOW, PRIOR),
        })
    }

    fn say(&self, occasion: &Occasion, said: &mut Vec<f64>, memo: &mut Vec<f64>) {
        let weights = self.weights();
        for (k, (base, weights)) in occasion.base.iter().zip(&weights).enumerate() {
            let experts = self.experts(k, *base).map(|x| x.clamp(-FARTHEST, FARTHEST));
            said.push(experts.iter().zip(weights).map(|(x, w)| w * x).sum());
            memo.extend(experts);
        }
    }

    fn memo_length(&self) -> usize {
        QUANTILES * EXPERTS
    }

    fn learn(&mut self, told: &Told<'_>) {
        let keep = 1.0 - self.options.forget;
        let rows = self.accounts.iter_mut().zip(told.memo.chunks_exact(EXPERTS));
        for ((accounts, experts), (t, said)) in rows.zip(PROBITS.iter().zip(told.said)) {
            let slope = if told.residual <= *said { normal::sf(*t) } else { -normal::cdf(*t) };
            for (account, expert) in accounts.iter_mut().zip(experts) {
                let r = told.scale * slope * (said - expert);
                account.learn(r.clamp(-LARGEST, LARGEST), keep);
            }
        }
        for (moments, longest) in self.moments.iter_mut().zip(LONGEST) {
            moments.learn(told.residual, longest);
        }
        self.residuals.push(told.residual);
    }

    fn validate(&self) -> Result<(), SnapshotError> {
        let possible = |a: &Account| {
            let sizes = [a.squares, a.largest].iter().all(|x| *x >= 0.0 && x.is_finite());
            sizes && a.regret.is_finite()
        };
        let moments = self.moments.iter().all(|m| {
            let sizes = [m.size, m.distance].iter().all(|x| *x >= 0.0 && x.is_finite());
            sizes && m.shift.is_finite() && m.count >= MEAN_PRIOR
        });
        if self.accounts.len() == QUANTILES && self.accounts.iter().flatten().all(possible) && moments {
            Ok(())
        } else {
            let rule = "27 rows of finite regrets, and sizes that are not negative";
            Err(SnapshotError::Invalid { field: "crps learning", rule })
        }
    }
}

/// The saved form.
#[derive(Serialize, Deserialize)]
struct State {
    options: CrpsLearningOptions,
    accounts: Vec<[Account; EXPERTS]>,
    moments: [Moments; 2],
    /// Residuals so far, and the last of them, oldest first.
    count: u64,
    residuals: Vec<f64>,
}

impl TryFrom<State> for CrpsLearning {
    type Error = crate::Error;
    fn try_from(state: State) -> Result<Self> {
        let State { options, accounts, moments, count, residuals } = state;
        let mut rule = CrpsLearning { accounts, moments, ..CrpsLearning::start(options)? };
        let kept = WINDOW.min(usize::try_from(count).unwrap_or(usize::MAX));
        if residuals.len() != kept || !residuals.iter().all(|x| x.is_finite()) {
            let rule = "finite, and as many as are kept";
            return Err(SnapshotError::Invalid { field: "residuals", rule }.into());
        }
        rule.residuals.restore(&residuals, count);
        Ok(rule)
    }
}

impl From<CrpsLearning> for State {
    fn from(of: CrpsLearning) -> Self {
        State {
            count: of.residuals.steps(),
            residuals: of.residuals.scores().collect(),
            options: of.options,
            accounts: of.accounts,
            moments: of.moments,
        }
    }
}
