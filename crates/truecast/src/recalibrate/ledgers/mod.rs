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
//! - the potential Ψ = Σ ‖L_gj‖²/A_gj grows by at most Σ_g w²/A (o−p)²((1−a)²+a²) − 2κ(u−p)(o−p)/(n+1) per level;
//! - Σ_t w[(p−o)² − (u−o)²] = −2 Σ_i (v_i − u) L_i − Q, exactly.
//!
//! Where a play is not a root when its outcome is booked (late outcomes, randomised rounding), the cross term that the first
//! fact drops is booked as it is, so the bound stays a bound.
//!
//! A half-life multiplies the weights of step t by γ^−t, γ = 2^(−1/half-life), and rescales before they overflow: discounting is
//! only another choice of weights, and both facts hold for it as they are.
//!
//! Cost: O(M) per step and ledger. The two balances around each level's last play are kept in arrays of their own
//! (`low`, `high`), so that one step is a few straight passes over M numbers; only a play that leaves its interval,
//! about one in a hundred, touches the table of balances.

mod facts;
mod state;

use std::sync::Arc;

pub(crate) use state::LedgersState;

use super::parameters::{Groups, LedgerKind, Parameters};
use super::plan::Plan;
use crate::error::{Error, Result};
use crate::forecast::Forecast;
use crate::grid::{Levels, Plays};
use crate::random;
use crate::subroutine::find_root;

/// Beyond this inflation the state is rescaled.
const LARGEST_INFLATION: f64 = 1e60;
/// Widths whose squares, summed over any run, stay within `f64`.
const LARGEST_WIDTH: f64 = 1e140;

/// The balances of every ledger at every level.
#[derive(Debug, Clone, PartialEq)]
pub struct Ledgers {
    levels: Arc<Levels>,
    plays: Arc<Plays>,
    kinds: Vec<LedgerKind>,
    prior: f64,
    /// γ, the factor by which an outcome's weight shrinks with each later one; 1 without a half-life.
    decay: f64,
    /// γ^−t relative to the last rescaling: what the weights of the next step are multiplied by.
    inflation: f64,
    /// Outcomes settled.
    steps: u64,
    /// Σ γ^(age) over the settled outcomes; the number of outcomes without a half-life.
    effective: f64,
    /// One more than the number of the latest forecast whose outcome was settled; walks start at its plays.
    latest: u64,
    cells: Vec<u32>,
    fractions: Vec<f64>,
    /// v at the two ends of each level's cell.
    v_low: Vec<f64>,
    v_high: Vec<f64>,
    books: Vec<Book>,
    /// Per level, what the potential is bounded by.
    bounds: Vec<f64>,
    scratch: Scratch,
}

/// Per level, of the step that is being settled; carries nothing from one step to another.
#[derive(Debug, Clone, PartialEq)]
struct Scratch {
    /// o − p.
    errors: Vec<f64>,
    /// The part of it that goes to the upper end of the cell.
    uppers: Vec<f64>,
    /// (o − p)²((1−a)²+a²).
    growths: Vec<f64>,
    /// What the cross term adds to the potential, at most.
    drifts: Vec<f64>,
}

/// One ledger.
#[derive(Debug, Clone, PartialEq)]
struct Book {
    /// Balances, level by level. Stale at the two ends of a level's cell, where `low` and `high` hold them.
    table: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    /// A, the sum of squared weights; the first positive one; W, the sum of weights; Q.
    squares: Vec<f64>,
    firsts: Vec<f64>,
    totals: Vec<f64>,
    shifts: Vec<f64>,
}

impl Ledgers {
    pub(crate) fn new(parameters: &Parameters) -> Self {
        let (levels, plays) = (parameters.levels.clone(), parameters.plays.clone());
        let count = levels.count();
        let (cells, fractions): (Vec<u32>, Vec<f64>) =
            levels.probabilities().iter().map(|&u| plays.locate(u)).map(|(i, a)| (i as u32, a)).unzip();
        let zeros = vec![0.0; count];
        let book = Book {
            table: vec![0.0; count * plays.values().len()],
            low: zeros.clone(),
            high: zeros.clone(),
            squares: zeros.clone(),
            firsts: zeros.clone(),
            totals: zeros.clone(),
            shifts: zeros.clone(),
        };
        let mut ledgers = Ledgers {
            decay: parameters.half_life.map_or(1.0, |outcomes| libm::exp2(-1.0 / outcomes)),
            inflation: 1.0,
            steps: 0,
            effective: 0.0,
            latest: 0,
            v_low: zeros.clone(),
            v_high: zeros.clone(),
            books: vec![book; parameters.ledgers.len()],
            bounds: zeros.clone(),
            scratch: Scratch {
                errors: zeros.clone(),
                uppers: zeros.clone(),
                growths: zeros.clone(),
                drifts: zeros,
            },
            kinds: parameters.ledgers.clone(),
            prior: parameters.prior,
            levels,
            plays,
            cells,
            fractions,
        };
        ledgers.find_cell_ends();
        ledgers
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

    /// By how much the weight of an outcome shrinks with each later one.
    pub(crate) fn decay(&self) -> f64 {
        self.decay
    }

    pub(crate) fn plays(&self) -> &Plays {
        &self.plays
    }

    /// Fills in the weights of every ledger; `plan.widths` must be there if a ledger asks for them.
    pub(crate) fn weigh(&self, forecast: &dyn Forecast, groups: Groups, plan: &mut Plan) -> Result<()> {
        let count = self.levels.count();
        for (kind, weights) in self.kinds.iter().zip(plan.weights.chunks_exact_mut(count)) {
            match *kind {
                LedgerKind::Uniform => weights.fill(1.0),
                LedgerKind::Crps => weights.copy_from_slice(&plan.widths),
                LedgerKind::Group(group) => weights.fill(f64::from(u8::from(groups.contains(group)))),
                LedgerKind::Threshold(y) => tent(self.levels.probits(), forecast.probit(y), weights),
            }
        }
        // Branch-free: NaN and infinity fail the comparison too.
        if !plan.weights.iter().fold(true, |ok, w| ok & (*w >= 0.0) & (*w < LARGEST_WIDTH)) {
            let at = plan.weights.iter().position(|w| !(*w >= 0.0 && *w < LARGEST_WIDTH)).unwrap_or(0);
            return Err(Error::WidthOutOfRange { level: at % count, width: plan.weights[at] });
        }
        Ok(())
    }

    /// Chooses the plays for the weights in `plan`.
    pub(crate) fn play(&self, plan: &mut Plan) {
        let count = self.levels.count();
        let u = self.levels.probabilities();
        let pull = self.prior / (self.effective + 1.0);
        let Plan { weights, ratios, plays, cells, fractions, scratch, .. } = plan;
        let (s_low, s_high) = (&mut scratch.low, &mut scratch.high);
        s_low.clear();
        s_high.clear();
        s_low.extend(u.iter().zip(&self.v_low).map(|(u, v)| pull * (u - v)));
        s_high.extend(u.iter().zip(&self.v_high).map(|(u, v)| pull * (u - v)));

        let rows = weights.chunks_exact(count).zip(ratios.chunks_exact_mut(count));
        for (book, (weights, ratios)) in self.books.iter().zip(rows) {
            let (low, high, squares) = (&book.low[..count], &book.high[..count], &book.squares[..count]);
            let (s_low, s_high) = (&mut s_low[..count], &mut s_high[..count]);
            for j in 0..count {
                let ratio = ratio(weights[j] * self.inflation, squares[j]);
                ratios[j] = ratio;
                s_low[j] += ratio * low[j];
                s_high[j] += ratio * high[j];
            }
        }

        cells.copy_from_slice(&self.cells);
        let mut elsewhere = 0;
        for j in 0..count {
            let (low, high) = (s_low[j], s_high[j]);
            let inside = (low >= 0.0) & (high <= 0.0) & (low > high);
            elsewhere += usize::from(!inside);
            let a = low / (low - high);
            fractions[j] = a;
            plays[j] = (1.0 - a) * self.v_low[j] + a * self.v_high[j];
        }
        if elsewhere > 0 {
            self.walk(plan);
        }
    }

    /// Repairs the plays of the levels whose root lies outside of their last cell, or whose balance is 0 all along it.
    fn walk(&self, plan: &mut Plan) {
        let count = self.levels.count();
        let u = self.levels.probabilities();
        let v = self.plays.values();
        let pull = self.prior / (self.effective + 1.0);
        for j in 0..count {
            let (low, high) = (plan.scratch.low[j], plan.scratch.high[j]);
            if (low >= 0.0) & (high <= 0.0) & (low > high) {
                continue;
            }
            let balance = |i: usize| {
                let books = self.books.iter().zip(plan.ratios.chunks_exact(count));
                books.fold(pull * (u[j] - v[i]), |sum, (book, ratios)| sum + ratios[j] * self.balance(book, j, i))
            };
            let start = (self.cells[j] as usize, self.fractions[j]);
            let (cell, a) = find_root(self.plays.intervals(), start, balance);
            plan.cells[j] = cell as u32;
            plan.fractions[j] = a;
            plan.plays[j] = (1.0 - a) * v[cell] + a * v[cell + 1];
        }
    }

    /// Rounds every play to the grid by its own coin.
    pub(crate) fn round(&self, seed: u64, plan: &mut Plan) {
        let v = self.plays.values();
        for j in 0..plan.plays.len() {
            let up = random::uniform(seed, plan.step, j as u32) < plan.fractions[j];
            plan.fractions[j] = f64::from(u8::from(up));
            plan.plays[j] = v[plan.cells[j] as usize + usize::from(up)];
        }
    }

    /// Books an outcome with base probit score `z` against the plays of `plan`.
    ///
    /// `rounded` says that the plays were rounded to the grid, and so are no roots.
    pub(crate) fn settle(&mut self, plan: &Plan, z: f64, rounded: bool) {
        let late = plan.settled != self.steps;
        self.measure(plan, z);
        if late || rounded {
            self.book_cross_term(plan);
        } else {
            self.book_prior_drift(plan);
        }
        if plan.step + 1 >= self.latest {
            self.latest = plan.step + 1;
            self.fractions.copy_from_slice(&plan.fractions);
            self.enter(&plan.cells);
            self.book(plan, late);
        } else {
            // Book where the plays were made, and come back: walks start at the latest forecast's plays.
            let present = self.cells.clone();
            self.enter(&plan.cells);
            self.book(plan, late);
            self.enter(&present);
        }
        self.steps += 1;
        self.age();
    }

    /// o − p, (o − p)·a and (o − p)²((1−a)²+a²) into the scratch.
    fn measure(&mut self, plan: &Plan, z: f64) {
        let count = self.levels.count();
        let (levels, plays) = (&self.levels.probits()[..count], &plan.plays[..count]);
        let fractions = &plan.fractions[..count];
        let Scratch { errors, uppers, growths, .. } = &mut self.scratch;
        let (errors, uppers, growths) = (&mut errors[..count], &mut uppers[..count], &mut growths[..count]);
        for j in 0..count {
            let o = if z <= levels[j] { 1.0 } else { 0.0 };
            let (e, a) = (o - plays[j], fractions[j]);
            errors[j] = e;
            uppers[j] = e * a;
            growths[j] = e * e * ((1.0 - a) * (1.0 - a) + a * a);
        }
    }

    /// At a root, or at an end that the balance pushes against, the cross term is at most the prior's.
    fn book_prior_drift(&mut self, plan: &Plan) {
        let drift = 2.0 * self.prior / (self.effective + 1.0);
        let terms = self.levels.probabilities().iter().zip(&plan.plays).zip(&self.scratch.errors);
        for (drifts, ((u, p), e)) in self.scratch.drifts.iter_mut().zip(terms) {
            *drifts = -drift * (u - p) * e;
        }
    }

    /// Where a play is no root of the present balances: 2(o − p) Σ_g (w/A) ⟨L_g, τ(p)⟩ as it is.
    fn book_cross_term(&mut self, plan: &Plan) {
        let count = self.levels.count();
        for j in 0..count {
            let (cell, a) = (plan.cells[j] as usize, plan.fractions[j]);
            let mut balance = 0.0;
            for (book, weights) in self.books.iter().zip(plan.weights.chunks_exact(count)) {
                let (low, high) = (self.balance(book, j, cell), self.balance(book, j, cell + 1));
                let w = weights[j] * self.inflation;
                balance += ratio(w, book.squares[j]) * ((1.0 - a) * low + a * high);
            }
            self.scratch.drifts[j] = 2.0 * self.scratch.errors[j] * balance;
        }
    }

    /// Books the measured errors into the present cells, which must be those of the plan.
    fn book(&mut self, plan: &Plan, late: bool) {
        let count = self.levels.count();
        let u = &self.levels.probabilities()[..count];
        let plays = &plan.plays[..count];
        let Scratch { errors, uppers, growths, drifts } = &self.scratch;
        let (errors, uppers, growths) = (&errors[..count], &uppers[..count], &growths[..count]);
        let bounds = &mut self.bounds[..count];
        if self.decay < 1.0 {
            shrink_bounds(&self.books, plan, self.inflation, bounds);
        }
        for (bound, drift) in bounds.iter_mut().zip(drifts) {
            *bound += drift;
        }
        let rows = plan.weights.chunks_exact(count).zip(plan.ratios.chunks_exact(count));
        for (book, (weights, ratios)) in self.books.iter_mut().zip(rows) {
            let (low, high) = (&mut book.low[..count], &mut book.high[..count]);
            let (squares, firsts) = (&mut book.squares[..count], &mut book.firsts[..count]);
            let (totals, shifts) = (&mut book.totals[..count], &mut book.shifts[..count]);
            for j in 0..count {
                let w = weights[j] * self.inflation;
                // The plan's w/A is that of the time it was made; for an immediate outcome that is now.
                let ratio = if late { ratio(w, squares[j]) } else { ratios[j] };
                bounds[j] += w * ratio * growths[j];
                squares[j] += w * w;
                firsts[j] = if firsts[j] > 0.0 { firsts[j] } else { w * w };
                totals[j] += w;
                low[j] += w * (errors[j] - uppers[j]);
                high[j] += w * uppers[j];
                shifts[j] += w * (plays[j] - u[j]) * (plays[j] - u[j]);
            }
        }
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
        let v = self.plays.values();
        for (j, (from, &to)) in self.cells.iter_mut().zip(cells).enumerate() {
            if *from == to {
                continue;
            }
            let row = j * v.len()..(j + 1) * v.len();
            let (left, entered) = (*from as usize, to as usize);
            for book in &mut self.books {
                let table = &mut book.table[row.clone()];
                (table[left], table[left + 1]) = (book.low[j], book.high[j]);
                (book.low[j], book.high[j]) = (table[entered], table[entered + 1]);
            }
            (self.v_low[j], self.v_high[j]) = (v[entered], v[entered + 1]);
            *from = to;
        }
    }

    fn find_cell_ends(&mut self) {
        let v = self.plays.values();
        for (j, &cell) in self.cells.iter().enumerate() {
            (self.v_low[j], self.v_high[j]) = (v[cell as usize], v[cell as usize + 1]);
        }
    }

    /// Divides every weight by the inflation. Potential, plays and errors do not change.
    fn rescale(&mut self) {
        let factor = 1.0 / self.inflation;
        for book in &mut self.books {
            for values in [&mut book.table, &mut book.low, &mut book.high, &mut book.totals, &mut book.shifts] {
                values.iter_mut().for_each(|value| *value *= factor);
            }
            for values in [&mut book.squares, &mut book.firsts] {
                values.iter_mut().for_each(|value| *value *= factor * factor);
            }
        }
        self.inflation = 1.0;
    }

    /// L_gji, wherever it is kept.
    fn balance(&self, book: &Book, level: usize, play: usize) -> f64 {
        let cell = self.cells[level] as usize;
        if play == cell {
            book.low[level]
        } else if play == cell + 1 {
            book.high[level]
        } else {
            book.table[level * self.plays.values().len() + play]
        }
    }
}

/// w / (A + w²), and 0 where the ledger has had no weight yet.
#[inline(always)]
fn ratio(w: f64, squares: f64) -> f64 {
    let square = squares + w * w;
    if square > 0.0 { w / square } else { 0.0 }
}

/// With a half-life old weights shrink against new ones: bound ← ρ·bound with ρ = max_g A/(A + w²).
fn shrink_bounds(books: &[Book], plan: &Plan, inflation: f64, bounds: &mut [f64]) {
    let count = bounds.len();
    for (j, bound) in bounds.iter_mut().enumerate() {
        let kept = books.iter().zip(plan.weights.chunks_exact(count)).map(|(book, weights)| {
            let w = weights[j] * inflation;
            let square = book.squares[j] + w * w;
            if square > 0.0 { book.squares[j] / square } else { 0.0 }
        });
        *bound *= kept.fold(0.0, f64::max);
    }
}

/// Linear interpolation weights of `z` on the levels; all on the outer level beyond them.
fn tent(levels: &[f64], z: f64, weights: &mut [f64]) {
    weights.fill(0.0);
    match levels.partition_point(|&level| level <= z) {
        0 => weights[0] = 1.0,
        j if j == levels.len() => weights[j - 1] = 1.0,
        j => {
            let fraction = (z - levels[j - 1]) / (levels[j] - levels[j - 1]);
            weights[j - 1] = 1.0 - fraction;
            weights[j] = fraction;
        }
    }
}
