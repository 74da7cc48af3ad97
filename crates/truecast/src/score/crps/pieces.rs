//! The CRPS of Φ∘s, s piecewise linear, from its knots in order.
//!
//! ∫ Φ(s)² below the outcome and ∫ Φ(−s)² above it. With I(z) = ∫ Φ² up to z, a piece from (a, z_a) to (b, z_b) adds
//! (b − a)(I(z_b) − I(z_a))/(z_b − z_a) below the outcome; above it, −I(−z) takes the place of I(z). A knot is put at the outcome, so that
//! every piece lies on one side of it.
//!
//! Cost: I once per knot, with Φ, φ and Φ(√2 ·) there; no allocation.

use multiversion::multiversion;

use crate::forecast::interpolate;
use crate::forecast::pieces::{Pieces, Sink, sum};
use crate::normal::lanes::{ROOM, Score, Scores, padded};

/// Pieces with a smaller rise h are integrated by the Hermite rule, whose relative error is 1e-5 h⁶ times the integrand's sixth derivative
/// (below 1e-13 within ±6), and others by differences of I, whose relative error is a few roundings over h.
const SHORT: f64 = 0.02;

/// A spread near zero sends the outcome's score to infinity. Held within this, the mean of Φ² over the piece is 1 to rounding.
const FARTHEST: f64 = 1e17;

/// Adds up the CRPS of a curve.
#[derive(Debug)]
pub(crate) struct SquaredErrors {
    outcome: f64,
    lower_spread: f64,
    /// The score of the last knot that was added.
    last: Option<Score>,
    sum: f64,
}

impl SquaredErrors {
    /// For a finite outcome, on a curve with the given lower tail.
    pub(crate) fn new(outcome: f64, lower_spread: f64) -> Self {
        SquaredErrors { outcome, lower_spread, last: None, sum: 0.0 }
    }

    /// The CRPS of the knots gathered, with the upper tail.
    pub(crate) fn finish(pieces: &mut Pieces<Self>, outcome: f64, upper_spread: f64) -> f64 {
        let Some((y, z)) = pieces.last() else { return f64::INFINITY };
        let bounded = upper_spread <= 0.0;
        if y < outcome && !bounded {
            pieces.push(outcome, (z + (outcome - y) / upper_spread).min(FARTHEST));
        }
        let sink = pieces.finish();
        match sink.last {
            Some(last) if !bounded => sink.sum + upper_spread * last.mirrored().integral_of_squared_cdf(),
            _ => sink.sum + (outcome - y).max(0.0), // the CDF is 1 above the end
        }
    }
}

impl Sink for SquaredErrors {
    const WIDE: bool = true;

    #[inline]
    fn between(&mut self, last: Option<(f64, f64)>, next: (f64, f64)) -> Option<(f64, f64)> {
        let outcome = self.outcome;
        match last {
            Some(last) => {
                (last.0 < outcome && outcome < next.0).then(|| (outcome, interpolate(last, next, outcome)))
            }
            None if next.0 <= outcome => None,
            None if self.lower_spread > 0.0 => {
                let z = next.1 - (next.0 - outcome) / self.lower_spread;
                Some((outcome, z.max(-FARTHEST)))
            }
            None => {
                self.sum += next.0 - outcome; // the CDF is 0 below the end
                None
            }
        }
    }

    fn add(&mut self, y: &[f64; ROOM], scores: &Scores, count: usize) {
        if self.last.is_none() && self.lower_spread > 0.0 {
            self.sum += self.lower_spread * scores.get(0).integral_of_squared_cdf();
        }
        self.last = Some(scores.get(count - 1));
        let split = y[..count].partition_point(|&y| y < self.outcome).min(count - 1);
        self.sum += side(y, scores, 0, split, 1.0) + side(y, scores, split, count - 1, -1.0);
    }
}

/// The pieces between knots `from` and `to`, which lie on one side of the outcome: 1 below it and −1 above it.
fn side(y: &[f64; ROOM], scores: &Scores, from: usize, to: usize, side: f64) -> f64 {
    let count = to - from;
    if count == 0 {
        return 0.0;
    }
    // Whole lanes of pieces, and so one knot more.
    let end = from + padded(count);
    let Scores { z, tail, density, wide_tail } = scores;
    let mut areas = [0.0; ROOM];
    let mut terms = [0.0; ROOM];
    let knots = from..end + 1;
    let (z, tail, density) = (&z[knots.clone()], &tail[knots.clone()], &density[knots.clone()]);
    integrate(side, z, tail, density, &wide_tail[knots.clone()], &mut areas);
    add_pieces(side, &y[knots], z, tail, density, &areas, &mut terms[..end - from]);
    sum(&terms[..count])
}

/// I(z) at every knot, or −I(−z).
#[multiversion(targets("x86_64+avx2"))]
fn integrate(
    side: f64,
    z: &[f64],
    tail: &[f64],
    density: &[f64],
    wide_tail: &[f64],
    areas: &mut [f64; ROOM],
) {
    let count = z.len();
    let (tail, density, wide_tail) = (&tail[..count], &density[..count], &wide_tail[..count]);
    let areas = &mut areas[..count];
    for i in 0..count {
        let score = Score { z: side * z[i], tail: tail[i], density: density[i], wide_tail: wide_tail[i] };
        areas[i] = side * score.integral_of_squared_cdf();
    }
}

/// What each piece adds.
#[multiversion(targets("x86_64+avx2"))]
fn add_pieces(
    side: f64,
    y: &[f64],
    z: &[f64],
    tail: &[f64],
    density: &[f64],
    areas: &[f64; ROOM],
    terms: &mut [f64],
) {
    let count = terms.len().min(ROOM - 1);
    let knots = count + 1;
    let (y, z, tail, density) = (&y[..knots], &z[..knots], &tail[..knots], &density[..knots]);
    let (areas, terms) = (&areas[..knots], &mut terms[..count]);
    for i in 0..count {
        let rise = z[i + 1] - z[i];
        let long = (areas[i + 1] - areas[i]) / rise;
        let a = derivatives(side * z[i], tail[i], density[i]);
        let b = derivatives(side * z[i + 1], tail[i + 1], density[i + 1]);
        let slopes = side * (a.1 - b.1);
        let short = 0.5 * (a.0 + b.0) + rise * (0.1 * slopes + rise * (a.2 + b.2) * (1.0 / 120.0));
        let mean = if rise > SHORT { long } else { short };
        terms[i] = (y[i + 1] - y[i]) * mean;
    }
}

/// Φ(u)² and its first two derivatives, given Φ(−|u|) and φ(u).
#[inline(always)]
fn derivatives(u: f64, tail: f64, density: f64) -> (f64, f64, f64) {
    let p = if u < 0.0 { tail } else { 1.0 - tail };
    (p * p, 2.0 * p * density, 2.0 * density * (density - u * p))
}
