//! What each ledger weighs a step with, known before the outcome.

use fearless_simd::{Simd, f64x4, prelude::*};
use multiversion::multiversion;

use super::Ledgers;
use crate::error::{Error, Result};
use crate::forecast::Forecast;
use crate::lanes::{LANES, across, quads, quads_mut, vector};
use crate::recalibrate::parameters::{Groups, LedgerKind};
use crate::recalibrate::plan::Plan;

/// Widths whose squares, inflated and summed over any run, stay within `f64`.
pub(crate) const LARGEST_WIDTH: f64 = 1e140;
/// Widths whose squares do not underflow.
const SMALLEST_WIDTH: f64 = 1e-140;

impl Ledgers {
    /// Fills in the forecast's widths, if anything asks for them, and the weights of every ledger. Gives the sum of the widths.
    #[inline(always)]
    pub(crate) fn weigh<S: Simd>(
        &self,
        simd: S,
        forecast: &dyn Forecast,
        groups: Groups,
        plan: &mut Plan,
    ) -> Result<f64> {
        if self.are_usual()
            && let Some(width) =
                forecast.as_gaussian().and_then(|normal| self.weigh_normal(simd, normal.std(), plan))
        {
            return Ok(width);
        }
        self.weigh_any(forecast, groups, plan)
    }

    /// The same for a normal forecast and the usual ledgers, in one pass; `None` if it has a width that cannot be squared.
    #[inline(always)]
    fn weigh_normal<S: Simd>(&self, simd: S, std: f64, plan: &mut Plan) -> Option<f64> {
        let (smallest, largest) = self.levels.extreme_gaps();
        // A product of positive numbers rounds upwards and downwards together with them.
        if !(std * smallest >= SMALLEST_WIDTH && std * largest < LARGEST_WIDTH) {
            return None;
        }
        let gaps = quads(self.levels.padded_gaps());
        let (uniform, crps) = plan.weights.split_at_mut(self.cells.len());
        uniform[0] = 1.0;
        let (crps, widths) = (quads_mut(crps), quads_mut(&mut plan.widths));
        let (crps, widths) = (&mut crps[..gaps.len()], &mut widths[..gaps.len()]);
        let mut sums = f64x4::splat(simd, 0.0);
        for b in 0..gaps.len() {
            let scaled = vector(simd, gaps[b]) * std;
            sums += scaled;
            (crps[b], widths[b]) = (scaled.into(), scaled.into());
        }
        Some(across(sums.into()))
    }

    /// For any forecast and any ledgers.
    fn weigh_any(&self, forecast: &dyn Forecast, groups: Groups, plan: &mut Plan) -> Result<f64> {
        let (count, room) = (self.levels.count(), self.cells.len());
        if !plan.widths.is_empty() {
            forecast.widths(&self.levels, &mut plan.widths[..count]);
        }
        let (mut width, usual) = total_if_usual(&plan.widths);
        if !usual {
            without_extremes(&mut plan.widths)?;
            width = total(&plan.widths);
        }
        for (g, kind) in self.kinds.iter().enumerate() {
            let weights = &mut plan.weights[g * room..][..room];
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
        Ok(width)
    }
}

/// The sum of the widths: down the lanes, then across them.
pub(crate) fn total(widths: &[f64]) -> f64 {
    total_if_usual(widths).0
}

/// The same, and whether every one is 0, or neither too small nor too large to be squared; NaN is not.
#[multiversion(targets("x86_64+avx2"))]
fn total_if_usual(widths: &[f64]) -> (f64, bool) {
    let (mut sums, mut unusual) = ([0.0; LANES], [0u64; LANES]);
    for width in quads(widths) {
        for l in 0..LANES {
            let w = width[l];
            sums[l] += w;
            // Without a branch.
            let squares = (SMALLEST_WIDTH..LARGEST_WIDTH).contains(&w);
            unusual[l] |= u64::from(!((w == 0.0) | squares));
        }
    }
    (across(sums), unusual == [0; LANES])
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
