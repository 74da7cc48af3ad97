//! The passes that learn: an outcome is judged by, and booked at, every level.
//!
//! They are two, although one would read less: the weights of trust and memories follow from exponentials of what was judged, and booking waits for
//! none of them, so that a processor does it meanwhile.

use fearless_simd::{Simd, f64x4, prelude::*};

use crate::lanes::{LANES, Quad, across, quads, quads_mut, vector};
use crate::recalibrate::ledgers::{Account, Entries, Ledgers, Row, Settlement};
use crate::recalibrate::memory::Learning;
use crate::recalibrate::plan::Plan;
use crate::recalibrate::trust;

/// Σ_j w[(u−o)² − (q−o)²] of what was followed, q, for a ledger's weights.
pub(in crate::recalibrate) fn weighted_gain(ledgers: &Ledgers, plan: &Plan, z: f64, weights: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let rows = ledgers.rows.iter().zip(quads(plan.followed_padded())).zip(quads(weights));
    for ((row, follow), weight) in rows {
        for l in 0..LANES {
            let happened = if z <= row.probit[l] { 1.0 } else { 0.0 };
            sums[l] += trust::gain(row.base[l], follow[l], happened) * weight[l];
        }
    }
    across(sums)
}

/// What [`judge`] adds up over the levels, for an outcome o.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(in crate::recalibrate) struct Gains {
    /// Σ width.
    pub(in crate::recalibrate) width: f64,
    /// Σ width (p − o)² of the plays, and of each memory.
    pub(in crate::recalibrate) losses: [f64; 4],
    /// Σ [(u−o)² − (q−o)²] of what was followed, q, without weights and with the widths.
    pub(in crate::recalibrate) gain: f64,
    pub(in crate::recalibrate) crps_gain: f64,
}

/// Compares what was played and followed with the base, and with the memories, which learn the outcome.
#[inline(always)]
pub(in crate::recalibrate) fn judge<S: Simd>(
    simd: S,
    rows: &[Row],
    z: f64,
    memories: Option<Learning<'_>>,
    plan: &Plan,
) -> Gains {
    let (plays, follow) = (&quads(&plan.plays)[..rows.len()], &quads(plan.followed_padded())[..rows.len()]);
    let widths = &quads(&plan.widths)[..rows.len()];
    let mut sums = Sums::new(simd);
    if let Some(memories) = memories {
        let mut memories = memories.of_rows(rows.len());
        for (b, row) in rows.iter().enumerate() {
            let (happened, width) = (happened(simd, z, row), vector(simd, widths[b]));
            sums.compare(row, happened, plays[b], follow[b], width);
            memories.learn(b, happened, width, &mut sums.memories);
        }
    } else {
        for (b, row) in rows.iter().enumerate() {
            sums.compare(row, happened(simd, z, row), plays[b], follow[b], vector(simd, widths[b]));
        }
    }
    sums.gains()
}

/// o at the levels of one row.
#[inline(always)]
fn happened<S: Simd>(simd: S, z: f64, row: &Row) -> f64x4<S> {
    let reached = f64x4::splat(simd, z).simd_le(vector(simd, row.probit));
    reached.select(f64x4::splat(simd, 1.0), f64x4::splat(simd, 0.0))
}

/// Books an outcome at every level, into the accounts and bounds of the ledgers.
#[inline(always)]
pub(in crate::recalibrate) fn book<S: Simd>(
    simd: S,
    entries: Entries<'_>,
    settlement: &Settlement,
    plan: &Plan,
) {
    if entries.usual {
        book_usual(simd, entries, settlement, plan);
    } else {
        book_any(simd, entries, settlement, plan);
    }
}

/// Into any ledgers.
#[inline(always)]
fn book_any<S: Simd>(simd: S, entries: Entries<'_>, settlement: &Settlement, plan: &Plan) {
    let Entries { rows, books, accounts, bounds, ratios, cross_terms, inflation, .. } = entries;
    let blocks = rows.len();
    let (weights, bounds) = (quads(&plan.weights), &mut quads_mut(bounds)[..blocks]);
    let (plays, fractions) = (&quads(&plan.plays)[..blocks], &quads(&plan.fractions)[..blocks]);
    let mut rest = accounts;
    for (b, row) in rows.iter().enumerate() {
        let (accounts, after) = rest.split_at_mut(books.len());
        rest = after;
        let mut result = RowResult::new(simd, row, plays[b], fractions[b], settlement);
        for (g, (book, account)) in books.iter().zip(accounts).enumerate() {
            let (at, w) = (g * blocks + b, weights[g * blocks][0] * inflation);
            if book.flat.is_none() {
                result.book_weighted(weights[at], inflation, ratios[at], account);
            } else if w > 0.0 {
                result.book(f64x4::splat(simd, w), account);
            }
        }
        bounds[b] = result.bound_after(bounds[b], settlement.pull, cross_terms.get(b)).into();
    }
}

/// Into the usual ledgers: nothing is asked at a row.
#[inline(always)]
fn book_usual<S: Simd>(simd: S, entries: Entries<'_>, settlement: &Settlement, plan: &Plan) {
    let Entries { rows, accounts, bounds, ratios, cross_terms, inflation, .. } = entries;
    let blocks = rows.len();
    let (plays, widths) = (&quads(&plan.plays)[..blocks], &quads(&plan.widths)[..blocks]);
    let fractions = &quads(&plan.fractions)[..blocks];
    let (bounds, ratios) = (&mut quads_mut(bounds)[..blocks], &ratios[blocks..][..blocks]);
    let accounts = &mut accounts.as_chunks_mut::<2>().0[..blocks];
    for (b, row) in rows.iter().enumerate() {
        let [uniform, crps] = &mut accounts[b];
        let mut result = RowResult::new(simd, row, plays[b], fractions[b], settlement);
        result.book(f64x4::splat(simd, inflation), uniform);
        result.book_weighted(widths[b], inflation, ratios[b], crps);
        bounds[b] = result.bound_after(bounds[b], settlement.pull, cross_terms.get(b)).into();
    }
}

/// What an outcome has brought at the levels of one row.
struct RowResult<S: Simd> {
    /// o − p, and p − u.
    error: f64x4<S>,
    shift: f64x4<S>,
    fraction: f64x4<S>,
    /// Σ_g w²/A and min_g w²/A of the ledgers booked so far.
    share: f64x4<S>,
    smallest: f64x4<S>,
}

impl<S: Simd> RowResult<S> {
    #[inline(always)]
    fn new(simd: S, row: &Row, play: Quad, fraction: Quad, settlement: &Settlement) -> Self {
        let play = vector(simd, play);
        RowResult {
            error: happened(simd, settlement.z, row) - play,
            shift: play - vector(simd, row.base),
            fraction: vector(simd, fraction),
            share: f64x4::splat(simd, settlement.new_share),
            smallest: f64x4::splat(simd, settlement.smallest_share),
        }
    }

    /// Books o − p with weight w: w(1 − a)(o − p) and w a (o − p) into the two balances around the play, w (p − u)² into Q.
    #[inline(always)]
    fn book(&self, w: f64x4<S>, account: &mut Account) {
        let simd = w.token();
        let error = w * self.error;
        let upper = error * self.fraction;
        let (low, high) = (vector(simd, account.low) + (error - upper), vector(simd, account.high) + upper);
        let shift = vector(simd, account.shift) + w * (self.shift * self.shift);
        (account.low, account.high, account.shift) = (low.into(), high.into(), shift.into());
    }

    /// Books into a ledger whose weights differ from level to level, with its A and W.
    #[inline(always)]
    fn book_weighted(&mut self, weight: Quad, inflation: f64, ratio: Quad, account: &mut Account) {
        let simd = self.error.token();
        let w = vector(simd, weight) * inflation;
        let (square, total) = (vector(simd, account.square), vector(simd, account.total));
        let new = w * vector(simd, ratio);
        self.share += new;
        // A ledger without weight at this step keeps all of its old potential; one that had no weight before has none to keep,
        // with or without weight now.
        let new = square.simd_gt(0.0).select(new, f64x4::splat(simd, 1.0));
        self.smallest = new.simd_lt(self.smallest).select(new, self.smallest);
        self.book(w, account);
        (account.square, account.total) = ((square + w * w).into(), (total + w).into());
    }

    /// B ← ρ B + Σ_g (w²/A)(o−p)²((1−a)²+a²) + cross term: the bound on each level's potential. At a root, or at an end that the balance
    /// pushes against, the cross term is at most the prior's, −2κ/(n+1)·(u − p)(o − p); elsewhere it was `measured`.
    #[inline(always)]
    fn bound_after(&self, bound: Quad, pull: f64, measured: Option<&Quad>) -> f64x4<S> {
        let (e, a) = (self.error, self.fraction);
        let (simd, one) = (e.token(), f64x4::splat(e.token(), 1.0));
        let cross = match measured {
            Some(measured) => vector(simd, *measured),
            None => f64x4::splat(simd, 2.0 * pull) * self.shift * e,
        };
        let spread = e * e * ((one - a) * (one - a) + a * a);
        (one - self.smallest) * vector(simd, bound) + (self.share * spread + cross)
    }
}

/// [`Gains`], lane by lane.
struct Sums<S: Simd> {
    width: f64x4<S>,
    plays: f64x4<S>,
    memories: [f64x4<S>; 3],
    gain: f64x4<S>,
    crps_gain: f64x4<S>,
}

impl<S: Simd> Sums<S> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        let zero = f64x4::splat(simd, 0.0);
        Sums { width: zero, plays: zero, memories: [zero; 3], gain: zero, crps_gain: zero }
    }

    #[inline(always)]
    fn compare(&mut self, row: &Row, happened: f64x4<S>, play: Quad, follow: Quad, width: f64x4<S>) {
        let simd = happened.token();
        let error = happened - vector(simd, play);
        let gain = trust::gain(vector(simd, row.base), vector(simd, follow), happened);
        self.width += width;
        self.plays += width * (error * error);
        self.gain += gain;
        self.crps_gain += gain * width;
    }

    /// Across the lanes.
    #[inline(always)]
    fn gains(&self) -> Gains {
        let sum = |lanes: f64x4<S>| across(lanes.into());
        let [long, middle, short] = self.memories.map(sum);
        Gains {
            width: sum(self.width),
            losses: [sum(self.plays), long, middle, short],
            gain: sum(self.gain),
            crps_gain: sum(self.crps_gain),
        }
    }
}
