//! A running mean of the spread alone.
//!
//! ```text
//! s_j = (m_j + 1 − m_{M+1−j})/2,   m the running mean of all outcomes, n = 10 + outcomes
//! ```
//!
//! Both sides of the median are taken together, so it says nothing of a bias and learns the width from twice as many outcomes.
//! It needs levels that mirror each other. Cost: O(M); M + 1 numbers.

use super::{Expert, Mean, Occasion, Told};
use crate::recalibrate::Parameters;

/// A symmetric running mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread(Mean);

impl Spread {
    pub(crate) fn start(parameters: &Parameters) -> Self {
        Spread(Mean::with_half_life(parameters, parameters.half_life))
    }

    pub(crate) fn saved(&self) -> (Vec<f64>, f64) {
        self.0.saved()
    }

    pub(crate) fn restore(&mut self, saved: (Vec<f64>, f64)) -> bool {
        self.0.restore(saved)
    }
}

impl Expert for Spread {
    fn say(&self, _: &Occasion<'_>, said: &mut [f64], _: &mut Vec<f64>) {
        let means = self.0.means();
        for (said, (here, there)) in said.iter_mut().zip(means.iter().zip(means.iter().rev())) {
            *said = 0.5 * (here + 1.0 - there);
        }
    }

    fn learn(&mut self, told: &Told<'_>) {
        self.0.learn(told);
    }

    fn is_valid(&self) -> bool {
        self.0.is_valid()
    }
}
