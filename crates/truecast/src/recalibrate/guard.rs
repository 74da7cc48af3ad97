//! The paired guard: keeps the coverage of central intervals within a budget of order √n.
//!
//! Calibrated levels do not yet make an 80 % interval cover 80 %: an adversary who sees the interval and steps just outside
//! beats them completely. The guard is a second monotone map behind the one that was learned:
//!
//! ```text
//! tails q_k = .45 .4 … .05 .025 .01 .005 .001      t_k = Φ⁻¹(1 − q_k)      a_k = Σ 1{covered} − (1 − 2q_k)      e_k = a_k/2
//! b_k = 2 √(q_k(1 − q_k)(n + 25)) + 1 + m          m = forecasts pending
//! value of a block of neighbours = mean t − .3 x/(1 − x²),  x = Σe/Σb held in ±.999;  pool while value(left) > value(right)
//! h_k = value of k's block, held in [0, 8]
//! ```
//!
//! The guarded forecast has its quantiles ±t_k where the other has ±h_k: straight in between, parallel beyond.
//!
//! Guarantee (theorem 3): while the stop-loss does not hold it back, and outcomes score less than 8 under the other forecast, every balance stays within
//! its budgets, with no probability attached: the 80 % interval is within 2.3 points of 80 % after 3,000 outcomes. Proof in docs/theory.md.
//! It is paired: single quantiles are left to the experts, since a promise on each side costs accuracy wherever a bias comes and goes.
//! Cost: O(K + knots); K + 1 numbers.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::Curve;
use crate::error::SnapshotError;
use crate::normal;

/// How many intervals are guarded.
pub(crate) const INTERVALS: usize = 13;
/// What lies outside of each on one side.
const TAILS: [f64; INTERVALS] = [0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05, 0.025, 0.01, 0.005, 0.001];
const STRENGTH: f64 = 0.3;
const SLACK: f64 = 25.0;
const LIMIT: f64 = 0.999;
/// How far out an interval can be pushed, in probit units: an outcome between the outer levels scores 7.04 at most.
const REACH: f64 = 8.0;

/// One number for each interval.
pub(crate) type Intervals = [f64; INTERVALS];

/// t_k.
pub(crate) static ENDS: LazyLock<Intervals> = LazyLock::new(|| TAILS.map(|q| -normal::quantile(q)));

/// 2 √(q (1 − q)).
static ROOTS: LazyLock<Intervals> = LazyLock::new(|| TAILS.map(|q| 2.0 * (q * (1.0 - q)).sqrt()));

/// The balances of the guarded intervals.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Guard {
    balances: Intervals,
    steps: u64,
}

impl Guard {
    /// 1 − 2q_k: what the intervals should cover.
    pub fn coverages() -> impl Iterator<Item = f64> {
        TAILS.iter().map(|q| 1.0 - 2.0 * q)
    }

    /// a_k: how often interval k covered, less how often it should have.
    pub fn balances(&self) -> &[f64] {
        &self.balances
    }

    /// b_k: e_k = a_k/2 is kept within this, and half of one.
    pub fn budgets(&self) -> impl Iterator<Item = f64> + '_ {
        let root = self.root();
        ROOTS.iter().map(move |b| b * root + 1.0)
    }

    /// Outcomes so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    fn root(&self) -> f64 {
        (self.steps as f64 + SLACK).sqrt()
    }

    /// h_k: where the quantiles ±t_k go, while so many forecasts are pending.
    pub(crate) fn places(&self, pending: u64) -> Intervals {
        struct Block {
            error: f64,
            budget: f64,
            ends: f64,
            count: f64,
            value: f64,
        }
        let value = |error: f64, budget: f64, ends: f64, count: f64| {
            let x = (error / budget).clamp(-LIMIT, LIMIT);
            ends / count - STRENGTH * x / (1.0 - x * x)
        };
        let mut blocks: [Block; INTERVALS] =
            std::array::from_fn(|_| Block { error: 0.0, budget: 0.0, ends: 0.0, count: 0.0, value: 0.0 });
        let mut used = 0;
        for (k, (budget, end)) in self.budgets().zip(*ENDS).enumerate() {
            let (mut error, mut budget, mut ends, mut count) =
                (0.5 * self.balances[k], budget + pending as f64, end, 1.0);
            let mut here = value(error, budget, ends, count);
            while used > 0 && blocks[used - 1].value > here {
                used -= 1;
                let last = &blocks[used];
                error += last.error;
                budget += last.budget;
                ends += last.ends;
                count += last.count;
                here = value(error, budget, ends, count);
            }
            blocks[used] = Block { error, budget, ends, count, value: here };
            used += 1;
        }
        let mut places = [0.0; INTERVALS];
        let mut next = 0;
        for block in &blocks[..used] {
            let end = next + block.count as usize;
            places[next..end].fill(block.value.clamp(0.0, REACH));
            next = end;
        }
        places
    }

    /// Counts an outcome: whether each interval covered it. Where the stop-loss held the guard back it does not wind up.
    pub(crate) fn learn(&mut self, covered: impl Iterator<Item = bool>, held_back: bool) {
        let root = self.root();
        for ((balance, covered), (q, b)) in
            self.balances.iter_mut().zip(covered).zip(TAILS.iter().zip(&*ROOTS))
        {
            *balance += f64::from(u8::from(covered)) - (1.0 - 2.0 * q);
            if held_back {
                let most = 2.0 * (b * root + 1.0);
                *balance = balance.clamp(-most, most);
            }
        }
        self.steps += 1;
    }

    pub(crate) fn validate(&self) -> Result<(), SnapshotError> {
        let possible = self.balances.iter().all(|a| a.abs() <= self.steps as f64);
        if possible {
            Ok(())
        } else {
            Err(SnapshotError::Invalid { field: "guard", rule: "balances that its outcomes can have made" })
        }
    }
}

/// The odd function through (from_k, to_k), parallel beyond them.
pub(crate) fn odd(x: f64, from: &Intervals, to: &Intervals) -> f64 {
    let size = x.abs();
    let y = match from.partition_point(|&f| f <= size) {
        INTERVALS => to[INTERVALS - 1] + (size - from[INTERVALS - 1]),
        i => {
            let (a, b) = if i == 0 { (0.0, 0.0) } else { (from[i - 1], to[i - 1]) };
            b + (to[i] - b) * (size - a) / (from[i] - a)
        }
    };
    if x > 0.0 { y } else { -y }
}

/// `s` with its quantiles ±t_k where it has ±h_k. `ends` becomes the places of −t_13 … −t_1, t_1 … t_13.
pub(crate) fn guarded(s: &Curve, h: &Intervals, ends: &mut [f64; 2 * INTERVALS], out: &mut Curve) {
    let t = &*ENDS;
    for k in 0..INTERVALS {
        ends[INTERVALS - 1 - k] = s.place(-h[k]);
        ends[INTERVALS + k] = s.place(h[k]);
    }
    let inner = |b: usize| if b < INTERVALS { -t[INTERVALS - 1 - b] } else { t[b - INTERVALS] };
    let (left, right) = s.slopes();
    out.start(left, right);
    let mut b = 0;
    for (&z, &level) in s.places().iter().zip(s.levels()) {
        while b < ends.len() && ends[b] < z {
            out.push(ends[b], inner(b));
            b += 1;
        }
        out.push(z, odd(level, h, t));
    }
    for b in b..ends.len() {
        out.push(ends[b], inner(b));
    }
}
