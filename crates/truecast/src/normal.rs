//! The standard normal distribution, accurate in both tails.
//!
//! Φ is taken from `erfc`, so Φ(−37) is 6e-300 and not 0, and every function has a form for the upper tail:
//! nothing here computes `1 - Φ`. All transcendental functions come from the `libm` crate, whose results do
//! not depend on the platform, so that saved runs repeat bit for bit elsewhere.

pub(crate) mod lanes;

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// ln √(2π).
pub const LN_SQRT_TAU: f64 = 0.918_938_533_204_672_7;

/// 1 / √(2π), the density at 0.
pub const DENSITY_AT_ZERO: f64 = 0.398_942_280_401_432_7;

/// Φ(z): the probability of a value of at most `z`.
#[inline]
pub fn cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// 1 − Φ(z), accurate where Φ(z) rounds to 1.
#[inline]
pub fn sf(z: f64) -> f64 {
    0.5 * libm::erfc(z * FRAC_1_SQRT_2)
}

/// φ(z): the density.
#[inline]
pub fn density(z: f64) -> f64 {
    DENSITY_AT_ZERO * libm::exp(-0.5 * z * z)
}

/// ln φ(z).
#[inline]
pub fn ln_density(z: f64) -> f64 {
    -0.5 * z * z - LN_SQRT_TAU
}

/// ln Φ(z), finite for every finite `z`.
pub fn ln_cdf(z: f64) -> f64 {
    if z > 0.0 {
        libm::log1p(-sf(z))
    } else if z > -30.0 {
        libm::log(cdf(z))
    } else {
        ln_density(z) + libm::log(mills_of_lower_tail(-z))
    }
}

/// ∫ from −∞ to z of Φ(s) ds = z Φ(z) + φ(z): the expected shortfall E[(z − Y)⁺] of a standard normal Y.
///
/// In the lower tail the two terms cancel to φ(z)/z². There the integral is φ(x)(1 − x m), x = −z, with Mills' ratio
/// m = 1/(x + k) and k = 1/(x + 2/(x + 3/(x + …))), so that 1 − x m = k m has only positive terms. Relative error below
/// 2e-14 for every z.
#[inline]
pub fn integral_of_cdf(z: f64) -> f64 {
    if z > -3.0 { z * cdf(z) + density(z) } else { far_integral_of_cdf(-z) }
}

fn far_integral_of_cdf(x: f64) -> f64 {
    if x > 40.0 {
        return 0.0; // φ(40) is below the smallest f64
    }
    // n terms leave about exp(−1.6 x √n): so many reach rounding, 75 at x = 3.
    let terms = 8 + (600.0 / (x * x)) as u32;
    let mut tail = x;
    for k in (2..=terms).rev() {
        tail = x + f64::from(k) / tail;
    }
    let k = 1.0 / tail;
    density(x) * k / (x + k)
}

/// Φ(−x)/φ(x) for x ≥ 30 by its continued fraction, 1/(x + 1/(x + 2/(x + 3/(x + …)))): eight terms are exact there.
fn mills_of_lower_tail(x: f64) -> f64 {
    let mut tail = x;
    for k in (1..=8).rev() {
        tail = x + f64::from(k) / tail;
    }
    1.0 / tail
}

/// Φ⁻¹(p): −∞ at 0, +∞ at 1, NaN outside of them.
///
/// Algorithm AS 241 (PPND16) of M. J. Wichura, "The Percentage Points of the Normal Distribution",
/// Applied Statistics 37 (1988), 477–484: relative accuracy about 1e-16 for p down to 1e-300. For the upper
/// tail call it with the survival probability and change the sign, as [`probit`] does.
#[inline]
pub fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * ratio(&CENTRE, r);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    if tail <= 0.0 {
        return match tail {
            0.0 if q < 0.0 => f64::NEG_INFINITY,
            0.0 => f64::INFINITY,
            _ => f64::NAN,
        };
    }
    let z = lower_tail_quantile(libm::sqrt(-libm::log(tail)));
    if q < 0.0 { z } else { -z }
}

/// Φ⁻¹(exp(ln_p)): the lower quantile of a probability that may be far too small for `f64`.
pub fn quantile_of_ln(ln_p: f64) -> f64 {
    if ln_p.is_nan() || ln_p > 0.0 {
        return f64::NAN;
    }
    if ln_p > -600.0 {
        let p = libm::exp(ln_p);
        return if p <= 0.5 { quantile(p) } else { -quantile(-libm::expm1(ln_p)) };
    }
    if ln_p == f64::NEG_INFINITY {
        return f64::NEG_INFINITY;
    }
    // ln Φ(−x) = −x²/2 − ln √(2π) + ln(Φ(−x)/φ(x)), solved for x. Newton's derivative of ln Φ(−x) is
    // −φ(x)/Φ(−x); x ≥ 34 here, where the function is nearly a parabola, and three steps reach rounding.
    let mut x = libm::sqrt(-2.0 * ln_p);
    for _ in 0..5 {
        let mills = mills_of_lower_tail(x);
        let value = ln_density(x) + libm::log(mills);
        x += (value - ln_p) * mills;
    }
    -x
}

/// The probit score Φ⁻¹(F) from a lower and an upper tail probability, using whichever is small.
#[inline]
pub fn probit(cdf: f64, sf: f64) -> f64 {
    if cdf <= sf { quantile(cdf) } else { -quantile(sf) }
}

/// ∫ from −∞ to z of Φ(s)² ds; needed for the CRPS of anything that is piecewise normal.
#[inline]
pub fn integral_of_squared_cdf(z: f64) -> f64 {
    const FRAC_1_SQRT_PI: f64 = 0.564_189_583_547_756_3;
    if z < -38.0 {
        return 0.0; // Φ(−38)² is below the smallest f64
    }
    let p = cdf(z);
    z * p * p + 2.0 * density(z) * p - FRAC_1_SQRT_PI * cdf(SQRT_2 * z)
}

/// AS 241 for a tail probability `p ≤ 0.075`, given r = √(−ln p).
fn lower_tail_quantile(r: f64) -> f64 {
    if r <= 5.0 { -ratio(&MIDDLE, r - 1.6) } else { -ratio(&FAR, r - 5.0) }
}

struct Rational {
    numerator: [f64; 8],
    denominator: [f64; 8],
}

#[inline]
fn ratio(of: &Rational, x: f64) -> f64 {
    horner(&of.numerator, x) / horner(&of.denominator, x)
}

#[inline]
fn horner(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

const CENTRE: Rational = Rational {
    numerator: [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    denominator: [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ],
};

const MIDDLE: Rational = Rational {
    numerator: [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ],
    denominator: [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
};

const FAR: Rational = Rational {
    numerator: [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    denominator: [
        1.0,
        0.599_832_206_555_888,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
};
