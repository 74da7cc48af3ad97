//! The passes over the levels that one step of the ledgers consists of; see `lanes.rs` for why they look as they do.
//!
//! All slices of a call have the same, padded length. Padding levels announce 0 for an event that never happens: their errors are 0,
//! so nothing is ever booked for them.

use multiversion::multiversion;

/// S at the two ends of each level's cell, from the prior alone.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn prior_balance(
    pull: f64,
    u: &[f64],
    v_low: &[f64],
    v_high: &[f64],
    s_low: &mut [f64],
    s_high: &mut [f64],
) {
    let n = u.len();
    let (v_low, v_high, s_low, s_high) = (&v_low[..n], &v_high[..n], &mut s_low[..n], &mut s_high[..n]);
    for j in 0..n {
        s_low[j] = pull * (u[j] - v_low[j]);
        s_high[j] = pull * (u[j] - v_high[j]);
    }
}

/// Adds the part (w/A)·L of a ledger whose weight is the same at every level.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn add_flat_balance(ratio: f64, low: &[f64], high: &[f64], s_low: &mut [f64], s_high: &mut [f64]) {
    let n = low.len();
    let (high, s_low, s_high) = (&high[..n], &mut s_low[..n], &mut s_high[..n]);
    for j in 0..n {
        s_low[j] += ratio * low[j];
        s_high[j] += ratio * high[j];
    }
}

/// Adds one ledger's part (w/A)·L to S, A counting this step's weight.
#[multiversion(targets("x86_64+avx2"))]
#[expect(clippy::too_many_arguments, reason = "separate slices are what vectorises")]
pub(super) fn add_balance(
    inflation: f64,
    weights: &[f64],
    squares: &[f64],
    low: &[f64],
    high: &[f64],
    ratios: &mut [f64],
    s_low: &mut [f64],
    s_high: &mut [f64],
) {
    let n = weights.len();
    let (squares, low, high) = (&squares[..n], &low[..n], &high[..n]);
    let (ratios, s_low, s_high) = (&mut ratios[..n], &mut s_low[..n], &mut s_high[..n]);
    for j in 0..n {
        let ratio = ratio(weights[j] * inflation, squares[j]);
        ratios[j] = ratio;
        s_low[j] += ratio * low[j];
        s_high[j] += ratio * high[j];
    }
}

/// w / (A + w²), and 0 where the ledger has had no weight yet.
#[inline(always)]
pub(super) fn ratio(w: f64, squares: f64) -> f64 {
    // The smallest normal number changes no sum but that of two zeros, where w is 0 too and so is the quotient.
    w / (squares + w * w + f64::MIN_POSITIVE)
}

/// The root of S in each level's cell: S at its two ends goes in, fraction and play come out in the same places. NaN, which the count
/// returned tells of, where a walk must find it.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn roots(
    v_low: &[f64],
    v_high: &[f64],
    last: &[f64],
    low_then_fraction: &mut [f64],
    high_then_play: &mut [f64],
) -> u64 {
    let n = v_low.len();
    let (v_high, last) = (&v_high[..n], &last[..n]);
    let (lows, highs) = (&mut low_then_fraction[..n], &mut high_then_play[..n]);
    let mut missing = 0;
    for j in 0..n {
        let (low, high) = (lows[j], highs[j]);
        let a = low / (low - high);
        // At an end of the grid S may push outwards: then the end is the answer.
        let a = if low < 0.0 { 0.0 } else { a };
        let a = if high > 0.0 { 1.0 } else { a };
        let falls = (low >= 0.0) & (high <= 0.0) & (low > high);
        let below = (v_low[j] == 0.0) & (low < 0.0) & (high <= 0.0);
        let above = (v_high[j] == 1.0) & (high > 0.0) & (low >= 0.0);
        // Nothing is owed anywhere in the cell (no prior, no weight; padding levels stay so): nothing moves.
        let still = (low == 0.0) & (high == 0.0);
        let a = if still { last[j] } else { a };
        let found = falls | below | above | still;
        lows[j] = if found { a } else { f64::NAN };
        highs[j] = (1.0 - a) * v_low[j] + a * v_high[j];
        // An integer count, because the compiler may reorder only integer sums.
        missing += u64::from(!found);
    }
    missing
}

/// o − p, and what the prior's part −2κ/(n+1)·(u − p)(o − p) adds to the potential.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn errors(
    z: f64,
    pull: f64,
    levels: &[f64],
    u: &[f64],
    plays: &[f64],
    errors: &mut [f64],
    drifts: &mut [f64],
) {
    let n = levels.len();
    let (u, plays, errors, drifts) = (&u[..n], &plays[..n], &mut errors[..n], &mut drifts[..n]);
    for j in 0..n {
        let e = if z <= levels[j] { 1.0 } else { 0.0 } - plays[j];
        errors[j] = e;
        drifts[j] = 2.0 * pull * (plays[j] - u[j]) * e;
    }
}

/// Books the errors of one step into the balances of a ledger whose weight differs from level to level.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn book_balances(
    inflation: f64,
    weights: &[f64],
    errors: &[f64],
    fractions: &[f64],
    low: &mut [f64],
    high: &mut [f64],
) {
    let n = weights.len();
    let (errors, fractions, low, high) = (&errors[..n], &fractions[..n], &mut low[..n], &mut high[..n]);
    for j in 0..n {
        let e = weights[j] * inflation * errors[j];
        let upper = e * fractions[j];
        low[j] += e - upper;
        high[j] += upper;
    }
}

/// The same for a weight that is the same at every level, with Q += w (p − u)².
#[multiversion(targets("x86_64+avx2"))]
#[expect(clippy::too_many_arguments, reason = "separate slices are what vectorises")]
pub(super) fn book_flat(
    w: f64,
    u: &[f64],
    plays: &[f64],
    errors: &[f64],
    fractions: &[f64],
    low: &mut [f64],
    high: &mut [f64],
    shifts: &mut [f64],
) {
    let n = u.len();
    let (plays, errors, fractions) = (&plays[..n], &errors[..n], &fractions[..n]);
    let (low, high, shifts) = (&mut low[..n], &mut high[..n], &mut shifts[..n]);
    for j in 0..n {
        let (e, shift) = (w * errors[j], plays[j] - u[j]);
        let upper = e * fractions[j];
        low[j] += e - upper;
        high[j] += upper;
        shifts[j] += w * (shift * shift);
    }
}

/// Books the weights of one step: A += w², W += w, Q += w (p − u)².
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn book_weights(
    inflation: f64,
    weights: &[f64],
    u: &[f64],
    plays: &[f64],
    squares: &mut [f64],
    totals: &mut [f64],
    shifts: &mut [f64],
) {
    let n = weights.len();
    let (u, plays) = (&u[..n], &plays[..n]);
    let (squares, totals, shifts) = (&mut squares[..n], &mut totals[..n], &mut shifts[..n]);
    for j in 0..n {
        let w = weights[j] * inflation;
        let shift = plays[j] - u[j];
        squares[j] += w * w;
        totals[j] += w;
        shifts[j] += w * (shift * shift);
    }
}

/// Collects over the ledgers what share w²/A of each sum of squares is new: their sum, and the smallest of them. A ledger without
/// weight at this step keeps all of its old potential; one that had no weight before has none to keep, with or without weight now.
///
/// `squares` are those from before this step.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn new_shares(
    inflation: f64,
    weights: &[f64],
    squares: &[f64],
    ratios: &[f64],
    shares: &mut [f64],
    smallest: &mut [f64],
) {
    let n = weights.len();
    let (squares, ratios, shares, smallest) =
        (&squares[..n], &ratios[..n], &mut shares[..n], &mut smallest[..n]);
    for j in 0..n {
        let share = weights[j] * inflation * ratios[j];
        shares[j] += share;
        let new = if squares[j] > 0.0 { share } else { 1.0 };
        smallest[j] = if new < smallest[j] { new } else { smallest[j] };
    }
}

/// B ← ρ B + Σ_g (w²/A)(o−p)²((1−a)²+a²) + cross term: the bound on each level's potential.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn advance_bounds(
    shares: &[f64],
    smallest: &[f64],
    errors: &[f64],
    fractions: &[f64],
    drifts: &[f64],
    bounds: &mut [f64],
) {
    let n = bounds.len();
    let (shares, smallest, errors) = (&shares[..n], &smallest[..n], &errors[..n]);
    let (fractions, drifts) = (&fractions[..n], &drifts[..n]);
    for j in 0..n {
        let (e, a) = (errors[j], fractions[j]);
        let spread = e * e * ((1.0 - a) * (1.0 - a) + a * a);
        bounds[j] = (1.0 - smallest[j]) * bounds[j] + (shares[j] * spread + drifts[j]);
    }
}

/// True if every weight is 0, or at least `smallest` and below `limit`; NaN is not.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn all_within(weights: &[f64], smallest: f64, limit: f64) -> bool {
    let inside = |w: f64| (w == 0.0) | ((w >= smallest) & (w < limit));
    let outside: u64 = weights.iter().map(|w| u64::from(!inside(*w))).sum();
    outside == 0
}
