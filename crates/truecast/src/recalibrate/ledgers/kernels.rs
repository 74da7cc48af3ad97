//! The passes over the levels that one step of the ledgers consists of; see `lanes.rs` for why they look as they do.
//!
//! All slices of a call have the same, padded length. Padding levels have weight 0 in every ledger, so nothing is ever booked for
//! them.

/// S at the two ends of each level's cell, from the prior alone.
#[inline(never)]
pub(super) fn prior_balance(pull: f64, u: &[f64], v_low: &[f64], v_high: &[f64], s_low: &mut [f64], s_high: &mut [f64]) {
    let n = u.len();
    let (v_low, v_high, s_low, s_high) = (&v_low[..n], &v_high[..n], &mut s_low[..n], &mut s_high[..n]);
    for j in 0..n {
        s_low[j] = pull * (u[j] - v_low[j]);
        s_high[j] = pull * (u[j] - v_high[j]);
    }
}

/// Adds one ledger's part (w/A)·L to S, A counting this step's weight.
#[inline(never)]
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

/// The root of S in each level's cell. Returns at how many levels there is none, so that a walk must find it.
#[inline(never)]
pub(super) fn roots(
    s_low: &[f64],
    s_high: &[f64],
    v_low: &[f64],
    v_high: &[f64],
    fractions: &mut [f64],
    plays: &mut [f64],
) -> u64 {
    let n = s_low.len();
    let (s_high, v_low, v_high) = (&s_high[..n], &v_low[..n], &v_high[..n]);
    let (fractions, plays) = (&mut fractions[..n], &mut plays[..n]);
    let mut missing = 0;
    for j in 0..n {
        let (low, high) = (s_low[j], s_high[j]);
        let a = low / (low - high);
        // At an end of the grid S may push outwards: then the end is the answer.
        let a = if low < 0.0 { 0.0 } else { a };
        let a = if high > 0.0 { 1.0 } else { a };
        fractions[j] = a;
        plays[j] = (1.0 - a) * v_low[j] + a * v_high[j];
        missing += u64::from(!is_found(low, high, v_low[j], v_high[j]));
    }
    missing
}

/// True where [`roots`] has the answer: S falls through 0 within the cell, or pushes outwards at an end of the grid.
#[inline(always)]
pub(super) fn is_found(low: f64, high: f64, v_low: f64, v_high: f64) -> bool {
    let falls = (low >= 0.0) & (high <= 0.0) & (low > high);
    let below = (v_low == 0.0) & (low < 0.0) & (high <= 0.0);
    let above = (v_high == 1.0) & (high > 0.0) & (low >= 0.0);
    falls | below | above
}

/// o − p, and what the prior's part −2κ/(n+1)·(u − p)(o − p) adds to the potential.
#[inline(never)]
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

/// Books the errors of one step into one ledger's balances.
#[inline(never)]
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

/// Books the weights of one step: A += w², W += w, Q += w (p − u)².
#[inline(never)]
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

/// Collects over the ledgers what share w²/A of each sum of squares is new: their sum, and the smallest of them. A ledger that had
/// no weight before is all new, and one without weight at this step keeps all of its old potential.
#[inline(never)]
pub(super) fn new_shares(inflation: f64, weights: &[f64], ratios: &[f64], shares: &mut [f64], smallest: &mut [f64]) {
    let n = weights.len();
    let (ratios, shares, smallest) = (&ratios[..n], &mut shares[..n], &mut smallest[..n]);
    for j in 0..n {
        let share = weights[j] * inflation * ratios[j];
        shares[j] += share;
        smallest[j] = if share < smallest[j] { share } else { smallest[j] };
    }
}

/// B ← ρ B + Σ_g (w²/A)(o−p)²((1−a)²+a²) + cross term: the bound on each level's potential.
#[inline(never)]
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
#[inline(never)]
pub(super) fn all_within(weights: &[f64], smallest: f64, limit: f64) -> bool {
    let inside = |w: f64| (w == 0.0) | ((w >= smallest) & (w < limit));
    let outside: u64 = weights.iter().map(|w| u64::from(!inside(*w))).sum();
    outside == 0
}
