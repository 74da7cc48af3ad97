//! The logarithm of several numbers at once: the operations of `libm::log` in their order, and so its bits.

use fearless_simd::{Simd, prelude::*};

use super::lanes::{NATURAL, ONE, ROOT, ln_join};
use crate::lanes::Number;

/// ln x of normal numbers.
#[inline(always)]
pub(super) fn ln<S: Simd, V: SimdFloat<S, Element = f64> + Number>(x: V) -> V {
    let bits = x.to_bits() + (ONE - ROOT);
    let k = V::from_bits((bits >> 52) | NATURAL.to_bits()) - NATURAL - 1023.0;
    let f = V::from_bits((bits & 0x000f_ffff_ffff_ffff) + ROOT) - 1.0;
    ln_join(k, f, f / (f + 2.0))
}
