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

use multiversion::multiversion;

use super::pieces::{Pieces, Sink, sum};
use super::{Forecast, Gaussian};
use crate::decision::Expectation;
use crate::normal::lanes::{ROOM, Score, Scores, padded};

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

    /// The moments over a normal base, given those over the standard normal distribution.
    pub(crate) fn over(self, base: &Gaussian) -> Self {
        let (location, scale) = (base.mean(), base.std());
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

/// Pieces shorter than this are integrated by the Hermite rule, whose relative error is 6e-5 h⁶ for A₀ and 1e-4 h⁵ for A₁, and longer ones by
/// differences of antiderivatives, whose relative error is a few roundings over h²: all are below 1e-12 here.
const SHORT: f64 = 0.02;

/// Adds up the moments of a curve from its knots. A knot is put at the median, so that every piece lies on one side of it.
#[derive(Debug)]
pub(crate) struct Accumulator {
    median: f64,
    lower_spread: f64,
    /// The last knot that was added.
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

    /// The moments of the knots gathered, with the upper tail.
    pub(crate) fn finish(pieces: &mut Pieces<Self>, median: f64, upper_spread: f64) -> Moments {
        if pieces.last().is_some_and(|(_, z)| z < 0.0) {
            pieces.push(median, 0.0);
        }
        let sum = pieces.finish();
        if let Some((y, score)) = sum.last {
            sum.tail(y, score, upper_spread, 1.0);
        }
        let variance = sum.square - sum.shift * sum.shift;
        Moments { mean: median + sum.shift, variance: variance.max(0.0) }
    }

    fn tail(&mut self, y: f64, score: Score, spread: f64, side: f64) {
        if spread > 0.0 {
            let distance = (y - self.median).abs();
            let (area, moment) = beyond(score.z.abs(), score.tail, score.density);
            self.shift += side * spread * area;
            self.square += 2.0 * spread * (distance * area + spread * moment);
        }
    }
}

impl Sink for Accumulator {
    const WIDE: bool = false;

    #[inline]
    fn between(&mut self, last: Option<(f64, f64)>, next: (f64, f64)) -> Option<(f64, f64)> {
        let below = last.is_none_or(|(_, z)| z < 0.0);
        (below && next.1 > 0.0).then_some((self.median, 0.0))
    }

    fn add(&mut self, y: &[f64; ROOM], scores: &Scores, count: usize) {
        if self.last.is_none() {
            self.tail(y[0], scores.get(0), self.lower_spread, -1.0);
        }
        self.last = Some((y[count - 1], scores.get(count - 1)));
        let pieces = count - 1;
        let end = padded(pieces);
        let (mut shifts, mut squares) = ([0.0; ROOM], [0.0; ROOM]);
        add_pieces(self.median, y, scores, &mut shifts[..end], &mut squares[..end]);
        self.shift += sum(&shifts[..pieces]);
        self.square += sum(&squares[..pieces]);
    }
}

/// ∫ of the tail probability beyond x, φ − x Φ(−x), and ∫ of it times the distance from x, ½((1 + x²) Φ(−x) − x φ).
#[inline(always)]
fn beyond(x: f64, tail: f64, density: f64) -> (f64, f64) {
    let (area, moment) = (density - x * tail, 0.5 * ((1.0 + x * x) * tail - x * density));
    (if area > 0.0 { area } else { 0.0 }, if moment > 0.0 { moment } else { 0.0 })
}

/// What each piece adds to E Y − c and E (Y − c)².
#[multiversion(targets("x86_64+avx2"))]
fn add_pieces(median: f64, y: &[f64; ROOM], scores: &Scores, shifts: &mut [f64], squares: &mut [f64]) {
    let count = shifts.len().min(ROOM - 1);
    let knots = count + 1;
    let (mut areas, mut moments) = ([0.0; ROOM], [0.0; ROOM]);
    let Scores { z, tail, density, .. } = scores;
    for i in 0..ROOM {
        (areas[i], moments[i]) = beyond(z[i].abs(), tail[i], density[i]);
    }
    let (y, z, tail, density) = (&y[..knots], &z[..knots], &tail[..knots], &density[..knots]);
    let (areas, moments) = (&areas[..knots], &moments[..knots]);
    let (shifts, squares) = (&mut shifts[..count], &mut squares[..count]);
    for i in 0..count {
        // From the inner end a to the outer one b, seen from the median.
        let below = z[i] < 0.0;
        let (ya, _) = from_within(below, y[i], y[i + 1]);
        let (za, zb) = from_within(below, z[i], z[i + 1]);
        let (fa, fb) = from_within(below, tail[i], tail[i + 1]);
        let (pa, pb) = from_within(below, density[i], density[i + 1]);
        let (area_a, area_b) = from_within(below, areas[i], areas[i + 1]);
        let (moment_a, moment_b) = from_within(below, moments[i], moments[i + 1]);
        let h = (zb - za).abs();
        let rise = y[i + 1] - y[i];
        let per_h = 1.0 / h;
        // ∫ (x − a) f from a to b: all beyond a, less what lies beyond b seen from a.
        let long_mean = (area_a - area_b) * per_h;
        let long_moment = (moment_a - moment_b - h * area_b) * per_h * per_h;
        // ∫ f and ∫ x f over 0 < x < 1 by the rule that is exact for polynomials of degree five, from values and two derivatives at both
        // ends: ½(g₀ + g₁) + (g′₀ − g′₁)/10 + (g″₀ + g″₁)/120, with f′ = −h φ and f″ = h² x φ.
        let (da, db) = (-h * pa, -h * pb);
        let (sa, sb) = (-h * za.abs() * da, -h * zb.abs() * db);
        let short_mean = 0.5 * (fa + fb) + 0.1 * (da - db) + (sa + sb) * (1.0 / 120.0);
        let short_moment = 0.5 * fb + 0.1 * (fa - fb - db) + (2.0 * (da + db) + sb) * (1.0 / 120.0);
        let mean = if h > SHORT { long_mean } else { short_mean };
        let moment = if h > SHORT { long_moment } else { short_moment };
        shifts[i] = if below { -rise * mean } else { rise * mean };
        squares[i] = 2.0 * rise * ((ya - median).abs() * mean + rise * moment);
    }
}

/// What stands at the two ends of a piece, the end nearer to the median first.
#[inline(always)]
fn from_within(below: bool, low: f64, high: f64) -> (f64, f64) {
    if below { (high, low) } else { (low, high) }
}
