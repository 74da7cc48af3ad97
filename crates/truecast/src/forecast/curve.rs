//! F = Φ∘s with s piecewise linear and non-decreasing: normal pieces, atoms, flat parts and bounded ends.
//!
//! Gaussians, quantile tables, ensembles and all that recalibration makes of them are of this form, so one closed
//! form gives the CRPS of all of them. A vertical piece (two knots at one y) is an atom; a flat piece (two knots at one
//! z) is an interval without probability.

use serde::{Deserialize, Serialize};

use super::moments::{Accumulator, Moments};
use super::pieces::{Pieces, Sink};
use crate::error::SnapshotError;
use crate::normal;
use crate::score::crps::pieces::SquaredErrors;

/// A point of a [`ProbitCurve`]: the outcome `y` has the probit score `z`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Knot {
    /// The outcome.
    pub y: f64,
    /// Its probit score.
    pub z: f64,
}

impl Knot {
    /// Puts knots in order and drops repeated ones; where rounding makes scores cross, the larger one holds.
    pub(crate) fn arrange(knots: &mut Vec<Knot>) {
        knots.sort_by(|a, b| a.y.total_cmp(&b.y).then(a.z.total_cmp(&b.z)));
        let mut floor = f64::NEG_INFINITY;
        for knot in knots.iter_mut() {
            floor = floor.max(knot.z);
            knot.z = floor;
        }
        knots.dedup();
    }
}

/// A distribution function Φ(s(y)), s linear between knots and beyond them.
///
/// Invariants: at least one knot; `y` and `z` finite and non-decreasing from knot to knot; spreads finite and ≥ 0.
/// A spread is dy/dz beyond the outer knot, the standard deviation of the normal tail there; 0 ends the support at
/// that knot, which then holds all of the tail's probability as an atom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct ProbitCurve {
    knots: Vec<Knot>,
    lower_spread: f64,
    upper_spread: f64,
}

impl ProbitCurve {
    /// Takes parts that satisfy the invariants; checked in debug builds only, because callers make them so.
    pub(crate) fn from_parts(knots: Vec<Knot>, lower_spread: f64, upper_spread: f64) -> Self {
        debug_assert!(!knots.is_empty());
        debug_assert!(knots.iter().all(|k| k.y.is_finite() && k.z.is_finite()), "{knots:?}");
        debug_assert!(knots.windows(2).all(|k| k[0].y <= k[1].y && k[0].z <= k[1].z), "{knots:?}");
        debug_assert!(lower_spread >= 0.0 && lower_spread.is_finite(), "{lower_spread}");
        debug_assert!(upper_spread >= 0.0 && upper_spread.is_finite(), "{upper_spread}");
        ProbitCurve { knots, lower_spread, upper_spread }
    }

    /// The curve on [low, high], with what lies beyond gathered on the bounds.
    pub(crate) fn within(self, low: f64, high: f64) -> Self {
        let (below, above) = (self.probit(low), self.probit_left(high));
        // A bound with an infinite score has no probability beyond it, and nothing is to be done.
        if !below.is_finite() && !above.is_finite() && below < above {
            return self;
        }
        let point_mass = |y: f64| ProbitCurve::from_parts(vec![Knot { y, z: 0.0 }], 0.0, 0.0);
        if below == f64::INFINITY {
            return point_mass(low);
        }
        if above == f64::NEG_INFINITY {
            return point_mass(high);
        }
        let ProbitCurve { mut knots, mut lower_spread, mut upper_spread } = self;
        knots.retain(|k| (low..=high).contains(&k.y));
        if below.is_finite() {
            knots.retain(|k| k.y > low);
            knots.insert(0, Knot { y: low, z: below });
            lower_spread = 0.0;
        }
        if above.is_finite() {
            knots.retain(|k| k.y < high);
            knots.push(Knot { y: high, z: above });
            upper_spread = 0.0;
        }
        ProbitCurve::from_parts(knots, lower_spread, upper_spread)
    }

    /// The knots, in order.
    pub fn knots(&self) -> &[Knot] {
        &self.knots
    }

    /// dy/dz below the first knot; 0 where the support ends there.
    pub fn lower_spread(&self) -> f64 {
        self.lower_spread
    }

    /// dy/dz above the last knot; 0 where the support ends there.
    pub fn upper_spread(&self) -> f64 {
        self.upper_spread
    }

    fn first(&self) -> Knot {
        self.knots[0]
    }

    fn last(&self) -> Knot {
        self.knots[self.knots.len() - 1]
    }

    /// s(y), continuous from the right.
    pub fn probit(&self, y: f64) -> f64 {
        // The first knot beyond y; the one before it is the last of those at y, so an atom counts in full.
        match self.knots.partition_point(|k| k.y <= y) {
            0 => beyond(self.first(), self.lower_spread, y),
            i if i == self.knots.len() => match self.upper_spread {
                spread if spread > 0.0 => beyond(self.last(), spread, y),
                _ => f64::INFINITY,
            },
            i => between(self.knots[i - 1], self.knots[i], y),
        }
    }

    /// The limit of s from the left.
    pub fn probit_left(&self, y: f64) -> f64 {
        match self.knots.partition_point(|k| k.y < y) {
            0 => match self.lower_spread {
                spread if spread > 0.0 => beyond(self.first(), spread, y),
                _ => f64::NEG_INFINITY,
            },
            i if i == self.knots.len() => beyond(self.last(), self.upper_spread, y),
            i => between(self.knots[i - 1], self.knots[i], y),
        }
    }

    /// The smallest y with s(y) ≥ z.
    pub fn at_probit(&self, z: f64) -> f64 {
        match self.knots.partition_point(|k| k.z < z) {
            0 => extend(self.first(), self.lower_spread, z),
            i if i == self.knots.len() => extend(self.last(), self.upper_spread, z),
            i => {
                let (a, b) = (self.knots[i - 1], self.knots[i]);
                interpolate((a.z, a.y), (b.z, b.y), z)
            }
        }
    }

    /// Mean and variance, each piece in closed form.
    pub fn moments(&self) -> Moments {
        let median = self.at_probit(0.0);
        let mut pieces = self.pieces(Accumulator::new(median, self.lower_spread));
        Accumulator::finish(&mut pieces, median, self.upper_spread)
    }

    /// ln of the density, or `None` on an atom.
    pub fn ln_density(&self, y: f64) -> Option<f64> {
        if self.probit_left(y) != self.probit(y) {
            return None;
        }
        let slope = match self.knots.partition_point(|k| k.y <= y) {
            0 => 1.0 / self.lower_spread,
            i if i == self.knots.len() => 1.0 / self.upper_spread,
            i => {
                let (a, b) = (self.knots[i - 1], self.knots[i]);
                (b.z - a.z) / (b.y - a.y)
            }
        };
        // Beyond a bounded end the slope is infinite and the score too: the density there is 0.
        let z = self.probit(y);
        Some(if z.is_finite() { normal::ln_density(z) + libm::log(slope) } else { f64::NEG_INFINITY })
    }

    /// The CRPS: ∫ Φ(s)² below the outcome plus ∫ Φ(−s)² above it, each piece in closed form.
    pub fn crps(&self, y: f64) -> f64 {
        let mut pieces = self.pieces(SquaredErrors::new(y, self.lower_spread));
        SquaredErrors::finish(&mut pieces, y, self.upper_spread)
    }

    fn pieces<S: Sink>(&self, sink: S) -> Pieces<S> {
        let mut pieces = Pieces::new(sink);
        for knot in &self.knots {
            pieces.push(knot.y, knot.z);
        }
        pieces
    }

    /// E[(c − Y)⁺] = ∫ Φ(s) below `c`, each piece in closed form.
    pub fn shortfall(&self, c: f64) -> f64 {
        let end = Knot { y: c, z: self.probit_left(c) };
        let below = self.knots.iter().copied().take_while(|knot| knot.y < c);
        area_below(below, end, self.lower_spread)
    }

    /// E[(Y − c)⁺] = ∫ Φ(−s) above `c`: the shortfall of the mirrored curve.
    pub fn excess(&self, c: f64) -> f64 {
        let mirror = |k: Knot| Knot { y: -k.y, z: -k.z };
        let end = mirror(Knot { y: c, z: self.probit(c) });
        let above = self.knots.iter().rev().copied().take_while(|knot| knot.y > c).map(mirror);
        area_below(above, end, self.upper_spread)
    }
}

/// The saved form.
#[derive(Serialize, Deserialize)]
struct Parts {
    knots: Vec<Knot>,
    lower_spread: f64,
    upper_spread: f64,
}

impl TryFrom<Parts> for ProbitCurve {
    type Error = SnapshotError;
    fn try_from(parts: Parts) -> Result<Self, SnapshotError> {
        let Parts { knots, lower_spread, upper_spread } = parts;
        let finite = knots.iter().all(|k| k.y.is_finite() && k.z.is_finite());
        let ordered = knots.windows(2).all(|k| k[0].y <= k[1].y && k[0].z <= k[1].z);
        let spreads = [lower_spread, upper_spread].iter().all(|s| *s >= 0.0 && s.is_finite());
        if knots.is_empty() || !finite || !ordered || !spreads {
            let rule = "knots that do not decrease, one at least";
            return Err(SnapshotError::Invalid { field: "announced forecast", rule });
        }
        Ok(ProbitCurve { knots, lower_spread, upper_spread })
    }
}

impl From<ProbitCurve> for Parts {
    fn from(of: ProbitCurve) -> Self {
        Parts { knots: of.knots, lower_spread: of.lower_spread, upper_spread: of.upper_spread }
    }
}

/// The probit score at `y` beyond an outer knot.
fn beyond(knot: Knot, spread: f64, y: f64) -> f64 {
    if y == knot.y {
        knot.z
    } else if spread > 0.0 {
        knot.z + (y - knot.y) / spread
    } else if y < knot.y {
        f64::NEG_INFINITY
    } else {
        f64::INFINITY
    }
}

/// The outcome at probit score `z` beyond an outer knot. A spread of 0 must not meet an infinite score.
pub(super) fn extend(knot: Knot, spread: f64, z: f64) -> f64 {
    if spread > 0.0 { knot.y + spread * (z - knot.z) } else { knot.y }
}

fn between(a: Knot, b: Knot, y: f64) -> f64 {
    interpolate((a.y, a.z), (b.y, b.z), y)
}

/// The line through two points at `x` between them, measured from the nearer one: exact at both, and as accurate
/// near either as if the other were close, however far out it lies.
pub(crate) fn interpolate(a: (f64, f64), b: (f64, f64), x: f64) -> f64 {
    let (run, rise) = (b.0 - a.0, b.1 - a.1);
    let (from_a, to_b) = (x - a.0, b.0 - x);
    if from_a < to_b { a.1 + rise * (from_a / run) } else { b.1 - rise * (to_b / run) }
}

/// ∫ Φ(s(y)) dy below `end`, over the curve through `knots`, all of which lie below it; `tail` is the spread below the first of
/// them.
fn area_below(knots: impl Iterator<Item = Knot>, end: Knot, tail: f64) -> f64 {
    let mut sum = 0.0;
    let mut before: Option<(Knot, f64)> = None;
    for knot in knots.chain(std::iter::once(end)) {
        // Beyond a bounded end the score is infinite: the CDF is 1 above it, and 0 below.
        let integral = if knot.z.is_finite() { normal::integral_of_cdf(knot.z) } else { 0.0 };
        sum += match before {
            None if tail > 0.0 => tail * integral,
            None => 0.0,
            Some((last, at_last)) => area_of_cdf(last, knot, at_last, integral),
        };
        before = Some((knot, integral));
    }
    sum
}

/// ∫ Φ(s(y)) dy over one linear piece, given ∫ Φ up to its ends' scores.
fn area_of_cdf(a: Knot, b: Knot, at_a: f64, at_b: f64) -> f64 {
    let (length, rise) = (b.y - a.y, b.z - a.z);
    if length <= 0.0 {
        0.0
    } else if rise == f64::INFINITY {
        length // a spread so small that the score overflows: the CDF is 1 on all of the piece
    } else if rise > 0.05 {
        length * ((at_b - at_a) / rise)
    } else {
        0.5 * length * gauss(|x| normal::cdf(a.z + rise * 0.5 * (1.0 + x)))
    }
}

/// ∫ from −1 to 1 on pieces so short that a difference of antiderivatives would cancel; there five Gauss-Legendre points
/// are exact to rounding.
fn gauss(f: impl Fn(f64) -> f64) -> f64 {
    const HALF_GAUSS: [(f64, f64); 3] = [
        (0.0, 0.568_888_888_888_888_9),
        (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
        (0.906_179_845_938_664, 0.236_926_885_056_189_1),
    ];
    HALF_GAUSS
        .iter()
        .fold(0.0, |sum, &(x, weight)| sum + weight * if x == 0.0 { f(0.0) } else { f(x) + f(-x) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A spread of 1e-310 sends the score of any outcome but the knot to infinity, and ∞/∞ once gave NaN. The curve is
    /// then an atom, and its CRPS the absolute error.
    #[test]
    fn a_spread_near_zero_is_an_atom() {
        let curve = ProbitCurve::from_parts(vec![Knot { y: 1.0, z: 0.0 }], 1e-310, 1e-310);
        for (y, error) in [(3.0, 2.0), (-2.0, 3.0), (1.0, 0.0)] {
            assert!((curve.crps(y) - error).abs() < 1e-300, "{}", curve.crps(y));
        }
    }

    /// A support bound a million spreads out must not cost the scores near the other knot any digits.
    #[test]
    fn a_far_knot_leaves_the_scores_at_the_near_one_exact() {
        let knots = vec![Knot { y: -1e9, z: -1e9 - 0.25 }, Knot { y: 1.0, z: 0.75 }];
        let curve = ProbitCurve::from_parts(knots, 0.0, 1.0);
        for y in [-3.0, 0.0, 0.5, 1.0, 2.0] {
            let z = curve.probit(y);
            assert!((z - (y - 0.25)).abs() < 1e-15 * (1.0 + y.abs()), "probit({y}) is {z}");
            let back = curve.at_probit(z);
            assert!((back - y).abs() < 4e-15 * (1.0 + y.abs()), "at_probit({z}) is {back}, not {y}");
        }
    }
}
