//! Numbers as most files write them: an optional minus, digits, perhaps a point and more digits, perhaps `e` and a power of ten.
//!
//! With m the digits as a whole number and p the power less how many of the digits are behind the point, the value is m · 10^p, which is [`nearest`]'s matter. Digits
//! behind the point are read eight at a time, and zeros before the first other digit skipped as fast. Everything else (m ≥ 2^64, words) is left to another parser.

use super::nearest::nearest;

/// The number that the cell is; `None` says that it may still be one.
#[inline]
pub(super) fn read(cell: &[u8]) -> Option<f64> {
    let (negative, text) = match cell {
        [b'-', text @ ..] => (true, text),
        text => (false, text),
    };
    let value = match text.last_chunk::<8>() {
        Some(&last) if has_exponent(u64::from_le_bytes(last)) => with_exponent(text)?,
        _ => without_exponent(text, 0)?,
    };
    Some(if negative { -value } else { value })
}

/// Whether one of the last bytes but the very last, of these eight, is an `e`: behind it there are four at most, a sign and three digits.
#[inline]
fn has_exponent(last: u64) -> bool {
    // Letters that differ in this bit are the same. A byte is zero if less one borrows from its highest bit, which it did not have.
    let others = (last | u64::from_le_bytes([b' '; 8])) ^ u64::from_le_bytes([b'e'; 8]);
    let zeros = others.wrapping_sub(u64::from_le_bytes([1; 8])) & !others;
    zeros & u64::from_le_bytes([0, 0, 0, 128, 128, 128, 128, 0]) != 0
}

/// A number with an `e` near its end.
#[inline(never)]
fn with_exponent(text: &[u8]) -> Option<f64> {
    let e = text.iter().rposition(|byte| matches!(byte, b'e' | b'E'))?;
    let (negative, digits) = match &text[e + 1..] {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 4 {
        return None;
    }
    let mut power = 0;
    for digit in digits.iter().map(|byte| byte.wrapping_sub(b'0')) {
        if digit > 9 {
            return None;
        }
        power = 10 * power + i32::from(digit);
    }
    without_exponent(&text[..e], if negative { -power } else { power })
}

/// Digits and perhaps a point, times 10^`power`.
#[inline]
fn without_exponent(text: &[u8], power: i32) -> Option<f64> {
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
    let mut behind = match text.get(at..) {
        Some([]) if at > 0 => &[],
        Some([b'.', behind @ ..]) if at + behind.len() > 0 => behind,
        _ => return None,
    };
    let power = power.checked_sub(i32::try_from(behind.len()).ok()?)?;
    if digits == 0 {
        while let Some((eight, others)) = behind.split_first_chunk::<8>()
            && u64::from_le_bytes(*eight) == ZEROS
        {
            behind = others;
        }
    }
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
    nearest(digits, power)
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
            "0.000000000000000000000000000000004070611250050429",
            "5.984978418656203e-33",
            "-1.25E+300",
            "1234567e2",
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
            "--1",
            "1e-",
            "1234567e",
            "1234567ee5",
            "123456e5.",
            "1234567e--5",
            "1234.56e78e9",
            "e1234567",
            "1.0000000e12345",
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
            text in "-?[0-9]{0,20}[.]?[0-9]{0,29}|-?0?[.]0{0,60}[0-9]{0,19}|[0-9]{0,9}[.]?[0-9]{0,17}[eE][-+]?[0-9]{0,4}|[-+.0-9:/eEé]{0,24}",
            value in any::<f64>(),
            near in -1e3..1e3_f64,
            halves in (1_u64 << 52..1 << 62, 0..11_usize),
        ) {
            check(&text)?;
            check(&value.to_string())?;
            check(&near.to_string())?;
            check(&format!("{value:e}"))?;
            check(&format!("{near:E}"))?;
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
