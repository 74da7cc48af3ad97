//! What is played: at each level a root of the balance that is owed.
//!
//! The pass over the levels looks for it in the cell of the last play; a level whose root lies elsewhere is walked to it.

use super::Ledgers;
use crate::lanes::{LANES, Number, Quad};
use crate::random;
use crate::recalibrate::plan::Plan;
use crate::subroutine::{Play, find_root};

/// w / (A + w²), and 0 where the ledger has had no weight yet; of one level or of several.
#[inline(always)]
pub(in crate::recalibrate) fn ratio<T: Number>(w: T, squares: T) -> T {
    // The smallest normal number changes no sum but that of two zeros, where w is 0 too and so is the quotient.
    w / (squares + w * w + f64::MIN_POSITIVE)
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
