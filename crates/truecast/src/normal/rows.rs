//! Φ⁻¹, Φ and φ along a whole row of numbers, as parts of vector loops elsewhere.
//!
//! A rational function is a chain of operations that wait for each other, and a processor looks ahead over little more than one of them. So all
//! numbers take one step, such as a logarithm or a numerator, before any takes the next, and polynomials are trees and not chains. What is found
//! are the numbers of [`quantile`] and [`lanes`](super::lanes) to a few roundings.

use super::lanes::{
    END, SMALL, exp_rest, exp_split, ln_join, ln_split, mills_denominator, mills_numerator, tree, within_end,
};
use super::{CENTRE, DENSITY_AT_ZERO, MIDDLE, quantile};

/// The length of a row: whole vectors of any width, and more than the 25 levels of a default map.
pub(crate) const ROW: usize = 32;

/// Φ⁻¹ of probabilities inside (0, 1) that do not decrease.
///
/// The ninth to the sixteenth are nearly always central, with 25 levels at the beginning of the row: if so, they need no logarithms.
#[inline(always)]
pub(crate) fn quantiles(p: &[f64; ROW], out: &mut [f64; ROW]) {
    let (mut outer, mut inner) = ([0.0; 24], [0.0; 8]);
    outer[..8].copy_from_slice(&p[..8]);
    outer[8..].copy_from_slice(&p[16..]);
    inner.copy_from_slice(&p[8..16]);
    let outer = near_quantiles(&outer);
    // Central ones end at 0.075 and 0.925, but for rounding.
    let is_central = p[8] > 0.08 && p[15] < 0.92;
    let inner = if is_central { central_quantiles(&inner) } else { near_quantiles(&inner) };
    out[..8].copy_from_slice(&outer[..8]);
    out[8..16].copy_from_slice(&inner);
    out[16..].copy_from_slice(&outer[8..]);
    if p[0] <= SMALL || 1.0 - p[ROW - 1] <= SMALL {
        for (out, &p) in out.iter_mut().zip(p).filter(|(_, p)| p.min(1.0 - **p) <= SMALL) {
            *out = quantile(p);
        }
    }
}

#[inline(always)]
fn central_quantiles<const COUNT: usize>(p: &[f64; COUNT]) -> [f64; COUNT] {
    let (mut out, mut above, mut below) = ([0.0; COUNT], [0.0; COUNT], [0.0; COUNT]);
    for i in 0..COUNT {
        let q = p[i] - 0.5;
        above[i] = tree(&CENTRE.numerator, 0.180625 - q * q);
    }
    for i in 0..COUNT {
        let q = p[i] - 0.5;
        below[i] = tree(&CENTRE.denominator, 0.180625 - q * q);
    }
    for i in 0..COUNT {
        out[i] = (p[i] - 0.5) * (above[i] / below[i]);
    }
    out
}

/// Φ⁻¹ of probabilities that are not [`SMALL`]: the form that holds gives argument and coefficients.
#[inline(always)]
fn near_quantiles<const COUNT: usize>(p: &[f64; COUNT]) -> [f64; COUNT] {
    let (mut x, mut k, mut f, mut s, mut above, mut below) =
        ([0.0; COUNT], [0.0; COUNT], [0.0; COUNT], [0.0; COUNT], [0.0; COUNT], [0.0; COUNT]);
    let is_central = |p: f64| (p - 0.5).abs() <= 0.425;
    for i in 0..COUNT {
        let tail = if p[i] < 0.5 { p[i] } else { 1.0 - p[i] };
        (k[i], f[i]) = ln_split(tail);
        s[i] = f[i] / (2.0 + f[i]);
    }
    for i in 0..COUNT {
        let q = p[i] - 0.5;
        let outer = (-ln_join(k[i], f[i], s[i])).sqrt() - 1.6;
        x[i] = if is_central(p[i]) { 0.180625 - q * q } else { outer };
    }
    for i in 0..COUNT {
        above[i] = tree(&either(is_central(p[i]), &CENTRE.numerator, &MIDDLE.numerator), x[i]);
    }
    for i in 0..COUNT {
        below[i] = tree(&either(is_central(p[i]), &CENTRE.denominator, &MIDDLE.denominator), x[i]);
    }
    for i in 0..COUNT {
        let ratio = above[i] / below[i];
        let outer = if p[i] < 0.5 { -ratio } else { ratio };
        x[i] = if is_central(p[i]) { (p[i] - 0.5) * ratio } else { outer };
    }
    x
}

#[inline(always)]
fn either(first: bool, one: &[f64; 8], other: &[f64; 8]) -> [f64; 8] {
    let mut coefficients = [0.0; 8];
    for k in 0..8 {
        coefficients[k] = if first { one[k] } else { other[k] };
    }
    coefficients
}

/// Φ(−|z|) and φ(z) with one division for both. Mills' ratio is n/d and the exponential 2ᵏ (2 + 2r − c) / (2 − c), so that both are multiples of
/// 1 / ((2 − c) d).
#[inline(always)]
pub(crate) fn tails_and_densities(z: &[f64; ROW], tails: &mut [f64; ROW], densities: &mut [f64; ROW]) {
    let (mut above, mut below, mut scale, mut r, mut c) =
        ([0.0; ROW], [0.0; ROW], [0.0; ROW], [0.0; ROW], [0.0; ROW]);
    for i in 0..ROW {
        let (power, high, low) = exp_split(within_end(z[i]));
        (scale[i], r[i]) = (power, high - low);
    }
    for i in 0..ROW {
        above[i] = mills_numerator(within_end(z[i]));
    }
    for i in 0..ROW {
        below[i] = mills_denominator(within_end(z[i]));
    }
    for i in 0..ROW {
        c[i] = exp_rest(r[i]);
    }
    for i in 0..ROW {
        let per_both = 1.0 / ((2.0 - c[i]) * below[i]);
        let above_both = DENSITY_AT_ZERO * (scale[i] * (2.0 + 2.0 * r[i] - c[i]));
        let above_both = if z[i].abs() < END { above_both } else { 0.0 };
        (densities[i], tails[i]) = (above_both * (below[i] * per_both), above_both * (above[i] * per_both));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::lanes::Score;
    use crate::{normal, random};

    /// Rows that are all middle, all tail, all on one side, and of everything; with probabilities where the forms change over. A sum of positive
    /// terms in another order differs by a rounding for each of the few steps of the tree: 1e-15 is nine of them.
    #[test]
    fn quantiles_are_those_of_the_scalar_function() {
        let edges = [0.075, 0.925, SMALL, 1.0 - SMALL].map(|p: f64| [p.next_down(), p, p.next_up()]);
        for block in 0..20_000_u64 {
            let reach = [0.3, 1.0, 2.0, 4.0, 8.0][(block % 5) as usize];
            let shift = [0.0, -1.5, 1.5, -4.0, 4.0][(block / 5 % 5) as usize];
            let mut p: [f64; ROW] = std::array::from_fn(|i| {
                let z = shift + reach * (2.0 * random::uniform(7, block, i as u32) - 1.0);
                normal::cdf(z).clamp(1e-12, 1.0 - 1e-12)
            });
            if block % 3 == 0 {
                p[..12].copy_from_slice(edges.as_flattened());
            }
            p.sort_unstable_by(f64::total_cmp);
            let mut out = [0.0; ROW];
            quantiles(&p, &mut out);
            for (got, &p) in out.iter().zip(&p) {
                let want = quantile(p);
                assert!((got - want).abs() <= 1e-15 * want.abs(), "Φ⁻¹({p:e}): {got} {want}");
            }
        }
    }

    /// A dozen operations that round, in place of as many others: 2e-15 is nine roundings on either side.
    #[test]
    fn tails_and_densities_are_those_of_single_scores() {
        for block in 0..2_000_u64 {
            let size = if block % 2 == 0 { 6.0 } else { 40.0 };
            let z: [f64; ROW] =
                std::array::from_fn(|i| size * (2.0 * random::uniform(8, block, i as u32) - 1.0));
            let [mut tails, mut densities] = [[0.0; ROW]; 2];
            tails_and_densities(&z, &mut tails, &mut densities);
            for i in 0..ROW {
                let score = Score::new(z[i]);
                let close = |got: f64, want: f64| (got - want).abs() <= 2e-15 * want;
                assert!(close(tails[i], score.tail) && close(densities[i], score.density), "{}", z[i]);
            }
        }
    }
}
