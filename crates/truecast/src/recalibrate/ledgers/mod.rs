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
//! Cost: O(M) per step and ledger. The two balances around each level's last play are kept apart ([`Account`]), so that one
//! step is three straight passes over the levels (`passes/`); only a play that leaves its cell, about one in a hundred, touches the
//! table of balances.
//!
//! | file | concept |
//! |---|---|
//! | `weights.rs` | what each ledger weighs a step with |
//! | `play.rs` | the root of the balance that is announced |
//! | `book.rs` | what an outcome changes |
//! | `facts.rs` | potential, bounds and exact regret, read from the state |
//! | `state.rs` | the saved form |

mod book;
mod facts;
mod play;
mod state;
mod weights;

use std::sync::Arc;

pub(super) use self::book::{Entries, Settlement};
pub(super) use self::play::ratio;
pub(crate) use self::state::LedgersState;
pub(crate) use self::weights::{LARGEST_WIDTH, total};
use super::parameters::{LedgerKind, Parameters};
use crate::grid::{Levels, Plays};
use crate::lanes::{LANES, Quad, pad, padded, quads};

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
    pub(super) inflation: f64,
    /// Outcomes settled.
    steps: u64,
    /// Σ γ^(age) over the settled outcomes; the number of outcomes without a half-life.
    effective: f64,
    /// One more than the number of the latest forecast whose outcome was settled; walks start at its plays.
    latest: u64,
    /// The levels, four at a time.
    pub(super) rows: Vec<Row>,
    /// The cell of each level's last play and how far into it the play was, padded.
    pub(super) cells: Vec<u32>,
    pub(super) fractions: Vec<f64>,
    pub(super) books: Vec<Book>,
    /// For each row of levels in turn, one for each book.
    pub(super) accounts: Vec<Account>,
    /// B_j, padded.
    pub(super) bounds: Vec<f64>,
    /// w/A and cross terms at the time of settling, for plays that are no roots of the present balances; padded.
    late_ratios: Vec<f64>,
    cross_terms: Vec<f64>,
}

/// Four levels: z, u, and v at the two ends of the cell of each one's last play.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    pub(super) probit: Quad,
    pub(super) base: Quad,
    pub(super) v_low: Quad,
    pub(super) v_high: Quad,
}

/// What one ledger has booked at four levels.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Account {
    /// The balances at the two ends of the cell of each level's last play.
    pub(super) low: Quad,
    pub(super) high: Quad,
    /// Q, the weighted squared distances of the plays from the base.
    pub(super) shift: Quad,
    /// A and W, the sums of squared weights and of weights; those of a flat ledger are in its [`Book`].
    pub(super) square: Quad,
    pub(super) total: Quad,
}

/// One ledger.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Book {
    /// Balances, level by level. Stale at the two ends of a level's cell, whose balances are in the [`Account`].
    table: Vec<f64>,
    /// A and W if they are the same at every level.
    pub(super) flat: Option<Sums>,
}

/// A = Σ w² and W = Σ w.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Sums {
    pub(super) square: f64,
    pub(super) total: f64,
}

impl Ledgers {
    pub(crate) fn new(parameters: &Parameters) -> Self {
        let (levels, plays) = (parameters.levels.clone(), parameters.plays.clone());
        let (count, room) = (levels.count(), padded(levels.count()));
        // Padding levels announce 0 for an event that never happens, so nothing is ever owed at them.
        let (probits, base) = (pad(levels.probits(), f64::NEG_INFINITY), pad(levels.probabilities(), 0.0));
        let locate = |&u: &f64| plays.locate(u);
        let (cells, fractions): (Vec<u32>, Vec<f64>) =
            base.iter().map(locate).map(|(i, a)| (i as u32, a)).unzip();
        let rows = quads(&probits).iter().zip(quads(&base));
        let row = |(&probit, &base): (&Quad, &Quad)| {
            let nowhere = [0.0; LANES];
            Row { probit, base, v_low: nowhere, v_high: nowhere }
        };
        let balances = count * plays.values().len();
        let book =
            |kind: &LedgerKind| Book { table: vec![0.0; balances], flat: kind.is_flat().then(Sums::default) };
        let mut ledgers = Ledgers {
            decay: parameters.half_life.map_or(1.0, |outcomes| libm::exp2(-1.0 / outcomes)),
            inflation: 1.0,
            steps: 0,
            effective: 0.0,
            latest: 0,
            rows: rows.map(row).collect(),
            books: parameters.ledgers.iter().map(book).collect(),
            accounts: vec![Account::default(); room / LANES * parameters.ledgers.len()],
            bounds: vec![0.0; room],
            late_ratios: Vec::new(),
            cross_terms: Vec::new(),
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

    pub(crate) fn plays(&self) -> &Plays {
        &self.plays
    }

    /// By how much the weight of an outcome shrinks with each later one.
    pub(crate) fn decay(&self) -> f64 {
        self.decay
    }

    /// Whether the ledgers are those of the default.
    #[inline(always)]
    pub(super) fn are_usual(&self) -> bool {
        matches!(self.kinds[..], [LedgerKind::Uniform, LedgerKind::Crps])
    }

    /// κ/(n + 1): how strongly the prior pulls a play towards the base.
    pub(super) fn pull(&self) -> f64 {
        self.prior / (self.effective + 1.0)
    }

    /// What ledger `g` has booked at the four levels around `level`, and which of them it is.
    fn account(&self, ledger: usize, level: usize) -> (&Account, usize) {
        (&self.accounts[level / LANES * self.books.len() + ledger], level % LANES)
    }

    /// L_gji, wherever it is kept.
    fn balance(&self, ledger: usize, level: usize, play: usize) -> f64 {
        let cell = self.cells[level] as usize;
        let (account, lane) = self.account(ledger, level);
        if play == cell {
            account.low[lane]
        } else if play == cell + 1 {
            account.high[lane]
        } else {
            self.books[ledger].table[level * self.plays.values().len() + play]
        }
    }

    /// A_gj, W_gj.
    fn sums(&self, ledger: usize, level: usize) -> Sums {
        let (account, lane) = self.account(ledger, level);
        let own = Sums { square: account.square[lane], total: account.total[lane] };
        self.books[ledger].flat.unwrap_or(own)
    }

    fn find_cell_ends(&mut self) {
        let v = self.plays.values();
        for (j, &cell) in self.cells.iter().enumerate() {
            let row = &mut self.rows[j / LANES];
            (row.v_low[j % LANES], row.v_high[j % LANES]) = (v[cell as usize], v[cell as usize + 1]);
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
