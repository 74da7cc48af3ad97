//! Φ⁻¹, Φ and φ along a whole row of numbers, as parts of vector loops elsewhere.
//!
//! A rational function is a chain of operations that wait for each other, and a processor looks ahead over little more than one of them. So all numbers take
//! one step, such as a logarithm or a numerator, before any takes the next, and polynomials are trees and not chains. Φ and φ are those of
//! [`lanes`](super::lanes), bit for bit; Φ⁻¹ is that of [`quantile`] to a few roundings.

use super::lanes::{
    END, SMALL, exp_of_difference, exp_split, ln_join, ln_split, mills_denominator, mills_numerator, tree,
    within_end,
};
use super::{CENTRE, DENSITY_AT_ZERO, MIDDLE, quantile};

/// How many probabilities [`quantiles`] takes.
pub(crate) const ROW: usize = 28;

/// Φ⁻¹ of probabilities inside (0, 1) that do not decrease.
///
/// Without looking, the fifth to the twentieth are taken for central, and the first eight and the last twelve for tails; the rest only where it is
/// not so. With 25 levels at the beginning of the row it nearly always is.
#[inline(always)]
pub(crate) fn quantiles(p: &[f64; ROW], out: &mut [f64; ROW]) {
    let (mut central, mut tails) = ([0.0; ROW], [0.0; ROW]);
    let mut inner = [0.0; 16];
    inner.copy_from_slice(&p[4..20]);
    central[4..20].copy_from_slice(&central_quantiles(&inner));
    // Central ones end at 0.075 and 0.925, but for rounding.
    if p[3] > 0.07 || p[20] < 0.93 {
        for i in (0..4).chain(20..ROW) {
            central[i] = central_quantile(p[i]);
        }
    }
    let mut outer = [0.0; 20];
    outer[..8].copy_from_slice(&p[..8]);
    outer[8..].copy_from_slice(&p[16..]);
    let outer = tail_quantiles(&outer);
    tails[..8].copy_from_slice(&outer[..8]);
    tails[16..].copy_from_slice(&outer[8..]);
    if p[8] < 0.08 || p[15] > 0.92 {
        let mut inner = [0.0; 8];
        inner.copy_from_slice(&p[8..16]);
        tails[8..16].copy_from_slice(&tail_quantiles(&inner));
    }
    for i in 0..ROW {
        out[i] = if (p[i] - 0.5).abs() <= 0.425 { central[i] } else { tails[i] };
    }
    if p[0] <= SMALL || 1.0 - p[ROW - 1] <= SMALL {
        for (out, &p) in out.iter_mut().zip(p).filter(|(_, p)| p.min(1.0 - **p) <= SMALL) {
            *out = quantile(p);
        }
    }
}

#[inline(always)]
fn central_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    let x = 0.180625 - q * q;
    q * (tree(&CENTRE.numerator, x) / tree(&CENTRE.denominator, x))
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

/// Φ⁻¹ of probabilities that are neither central nor [`SMALL`].
#[inline(always)]
fn tail_quantiles<const COUNT: usize>(p: &[f64; COUNT]) -> [f64; COUNT] {
    let (mut x, mut k, mut f, mut s, mut above, mut below) =
        ([0.0; COUNT], [0.0; COUNT], [0.0; COUNT], [0.0; COUNT], [0.0; COUNT], [0.0; COUNT]);
    for i in 0..COUNT {
        let tail = if p[i] < 0.5 { p[i] } else { 1.0 - p[i] };
        (k[i], f[i]) = ln_split(tail);
        s[i] = f[i] / (2.0 + f[i]);
    }
    for i in 0..COUNT {
        x[i] = (-ln_join(k[i], f[i], s[i])).sqrt() - 1.6;
    }
    for i in 0..COUNT {
        above[i] = tree(&MIDDLE.numerator, x[i]);
    }
    for i in 0..COUNT {
        below[i] = tree(&MIDDLE.denominator, x[i]);
    }
    for i in 0..COUNT {
        let size = above[i] / below[i];
        x[i] = if p[i] < 0.5 { -size } else { size };
    }
    x
}

/// Φ(−|z|) and φ(z).
#[inline(always)]
pub(crate) fn tails_and_densities<const COUNT: usize>(
    z: &[f64; COUNT],
    tails: &mut [f64; COUNT],
    densities: &mut [f64; COUNT],
) {
    let (mut above, mut below, mut scale, mut high, mut low) =
        ([0.0; COUNT], [0.0; COUNT], [0.0; COUNT], [0.0; COUNT], [0.0; COUNT]);
    for i in 0..COUNT {
        (scale[i], high[i], low[i]) = exp_split(within_end(z[i]));
    }
    for i in 0..COUNT {
        above[i] = mills_numerator(within_end(z[i]));
    }
    for i in 0..COUNT {
        below[i] = mills_denominator(within_end(z[i]));
    }
    for i in 0..COUNT {
        let density = DENSITY_AT_ZERO * (scale[i] * exp_of_difference(high[i], low[i]));
        densities[i] = if z[i].abs() < END { density } else { 0.0 };
    }
    for i in 0..COUNT {
        tails[i] = densities[i] * (above[i] / below[i]);
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
                assert_eq!((tails[i], densities[i]), (score.tail, score.density), "{}", z[i]);
            }
        }
    }
}
