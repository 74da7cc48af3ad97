//! What an outcome changes: balances, sums of weights, and the bound on the potential.
//!
//! [`Ledgers::open`] gets ready for an outcome, the pass over the levels (`passes/`) books it, [`Ledgers::close`] ends the step.

use super::{Account, Book, Ledgers, Sums, ratio};
use crate::lanes::{LANES, Quad, quads};
use crate::recalibrate::plan::Plan;

/// Beyond this inflation the state is rescaled.
const LARGEST_INFLATION: f64 = 1e9;
/// A sum of squares that has been discounted to less than this is forgotten before its balances are.
const SMALLEST_SQUARE: f64 = 1e-290;

/// One outcome that is being booked.
#[derive(Debug)]
pub(in crate::recalibrate) struct Settlement {
    /// The base probit score of the outcome; above that of the padding.
    pub(in crate::recalibrate) z: f64,
    /// Of the prior, before this outcome.
    pub(in crate::recalibrate) pull: f64,
    /// Σ_g w²/A and min_g w²/A over the flat ledgers: how much of their sums of squares is new.
    pub(in crate::recalibrate) new_share: f64,
    pub(in crate::recalibrate) smallest_share: f64,
    /// Other outcomes were booked since the play was made: its w/A are no longer those of the plan.
    late: bool,
    /// The play is no root of the present balances: cross terms were measured.
    measured: bool,
    /// The cells of a later forecast, to come back to.
    later_cells: Option<Vec<u32>>,
}

impl Ledgers {
    /// Gets ready to book an outcome with base probit score `z`, which is above that of the padding, against the plays of `plan`.
    ///
    /// `rounded` says that the plays were rounded to the grid, and so are no roots.
    pub(in crate::recalibrate) fn open(&mut self, plan: &Plan, z: f64, rounded: bool) -> Settlement {
        let late = plan.settled != self.steps;
        let pull = self.pull();
        if late {
            self.measure_ratios(plan);
        }
        if late || rounded {
            self.measure_cross_terms(plan, z);
        }
        let later_cells = (plan.step + 1 < self.latest).then(|| self.cells.clone());
        if later_cells.is_none() {
            self.latest = plan.step + 1;
            self.fractions.copy_from_slice(&plan.fractions);
        }
        self.enter(&plan.cells);
        let (new_share, smallest_share) = self.book_flat_weights(plan);
        Settlement { z, pull, new_share, smallest_share, late, measured: late || rounded, later_cells }
    }

    /// The outcome is booked: walks go on from the latest forecast's plays, and earlier outcomes age.
    pub(in crate::recalibrate) fn close(&mut self, settlement: Settlement) {
        if let Some(cells) = settlement.later_cells {
            self.enter(&cells);
        }
        self.steps += 1;
        self.age();
    }

    /// All that the pass books into: accounts and bounds, with the w/A and the cross terms where they are not those of the plan.
    #[inline(always)]
    pub(in crate::recalibrate) fn entries<'a>(
        &'a mut self,
        plan: &'a Plan,
        settlement: &Settlement,
    ) -> Entries<'a> {
        let ratios = if settlement.late { &self.late_ratios } else { &plan.ratios };
        let cross_terms = if settlement.measured { &self.cross_terms[..] } else { &[] };
        Entries {
            usual: self.are_usual(),
            rows: &self.rows,
            books: &self.books,
            accounts: &mut self.accounts,
            bounds: &mut self.bounds,
            ratios: quads(ratios),
            cross_terms: quads(cross_terms),
            inflation: self.inflation,
        }
    }

    /// A and W of the flat ledgers; how much of their A is new, in all and in the one where it is least.
    fn book_flat_weights(&mut self, plan: &Plan) -> (f64, f64) {
        let (mut share_of_all, mut smallest) = (0.0, 1.0);
        for (g, book) in self.books.iter_mut().enumerate() {
            let Some(Sums { square, total }) = &mut book.flat else { continue };
            let w = plan.weights[g * self.cells.len()] * self.inflation;
            let share = w * ratio(w, *square);
            share_of_all += share;
            // A ledger that has never had weight holds nothing that could be kept.
            smallest = if *square > 0.0 && share < smallest { share } else { smallest };
            *square += w * w;
            *total += w;
        }
        (share_of_all, smallest)
    }

    /// w/A as it is now.
    fn measure_ratios(&mut self, plan: &Plan) {
        let (room, inflation) = (self.cells.len(), self.inflation);
        let mut ratios = std::mem::take(&mut self.late_ratios);
        ratios.clear();
        for (g, weights) in plan.weights.chunks_exact(room).enumerate() {
            let flat = self.books[g].flat.is_some();
            let weight = |j: usize| weights[if flat { 0 } else { j }] * inflation;
            ratios.extend((0..room).map(|j| ratio(weight(j), self.sums(g, j).square)));
        }
        self.late_ratios = ratios;
    }

    /// Where a play is no root of the present balances: 2(o − p) Σ_g (w/A) ⟨L_g, τ(p)⟩ as it is.
    fn measure_cross_terms(&mut self, plan: &Plan, z: f64) {
        let room = self.cells.len();
        let mut terms = std::mem::take(&mut self.cross_terms);
        terms.clear();
        terms.extend(self.levels.probits().iter().enumerate().map(|(j, &level)| {
            let (cell, a) = (plan.cells[j] as usize, plan.fractions[j]);
            let mut balance = 0.0;
            for (g, weights) in plan.weights.chunks_exact(room).enumerate() {
                let (low, high) = (self.balance(g, j, cell), self.balance(g, j, cell + 1));
                let weight = weights[if self.books[g].flat.is_some() { 0 } else { j }];
                let ratio = ratio(weight * self.inflation, self.sums(g, j).square);
                balance += ratio * ((1.0 - a) * low + a * high);
            }
            let happened = if z <= level { 1.0 } else { 0.0 };
            2.0 * (happened - plan.plays[j]) * balance
        }));
        terms.resize(room, 0.0);
        self.cross_terms = terms;
    }

    /// One more outcome has been settled: with a half-life, all earlier ones count less.
    fn age(&mut self) {
        if self.decay == 1.0 {
            self.effective += 1.0;
            return;
        }
        self.effective = self.effective * self.decay + 1.0;
        self.inflation /= self.decay;
        if self.inflation > LARGEST_INFLATION {
            self.rescale();
        }
    }

    /// Makes `cells` the present ones: stores the balances at the ends of those that are left, loads the others.
    fn enter(&mut self, cells: &[u32]) {
        if self.cells == cells {
            return;
        }
        let (v, ledgers, levels) = (self.plays.values(), self.books.len(), self.levels.count());
        let rows = self.cells.as_chunks_mut::<LANES>().0.iter_mut().zip(cells.as_chunks::<LANES>().0);
        for (row, (from, to)) in rows.enumerate() {
            // Most plays stay in their cells.
            if from == to {
                continue;
            }
            for lane in 0..LANES {
                let (level, left, entered) = (row * LANES + lane, from[lane] as usize, to[lane] as usize);
                // Padding levels have no balances in the table.
                if left == entered || level >= levels {
                    continue;
                }
                let accounts = &mut self.accounts[row * ledgers..][..ledgers];
                for (book, Account { low, high, .. }) in self.books.iter_mut().zip(accounts) {
                    let table = &mut book.table[level * v.len()..(level + 1) * v.len()];
                    (table[left], table[left + 1]) = (low[lane], high[lane]);
                    (low[lane], high[lane]) = (table[entered], table[entered + 1]);
                }
                (self.rows[row].v_low[lane], self.rows[row].v_high[lane]) = (v[entered], v[entered + 1]);
                from[lane] = to[lane];
            }
        }
    }

    /// Divides every weight by the inflation. Potential, plays and errors do not change.
    fn rescale(&mut self) {
        let factor = 1.0 / self.inflation;
        for Account { low, high, shift, square, total } in &mut self.accounts {
            [low, high, shift, total].into_iter().flatten().for_each(|value| *value *= factor);
            square.iter_mut().for_each(|square| *square *= factor * factor);
        }
        for Book { table, flat } in &mut self.books {
            table.iter_mut().for_each(|value| *value *= factor);
            if let Some(Sums { square, total }) = flat {
                *total *= factor;
                *square *= factor * factor;
            }
        }
        self.forget_underflows();
        self.inflation = 1.0;
    }

    /// A level whose weights are all but forgotten is forgotten as a whole: A would underflow before L does.
    fn forget_underflows(&mut self) {
        let width = self.plays.values().len();
        for g in 0..self.books.len() {
            for j in 0..self.levels.count() {
                if self.sums(g, j).square >= SMALLEST_SQUARE {
                    continue;
                }
                self.books[g].table[j * width..(j + 1) * width].fill(0.0);
                let account = &mut self.accounts[j / LANES * self.books.len() + g];
                let Account { low, high, shift, square, total } = account;
                for values in [low, high, shift, square, total] {
                    values[j % LANES] = 0.0;
                }
            }
            if let Some(sums) = &mut self.books[g].flat
                && sums.square < SMALLEST_SQUARE
            {
                *sums = Sums::default();
            }
        }
    }
}

/// What the pass over the levels books an outcome into.
#[derive(Debug)]
pub(in crate::recalibrate) struct Entries<'a> {
    /// Whether the ledgers are those of the default.
    pub(in crate::recalibrate) usual: bool,
    pub(in crate::recalibrate) rows: &'a [super::Row],
    pub(in crate::recalibrate) books: &'a [Book],
    pub(in crate::recalibrate) accounts: &'a mut [Account],
    pub(in crate::recalibrate) bounds: &'a mut [f64],
    /// w/A for each ledger and level; not of flat ledgers.
    pub(in crate::recalibrate) ratios: &'a [Quad],
    /// In the place of the prior's; empty if the plays are roots.
    pub(in crate::recalibrate) cross_terms: &'a [Quad],
    pub(in crate::recalibrate) inflation: f64,
}
