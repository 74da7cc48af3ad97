//! Φ⁻¹ of two probabilities at once: the numerators and denominators of both are the four lanes of one vector.
//!
//! The operations are those of [`quantile`](super::quantile) in their order, and so are the bits.

use fearless_simd::{Simd, f64x2, f64x4, prelude::*};

use super::{CENTRE, FAR, MIDDLE, Rational};

/// The coefficients of a [`Rational`], each of the numerator beside that of the denominator.
type Paired = [[f64; 2]; 8];

/// The three forms of AS 241: around the middle, in the tails, and far out.
static FORMS: [Paired; 3] = [paired(&CENTRE), paired(&MIDDLE), paired(&FAR)];

const fn paired(of: &Rational) -> Paired {
    let mut pairs = [[0.0; 2]; 8];
    let mut k = 0;
    while k < pairs.len() {
        pairs[k] = [of.numerator[k], of.denominator[k]];
        k += 1;
    }
    pairs
}

/// Φ⁻¹ of two probabilities inside (0, 1).
#[inline(always)]
pub(crate) fn quantiles<S: Simd>(simd: S, p: [f64; 2]) -> [f64; 2] {
    let arguments = p.map(Argument::of);
    let [one, other] = arguments.map(|argument| &FORMS[argument.form]);
    let [x, y] = arguments.map(|argument| argument.x);
    let x = f64x4::simd_from(simd, [x, x, y, y]);
    let mut sums = f64x4::splat(simd, 0.0);
    for k in (0..8).rev() {
        let coefficients = f64x2::simd_from(simd, one[k]).combine(f64x2::simd_from(simd, other[k]));
        sums = sums * x + coefficients;
    }
    let sums: [f64; 4] = sums.into();
    [arguments[0].quantile(sums[0] / sums[1]), arguments[1].quantile(sums[2] / sums[3])]
}

/// What the rational function of a probability is taken of.
#[derive(Clone, Copy)]
struct Argument {
    /// The distance from ½.
    q: f64,
    form: usize,
    x: f64,
}

impl Argument {
    #[inline(always)]
    fn of(p: f64) -> Self {
        let q = p - 0.5;
        if q.abs() <= 0.425 {
            return Argument { q, form: 0, x: 0.180625 - q * q };
        }
        let tail = if q < 0.0 { p } else { 1.0 - p };
        let r = libm::sqrt(-libm::log(tail));
        if r <= 5.0 { Argument { q, form: 1, x: r - 1.6 } } else { Argument { q, form: 2, x: r - 5.0 } }
    }

    #[inline(always)]
    fn quantile(self, ratio: f64) -> f64 {
        let factor = if self.form == 0 { self.q } else { 1.0_f64.copysign(self.q) };
        factor * ratio
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::*;
    use crate::{normal, random};

    #[test]
    fn both_are_those_of_the_scalar_function_bit_for_bit() {
        let same = |p: [f64; 2]| {
            let got = dispatch!(Level::new(), simd => quantiles(simd, p));
            assert_eq!(got.map(f64::to_bits), p.map(|p| normal::quantile(p).to_bits()), "{p:?}");
        };
        for block in 0..20_000_u64 {
            let reach = [1.0, 2.0, 4.0, 8.0][(block % 4) as usize];
            let draw = |l: u32| reach * (2.0 * random::uniform(3, block, l) - 1.0);
            same([0, 1].map(|l| normal::cdf(draw(l)).clamp(1e-12, 1.0 - 1e-12)));
        }
        // Where the forms change over: √(−ln p) is 5 at 1.4e-11.
        for p in [0.075_f64, 0.925, 0.5, 1.388_794_386_496_402e-11, 1.0 - 1.388_794_386_496_402e-11] {
            same([p.next_down(), p]);
            same([p.next_up(), 0.3]);
        }
    }
}
