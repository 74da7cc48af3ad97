//! The number nearest to m · 10^p, for a whole number m < 2^64 and a power p.
//!
//! It is rounded once, to the nearest number and to even between two, by one of two ways:
//!
//! - m ≤ 2^53 and |p| ≤ 22: both m and 10^|p| are numbers without rounding, so that multiplying or dividing them rounds once.
//! - Otherwise m · 5^p by the first 64 bits of 5^p, and by the next 64 where those leave the rounding open; 2^p goes to the exponent. That 128 bits of 5^p are
//!   enough is shown in D. Lemire, Number parsing at a gigabyte per second (2021), sections 5 to 8.
//!
//! Results that are too small or too large for a number of full precision are left to another parser.

/// The largest whole number such that it and all below it are numbers.
const WHOLE: u64 = 1 << 53;

/// Powers of ten that are numbers without rounding, since 5^22 < 2^53.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// m · 10^p, rounded once.
#[inline]
pub(super) fn nearest(m: u64, power: i32) -> Option<f64> {
    if m <= WHOLE
        && let Some(&ten) = TENS.get(power.unsigned_abs() as usize)
    {
        return Some(if power < 0 { m as f64 / ten } else { m as f64 * ten });
    }
    by_fives(m, power)
}

/// The second way.
fn by_fives(m: u64, power: i32) -> Option<f64> {
    if m == 0 {
        return Some(0.0);
    }
    // Powers below the smallest wrap around, to where there are none either.
    let five = FIVES.get(power.wrapping_sub(SMALLEST) as usize)?;
    let up = m.leading_zeros();
    let (mut lower, mut upper) = product(m << up, (five >> 64) as u64);
    // 55 bits of the product are looked at: the 9 others say something unless they are all ones, to which what follows might carry.
    if upper & 0x1ff == 0x1ff {
        let (_, carried) = product(m << up, *five as u64);
        let carry;
        (lower, carry) = lower.overflowing_add(carried);
        upper += u64::from(carry);
    }
    if lower == u64::MAX && !EXACT.contains(&power) {
        return None; // what follows the 128 bits might carry too; it is not known to happen
    }
    // The product begins with its first bit or its second.
    let first = (upper >> 63) as u32;
    let shift = first + 9;
    let mut bits = upper >> shift;
    // ⌊log₂ 10^p⌋ by 217706 / 2^16, close enough to log₂ 10 for all powers here, and the bias of the exponent.
    let exponent = ((217_706 * power) >> 16) + 63 + first as i32 - up as i32 + 1023;
    if !(1..2046).contains(&exponent) {
        return None;
    }
    // Exactly halfway between two numbers, which needs m · 5^p or m / 5^−p to be a whole number of 54 bits: to even.
    if lower <= 1 && HALVES.contains(&power) && bits & 3 == 1 && bits << shift == upper {
        bits &= !1;
    }
    bits = (bits + (bits & 1)) >> 1;
    // 53 bits, the first of which is not stored; one more by rounding up carries to the exponent, as it should.
    Some(f64::from_bits(((exponent as u64) << 52) + bits - (1 << 52)))
}

/// The lower and the upper half of a product.
#[inline]
fn product(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    (product as u64, (product >> 64) as u64)
}

const SMALLEST: i32 = -342;
const LARGEST: i32 = 308;
/// Powers for which 128 bits of 5^p are all there are, or enough to decide (section 7).
const EXACT: std::ops::RangeInclusive<i32> = -27..=55;
/// Powers with which m · 10^p can be halfway between two numbers, that is x 2^e with x odd and of 54 bits: x = m 5^p has room for 5^23 < 2^54, and m = x 5^−p < 2^64
/// for 5^4 < 2^11 (section 8).
const HALVES: std::ops::RangeInclusive<i32> = -4..=23;

/// The first 128 bits of 5^p: rounded down, but rounded up for −27 ≤ p < 0, as it takes for quotients that are whole (section 5).
static FIVES: [u128; (LARGEST - SMALLEST) as usize + 1] = {
    let mut powers = [0; (LARGEST - SMALLEST) as usize + 1];
    // 5^308 < 2^716, and 2^1023 / 5^342 > 2^128.
    let mut power: [u64; 16] = [0; 16];
    power[0] = 1;
    let mut p = 0;
    while p <= LARGEST {
        powers[(p - SMALLEST) as usize] = begin(&power);
        let (mut at, mut carry) = (0, 0);
        while at < 16 {
            let digit = 5 * power[at] as u128 + carry;
            power[at] = digit as u64;
            carry = digit >> 64;
            at += 1;
        }
        p += 1;
    }
    power = [0; 16];
    power[15] = 1 << 63;
    let mut p = -1;
    while p >= SMALLEST {
        let (mut at, mut rest) = (16, 0);
        while at > 0 {
            at -= 1;
            let digit = (rest << 64) | power[at] as u128;
            power[at] = (digit / 5) as u64;
            rest = digit % 5;
        }
        let up = (p >= *EXACT.start()) as u128;
        powers[(p - SMALLEST) as usize] = begin(&power) + up;
        p -= 1;
    }
    powers
};

/// The first 128 bits of a number of 64-bit digits, the last one first.
const fn begin(digits: &[u64; 16]) -> u128 {
    let mut top = 15;
    while digits[top] == 0 {
        top -= 1;
    }
    let next = if top > 0 { digits[top - 1] } else { 0 };
    let after = if top > 1 { digits[top - 2] } else { 0 };
    let both = ((digits[top] as u128) << 64) | next as u128;
    let up = digits[top].leading_zeros();
    if up == 0 { both } else { (both << up) | (after >> (64 - up)) as u128 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(m: u64, power: i32) -> Result<(), TestCaseError> {
        let expected: f64 = format!("{m}e{power}").parse().unwrap();
        if let Some(value) = nearest(m, power) {
            prop_assert_eq!(value.to_bits(), expected.to_bits(), "{}e{}", m, power);
        } else {
            // Nothing is given up but what has no full precision.
            prop_assert!(!(4.0 * f64::MIN_POSITIVE..f64::MAX / 4.0).contains(&expected), "{m}e{power}");
        }
        Ok(())
    }

    /// As whole numbers of any length give them: 2^b // 5^-p in Python, by the script in the paper's appendix B.
    #[test]
    fn powers_of_five_are_those_of_another_language() {
        for (power, bits) in [
            (-342, 0xeef4_53d6_923b_d65a_113f_aa29_06a1_3b3f),
            (-28, 0xfd87_b5f2_8300_ca0d_8bca_9d6e_1888_53fc),
            (-27, 0x9e74_d1b7_91e0_7e48_775e_a264_cf55_347e),
            (-1, 0xcccc_cccc_cccc_cccc_cccc_cccc_cccc_cccd),
            (0, 1 << 127),
            (1, 0xa000_0000_0000_0000_0000_0000_0000_0000),
            (308, 0x8e67_9c2f_5e44_ff8f_570f_09ea_a7ea_7648),
        ] {
            assert_eq!(FIVES[(power - SMALLEST) as usize], bits, "5^{power}");
        }
    }

    #[test]
    fn every_power_is_right_for_the_smallest_and_the_largest() {
        for power in SMALLEST - 30..=LARGEST + 30 {
            for m in [0, 1, 2, 3, WHOLE - 1, WHOLE, WHOLE + 1, u64::MAX - 1, u64::MAX, 10_u64.pow(19)] {
                check(m, power).unwrap();
            }
        }
        check(0, i32::MIN).unwrap();
        assert_eq!(nearest(1, i32::MIN), None);
        assert_eq!(nearest(1, i32::MAX), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        /// The same bits as the standard library, near the middle between two numbers too.
        #[test]
        fn as_another_parser_rounds(
            m in any::<u64>(),
            bits in 0..64_u32,
            power in SMALLEST..=LARGEST,
            (middle, half) in (1_u64 << 53..1 << 54, -4..=23_i32),
        ) {
            check(m >> bits, power)?;
            check(m, power)?;
            // Odd numbers of 54 bits are halfway between two of 53; so they stay times a power of two, and divided by one of five that divides them.
            let middle = middle | 1;
            check(middle, 0)?;
            if half < 0 {
                for m in [middle >> 10, (middle >> 10) + 1] {
                    check((m | 1).saturating_mul(5_u64.pow(half.unsigned_abs())), half)?;
                }
            } else {
                let m = (middle / 5_u64.pow(half as u32)).max(1);
                [m, m + 1].into_iter().try_for_each(|m| check(m << m.leading_zeros(), half))?;
            }
        }
    }
}
