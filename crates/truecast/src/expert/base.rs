//! The base forecast as an expert: it says u_j = Φ(z_j). What the mixture falls back to.

use super::{Expert, Occasion, Told};
use crate::recalibrate::Parameters;

/// The base forecast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Base;

impl Base {
    pub(crate) fn start(_: &Parameters) -> Self {
        Base
    }

    pub(crate) fn saved(self) {}

    pub(crate) fn restore(&mut self, (): ()) -> bool {
        true
    }
}

impl Expert for Base {
    fn say(&self, occasion: &Occasion<'_>, said: &mut [f64], _: &mut Vec<f64>) {
        said.copy_from_slice(occasion.levels.probabilities());
    }

    fn learn(&mut self, _: &Told<'_>) {}

    fn is_valid(&self) -> bool {
        true
    }
}
