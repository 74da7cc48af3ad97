//! Φ⁻¹ of four probabilities at once, and of several times four.
//!
//! A rational function is a chain of operations that wait for each other: so all vectors take one step before any takes the next. Where all probabilities
//! lie around the middle, which a caller can arrange to be foreseen, there is no logarithm to be taken. The operations are those of
//! [`quantile`] in their order, and so are the bits.

use fearless_simd::{Simd, f64x4, prelude::*};

use super::lanes::SMALL;
use super::logarithm::ln;
use super::{CENTRE, MIDDLE, quantile};

/// Φ⁻¹ of probabilities inside (0, 1).
#[inline(always)]
pub(crate) fn quantiles<S: Simd, const N: usize>(simd: S, p: [f64x4<S>; N]) -> [f64x4<S>; N] {
    let all = |value: f64| f64x4::splat(simd, value);
    let (mut x, mut above, mut below) = ([all(0.0); N], [all(0.0); N], [all(0.0); N]);
    let mut central = all(0.0).simd_eq(0.0);
    for i in 0..N {
        let q = p[i] - 0.5;
        x[i] = all(0.180625) - q * q;
        central &= q.abs().simd_le(0.425);
    }
    if central.any_false() {
        return outer_quantiles(simd, p);
    }
    for k in (0..8).rev() {
        for i in 0..N {
            above[i] = above[i] * x[i] + CENTRE.numerator[k];
            below[i] = below[i] * x[i] + CENTRE.denominator[k];
        }
    }
    for i in 0..N {
        x[i] = (p[i] - 0.5) * (above[i] / below[i]);
    }
    x
}

/// The same where some lie in the tails.
#[inline(always)]
fn outer_quantiles<S: Simd, const N: usize>(simd: S, p: [f64x4<S>; N]) -> [f64x4<S>; N] {
    let all = |value: f64| f64x4::splat(simd, value);
    let (mut x, mut above, mut below) = ([all(0.0); N], [all(0.0); N], [all(0.0); N]);
    let mut central = [all(0.0).simd_eq(0.0); N];
    let mut far = all(0.0).simd_lt(0.0);
    for i in 0..N {
        let q = p[i] - 0.5;
        central[i] = q.abs().simd_le(0.425);
        let tail = q.simd_lt(0.0).select(p[i], all(1.0) - p[i]);
        far |= tail.simd_le(SMALL);
        x[i] = central[i].select(all(0.180625) - q * q, (-ln(tail)).sqrt() - 1.6);
    }
    for k in (0..8).rev() {
        for i in 0..N {
            above[i] =
                above[i] * x[i] + central[i].select(all(CENTRE.numerator[k]), all(MIDDLE.numerator[k]));
            below[i] =
                below[i] * x[i] + central[i].select(all(CENTRE.denominator[k]), all(MIDDLE.denominator[k]));
        }
    }
    for i in 0..N {
        let (q, ratio) = (p[i] - 0.5, above[i] / below[i]);
        x[i] = central[i].select(q * ratio, ratio.copysign(q));
    }
    if far.any_true() {
        for i in 0..N {
            x[i] = with_far_ones(p[i], x[i]);
        }
    }
    x
}

/// `z` with Φ⁻¹ of those that are so small that AS 241 takes other polynomials: almost never.
#[cold]
fn with_far_ones<S: Simd>(p: f64x4<S>, z: f64x4<S>) -> f64x4<S> {
    let (p_of, mut z_of): ([f64; 4], [f64; 4]) = (p.into(), z.into());
    for l in 0..4 {
        if p_of[l] <= SMALL || 1.0 - p_of[l] <= SMALL {
            z_of[l] = quantile(p_of[l]);
        }
    }
    f64x4::simd_from(p.token(), z_of)
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::*;
    use crate::{normal, random};

    #[test]
    fn quantiles_are_those_of_the_scalar_function_bit_for_bit() {
        let same = |p: [f64; 4]| {
            let got: [f64; 4] =
                dispatch!(Level::new(), simd => quantiles(simd, [f64x4::simd_from(simd, p)])[0].into());
            assert_eq!(got.map(f64::to_bits), p.map(|p| quantile(p).to_bits()), "{p:?}");
        };
        for block in 0..20_000_u64 {
            let reach = [1.0, 2.0, 4.0, 8.0][(block % 4) as usize];
            let draw = |l: usize| reach * (2.0 * random::uniform(3, block, l as u32) - 1.0);
            same(std::array::from_fn(|l| normal::cdf(draw(l)).clamp(1e-12, 1.0 - 1e-12)));
        }
        // Where the forms change over.
        let edges = [0.075, 0.925, SMALL, 1.0 - SMALL];
        for p in [edges, edges.map(f64::next_up), edges.map(f64::next_down)] {
            same(p);
        }
    }
}
