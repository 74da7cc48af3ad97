//! The coverage guard: keeps the hit balance of every quantile within a budget of order √n.
//!
//! Calibrated levels do not yet make an 80 % interval cover 80 %: an adversary who sees the interval and steps just outside
//! beats them completely. The guard is a second monotone map behind the ledgers', in the probit scale of the ledger
//! forecast:
//!
//! ```text
//! e_k = hits − nominal so far of quantile q_k;   b_k = 2 √(q_k (1−q_k)(n + 25)) + 1;   t_k = Φ⁻¹(q_k)
//! x_k = e_k / b_k held within ±0.999;            knot_k = t_k − 0.16 x_k / (1 − x_k²)
//! ```
//!
//! and while knots cross, neighbours are pooled (sums of e and b, mean of t). G_t has its quantile q_k where the ledger forecast has
//! probit score knot_k. Inside its budget the guard does next to nothing; at the budget it pushes a quantile to the
//! end of the support, as adaptive conformal inference does, and pooling keeps the whole CDF nested, which no
//! per-level method can. The quantiles are the ends of the intervals people ask for (50, 80, 90, 95, 98 %, …), because between
//! guarded quantiles coverage is only interpolated. ±0.999 lets a knot move by 80 probit units: further would cost accuracy
//! after a bad start, less would leave far-off outcomes uncovered (measured in DESIGN.md, "Why does the guard …").
//!
//! Probit units are the forecast's own. After outcomes 50 standard deviations away a forecast that is suddenly 100,000 times wider
//! would be widened by 50 of *its* standard deviations, where no outcome has ever been. So every knot is held within
//!
//! ```text
//! ±max(8, 2 · farthest / s_t);   farthest = max |score| · s so far,   s = the base's scale in units of the outcome
//! ```
//!
//! An outcome beyond that more than doubles `farthest`, so there are at most log₂ of the range of outcomes of them.
//!
//! Cost: O(K), no allocation. See docs/theory.md, "The coverage guard".

mod integrals;
mod inverse;

use std::sync::{Arc, LazyLock};

use fearless_simd::{Simd, f64x4, prelude::*};
use serde::{Deserialize, Serialize};

pub(super) use self::integrals::{Cell, Table, alone, together};
pub(super) use self::inverse::Inverse;

use crate::error::SnapshotError;
use crate::lanes::{LANES, count_at_most, quads, quads_mut, vector};
use crate::normal;

pub(super) const COUNT: usize = 27;
/// Room for a multiple of four quantiles. The one beyond the last has an infinite probit and probability 1, so that it never crosses
/// the others and its balance stays 0.
const ROOM: usize = COUNT.next_multiple_of(LANES);
/// The guarded quantiles up to the median; the others mirror them.
const LOWER_HALF: [f64; 14] =
    [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5];
const STRENGTH: f64 = 0.16;
const SLACK: f64 = 25.0;
const LIMIT: f64 = 0.999;
/// Knots are free within this many probit units: beyond 7.04, which an outcome between the outer levels can score at most.
const FREE_REACH: f64 = 8.0;
/// And within this many times the distance of the farthest outcome so far.
const FARTHER: f64 = 2.0;

/// The quantiles that are guarded; the same for every guard.
#[derive(Debug, PartialEq)]
pub(super) struct Grid {
    probits: [f64; ROOM],
    probabilities: [f64; ROOM],
    /// 2 √(q (1 − q)), so that the budget is this times √(n + 25), plus 1.
    budgets: [f64; ROOM],
    /// How many probits surely lie below a score, for each tenth of a unit from −[`SEARCHED`] on.
    surely_below: [u8; TENTHS],
    integrals: Table,
}

/// Beyond the outer quantiles.
const SEARCHED: f64 = 3.2;
const TENTHS: usize = 64;

impl Grid {
    /// How many probits are below `t`: the same for every forecast of a run, so that its branches are foreseen.
    #[inline]
    fn below(&self, t: f64) -> usize {
        // Far scores and NaN become the first or the last tenth.
        let tenth = ((t + SEARCHED) * 10.0) as usize;
        let mut count = usize::from(self.surely_below[tenth.min(TENTHS - 1)]);
        while count < COUNT && self.probits[count] < t {
            count += 1;
        }
        count
    }
}

static GRID: LazyLock<Arc<Grid>> = LazyLock::new(|| {
    let lower = LOWER_HALF.map(normal::quantile);
    let mut probits = [f64::INFINITY; ROOM];
    for (k, t) in lower.into_iter().enumerate() {
        (probits[k], probits[COUNT - 1 - k]) = (t, -t);
    }
    // A tenth less, whatever the rounding.
    let sure = |tenth: usize| (tenth as f64 - 1.0) / 10.0 - SEARCHED;
    Arc::new(Grid {
        integrals: Table::new(&std::array::from_fn(|k| probits[k])),
        surely_below: std::array::from_fn(|tenth| probits.partition_point(|&t| t < sure(tenth)) as u8),
        probits,
        probabilities: probits.map(normal::cdf),
        budgets: probits.map(|t| 2.0 * (normal::cdf(t) * normal::sf(t)).sqrt()),
    })
});

/// The hit balances of the guarded quantiles.
#[derive(Debug, Clone, PartialEq)]
pub struct Guard {
    grid: Arc<Grid>,
    errors: [f64; ROOM],
    steps: u64,
    /// The largest |score| × scale so far: how far from their forecasts outcomes have been, in their units. Finite, ≥ 0.
    farthest: f64,
}

impl Default for Guard {
    fn default() -> Self {
        Guard { grid: GRID.clone(), errors: [0.0; ROOM], steps: 0, farthest: 0.0 }
    }
}

impl Guard {
    /// The probabilities q_k of the guarded quantiles.
    pub fn probabilities(&self) -> &[f64] {
        &self.grid.probabilities[..COUNT]
    }

    /// e_k: how often the outcome fell at or below quantile k, minus how often it should have.
    pub fn balances(&self) -> &[f64] {
        &self.errors[..COUNT]
    }

    /// b_k: what the balances are kept within.
    pub fn budgets(&self) -> impl Iterator<Item = f64> + '_ {
        let root = self.root();
        self.grid.budgets[..COUNT].iter().map(move |b| b * root + 1.0)
    }

    fn root(&self) -> f64 {
        (self.steps as f64 + SLACK).sqrt()
    }

    /// Writes the knots for the next outcome. `scale` is the base forecast's, in units of the outcome; without one the
    /// cap alone holds the knots.
    #[inline(always)]
    pub(crate) fn knots<S: Simd>(&self, simd: S, scale: Option<f64>, out: &mut Knots) {
        let root = self.root();
        let ordered = place_all(simd, root, &self.errors, &self.grid, &mut out.knots);
        if !ordered {
            self.pool(root, &mut out.knots[..COUNT]);
        }
        let reach = scale.map_or(f64::INFINITY, |scale| (FARTHER * self.farthest / scale).max(FREE_REACH));
        if out.knots[0] < -reach || out.knots[COUNT - 1] > reach {
            out.knots[..COUNT].iter_mut().for_each(|knot| *knot = knot.clamp(-reach, reach));
        }
    }

    /// Merges neighbours while their knots cross. `knots` holds the unpooled ones.
    fn pool(&self, root: f64, knots: &mut [f64]) {
        // Bit k says that knot k lies below the one before it.
        let crossings: u64 = (1..COUNT).map(|k| u64::from(knots[k - 1] > knots[k]) << k).sum();
        let alone = |k: usize, knot: f64| Block {
            error: self.errors[k],
            budget: self.grid.budgets[k] * root + 1.0,
            probit: self.grid.probits[k],
            count: 1,
            knot,
        };
        // Blocks of two or more, each with its last knot.
        let mut blocks = [(0, Block::default()); COUNT / 2];
        let mut used = 0;
        let mut k = crossings.trailing_zeros() as usize;
        while k < COUNT {
            let (mut last, mut first) = (alone(k, knots[k]), k);
            while first > 0 && knots[first - 1] > last.knot {
                let before = match blocks[..used].last() {
                    Some(&(end, block)) if end + 1 == first => {
                        used -= 1;
                        block
                    }
                    _ => alone(first - 1, knots[first - 1]),
                };
                first -= before.count;
                last = before.merge(last);
            }
            knots[first..=k].fill(last.knot);
            blocks[used] = (k, last);
            used += 1;
            k += 1;
            // Beyond this block only knots that cross as they are.
            if k < COUNT && knots[k - 1] <= knots[k] {
                k += (crossings >> k >> 1).trailing_zeros() as usize + 1;
            }
        }
    }

    /// Books an outcome whose ledger probit score is `score` against the knots that were in force. Gives the calibrated score, as
    /// [`Knots::apply`] does.
    #[inline(always)]
    pub(crate) fn settle<S: Simd>(&mut self, simd: S, knots: &Knots, score: f64, scale: Option<f64>) -> f64 {
        let distance = score.abs() * scale.unwrap_or(0.0);
        if distance > self.farthest && distance.is_finite() {
            self.farthest = distance;
        }
        let hits = count_hits(simd, score, &knots.knots, &self.grid.probabilities, &mut self.errors);
        self.steps += 1;
        // Those that are no hits lie below the score; where knots tie with it, the last of them counts.
        let mut next = ROOM - hits as usize;
        while next < COUNT && knots.knots[next] <= score {
            next += 1;
        }
        knots.through(next, score)
    }

    pub(crate) fn state(&self) -> GuardState {
        GuardState { errors: self.balances().to_vec(), steps: self.steps, farthest: self.farthest }
    }

    pub(crate) fn from_state(state: &GuardState) -> Result<Self, SnapshotError> {
        let limit = state.steps as f64 + 1.0;
        let balances = state.errors.len() == COUNT && state.errors.iter().all(|e| e.abs() <= limit);
        if !balances || !(0.0..f64::INFINITY).contains(&state.farthest) {
            return Err(SnapshotError::Invalid {
                field: "guard",
                rule: "27 balances within the number of steps, and a finite distance",
            });
        }
        let mut guard = Guard { steps: state.steps, farthest: state.farthest, ..Guard::default() };
        guard.errors[..COUNT].copy_from_slice(&state.errors);
        Ok(guard)
    }
}

/// The saved form of a [`Guard`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct GuardState {
    errors: Vec<f64>,
    steps: u64,
    farthest: f64,
}

#[derive(Clone, Copy, Default)]
struct Block {
    error: f64,
    budget: f64,
    probit: f64,
    count: usize,
    knot: f64,
}

impl Block {
    fn merge(self, other: Block) -> Block {
        let mut sum = Block {
            error: self.error + other.error,
            budget: self.budget + other.budget,
            probit: self.probit + other.probit,
            count: self.count + other.count,
            knot: 0.0,
        };
        sum.knot = place(sum.error, sum.budget, sum.probit / sum.count as f64);
        sum
    }
}

/// t − 0.16 x/(1 − x²) with x = e/b, written with one division.
#[inline]
fn place(error: f64, budget: f64, probit: f64) -> f64 {
    let limit = LIMIT * budget;
    let e = if error < -limit { -limit } else { error };
    let e = if e > limit { limit } else { e };
    probit - STRENGTH * (e * budget) / (budget * budget - e * e)
}

/// [`place`] for every quantile. Gives whether no knot lies below the one before it: almost always so.
#[inline(always)]
fn place_all<S: Simd>(
    simd: S,
    root: f64,
    errors: &[f64; ROOM],
    grid: &Grid,
    knots: &mut [f64; ROOM],
) -> bool {
    let (errors, budgets, probits) = (quads(errors), quads(&grid.budgets), quads(&grid.probits));
    let knots = quads_mut(knots);
    let mut before = f64x4::splat(simd, f64::NEG_INFINITY);
    let mut ordered = before.simd_le(before);
    for q in 0..ROOM / LANES {
        let budget = vector(simd, budgets[q]) * root + 1.0;
        let limit = budget * LIMIT;
        let e = vector(simd, errors[q]).max(-limit).min(limit);
        let shift = (e * budget) * STRENGTH / (budget * budget - e * e);
        let knot = vector(simd, probits[q]) - shift;
        ordered &= before.slide::<{ LANES - 1 }>(knot).simd_le(knot);
        before = knot;
        knots[q] = knot.into();
    }
    ordered.all_true()
}

/// e_k += 1{score ≤ knot_k} − q_k. Gives the number of hits, the one beyond the last quantile included.
#[inline(always)]
fn count_hits<S: Simd>(
    simd: S,
    score: f64,
    knots: &[f64; ROOM],
    probabilities: &[f64; ROOM],
    errors: &mut [f64; ROOM],
) -> u32 {
    let (one, none, score) = (f64x4::splat(simd, 1.0), f64x4::splat(simd, 0.0), f64x4::splat(simd, score));
    let (knots, probabilities, errors) = (quads(knots), quads(probabilities), quads_mut(errors));
    let mut hits = 0;
    for q in 0..ROOM / LANES {
        let hit = score.simd_le(vector(simd, knots[q]));
        let surprise = hit.select(one, none) - vector(simd, probabilities[q]);
        errors[q] = (vector(simd, errors[q]) + surprise).into();
        hits += hit.to_bitmask().count_ones();
    }
    hits
}

/// The guard's map at one step: the ledger probit scores at which the guarded quantiles lie, non-decreasing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub struct Knots {
    grid: Arc<Grid>,
    knots: [f64; ROOM],
}

impl Default for Knots {
    fn default() -> Self {
        Knots { grid: GRID.clone(), knots: GRID.probits }
    }
}

static IDENTITY: LazyLock<Knots> = LazyLock::new(Knots::default);

impl Knots {
    /// The guard that changes nothing.
    pub(super) fn identity() -> &'static Knots {
        &IDENTITY
    }

    /// What of the guard's integrals is the same for all knots.
    pub(super) fn table(&self) -> &Table {
        &self.grid.integrals
    }

    /// With room for a multiple of four of them.
    pub(super) fn padded_scores(&self) -> &[f64; ROOM] {
        &self.knots
    }

    /// Ledger probit scores of the guarded quantiles.
    pub fn scores(&self) -> &[f64] {
        &self.knots[..COUNT]
    }

    /// Probit scores t_k of the guarded quantiles themselves.
    pub fn probits(&self) -> &[f64] {
        &self.grid.probits[..COUNT]
    }

    /// The probabilities q_k = Φ(t_k) of the guarded quantiles.
    pub fn probabilities(&self) -> &[f64] {
        &self.grid.probabilities[..COUNT]
    }

    /// Moves the guarded quantiles to where `other` has them.
    #[inline]
    pub(super) fn copy_from(&mut self, other: &Knots) {
        self.knots = other.knots;
    }

    /// Moves the guarded quantiles to the given scores, which are sorted first and held within ±`reach`. None may be NaN.
    pub(crate) fn place_sorted(&mut self, scores: &[f64], reach: f64) {
        let knots = &mut self.knots[..COUNT];
        for (knot, score) in knots.iter_mut().zip(scores) {
            *knot = score.clamp(-reach, reach);
        }
        if !knots.is_sorted() {
            knots.sort_unstable_by(f64::total_cmp);
        }
    }

    /// From the ledger forecast's probit score to G_t's, continuous from the right.
    pub fn apply(&self, score: f64) -> f64 {
        self.through(count_at_most(self.scores(), score), score)
    }

    /// The limit of [`apply`](Knots::apply) from the left.
    pub fn apply_left(&self, score: f64) -> f64 {
        self.through(self.scores().partition_point(|&knot| knot < score), score)
    }

    /// `next` is the first knot that lies beyond `score`.
    fn through(&self, next: usize, score: f64) -> f64 {
        let (x, t) = (self.scores(), self.probits());
        match next {
            0 => t[0] + (score - x[0]),
            i if i == x.len() => t[i - 1] + (score - x[i - 1]),
            i => t[i - 1] + (t[i] - t[i - 1]) * ((score - x[i - 1]) / (x[i] - x[i - 1])),
        }
    }

    /// The ledger probit score at which G_t has the probit score `t`.
    #[inline]
    pub fn invert(&self, t: f64) -> f64 {
        Inverse::new(&self.grid, t).of(self)
    }
}

impl TryFrom<Vec<f64>> for Knots {
    type Error = SnapshotError;
    fn try_from(knots: Vec<f64>) -> Result<Self, SnapshotError> {
        let ordered = knots.windows(2).all(|pair| pair[0] <= pair[1]);
        if knots.len() != COUNT || !ordered || !knots.iter().all(|knot| knot.is_finite()) {
            return Err(SnapshotError::Invalid {
                field: "guard knots",
                rule: "27 finite, non-decreasing scores",
            });
        }
        let mut scores = Knots::default();
        scores.knots[..COUNT].copy_from_slice(&knots);
        Ok(scores)
    }
}

impl From<Knots> for Vec<f64> {
    fn from(of: Knots) -> Self {
        of.scores().to_vec()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::*;

    fn place(guard: &Guard, scale: Option<f64>, knots: &mut Knots) {
        dispatch!(Level::new(), simd => guard.knots(simd, scale, knots));
    }

    /// For a forecast of scale 1.
    fn settle(guard: &mut Guard, knots: &Knots, score: f64) {
        dispatch!(Level::new(), simd => guard.settle(simd, knots, score, Some(1.0)));
    }

    /// At the quantiles themselves, next to them, between them and far off.
    #[test]
    fn the_table_finds_what_counting_finds() {
        let mut scores: Vec<f64> = (-500..=500).map(|k| f64::from(k) / 100.0).collect();
        scores.extend(GRID.probits[..COUNT].iter().flat_map(|t| [t.next_down(), *t, t.next_up()]));
        scores.extend([f64::MIN, f64::NEG_INFINITY, f64::MAX, f64::INFINITY, f64::NAN]);
        for t in scores {
            let counted = GRID.probits[..COUNT].iter().filter(|&&probit| probit < t).count();
            assert_eq!(GRID.below(t), counted, "{t}");
        }
    }

    /// A guard that has missed the same way `count` times, by `score` probit units of forecasts of scale 1.
    fn missed(count: usize, score: f64) -> (Guard, Knots) {
        let (mut guard, mut knots) = (Guard::default(), Knots::default());
        for _ in 0..count {
            place(&guard, Some(1.0), &mut knots);
            settle(&mut guard, &knots, score);
        }
        (guard, knots)
    }

    /// The middle knots follow outcomes 50 standard deviations away; those of a forecast a hundred thousand times wider stay near it.
    #[test]
    fn reach_is_counted_in_units_of_the_outcome() {
        let (guard, mut knots) = missed(100, 50.0);
        place(&guard, Some(1.0), &mut knots);
        assert!(knots.scores().iter().any(|&knot| knot > 50.0), "{:?}", knots.scores());
        place(&guard, Some(1e5), &mut knots);
        assert!(knots.scores().iter().all(|knot| knot.abs() <= FREE_REACH), "{:?}", knots.scores());
        place(&guard, Some(10.0), &mut knots);
        assert_eq!(knots.scores()[COUNT - 1], FARTHER * 50.0 / 10.0);
    }

    /// Every outcome just beyond the reach doubles it: from 14, twice the farthest so far, past 64 there are three.
    #[test]
    fn an_outcome_beyond_reach_doubles_it() {
        let (mut guard, mut knots) = missed(100, 7.0);
        let mut beyond = 0;
        for _ in 0..200 {
            place(&guard, Some(1.0), &mut knots);
            let reach = (FARTHER * guard.farthest).max(FREE_REACH);
            let score = if reach < 64.0 { 1.001 * reach } else { 63.0 };
            beyond += usize::from(score > reach);
            settle(&mut guard, &knots, score);
        }
        assert_eq!((beyond, guard.farthest), (3, 63.0));
    }

    #[test]
    fn without_a_scale_the_cap_alone_holds() {
        let (guard, mut knots) = missed(100, 50.0);
        place(&guard, None, &mut knots);
        assert!(knots.scores()[COUNT - 1] > 60.0, "{:?}", knots.scores());
    }

    #[test]
    fn a_distance_that_cannot_be_is_refused() {
        for farthest in [f64::NAN, f64::INFINITY, -1.0] {
            let state = GuardState { farthest, ..Guard::default().state() };
            assert!(matches!(Guard::from_state(&state), Err(SnapshotError::Invalid { field: "guard", .. })));
        }
        assert_eq!(Guard::from_state(&missed(9, 3.0).0.state()).unwrap(), missed(9, 3.0).0);
    }
}
