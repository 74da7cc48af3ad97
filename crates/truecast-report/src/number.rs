//! Numbers as people read them: thousands apart, no digits that mean nothing.

/// A count: 12,345.
pub fn count(value: u64) -> String {
    separated(&value.to_string())
}

/// 1 outcome, 2 outcomes.
pub fn outcomes(rows: u64) -> String {
    format!("{} {}", count(rows), if rows == 1 { "outcome" } else { "outcomes" })
}

/// A share as a percentage with at most one decimal: 80 %, 61.3 %.
///
/// A share that is not quite 1 is not shown as 100 %, nor one above 0 as 0 %.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "–".to_owned();
    }
    let tenths = (share * 1000.0).round();
    let shown = match share {
        _ if share > 0.0 && tenths == 0.0 => return "< 0.1\u{a0}%".to_owned(),
        _ if share < 1.0 && tenths >= 1000.0 => return "> 99.9\u{a0}%".to_owned(),
        _ => tenths / 10.0,
    };
    format!("{}\u{a0}%", plain(shown, 1))
}

/// Four significant digits: 12,345, 1.235, 0.01235, 1.235×10⁻⁷.
pub fn significant(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    // Of the rounded number, so that 9.9999 is 10.00 and not 10.000.
    let exponent = exponent_of(value, 3);
    match exponent {
        -4..=6 => fixed(value, (3 - exponent).max(0) as usize),
        _ => scientific(value, 3),
    }
}

/// A number with at most `decimals` decimals, without trailing zeros, with thousands apart and a true minus sign.
pub fn plain(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.to_owned()
}

/// As [`fixed`], with a + before a number above zero.
pub fn signed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    let is_zero = text.chars().all(|c| matches!(c, '0' | '.' | ','));
    if value > 0.0 && !is_zero { format!("+{text}") } else { text }
}

/// A length or place in an SVG: two decimals are a hundredth of a pixel.
pub(crate) fn coordinate(value: f64) -> String {
    let text = format!("{:.2}", if value.is_finite() { value } else { 0.0 });
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// The labels of ticks that are `step` apart, all with as many decimals as the step needs.
pub(crate) fn tick_label(value: f64, step: f64, largest: f64) -> String {
    // Two digits of rounding at the step's own size decide what is zero.
    if value.abs() < step * 1e-6 {
        return "0".to_owned();
    }
    if largest >= 1e7 || step < 1e-5 {
        let digits = (exponent_of(value, 3) - exponent_of(step, 3)).clamp(0, 15) as usize;
        return scientific(value, digits);
    }
    let decimals = (-exponent_of(step, 3)).max(0) as usize;
    fixed(value, decimals)
}

/// The power of ten of a number once it is rounded to `digits` decimals in scientific notation.
fn exponent_of(value: f64, digits: usize) -> i32 {
    format!("{value:.digits$e}").split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

/// A number with exactly so many decimals, with thousands apart and a true minus sign.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) if digits.chars().any(|c| c.is_ascii_digit() && c != '0') => ("−", digits),
        Some(digits) => ("", digits),
        None => ("", text.as_str()),
    };
    match digits.split_once('.') {
        Some((whole, fraction)) => format!("{sign}{}.{fraction}", separated(whole)),
        None => format!("{sign}{}", separated(digits)),
    }
}

/// Trailing zeros of the mantissa are dropped: 5×10⁸, 2.5×10⁸.
fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa =
        if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    let raised: String = exponent.chars().filter_map(superscript).collect();
    format!("{}×10{raised}", mantissa.replace('-', "−"))
}

fn superscript(character: char) -> Option<char> {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    match character {
        '-' => Some('⁻'),
        _ => character.to_digit(10).and_then(|digit| DIGITS.get(digit as usize).copied()),
    }
}

/// Commas between groups of three digits.
fn separated(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_percentages() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([1, 2_000].map(outcomes), ["1 outcome", "2,000 outcomes"]);
        let shares = [0.8, 0.61349, 0.1 + 0.2, 1.0, 0.99999, 0.0001, 0.0, f64::NAN];
        let shown = ["80 %", "61.3 %", "30 %", "100 %", "> 99.9 %", "< 0.1 %", "0 %", "–"];
        assert_eq!(shares.map(|share| percent(share).replace('\u{a0}', " ")), shown);
    }

    #[test]
    fn significant_digits() {
        let values = [0.0, 12_345.4, 1.23456, -0.0123456, 9.9999, 1.23456e-7, -2.5e8, f64::INFINITY];
        let shown = ["0", "12,345", "1.235", "−0.01235", "10.00", "1.235×10⁻⁷", "−2.5×10⁸", "–"];
        assert_eq!(values.map(significant), shown);
    }

    #[test]
    fn signs() {
        assert_eq!([signed(1.25, 1), signed(-3.0, 1), signed(-0.01, 1)], ["+1.2", "−3.0", "0.0"]);
        assert_eq!([plain(0.1 + 0.2, 6), plain(1200.0, 1)], ["0.3", "1,200"]);
    }

    #[test]
    fn ticks_have_the_decimals_of_their_step() {
        assert_eq!(tick_label(3.0 * 0.1, 0.1, 1.0), "0.3");
        assert_eq!(tick_label(-1e-17, 0.1, 1.0), "0");
        assert_eq!(tick_label(20_000.0, 5_000.0, 20_000.0), "20,000");
        assert_eq!(tick_label(1.5e8, 5e7, 1.5e8), "1.5×10⁸");
        assert_eq!(tick_label(2e-6, 1e-6, 5e-6), "2×10⁻⁶");
        assert_eq!(tick_label(0.25, 0.05, 1.0), "0.25");
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!([1.0 / 3.0, -0.001, 12.0, f64::NAN].map(coordinate), ["0.33", "0", "12", "0"]);
    }
}
