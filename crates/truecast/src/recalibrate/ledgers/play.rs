//! What is played: at each level a root of the balance that is owed.
//!
//! The pass over the levels looks for it in the cell of the last play; a level whose root lies elsewhere is walked to it.

use super::Ledgers;
use crate::lanes::{LANES, Quad};
use crate::random;
use crate::recalibrate::plan::Plan;
use crate::subroutine::{Play, find_root};

/// w / (A + w²), and 0 where the ledger has had no weight yet.
#[inline(always)]
pub(in crate::recalibrate) fn ratio(w: f64, squares: f64) -> f64 {
    // The smallest normal number changes no sum but that of two zeros, where w is 0 too and so is the quotient.
    w / (squares + w * w + f64::MIN_POSITIVE)
}

/// Where in its cell a level's balance is 0.
#[derive(Clone, Copy)]
pub(in crate::recalibrate) struct Root {
    /// How far into the cell; NaN where a walk must find it.
    pub(in crate::recalibrate) fraction: f64,
    /// What is played there.
    pub(in crate::recalibrate) play: f64,
    pub(in crate::recalibrate) found: bool,
}

/// The root of S, `low` and `high` at the ends of the cell from `v_low` to `v_high`; `last` is how far into it the last play was.
#[inline(always)]
pub(in crate::recalibrate) fn root(low: f64, high: f64, v_low: f64, v_high: f64, last: f64) -> Root {
    let a = low / (low - high);
    // At an end of the grid S may push outwards: then the end is the answer.
    let a = if low < 0.0 { 0.0 } else { a };
    let a = if high > 0.0 { 1.0 } else { a };
    let falls = (low >= 0.0) & (high <= 0.0) & (low > high);
    let below = (v_low == 0.0) & (low < 0.0) & (high <= 0.0);
    let above = (v_high == 1.0) & (high > 0.0) & (low >= 0.0);
    // Nothing is owed anywhere in the cell (no prior, no weight; padding levels stay so): nothing moves.
    let still = (low == 0.0) & (high == 0.0);
    let a = if still { last } else { a };
    let found = falls | below | above | still;
    Root { fraction: if found { a } else { f64::NAN }, play: (1.0 - a) * v_low + a * v_high, found }
}

impl Ledgers {
    /// Walks to the root of a level that is not in the cell of its last play, or whose balance is 0 all along that cell. `ratios` is w/A of this step
    /// for all ledgers and levels, `pull` that of the prior.
    pub(in crate::recalibrate) fn walk(&self, level: usize, ratios: &[Quad], pull: f64) -> Play {
        let (u, v) = (self.levels.probabilities()[level], self.plays.values());
        let (row, lane, first) = (level / LANES, level % LANES, level * v.len());
        let accounts = &self.accounts[row * self.books.len()..][..self.books.len()];
        let (cell, last) = (self.cells[level] as usize, self.fractions[level]);
        let (mut low, mut high) = (pull * (u - v[cell]), pull * (u - v[cell + 1]));
        let (intervals, start) = (self.plays.intervals(), (cell, last));
        // A walk never comes back to the ends of the cell that it starts from, whose balances in the table are stale.
        let (cell, fraction) = match (&self.books[..], accounts) {
            // The usual ledgers, or others like them.
            ([one, other], [a, b]) => {
                let [r, s] = [0, 1].map(|g| self.ratio_at(g, row, lane, ratios));
                (low, high) = (low + r * a.low[lane], high + r * a.high[lane]);
                (low, high) = (low + s * b.low[lane], high + s * b.high[lane]);
                let (one, other) = (&one.table[first..][..v.len()], &other.table[first..][..v.len()]);
                let balance = |i: usize| pull * (u - v[i]) + r * one[i] + s * other[i];
                find_root(intervals, start, (low, high), balance)
            }
            (books, accounts) => {
                for (g, account) in accounts.iter().enumerate() {
                    let ratio = self.ratio_at(g, row, lane, ratios);
                    low += ratio * account.low[lane];
                    high += ratio * account.high[lane];
                }
                let balance = |i: usize| {
                    books.iter().enumerate().fold(pull * (u - v[i]), |sum, (g, book)| {
                        sum + self.ratio_at(g, row, lane, ratios) * book.table[first + i]
                    })
                };
                find_root(intervals, start, (low, high), balance)
            }
        };
        Play::new(&self.plays, cell, fraction)
    }

    /// w/A of ledger `g` at a level.
    #[inline]
    fn ratio_at(&self, g: usize, row: usize, lane: usize, ratios: &[Quad]) -> f64 {
        let at = g * self.rows.len();
        if self.books[g].flat.is_some() { ratios[at][0] } else { ratios[at + row][lane] }
    }

    /// Rounds every play to the grid by its own coin.
    pub(in crate::recalibrate) fn round(&self, seed: u64, plan: &mut Plan) {
        let v = self.plays.values();
        for j in 0..self.levels.count() {
            let up = random::uniform(seed, plan.step, j as u32) < plan.fractions[j];
            plan.fractions[j] = f64::from(u8::from(up));
            plan.plays[j] = v[plan.cells[j] as usize + usize::from(up)];
        }
    }
}
