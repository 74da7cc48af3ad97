//! Strongly adaptive online conformal prediction: a new gradient descent at every step, each with its own lifetime.
//!
//! ```text
//! expert i    begins at step i, lives L(i) = g · 2^n steps, 2^n the largest power of two that divides i: active while i ≤ t < i + L(i)
//!             runs scale-free gradient descent of rate D/√3 on the pinball loss ℓ (sf_ogd.rs), θ^i_t
//! prior       π_i ∝ i^{−2} (1 + ⌊log₂ i⌋)^{−1} over the active experts
//! announce    θ_t = Σ_i p_i θ^i_t,   p_i ∝ π_i max(w^i_t, 0), or p = π where all of these are 0
//! bets        G^i_t = (ℓ(θ_t) − ℓ(θ^i_t))/D held within ±1, its positive part where w^i_t ≤ 0
//!             w^i_{t+1} = (Σ_s G^i_s) (1 + Σ_s w^i_s G^i_s) / (t − i + 1),   s from i to t;   w^i_i = 0
//! ```
//!
//! Every interval is covered by few lifetimes, so for scores within D of the thresholds the regret in pinball loss on *any* interval of length m
//! is O(D √m ln T) (the source's theorem for SAOCP). Coverage over the whole stream follows in the source only under further conditions, and
//! fails against an adversary who steps outside of the interval: the newest experts take a full step at once, and mixing them
//! gives no balance that must return. Nothing becomes ±∞.
//!
//! Cost: O(g log T) per quantile, six numbers per expert: at step t and g = 8 about 4 log₂ t + 8 experts are active. Allocates as they grow in
//! number.
//!
//! Source: Bhatnagar, Wang, Xiong & Bai 2023, "Improved online conformal prediction via strongly adaptive online learning", algorithm 1;
//! the bets are Jun, Orabona, Wright & Willett 2017. Where we differ: one quantile's loss; a new expert begins at the mean of those
//! before it; gains are held within ±1, which coin betting needs and unbounded scores do not give; late outcomes are
//! booked by the experts of today. D = √3 makes the experts' rate that of `sf_ogd.rs`; g = 8 is the source's.

use serde::{Deserialize, Serialize};

use super::{History, QuantileRule, sf_ogd};
use crate::error::{self, Error, Result, SnapshotError};

/// Losses are differences of pinball losses, which do not change once a score is far outside of all thresholds.
const FAR: f64 = 1e6;
/// Gains below this are rounding: a new expert begins where the others are, and ties with them must not decide who is followed.
const TIE: f64 = 1e-12;
const FIELDS: usize = 6;

/// Options of [`Saocp`].
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `radius` | √3 | D, how far scores lie from thresholds, in probit units | > 0 |
/// | `lifetime` | 8 | g, the lifetime of an expert that begins at an odd step | ≥ 1 |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SaocpOptions {
    /// D, how far scores lie from thresholds, in probit units.
    pub radius: f64,
    /// g, the lifetime of an expert that begins at an odd step.
    pub lifetime: u32,
}

impl Default for SaocpOptions {
    fn default() -> Self {
        SaocpOptions { radius: 3.0_f64.sqrt(), lifetime: 8 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Expert {
    /// i, counted from 1.
    begin: u64,
    threshold: f64,
    squares: f64,
    weight: f64,
    /// Σ G and Σ w G.
    gains: f64,
    bets: f64,
}

/// Strongly adaptive online conformal prediction for one quantile.
#[derive(Debug, Clone, PartialEq)]
pub struct Saocp {
    q: f64,
    radius: f64,
    rate: f64,
    lifetime: u64,
    /// t, the step to be announced, counted from 1.
    step: u64,
    /// The active ones, oldest first; never empty, the last begins at t.
    experts: Vec<Expert>,
}

impl Saocp {
    /// The steps at which the active experts began, oldest first.
    pub fn begins(&self) -> impl Iterator<Item = u64> + '_ {
        self.experts.iter().map(|expert| expert.begin)
    }

    /// Σ p_i θ^i.
    fn mean(&self) -> f64 {
        let (mut sum, mut total, mut prior_sum, mut prior_total) = (0.0, 0.0, 0.0, 0.0);
        for expert in &self.experts {
            let i = expert.begin as f64;
            let prior = 1.0 / (i * i * f64::from(1 + expert.begin.ilog2()));
            let weight = prior * expert.weight.max(0.0);
            sum += weight * expert.threshold;
            total += weight;
            prior_sum += prior * expert.threshold;
            prior_total += prior;
        }
        if total > 0.0 { sum / total } else { prior_sum / prior_total }
    }

    fn begin(&mut self, threshold: f64) {
        let fresh = Expert { begin: self.step, threshold, squares: 0.0, weight: 0.0, gains: 0.0, bets: 0.0 };
        self.experts.push(fresh);
    }
}

impl QuantileRule for Saocp {
    const NAME: &'static str = "saocp";
    type Options = SaocpOptions;

    fn start(options: &SaocpOptions, q: f64, start: f64) -> Result<Self> {
        if options.lifetime == 0 {
            return Err(Error::TooFew { what: "lifetime", least: 1, found: 0 });
        }
        let radius = error::positive("radius", options.radius)?;
        let mut rule = Saocp {
            q: error::inner_probability("quantile", q)?,
            radius,
            rate: radius / 3.0_f64.sqrt(),
            lifetime: u64::from(options.lifetime),
            step: 1,
            experts: Vec::new(),
        };
        rule.begin(error::finite("start", start)?);
        Ok(rule)
    }

    fn threshold(&self, _history: &History) -> f64 {
        self.mean()
    }

    fn settle(&mut self, announced: f64, score: f64, _history: &History) {
        let score = score.clamp(-FAR, FAR);
        let q = self.q;
        let loss = |threshold: f64| (score - threshold) * if score <= threshold { q - 1.0 } else { q };
        let mixed = loss(announced);
        for expert in &mut self.experts {
            let gain = ((mixed - loss(expert.threshold)) / self.radius).clamp(-1.0, 1.0);
            let gain = if gain.abs() < TIE { 0.0 } else { gain };
            let gain = if expert.weight > 0.0 { gain } else { gain.max(0.0) };
            expert.gains += gain;
            expert.bets += expert.weight * gain;
            let age = (self.step - expert.begin + 1) as f64;
            expert.weight = expert.gains * (1.0 + expert.bets) / age;
            let gradient = if score <= expert.threshold { 1.0 - q } else { -q };
            sf_ogd::step(&mut expert.threshold, &mut expert.squares, gradient, self.rate);
        }
        self.step += 1;
        // Those whose life ends here still have a say in where the new one begins.
        let threshold = self.mean();
        let (step, lifetime) = (self.step, self.lifetime);
        self.experts.retain(|expert| step < end(expert.begin, lifetime));
        self.begin(threshold);
    }

    fn state(&self) -> Vec<f64> {
        let mut state = vec![self.step as f64];
        for e in &self.experts {
            state.extend([e.begin as f64, e.threshold, e.squares, e.weight, e.gains, e.bets]);
        }
        state
    }

    fn restore(&mut self, state: &[f64]) -> Result<(), SnapshotError> {
        let invalid = SnapshotError::Invalid {
            field: "saocp",
            rule: "the step and the active experts, in order, six finite numbers each",
        };
        let Some((&step, experts)) = state.split_first() else { return Err(invalid) };
        let (experts, rest) = experts.as_chunks::<FIELDS>();
        if !rest.is_empty() || !state.iter().all(|x| x.is_finite()) || step < 1.0 {
            return Err(invalid);
        }
        let experts: Vec<Expert> = experts
            .iter()
            .map(|&[begin, threshold, squares, weight, gains, bets]| Expert {
                begin: begin as u64,
                threshold,
                squares,
                weight,
                gains,
                bets,
            })
            .collect();
        let step = step as u64;
        let ordered = experts.windows(2).all(|pair| pair[0].begin < pair[1].begin);
        let active =
            experts.iter().all(|e| e.begin >= 1 && step < end(e.begin, self.lifetime) && e.squares >= 0.0);
        if !ordered || !active || experts.last().map(|e| e.begin) != Some(step) {
            return Err(invalid);
        }
        (self.step, self.experts) = (step, experts);
        Ok(())
    }
}

/// The first step at which the expert that began at `begin` is no longer active.
fn end(begin: u64, lifetime: u64) -> u64 {
    begin.saturating_add(lifetime << begin.trailing_zeros().min(31))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The active experts at step t are exactly those with i ≤ t < i + L(i), from the first step on and for every lifetime.
    #[test]
    fn lifetimes_are_right_at_their_ends() {
        for lifetime in [1, 2, 8] {
            let options = SaocpOptions { lifetime, ..SaocpOptions::default() };
            let mut rule = Saocp::start(&options, 0.9, 1.28).unwrap();
            let history = History::new(0, 1.0);
            for t in 1..=600_u64 {
                let length = |i: u64| {
                    u64::from(lifetime)
                        * (1..=i).rev().find(|n| n.is_power_of_two() && i.is_multiple_of(*n)).unwrap()
                };
                let active: Vec<u64> = (1..=t).filter(|&i| t < i + length(i)).collect();
                assert_eq!(rule.begins().collect::<Vec<_>>(), active, "lifetime {lifetime}, step {t}");
                rule.settle(rule.threshold(&history), (t as f64).sin() * 3.0, &history);
            }
        }
    }
}
