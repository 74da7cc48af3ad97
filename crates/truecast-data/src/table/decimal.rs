//! Numbers as most files write them: an optional minus, digits, perhaps a point and more digits.
//!
//! With m the digits as a whole number and k how many of them are behind the point, the value is m / 10^k. It is rounded once, to the nearest number and to even
//! between two, by one of two ways:
//!
//! - m ≤ 2^53 and k ≤ 22: both m and 10^k are numbers without rounding, so that dividing them rounds once.
//! - m < 2^64 and k ≤ 27: q = ⌊m 2^s / 5^k⌋ in whole numbers, with s such that 2^61 < q < 2^63. If there is a remainder, the lowest bit of q is set. Turning q
//!   into a number drops eight bits at least, of which that lowest one says whether anything lies below the others: it is rounded as the exact quotient would be.
//!   The power of two that is left, 2^−(s + k) ≥ 2^−151, multiplies without rounding.
//!
//! Everything else (exponents, more digits, words) is left to another parser.

/// Digits behind the point: 5^27 < 2^63 is the last power that the division takes.
const MOST: usize = 27;
/// The largest whole number such that it and all below it are numbers.
const WHOLE: u64 = 1 << 53;

const FIVES: [u64; MOST + 1] = {
    let mut powers = [1; MOST + 1];
    let mut k = 1;
    while k <= MOST {
        powers[k] = 5 * powers[k - 1];
        k += 1;
    }
    powers
};

/// Powers of ten that are numbers without rounding, since 5^22 < 2^53.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The number that the cell is; `None` says that it may still be one.
#[inline]
pub(super) fn read(cell: &[u8]) -> Option<f64> {
    let (negative, text) = match cell {
        [b'-', text @ ..] => (true, text),
        text => (false, text),
    };
    let mut digits = 0;
    let mut at = 0;
    // Nineteen digits are less than 2^64.
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit <= 9) {
        if at == 19 {
            return None;
        }
        digits = 10 * digits + u64::from(digit);
        at += 1;
    }
    let behind = match text.get(at..) {
        Some([]) if at > 0 => &[],
        Some([b'.', behind @ ..]) if at + behind.len() > 0 && behind.len() <= MOST => behind,
        _ => return None,
    };
    let (eights, rest) = behind.as_chunks::<8>();
    for &eight in eights {
        digits = appended(digits, 8, u64::from_le_bytes(eight))?;
    }
    if !rest.is_empty() {
        // The last eight bytes at once, with zeros in place of those that do not belong to the rest.
        let last = text.last_chunk::<8>().map_or_else(|| filled(rest), |&last| u64::from_le_bytes(last));
        let others = u64::MAX >> (8 * rest.len());
        digits = appended(digits, rest.len(), (last & !others) | (ZEROS & others))?;
    }
    let value = quotient(digits, behind.len());
    Some(if negative { -value } else { value })
}

/// Eight bytes `0`.
const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);

/// Less than eight bytes as the last ones of eight.
fn filled(rest: &[u8]) -> u64 {
    rest.iter().fold(0, |bytes, &byte| (bytes >> 8) | (u64::from(byte) << 56))
}

/// Digits with `count` more of them behind, which are the last of these eight; `None` if they are no digits, or too many in all.
#[inline]
fn appended(digits: u64, count: usize, eight: u64) -> Option<u64> {
    // A byte is a digit if neither it less `0` nor it plus 127 − `9` has its highest bit set.
    let beyond = eight.wrapping_sub(ZEROS) | eight.wrapping_add(u64::from_le_bytes([127 - b'9'; 8]));
    if (beyond | eight) & u64::from_le_bytes([128; 8]) != 0 {
        return None;
    }
    // Neighbours are put together: ten times the first and the second, of single digits, then of pairs, then of fours.
    let ones = eight - ZEROS;
    let pairs = (10 * ones + (ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (100 * pairs + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let value = (10_000 * fours + (fours >> 32)) & 0xffff_ffff;
    digits.checked_mul(WHOLE_TENS[count])?.checked_add(value)
}

const WHOLE_TENS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// m / 10^k, rounded once.
#[inline]
fn quotient(m: u64, k: usize) -> f64 {
    if m <= WHOLE && k < TENS.len() {
        return m as f64 / TENS[k];
    }
    if m == 0 {
        return 0.0;
    }
    let five = FIVES[k];
    // The numerator begins 62 bits before the divisor's last but two: 2^63 ≤ m 2^up < 2^64 and 2^(b−1) ≤ 5^k < 2^b give 2^61 < q < 2^63.
    let (up, b) = (m.leading_zeros(), u64::BITS - five.leading_zeros());
    let numerator = u128::from(m << up) << b >> 2;
    let q = (numerator / u128::from(five)) as u64;
    let inexact = q.wrapping_mul(five) != numerator as u64;
    let power = 1023 + 2 - u64::from(up + b) - k as u64;
    (q | u64::from(inexact)) as i64 as f64 * f64::from_bits(power << 52)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str) -> Result<(), TestCaseError> {
        if let Some(value) = read(text.as_bytes()) {
            let expected: f64 =
                text.parse().map_err(|_| TestCaseError::fail(format!("{text:?} is no number")))?;
            prop_assert_eq!(value.to_bits(), expected.to_bits(), "{:?}", text);
        }
        Ok(())
    }

    /// What files hold is read here, and not left to another parser.
    #[test]
    fn the_usual_is_read() {
        for text in [
            "0",
            "-0",
            "7",
            "-12",
            "0.5",
            ".5",
            "5.",
            "-1.8216465615168521",
            "0.7655244370996107",
            "123456.789012",
            "0.0009448592117077967",
        ] {
            assert_eq!(
                read(text.as_bytes()).map(f64::to_bits),
                Some(text.parse::<f64>().unwrap().to_bits()),
                "{text}"
            );
        }
        for text in [
            "",
            "-",
            ".",
            "-.",
            "+1",
            "1e5",
            "--1",
            "1.2.3",
            "1,5",
            "inf",
            " 1",
            "1 ",
            "0x1",
            "99999999999999999999",
        ] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }

    /// Halfway between two numbers, and one unit of the last digit beside it: 2^53 + 1, with zeros behind the point and without.
    #[test]
    fn halves_go_to_even() {
        for text in [
            "9007199254740993",
            "9007199254740993.0",
            "9007199254740993.001",
            "9007199254740992.999",
            "9007199254740995.00",
            "4503599627370496.5",
            "4503599627370497.5",
        ] {
            check(text).unwrap();
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// The same bits as the standard library, whatever it is that is read.
        #[test]
        fn as_another_parser_reads_it(
            text in "-?[0-9]{0,20}[.]?[0-9]{0,29}|-?0?[.]0{0,10}[0-9]{0,19}|[-+.0-9:/eé]{0,24}",
            value in any::<f64>(),
            near in -1e3..1e3_f64,
            halves in (1_u64 << 52..1 << 62, 0..11_usize),
        ) {
            check(&text)?;
            check(&value.to_string())?;
            check(&near.to_string())?;
            // A number and its neighbour have their middle at an odd multiple of half a unit: near it, rounding is hardest.
            let (m, k) = halves;
            let number = m as f64 / 10_f64.powi(k as i32);
            let middle = format!("{:.*}", 27, (number + f64::from_bits(number.to_bits() + 1)) / 2.0);
            for length in 0..=middle.len() {
                check(&middle[..length])?;
            }
        }
    }
}
