//! The ledgers: one deterministic binary forecaster per level, held to several promises at once.
//!
//! Ledger g gives each step and level a weight w_g ≥ 0 that is known before the outcome, and keeps for each play i the balance
//!
//! ```text
//! L_gji = Σ_t w_g τ_i(p)(o − p)      A_gj = Σ_t w_g²      Q_gj = Σ_t w_g (p − u_j)²      W_gj = Σ_t w_g
//! S_i   = Σ_g (w_g / A_gj) L_gji + κ (u_j − v_i)/(n + 1)          A already counts this step
//! play  = a root of the piecewise linear function through (v_i, S_i), found by walking from the last play
//! ```
//!
//! Guarantees on every stream, with no probability attached (proofs in docs/theory.md):
//!
//! - the potential Ψ_j = Σ_g ‖L_gj‖²/A_gj of each level stays below B_j, booked step by step as
//!   B ← ρ B + Σ_g w²/A (o−p)²((1−a)²+a²) − 2κ(u−p)(o−p)/(n+1), ρ the largest share of A that is old;
//! - Σ_t w[(p−o)² − (u−o)²] = −2 Σ_i (v_i − u) L_i − Q, exactly.
//!
//! Where a play is not a root when its outcome is booked (late outcomes, randomised rounding), the cross term
//! 2(o−p) Σ_g (w/A)⟨L_g, τ(p)⟩ takes the place of the prior's, so B stays a bound.
//!
//! A half-life multiplies the weights of step t by γ^−t, γ = 2^(−1/half-life), and rescales before they overflow: discounting is
//! only another choice of weights, and both facts hold for it as they are. Cost: O(M) per step and ledger, about one comparison a level.

mod facts;
mod saved;

use std::sync::Arc;

use super::{Expert, Occasion, Told};
use crate::grid::{Levels, Plays};
use crate::random;
use crate::recalibrate::{LedgerKind, Parameters};
use crate::subroutine::{Play, find_root};

/// Beyond this inflation the state is rescaled.
const LARGEST_INFLATION: f64 = 1e9;
/// A sum of squares that has been discounted to less than this is forgotten before its balances are.
const SMALLEST_SQUARE: f64 = 1e-290;

/// The balances of every ledger at every level.
#[derive(Debug, Clone, PartialEq)]
pub struct Ledgers {
    levels: Arc<Levels>,
    plays: Arc<Plays>,
    kinds: Vec<LedgerKind>,
    prior: f64,
    /// Plays are rounded to the grid by coins of this key.
    coins: Option<u64>,
    /// γ, the factor by which an outcome's weight shrinks with each later one; 1 without a half-life.
    decay: f64,
    /// γ^−t relative to the last rescaling: what the weights of the next step are multiplied by.
    inflation: f64,
    /// Outcomes settled.
    steps: u64,
    /// Σ γ^(age) over the settled outcomes; the number of outcomes without a half-life.
    effective: f64,
    /// Where each level's walk starts: the play whose outcome was settled last.
    last: Vec<(u32, f64)>,
    /// B_j.
    bounds: Vec<f64>,
    /// Level by level, and there ledger by ledger.
    books: Vec<Book>,
}

/// What one ledger has booked at one level.
#[derive(Debug, Clone, PartialEq)]
struct Book {
    balances: Vec<f64>,
    /// A, W and Q.
    square: f64,
    total: f64,
    shift: f64,
}

impl Ledgers {
    pub(crate) fn start(parameters: &Parameters) -> Self {
        let (levels, plays) = (parameters.levels.clone(), parameters.plays.clone());
        let empty = Book { balances: vec![0.0; plays.values().len()], square: 0.0, total: 0.0, shift: 0.0 };
        let locate = |&u: &f64| plays.locate(u);
        Ledgers {
            decay: parameters.half_life.map_or(1.0, |outcomes| libm::exp2(-1.0 / outcomes)),
            inflation: 1.0,
            steps: 0,
            effective: 0.0,
            last: levels.probabilities().iter().map(locate).map(|(cell, a)| (cell as u32, a)).collect(),
            bounds: vec![0.0; levels.count()],
            books: vec![empty; levels.count() * parameters.ledgers.len()],
            kinds: parameters.ledgers.clone(),
            prior: parameters.prior,
            coins: parameters.randomised.then_some(parameters.seed),
            levels,
            plays,
        }
    }

    /// Outcomes settled so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What the ledgers stand for, in order.
    pub fn kinds(&self) -> &[LedgerKind] {
        &self.kinds
    }

    pub(crate) fn levels(&self) -> &Levels {
        &self.levels
    }

    pub(crate) fn plays(&self) -> &Plays {
        &self.plays
    }

    /// κ/(n + 1): how strongly the prior pulls a play towards the base.
    fn pull(&self) -> f64 {
        self.prior / (self.effective + 1.0)
    }

    fn at(&self, level: usize) -> &[Book] {
        &self.books[level * self.kinds.len()..][..self.kinds.len()]
    }

    /// The play at a level.
    fn play(&self, level: usize, weights: &Weights<'_>) -> Play {
        let (v, u, pull) = (self.plays.values(), self.levels.probabilities()[level], self.pull());
        let books = self.at(level);
        let ratio = |book: &Book, w: f64| {
            let square = book.square + w * w;
            if square > 0.0 { w / square } else { 0.0 }
        };
        // w/A does not change along the walk; of the usual two it is taken once.
        let mut taken = [0.0; 2];
        if let [a, b] = books {
            let mut w = weights.of(&self.kinds);
            taken = [ratio(a, w.next().unwrap_or(0.0)), ratio(b, w.next().unwrap_or(0.0))];
        }
        let balance = |i: usize| {
            let owed = match books {
                [a, b] => taken[0] * a.balances[i] + taken[1] * b.balances[i],
                books => {
                    books.iter().zip(weights.of(&self.kinds)).map(|(b, w)| ratio(b, w) * b.balances[i]).sum()
                }
            };
            owed + pull * (u - v[i])
        };
        let (cell, fraction) = self.last[level];
        let start = (cell as usize, fraction);
        let ends = (balance(start.0), balance(start.0 + 1));
        let (cell, fraction) = find_root(self.plays.intervals(), start, ends, balance);
        Play::new(&self.plays, cell, fraction)
    }

    /// Books one outcome at one level.
    fn book(&mut self, level: usize, told: &Told<'_>) {
        let (cell, a) = (told.memo[2 * level] as usize, told.memo[2 * level + 1]);
        let (p, u, happened) = (told.said[level], self.levels.probabilities()[level], told.happened(level));
        let (error, pull, late) = (happened - p, self.pull(), told.late || self.coins.is_some());
        let weights = Weights::at(level, self.levels.count(), told.widths, told.memo, self.inflation);
        let count = self.kinds.len();
        let (mut growth, mut cross, mut kept) = (0.0, 0.0, None);
        let books = &mut self.books[level * count..][..count];
        for (book, w) in books.iter_mut().zip(weights.of(&self.kinds)) {
            let before = book.square;
            book.square += w * w;
            let share = if w > 0.0 { w * (w / book.square) } else { 0.0 };
            growth += share;
            let low = &mut book.balances[cell..cell + 2];
            if late && w > 0.0 {
                cross += w / book.square * ((1.0 - a) * low[0] + a * low[1]);
            }
            // A ledger that has never had weight holds nothing that could be kept.
            if before > 0.0 {
                kept = Some(kept.map_or(1.0 - share, |kept: f64| kept.max(1.0 - share)));
            }
            book.total += w;
            book.shift += w * (p - u) * (p - u);
            low[0] += w * (1.0 - a) * error;
            low[1] += w * a * error;
        }
        let cross = if late { 2.0 * error * cross } else { -2.0 * pull * (u - p) * error };
        let spread = (1.0 - a) * (1.0 - a) + a * a;
        let bound = &mut self.bounds[level];
        *bound = kept.unwrap_or(1.0) * *bound + growth * error * error * spread + cross;
    }

    /// One more outcome has been settled: with a half-life, all earlier ones count less.
    fn age(&mut self) {
        self.steps += 1;
        self.effective = self.effective * self.decay + 1.0;
        self.inflation /= self.decay;
        if self.inflation > LARGEST_INFLATION {
            self.rescale();
        }
    }

    /// Divides every weight by the inflation. Potential, plays and errors do not change.
    fn rescale(&mut self) {
        let factor = 1.0 / self.inflation;
        for book in &mut self.books {
            book.square *= factor * factor;
            // A level whose weights are all but forgotten is forgotten as a whole: A would underflow before L does.
            let factor = if book.square < SMALLEST_SQUARE { 0.0 } else { factor };
            book.square *= if factor > 0.0 { 1.0 } else { 0.0 };
            book.balances.iter_mut().for_each(|balance| *balance *= factor);
            (book.total, book.shift) = (book.total * factor, book.shift * factor);
        }
        self.inflation = 1.0;
    }
}

/// As many as there may be: two, and one for each group and threshold.
pub(crate) const MOST_LEDGERS: usize = 128;

impl Expert for Ledgers {
    fn say(&self, occasion: &Occasion<'_>, said: &mut [f64], memo: &mut Vec<f64>) {
        let count = self.levels.count();
        memo.resize(2 * count, 0.0);
        for kind in &self.kinds {
            match *kind {
                LedgerKind::Group(group) => memo.push(f64::from(u8::from(occasion.groups.contains(group)))),
                LedgerKind::Threshold(y) => {
                    let first = memo.len();
                    memo.resize(first + count, 0.0);
                    tent(self.levels.probits(), occasion.forecast.probit(y), &mut memo[first..]);
                }
                LedgerKind::Uniform | LedgerKind::Crps => {}
            }
        }
        for level in 0..count {
            let weights = Weights::at(level, count, occasion.widths, memo, self.inflation);
            let mut play = self.play(level, &weights);
            if let Some(seed) = self.coins {
                play = play.rounded(&self.plays, random::uniform(seed, occasion.step, level as u32));
            }
            said[level] = play.probability;
            (memo[2 * level], memo[2 * level + 1]) = (f64::from(play.cell), play.fraction);
        }
    }

    fn learn(&mut self, told: &Told<'_>) {
        for level in 0..self.levels.count() {
            self.book(level, told);
            self.last[level] = (told.memo[2 * level] as u32, told.memo[2 * level + 1]);
        }
        self.age();
    }

    fn memo_length(&self) -> usize {
        let count = self.levels.count();
        let extra = self.kinds.iter().map(|kind| match kind {
            LedgerKind::Group(_) => 1,
            LedgerKind::Threshold(_) => count,
            LedgerKind::Uniform | LedgerKind::Crps => 0,
        });
        2 * count + extra.sum::<usize>()
    }

    fn accepts(&self, memo: &[f64]) -> bool {
        let (plays, extra) = memo.split_at(2 * self.levels.count());
        let intervals = self.plays.intervals() as f64;
        let on_grid = plays.chunks_exact(2).all(|play| {
            play[0].fract() == 0.0 && (0.0..intervals).contains(&play[0]) && (0.0..=1.0).contains(&play[1])
        });
        on_grid && extra.iter().all(|weight| (0.0..=1.0).contains(weight))
    }

    fn is_valid(&self) -> bool {
        let plays = self.plays.intervals();
        let last = self.last.iter().all(|(cell, a)| (*cell as usize) < plays && (0.0..=1.0).contains(a));
        let size = |x: f64| x >= 0.0 && x.is_finite();
        let books = self.books.iter().all(|book| {
            let sums = [book.square, book.total, book.shift].into_iter().all(size);
            sums && book.balances.iter().all(|balance| balance.is_finite())
        });
        let counts = self.inflation >= 1.0 && self.inflation.is_finite() && size(self.effective);
        last && books && counts && self.bounds.iter().all(|bound| bound.is_finite())
    }
}

/// What the ledgers weigh one level with.
struct Weights<'a> {
    level: usize,
    count: usize,
    width: f64,
    /// Of groups, one number, and of thresholds, one for each level.
    extra: &'a [f64],
    inflation: f64,
}

impl<'a> Weights<'a> {
    fn at(level: usize, count: usize, widths: &[f64], memo: &'a [f64], inflation: f64) -> Self {
        let width = widths.get(level).copied().unwrap_or(0.0);
        Weights { level, count, width, extra: &memo[2 * count..], inflation }
    }

    /// In the order of the ledgers.
    fn of<'b>(&'b self, kinds: &'b [LedgerKind]) -> impl Iterator<Item = f64> + 'b {
        let mut next = 0;
        kinds.iter().map(move |kind| {
            let weight = match kind {
                LedgerKind::Uniform => 1.0,
                LedgerKind::Crps => self.width,
                LedgerKind::Group(_) => {
                    next += 1;
                    self.extra[next - 1]
                }
                LedgerKind::Threshold(_) => {
                    next += self.count;
                    self.extra[next - self.count + self.level]
                }
            };
            weight * self.inflation
        })
    }
}

/// Linear interpolation weights of `z` on the levels; all on the outer level beyond them.
fn tent(levels: &[f64], z: f64, weights: &mut [f64]) {
    match levels.partition_point(|&level| level <= z) {
        0 => weights[0] = 1.0,
        j if j == levels.len() => weights[j - 1] = 1.0,
        j => {
            let fraction = (z - levels[j - 1]) / (levels[j] - levels[j - 1]);
            (weights[j - 1], weights[j]) = (1.0 - fraction, fraction);
        }
    }
}
