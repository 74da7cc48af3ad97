//! A running mean of the spread alone.
//!
//! ```text
//! s_j ← s_j + ((o_j + 1 − o_{M+1−j})/2 − s_j)/n,   n = 10 + outcomes       s_j starts at u_j
//! ```
//!
//! Both sides of the median are taken together, so it says nothing of a bias and learns the width from twice as many outcomes.
//! It needs levels that mirror each other. Cost: O(M); M/2 + 1 numbers.

use super::mean::{PRIOR, memory};
use super::{Expert, Occasion, Told};
use crate::recalibrate::Parameters;

/// A symmetric running mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// s_j of the lower half of the levels, the median's among them; the upper half mirrors them.
    lower: Vec<f64>,
    count: f64,
    most: f64,
}

impl Spread {
    pub(crate) fn start(parameters: &Parameters) -> Self {
        let u = parameters.levels.probabilities();
        let lower = u[..u.len().div_ceil(2)].to_vec();
        Spread { lower, count: PRIOR, most: parameters.half_life.map_or(f64::INFINITY, memory) }
    }

    pub(crate) fn saved(&self) -> (Vec<f64>, f64) {
        (self.lower.clone(), self.count)
    }

    pub(crate) fn restore(&mut self, (lower, count): (Vec<f64>, f64)) -> bool {
        let fits = lower.len() == self.lower.len();
        (self.lower, self.count) = (lower, count);
        fits
    }
}

impl Expert for Spread {
    fn say(&self, _: &Occasion<'_>, said: &mut [f64], _: &mut Vec<f64>) {
        let last = said.len() - 1;
        for (j, &s) in self.lower.iter().enumerate() {
            said[last - j] = 1.0 - s;
            said[j] = s;
        }
    }

    fn learn(&mut self, told: &Told<'_>) {
        self.count = (self.count + 1.0).min(self.most);
        let last = told.levels.count() - 1;
        for (j, s) in self.lower.iter_mut().enumerate() {
            let happened = 0.5 * (told.happened(j) + 1.0 - told.happened(last - j));
            *s += (happened - *s) / self.count;
        }
    }

    fn is_valid(&self) -> bool {
        let unit = self.lower.iter().all(|p| (0.0..=1.0).contains(p));
        unit && self.count >= PRIOR.min(self.most) && self.count.is_finite()
    }
}
