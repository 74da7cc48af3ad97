//! What the state of the ledgers tells: potential, bounds, exact regret.
//!
//! Everything here is read from the balances in O(M N); nothing needs the history. With a half-life, sums are those of the
//! window: the latest outcome counts 1, the one before it γ, and so on.

use super::{Book, Ledgers};

impl Ledgers {
    /// The balances L of ledger `g`, level by level, in units of its weights.
    pub fn balances(&self, ledger: usize) -> Vec<Vec<f64>> {
        let scale = self.scale();
        self.of(ledger).map(|book| book.balances.iter().map(|balance| balance / scale).collect()).collect()
    }

    /// A_gj, the sums of squared weights of ledger `g`.
    pub fn squares(&self, ledger: usize) -> Vec<f64> {
        let scale = self.scale() * self.scale();
        self.of(ledger).map(|book| book.square / scale).collect()
    }

    /// W_gj, the sums of weights of ledger `g`.
    pub fn totals(&self, ledger: usize) -> Vec<f64> {
        self.of(ledger).map(|book| book.total / self.scale()).collect()
    }

    /// Q_gj, the weighted squared distances of the plays of ledger `g` from the base.
    pub fn shifts(&self, ledger: usize) -> Vec<f64> {
        self.of(ledger).map(|book| book.shift / self.scale()).collect()
    }

    /// The books of one ledger, level by level.
    fn of(&self, ledger: usize) -> impl Iterator<Item = &Book> {
        self.books.iter().skip(ledger).step_by(self.kinds.len())
    }

    /// What the weight of the latest outcome was multiplied by: the window's unit.
    fn scale(&self) -> f64 {
        if self.steps == 0 { 1.0 } else { self.inflation * self.decay }
    }

    /// Ψ_j = Σ_g ‖L_gj‖²/A_gj for each level.
    pub fn potentials(&self) -> Vec<f64> {
        let potential = |book: &Book| {
            let norm: f64 = book.balances.iter().map(|balance| balance * balance).sum();
            // Without weight there is nothing in the balances.
            if book.square > 0.0 { norm / book.square } else { 0.0 }
        };
        (0..self.levels.count()).map(|level| self.at(level).iter().map(potential).sum()).collect()
    }

    /// B_j for each level: what the potential is bounded by, whatever the outcomes were.
    pub fn potential_bounds(&self) -> &[f64] {
        &self.bounds
    }

    /// Σ w[(p−o)² − (u−o)²] of ledger `g` over all steps and levels, exactly, from the state alone.
    pub fn regret(&self, ledger: usize) -> f64 {
        let (u, v) = (self.levels.probabilities(), self.plays.values());
        let regrets = self.of(ledger).zip(u).map(|(book, u)| {
            let inner: f64 = v.iter().zip(&book.balances).map(|(v, balance)| (v - u) * balance).sum();
            -2.0 * inner - book.shift
        });
        regrets.sum::<f64>() / self.scale()
    }
}
