//! The normal distribution at many scores at once, without branches, so that the compiler makes vectors of the loops.
//!
//! ```text
//! φ(x)        = exp(−x²/2)/√(2π), with x split so that x² is exact
//! Φ(−x)       = φ(x) m(x),            m Mills' ratio
//! Φ(−√2 x)    = √(2π) φ(x)² m(√2 x),  which needs no further exponential
//! Φ⁻¹(p)      as in AS 241
//! ```
//!
//! m is a ratio of polynomials of degree 10 and 11 in x, both with leading coefficient 1, because x m(x) → 1: interpolated at the Chebyshev
//! points of (x − 3)/(x + 3) in 70 digits, so that it holds for every x ≥ 0 with a relative error of 8e-17. All coefficients are
//! positive, and so no digits are lost. Quantiles are those of [`quantile`], bit for bit: the same operations
//! in the same order. No operation is fused on any machine, so results do not depend on it.

use multiversion::multiversion;

use super::{CENTRE, DENSITY_AT_ZERO, MIDDLE, quantile, ratio};

/// Loops run over a multiple of so many numbers: two vectors of four.
pub(crate) const LANES: usize = 8;

/// How many numbers are taken at once: more than the 52 knots of a default map.
pub(crate) const ROOM: usize = 64;

/// Beyond this Φ(−x) counts as 0; it is 5e-308 here.
const END: f64 = 37.5;

const SQRT_TAU: f64 = 2.506_628_274_631_000_7;
const FRAC_1_SQRT_PI: f64 = 0.564_189_583_547_756_3;

/// A score with what integrals of Φ need there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Score {
    pub(crate) z: f64,
    /// Φ(−|z|).
    pub(crate) tail: f64,
    /// φ(z).
    pub(crate) density: f64,
    /// Φ(−√2 |z|), or 0 where it was not asked for.
    pub(crate) wide_tail: f64,
}

impl Score {
    /// One score at a time.
    pub(crate) fn new(z: f64) -> Self {
        let (tail, density) = tail_and_density(z);
        Score { z, tail, density, wide_tail: wide_tail(z, density) }
    }

    /// The score on the other side of 0.
    #[inline(always)]
    pub(crate) fn mirrored(self) -> Self {
        Score { z: -self.z, ..self }
    }

    /// ∫ from −∞ to z of Φ(s)² ds, as [`integral_of_squared_cdf`](super::integral_of_squared_cdf).
    #[inline(always)]
    pub(crate) fn integral_of_squared_cdf(&self) -> f64 {
        let Score { z, tail, density, wide_tail } = *self;
        let (p, wide) = if z < 0.0 { (tail, wide_tail) } else { (1.0 - tail, 1.0 - wide_tail) };
        z * p * p + 2.0 * density * p - FRAC_1_SQRT_PI * wide
    }
}

/// Scores side by side. Those beyond the ones in use are 0.
#[derive(Debug)]
pub(crate) struct Scores {
    pub(crate) z: [f64; ROOM],
    pub(crate) tail: [f64; ROOM],
    pub(crate) density: [f64; ROOM],
    pub(crate) wide_tail: [f64; ROOM],
}

impl Scores {
    pub(crate) fn new() -> Self {
        Scores { z: [0.0; ROOM], tail: [0.0; ROOM], density: [0.0; ROOM], wide_tail: [0.0; ROOM] }
    }

    /// Fills in the rest for the first `count` of `z`.
    pub(crate) fn evaluate(&mut self, count: usize, wide: bool) {
        let end = padded(count);
        let Scores { z, tail, density, wide_tail } = self;
        tails_and_densities(&z[..end], &mut tail[..end], &mut density[..end]);
        if wide {
            wide_tails(&z[..end], &density[..end], &mut wide_tail[..end]);
        }
    }

    #[inline]
    pub(crate) fn get(&self, i: usize) -> Score {
        Score { z: self.z[i], tail: self.tail[i], density: self.density[i], wide_tail: self.wide_tail[i] }
    }
}

/// `count` rounded up to whole lanes; never past [`ROOM`], which is whole itself.
pub(crate) fn padded(count: usize) -> usize {
    count.next_multiple_of(LANES).min(ROOM)
}

/// Φ⁻¹ of the first `count` of `p`, which do not decrease and lie inside (0, 1).
pub(crate) fn quantiles(p: &[f64; ROOM], count: usize, out: &mut [f64; ROOM]) {
    let used = &p[..count];
    let low = used.partition_point(|p| p - 0.5 < -0.425);
    let high = low + used[low..].partition_point(|p| p - 0.5 <= 0.425);
    // Whole lanes that hold the middle: what they say of others is overwritten.
    let end = (low + padded(high - low)).min(ROOM);
    central_quantiles(&p[low..end], &mut out[low..end]);
    let outer = low + count - high;
    if outer == 0 {
        return;
    }
    let mut tails = [0.05; ROOM];
    tails[..low].copy_from_slice(&p[..low]);
    for (tail, p) in tails[low..outer].iter_mut().zip(&used[high..]) {
        *tail = 1.0 - p;
    }
    let mut lower = [0.0; ROOM];
    let end = padded(outer);
    tail_quantiles(&tails[..end], &mut lower[..end]);
    for i in 0..low {
        out[i] = if p[i] > SMALL { lower[i] } else { quantile(p[i]) };
    }
    for (i, tail) in (high..count).zip(low..outer) {
        out[i] = if tails[tail] > SMALL { -lower[tail] } else { quantile(p[i]) };
    }
}

/// Φ⁻¹ of any number of probabilities that do not decrease, held between two inner ones.
pub(crate) fn quantiles_of(p: &[f64], (least, most): (f64, f64), out: &mut Vec<f64>) {
    out.clear();
    for chunk in p.chunks(ROOM) {
        let (mut held, mut quantiles_of_chunk) = ([0.5; ROOM], [0.0; ROOM]);
        held.iter_mut().zip(chunk).for_each(|(held, p)| *held = p.clamp(least, most));
        quantiles(&held, chunk.len(), &mut quantiles_of_chunk);
        out.extend_from_slice(&quantiles_of_chunk[..chunk.len()]);
    }
}

/// Φ((z − mean)/std) for any number of scores.
pub(crate) fn cdfs_of(z: &[f64], mean: f64, std: f64, out: &mut [f64]) {
    let mut scores = Scores::new();
    for (chunk, out) in z.chunks(ROOM).zip(out.chunks_mut(ROOM)) {
        scores.z.iter_mut().zip(chunk).for_each(|(x, z)| *x = (z - mean) / std);
        scores.evaluate(chunk.len(), false);
        for (i, out) in out.iter_mut().enumerate() {
            *out = if scores.z[i] < 0.0 { scores.tail[i] } else { 1.0 - scores.tail[i] };
        }
    }
}

/// Below this AS 241 takes other polynomials: √(−ln p) is 5 at 1.4e-11.
const SMALL: f64 = 1.5e-11;

#[multiversion(targets("x86_64+avx2"))]
fn central_quantiles(p: &[f64], out: &mut [f64]) {
    let out = &mut out[..p.len()];
    for i in 0..p.len() {
        let q = p[i] - 0.5;
        out[i] = q * ratio(&CENTRE, 0.180625 - q * q);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn tail_quantiles(p: &[f64], out: &mut [f64]) {
    let out = &mut out[..p.len()];
    for i in 0..p.len() {
        out[i] = -ratio(&MIDDLE, (-ln(p[i])).sqrt() - 1.6);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn tails_and_densities(z: &[f64], tail: &mut [f64], density: &mut [f64]) {
    let (tail, density) = (&mut tail[..z.len()], &mut density[..z.len()]);
    for i in 0..z.len() {
        (tail[i], density[i]) = tail_and_density(z[i]);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn wide_tails(z: &[f64], density: &[f64], out: &mut [f64]) {
    let (density, out) = (&density[..z.len()], &mut out[..z.len()]);
    for i in 0..z.len() {
        out[i] = wide_tail(z[i], density[i]);
    }
}

/// Φ(−|z|) and φ(z).
#[inline(always)]
fn tail_and_density(z: f64) -> (f64, f64) {
    let density = density(z);
    (density * mills(within_end(z)), density)
}

/// φ(z).
#[inline(always)]
fn density(z: f64) -> f64 {
    let density = DENSITY_AT_ZERO * exp_of_half_square(within_end(z));
    if z.abs() < END { density } else { 0.0 }
}

/// |z|, but no more than [`END`].
#[inline(always)]
fn within_end(z: f64) -> f64 {
    let size = z.abs();
    if size < END { size } else { END }
}

/// Φ(−√2 |z|), given φ(z).
#[inline(always)]
fn wide_tail(z: f64, density: f64) -> f64 {
    SQRT_TAU * (density * density) * mills(std::f64::consts::SQRT_2 * within_end(z))
}

/// Φ(−x)/φ(x) for x ≥ 0.
#[inline(always)]
fn mills(x: f64) -> f64 {
    mills_numerator(x) / mills_denominator(x)
}

#[inline(always)]
fn mills_numerator(x: f64) -> f64 {
    const NUMERATOR: [f64; 11] = [
        1_572_322.365_808_130_7,
        2_692_471.229_026_223_5,
        2_277_476.359_702_521_5,
        1_233_069.867_908_935_3,
        469_356.590_122_879_66,
        130_742.687_330_612_77,
        26_971.497_787_675_533,
        4_076.495_612_414_434_6,
        434.008_818_996_750_56,
        29.635_356_725_047_146,
        1.0,
    ];
    let square = x * x;
    let eighth = square * square * (square * square);
    tree(&NUMERATOR, x) + (x * NUMERATOR[9] + NUMERATOR[8] + square) * eighth
}

#[inline(always)]
fn mills_denominator(x: f64) -> f64 {
    const DENOMINATOR: [f64; 12] = [
        1_254_531.740_283_342_5,
        3_149_252.730_655_169,
        3_702_637.486_714_495,
        2_697_155.498_437_569_5,
        1_355_955.940_115_397_8,
        495_470.069_606_042_76,
        134_759.912_242_758_32,
        27_403.506_606_514_11,
        4_106.130_969_140_467,
        435.008_818_996_748_2,
        29.635_356_725_047_15,
        1.0,
    ];
    let square = x * x;
    let eighth = square * square * (square * square);
    let high = (x * DENOMINATOR[9] + DENOMINATOR[8]) + (x + DENOMINATOR[10]) * square;
    tree(&DENOMINATOR, x) + high * eighth
}

/// The first eight terms of a polynomial as a tree: three steps that wait for each other, where Horner's rule has seven. With no negative
/// coefficient, and x ≥ 0, the order costs no digits.
#[inline(always)]
fn tree(c: &[f64], x: f64) -> f64 {
    let square = x * x;
    let (first, second) = (c[0] + c[1] * x, c[2] + c[3] * x);
    let (third, fourth) = (c[4] + c[5] * x, c[6] + c[7] * x);
    (first + second * square) + (third + fourth * square) * (square * square)
}

const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Of r coth(r/2) − 2, in powers of r²: fdlibm's.
const EXP: [f64; 5] = [
    1.666_666_666_666_660_2e-1,
    -2.777_777_777_701_559_3e-3,
    6.613_756_321_437_934e-5,
    -1.653_390_220_546_525_2e-6,
    4.138_136_797_057_238e-8,
];
/// 1.5 · 2⁵²: a small number added to it is rounded to a whole one, which stands in its last bits.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// exp(high − low) for a difference within ±0.35, in the rational form of fdlibm and with its constants.
#[inline(always)]
fn exp_of_difference(high: f64, low: f64) -> f64 {
    let r = high - low;
    let t = r * r;
    let c = r - t * (EXP[0] + t * (EXP[1] + t * (EXP[2] + t * (EXP[3] + t * EXP[4]))));
    1.0 + (r * c / (2.0 - c) - low + high)
}

/// exp(−x²/2) for 0 ≤ x ≤ [`END`].
#[inline(always)]
fn exp_of_half_square(x: f64) -> f64 {
    let (scale, high, low) = exp_split(x);
    scale * exp_of_difference(high, low)
}

/// exp(−x²/2) as a power of two times exp(high − low).
#[inline(always)]
fn exp_split(x: f64) -> (f64, f64, f64) {
    // 26 bits of x, whose square is exact.
    let high = f64::from_bits(x.to_bits() & !0x07ff_ffff);
    let (square, rest) = (-0.5 * high * high, -0.5 * (x - high) * (x + high));
    let shifted = square * std::f64::consts::LOG2_E + WHOLE;
    let k = shifted - WHOLE;
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    (scale, square - k * LN_2_HIGH, k * LN_2_LOW - rest)
}

/// ln x of a normal number: the operations of `libm::log`.
#[inline(always)]
fn ln(x: f64) -> f64 {
    let (k, f) = ln_split(x);
    ln_join(k, f, f / (2.0 + f))
}

/// The bits of 1, and the upper half of those of √½.
const ONE: u64 = 0x3ff0_0000 << 32;
const ROOT: u64 = 0x3fe6_a09e << 32;
/// 2⁵²: a whole number below it stands in its last bits.
const NATURAL: f64 = 4_503_599_627_370_496.0;
/// Of ln(1 + f), in powers of (f / (2 + f))².
const L: [f64; 7] = [
    6.666_666_666_666_735e-1,
    3.999_999_999_940_942e-1,
    2.857_142_874_366_239e-1,
    2.222_219_843_214_978_4e-1,
    1.818_357_216_161_805e-1,
    1.531_383_769_920_937_3e-1,
    1.479_819_860_511_658_6e-1,
];

/// The power of two k and the rest f of [`ln`], x = 2ᵏ (1 + f).
#[inline(always)]
fn ln_split(x: f64) -> (f64, f64) {
    let bits = x.to_bits().wrapping_add(ONE - ROOT);
    let k = f64::from_bits((bits >> 52) | NATURAL.to_bits()) - NATURAL - 1023.0;
    let f = f64::from_bits((bits & 0x000f_ffff_ffff_ffff).wrapping_add(ROOT)) - 1.0;
    (k, f)
}

/// [`ln`] from its parts, with s = f / (2 + f).
#[inline(always)]
fn ln_join(k: f64, f: f64, s: f64) -> f64 {
    let half_square = f * 0.5 * f;
    let z = s * s;
    let w = z * z;
    let even = w * (w * (w * L[5] + L[3]) + L[1]);
    let odd = z * (w * (w * (w * L[6] + L[4]) + L[2]) + L[0]);
    s * (half_square + (odd + even)) + k * LN_2_LOW - half_square + f + k * LN_2_HIGH
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{normal, random};

    /// The scalar functions are themselves tested against golden values. erfc has an error of an ulp or two, and its argument one rounding,
    /// which costs x² roundings.
    #[test]
    fn scores_are_those_of_the_scalar_functions() {
        let mut scores = Scores::new();
        for block in 0..2_000_u64 {
            for i in 0..ROOM {
                let size = if block % 2 == 0 { 6.0 } else { 37.4 };
                scores.z[i] = size * (2.0 * random::uniform(1, block, i as u32) - 1.0);
            }
            scores.evaluate(ROOM, true);
            for i in 0..ROOM {
                let got = scores.get(i);
                assert_eq!(got, Score::new(got.z), "one at a time is the same");
                let x = got.z.abs();
                let roundings = 4e-16 * (2.0 + x * x);
                let close = |got: f64, want: f64, allowed: f64| (got - want).abs() <= allowed * want + 1e-300;
                assert!(close(got.density, normal::density(x), roundings), "{got:?}");
                assert!(close(got.tail, normal::sf(x), roundings), "{got:?}");
                let wide = normal::sf(std::f64::consts::SQRT_2 * x);
                assert!(close(got.wide_tail, wide, 2.0 * roundings), "{got:?} {wide:e}");
            }
        }
    }

    /// Every count of tails and middles.
    #[test]
    fn quantiles_are_those_of_the_scalar_function_bit_for_bit() {
        let mut out = [0.0; ROOM];
        for block in 0..4_000_u64 {
            let mut p = [0.0; ROOM];
            let count = 1 + (block % ROOM as u64) as usize;
            let reach = [1.0, 4.0, 8.0][(block % 3) as usize];
            for i in 0..count {
                let z = reach * (2.0 * random::uniform(2, block, i as u32) - 1.0);
                p[i] = normal::cdf(z).clamp(1e-12, 1.0 - 1e-12);
            }
            p[..count].sort_unstable_by(f64::total_cmp);
            quantiles(&p, count, &mut out);
            for i in 0..count {
                assert_eq!(out[i].to_bits(), quantile(p[i]).to_bits(), "Φ⁻¹({:e})", p[i]);
            }
        }
    }

    /// Φ(−x) in 17 digits, from a computation in 60.
    #[test]
    fn far_tails_are_exact_to_rounding() {
        for (x, tail) in [
            (0.5, 0.308_537_538_725_986_9),
            (2.0, 0.022_750_131_948_179_21),
            (5.0, 2.866_515_718_791_939e-07),
            (12.25, 8.399_796_063_633_417e-35),
            (20.1, 3.689_680_863_721_389_7e-90),
            (37.0, 5.725_571_222_524_577e-300),
        ] {
            let got = Score::new(-x).tail;
            assert!((got / tail - 1.0).abs() < 1e-15, "Φ(−{x}): {got:e} {tail:e}");
        }
    }
}
