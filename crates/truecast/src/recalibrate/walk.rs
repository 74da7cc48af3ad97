//! A map's knots in their order, without a list of them.
//!
//! R_t has a knot at every level, the guard one at every guarded quantile; both are sorted, so they are merged. A guarded quantile that
//! falls on a level comes first: a flat part of R_t begins after the guard's jump. The normal quantiles r_j, which cost most, are taken
//! many at a time.
//!
//! Cost: one pass over levels and guarded quantiles, no allocation, any number of levels.

use super::map::{Map, MapShape};
use crate::forecast::interpolate;
use crate::normal::lanes::{self, ROOM};

/// A walk over a continuous map, with the scores r_j of its first levels.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    map: &'a Map,
    scores: [f64; ROOM],
    lower_spread: f64,
    upper_spread: f64,
}

impl<'a> Walk<'a> {
    /// `None` for a step map, which has no knots.
    pub(crate) fn new(map: &'a Map) -> Option<Self> {
        if map.shape() == MapShape::Step {
            return None;
        }
        let mut walk = Walk { map, scores: [0.0; ROOM], lower_spread: 0.0, upper_spread: 0.0 };
        take_scores(map, 0, &mut walk.scores);
        let (lower, upper) = map.outer_slopes(|j| walk.score(j));
        (walk.lower_spread, walk.upper_spread) = (1.0 / lower, 1.0 / upper);
        Some(walk)
    }

    /// d(base)/d(calibrated) of the score below the first knot.
    pub(crate) fn lower_spread(&self) -> f64 {
        self.lower_spread
    }

    /// d(base)/d(calibrated) of the score above the last knot.
    pub(crate) fn upper_spread(&self) -> f64 {
        self.upper_spread
    }

    #[inline]
    fn score(&self, j: usize) -> f64 {
        if j < ROOM { self.scores[j] } else { self.map.score(j) }
    }

    /// The smallest base probit score whose calibrated one is at least `t`, as [`Map::invert`] but for rounding.
    pub(crate) fn invert(&self, t: f64) -> f64 {
        let levels = self.map.levels().probits();
        let last = levels.len() - 1;
        if last >= ROOM {
            return self.map.invert(t);
        }
        let score = self.map.guard().map_or(t, |knots| knots.invert(t));
        let scores = &self.scores[..=last];
        match scores.partition_point(|&r| r < score) {
            0 => levels[0] + (score - scores[0]) * self.lower_spread,
            j if j > last => levels[last] + (score - scores[last]) * self.upper_spread,
            j => interpolate((scores[j - 1], levels[j - 1]), (scores[j], levels[j]), score),
        }
    }

    /// Calls `visit` with the base score and the calibrated score of every knot, in order.
    #[inline]
    pub(crate) fn for_each(&self, mut visit: impl FnMut(f64, f64)) {
        let levels = self.map.levels().probits();
        let mut place = Place { guarded: 0, before: 0.0 };
        let known = levels.len().min(ROOM);
        self.stretch(0, &self.scores[..known], &mut place, &mut visit);
        for first in (ROOM..levels.len()).step_by(ROOM) {
            let mut scores = [0.0; ROOM];
            let count = take_scores(self.map, first, &mut scores);
            self.stretch(first, &scores[..count], &mut place, &mut visit);
        }
        if let Some(guard) = self.map.guard() {
            let (x, t) = (guard.scores(), guard.probits());
            for k in place.guarded..x.len() {
                visit(levels[levels.len() - 1] + (x[k] - place.before) * self.upper_spread, t[k]);
            }
        }
    }

    /// The levels from `first` on whose scores are given, and the guarded quantiles up to the last of them.
    #[inline]
    fn stretch(&self, first: usize, scores: &[f64], place: &mut Place, visit: &mut impl FnMut(f64, f64)) {
        let levels = self.map.levels().probits();
        let (x, t): (&[f64], &[f64]) =
            self.map.guard().map_or((&[], &[]), |guard| (guard.scores(), guard.probits()));
        let x = &x[..t.len()];
        let Place { guarded: mut k, mut before } = *place;
        for (j, &score) in (first..).zip(scores) {
            let level = levels[j];
            if k < x.len() && x[k] <= score {
                let (start, per_score) = match j {
                    0 => (level - (score - before) * self.lower_spread, self.lower_spread),
                    _ if score > before => (levels[j - 1], (level - levels[j - 1]) / (score - before)),
                    _ => (level, 0.0),
                };
                while k < x.len() && x[k] <= score {
                    // Rounding must not carry it past the level.
                    visit((start + (x[k] - before) * per_score).min(level), t[k]);
                    k += 1;
                }
            }
            let calibrated = match (k.checked_sub(1), k < x.len()) {
                (None, false) => score,
                (None, true) => t[0] + (score - x[0]),
                (Some(i), false) => t[i] + (score - x[i]),
                (Some(i), true) => t[i] + (t[k] - t[i]) * ((score - x[i]) / (x[k] - x[i])),
            };
            visit(level, calibrated);
            before = score;
        }
        *place = Place { guarded: k, before };
    }
}

/// How far a walk has come: the guarded quantiles that were visited, and the last level's score.
#[derive(Debug, Clone, Copy)]
struct Place {
    guarded: usize,
    before: f64,
}

/// r_j of at most [`ROOM`] levels from `first` on, and of how many.
fn take_scores(map: &Map, first: usize, out: &mut [f64; ROOM]) -> usize {
    let announced = &map.announced()[first..];
    let count = announced.len().min(ROOM);
    let mut clipped = [0.5; ROOM];
    for (clipped, &p) in clipped.iter_mut().zip(&announced[..count]) {
        *clipped = super::map::clip(p);
    }
    lanes::quantiles(&clipped, count, out);
    count
}
