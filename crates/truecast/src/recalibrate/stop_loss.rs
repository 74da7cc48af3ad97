//! The stop-loss: what is announced is never behind the base forecast by more than a stated hair, at any time, on any stream.
//!
//! ```text
//! cushion = ε Σ score(F) + ¼ m̄ − ½ lead − Σ [score(G) − score(F)] − Σ_pending d,   not below 0           ε = 0.005
//! m̄ = the largest running mean of the score that F expects of itself;  lead = the largest Σ [score(F) − score(G)] so far, 0 at least
//! D(G, S) = max over y of score(G, y) − score(S, y)
//! S = the base blended towards the map with weight l = min(1, allowed/D),  allowed = cushion/√(1 + m)      m = forecasts pending
//! G = S blended towards the guarded map likewise,                          allowed = ¼ of what is left
//! d = the two worst cases, reserved until the outcome is known
//! ```
//!
//! Guarantee (theorem 1; every stream, every T, any order and delay of the outcomes): over the forecasts A that are settled and P that are pending,
//!
//! ```text
//! Σ_A [score(G) − score(F)] + Σ_P d  ≤  ε Σ_A score(F) + ¼ m̄ − ½ lead
//! ```
//!
//! so the sum is never behind by more than ε of the base's and a quarter of one expected score, and of the largest lead never more than half is
//! given back. Proof in docs/theory.md. Scores are those of `score/form.rs`. Cost: O(1), and that of two worst cases.

use serde::{Deserialize, Serialize};

use crate::error::SnapshotError;
use crate::monitor::CompensatedSum;

/// In units of an expected score: what may be lost before anything is won.
const START: f64 = 0.25;
/// Of the largest lead, so much is never given back.
const KEPT: f64 = 0.5;
/// Of what the map left, so much is for the guard.
pub(crate) const FOR_GUARD: f64 = 0.25;

/// The account of what was won and lost against the base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StopLoss {
    /// ε; infinite where there is no stop-loss, and the account only books.
    share: f64,
    /// Σ score(F) and Σ [score(G) − score(F)] over the outcomes that are known.
    base: CompensatedSum,
    extra: CompensatedSum,
    /// Σ d of the forecasts that are pending, and how many there are.
    reserved: CompensatedSum,
    pending: u64,
    /// Σ expected score of F, over how many forecasts, and the largest mean of it.
    expected: CompensatedSum,
    issued: u64,
    largest_mean: f64,
    lead: f64,
    settled: u64,
    /// Forecasts that were held back, and those on which the guard was.
    held_back: u64,
    guard_held_back: u64,
    furthest: Furthest,
}

/// The moment at which the base was furthest ahead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Furthest {
    /// After so many outcomes.
    pub step: u64,
    /// Σ [score(G) − score(F)].
    pub behind: f64,
    /// Σ score(F).
    pub base: f64,
}

/// What one forecast has cost the account when it was announced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stake {
    /// d, not negative.
    pub(crate) reserved: f64,
    /// The score that the base expects of itself.
    pub(crate) expected: f64,
    /// The weights of the two blends: on the map, and on the guarded map.
    pub(crate) blends: [f64; 2],
}

impl StopLoss {
    pub(crate) fn new(share: Option<f64>) -> Self {
        StopLoss {
            share: share.unwrap_or(f64::MAX),
            base: CompensatedSum::default(),
            extra: CompensatedSum::default(),
            reserved: CompensatedSum::default(),
            pending: 0,
            expected: CompensatedSum::default(),
            issued: 0,
            largest_mean: 0.0,
            lead: 0.0,
            settled: 0,
            held_back: 0,
            guard_held_back: 0,
            furthest: Furthest::default(),
        }
    }

    /// True unless the account only books.
    pub fn binds(&self) -> bool {
        self.share < f64::MAX
    }

    /// ε.
    pub fn share(&self) -> Option<f64> {
        self.binds().then_some(self.share)
    }

    /// Σ score(F) over the outcomes that are known.
    pub fn base(&self) -> f64 {
        self.base.value()
    }

    /// Σ [score(G) − score(F)] over them.
    pub fn extra(&self) -> f64 {
        self.extra.value()
    }

    /// Σ d over the forecasts that are pending.
    pub fn reserved(&self) -> f64 {
        self.reserved.value()
    }

    /// The largest Σ [score(F) − score(G)] so far.
    pub fn lead(&self) -> f64 {
        self.lead
    }

    /// m̄.
    pub fn largest_mean(&self) -> f64 {
        self.largest_mean
    }

    /// How many forecasts are pending.
    pub fn pending(&self) -> u64 {
        self.pending
    }

    /// Outcomes that are known.
    pub fn settled(&self) -> u64 {
        self.settled
    }

    /// Forecasts announced, and how many of them were held back.
    pub fn held_back(&self) -> (u64, u64) {
        (self.issued, self.held_back)
    }

    /// Forecasts on which the guard was held back.
    pub fn guard_held_back(&self) -> u64 {
        self.guard_held_back
    }

    /// When the base was furthest ahead.
    pub fn furthest(&self) -> Furthest {
        self.furthest
    }

    /// ε Σ score(F) + ¼ m̄ − ½ lead: what `extra` and `reserved` together never exceed.
    pub fn bound(&self) -> f64 {
        self.bound_with(self.largest_mean)
    }

    fn bound_with(&self, largest_mean: f64) -> f64 {
        self.share * self.base() + START * largest_mean - KEPT * self.lead
    }

    /// What the next forecast, of this expected score, may lose at most, and its worst case as a part of that: the cushion and 1/√(1 + m).
    pub(crate) fn cushion(&self, expected: f64) -> f64 {
        if !self.binds() {
            return f64::INFINITY;
        }
        (self.bound_with(self.mean_with(expected)) - self.extra() - self.reserved()).max(0.0)
    }

    /// The part of the cushion that the map may take.
    pub(crate) fn part(&self) -> f64 {
        1.0 / ((1 + self.pending) as f64).sqrt()
    }

    /// m̄ with one more forecast.
    fn mean_with(&self, expected: f64) -> f64 {
        self.largest_mean.max((self.expected.value() + expected) / (self.issued + 1) as f64)
    }

    /// A forecast is announced.
    pub(crate) fn announce(&mut self, stake: &Stake) {
        let held = cfg!(debug_assertions) && self.holds();
        self.largest_mean = self.mean_with(stake.expected);
        self.expected.add(stake.expected);
        self.issued += 1;
        self.pending += 1;
        self.reserved.add(stake.reserved);
        self.held_back += u64::from(stake.blends[0] < 1.0);
        self.guard_held_back += u64::from(stake.blends[1] < 1.0);
        // Only bytes that were tampered with can have broken it before.
        debug_assert!(!held || self.holds(), "{self:?}");
    }

    /// Its outcome will never come.
    pub(crate) fn expire(&mut self, stake: &Stake) {
        self.pending = self.pending.saturating_sub(1);
        if self.pending == 0 {
            self.reserved = CompensatedSum::default();
        } else {
            self.reserved.add(-stake.reserved);
        }
    }

    /// Its outcome is known: the scores of F and of G.
    pub(crate) fn settle(&mut self, stake: &Stake, base: f64, announced: f64) {
        self.expire(stake);
        self.base.add(base);
        self.extra.add(announced - base);
        self.settled += 1;
        let extra = self.extra();
        self.lead = self.lead.max(-extra);
        if extra > self.furthest.behind {
            self.furthest = Furthest { step: self.settled, behind: extra, base: self.base() };
        }
    }

    /// Theorem 1, up to rounding.
    pub(crate) fn holds(&self) -> bool {
        let bound = self.bound();
        !self.binds() || self.extra() + self.reserved() <= bound + 1e-9 * (self.base() + self.largest_mean)
    }

    pub(crate) fn validate(&self, share: Option<f64>) -> Result<(), SnapshotError> {
        let sizes =
            [self.share, self.base(), self.reserved(), self.expected.value(), self.largest_mean, self.lead];
        let finite = sizes.iter().all(|x| *x >= 0.0 && x.is_finite()) && self.extra().is_finite();
        let counts =
            self.settled <= self.issued && self.pending <= self.issued - self.settled.min(self.issued);
        let rule = "finite sums of as many forecasts as were issued, within what may be lost";
        if finite && counts && self.share() == share && self.holds() {
            Ok(())
        } else {
            Err(SnapshotError::Invalid { field: "stop-loss", rule })
        }
    }
}
