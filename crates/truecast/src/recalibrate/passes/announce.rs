//! The pass that announces: a play at every level, mixed with the memories and the base.

use fearless_simd::{Level, Simd, dispatch, f64x4, mask64x4, prelude::*};

use crate::lanes::{LANES, Quad, across, quads, quads_mut, vector};
use crate::recalibrate::ledgers::{Account, Ledgers, Row, ratio};
use crate::recalibrate::memory::{Means, Memories};
use crate::recalibrate::plan::Plan;
use crate::recalibrate::trust;

/// Plays at every level, and mixes in the memories and the base. Gives whether that is all: if not, a root lies outside of the cell of its level's last
/// play, so that [`walk`] must find it, or an announced probability is smaller than the one before it.
#[inline(always)]
pub(in crate::recalibrate) fn announce<S: Simd>(
    simd: S,
    ledgers: &Ledgers,
    memories: Option<&Memories>,
    trust: f64,
    plan: &mut Plan,
) -> bool {
    plan.cells.copy_from_slice(&ledgers.cells);
    match memories {
        Some(memories) if ledgers.are_usual() => announce_usual(simd, ledgers, memories, trust, plan),
        _ => announce_any(simd, ledgers, memories, trust, plan),
    }
}

/// The usual ledgers, with memories: nothing is asked at a row, and every slice is as long as the rows are many. A row's second division waits for its
/// first one, so all rows take one before any takes the other.
#[inline(always)]
pub(super) fn announce_usual<S: Simd>(
    simd: S,
    ledgers: &Ledgers,
    memories: &Memories,
    trust: f64,
    plan: &mut Plan,
) -> bool {
    let (rows, inflation, pull) = (&ledgers.rows[..], ledgers.inflation, ledgers.pull());
    let blocks = rows.len();
    let Plan { plays, fractions, weights, ratios, mixed, map, .. } = plan;
    let (weights, ratios) = (quads(weights), &mut quads_mut(ratios)[..2 * blocks]);
    let square = ledgers.books[0].flat.map_or(0.0, |sums| sums.square);
    let flat_ratio = ratio(weights[0][0] * inflation, square);
    ratios[0][0] = flat_ratio;
    let (weights, ratios) = (&weights[blocks..][..blocks], &mut ratios[blocks..][..blocks]);
    let accounts = &ledgers.accounts.as_chunks::<2>().0[..blocks];
    let (last, means) = (&quads(&ledgers.fractions)[..blocks], memories.means(blocks));
    let (plays, fractions) = (&mut quads_mut(plays)[..blocks], &mut quads_mut(fractions)[..blocks]);
    let mixed = &mut quads_mut(mixed)[..blocks];
    let announced = &mut quads_mut(map.announced_padded_mut())[..blocks];
    for b in 0..blocks {
        ratios[b] = weighted_ratios(simd, weights[b], inflation, &accounts[b][1]).into();
    }
    for (b, row) in rows.iter().enumerate() {
        let [uniform, crps] = &accounts[b];
        let mut owed = Owed::to_prior(simd, pull, row);
        owed.add(f64x4::splat(simd, flat_ratio), uniform);
        owed.add(vector(simd, ratios[b]), crps);
        fractions[b] = owed.fractions(row, last[b]).into();
    }
    let mut order = Order::new(simd);
    for (b, row) in rows.iter().enumerate() {
        let play = played(row, vector(simd, fractions[b]));
        let follow = means.blend(b, play);
        let said = trusted(trust, follow, row);
        order.next(said, row);
        (plays[b], mixed[b], announced[b]) = (play.into(), follow.into(), said.into());
    }
    order.holds()
}

/// Any ledgers, with or without memories.
#[inline(always)]
pub(super) fn announce_any<S: Simd>(
    simd: S,
    ledgers: &Ledgers,
    memories: Option<&Memories>,
    trust: f64,
    plan: &mut Plan,
) -> bool {
    let Ledgers { rows, books, accounts, inflation, .. } = ledgers;
    let (blocks, inflation, pull) = (rows.len(), *inflation, ledgers.pull());
    let last = &quads(&ledgers.fractions)[..blocks];
    let means = memories.map(|memories| memories.means(blocks));
    let Plan { plays, fractions, weights, ratios, mixed, map, .. } = plan;
    let (weights, ratios) = (quads(weights), quads_mut(ratios));
    for (g, book) in books.iter().enumerate() {
        if let Some(sums) = book.flat {
            ratios[g * blocks][0] = ratio(weights[g * blocks][0] * inflation, sums.square);
        }
    }
    let (plays, fractions) = (&mut quads_mut(plays)[..blocks], &mut quads_mut(fractions)[..blocks]);
    let (mixed, announced) = (quads_mut(mixed), &mut quads_mut(map.announced_padded_mut())[..blocks]);
    let (mut order, mut rest) = (Order::new(simd), &accounts[..]);
    for (b, row) in rows.iter().enumerate() {
        let (accounts, after) = rest.split_at(books.len());
        rest = after;
        let mut owed = Owed::to_prior(simd, pull, row);
        for (g, (book, account)) in books.iter().zip(accounts).enumerate() {
            if book.flat.is_none() {
                let at = g * blocks + b;
                let own = weighted_ratios(simd, weights[at], inflation, account);
                owed.add(own, account);
                ratios[at] = own.into();
            } else if ratios[g * blocks][0] > 0.0 {
                // Most groups have no part in most steps.
                owed.add(f64x4::splat(simd, ratios[g * blocks][0]), account);
            }
        }
        let fraction = owed.fractions(row, last[b]);
        let play = played(row, fraction);
        let said = followed(b, play, &means, mixed, trust, row);
        order.next(said, row);
        (plays[b], fractions[b], announced[b]) = (play.into(), fraction.into(), said.into());
    }
    order.holds()
}

/// Whether probabilities, row after row, never fall.
struct Order<S: Simd> {
    /// The row before.
    before: f64x4<S>,
    holds: mask64x4<S>,
}

impl<S: Simd> Order<S> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        Order { before: f64x4::splat(simd, 0.0), holds: mask64x4::splat(simd, true) }
    }

    /// One more row. A NaN breaks the order too; padding, whose base is 0, does not.
    #[inline(always)]
    fn next(&mut self, said: f64x4<S>, row: &Row) {
        let base = vector(said.token(), row.base);
        let before = self.before.slide::<{ LANES - 1 }>(said);
        self.holds &= before.simd_le(said) | base.simd_le(0.0);
        self.before = said;
    }

    #[inline(always)]
    fn holds(&self) -> bool {
        self.holds.all_true()
    }
}

/// Walks to the roots that [`announce`] did not find, and follows them.
pub(in crate::recalibrate) fn walk(
    ledgers: &Ledgers,
    memories: Option<&Memories>,
    trust: f64,
    plan: &mut Plan,
) {
    let (rows, pull) = (&ledgers.rows, ledgers.pull());
    let means = memories.map(|memories| memories.means(rows.len()));
    let Plan { plays, cells, fractions, ratios, mixed, map, .. } = plan;
    let announced = map.announced_padded_mut();
    for (b, row) in rows.iter().enumerate() {
        let fractions = &mut quads_mut(fractions)[b];
        // Most plays stay in their cells. A sum is NaN if one of its terms is.
        if !across(*fractions).is_nan() {
            continue;
        }
        for lane in 0..LANES {
            let level = b * LANES + lane;
            if !fractions[lane].is_nan() {
                continue;
            }
            let play = ledgers.walk(level, quads(ratios), pull);
            (cells[level], fractions[lane], plays[level]) = (play.cell, play.fraction, play.probability);
            let mut follow = play.probability;
            if let Some(means) = &means {
                follow = means.blend_level(b, lane, follow);
                mixed[level] = follow;
            }
            announced[level] = trust::mix(trust, 1.0 - trust, follow, row.base[lane]);
        }
    }
}

/// S at the two ends of the cells of one row.
struct Owed<S: Simd> {
    low: f64x4<S>,
    high: f64x4<S>,
}

impl<S: Simd> Owed<S> {
    #[inline(always)]
    fn to_prior(simd: S, pull: f64, row: &Row) -> Self {
        let base = vector(simd, row.base);
        Owed { low: (base - vector(simd, row.v_low)) * pull, high: (base - vector(simd, row.v_high)) * pull }
    }

    /// Adds (w/A)·L of a ledger.
    #[inline(always)]
    fn add(&mut self, ratios: f64x4<S>, account: &Account) {
        let simd = ratios.token();
        self.low += ratios * vector(simd, account.low);
        self.high += ratios * vector(simd, account.high);
    }

    /// How far into their cells the roots lie, `last` if nothing is owed anywhere in a cell; NaN for roots that must be walked to.
    #[inline(always)]
    fn fractions(&self, row: &Row, last: Quad) -> f64x4<S> {
        let Owed { low, high } = *self;
        let simd = low.token();
        let (zero, one) = (f64x4::splat(simd, 0.0), f64x4::splat(simd, 1.0));
        let fall = low - high;
        // Without prior and weight, as at padding levels, nothing moves.
        let a = fall.simd_eq(zero).select(vector(simd, last), low / fall);
        // At an end of the grid S may push outwards: then the end is the answer.
        let (negative, positive) = (low.simd_lt(zero), high.simd_gt(zero));
        let a = positive.select(one, negative.select(zero, a));
        let (v_low, v_high) = (vector(simd, row.v_low), vector(simd, row.v_high));
        let elsewhere = (negative & (positive | v_low.simd_gt(zero))) | (positive & v_high.simd_lt(one));
        elsewhere.select(f64x4::splat(simd, f64::NAN), a)
    }
}

/// w/A of a ledger whose weights differ from level to level.
#[inline(always)]
fn weighted_ratios<S: Simd>(simd: S, weight: Quad, inflation: f64, account: &Account) -> f64x4<S> {
    let w = vector(simd, weight) * inflation;
    ratio(w, vector(simd, account.square))
}

/// What is played so far into the cells of one row.
#[inline(always)]
fn played<S: Simd>(row: &Row, fraction: f64x4<S>) -> f64x4<S> {
    let simd = fraction.token();
    (f64x4::splat(simd, 1.0) - fraction) * vector(simd, row.v_low) + fraction * vector(simd, row.v_high)
}

/// Mixes the memories and the base into plays that were changed after [`announce`].
pub(in crate::recalibrate) fn follow(
    ledgers: &Ledgers,
    memories: Option<&Memories>,
    trust: f64,
    plan: &mut Plan,
) {
    dispatch!(Level::new(), simd => follow_plays(simd, ledgers, memories, trust, plan));
}

#[inline(always)]
fn follow_plays<S: Simd>(
    simd: S,
    ledgers: &Ledgers,
    memories: Option<&Memories>,
    trust: f64,
    plan: &mut Plan,
) {
    let rows = &ledgers.rows;
    let means = memories.map(|memories| memories.means(rows.len()));
    let Plan { plays, mixed, map, .. } = plan;
    let (plays, mixed) = (&quads(plays)[..rows.len()], quads_mut(mixed));
    let announced = &mut quads_mut(map.announced_padded_mut())[..rows.len()];
    for (b, row) in rows.iter().enumerate() {
        announced[b] = followed(b, vector(simd, plays[b]), &means, mixed, trust, row).into();
    }
}

/// p̂ of one row: trust( memory( play ) ).
#[inline(always)]
fn followed<S: Simd>(
    b: usize,
    play: f64x4<S>,
    means: &Option<Means<'_>>,
    mixed: &mut [Quad],
    trust: f64,
    row: &Row,
) -> f64x4<S> {
    let mut follow = play;
    if let Some(means) = means {
        follow = means.blend(b, play);
        mixed[b] = follow.into();
    }
    trusted(trust, follow, row)
}

/// What is followed, mixed with the base, at the levels of one row.
#[inline(always)]
fn trusted<S: Simd>(trust: f64, follow: f64x4<S>, row: &Row) -> f64x4<S> {
    let simd = follow.token();
    let (weight, rest) = (f64x4::splat(simd, trust), f64x4::splat(simd, 1.0 - trust));
    trust::mix(weight, rest, follow, vector(simd, row.base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_broken_by_what_falls_and_by_what_is_unknown() {
        let rows = [[0.1, 0.2, 0.3, 0.4], [0.5, 0.0, 0.0, 0.0]].map(|base| Row {
            probit: [0.0; 4],
            base,
            v_low: [0.0; 4],
            v_high: [0.0; 4],
        });
        let holds = |said: [Quad; 2]| {
            dispatch!(Level::new(), simd => {
                let mut order = Order::new(simd);
                said.iter().zip(&rows).for_each(|(said, row)| order.next(vector(simd, *said), row));
                order.holds()
            })
        };
        assert!(holds([[0.0, 0.2, 0.2, 0.4], [0.4, 0.0, 0.0, 0.0]]), "padding does not count");
        assert!(!holds([[0.0, 0.2, 0.1, 0.4], [0.4, 0.0, 0.0, 0.0]]));
        assert!(!holds([[0.0, 0.2, 0.3, 0.5], [0.4, 0.0, 0.0, 0.0]]), "from one row to the next");
        for unknown in 0..5 {
            let mut said = [[0.1; 4], [0.1, 0.0, 0.0, 0.0]];
            said.as_flattened_mut()[unknown] = f64::NAN;
            assert!(!holds(said), "{unknown}");
        }
    }
}
