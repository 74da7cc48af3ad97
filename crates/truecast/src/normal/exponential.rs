//! The exponential of four numbers at once: the operations of `libm::exp` in their order, and so its bits.

use fearless_simd::{Simd, f64x4, prelude::*};

use super::lanes::{EXP, LN_2_HIGH, LN_2_LOW, WHOLE};

/// exp x of each of four numbers within ±700.
#[inline(always)]
pub(crate) fn exp<S: Simd>(x: f64x4<S>) -> f64x4<S> {
    /// From here on, by the upper half of its bits, |x| is no longer small enough to be 1 + x, not within ±½ ln 2, and beyond ±1½ ln 2.
    const FROM: [f64; 3] = [
        f64::from_bits(0x3e30_0001 << 32),
        f64::from_bits(0x3fd6_2e43 << 32),
        f64::from_bits(0x3ff0_a2b2 << 32),
    ];
    let all = |value: f64| f64x4::splat(x.token(), value);
    let (size, half) = (x.abs(), all(0.5).copysign(x));
    let far = (x * std::f64::consts::LOG2_E + half).trunc();
    let k = size.simd_ge(FROM[2]).select(far, half + half);
    let k = size.simd_ge(FROM[1]).select(k, all(0.0));
    let scale = f64x4::from_bits(((k + WHOLE).to_bits() + 1023) << 52);
    let y = scale * exp_of_difference(x - k * LN_2_HIGH, k * LN_2_LOW);
    size.simd_ge(FROM[0]).select(y, x + 1.0)
}

/// exp(high − low), as [`lanes::exp_of_difference`](super::lanes::exp_of_difference).
#[inline(always)]
fn exp_of_difference<S: Simd>(high: f64x4<S>, low: f64x4<S>) -> f64x4<S> {
    let all = |value: f64| f64x4::splat(high.token(), value);
    let r = high - low;
    let t = r * r;
    let c = r - t * (all(EXP[0]) + t * (all(EXP[1]) + t * (all(EXP[2]) + t * (all(EXP[3]) + t * EXP[4]))));
    (r * c / (all(2.0) - c) - low + high) + 1.0
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::*;
    use crate::lanes::vector;
    use crate::random;

    #[test]
    fn exponentials_are_those_of_libm_bit_for_bit() {
        let same = |x: [f64; 4]| {
            let got: [f64; 4] = dispatch!(Level::new(), simd => exp(vector(simd, x)).into());
            assert_eq!(got.map(f64::to_bits), x.map(|x| libm::exp(x).to_bits()), "{x:?}");
        };
        for block in 0..50_000_u64 {
            let reach = [1e-9, 1e-3, 0.5, 2.0, 20.0, 700.0][(block % 6) as usize];
            same(std::array::from_fn(|l| reach * (2.0 * random::uniform(4, block, l as u32) - 1.0)));
        }
        same([0.0, -0.0, 1e-300, -1e-20]);
        let (half, more) = (f64::from_bits(0x3fd6_2e43 << 32), f64::from_bits(0x3ff0_a2b2 << 32));
        same([half, half.next_down(), -half, -half.next_down()]);
        same([more, more.next_down(), -more, -more.next_down()]);
    }
}
