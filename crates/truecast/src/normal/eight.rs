//! Φ⁻¹, Φ and φ of eight numbers at once, and of several times eight.
//!
//! A rational function is a chain of operations that wait for each other, and a processor looks ahead over little more than one of them. So all
//! vectors take one step, such as a logarithm or a numerator, before any takes the next, and polynomials are trees and not chains. What is found
//! are the numbers of [`quantile`](super::quantile) and [`lanes`](super::lanes) to a few roundings, the same bits whatever stands beside them.

use fearless_simd::{Simd, f64x8, mask64x8, prelude::*};

use super::lanes::{
    END, LN_2_HIGH, LN_2_LOW, SMALL, WHOLE, coefficients, exp_rest, mills_denominator, mills_numerator, tree,
};
use super::logarithm::ln;
use super::{CENTRE, DENSITY_AT_ZERO, FAR, MIDDLE, Rational};
use crate::lanes::Number;

/// Φ⁻¹ of probabilities inside (0, 1). Where all are central there is no logarithm to be taken.
#[inline(always)]
pub(crate) fn quantiles<S: Simd, const N: usize>(simd: S, p: [f64x8<S>; N]) -> [f64x8<S>; N] {
    let zero = f64x8::splat(simd, 0.0);
    let (mut x, mut above, mut below) = ([zero; N], [zero; N], [zero; N]);
    let mut central = zero.simd_eq(0.0);
    for i in 0..N {
        let q = p[i] - 0.5;
        x[i] = zero.everywhere(0.180625) - q * q;
        central &= is_central(p[i]);
    }
    if central.any_false() {
        return outer_quantiles(simd, p);
    }
    for i in 0..N {
        above[i] = tree(coefficients(&CENTRE.numerator, zero), x[i]);
    }
    for i in 0..N {
        below[i] = tree(coefficients(&CENTRE.denominator, zero), x[i]);
    }
    for i in 0..N {
        x[i] = (p[i] - 0.5) * (above[i] / below[i]);
    }
    x
}

/// The same where some lie in the tails.
#[inline(always)]
fn outer_quantiles<S: Simd, const N: usize>(simd: S, p: [f64x8<S>; N]) -> [f64x8<S>; N] {
    let zero = f64x8::splat(simd, 0.0);
    let (mut root, mut x, mut above, mut below) = ([zero; N], [zero; N], [zero; N], [zero; N]);
    let mut far = zero.simd_lt(0.0);
    for i in 0..N {
        let tail = tail(p[i]);
        far |= tail.simd_le(SMALL);
        root[i] = (-ln(tail)).sqrt();
    }
    for i in 0..N {
        let q = p[i] - 0.5;
        x[i] = is_central(p[i]).select(zero.everywhere(0.180625) - q * q, root[i] - 1.6);
    }
    for i in 0..N {
        above[i] = tree(either(is_central(p[i]), &CENTRE.numerator, &MIDDLE.numerator), x[i]);
    }
    for i in 0..N {
        below[i] = tree(either(is_central(p[i]), &CENTRE.denominator, &MIDDLE.denominator), x[i]);
    }
    for i in 0..N {
        let ratio = above[i] / below[i];
        let outer = p[i].simd_lt(0.5).select(-ratio, ratio);
        x[i] = is_central(p[i]).select((p[i] - 0.5) * ratio, outer);
    }
    if far.any_true() {
        for i in 0..N {
            let (is_far, z) = (tail(p[i]).simd_le(SMALL), far_quantile(root[i]));
            x[i] = is_far.select(p[i].simd_lt(0.5).select(-z, z), x[i]);
        }
    }
    x
}

/// Coefficients of one form or, where it does not hold, of another.
#[inline(always)]
fn either<S: Simd>(holds: mask64x8<S>, one: &[f64; 8], other: &[f64; 8]) -> [f64x8<S>; 8] {
    let zero = f64x8::splat(holds.token(), 0.0);
    let (mut all, other) = (coefficients(one, zero), coefficients(other, zero));
    for k in 0..8 {
        all[k] = holds.select(all[k], other[k]);
    }
    all
}

#[inline(always)]
fn is_central<S: Simd>(p: f64x8<S>) -> mask64x8<S> {
    (p - 0.5).abs().simd_le(0.425)
}

/// The smaller of p and 1 − p.
#[inline(always)]
fn tail<S: Simd>(p: f64x8<S>) -> f64x8<S> {
    p.simd_lt(0.5).select(p, p.everywhere(1.0) - p)
}

/// The third form of AS 241, of √(−ln p) for p below [`SMALL`].
#[inline(always)]
fn far_quantile<S: Simd>(root: f64x8<S>) -> f64x8<S> {
    let Rational { numerator, denominator } = &FAR;
    let x = root - 5.0;
    tree(coefficients(numerator, x), x) / tree(coefficients(denominator, x), x)
}

/// Φ(−|z|) and φ(z) with one division for both. Mills' ratio is n/d and the exponential 2ᵏ (2 + 2r − c) / (2 − c), so that both are multiples of
/// 1 / ((2 − c) d).
#[inline(always)]
pub(crate) fn tails_and_densities<S: Simd, const N: usize>(simd: S, z: [f64x8<S>; N]) -> [[f64x8<S>; N]; 2] {
    let zero = f64x8::splat(simd, 0.0);
    let (mut above, mut below, mut scale, mut r) = ([zero; N], [zero; N], [zero; N], [zero; N]);
    for i in 0..N {
        (scale[i], r[i]) = exp_split(within_end(z[i]));
    }
    for i in 0..N {
        above[i] = mills_numerator(within_end(z[i]));
    }
    for i in 0..N {
        below[i] = mills_denominator(within_end(z[i]));
    }
    let (mut tails, mut densities) = ([zero; N], [zero; N]);
    for i in 0..N {
        let c = exp_rest(r[i]);
        let per_both = zero.everywhere(1.0) / ((zero.everywhere(2.0) - c) * below[i]);
        let above_both = (scale[i] * (r[i] * 2.0 + 2.0 - c)) * DENSITY_AT_ZERO;
        let above_both = z[i].abs().simd_lt(END).select(above_both, zero);
        tails[i] = above_both * (above[i] * per_both);
        densities[i] = above_both * (below[i] * per_both);
    }
    [tails, densities]
}

/// |z|, but no more than [`END`].
#[inline(always)]
fn within_end<S: Simd>(z: f64x8<S>) -> f64x8<S> {
    z.abs().min(END)
}

/// exp(−x²/2) as a power of two times exp r, as [`lanes::exp_split`](super::lanes::exp_split).
#[inline(always)]
fn exp_split<S: Simd>(x: f64x8<S>) -> (f64x8<S>, f64x8<S>) {
    let high = f64x8::from_bits(x.to_bits() & !0x07ff_ffff_u64);
    let (square, rest) = (high * -0.5 * high, (x - high) * -0.5 * (x + high));
    let shifted = square * std::f64::consts::LOG2_E + WHOLE;
    let k = shifted - WHOLE;
    let scale = f64x8::from_bits((shifted.to_bits() + 1023) << 52);
    (scale, (square - k * LN_2_HIGH) - (k * LN_2_LOW - rest))
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::*;
    use crate::lanes::{Eight, wide};
    use crate::normal::lanes::Score;
    use crate::normal::quantile;
    use crate::{normal, random};

    /// Three times eight numbers.
    type Numbers = [Eight; 3];

    fn quantiles_of(p: Numbers) -> Numbers {
        dispatch!(Level::new(), simd => quantiles(simd, p.map(|p| wide(simd, p))).map(|z| z.into()))
    }

    /// Numbers that are all middle, all tail, all on one side, and of everything; with probabilities where the forms change over. A sum of positive
    /// terms in another order differs by a rounding for each of the few steps of the tree: 1e-15 is nine of them.
    #[test]
    fn quantiles_are_those_of_the_scalar_function() {
        let edges = [0.075, 0.925, SMALL, 1.0 - SMALL].map(|p: f64| [p.next_down(), p, p.next_up()]);
        for block in 0..20_000_u64 {
            let reach = [0.3, 1.0, 2.0, 4.0, 8.0][(block % 5) as usize];
            let shift = [0.0, -1.5, 1.5, -4.0, 4.0][(block / 5 % 5) as usize];
            let mut p: Numbers = std::array::from_fn(|i| {
                std::array::from_fn(|l| {
                    let z = shift + reach * (2.0 * random::uniform(7, block, (8 * i + l) as u32) - 1.0);
                    normal::cdf(z).clamp(1e-12, 1.0 - 1e-12)
                })
            });
            if block % 3 == 0 {
                p.as_flattened_mut()[5..17].copy_from_slice(edges.as_flattened());
            }
            let out = quantiles_of(p);
            for (got, &p) in out.as_flattened().iter().zip(p.as_flattened()) {
                let want = quantile(p);
                assert!((got - want).abs() <= 1e-15 * want.abs(), "Φ⁻¹({p:e}): {got} {want}");
            }
            for (i, &alone) in p.iter().enumerate() {
                assert_eq!(
                    quantiles_of([alone; 3])[0],
                    out[i],
                    "the same bits beside other numbers: {alone:?}"
                );
            }
        }
    }

    /// A dozen operations that round, in place of as many others: 2e-15 is nine roundings on either side.
    #[test]
    fn tails_and_densities_are_those_of_single_scores() {
        for block in 0..4_000_u64 {
            let size = if block % 2 == 0 { 6.0 } else { 40.0 };
            let draw = |lane: usize| size * (2.0 * random::uniform(8, block, lane as u32) - 1.0);
            let z: [Eight; 2] = std::array::from_fn(|i| std::array::from_fn(|l| draw(8 * i + l)));
            let [tails, densities]: [[Eight; 2]; 2] = dispatch!(Level::new(), simd => {
                tails_and_densities(simd, z.map(|z| wide(simd, z))).map(|both| both.map(|of| of.into()))
            });
            for (i, &z) in z.as_flattened().iter().enumerate() {
                let (tail, density) = (tails.as_flattened()[i], densities.as_flattened()[i]);
                let score = Score::new(z);
                let close = |got: f64, want: f64| (got - want).abs() <= 2e-15 * want;
                assert!(close(tail, score.tail) && close(density, score.density), "{z}");
            }
        }
    }
}
