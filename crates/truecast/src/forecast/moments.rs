//! Mean and variance.
//!
//! A distribution Φ∘s with s piecewise linear ([`ProbitCurve`](super::ProbitCurve)) has its quantile at probit score z on a
//! piecewise linear function q(z). Around the median c = q(0), integration by parts leaves positive terms only:
//!
//! ```text
//! E Y − c     = ∫ q′(z) Φ(−z) dz above 0  −  ∫ q′(z) Φ(z) dz below 0
//! E (Y − c)²  = ∫ 2 (q − c) q′ Φ(−z) dz above 0  +  ∫ 2 (c − q) q′ Φ(z) dz below 0
//! ```
//!
//! On a piece from a to b = a + h away from 0, with the tail probability f(x) = Φ(−a − hx), a rise of Δ in y and a distance d from c at its inner
//! end, the two grow by Δ A₀ and 2Δ d A₀ + 2Δ² A₁, A₀ = ∫ f and A₁ = ∫ x f over 0 < x < 1. A jump of y is a piece with h = 0, an atom
//! one with Δ = 0. The variance is E (Y − c)² − (E Y − c)², and loses at most a factor of two, because mean and median are never
//! further apart than a standard deviation.
//!
//! Cost: Φ and φ once per knot, no allocation. Relative error about 1e-12.

use super::{Forecast, Knot};
use crate::decision::Expectation;
use crate::normal;

/// Mean and variance of a forecast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// The mean; where there is none, the median.
    pub mean: f64,
    /// The variance; +∞ where it is infinite or there is no mean.
    pub variance: f64,
}

impl Moments {
    /// The standard deviation.
    pub fn std(&self) -> f64 {
        libm::sqrt(self.variance)
    }

    /// The moments of `location + scale · Y`.
    pub(crate) fn rescaled(self, location: f64, scale: f64) -> Self {
        Moments { mean: location + scale * self.mean, variance: scale * scale * self.variance }
    }
}

/// The moments by the general method: exact for a piecewise normal forecast, by quadrature otherwise.
pub(crate) fn evaluate<F: Forecast + ?Sized>(forecast: &F) -> Moments {
    if let Some(curve) = forecast.curve() {
        return curve.moments();
    }
    let expectation = Expectation::new(forecast);
    match expectation.mean() {
        Err(_) => Moments { mean: forecast.at_probit(0.0), variance: f64::INFINITY },
        Ok(mean) => {
            let std = expectation.standard_deviation().unwrap_or(f64::INFINITY);
            Moments { mean, variance: std * std }
        }
    }
}

/// Pieces shorter than this are integrated by the Hermite rule, whose relative error is 6e-5 h⁶, and longer ones by
/// differences of antiderivatives, whose relative error is a few roundings over h²: both are below 1e-12 here.
const SHORT: f64 = 0.05;

/// Beyond this Φ is below the smallest `f64`.
const END: f64 = 38.5;

/// A knot with what the integrals need there: everything is taken on the side of 0 that the knot lies on.
#[derive(Debug, Clone, Copy)]
struct Point {
    /// The distance from the median.
    distance: f64,
    /// |z|.
    size: f64,
    /// Φ(−|z|).
    tail: f64,
    /// φ(z).
    density: f64,
}

impl Point {
    /// ∫ of the tail probability beyond the point: φ − x Φ(−x).
    fn area(&self) -> f64 {
        (self.density - self.size * self.tail).max(0.0)
    }

    /// ∫ of the tail probability times the distance from the point: ½((1 + x²) Φ(−x) − x φ).
    fn moment(&self) -> f64 {
        (0.5 * ((1.0 + self.size * self.size) * self.tail - self.size * self.density)).max(0.0)
    }
}

/// A score with Φ(−|z|) and φ(z), for callers that know them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Score {
    pub(crate) z: f64,
    pub(crate) tail: f64,
    pub(crate) density: f64,
}

impl Score {
    pub(crate) fn new(z: f64) -> Self {
        let size = z.abs();
        if size > END {
            return Score { z, tail: 0.0, density: 0.0 };
        }
        Score { z, tail: normal::sf(size), density: normal::density(size) }
    }

    const ZERO: Score = Score { z: 0.0, tail: 0.5, density: normal::DENSITY_AT_ZERO };
}

/// Adds up the moments of a curve from its knots, given in order.
#[derive(Debug)]
pub(crate) struct Accumulator {
    median: f64,
    lower_spread: f64,
    last: Option<(f64, Score)>,
    /// E Y − c on either side of the median.
    shift: f64,
    /// E (Y − c)².
    square: f64,
}

impl Accumulator {
    /// For the curve with the given median and lower tail.
    pub(crate) fn new(median: f64, lower_spread: f64) -> Self {
        Accumulator { median, lower_spread, last: None, shift: 0.0, square: 0.0 }
    }

    /// The next knot. Where rounding makes knots cross, the larger numbers hold.
    pub(crate) fn push(&mut self, y: f64, score: Score) {
        let Some((last_y, last)) = self.last else {
            // The lower tail ends at the knot or at the median, whichever comes first.
            if score.z > 0.0 {
                self.tail(self.median, Score::ZERO, self.lower_spread, -1.0);
                self.last = Some((self.median, Score::ZERO));
                return self.push(y, score);
            }
            self.tail(y, score, self.lower_spread, -1.0);
            self.last = Some((y, score));
            return;
        };
        let y = y.max(last_y);
        let score = if score.z < last.z { last } else { score };
        if last.z < 0.0 && score.z > 0.0 {
            self.piece((self.median, Score::ZERO), (last_y, last), -1.0);
            self.piece((self.median, Score::ZERO), (y, score), 1.0);
        } else if score.z <= 0.0 && last.z < 0.0 {
            self.piece((y, score), (last_y, last), -1.0);
        } else {
            self.piece((last_y, last), (y, score), 1.0);
        }
        self.last = Some((y, score));
    }

    /// The moments, with the upper tail.
    pub(crate) fn finish(mut self, upper_spread: f64) -> Moments {
        if self.last.is_some_and(|(_, score)| score.z < 0.0) {
            self.push(self.median, Score::ZERO);
        }
        if let Some((y, score)) = self.last {
            self.tail(y, score, upper_spread, 1.0);
        }
        let variance = self.square - self.shift * self.shift;
        Moments { mean: self.median + self.shift, variance: variance.max(0.0) }
    }

    fn point(&self, (y, score): (f64, Score)) -> Point {
        let Score { z, tail, density } = score;
        Point { distance: (y - self.median).abs(), size: z.abs(), tail, density }
    }

    /// A linear piece on one side of the median, from its inner end to its outer one.
    #[inline]
    fn piece(&mut self, inner: (f64, Score), outer: (f64, Score), side: f64) {
        let rise = (outer.0 - inner.0).abs();
        if rise <= 0.0 {
            return;
        }
        let (a, b) = (self.point(inner), self.point(outer));
        let h = b.size - a.size;
        let (mean, moment) = if h > SHORT {
            let area = a.area() - b.area();
            // ∫ (x − a) f from a to b: all beyond a, less what lies beyond b seen from a.
            (area / h, (a.moment() - b.moment() - h * b.area()) / h / h)
        } else {
            short_piece(&a, &b, h)
        };
        self.shift += side * rise * mean;
        self.square += 2.0 * rise * (a.distance * mean + rise * moment);
    }

    fn tail(&mut self, y: f64, score: Score, spread: f64, side: f64) {
        if spread > 0.0 {
            let end = self.point((y, score));
            self.shift += side * spread * end.area();
            self.square += 2.0 * spread * (end.distance * end.area() + spread * end.moment());
        }
    }
}

/// ∫ f and ∫ x f over 0 < x < 1 by the rule that is exact for polynomials of degree five, from values and two derivatives at both ends:
/// ½(g₀ + g₁) + (g′₀ − g′₁)/10 + (g″₀ + g″₁)/120.
#[inline]
fn short_piece(a: &Point, b: &Point, h: f64) -> (f64, f64) {
    // f′ = −h φ and f″ = h² x φ.
    let (da, db) = (-h * a.density, -h * b.density);
    let (sa, sb) = (-h * a.size * da, -h * b.size * db);
    let mean = 0.5 * (a.tail + b.tail) + 0.1 * (da - db) + (sa + sb) / 120.0;
    let moment = 0.5 * b.tail + 0.1 * (a.tail - b.tail - db) + (2.0 * (da + db) + sb) / 120.0;
    (mean, moment)
}

/// The moments of a curve by its knots.
pub(crate) fn of_knots(knots: &[Knot], median: f64, lower_spread: f64, upper_spread: f64) -> Moments {
    let mut sum = Accumulator::new(median, lower_spread);
    for knot in knots {
        sum.push(knot.y, Score::new(knot.z));
    }
    sum.finish(upper_spread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gaussian, LedgerRecalibrator, Recalibrator, random};

    /// The walk over the map's knots and the curve made of them are one distribution, whatever the guard did: with outcomes far out
    /// on alternating sides its knots tie. 1e-11 is ten times the error of either.
    #[test]
    fn the_map_and_its_curve_have_the_same_moments() {
        let base = Gaussian::new(3.0, 2.0).unwrap();
        for far in [0.5, 3.0, 40.0] {
            let mut recalibrator = LedgerRecalibrator::default();
            for t in 0..300 {
                let calibrated = recalibrator.recalibrate(base).unwrap();
                let (fast, slow) = (calibrated.moments(), calibrated.curve().unwrap().moments());
                assert!((fast.mean - slow.mean).abs() <= 1e-11 * slow.std(), "{far} {t}: {fast:?} {slow:?}");
                let relative = fast.variance / slow.variance - 1.0;
                assert!(relative.abs() <= 1e-11, "{far} {t}: {fast:?} {slow:?}");
                let side = if t % 3 == 0 { far } else { -far };
                recalibrator.observe(&base, base.at_probit(side * random::uniform(1, t, 0))).unwrap();
            }
        }
    }
}
