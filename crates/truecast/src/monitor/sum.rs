//! A sum that does not lose digits, however long.
//!
//! Neumaier's variant of Kahan's summation: the error of a sum of n terms is about one rounding of the result plus
//! n ε² Σ|x|, where plain addition has n ε Σ|x|. After 10⁷ steps the difference is seven digits.
//!
//! Reference: A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54 (1974).

use serde::{Deserialize, Serialize};

use crate::error::{self, Error, Result};

/// A running sum with its compensation.
///
/// ```
/// use truecast::monitor::CompensatedSum;
///
/// let mut sum = CompensatedSum::default();
/// for x in [1.0, 1e100, 1.0, -1e100] {
///     sum.add(x);
/// }
/// assert_eq!(sum.value(), 2.0); // plain addition gives 0
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "(f64, f64)", into = "(f64, f64)")]
pub struct CompensatedSum {
    sum: f64,
    lost: f64,
}

impl CompensatedSum {
    /// Adds a finite number.
    #[inline]
    pub fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        self.lost += if self.sum.abs() >= x.abs() { (self.sum - sum) + x } else { (x - sum) + self.sum };
        self.sum = sum;
    }

    /// The sum so far.
    pub fn value(&self) -> f64 {
        self.sum + self.lost
    }

    /// Adds all that another sum holds.
    pub fn merge(&mut self, other: &Self) {
        self.add(other.sum);
        self.add(other.lost);
    }
}

impl TryFrom<(f64, f64)> for CompensatedSum {
    type Error = Error;
    fn try_from((sum, lost): (f64, f64)) -> Result<Self> {
        Ok(CompensatedSum { sum: error::finite("sum", sum)?, lost: error::finite("compensation", lost)? })
    }
}

impl From<CompensatedSum> for (f64, f64) {
    fn from(of: CompensatedSum) -> Self {
        (of.sum, of.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0.1 is 0.1 + 5.55e-18 in `f64`, so 10⁷ of them are 1e6 + 5.55e-11, which rounds to 1e6; plain addition is off
    /// by 2e-4.
    #[test]
    fn ten_million_terms_lose_nothing() {
        let mut sum = CompensatedSum::default();
        let mut plain = 0.0;
        for _ in 0..10_000_000 {
            sum.add(0.1);
            plain += 0.1;
        }
        assert_eq!(sum.value(), 1e6);
        assert!((plain - 1e6_f64).abs() > 1e-5);
    }

    #[test]
    fn merging_equals_adding() {
        let (mut left, mut right, mut all) =
            (CompensatedSum::default(), CompensatedSum::default(), CompensatedSum::default());
        for k in 0..1000 {
            let x = libm::sin(f64::from(k)) * libm::pow(10.0, f64::from(k % 20));
            all.add(x);
            if k % 3 == 0 { left.add(x) } else { right.add(x) }
        }
        left.merge(&right);
        // One rounding of terms as large as 1e19.
        assert!((left.value() - all.value()).abs() <= f64::EPSILON * 1e21, "{left:?} {all:?}");
    }

    #[test]
    fn loading_refuses_what_is_not_finite() {
        let bytes = postcard::to_allocvec(&(1.5, f64::NAN)).unwrap();
        assert!(postcard::from_bytes::<CompensatedSum>(&bytes).is_err());
        let bytes = postcard::to_allocvec(&CompensatedSum { sum: 1.5, lost: 1e-20 }).unwrap();
        assert_eq!(postcard::from_bytes(&bytes), Ok(CompensatedSum { sum: 1.5, lost: 1e-20 }));
    }
}
