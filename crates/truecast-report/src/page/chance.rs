//! What chance alone would do.

use statrs::distribution::{Binomial, DiscreteCDF};

/// The probability of all bands of what chance alone would do.
pub(super) const BAND: f64 = 0.95;

/// Below this many outcomes the page says that nothing is sure.
pub(super) const FEW: u64 = 30;

/// The shares between which Binomial(rows, p) / rows lies with probability [`BAND`] at least.
pub(super) fn band(p: f64, rows: u64) -> (f64, f64) {
    if rows == 0 || p <= 0.0 || p >= 1.0 {
        return (p, p);
    }
    let tail = 0.5 * (1.0 - BAND);
    Binomial::new(p, rows).map_or((p, p), |law| {
        let share = |probability: f64| law.inverse_cdf(probability) as f64 / rows as f64;
        (share(tail), share(1.0 - tail))
    })
}

/// How an observed share stands to its nominal value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// In the band, or of too few outcomes to say.
    AsItShould,
    TooNarrow,
    TooWide,
}

pub(super) fn verdict(share: f64, nominal: f64, rows: u64) -> Verdict {
    let (low, high) = band(nominal, rows);
    match share {
        _ if rows < FEW => Verdict::AsItShould,
        _ if share < low => Verdict::TooNarrow,
        _ if share > high => Verdict::TooWide,
        _ => Verdict::AsItShould,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy.stats.binom.ppf([0.025, 0.975], 1000, 0.8) is 775 and 824; of ten million, 7997521 and 8002479.
    #[test]
    fn the_band_is_the_binomial_one() {
        assert_eq!(band(0.8, 1_000), (0.775, 0.824));
        assert_eq!(band(0.8, 10_000_000), (0.799_752_1, 0.800_247_9));
        assert_eq!(band(0.8, 0), (0.8, 0.8));
        assert_eq!(band(1.0, 10), (1.0, 1.0));
    }

    /// Three misses in fifty have a probability of 8 % where 98 % should be held, and two standard errors are less.
    #[test]
    fn chance_convicts_nobody() {
        assert_eq!(verdict(0.94, 0.98, 50), Verdict::AsItShould);
        assert_eq!(verdict(0.92, 0.98, 50), Verdict::TooNarrow);
        assert_eq!(verdict(0.0, 0.98, FEW - 1), Verdict::AsItShould);
        assert_eq!(verdict(1.0, 0.8, 30), Verdict::TooWide);
        assert_eq!(verdict(0.774, 0.8, 1_000), Verdict::TooNarrow);
        assert_eq!(verdict(0.775, 0.8, 1_000), Verdict::AsItShould);
    }
}
