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
//! only another choice of weights, and both facts hold for it as they are.
//!
//! Cost: O(M) per step and ledger. The two balances around each level's last play are kept apart (`Account`), so that one
//! step is a few straight passes over the levels; only a play that leaves its cell, about one in a hundred, touches the
//! table of balances.

mod facts;
mod kernels;
mod state;

use std::sync::Arc;

pub(crate) use self::state::LedgersState;
use super::lanes::{pad, padded};
use super::parameters::{Groups, LedgerKind, Parameters};
use super::plan::Plan;
use crate::error::{Error, Result};
use crate::forecast::Forecast;
use crate::grid::{Levels, Plays};
use crate::random;
use crate::subroutine::find_root;

/// Beyond this inflation the state is rescaled.
const LARGEST_INFLATION: f64 = 1e9;
/// Widths whose squares, inflated and summed over any run, stay within `f64`.
pub(crate) const LARGEST_WIDTH: f64 = 1e140;
/// Widths whose squares do not underflow.
const SMALLEST_WIDTH: f64 = 1e-140;
/// A sum of squares that has been discounted to less than this is forgotten before its balances are.
const SMALLEST_SQUARE: f64 = 1e-290;

/// The balances of every ledger at every level.
///
/// Vectors marked *padded* have a multiple of four entries (see `lanes.rs`); the rest of a padded vector is never read back.
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
    /// z and u of the levels, padded.
    probits: Vec<f64>,
    base: Vec<f64>,
    /// The cell of each level's last play and how far into it the play was, padded.
    cells: Vec<u32>,
    fractions: Vec<f64>,
    /// v at the two ends of each level's cell, padded.
    v_low: Vec<f64>,
    v_high: Vec<f64>,
    books: Vec<Book>,
    /// B_j, padded.
    bounds: Vec<f64>,
    scratch: Scratch,
}

/// One ledger.
#[derive(Debug, Clone, PartialEq)]
struct Book {
    /// Balances, level by level. Stale at the two ends of a level's cell, whose balances are in `low` and `high`.
    table: Vec<f64>,
    /// Padded, as is Q, the weighted squared distances of the plays from the base.
    low: Vec<f64>,
    high: Vec<f64>,
    shifts: Vec<f64>,
    /// A, the sums of squared weights, and W, of weights: padded, or one entry for all levels if the ledger is flat.
    squares: Vec<f64>,
    totals: Vec<f64>,
}

impl Book {
    fn new(kind: LedgerKind, room: usize, balances: usize) -> Self {
        let sums = if kind.is_flat() { 1 } else { room };
        Book {
            table: vec![0.0; balances],
            low: vec![0.0; room],
            high: vec![0.0; room],
            shifts: vec![0.0; room],
            squares: vec![0.0; sums],
            totals: vec![0.0; sums],
        }
    }

    /// The entry of `sums`, one of this book's A or W, that belongs to level `j`.
    fn at(sums: &[f64], j: usize) -> f64 {
        sums[if sums.len() == 1 { 0 } else { j }]
    }
}

/// Per level, of the step that is being settled, padded; carries nothing from one step to another.
#[derive(Debug, Clone, PartialEq)]
struct Scratch {
    /// o − p.
    errors: Vec<f64>,
    /// What the cross term adds to the potential, at most.
    drifts: Vec<f64>,
    /// Σ_g w²/A and min_g w²/A: how much of each sum of squares is new.
    shares: Vec<f64>,
    smallest: Vec<f64>,
    /// w/A at the time of settling, for outcomes that come late.
    ratios: Vec<f64>,
}

impl Ledgers {
    pub(crate) fn new(parameters: &Parameters) -> Self {
        let (levels, plays) = (parameters.levels.clone(), parameters.plays.clone());
        let (count, room) = (levels.count(), padded(levels.count()));
        // Padding levels announce 0 for an event that never happens, so nothing is ever owed at them.
        let base = pad(levels.probabilities(), 0.0);
        let locate = |&u: &f64| plays.locate(u);
        let (cells, fractions): (Vec<u32>, Vec<f64>) =
            base.iter().map(locate).map(|(i, a)| (i as u32, a)).unzip();
        let zeros = vec![0.0; room];
        let balances = count * plays.values().len();
        let book = |&kind: &LedgerKind| Book::new(kind, room, balances);
        let mut ledgers = Ledgers {
            decay: parameters.half_life.map_or(1.0, |outcomes| libm::exp2(-1.0 / outcomes)),
            inflation: 1.0,
            steps: 0,
            effective: 0.0,
            latest: 0,
            probits: pad(levels.probits(), f64::NEG_INFINITY),
            v_low: zeros.clone(),
            v_high: zeros.clone(),
            books: parameters.ledgers.iter().map(book).collect(),
            bounds: zeros.clone(),
            scratch: Scratch {
                errors: zeros.clone(),
                drifts: zeros.clone(),
                shares: zeros.clone(),
                smallest: zeros,
                ratios: Vec::new(),
            },
            kinds: parameters.ledgers.clone(),
            prior: parameters.prior,
            levels,
            plays,
            base,
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

    pub(crate) fn plays(&self) -> &Plays {
        &self.plays
    }

    /// z and u of the levels, padded, and room for one number per level.
    pub(crate) fn padded_levels(&mut self) -> (&[f64], &[f64], &mut [f64]) {
        (&self.probits, &self.base, &mut self.scratch.errors)
    }

    /// By how much the weight of an outcome shrinks with each later one.
    pub(crate) fn decay(&self) -> f64 {
        self.decay
    }

    /// Fills in the weights of every ledger; `plan.widths` must be there if a ledger asks for them.
    pub(crate) fn weigh(&self, forecast: &dyn Forecast, groups: Groups, plan: &mut Plan) -> Result<()> {
        let (count, room) = (self.levels.count(), self.base.len());
        if !kernels::all_within(&plan.widths, SMALLEST_WIDTH, LARGEST_WIDTH) {
            without_extremes(&mut plan.widths)?;
        }
        for (kind, weights) in self.kinds.iter().zip(plan.weights.chunks_exact_mut(room)) {
            match *kind {
                // Flat: the first entry stands for all.
                LedgerKind::Uniform => weights[0] = 1.0,
                LedgerKind::Group(group) => weights[0] = f64::from(u8::from(groups.contains(group))),
                LedgerKind::Crps => weights.copy_from_slice(&plan.widths),
                LedgerKind::Threshold(y) => {
                    tent(self.levels.probits(), forecast.probit(y), &mut weights[..count]);
                }
            }
        }
        Ok(())
    }

    /// Chooses the plays for the weights in `plan`.
    pub(crate) fn play(&self, plan: &mut Plan) {
        let room = self.base.len();
        let pull = self.prior / (self.effective + 1.0);
        // S at the ends of the cells is built up where fractions and plays will be.
        let Plan { weights, ratios, plays: s_high, cells, fractions: s_low, .. } = plan;
        kernels::prior_balance(pull, &self.base, &self.v_low, &self.v_high, s_low, s_high);
        let rows = weights.chunks_exact(room).zip(ratios.chunks_exact_mut(room));
        for (book, (weights, ratios)) in self.books.iter().zip(rows) {
            let Book { squares, low, high, .. } = book;
            if let [square] = squares[..] {
                ratios[0] = kernels::ratio(weights[0] * self.inflation, square);
                // Most groups have no part in most steps.
                if weights[0] > 0.0 {
                    kernels::add_flat_balance(ratios[0], low, high, s_low, s_high);
                }
            } else {
                kernels::add_balance(self.inflation, weights, squares, low, high, ratios, s_low, s_high);
            }
        }
        cells.copy_from_slice(&self.cells);
        if kernels::roots(&self.v_low, &self.v_high, &self.fractions, s_low, s_high) > 0 {
            self.walk(plan);
        }
    }

    /// Repairs the plays of the levels whose root lies outside of their last cell, or whose balance is 0 all along it.
    fn walk(&self, plan: &mut Plan) {
        let (u, v, room) = (&self.base, self.plays.values(), self.base.len());
        let pull = self.prior / (self.effective + 1.0);
        for j in 0..self.levels.count() {
            if !plan.fractions[j].is_nan() {
                continue;
            }
            let balance = |i: usize| {
                let books = self.books.iter().zip(plan.ratios.chunks_exact(room));
                books.fold(pull * (u[j] - v[i]), |sum, (book, ratios)| {
                    let ratio = ratios[if book.squares.len() == 1 { 0 } else { j }];
                    sum + ratio * self.balance(book, j, i)
                })
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
        for j in 0..self.levels.count() {
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
        let Scratch { errors, drifts, .. } = &mut self.scratch;
        // Below every level is below every level, but not below the padding.
        let z = z.max(f64::MIN);
        // At a root, or at an end that the balance pushes against, the cross term is at most the prior's.
        let pull = self.prior / (self.effective + 1.0);
        kernels::errors(z, pull, &self.probits, &self.base, &plan.plays, errors, drifts);
        if late || rounded {
            self.measure_cross_term(plan);
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

    /// Where a play is no root of the present balances: 2(o − p) Σ_g (w/A) ⟨L_g, τ(p)⟩ as it is.
    fn measure_cross_term(&mut self, plan: &Plan) {
        let room = self.base.len();
        for j in 0..self.levels.count() {
            let (cell, a) = (plan.cells[j] as usize, plan.fractions[j]);
            let mut balance = 0.0;
            for (book, weights) in self.books.iter().zip(plan.weights.chunks_exact(room)) {
                let (low, high) = (self.balance(book, j, cell), self.balance(book, j, cell + 1));
                let weight = weights[if book.squares.len() == 1 { 0 } else { j }];
                let ratio = kernels::ratio(weight * self.inflation, Book::at(&book.squares, j));
                balance += ratio * ((1.0 - a) * low + a * high);
            }
            self.scratch.drifts[j] = 2.0 * self.scratch.errors[j] * balance;
        }
    }

    /// Books the measured errors into the present cells, which must be those of the plan.
    fn book(&mut self, plan: &Plan, late: bool) {
        let (room, inflation, base) = (self.base.len(), self.inflation, &self.base);
        let Plan { plays, fractions, .. } = plan;
        let Scratch { errors, drifts, shares, smallest, ratios: now } = &mut self.scratch;
        // Flat ledgers first: what they add is the same at every level.
        let (mut flat_share, mut flat_smallest) = (0.0, 1.0);
        for (book, weights) in self.books.iter_mut().zip(plan.weights.chunks_exact(room)) {
            let Book { low, high, shifts, squares, totals, .. } = book;
            let ([square], [total]) = (&mut squares[..], &mut totals[..]) else { continue };
            let w = weights[0] * inflation;
            let share = w * kernels::ratio(w, *square);
            flat_share += share;
            // A ledger that has never had weight holds nothing that could be kept.
            flat_smallest = if *square > 0.0 { share.min(flat_smallest) } else { flat_smallest };
            if w > 0.0 {
                *square += w * w;
                *total += w;
                kernels::book_flat(w, base, plays, errors, fractions, low, high, shifts);
            }
        }
        shares.fill(flat_share);
        smallest.fill(flat_smallest);
        let rows = plan.weights.chunks_exact(room).zip(plan.ratios.chunks_exact(room));
        for (book, (weights, then)) in self.books.iter_mut().zip(rows) {
            let Book { low, high, shifts, squares, totals, .. } = book;
            if squares.len() == 1 {
                continue;
            }
            // The plan's w/A is that of the time it was made; for an immediate outcome that is now.
            let ratios = if late {
                now.clear();
                now.extend(weights.iter().zip(&*squares).map(|(w, a)| kernels::ratio(w * inflation, *a)));
                &*now
            } else {
                then
            };
            kernels::new_shares(inflation, weights, squares, ratios, shares, smallest);
            kernels::book_balances(inflation, weights, errors, fractions, low, high);
            kernels::book_weights(inflation, weights, base, plays, squares, totals, shifts);
        }
        kernels::advance_bounds(shares, smallest, errors, fractions, drifts, &mut self.bounds);
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
        // Padding levels have no balances in the table.
        for (j, (from, &to)) in self.cells.iter_mut().zip(cells).take(self.levels.count()).enumerate() {
            if *from == to {
                continue;
            }
            let (left, entered) = (*from as usize, to as usize);
            for Book { table, low, high, .. } in &mut self.books {
                let table = &mut table[j * v.len()..(j + 1) * v.len()];
                (table[left], table[left + 1]) = (low[j], high[j]);
                (low[j], high[j]) = (table[entered], table[entered + 1]);
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
        for Book { table, low, high, squares, totals, shifts } in &mut self.books {
            for values in [&mut *table, &mut *low, &mut *high, &mut *totals, &mut *shifts] {
                values.iter_mut().for_each(|value| *value *= factor);
            }
            squares.iter_mut().for_each(|square| *square *= factor * factor);
            // A level whose weights are all but forgotten is forgotten as a whole: A would underflow before L does.
            let width = self.plays.values().len();
            for j in 0..self.levels.count() {
                if Book::at(squares, j) < SMALLEST_SQUARE {
                    table[j * width..(j + 1) * width].fill(0.0);
                    (low[j], high[j], shifts[j]) = (0.0, 0.0, 0.0);
                }
            }
            for (square, total) in squares.iter_mut().zip(totals) {
                if *square < SMALLEST_SQUARE {
                    (*square, *total) = (0.0, 0.0);
                }
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

/// Refuses a ledger's weights that are not finite, too large to be squared, or all too small; single small ones among larger
/// ones count for nothing.
fn without_extremes(weights: &mut [f64]) -> Result<()> {
    let wrong = |w: &f64| !(*w >= 0.0 && *w < LARGEST_WIDTH);
    let largest = weights.iter().copied().enumerate().fold((0, 0.0), |a, b| if b.1 > a.1 { b } else { a });
    let (level, width) = match weights.iter().position(wrong) {
        Some(level) => (level, weights[level]),
        None if largest.1 > 0.0 && largest.1 < SMALLEST_WIDTH => largest,
        None => {
            weights.iter_mut().filter(|w| **w < SMALLEST_WIDTH).for_each(|w| *w = 0.0);
            return Ok(());
        }
    };
    Err(Error::WidthOutOfRange { level, width })
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

#[cfg(test)]
mod tests {
    use crate::{Gaussian, Groups, LedgerKind, LedgerRecalibrator, Parameters, Recalibrator, Stream};

    /// A threshold that no forecast comes near weighs on one outer level only. At the others its ledger, which never had
    /// weight, once kept the whole of the bound at every step, so that it grew with ln T instead of staying below 1 + κ/2.
    #[test]
    fn a_ledger_without_weight_keeps_no_bound_alive() {
        let build = |ledgers: &[LedgerKind]| {
            LedgerRecalibrator::new(
                Parameters::builder().ledgers(ledgers).guard(false).trust(false).build().unwrap(),
            )
        };
        let mut alone = build(&[LedgerKind::Uniform]);
        let mut beside = build(&[LedgerKind::Uniform, LedgerKind::Threshold(1e6), LedgerKind::Group(0)]);
        let forecast = Gaussian::new(0.0, 1.0).unwrap();
        for t in 0..500 {
            let y = f64::from(t % 7) - 3.0;
            alone.observe(&forecast, y).unwrap();
            beside.observe(&forecast, y).unwrap();
        }
        let (alone, beside) = (alone.ledgers().potential_bounds(), beside.ledgers().potential_bounds());
        let outer = alone.len() - 1;
        assert_eq!(alone[..outer], beside[..outer]);
        assert!(alone.iter().all(|&bound| bound <= 1.0 + 10.0 / 2.0), "{alone:?}");
    }

    /// Nineteen levels leave room for a twentieth in the padded vectors, and without a prior nothing ever decides its
    /// play: 0/0 once made it NaN, a recalibrator unequal to itself, and a saved pending forecast that would not load.
    #[test]
    fn padding_levels_stay_finite_without_a_prior() {
        let parameters = Parameters::paper(20).unwrap().build().unwrap();
        let mut stream: Stream<LedgerRecalibrator, Gaussian> =
            Stream::new(LedgerRecalibrator::new(parameters));
        for t in 0..5 {
            stream.observe(Gaussian::new(0.0, 1.0).unwrap(), f64::from(t) - 2.0).unwrap();
        }
        let recalibrator = stream.recalibrator();
        assert_eq!(recalibrator, &recalibrator.clone());
        let mut plan = recalibrator.empty_plan();
        recalibrator.plan(&Gaussian::new(0.0, 1.0).unwrap(), Groups::NONE, 5, &mut plan).unwrap();
        recalibrator.validate_plan(&plan).unwrap();
    }
}
