//! Running means of what happened, forgetting.
//!
//! ```text
//! m_j ← m_j + (o_j − m_j)/n,   n = min(10 + outcomes, 1/(1 − 2^(−1/30)))       m_j starts at u_j
//! ```
//!
//! The base counts for ten outcomes; an outcome counts half after thirty more. It follows drift that the ledgers, which forget nothing, follow late.
//! Cost: O(M); M + 1 numbers.

use super::{Expert, Occasion, Told};
use crate::recalibrate::Parameters;

/// After so many outcomes one counts half.
const HALF_LIFE: f64 = 30.0;
/// So many outcomes the base counts for.
pub(super) const PRIOR: f64 = 10.0;

/// 1/(1 − 2^(−1/h)): the n at which forgetting has this half-life.
pub(super) fn memory(half_life: f64) -> f64 {
    1.0 / (1.0 - libm::exp2(-1.0 / half_life))
}

/// Running means, one for each level.
#[derive(Debug, Clone, PartialEq)]
pub struct Mean {
    pub(super) means: Vec<f64>,
    pub(super) count: f64,
    pub(super) most: f64,
}

impl Mean {
    pub(crate) fn start(parameters: &Parameters) -> Self {
        Mean::with_half_life(
            parameters,
            Some(parameters.half_life.map_or(HALF_LIFE, |own| own.min(HALF_LIFE))),
        )
    }

    pub(super) fn with_half_life(parameters: &Parameters, half_life: Option<f64>) -> Self {
        let means = parameters.levels.probabilities().to_vec();
        Mean { means, count: PRIOR, most: half_life.map_or(f64::INFINITY, memory) }
    }

    /// m_j.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    pub(crate) fn saved(&self) -> (Vec<f64>, f64) {
        (self.means.clone(), self.count)
    }

    pub(crate) fn restore(&mut self, (means, count): (Vec<f64>, f64)) -> bool {
        let fits = means.len() == self.means.len();
        (self.means, self.count) = (means, count);
        fits
    }
}

impl Expert for Mean {
    fn say(&self, _: &Occasion<'_>, said: &mut [f64], _: &mut Vec<f64>) {
        said.copy_from_slice(&self.means);
    }

    fn learn(&mut self, told: &Told<'_>) {
        self.count = (self.count + 1.0).min(self.most);
        for (j, mean) in self.means.iter_mut().enumerate() {
            *mean += (told.happened(j) - *mean) / self.count;
        }
    }

    fn is_valid(&self) -> bool {
        self.means.iter().all(|p| (0.0..=1.0).contains(p))
            && self.count >= PRIOR.min(self.most)
            && self.count.is_finite()
    }
}
