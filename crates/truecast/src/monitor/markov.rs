//! Did losses exceed their estimates more often than Markov allows?
//!
//! A decision maker announces an estimate e_t = E_{G_t} ℓ(Y, a_t) before each outcome and meets the loss ℓ_t = ℓ(y_t, a_t).
//! For r > 1 the monitor counts
//!
//! ```text
//! N_r = Σ_t 1{ℓ_t ≥ r e_t, ℓ_t > 0}          excess_r = N_r − T/r
//! ```
//!
//! **The theorem** (the paper, section "Online decision-making", and its appendix): if the forecasts are calibrated in
//! their quantiles and ℓ ≥ 0 is monotone in y, then lim N_r/T ≤ 1/r, on any sequence. *Why:* for ℓ non-decreasing in y,
//! e_t ≥ ℓ(y, a_t) P_{G_t}(Y ≥ y), so ℓ_t ≥ r e_t makes P_{G_t}(Y ≥ y_t) ≤ 1/r; of calibrated forecasts that happens at
//! T/r steps in the limit. The guard keeps central intervals, not single quantiles: what it bounds is the outcomes outside of the interval of 1 − 2/r, so
//! that N_r is at most 2T/r and that interval's balance, while the stop-loss does not hold it back (docs/theory.md, sections 9 and 16).
//!
//! **The evidence** is a test at any time. If given the past P(ℓ_t ≥ r e_t) ≤ p = 1/r at each step (Markov's inequality,
//! which holds whenever e_t is at least the true conditional mean of the loss; monotone or not), then for each q > p
//!
//! ```text
//! (q/p)^N ((1 − q)/(1 − p))^(T − N)
//! ```
//!
//! is a non-negative supermartingale that starts at 1, and so is its mean over q_i = p + (1 − p) 2^−i, i = 1 … 20. By Ville's
//! inequality that mean ever reaches 1/δ with probability at most δ: look as often as you like. [`limit`](MarkovMonitor::limit) is
//! the largest count that stays below. It assumes estimates that are right given the past, which is more than calibration over
//! the long run; on an adversarial stream a calibrated forecaster may pass the limit and obey the theorem still.
//!
//! Where we differ: the paper's event includes ℓ_t = e_t = 0, which a certain loss of nothing meets at every step; it is not
//! counted. Losses and estimates must not be negative, which the paper's theorem leaves to its appendix.
//!
//! Sources: J. Ville, "Étude critique de la notion de collectif" (1939); S. Howard, A. Ramdas, J. McAuliffe & J. Sekhon,
//! "Time-uniform, Nonparametric, Nonasymptotic Confidence Sequences", Annals of Statistics 49 (2021), for mixtures.
//!
//! Cost: one comparison per r and outcome; constant memory.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::coverage::same_shape;
use crate::error::{self, Error, Result};

/// The factors that are followed unless others are named.
pub const DEFAULT_RATIOS: [f64; 4] = [1.5, 2.0, 5.0, 10.0];

/// Alternatives in the mixture: the closest to p lies (1 − p)/10⁶ above it, and would take 10¹² steps to tell from p.
const ALTERNATIVES: i32 = 20;

/// Counts how often losses exceed multiples of their estimates.
///
/// ```
/// use truecast::monitor::MarkovMonitor;
///
/// let mut monitor = MarkovMonitor::default();
/// for loss in [0.0, 1.0, 0.5, 12.0] {
///     monitor.observe(loss, 1.0)?; // each was estimated at 1
/// }
/// assert_eq!(monitor.count(1), Some(1)); // ratio 2: at most half of them should
/// assert_eq!(monitor.excess(1), Some(-1.0));
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct MarkovMonitor {
    parts: Parts,
}

impl MarkovMonitor {
    /// Follows the given ratios, which increase and are greater than 1.
    pub fn new(ratios: &[f64]) -> Result<Self> {
        Parts { ratios: ratios.to_vec(), counts: vec![0; ratios.len()], rows: 0 }.try_into()
    }

    /// Counts a realised loss and the estimate that was announced for it, neither of which may be negative.
    pub fn observe(&mut self, loss: f64, estimate: f64) -> Result<()> {
        error::not_negative("loss", loss)?;
        error::not_negative("estimate of the loss", estimate)?;
        self.parts.rows += 1;
        for (count, &ratio) in self.parts.counts.iter_mut().zip(&self.parts.ratios) {
            *count += u64::from(loss > 0.0 && loss >= ratio * estimate);
        }
        Ok(())
    }

    /// The ratios r.
    pub fn ratios(&self) -> &[f64] {
        &self.parts.ratios
    }

    /// T, the number of outcomes.
    pub fn rows(&self) -> u64 {
        self.parts.rows
    }

    /// N_r for the `index`-th ratio.
    pub fn count(&self, index: usize) -> Option<u64> {
        self.parts.counts.get(index).copied()
    }

    /// N_r/T, to be held against 1/r.
    pub fn share(&self, index: usize) -> Option<f64> {
        let count = self.count(index)?;
        (self.rows() > 0).then(|| count as f64 / self.rows() as f64)
    }

    /// N_r − T/r: positive where more losses than allowed exceeded r times their estimate.
    pub fn excess(&self, index: usize) -> Option<f64> {
        Some(self.count(index)? as f64 - self.rows() as f64 / self.parts.ratios[index])
    }

    /// ln of the evidence that the estimates were too low: it exceeds ln(1/δ) at any time, ever, with probability at most δ
    /// where each estimate is at least the loss's conditional mean.
    pub fn ln_evidence(&self, index: usize) -> Option<f64> {
        Some(ln_evidence(self.count(index)?, self.rows(), 1.0 / self.parts.ratios[index]))
    }

    /// The largest count after so many outcomes that is still believable at level `delta`: one beyond it, at whatever time one
    /// looks, shows the estimates to be too low, and does so wrongly with probability at most `delta`.
    pub fn limit(&self, index: usize, delta: f64) -> Result<Option<u64>> {
        error::inner_probability("delta", delta)?;
        let Some(&ratio) = self.parts.ratios.get(index) else { return Ok(None) };
        let (rows, p, bound) = (self.rows(), 1.0 / ratio, -libm::log(delta));
        // The evidence increases with the count: each of its terms does, as q > p.
        let (mut low, mut high) = (0, rows);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if ln_evidence(middle, rows, p) < bound {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        Ok(Some(low))
    }

    /// Adds the counts of another monitor of the same ratios.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        same_shape("ratios", &self.parts.ratios, &other.parts.ratios)?;
        self.parts.rows += other.parts.rows;
        for (count, more) in self.parts.counts.iter_mut().zip(&other.parts.counts) {
            *count += more;
        }
        Ok(())
    }
}

/// ln of the mean over the alternatives q of (q/p)^count ((1 − q)/(1 − p))^(rows − count).
fn ln_evidence(count: u64, rows: u64, p: f64) -> f64 {
    let (hits, misses) = (count as f64, (rows - count) as f64);
    let terms = (1..=ALTERNATIVES).map(|i| {
        let share = libm::ldexp(1.0, -i); // (q − p)/(1 − p), so that (1 − q)/(1 − p) = 1 − share
        hits * libm::log1p(share * (1.0 / p - 1.0)) + misses * libm::log1p(-share)
    });
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    largest + libm::log(terms.map(|term| libm::exp(term - largest)).sum::<f64>() / f64::from(ALTERNATIVES))
}

impl Default for MarkovMonitor {
    fn default() -> Self {
        let ratios = DEFAULT_RATIOS.to_vec();
        MarkovMonitor { parts: Parts { counts: vec![0; ratios.len()], ratios, rows: 0 } }
    }
}

impl fmt::Display for MarkovMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "losses of at least r times their estimate, {} outcomes", self.rows())?;
        write!(f, "{:>8} {:>10} {:>10} {:>10} {:>14}", "r", "share", "allowed", "excess", "evidence")?;
        for (k, &ratio) in self.ratios().iter().enumerate() {
            let (Some(share), Some(excess), Some(ln_e)) =
                (self.share(k), self.excess(k), self.ln_evidence(k))
            else {
                write!(f, "\n{ratio:>8} {:>10} {:>10.4}", "-", 1.0 / ratio)?;
                continue;
            };
            let evidence = format!("10^{:.1}", ln_e / std::f64::consts::LN_10);
            write!(f, "\n{ratio:>8} {share:>10.4} {:>10.4} {excess:>+10.1} {evidence:>14}", 1.0 / ratio)?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Parts {
    ratios: Vec<f64>,
    counts: Vec<u64>,
    rows: u64,
}

impl TryFrom<Parts> for MarkovMonitor {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        let (left, right) = (parts.ratios.len(), parts.counts.len());
        if left == 0 {
            return Err(Error::TooFew { what: "ratios", least: 1, found: 0 });
        }
        if left != right {
            return Err(Error::LengthMismatch { what: "ratios and their counts", left, right });
        }
        error::increasing("ratios", &parts.ratios)?;
        if parts.ratios[0] <= 1.0 {
            let value = parts.ratios[0];
            return Err(Error::OutOfRange { what: "ratio", rule: "greater than 1", value });
        }
        // A larger ratio is exceeded no more often.
        let most = std::iter::once(parts.rows).chain(parts.counts.iter().copied());
        for (&count, most) in parts.counts.iter().zip(most) {
            if count > most {
                let (rule, value) = ("at most the rows, and that of a smaller ratio", count as f64);
                return Err(Error::OutOfRange { what: "count", rule, value });
            }
        }
        Ok(MarkovMonitor { parts })
    }
}

impl From<MarkovMonitor> for Parts {
    fn from(of: MarkovMonitor) -> Self {
        of.parts
    }
}
