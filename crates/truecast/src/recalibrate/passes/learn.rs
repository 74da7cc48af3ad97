//! The passes that learn: an outcome is judged by, and booked at, every level.
//!
//! They are two, although one would read less: the weights of trust and memories follow from exponentials of what was judged, and booking waits for
//! none of them, so that a processor does it meanwhile.

use multiversion::multiversion;

use crate::lanes::{LANES, Quad, across, quads, quads_mut};
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
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(in crate::recalibrate) fn judge(
    ledgers: &Ledgers,
    z: f64,
    memories: Option<Learning<'_>>,
    plan: &Plan,
    out: &mut Sums,
) {
    let (rows, mut sums) = (&ledgers.rows[..], *out);
    let Compared { plays, follow, widths } = Compared::new(rows.len(), plan);
    if let Some(memories) = memories {
        let mut memories = memories.of_rows(rows.len());
        for (b, row) in rows.iter().enumerate() {
            let happened = happened(z, row);
            sums.compare(row, happened, plays[b], follow[b], widths[b]);
            memories.learn(b, happened, widths[b], &mut sums.memories);
        }
    } else {
        for (b, row) in rows.iter().enumerate() {
            sums.compare(row, happened(z, row), plays[b], follow[b], widths[b]);
        }
    }
    *out = sums;
}

/// What is compared with the base.
struct Compared<'a> {
    plays: &'a [Quad],
    follow: &'a [Quad],
    widths: &'a [Quad],
}

impl<'a> Compared<'a> {
    #[inline(always)]
    fn new(rows: usize, plan: &'a Plan) -> Self {
        Compared {
            plays: &quads(&plan.plays)[..rows],
            follow: &quads(plan.followed_padded())[..rows],
            widths: &quads(&plan.widths)[..rows],
        }
    }
}

/// o at the levels of one row.
#[inline(always)]
fn happened(z: f64, row: &Row) -> Quad {
    let mut happened = [0.0; LANES];
    for l in 0..LANES {
        happened[l] = if z <= row.probit[l] { 1.0 } else { 0.0 };
    }
    happened
}

/// Books an outcome at every level, into the accounts and bounds of the ledgers.
pub(in crate::recalibrate) fn book(entries: Entries<'_>, settlement: &Settlement, plan: &Plan) {
    if entries.usual {
        book_usual(entries, settlement, plan);
    } else {
        book_any(entries, settlement, plan);
    }
}

/// Into any ledgers.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn book_any(entries: Entries<'_>, settlement: &Settlement, plan: &Plan) {
    let Entries { rows, books, accounts, bounds, ratios, cross_terms, inflation, .. } = entries;
    let blocks = rows.len();
    let (weights, bounds) = (quads(&plan.weights), &mut quads_mut(bounds)[..blocks]);
    let (plays, fractions) = (&quads(&plan.plays)[..blocks], &quads(&plan.fractions)[..blocks]);
    let mut rest = accounts;
    for (b, row) in rows.iter().enumerate() {
        let (accounts, after) = rest.split_at_mut(books.len());
        rest = after;
        let happened = happened(settlement.z, row);
        let mut result = RowResult::new(happened, row, plays[b], fractions[b], settlement);
        for (g, (book, account)) in books.iter().zip(accounts).enumerate() {
            let (at, w) = (g * blocks + b, weights[g * blocks][0] * inflation);
            if book.flat.is_none() {
                result.book_weighted(weights[at], inflation, ratios[at], account);
            } else if w > 0.0 {
                result.book(w, account);
            }
        }
        bounds[b] = result.bound_after(bounds[b], settlement.pull, cross_terms.get(b));
    }
}

/// Into the usual ledgers: nothing is asked at a row.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(super) fn book_usual(entries: Entries<'_>, settlement: &Settlement, plan: &Plan) {
    let Entries { rows, accounts, bounds, ratios, cross_terms, inflation, .. } = entries;
    let blocks = rows.len();
    let (plays, widths) = (&quads(&plan.plays)[..blocks], &quads(&plan.widths)[..blocks]);
    let fractions = &quads(&plan.fractions)[..blocks];
    let (bounds, ratios) = (&mut quads_mut(bounds)[..blocks], &ratios[blocks..][..blocks]);
    let accounts = &mut accounts.as_chunks_mut::<2>().0[..blocks];
    for (b, row) in rows.iter().enumerate() {
        let [uniform, crps] = &mut accounts[b];
        let happened = happened(settlement.z, row);
        let mut result = RowResult::new(happened, row, plays[b], fractions[b], settlement);
        result.book(inflation, uniform);
        result.book_weighted(widths[b], inflation, ratios[b], crps);
        bounds[b] = result.bound_after(bounds[b], settlement.pull, cross_terms.get(b));
    }
}

/// What an outcome has brought at the levels of one row.
struct RowResult {
    /// o − p, and p − u.
    error: Quad,
    shift: Quad,
    fraction: Quad,
    /// Σ_g w²/A and min_g w²/A of the ledgers booked so far.
    share: Quad,
    smallest: Quad,
}

impl RowResult {
    #[inline(always)]
    fn new(happened: Quad, row: &Row, play: Quad, fraction: Quad, settlement: &Settlement) -> Self {
        let (mut error, mut shift) = ([0.0; LANES], [0.0; LANES]);
        for l in 0..LANES {
            error[l] = happened[l] - play[l];
            shift[l] = play[l] - row.base[l];
        }
        let (share, smallest) = ([settlement.new_share; LANES], [settlement.smallest_share; LANES]);
        RowResult { error, shift, fraction, share, smallest }
    }

    /// Books into a ledger with the same weight at every level.
    #[inline(always)]
    fn book(&self, w: f64, account: &mut Account) {
        let mut entry = *account;
        for l in 0..LANES {
            entry.book(l, w, self.error[l], self.fraction[l], self.shift[l]);
        }
        (account.low, account.high, account.shift) = (entry.low, entry.high, entry.shift);
    }

    /// Books into one whose weights differ from level to level, with its A and W.
    #[inline(always)]
    fn book_weighted(&mut self, weight: Quad, inflation: f64, ratio: Quad, account: &mut Account) {
        let mut entry = *account;
        for l in 0..LANES {
            let w = weight[l] * inflation;
            let new = w * ratio[l];
            self.share[l] += new;
            // A ledger without weight at this step keeps all of its old potential; one that had no weight before has none to keep,
            // with or without weight now.
            let new = if entry.square[l] > 0.0 { new } else { 1.0 };
            self.smallest[l] = if new < self.smallest[l] { new } else { self.smallest[l] };
            entry.book(l, w, self.error[l], self.fraction[l], self.shift[l]);
            entry.square[l] += w * w;
            entry.total[l] += w;
        }
        *account = entry;
    }

    /// B ← ρ B + Σ_g (w²/A)(o−p)²((1−a)²+a²) + cross term: the bound on each level's potential. At a root, or at an end that the balance
    /// pushes against, the cross term is at most the prior's, −2κ/(n+1)·(u − p)(o − p); elsewhere it was `measured`.
    #[inline(always)]
    fn bound_after(&self, bound: Quad, pull: f64, measured: Option<&Quad>) -> Quad {
        let (mut cross, mut after) = ([0.0; LANES], [0.0; LANES]);
        for l in 0..LANES {
            cross[l] = 2.0 * pull * self.shift[l] * self.error[l];
        }
        if let Some(measured) = measured {
            cross = *measured;
        }
        for l in 0..LANES {
            let (e, a) = (self.error[l], self.fraction[l]);
            let spread = e * e * ((1.0 - a) * (1.0 - a) + a * a);
            after[l] = (1.0 - self.smallest[l]) * bound[l] + (self.share[l] * spread + cross[l]);
        }
        after
    }
}

/// [`Gains`], lane by lane.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::recalibrate) struct Sums {
    width: Quad,
    plays: Quad,
    memories: [Quad; 3],
    gain: Quad,
    crps_gain: Quad,
}

impl Sums {
    #[inline(always)]
    fn compare(&mut self, row: &Row, happened: Quad, play: Quad, follow: Quad, width: Quad) {
        for l in 0..LANES {
            let (error, gain) = (happened[l] - play[l], trust::gain(row.base[l], follow[l], happened[l]));
            self.width[l] += width[l];
            self.plays[l] += width[l] * (error * error);
            self.gain[l] += gain;
            self.crps_gain[l] += gain * width[l];
        }
    }

    /// Across the lanes. Not where they are added up: the compiler would look for vectors across the sums, and miss those along the levels.
    pub(in crate::recalibrate) fn gains(&self) -> Gains {
        let [long, middle, short] = self.memories.map(across);
        Gains {
            width: across(self.width),
            losses: [across(self.plays), long, middle, short],
            gain: across(self.gain),
            crps_gain: across(self.crps_gain),
        }
    }
}
