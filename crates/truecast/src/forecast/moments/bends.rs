//! Mean and variance over a normal base, from the bends of the map's inverse h.
//!
//! With τ(x) = Φ(−x) above 0 and −Φ(x) below, A(x) = φ − |x| Φ(−|x|) and M(x) = ½ (Φ(−|x|) − |x| A), which has the sign of x, the integrals over
//! h′ around the median c = h(0) are sums over the bends:
//!
//! ```text
//! E Y − c     = Σ A (s⁺ − s⁻) + Σ τ rise                 over bends, and over jumps
//! E (Y − c)²  = 2 Σ (s⁺ − s⁻) ((z − c) A + M (s⁺ + s⁻)) + Σ τ rise (2 (z − c) − rise) + ½ (s⁺² + s⁻²) at 0
//! ```
//!
//! The last term is there because M jumps at 0. With steep pieces of h the terms grow like the square of its slope, and cancel. A and M are right to 1 + x²
//! roundings, because φ and Φ change by x² roundings where x does by one, so the sizes of the terms times 1 + x² are added too: where they come to
//! much more than the variance, nothing is given, and the caller adds up piece by piece.
//!
//! Cost: Φ and φ once per level, no allocation. Relative error about 1e-12.

use multiversion::multiversion;

use super::Moments;
use crate::grid::cells::{Cells, ROOM};
use crate::lanes::{LANES, Quad, across, quads};
use crate::normal::rows;
use crate::recalibrate::Map;
use crate::recalibrate::bends::{Bend, Bends};

/// So many times the variance half the terms may be out by, in units of rounding: the variance is then right to 1e-12.
const CANCELLING: f64 = 1000.0;

/// The moments of a map over the standard normal distribution; `None` where its bends do not give them.
pub(crate) fn evaluate(map: &Map) -> Option<Moments> {
    let cells = Bends::serve(map)?;
    let mut sums = Sums::default();
    add_up(map, cells, &mut sums);
    let [shift, square, roundings] = sums.of_terms.map(across);
    let variance = 2.0 * square + sums.at_median - shift * shift;
    (roundings <= CANCELLING * variance).then_some(Moments { mean: sums.median + shift, variance })
}

#[derive(Debug, Default)]
struct Sums {
    median: f64,
    at_median: f64,
    /// E Y − c, half of E (Y − c)², and the roundings in the latter, lane by lane.
    of_terms: [Quad; 3],
}

#[multiversion(targets("x86_64+avx2"))]
fn add_up(map: &Map, cells: &Cells, sums: &mut Sums) {
    let mut bends = Bends::empty(map, cells);
    bends.fill(map);
    let (median, [before, after]) = bends.median();
    let mut of_terms = [[0.0; LANES]; 3];
    let (mut shifts, mut squares, mut roundings) = ([0.0; ROOM], [0.0; ROOM], [0.0; ROOM]);
    for k in 0..ROOM {
        let (x, area, moment) = bends.beyond_guarded(k);
        (shifts[k], squares[k]) = terms(bends.guarded(k), median, area, moment);
        roundings[k] = (1.0 + x * x) * squares[k].abs();
    }
    add_lanes(&[&shifts, &squares, &roundings], &mut of_terms);

    let (mut tails, mut densities) = ([0.0; ROOM], [0.0; ROOM]);
    rows::tails_and_densities(bends.calibrated(), &mut tails, &mut densities);
    for j in 0..ROOM {
        let (bend, rise) = (bends.level(j), bends.jump(j));
        let x = bends.calibrated()[j].abs();
        let area = densities[j] - x * tails[j];
        let moment = 0.5 * (tails[j] - x * area);
        let below = bends.is_below_median(j);
        let (moment, tail) = if below { (-moment, -tails[j]) } else { (moment, tails[j]) };
        let (shift, square) = terms(bend, median, area, moment);
        let step = tail * rise;
        shifts[j] = shift + step;
        squares[j] = square + step * (bend.base - median - 0.5 * rise);
        roundings[j] = (1.0 + x * x) * square.abs();
    }
    add_lanes(&[&shifts, &squares, &roundings], &mut of_terms);
    *sums = Sums { median, at_median: 0.5 * (before * before + after * after), of_terms };
}

/// What a bend adds to E Y − c, and half of what it adds to E (Y − c)².
#[inline(always)]
fn terms(bend: Bend, median: f64, area: f64, moment: f64) -> (f64, f64) {
    let shift = bend.change * area;
    (shift, shift * (bend.base - median) + bend.change * (moment * bend.both))
}

#[inline(always)]
fn add_lanes(terms: &[&[f64; ROOM]; 3], sums: &mut [Quad; 3]) {
    for (terms, sum) in terms.iter().zip(sums) {
        for terms in quads(*terms) {
            for l in 0..LANES {
                sum[l] += terms[l];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gaussian;
    use crate::forecast::{Forecast, Recalibrated};

    /// Jumps and atoms wherever they may be: at the median, beside it, at each other, at the ends. 1e-12 is what is promised.
    #[test]
    fn jumps_and_atoms_are_counted() {
        let levels = [-2.0, -1.0, -0.5, 0.25, 0.5, 1.0, 2.5];
        let rising = [0.02, 0.15, 0.3, 0.6, 0.7, 0.85, 0.99];
        let jumps = [
            rising,
            [0.02, 0.15, 0.3, 0.3, 0.7, 0.85, 0.99],
            [0.02, 0.15, 0.5, 0.5, 0.5, 0.85, 0.99],
            [0.02, 0.15, 0.45, 0.5, 0.5, 0.85, 0.99],
            [0.02, 0.15, 0.5, 0.5, 0.52, 0.85, 0.99],
            [0.1, 0.1, 0.1, 0.4, 0.9, 0.9, 0.9],
            [0.1, 0.1, 0.1, 0.1, 0.9, 0.9, 0.9],
        ];
        let knot = |k: u32| 0.2 * (f64::from(k) - 13.0);
        let pooled: [&dyn Fn(u32) -> f64; 6] = [
            &knot,
            &|k| if (10..17).contains(&k) { 0.0 } else { knot(k) },
            &|k| if (10..13).contains(&k) { 0.0 } else { knot(k) },
            &|k| if (14..20).contains(&k) { 0.1 } else { knot(k) },
            &|k| if k < 13 { -0.1 } else { 0.1 },
            &|k| if k < 20 { 0.0 } else { 0.3 },
        ];
        let guards = pooled.map(|knot| Some((0..27).map(knot).collect::<Vec<f64>>()));
        for announced in &jumps {
            for guard in guards.iter().chain([&None]) {
                let mut guard = guard.clone();
                guard.iter_mut().for_each(|knots| knots.sort_by(f64::total_cmp));
                let map: Map = serde_json::from_value(serde_json::json!({
                    "levels": levels, "shape": "probit", "announced": announced, "guard": guard
                }))
                .unwrap();
                let got = evaluate(&map).expect("nothing is too steep here");
                let curve = Recalibrated::new(Gaussian::new(0.0, 1.0).unwrap(), &map).curve().unwrap();
                let want = curve.moments();
                let close = (got.mean - want.mean).abs() <= 1e-12 * want.std()
                    && (got.variance / want.variance - 1.0).abs() <= 1e-12;
                assert!(close, "{got:?} {want:?}: {announced:?} {guard:?}");
            }
        }
    }

    /// A rise by almost nothing is too steep, and one level too many is too many.
    #[test]
    fn what_bends_do_not_give_is_left_to_others() {
        let steep = serde_json::json!({
            "levels": [-1.0, 0.0, 1.0], "shape": "probit", "announced": [0.2, 0.2 + 1e-9, 0.8], "guard": null
        });
        assert_eq!(evaluate(&serde_json::from_value(steep).unwrap()), None);
        let many: Vec<f64> = (0..=ROOM).map(|j| f64::from(j as u32) - 14.0).collect();
        let announced: Vec<f64> = many.iter().map(|&z| crate::normal::cdf(z)).collect();
        let many = serde_json::json!({
            "levels": many, "shape": "probit", "announced": announced, "guard": null
        });
        assert_eq!(evaluate(&serde_json::from_value(many).unwrap()), None);
    }
}
