//! The pass that announces: a play at every level, mixed with the memories and the base.

use multiversion::multiversion;

use crate::lanes::{LANES, Quad, quads, quads_mut};
use crate::recalibrate::ledgers::{Account, Ledgers, Row, ratio, root};
use crate::recalibrate::memory::{Means, Memories};
use crate::recalibrate::plan::Plan;
use crate::recalibrate::trust;

/// Plays at every level, and mixes in the memories and the base. Gives the rows in which a root is not in the cell of its level's last play, so that
/// [`walk`] must find it.
pub(in crate::recalibrate) fn announce(
    ledgers: &Ledgers,
    memories: Option<&Memories>,
    trust: f64,
    plan: &mut Plan,
) -> Rows {
    plan.cells.copy_from_slice(&ledgers.cells);
    match memories {
        Some(memories) if ledgers.are_usual() => announce_usual(ledgers, memories, trust, plan),
        _ => announce_any(ledgers, memories, trust, plan),
    }
}

/// The usual ledgers, with memories: nothing is asked at a row, and every slice is as long as the rows are many.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn announce_usual(ledgers: &Ledgers, memories: &Memories, trust: f64, plan: &mut Plan) -> Rows {
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
    let mut missing = [0; LANES];
    for (b, row) in rows.iter().enumerate() {
        let [uniform, crps] = &accounts[b];
        let mut owed = Owed::to_prior(pull, row);
        owed.add(flat_ratio, uniform);
        ratios[b] = owed.add_weighted(weights[b], inflation, crps);
        let (play, fraction) = owed.roots(row, last[b], b, &mut missing);
        let follow = means.blend(b, play);
        (plays[b], fractions[b], mixed[b]) = (play, fraction, follow);
        announced[b] = trusted(trust, follow, row.base);
    }
    Rows::of(missing)
}

/// Any ledgers, with or without memories.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn announce_any(
    ledgers: &Ledgers,
    memories: Option<&Memories>,
    trust: f64,
    plan: &mut Plan,
) -> Rows {
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
    let mut missing = [0; LANES];
    let mut rest = &accounts[..];
    for (b, row) in rows.iter().enumerate() {
        let (accounts, after) = rest.split_at(books.len());
        rest = after;
        let mut owed = Owed::to_prior(pull, row);
        for (g, (book, account)) in books.iter().zip(accounts).enumerate() {
            if book.flat.is_none() {
                let at = g * blocks + b;
                ratios[at] = owed.add_weighted(weights[at], inflation, account);
            } else if ratios[g * blocks][0] > 0.0 {
                // Most groups have no part in most steps.
                owed.add(ratios[g * blocks][0], account);
            }
        }
        (plays[b], fractions[b]) = owed.roots(row, last[b], b, &mut missing);
        announced[b] = followed(b, plays[b], &means, mixed, trust, row.base);
    }
    Rows::of(missing)
}

/// Some rows, bit by bit. Where there are more than bits, a bit stands for several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::recalibrate) struct Rows(u64);

impl Rows {
    const BITS: usize = u64::BITS as usize;

    #[inline(always)]
    fn of(lanes: [u64; LANES]) -> Self {
        Rows((lanes[0] | lanes[2]) | (lanes[1] | lanes[3]))
    }

    pub(in crate::recalibrate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Their numbers, of so many in all.
    fn numbers(self, count: usize) -> impl Iterator<Item = usize> {
        let mut bits = self.0;
        let firsts = std::iter::from_fn(move || {
            let first = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(first)
        });
        firsts.flat_map(move |first| (first..count).step_by(Self::BITS))
    }
}

/// Walks to the roots that [`announce`] did not find in these rows, and follows them.
pub(in crate::recalibrate) fn walk(
    missing: Rows,
    ledgers: &Ledgers,
    memories: Option<&Memories>,
    trust: f64,
    plan: &mut Plan,
) {
    let (rows, pull) = (&ledgers.rows, ledgers.pull());
    let means = memories.map(|memories| memories.means(rows.len()));
    let Plan { plays, cells, fractions, ratios, mixed, map, .. } = plan;
    let announced = map.announced_padded_mut();
    for b in missing.numbers(rows.len()) {
        let row = &rows[b];
        for lane in 0..LANES {
            let level = b * LANES + lane;
            if !fractions[level].is_nan() {
                continue;
            }
            let play = ledgers.walk(level, quads(ratios), pull);
            (cells[level], fractions[level], plays[level]) = (play.cell, play.fraction, play.probability);
            let mut follow = play.probability;
            if let Some(means) = &means {
                follow = means.blend_level(b, lane, follow);
                mixed[level] = follow;
            }
            announced[level] = trust::mix(trust, follow, row.base[lane]);
        }
    }
}

/// S at the two ends of the cells of one row.
struct Owed {
    low: Quad,
    high: Quad,
}

impl Owed {
    #[inline(always)]
    fn to_prior(pull: f64, row: &Row) -> Self {
        let (mut low, mut high) = ([0.0; LANES], [0.0; LANES]);
        for l in 0..LANES {
            low[l] = pull * (row.base[l] - row.v_low[l]);
            high[l] = pull * (row.base[l] - row.v_high[l]);
        }
        Owed { low, high }
    }

    /// Plays and fractions of row `b`; levels whose root must be walked to are marked in `missing`.
    #[inline(always)]
    fn roots(&self, row: &Row, last: Quad, b: usize, missing: &mut [u64; LANES]) -> (Quad, Quad) {
        let (mut play, mut fraction) = ([0.0; LANES], [0.0; LANES]);
        for l in 0..LANES {
            let root = root(self.low[l], self.high[l], row.v_low[l], row.v_high[l], last[l]);
            (play[l], fraction[l]) = (root.play, root.fraction);
            missing[l] |= u64::from(!root.found) << (b % Rows::BITS);
        }
        (play, fraction)
    }

    /// Adds (w/A)·L of a ledger with the same w/A at every level.
    #[inline(always)]
    fn add(&mut self, ratio: f64, account: &Account) {
        for l in 0..LANES {
            self.low[l] += ratio * account.low[l];
            self.high[l] += ratio * account.high[l];
        }
    }

    /// The same for one whose weights differ from level to level; gives its w/A.
    #[inline(always)]
    fn add_weighted(&mut self, weight: Quad, inflation: f64, account: &Account) -> Quad {
        let mut ratios = [0.0; LANES];
        for l in 0..LANES {
            ratios[l] = ratio(weight[l] * inflation, account.square[l]);
            self.low[l] += ratios[l] * account.low[l];
            self.high[l] += ratios[l] * account.high[l];
        }
        ratios
    }
}

/// Mixes the memories and the base into plays that were changed after [`announce`].
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(in crate::recalibrate) fn follow(
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
        announced[b] = followed(b, plays[b], &means, mixed, trust, row.base);
    }
}

/// p̂ of one row: trust( memory( play ) ).
#[inline(always)]
fn followed(
    b: usize,
    play: Quad,
    means: &Option<Means<'_>>,
    mixed: &mut [Quad],
    trust: f64,
    base: Quad,
) -> Quad {
    let mut follow = play;
    if let Some(means) = means {
        follow = means.blend(b, play);
        mixed[b] = follow;
    }
    trusted(trust, follow, base)
}

/// What is followed, mixed with the base, at the levels of one row.
#[inline(always)]
fn trusted(trust: f64, follow: Quad, base: Quad) -> Quad {
    let mut announced = [0.0; LANES];
    for l in 0..LANES {
        announced[l] = trust::mix(trust, follow[l], base[l]);
    }
    announced
}

#[cfg(test)]
mod tests {
    use super::Rows;

    /// Beyond 64 rows a bit stands for every 64th.
    #[test]
    fn rows_are_found_by_their_bits() {
        let rows = Rows::of([0b001, 0b100, 0, 0b100]);
        assert_eq!(rows.numbers(7).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(rows.numbers(130).collect::<Vec<_>>(), [0, 64, 128, 2, 66]);
        assert!(Rows::of([0; 4]).is_empty());
    }
}
