//! How much worse one calibrated forecast can score than another, whatever the outcome: exact, over a normal base.
//!
//! In units of the base's standard deviation, with CRPS(G, y) = ∫ (G − 1{z ≥ y})² dz:
//!
//! ```text
//! D(y) = CRPS(G, y) − CRPS(S, y)      D(−∞) = ∫ (1−G)² − (1−S)²      dD/dy = 2 (G(y) − S(y))
//! ```
//!
//! so the largest D is found at ±∞, at knots, or where G and S cross between two knots. Both are Φ of piecewise linear curves, whose integrals are
//! known: ∫Φ = xΦ + φ and ∫Φ² = xΦ² + 2Φφ − Φ(√2x)/√π. Pieces that hardly rise are integrated by the two-point Hermite rule.
//!
//! Cost: Φ, φ and Φ(√2·) at the knots of both, one pass over the pieces; no allocation.

use crate::normal::DENSITY_AT_ZERO;
use crate::normal::lanes::{ROOM, Score, Scores};
use crate::recalibrate::Curve;

/// A piece that rises less than this is integrated by the Hermite rule: its error is 1e-5 h⁶, that of a difference of integrals a rounding over h.
const SHORT: f64 = 0.02;

/// The integrals of Φ and of (1 − Φ)² up to a score, with what short pieces need.
#[derive(Debug, Clone, Copy)]
struct Point {
    t: f64,
    /// Φ and φ.
    cdf: f64,
    density: f64,
    /// ∫ Φ up to here.
    area: f64,
    /// −∫ Φ² up to minus here: an integral of (1 − Φ)².
    upper: f64,
    score: Score,
}

impl Point {
    #[inline]
    fn new(score: Score) -> Self {
        let (z, tail, density) = (score.z, score.tail, score.density);
        let cdf = if z < 0.0 { tail } else { 1.0 - tail };
        let upper = -score.mirrored().integral_of_squared_cdf();
        Point { t: z, cdf, density, area: z * cdf + density, upper, score }
    }

    fn at(z: f64) -> Self {
        Point::new(Score::new(z))
    }

    /// ∫ Φ² up to here.
    fn lower(&self) -> f64 {
        self.score.integral_of_squared_cdf()
    }
}

/// The mean of Φ along a piece from `a` to `b`.
#[inline]
fn mean_below(a: &Point, b: &Point) -> f64 {
    let h = b.t - a.t;
    if h > SHORT {
        return (b.area - a.area) / h;
    }
    let bend = a.t * a.density + b.t * b.density;
    0.5 * (a.cdf + b.cdf) + h * (0.1 * (a.density - b.density) - h * bend / 120.0)
}

/// The mean of (1 − Φ)² along it.
#[inline]
fn mean_above(a: &Point, b: &Point) -> f64 {
    let h = b.t - a.t;
    if h > SHORT {
        return (b.upper - a.upper) / h;
    }
    let derivatives = |p: &Point| {
        let above = 1.0 - p.cdf;
        (above * above, -2.0 * above * p.density, 2.0 * p.density * (p.density + above * p.t))
    };
    let (x, y) = (derivatives(a), derivatives(b));
    0.5 * (x.0 + y.0) + h * (0.1 * (x.1 - y.1) + h * (x.2 + y.2) / 120.0)
}

/// The points of G and S at one knot of G.
type Knot = (f64, Point, Point);

/// max over y of CRPS(G, y) − CRPS(S, y) in units of the base's scale. `g` must have all knots of `s`.
pub(crate) fn worst_case(g: &Curve, s: &Curve) -> f64 {
    let ((g_left, g_right), (s_left, s_right)) = (g.slopes(), s.slopes());
    // D(−∞), once the upper tail is known; and the largest increase of D from there.
    let (mut start, mut rise, mut most) = (0.0, 0.0_f64, 0.0_f64);
    let mut last: Option<Knot> = None;
    for_each_knot(g, s, |(z, t, u)| {
        match &last {
            None => {
                start += (t.lower() - 2.0 * t.area) / g_left - (u.lower() - 2.0 * u.area) / s_left;
                let cross = (u.t - t.t) / (g_left - s_left);
                if cross < 0.0 && (g_left - s_left).abs() > 1e-12 {
                    let c = Point::at(t.t + g_left * cross);
                    most = most.max(2.0 * (c.area / g_left - c.area / s_left));
                }
                rise = 2.0 * (t.area / g_left - u.area / s_left);
            }
            Some((z0, t0, u0)) if z > *z0 => {
                let width = z - z0;
                start += width * (mean_above(t0, &t) - mean_above(u0, &u));
                let (before, after) = (t0.t - u0.t, t.t - u.t);
                if before * after < 0.0 {
                    let share = before / (before - after);
                    let c = Point::at(t0.t + share * (t.t - t0.t));
                    most = most.max(rise + 2.0 * share * width * (mean_below(t0, &c) - mean_below(u0, &c)));
                }
                rise += 2.0 * width * (mean_below(t0, &t) - mean_below(u0, &u));
            }
            Some(_) => {}
        }
        most = most.max(rise);
        last = Some((z, t, u));
    });
    let Some((_, t, u)) = last else { return 0.0 };
    start += -t.upper / g_right + u.upper / s_right;
    // ∫ (1 − Φ) beyond a score is the mirror image of ∫ Φ up to minus it.
    let beyond = |p: &Point| p.area - p.t;
    let cross = (u.t - t.t) / (g_right - s_right);
    if cross > 0.0 && (g_right - s_right).abs() > 1e-12 {
        let c = Point::at(t.t + g_right * cross);
        let to_cross = (beyond(&u) - beyond(&c)) / s_right - (beyond(&t) - beyond(&c)) / g_right;
        most = most.max(rise + 2.0 * to_cross);
    }
    most = most.max(rise + 2.0 * (beyond(&u) / s_right - beyond(&t) / g_right));
    start + most
}

/// 2 ∫ |G − S|, bounded from above without a single Φ: no less than [`worst_case`], and cheap. `g` must have all knots of `s`.
pub(crate) fn worst_case_at_most(g: &Curve, s: &Curve) -> f64 {
    // φ(x) ≤ φ(0)/(1 + x²/2 + x⁴/8), since eˣ is at least the start of its series.
    let density = |x: f64| {
        let half = 0.5 * x * x;
        DENSITY_AT_ZERO / (1.0 + half + 0.5 * half * half)
    };
    // ∫ Φ up to x: less than φ(x) below 0, and no more than x + φ(0) above.
    let tail = |x: f64| if x < 0.0 { density(x) } else { x + DENSITY_AT_ZERO };
    let ((g_left, g_right), (s_left, s_right)) = (g.slopes(), s.slopes());
    let identity = s.is_identity();
    let (mut sum, mut near) = (0.0, 0);
    let mut last: Option<(f64, f64, f64)> = None;
    for (i, (&z, &t)) in g.places().iter().zip(g.levels()).enumerate() {
        let u = if identity { z } else { level(s, g, i, &mut near) };
        match last {
            None => sum += tail(t) / g_left + tail(u) / s_left,
            Some((z0, t0, u0)) => {
                let apart = (t0 - u0).abs().max((t - u).abs());
                // The nearest to 0 that either comes along the piece.
                let nearest = t0.min(u0).max(-t.max(u)).max(0.0);
                sum += (z - z0) * apart * density(nearest);
            }
        }
        last = Some((z, t, u));
    }
    last.map_or(0.0, |(_, t, u)| 2.0 * (sum + tail(-t) / g_right + tail(-u) / s_right))
}

/// The level of `s` at a knot of `g`: where both jump, the lower end of the jump belongs to the piece before it.
#[inline]
fn level(s: &Curve, g: &Curve, knot: usize, near: &mut usize) -> f64 {
    let z = g.places();
    if z.get(knot + 1) == Some(&z[knot]) { s.level_left(z[knot]) } else { s.level_near(z[knot], near) }
}

/// Calls `visit` at every knot of `g`, a few scores at a time.
fn for_each_knot(g: &Curve, s: &Curve, mut visit: impl FnMut(Knot)) {
    let identity = s.is_identity();
    let mut near = 0;
    let chunks = g.places().chunks(ROOM).zip(g.levels().chunks(ROOM));
    for (chunk, (z, t)) in chunks.enumerate() {
        let (mut of_g, mut of_s) = (Scores::new(), Scores::new());
        of_g.z[..t.len()].copy_from_slice(t);
        if identity {
            of_s.z[..z.len()].copy_from_slice(z);
        } else {
            let first = chunk * ROOM;
            let knots = first..first + z.len();
            of_s.z.iter_mut().zip(knots).for_each(|(u, knot)| *u = level(s, g, knot, &mut near));
        }
        of_g.evaluate(t.len(), true);
        of_s.evaluate(t.len(), true);
        for (i, &z) in z.iter().enumerate() {
            visit((z, Point::new(of_g.get(i)), Point::new(of_s.get(i))));
        }
    }
}
