//! What the state of the ledgers tells: potential, bounds, exact regret.
//!
//! Everything here is read from the balances in O(M N); nothing needs the history. With a half-life, sums are those of the
//! window: the latest outcome counts 1, the one before it γ, and so on.

use super::{Ledgers, Sums};

impl Ledgers {
    /// The balances L of ledger `g`, level by level, in units of its weights.
    pub fn balances(&self, ledger: usize) -> Vec<Vec<f64>> {
        let plays = 0..self.plays.values().len();
        let row = |j| plays.clone().map(|i| self.balance(ledger, j, i) / self.scale()).collect();
        (0..self.levels.count()).map(row).collect()
    }

    /// A_gj, the sums of squared weights of ledger `g`.
    pub fn squares(&self, ledger: usize) -> Vec<f64> {
        let scale = self.scale() * self.scale();
        self.per_level(ledger).map(|sums| sums.square / scale).collect()
    }

    /// W_gj, the sums of weights of ledger `g`.
    pub fn totals(&self, ledger: usize) -> Vec<f64> {
        self.per_level(ledger).map(|sums| sums.total / self.scale()).collect()
    }

    /// Q_gj, the weighted squared distances of the plays of ledger `g` from the base.
    pub fn shifts(&self, ledger: usize) -> Vec<f64> {
        (0..self.levels.count()).map(|j| self.shift(ledger, j) / self.scale()).collect()
    }

    fn per_level(&self, ledger: usize) -> impl Iterator<Item = Sums> {
        (0..self.levels.count()).map(move |j| self.sums(ledger, j))
    }

    pub(super) fn shift(&self, ledger: usize, level: usize) -> f64 {
        let (account, lane) = self.account(ledger, level);
        account.shift[lane]
    }

    /// What the weight of the latest outcome was multiplied by: the window's unit.
    fn scale(&self) -> f64 {
        if self.steps == 0 { 1.0 } else { self.inflation * self.decay }
    }

    /// Ψ_j = Σ_g ‖L_gj‖²/A_gj for each level.
    pub fn potentials(&self) -> Vec<f64> {
        let mut potentials = vec![0.0; self.levels.count()];
        for g in 0..self.books.len() {
            for (j, potential) in potentials.iter_mut().enumerate() {
                let norm: f64 = (0..self.plays.values().len()).map(|i| self.balance(g, j, i).powi(2)).sum();
                // Without weight there is nothing in the balances.
                let square = self.sums(g, j).square;
                *potential += if square > 0.0 { norm / square } else { 0.0 };
            }
        }
        potentials
    }

    /// B_j for each level: what the potential is bounded by, whatever the outcomes were.
    pub fn potential_bounds(&self) -> &[f64] {
        &self.bounds[..self.levels.count()]
    }

    /// Σ w[(p−o)² − (u−o)²] of ledger `g` over all steps and levels, exactly, from the state alone.
    pub fn regret(&self, ledger: usize) -> f64 {
        let (u, v) = (self.levels.probabilities(), self.plays.values());
        let regrets = (0..u.len()).map(|j| {
            let inner: f64 = v.iter().enumerate().map(|(i, v)| (v - u[j]) * self.balance(ledger, j, i)).sum();
            -2.0 * inner - self.shift(ledger, j)
        });
        regrets.sum::<f64>() / self.scale()
    }
}
