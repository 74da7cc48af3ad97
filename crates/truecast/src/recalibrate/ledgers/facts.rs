//! What the state of the ledgers tells: potential, bounds, exact regret.
//!
//! Everything here is read from the balances in O(M N); nothing needs the history.

use super::Ledgers;

impl Ledgers {
    /// The balances L of ledger `g`, level by level, in units of its weights.
    pub fn balances(&self, ledger: usize) -> Vec<Vec<f64>> {
        let book = &self.books[ledger];
        let plays = 0..self.plays.values().len();
        let row = |j| plays.clone().map(|i| self.balance(book, j, i) / self.scale()).collect();
        (0..self.levels.count()).map(row).collect()
    }

    /// A_gj, the discounted sums of squared weights of ledger `g`.
    pub fn squares(&self, ledger: usize) -> Vec<f64> {
        self.books[ledger].squares.iter().map(|a| a / (self.scale() * self.scale())).collect()
    }

    /// W_gj, the discounted sums of weights of ledger `g`.
    pub fn totals(&self, ledger: usize) -> Vec<f64> {
        self.books[ledger].totals.iter().map(|w| w / self.scale()).collect()
    }

    /// What the weight of the latest outcome was multiplied by: the window's unit.
    fn scale(&self) -> f64 {
        if self.steps == 0 { 1.0 } else { self.inflation * self.decay }
    }

    /// Ψ = Σ ‖L_gj‖²/A_gj.
    pub fn potential(&self) -> f64 {
        let mut sum = 0.0;
        for book in &self.books {
            for (j, &square) in book.squares.iter().enumerate().filter(|(_, square)| **square > 0.0) {
                let plays = 0..self.plays.values().len();
                sum += plays.map(|i| self.balance(book, j, i).powi(2)).sum::<f64>() / square;
            }
        }
        sum
    }

    /// What the potential is bounded by, whatever the outcomes were: booked step by step.
    pub fn potential_bound(&self) -> f64 {
        self.bounds.iter().sum()
    }

    /// The same bound from T and the weights alone, Σ (1 + ln(A/first w²)) + 2κM(1 + ln T); it holds for plays that were
    /// settled at once, not rounded, and not discounted.
    pub fn a_priori_bound(&self) -> f64 {
        let ledgers = self.books.iter().flat_map(|book| book.squares.iter().zip(&book.firsts));
        let logs = ledgers.filter(|(square, _)| **square > 0.0).map(|(square, first)| 1.0 + libm::log(square / first));
        let prior = 2.0 * self.prior * self.levels.count() as f64 * (1.0 + libm::log(self.steps.max(1) as f64));
        logs.sum::<f64>() + if self.steps > 0 { prior } else { 0.0 }
    }

    /// Σ w[(p−o)² − (u−o)²] of ledger `g` over all steps and levels, exactly, from the state alone.
    pub fn regret(&self, ledger: usize) -> f64 {
        let (u, v) = (self.levels.probabilities(), self.plays.values());
        let book = &self.books[ledger];
        let regrets = (0..u.len()).map(|j| {
            let inner: f64 = v.iter().enumerate().map(|(i, v)| (v - u[j]) * self.balance(book, j, i)).sum();
            -2.0 * inner - book.shifts[j]
        });
        regrets.sum::<f64>() / self.scale()
    }
}
