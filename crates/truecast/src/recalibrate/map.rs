//! The monotone map G_t = guard ∘ R_t ∘ F_t, from the base's probit score to the calibrated one.
//!
//! ```text
//! probit shape   R_t runs through (z_j, r_j), r_j = Φ⁻¹(p̂_j), straight in between; beyond the outer levels it goes on with
//!                the slope of the chord over the outer quarter of the levels, held within [0.02, 50]
//! step shape     the paper's: F_t(y) in [u_{j−1}, u_j) becomes p̂_j, and 1 in the last cell
//! ```
//!
//! Both are non-decreasing and reach 0 and 1, so G_t is a distribution. The paper's outcomes are bounded and its G_t has an
//! atom of size p̂_1 at the lower end; on an unbounded axis we put that atom at the middle of the first cell (F = u_1/2).
//!
//! The normal quantiles r_j are computed when they are asked for: a step that reads one interval needs six of them, not M.

use std::sync::Arc;

use fearless_simd::{Level, Simd, dispatch};
use serde::{Deserialize, Serialize};

use super::guard::Knots;
use crate::error::SnapshotError;
use crate::forecast::Knot;
use crate::grid::Levels;
use crate::lanes::{count_at_most, count_at_most_with, count_below_each, pad, quads, vector};
use crate::normal::{self, four, pair};

/// Probabilities nearer to 0 or 1 than this say nothing about how far a tail reaches.
pub(super) const SMALLEST: f64 = 1e-12;
/// The slope beyond the outer levels is that over this part of the levels: a quarter…
const OUTER_PART: usize = 4;
/// … and stays within these.
const SLOPES: (f64, f64) = (0.02, 50.0);
/// One over each.
pub(super) const SPREADS: (f64, f64) = (1.0 / SLOPES.1, 1.0 / SLOPES.0);

/// How the probabilities announced at the levels become a whole distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MapShape {
    /// Straight lines in probit coordinates: a continuous distribution.
    Probit,
    /// The paper's step function.
    Step,
}

/// The map in force at one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "MapState", into = "MapState")]
pub struct Map {
    levels: Arc<Levels>,
    shape: MapShape,
    /// Padded, see `lanes.rs`.
    announced: Vec<f64>,
    guard: Option<Knots>,
}

impl Map {
    /// The map that changes nothing.
    pub(crate) fn identity(levels: Arc<Levels>, shape: MapShape, guarded: bool) -> Self {
        let announced = pad(levels.probabilities(), 0.0);
        Map { levels, shape, announced, guard: guarded.then(Knots::default) }
    }

    /// The levels.
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// How levels become a distribution.
    pub fn shape(&self) -> MapShape {
        self.shape
    }

    /// p̂_j: the probabilities announced at the levels, non-decreasing.
    pub fn announced(&self) -> &[f64] {
        &self.announced[..self.levels.count()]
    }

    /// The guard's knots, if there is a guard.
    pub fn guard(&self) -> Option<&Knots> {
        self.guard.as_ref()
    }

    pub(crate) fn announced_mut(&mut self) -> &mut [f64] {
        &mut self.announced[..self.levels.count()]
    }

    /// With zeros up to a multiple of four levels.
    pub(super) fn announced_padded(&self) -> &[f64] {
        &self.announced
    }

    /// With room for a multiple of four levels.
    pub(super) fn announced_padded_mut(&mut self) -> &mut [f64] {
        &mut self.announced
    }

    pub(crate) fn guard_mut(&mut self) -> Option<&mut Knots> {
        self.guard.as_mut()
    }

    /// Whether both are of one shape on the same levels.
    #[inline]
    pub(super) fn has_levels_of(&self, other: &Map) -> bool {
        let same = Arc::ptr_eq(&self.levels, &other.levels) || self.levels == other.levels;
        same && self.shape == other.shape
    }

    /// Whether one can [become](Map::copy_from) the other without memory being asked for.
    #[inline]
    pub(super) fn is_like(&self, other: &Map) -> bool {
        self.has_levels_of(other) && self.guard.is_some() == other.guard.is_some()
    }

    /// Becomes what `other` is, which [is like](Map::is_like) it.
    #[inline]
    pub(super) fn copy_from(&mut self, other: &Map) {
        // Levels that are one and the same need not be compared again.
        if !Arc::ptr_eq(&self.levels, &other.levels) {
            self.levels = Arc::clone(&other.levels);
        }
        self.announced.copy_from_slice(&other.announced);
        if let (Some(guard), Some(other)) = (&mut self.guard, &other.guard) {
            guard.copy_from(other);
        }
    }

    /// The calibrated probit score of an outcome with base probit score `z`; continuous from the right.
    pub fn probit(&self, z: f64) -> f64 {
        self.guarded(self.ledger_probit(z))
    }

    /// The limit of [`probit`](Map::probit) from the left.
    pub fn probit_left(&self, z: f64) -> f64 {
        let score = match self.shape {
            MapShape::Probit => self.ledger_probit(z),
            MapShape::Step => {
                self.step(self.levels.probits().partition_point(|&level| level < z), |first| z > first)
            }
        };
        match &self.guard {
            None => score,
            // A flat part of R_t carries the limit from the right up to its end: only a rising or jumping R_t meets
            // the guard's jump from below, and at the jump itself both limits belong to the same outcome.
            Some(knots) => knots.apply_left(score),
        }
    }

    /// The guard's part alone: from the ledger forecast's probit score to the calibrated one.
    #[inline]
    pub(crate) fn guarded(&self, score: f64) -> f64 {
        self.guard.as_ref().map_or(score, |knots| knots.apply(score))
    }

    /// R_t alone: the ledger forecast's probit score.
    pub fn ledger_probit(&self, z: f64) -> f64 {
        dispatch!(Level::new(), simd => self.ledger_probit_with(simd, z))
    }

    /// The same, as a part of vector code.
    #[inline(always)]
    pub(super) fn ledger_probit_with<S: Simd>(&self, simd: S, z: f64) -> f64 {
        let levels = self.levels.probits();
        let next = count_at_most_with(simd, levels, z);
        match self.shape {
            MapShape::Step => self.step(next, |first| z >= first),
            MapShape::Probit if next == 0 => self.score(0) + self.lower_slope() * (z - levels[0]),
            MapShape::Probit if next == levels.len() => {
                self.score(next - 1) + self.upper_slope() * (z - levels[next - 1])
            }
            MapShape::Probit => {
                let around = [self.announced[next - 1], self.announced[next]];
                let [low, high] = pair::quantiles(simd, around.map(clip));
                low + (high - low) * ((z - levels[next - 1]) / (levels[next] - levels[next - 1]))
            }
        }
    }

    /// The smallest base probit score whose calibrated one is at least `t`.
    pub fn invert(&self, t: f64) -> f64 {
        let score = self.guard.as_ref().map_or(t, |knots| knots.invert(t));
        self.invert_ledgers(score)
    }

    /// [`invert`](Map::invert) for the two ends of an interval, which share their normal quantiles' cost; bit for bit.
    pub(crate) fn invert_both(&self, ends: [f64; 2]) -> [f64; 2] {
        if self.shape == MapShape::Step {
            return ends.map(|t| self.invert(t));
        }
        let scores = self.guard.as_ref().map_or(ends, |knots| ends.map(|t| knots.invert(t)));
        let (levels, announced) = (self.levels.probits(), self.announced());
        let last = announced.len() - 1;
        // Padding lies below every probability.
        let padding = self.announced.len() - announced.len();
        let below = count_below_each(quads(&self.announced), scores.map(normal::rough_cdf));
        let next = below.map(|j| j.saturating_sub(padding).clamp(1, last));
        let [low, high] = next.map(|j| [clip(announced[j - 1]), clip(announced[j])]);
        let around = [low[0], low[1], high[0], high[1]];
        let r: [f64; 4] =
            dispatch!(Level::new(), simd => four::quantiles(simd, [vector(simd, around)])[0].into());
        let invert = |score: f64, j: usize, low: f64, high: f64| {
            if low < score && score <= high {
                between(score, (low, levels[j - 1]), (high, levels[j]))
            } else {
                self.invert_ledgers(score)
            }
        };
        [invert(scores[0], next[0], r[0], r[1]), invert(scores[1], next[1], r[2], r[3])]
    }

    fn invert_ledgers(&self, score: f64) -> f64 {
        self.invert_ledgers_by(score, |j| self.score(j))
    }

    /// The same with r_j from a table.
    fn invert_ledgers_by(&self, score: f64, at: impl Fn(usize) -> f64) -> f64 {
        let levels = self.levels.probits();
        match self.shape {
            MapShape::Step if score == f64::NEG_INFINITY => f64::NEG_INFINITY,
            MapShape::Step => {
                let p = normal::cdf(score);
                // Behind a guard the score may be finite where its probability is not told from 0.
                let below = |&announced: &f64| announced < p || announced == 0.0;
                match self.announced().partition_point(below) {
                    0 => self.first_step(),
                    j => levels[j - 1],
                }
            }
            MapShape::Probit => self.invert_around(score, self.around(score, at)),
        }
    }

    /// The base score at which a continuous R_t is `score`, and the first level above it.
    pub(super) fn invert_and_find(&self, score: f64) -> (f64, usize) {
        let around = self.around(score, |j| self.score(j));
        (self.invert_around(score, around), around.0)
    }

    fn invert_around(&self, score: f64, around: (usize, f64, f64)) -> f64 {
        let levels = self.levels.probits();
        match around {
            (0, _, high) => levels[0] + (score - high) / self.lower_slope(),
            (j, low, _) if j == levels.len() => levels[j - 1] + (score - low) / self.upper_slope(),
            (j, low, high) => between(score, (low, levels[j - 1]), (high, levels[j])),
        }
    }

    /// The first level whose r_j is at least `score`, or their number; with r_{j−1} < score ≤ r_j, ∓∞ beyond the levels.
    ///
    /// Each r_j costs a normal quantile, so the search starts where a rough Φ(score) belongs among the announced probabilities: nearly always that
    /// is the place.
    #[inline]
    fn around(&self, score: f64, at: impl Fn(usize) -> f64) -> (usize, f64, f64) {
        let count = self.levels.count();
        let below = |j: usize| if j == 0 { f64::NEG_INFINITY } else { at(j - 1) };
        let above = |j: usize| if j == count { f64::INFINITY } else { at(j) };
        let mut next = count_at_most(self.announced(), normal::rough_cdf(score));
        let (mut low, mut high) = (below(next), above(next));
        while low >= score && next > 0 {
            next -= 1;
            (low, high) = (below(next), low);
        }
        while high < score && next < count {
            next += 1;
            (low, high) = (high, above(next));
        }
        (next, low, high)
    }

    /// d(calibrated)/d(base) of the probit score at `z`, from the right; `None` where the map jumps or is a step.
    pub(crate) fn slope(&self, z: f64) -> Option<f64> {
        if self.shape == MapShape::Step || self.probit_left(z) != self.probit(z) {
            return None;
        }
        let levels = self.levels.probits();
        let ledgers = match levels.partition_point(|&level| level <= z) {
            0 => self.lower_slope(),
            j if j == levels.len() => self.upper_slope(),
            j => (self.score(j) - self.score(j - 1)) / (levels[j] - levels[j - 1]),
        };
        let Some(knots) = &self.guard else { return Some(ledgers) };
        let (x, t) = (knots.scores(), knots.probits());
        let score = self.ledger_probit(z);
        Some(match x.partition_point(|&knot| knot <= score) {
            i if i == 0 || i == x.len() => ledgers,
            i => ledgers * ((t[i] - t[i - 1]) / (x[i] - x[i - 1])),
        })
    }

    /// The map as knots (base score, calibrated score) with the slopes dz/dt beyond them; steps have none.
    ///
    /// `y` of each knot is the base probit score here: [`Recalibrated`](crate::Recalibrated) turns it into an outcome.
    pub(crate) fn knots(&self) -> Option<(Vec<Knot>, f64, f64)> {
        if self.shape == MapShape::Step {
            return None;
        }
        // R_t of a level is r_j, bit for bit; a quantile costs more than all the rest of a knot, so each is taken once.
        let scores: Vec<f64> = (0..self.levels.count()).map(|j| self.score(j)).collect();
        let both = |z: f64, score: f64| {
            let limits = match &self.guard {
                None => [score, score],
                Some(guard) => [guard.apply_left(score), guard.apply(score)],
            };
            limits.map(|t| Knot { y: z, z: t })
        };
        let levels = self.levels.probits().iter().zip(&scores);
        let mut knots: Vec<Knot> = levels.flat_map(|(&z, &score)| both(z, score)).collect();
        if let Some(guard) = &self.guard {
            // The limits are taken at the guard's own scores: R_t of an inverse may round to the wrong side of a jump.
            let place = |score: f64| self.invert_ledgers_by(score, |j| scores[j]);
            knots.extend(guard.scores().iter().flat_map(|&score| both(place(score), score)));
        }
        Knot::arrange(&mut knots);
        Some((knots, 1.0 / self.lower_slope(), 1.0 / self.upper_slope()))
    }

    /// r_j = Φ⁻¹(p̂_j).
    #[inline]
    pub(super) fn score(&self, j: usize) -> f64 {
        normal::quantile(clip(self.announced[j]))
    }

    fn lower_slope(&self) -> f64 {
        let [(low, high), _] = self.outer_chords();
        self.chord(low, high, |j| self.score(j))
    }

    fn upper_slope(&self) -> f64 {
        let [_, (low, high)] = self.outer_chords();
        self.chord(low, high, |j| self.score(j))
    }

    /// The slopes of R_t beyond the outer levels, with r_j from a table.
    pub(super) fn outer_slopes(&self, at: impl Fn(usize) -> f64) -> (f64, f64) {
        let [lower, upper] = self.outer_chords();
        (self.chord(lower.0, lower.1, &at), self.chord(upper.0, upper.1, &at))
    }

    /// One over each of the [`outer_slopes`](Map::outer_slopes), to a rounding.
    #[inline(always)]
    pub(super) fn outer_spreads(&self, at: impl Fn(usize) -> f64) -> [f64; 2] {
        let levels = self.levels.probits();
        self.outer_chords().map(|(low, high)| {
            let spread = (levels[high] - levels[low]) / (at(high) - at(low));
            spread.clamp(SPREADS.0, SPREADS.1)
        })
    }

    /// The levels between which the slopes beyond the first level and beyond the last are taken.
    #[inline(always)]
    pub(super) fn outer_chords(&self) -> [(usize, usize); 2] {
        let (part, last) = (self.outer_part(), self.levels.count() - 1);
        [(0, part), (last - part, last)]
    }

    /// How many levels from the outer one the tail's slope is taken.
    fn outer_part(&self) -> usize {
        ((self.levels.count() - 1) / OUTER_PART).max(1)
    }

    /// The slope of the chord from level `low` to level `high`.
    fn chord(&self, low: usize, high: usize, at: impl Fn(usize) -> f64) -> f64 {
        let levels = self.levels.probits();
        let slope = (at(high) - at(low)) / (levels[high] - levels[low]);
        slope.clamp(SLOPES.0, SLOPES.1)
    }

    /// The step function in the cell below level `next`.
    fn step(&self, next: usize, reached: impl Fn(f64) -> bool) -> f64 {
        match next {
            0 if !reached(self.first_step()) => f64::NEG_INFINITY,
            j if j == self.levels.count() => f64::INFINITY,
            j => normal::quantile(self.announced[j]),
        }
    }

    /// Where the step function leaves 0: the middle of the first cell.
    fn first_step(&self) -> f64 {
        normal::quantile(0.5 * self.levels.probabilities()[0])
    }

    /// Where the steps are, in base probit scores.
    pub(crate) fn jumps(&self) -> impl Iterator<Item = f64> + '_ {
        std::iter::once(self.first_step()).chain(self.levels.probits().iter().copied())
    }
}

/// The base score between two levels, given as (r, z), at which R_t is `score`.
#[inline(always)]
pub(super) fn between(score: f64, low: (f64, f64), high: (f64, f64)) -> f64 {
    let fraction = (score - low.0) / (high.0 - low.0);
    // Rounding must not carry it past the level that the next piece starts from.
    let z = low.1 + (high.1 - low.1) * fraction;
    if z > high.1 { high.1 } else { z }
}

#[inline(always)]
pub(super) fn clip(p: f64) -> f64 {
    p.clamp(SMALLEST, 1.0 - SMALLEST)
}

/// The saved form of a [`Map`].
#[derive(Serialize, Deserialize)]
struct MapState {
    levels: Levels,
    shape: MapShape,
    announced: Vec<f64>,
    guard: Option<Knots>,
}

impl TryFrom<MapState> for Map {
    type Error = SnapshotError;
    fn try_from(state: MapState) -> Result<Self, SnapshotError> {
        let MapState { levels, shape, announced, guard } = state;
        let ordered = announced.windows(2).all(|pair| pair[0] <= pair[1]);
        let probabilities = announced.iter().all(|p| (0.0..=1.0).contains(p));
        if announced.len() != levels.count() || !ordered || !probabilities {
            return Err(SnapshotError::Invalid {
                field: "announced",
                rule: "one probability per level, non-decreasing",
            });
        }
        Ok(Map { levels: Arc::new(levels), shape, announced: pad(&announced, 0.0), guard })
    }
}

impl From<Map> for MapState {
    fn from(of: Map) -> Self {
        MapState {
            announced: of.announced().to_vec(),
            levels: (*of.levels).clone(),
            shape: of.shape,
            guard: of.guard,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::recalibrate::{LedgerRecalibrator, Parameters, Recalibrator};
    use crate::{Forecast, Gaussian, random};

    /// Two at once are one at a time, with and without a guard, whose knots tie after outcomes far out, and at every distance; and the map passes there
    /// through what they came from.
    #[test]
    fn inverses_of_two_are_those_of_each() {
        for guard in [true, false] {
            let parameters = Parameters::builder().guard(guard).build().unwrap();
            let mut recalibrator = LedgerRecalibrator::new(parameters);
            for t in 0..300 {
                let base = Gaussian::new(0.0, 1.0).unwrap();
                let calibrated = recalibrator.recalibrate(base).unwrap();
                let map = calibrated.map();
                for reach in [0.5, 1.0, 3.0, 8.0, 40.0] {
                    let draw = |lane| reach * (2.0 * random::uniform(5, t, lane) - 1.0);
                    let ends = [draw(0), draw(1)];
                    let both = map.invert_both(ends);
                    assert_eq!(both.map(f64::to_bits), ends.map(|end| map.invert(end).to_bits()), "{ends:?}");
                    for (z, end) in both.into_iter().zip(ends) {
                        let (step, room) = (1e-9 * (1.0 + z.abs()), 1e-9 * (1.0 + end.abs()));
                        let (below, above) = (map.probit(z - step), map.probit(z + step));
                        assert!(below - room <= end && end <= above + room, "{end}: {below} {above} at {z}");
                    }
                }
                let far = if t % 3 == 0 { 4.0 } else { -3.5 };
                recalibrator.observe(&base, base.at_probit(far * random::uniform(6, t, 0))).unwrap();
            }
        }
    }
}
