//! Sums over the pieces of Φ∘s, s piecewise linear, from its knots one after the other.
//!
//! A [`Sink`] adds up an integral over pieces. Between the one who knows the knots and the sink stand
//!
//! - [`Through`], which turns the knots of a map into those of the map over a base's curve, merging the base's own knots with them;
//! - [`Pieces`], which puts knots in order and gathers them, so that Φ and φ are taken at many of them at once.
//!
//! Nothing is allocated, however many knots there are.

use super::curve::{ProbitCurve, extend, interpolate};
use crate::normal::lanes::{LANES, ROOM, Scores};

/// So many knots are gathered: loops over whole lanes may read a few past them.
const FULL: usize = ROOM - LANES;

/// An integral over a curve, from its knots in order.
pub(crate) trait Sink {
    /// Whether it reads [`Scores::wide_tail`].
    const WIDE: bool;

    /// A knot to be put between two that follow each other, or before the first one, where the integrand changes its form.
    fn between(&mut self, last: Option<(f64, f64)>, next: (f64, f64)) -> Option<(f64, f64)>;

    /// Adds the pieces between the first `count` of the knots (y, score). The first is the last of those added before, if any.
    fn add(&mut self, y: &[f64; ROOM], scores: &Scores, count: usize);
}

/// Gathers knots for a sink.
#[derive(Debug)]
pub(crate) struct Pieces<S> {
    sink: S,
    y: [f64; ROOM],
    scores: Scores,
    count: usize,
}

impl<S: Sink> Pieces<S> {
    pub(crate) fn new(sink: S) -> Self {
        Pieces { sink, y: [0.0; ROOM], scores: Scores::new(), count: 0 }
    }

    /// The next knot. Where rounding makes knots cross, the larger numbers hold; one that a wide base sends off the axis is left out.
    #[inline(always)]
    pub(crate) fn push(&mut self, y: f64, z: f64) {
        if !y.is_finite() {
            return;
        }
        let last = self.last();
        let next = in_order(last, (y, z));
        if let Some(knot) = self.sink.between(last, next) {
            self.put(in_order(last, knot));
        }
        self.put(next);
    }

    /// The last knot.
    #[inline]
    pub(crate) fn last(&self) -> Option<(f64, f64)> {
        self.count.checked_sub(1).map(|i| (self.y[i], self.scores.z[i]))
    }

    /// Adds what was gathered. All knots are in the sink then.
    pub(crate) fn finish(&mut self) -> &mut S {
        self.flush();
        &mut self.sink
    }

    #[inline]
    fn put(&mut self, (y, z): (f64, f64)) {
        if self.count == FULL {
            self.start_again();
        }
        self.y[self.count] = y;
        self.scores.z[self.count] = z;
        self.count += 1;
    }

    /// Adds what was gathered, and keeps the last knot.
    #[cold]
    fn start_again(&mut self) {
        self.flush();
        (self.y[0], self.scores.z[0]) = (self.y[FULL - 1], self.scores.z[FULL - 1]);
        self.count = 1;
    }

    fn flush(&mut self) {
        if self.count > 0 {
            self.scores.evaluate(self.count, S::WIDE);
            self.sink.add(&self.y, &self.scores, self.count);
        }
    }
}

#[inline(always)]
fn in_order(last: Option<(f64, f64)>, next: (f64, f64)) -> (f64, f64) {
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    last.map_or(next, |last| (larger(last.0, next.0), larger(last.1, next.1)))
}

/// Adds numbers in four sums: the order is the same on every machine.
pub(crate) fn sum(terms: &[f64]) -> f64 {
    let (fours, rest) = terms.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        for (sum, term) in sums.iter_mut().zip(four) {
            *sum += term;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest.iter().sum::<f64>()
}

/// The knots of map ∘ curve.
///
/// Where the map jumps at a score that the base has over a whole interval, the map's knots come first: the calibrated score in that
/// interval is the map's limit from the right.
#[derive(Debug)]
pub(crate) struct Through<'a, S> {
    base: &'a ProbitCurve,
    /// The base's first knot that was not pushed.
    next: usize,
    /// The map's last knot.
    last: Option<(f64, f64)>,
    lower_spread: f64,
    pieces: Pieces<S>,
}

impl<'a, S: Sink> Through<'a, S> {
    /// `lower_spread` is the map's: d(base)/d(calibrated) of the score below its first knot.
    pub(crate) fn new(base: &'a ProbitCurve, lower_spread: f64, sink: S) -> Self {
        Through { base, next: 0, last: None, lower_spread, pieces: Pieces::new(sink) }
    }

    /// The map's next knot: a base score and its calibrated score.
    pub(crate) fn push(&mut self, z: f64, t: f64) {
        let knots = self.base.knots();
        while let Some(knot) = knots.get(self.next).filter(|knot| knot.z < z) {
            let through = match self.last {
                None => t - (z - knot.z) / self.lower_spread,
                Some(last) => interpolate(last, (z, t), knot.z),
            };
            self.pieces.push(knot.y, through);
            self.next += 1;
        }
        let y = match (self.next.checked_sub(1), knots.get(self.next)) {
            (Some(i), Some(b)) => interpolate((knots[i].z, knots[i].y), (b.z, b.y), z),
            (None, Some(first)) => extend(*first, self.base.lower_spread(), z),
            (Some(i), None) => extend(knots[i], self.base.upper_spread(), z),
            (None, None) => return,
        };
        self.pieces.push(y, t);
        self.last = Some((z, t));
    }

    /// With the base's knots above the map's last one.
    pub(crate) fn finish(&mut self, upper_spread: f64) -> &mut Pieces<S> {
        if let Some((z, t)) = self.last {
            for knot in &self.base.knots()[self.next..] {
                self.pieces.push(knot.y, t + (knot.z - z) / upper_spread);
            }
        }
        &mut self.pieces
    }
}

#[cfg(test)]
mod tests;
