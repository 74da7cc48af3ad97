//! Calibration by internal regret: after the fact, no play should have been swapped for another one.
//!
//! Guarantee, on every sequence whose next outcome does not know the next coin, with K = N(N+1) ordered pairs of plays:
//!
//! ```text
//! fixed rate η        max_ij R_ij ≤ ln K / η + η T/8               best at η = √(8 ln K / T): √(T ln K / 2)
//! anytime rate        max_ij R_ij ≤ √(T ln K)                      η_t = 2 √(ln K / t)
//! calibration         Σ_i n_i/T (v_i − s_i/n_i)² ≤ h²/4 + (N+1) max_ij R_ij / T
//! ```
//!
//! with no probability attached, since n and s count a play by its probability; the last line is arithmetic, h the largest gap of the play
//! grid. The plays that are drawn differ from it by √((N+1)/T) in ℓ1 at most, in mean. At the authors' η = 5 the first line reads 0.6 T: that rate learns fast,
//! and no theorem known to us explains it.
//!
//! ```text
//! n_i = Σ_t q_ti,  s_i = Σ_t q_ti o_t
//! R_ij = Σ_t q_ti [(v_i − o)² − (v_j − o)²] = (v_i − v_j)((v_i + v_j) n_i − 2 s_i)
//! w_ij = exp(η R_ij)
//! play i with probability q_i, where q_i Σ_j w_ij = Σ_j q_j w_ji for all i
//! ```
//!
//! Cost: O(N³) when settling, 6 µs at N = 20, and O(N) to announce; nothing is allocated up to N = 32. Memory: 2(N + 1) sums
//! are all that it learns from, N + 1 more tell the calibration error of what was announced.
//!
//! q is found by the elimination of Grassmann, Taksar & Heyman (1985), which never subtracts, so every q_i is right to some
//! ulps relative to itself. Weights below 1e-140 of the largest are raised to that: it keeps the chain connected in doubles,
//! and costs K·T·1e-140 in the bound, because only Σ_ij w_ij q_i (l_i − l_j) relative to Σ_ij w_ij enters it.
//!
//! Settling books q and not the play, as in the book; q is the one in force when the outcome is settled. If outcomes come late, that
//! is not the q which was drawn from, and the guarantee speaks of the order of settling. To book the announced play instead would
//! keep the guarantee for draws, at four times the rate's share, and lose it for [`expected`](Subroutine::expected): its
//! two neighbours are no stationary distribution, and the rule was measured to get stuck. `expected` announces the mean Σ q_i v_i:
//! its squared loss is at most that of the draws in mean, its own calibration is measured, not proven.
//!
//! Sources: Foster & Vohra (1998), "Asymptotic calibration"; Cesa-Bianchi & Lugosi (2006), "Prediction, Learning, and Games",
//! sections 4.4 and 4.5. Where we differ: the first play is the base probability (which adds 1 to the bounds on R), and a prior may
//! hold later ones near it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Play, Subroutine, split_state};
use crate::error::{self, Result, SnapshotError};
use crate::grid::Plays;

/// How strongly regrets move the plays.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum LearningRate {
    /// The same η at each step. For a horizon T that is known, √(8 ln(N(N+1))/T) is the best in the bound.
    Fixed(f64),
    /// η_t = 2 √(ln(N(N+1))/t): no horizon, a guarantee at every step.
    Anytime,
}

/// What can be chosen about [`InternalRegret`].
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `rate` | `Fixed(5.0)`, what the authors ran | the learning rate η | > 0 |
/// | `prior` | 0 | observations at the base probability that each play begins with; adds at most 2 prior to the bound | ≥ 0 |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct InternalRegretOptions {
    /// The learning rate.
    pub rate: LearningRate,
    /// For how many observations of each play the base probability counts.
    pub prior: f64,
}

impl Default for InternalRegretOptions {
    fn default() -> Self {
        InternalRegretOptions { rate: LearningRate::Fixed(5.0), prior: 0.0 }
    }
}

/// Internal-regret minimisation for one event.
#[derive(Debug, Clone, PartialEq)]
pub struct InternalRegret {
    options: InternalRegretOptions,
    plays: Arc<Plays>,
    base: f64,
    /// n_i.
    counts: Vec<f64>,
    /// s_i.
    events: Vec<f64>,
    /// Σ_t 1{play i} (o − v_i), for the calibration error alone.
    balances: Vec<f64>,
    steps: u64,
    /// q_i, a function of all the above.
    distribution: Vec<f64>,
}

/// Weights below this share of the largest are raised to it. Products of two such are still normal numbers, which are fast.
const LEAST_WEIGHT: f64 = 1e-140;
/// ln of that, rounded down: below it no exponential needs to be computed.
const LEAST_EXPONENT: f64 = -323.0;
/// Plays up to which the weights fit on the stack.
const STACK_PLAYS: usize = 33;

impl InternalRegret {
    /// The distribution q that the next play is drawn from.
    pub fn distribution(&self) -> &[f64] {
        &self.distribution
    }

    /// R_ij: what would have been gained in squared loss by playing v_j wherever v_i was played.
    pub fn swap_regret(&self, i: usize, j: usize) -> f64 {
        regret(self.plays.values(), i, j, self.counts[i], self.events[i])
    }

    /// max_ij R_ij, the internal regret; never below 0.
    pub fn internal_regret(&self) -> f64 {
        let count = self.counts.len();
        (0..count * count).map(|k| self.swap_regret(k / count, k % count)).fold(0.0, f64::max)
    }

    /// η for the next play.
    fn rate(&self) -> f64 {
        match self.options.rate {
            LearningRate::Fixed(rate) => rate,
            LearningRate::Anytime => {
                let pairs = (self.counts.len() * (self.counts.len() - 1)) as f64;
                2.0 * (libm::log(pairs) / (self.steps + 1) as f64).sqrt()
            }
        }
    }

    /// Computes q.
    fn refresh(&mut self) {
        let count = self.counts.len();
        if self.steps == 0 {
            let (cell, fraction) = self.plays.locate(self.base);
            self.distribution.fill(0.0);
            (self.distribution[cell], self.distribution[cell + 1]) = (1.0 - fraction, fraction);
        } else if count <= STACK_PLAYS {
            self.solve(&mut [0.0; STACK_PLAYS * STACK_PLAYS][..count * count]);
        } else {
            self.solve(&mut vec![0.0; count * count]);
        }
    }

    /// Computes q, given room for the weights.
    fn solve(&mut self, weights: &mut [f64]) {
        let (v, rate, prior) = (self.plays.values(), self.rate(), self.options.prior);
        let count = v.len();
        let mut largest = f64::NEG_INFINITY;
        for (i, row) in weights.chunks_exact_mut(count).enumerate() {
            let (n, s) = (self.counts[i] + prior, self.events[i] + prior * self.base);
            for (j, weight) in row.iter_mut().enumerate() {
                *weight = rate * regret(v, i, j, n, s);
                // A play is no swap for itself: the diagonal is never read below.
                largest = if i == j { largest } else { largest.max(*weight) };
            }
        }
        for weight in weights.iter_mut() {
            let exponent = *weight - largest;
            *weight = if exponent < LEAST_EXPONENT { 0.0 } else { libm::exp(exponent) }.max(LEAST_WEIGHT);
        }
        stationary(weights, &mut self.distribution);
    }
}

/// R_ij of a play i that was made n times, s of them with the event.
#[inline]
fn regret(v: &[f64], i: usize, j: usize, n: f64, s: f64) -> f64 {
    (v[i] - v[j]) * ((v[i] + v[j]) * n - 2.0 * s)
}

/// The stationary distribution of the chain with these rates (row by row, all positive; the diagonal is ignored).
///
/// States leave from the last one on, and their traffic is passed on to those that stay: sums, products and quotients of
/// positive numbers only. Since every rate is at least 1e-140 of the largest, so is every q_i, up to a factor N.
fn stationary(rates: &mut [f64], q: &mut [f64]) {
    let count = q.len();
    for k in (1..count).rev() {
        let (staying, leaving) = rates.split_at_mut(k * count);
        let leaving = &leaving[..k];
        let total = leaving.iter().sum::<f64>();
        for row in staying.chunks_exact_mut(count) {
            let share = row[k] / total;
            row[k] = share;
            for (rate, onward) in row[..k].iter_mut().zip(leaving) {
                *rate += share * onward;
            }
        }
    }
    q[0] = 1.0;
    for k in 1..count {
        q[k] = (0..k).map(|i| q[i] * rates[i * count + k]).sum();
    }
    let total = q.iter().sum::<f64>();
    q.iter_mut().for_each(|share| *share /= total);
}

impl Subroutine for InternalRegret {
    const NAME: &'static str = "internal-regret";

    type Options = InternalRegretOptions;

    fn start(options: &InternalRegretOptions, plays: Arc<Plays>, base: f64) -> Result<Self> {
        error::probability("base probability", base)?;
        error::not_negative("prior", options.prior)?;
        if let LearningRate::Fixed(rate) = options.rate {
            error::positive("learning rate", rate)?;
        }
        let zeros = vec![0.0; plays.values().len()];
        let (counts, events, balances, distribution) = (zeros.clone(), zeros.clone(), zeros.clone(), zeros);
        let options = *options;
        let mut start =
            InternalRegret { options, plays, base, counts, events, balances, steps: 0, distribution };
        start.refresh();
        Ok(start)
    }

    fn plays(&self) -> &Plays {
        &self.plays
    }

    fn expected(&self) -> Play {
        let mean = self.plays.values().iter().zip(&self.distribution).map(|(v, q)| v * q).sum::<f64>();
        // A rounded sum may pass 1 by an ulp.
        Play::at(&self.plays, if self.steps == 0 { self.base } else { mean.min(1.0) })
    }

    fn draw(&self, draw: f64) -> Play {
        let mut below = 0.0;
        let last = self.plays.intervals();
        let chosen = self.distribution.iter().position(|q| {
            below += q;
            draw < below
        });
        // Rounded sums may end below 1: a draw beyond them belongs to the last play.
        match chosen.unwrap_or(last) {
            i if i == last => Play::new(&self.plays, last - 1, 1.0),
            i => Play::new(&self.plays, i, 0.0),
        }
    }

    fn settle(&mut self, play: Play, happened: bool) {
        for (i, q) in self.distribution.iter().enumerate() {
            self.counts[i] += q;
            self.events[i] += if happened { *q } else { 0.0 };
        }
        let (outcome, cell, v) = (f64::from(u8::from(happened)), play.cell as usize, self.plays.values());
        self.balances[cell] += (1.0 - play.fraction) * (outcome - v[cell]);
        self.balances[cell + 1] += play.fraction * (outcome - v[cell + 1]);
        self.steps += 1;
        self.refresh();
    }

    fn state(&self) -> Vec<f64> {
        let sums = self.counts.iter().chain(&self.events).chain(&self.balances);
        sums.copied().chain([self.steps as f64]).collect()
    }

    fn restore(&mut self, state: &[f64]) -> Result<(), SnapshotError> {
        let count = self.counts.len();
        let (sums, [steps]) = split_state(state, 3 * count)?;
        let (counts, rest) = sums.split_at(count);
        let (events, balances) = rest.split_at(count);
        let ordered = counts.iter().zip(events).all(|(n, s)| (0.0..=*n).contains(s));
        // Probabilities add up to 1, each sum rounded at each step: relative 1e-9 is far beyond that.
        let complete = (counts.iter().sum::<f64>() - steps).abs() <= 1e-9 * steps;
        if !ordered || !complete {
            let rule = "no more events than plays, as many plays as steps";
            return Err(SnapshotError::Invalid { field: "internal regret", rule });
        }
        self.counts.copy_from_slice(counts);
        self.events.copy_from_slice(events);
        self.balances.copy_from_slice(balances);
        self.steps = steps as u64;
        self.refresh();
        Ok(())
    }

    fn calibration_error(&self) -> f64 {
        self.balances.iter().map(|balance| balance.abs()).sum::<f64>() / self.steps.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// q W = 0 to rounding, entry by entry, for weights over the whole range that is allowed.
    #[test]
    fn stationary_distributions_balance_every_play() {
        for (case, span) in [0.0, 1.0, 30.0, 460.0].into_iter().enumerate() {
            for count in [2, 3, 21, 40] {
                let draw = |k: usize| crate::random::uniform(case as u64, k as u64, count as u32);
                let rates: Vec<f64> =
                    (0..count * count).map(|k| libm::exp(-span * draw(k)).max(LEAST_WEIGHT)).collect();
                let mut q = vec![0.0; count];
                stationary(&mut rates.clone(), &mut q);
                assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-14);
                for i in 0..count {
                    let others = (0..count).filter(|j| *j != i);
                    let (out, into) = others.fold((0.0, 0.0), |(out, into), j| {
                        (out + q[i] * rates[i * count + j], into + q[j] * rates[j * count + i])
                    });
                    // Relative to the entry itself: no more than 3 operations per eliminated play, an ulp each.
                    assert!((out - into).abs() <= 1e-13 * into, "{span} {count} {i}: {out:e} {into:e}");
                }
            }
        }
    }

    #[test]
    fn counts_that_do_not_add_up_are_refused() {
        let plays = Arc::new(Plays::uniform(4).unwrap());
        let mut subroutine = InternalRegret::start(&Default::default(), plays, 0.5).unwrap();
        let invalid = SnapshotError::Invalid {
            field: "internal regret",
            rule: "no more events than plays, as many plays as steps",
        };
        let state = |counts: [f64; 5], events: [f64; 5], steps: f64| {
            [&counts[..], &events, &[0.0; 5], &[steps]].concat()
        };
        let counts = [0.0, 1.0, 2.0, 0.5, 0.5];
        for wrong in [
            state(counts, [0.0; 5], 5.0),
            state(counts, [0.0, 1.5, 0.0, 0.0, 0.0], 4.0),
            state([0.0, -1.0, 4.0, 0.5, 0.5], [0.0; 5], 4.0),
        ] {
            assert_eq!(subroutine.restore(&wrong), Err(invalid.clone()));
        }
        assert_eq!(subroutine.restore(&state(counts, counts, 4.0)), Ok(()));
    }
}
