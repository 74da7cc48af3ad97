//! Mean and variance over a normal base, from the bends of the map's inverse.
//!
//! With e = dz/dr of R_t's inverse, and B and C the integrals of the tail probability through the guard (see
//! [`bends`](crate::recalibrate::bends)), the integrals around the median c are sums over the levels:
//!
//! ```text
//! E Y − c       = Σ B (e⁺ − e⁻)                                  + e ΔB at the median   + Σ rise T₁
//! ½ E (Y − c)²  = Σ (e⁺ − e⁻) ((z − c) B + C (e⁺ + e⁻))          + e² ΔC there          + Σ rise ((z − c) T₁ − rise T₂)
//! ```
//!
//! The last sums are over jumps, and over cells so short that they count as such. T₁ and T₂ are the means of τ and u τ, τ(x) = Φ(−x) above the
//! median and −Φ(x) below, along the cell of run h below its level's score x, u running from 0 there to 1. By Taylor's formula, with Hermite's
//! polynomials,
//!
//! ```text
//! T₁ = τ + φ Σ Heₙ₋₁(x) hⁿ / (n! (n + 1)),      T₂ = τ/2 + φ Σ Heₙ₋₁(x) hⁿ / (n! (n + 2)),      n = 1 … 7
//! ```
//!
//! which leaves less than 1e-16 for h < 0.03. Of the other cells those that are steep have terms that grow like the square of e, and cancel. B
//! and C are right to a rounding of γ φ and γ² φ and of what they have beside these, so such roundings are added up too: where they come to much
//! more than the variance, nothing is given, and the caller adds up piece by piece. Mostly that is so where a level rises by almost nothing and the
//! guard bends there.
//!
//! The terms of a level are the same whether one forecast is read, eight levels at a time, or eight forecasts, level by level; and so is the order in which they
//! are added up, and every bit of the sums. Eight at a time cost less than half.
//!
//! Cost: Φ and φ once per level, no allocation. Relative error about 1e-12.

use fearless_simd::{Level, Simd, dispatch, f64x4, f64x8, mask64x8, prelude::*};

use super::Moments;
use crate::grid::cells::{Cells, ROW};
use crate::lanes::{Eight, Number, across, eights, wide};
use crate::normal::eight;
use crate::recalibrate::Map;
use crate::recalibrate::bends::{Guarded, alone, serve, together};

/// So many times the variance the terms that round may come to. Φ, φ and what follows from them are out by up to nine roundings of 1.1e-16: the
/// variance is then right to 1e-12.
const CANCELLING: f64 = 1000.0;

/// The moments of a map over the standard normal distribution; `None` where its bends do not give them.
pub(crate) fn evaluate(map: &Map) -> Option<Moments> {
    let cells = serve(map)?;
    dispatch!(Level::new(), simd => evaluate_alone(simd, map, cells))
}

/// The same for eight maps with the same levels, which their bends [`serve`].
pub(crate) fn evaluate_together(
    maps: [&Map; 8],
    cells: &Cells,
    room: &mut together::Bends,
) -> [Option<Moments>; 8] {
    dispatch!(Level::new(), simd => evaluate_eight(simd, maps, cells, room))
}

#[inline(always)]
fn evaluate_alone<S: Simd>(simd: S, map: &Map, cells: &Cells) -> Option<Moments> {
    const ROWS: usize = ROW / 8;
    let mut bends = alone::Bends::empty();
    bends.fill(simd, map, cells);
    let mut calibrated = [f64x8::splat(simd, 0.0); ROWS];
    for i in 0..ROWS {
        calibrated[i] = bends.guarded(simd, i).calibrated;
    }
    let [tails, densities] = eight::tails_and_densities(simd, calibrated);
    let e = bends.median_slope;
    let mut beside = [e * bends.across_median[0], e * e * bends.across_median[1]];
    let mut sums = [f64x4::splat(simd, 0.0); 3];
    for i in 0..ROWS {
        let level = LevelTerms {
            guarded: bends.guarded(simd, i),
            slopes: bends.slopes(simd, i),
            distance: wide(simd, eights(&cells.levels)[i]) - bends.median,
            is_below: bends.scores(simd, i).simd_lt(bends.median_score),
            tail: tails[i],
            density: densities[i],
        };
        for (sum, terms) in sums.iter_mut().zip(level.terms()) {
            let (low, high) = terms.split();
            *sum = *sum + low + high;
        }
        let rise = level.jump(wide(simd, eights(&cells.rises)[i]));
        if rise.simd_gt(0.0).any_true() {
            let [shifts, squares]: [Eight; 2] = level.jump_terms(rise).map(|terms| terms.into());
            for l in 0..8 {
                beside = [beside[0] + shifts[l], beside[1] + squares[l]];
            }
        }
    }
    let [shift, square, rounding] = sums.map(|sum| across(sum.into()));
    let shift = shift + beside[0];
    let variance = (square + beside[1]) * 2.0 - shift * shift;
    (rounding <= CANCELLING * variance).then_some(Moments { mean: bends.median + shift, variance })
}

#[inline(always)]
fn evaluate_eight<S: Simd>(
    simd: S,
    maps: [&Map; 8],
    cells: &Cells,
    bends: &mut together::Bends,
) -> [Option<Moments>; 8] {
    const AT_ONCE: usize = together::AT_ONCE;
    bends.fill(simd, maps, cells);
    let zero = f64x8::splat(simd, 0.0);
    let median = wide(simd, bends.median);
    let e = wide(simd, bends.median_slope);
    let [area, moment] = bends.across_median(simd);
    let mut beside = [e * area, e * e * moment];
    let mut sums = [[zero; AT_ONCE]; 3];
    for first in (0..maps[0].levels().count()).step_by(AT_ONCE) {
        let mut calibrated = [zero; AT_ONCE];
        for i in 0..AT_ONCE {
            calibrated[i] = bends.guarded(simd, first + i).calibrated;
        }
        let [tails, densities] = eight::tails_and_densities(simd, calibrated);
        for i in 0..AT_ONCE {
            let j = first + i;
            let level = LevelTerms {
                guarded: bends.guarded(simd, j),
                slopes: bends.slopes(simd, j),
                distance: f64x8::splat(simd, cells.levels[j]) - median,
                is_below: bends.scores(simd, j).simd_lt(wide(simd, bends.median_score)),
                tail: tails[i],
                density: densities[i],
            };
            for (sum, terms) in sums.iter_mut().zip(level.terms()) {
                sum[i] += terms;
            }
            let rise = level.jump(f64x8::splat(simd, cells.rises[j]));
            if rise.simd_gt(0.0).any_true() {
                let [shift, square] = level.jump_terms(rise);
                beside = [beside[0] + shift, beside[1] + square];
            }
        }
    }
    // As `across` has it.
    let [shift, square, rounding] = sums.map(|sum| (sum[0] + sum[2]) + (sum[1] + sum[3]));
    let shift = shift + beside[0];
    let variance = (square + beside[1]) * 2.0 - shift * shift;
    let is_right = rounding.simd_le(variance * CANCELLING).to_bitmask();
    let [mean, variance]: [Eight; 2] = [(median + shift).into(), variance.into()];
    let mut found = [None; 8];
    for s in 0..8 {
        found[s] = (is_right >> s & 1 == 1).then_some(Moments { mean: mean[s], variance: variance[s] });
    }
    found
}

/// What levels add up from, one to a lane.
#[derive(Clone, Copy)]
struct LevelTerms<S: Simd> {
    guarded: Guarded<S>,
    /// e below and above.
    slopes: [f64x8<S>; 2],
    /// From the calibrated median, in the base's score.
    distance: f64x8<S>,
    /// Below the calibrated median, to the other side of which x may round.
    is_below: mask64x8<S>,
    /// Φ(−|x|) and φ(x).
    tail: f64x8<S>,
    density: f64x8<S>,
}

impl<S: Simd> LevelTerms<S> {
    /// What levels add to E Y − c, to half of E (Y − c)², and to the roundings in the latter.
    #[inline(always)]
    fn terms(&self) -> [f64x8<S>; 3] {
        let LevelTerms { guarded, slopes: [e_below, e_above], distance, is_below, tail, density } = *self;
        let (x, gamma) = (guarded.calibrated.abs(), guarded.slope);
        let area = density - x * tail;
        let moment = (tail - x * area) * 0.5;
        let moment = is_below.select(-moment, moment);
        let b = gamma * area + guarded.area;
        let c = gamma * gamma * moment + guarded.moment;
        let (change, both) = (e_above - e_below, e_above + e_below);
        let size = gamma * density;
        let (b_size, c_size) = (size + guarded.area.abs(), gamma * size + guarded.moment.abs());
        [
            change * b,
            change * (distance * b + both * c),
            change.abs() * (distance.abs() * b_size + both * c_size),
        ]
    }

    /// How far the base score jumps below levels that rise by so much; 0 where it does not.
    #[inline(always)]
    fn jump(&self, rise: f64x8<S>) -> f64x8<S> {
        self.guarded.is_jump().select(rise, rise.everywhere(0.0))
    }

    /// What jumps add to E Y − c and to half of E (Y − c)².
    #[inline(always)]
    fn jump_terms(&self, rise: f64x8<S>) -> [f64x8<S>; 2] {
        /// 1/n!.
        const PER_FACTORIAL: [f64; 8] =
            [1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0];
        let Guarded { calibrated: x, run, .. } = self.guarded;
        let tail = self.is_below.select(-self.tail, self.tail);
        let (mut mean, mut moment) = (tail, tail * 0.5);
        let (mut before, mut hermite, mut power) = (x.everywhere(0.0), x.everywhere(1.0), self.density);
        for n in 1..8 {
            power *= run;
            let term = power * hermite;
            mean += term * (PER_FACTORIAL[n] / (n + 1) as f64);
            moment += term * (PER_FACTORIAL[n] / (n + 2) as f64);
            (before, hermite) = (hermite, x * hermite - before * (n - 1) as f64);
        }
        [rise * mean, rise * (self.distance * mean - rise * moment)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::moments::Accumulator;
    use crate::forecast::pieces::Pieces;
    use crate::forecast::{Forecast, Recalibrated};
    use crate::grid::cells::ROOM;
    use crate::recalibrate::Knots;
    use crate::recalibrate::Walk;
    use crate::{Gaussian, random};

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
        let mut left = 0;
        for announced in &jumps {
            for guard in guards.iter().chain([&None]) {
                let mut guard = guard.clone();
                guard.iter_mut().for_each(|knots| knots.sort_by(f64::total_cmp));
                let map: Map = serde_json::from_value(serde_json::json!({
                    "levels": levels, "shape": "probit", "announced": announced, "guard": guard
                }))
                .unwrap();
                let Some(got) = evaluate(&map) else {
                    left += 1;
                    continue;
                };
                let curve = Recalibrated::new(Gaussian::new(0.0, 1.0).unwrap(), &map).curve().unwrap();
                let want = curve.moments();
                let close = (got.mean - want.mean).abs() <= 1e-12 * want.std()
                    && (got.variance / want.variance - 1.0).abs() <= 1e-12;
                assert!(close, "{got:?} {want:?}: {announced:?} {guard:?}");
            }
        }
        assert!(left <= 1, "hardly anything is too steep here: {left}");
    }

    /// Whatever they rise by, from nothing to much: what is given is right. Few maps are left to others, those in which a guarded quantile lies
    /// in a cell that rises by almost nothing.
    #[test]
    fn steep_cells_are_exact_or_left_to_others() {
        let levels: Vec<f64> = (0..25).map(|j| 0.3 * (f64::from(j) - 12.0)).collect();
        let (mut given, mut steep) = (0, 0);
        for seed in 0..3000 {
            let draw = |lane: u32| random::uniform(31, seed, lane);
            // Nothing at all, or from 1e-12 to 1.
            let rise = |j: u32| if draw(j) < 0.05 { 0.0 } else { 10_f64.powf(-12.0 * draw(100 + j).powi(2)) };
            let mut announced: Vec<f64> = (0..25)
                .scan(0.2 * draw(200), |sum, j| {
                    *sum += rise(j);
                    Some(*sum)
                })
                .collect();
            let whole = announced[24] + 0.2 * draw(201);
            announced.iter_mut().for_each(|p| *p /= whole);
            let mut knots: Vec<f64> = Knots::default().probits().to_vec();
            knots.iter_mut().zip(300..).for_each(|(knot, lane)| *knot += 0.6 * draw(lane) - 0.3);
            knots.sort_by(f64::total_cmp);
            let guard = (seed % 3 > 0).then_some(knots);
            let map: Map = serde_json::from_value(serde_json::json!({
                "levels": levels, "shape": "probit", "announced": announced, "guard": guard
            }))
            .unwrap();
            let is_steep = |pair: &[f64]| pair[0] < pair[1] && pair[1] - pair[0] < 1e-4;
            let Some(got) = evaluate(&map) else { continue };
            given += 1;
            steep += usize::from(announced.windows(2).any(is_steep));
            let want = by_pieces(&map);
            let close = (got.mean - want.mean).abs() <= 1e-12 * want.std()
                && (got.variance / want.variance - 1.0).abs() <= 1e-12;
            assert!(close, "{seed}: {got:?} {want:?}");
        }
        assert!(given > 2000 && steep > 1500, "{given} {steep}");
    }

    /// The moments by the general method.
    fn by_pieces(map: &Map) -> Moments {
        let walk = Walk::new(map).unwrap();
        let median = walk.invert(0.0);
        let mut pieces = Pieces::new(Accumulator::new(median, walk.lower_spread()));
        walk.for_each(|z, t| pieces.push(z, t));
        Accumulator::finish(&mut pieces, median, walk.upper_spread())
    }

    /// A level and a guarded quantile that seven digits do not tell apart, on either side and together.
    #[test]
    fn what_lies_close_together_is_kept_apart() {
        let levels = [-1.5, -0.5, 0.0, 0.8, 1.4];
        for shift in [-1e-9, -1e-15, 0.0, 1e-15, 1e-9] {
            let announced: Vec<f64> = [0.05, 0.2, 0.5, 0.75, 0.9].map(|p| p + shift).to_vec();
            let map: Map = serde_json::from_value(serde_json::json!({
                "levels": levels, "shape": "probit", "announced": announced, "guard": Knots::default()
            }))
            .unwrap();
            let (got, want) = (evaluate(&map).unwrap(), by_pieces(&map));
            assert!((got.mean - want.mean).abs() <= 1e-14, "{shift}: {got:?} {want:?}");
            assert!((got.variance / want.variance - 1.0).abs() <= 1e-14, "{shift}: {got:?} {want:?}");
        }
    }

    /// A rise by almost nothing across a guarded quantile is too steep, and one level too many is too many.
    #[test]
    fn what_bends_do_not_give_is_left_to_others() {
        let steep = serde_json::json!({
            "levels": [-1.0, 0.0, 1.0], "shape": "probit", "announced": [0.2 - 1e-9, 0.2 + 1e-9, 0.8], "guard": null
        });
        assert_eq!(evaluate(&serde_json::from_value(steep).unwrap()), None);
        let many: Vec<f64> = (0..=ROOM).map(|j| 0.5 * (f64::from(j as u32) - 15.0)).collect();
        let announced: Vec<f64> = many.iter().map(|&z| crate::normal::cdf(z)).collect();
        let map = |count: usize| -> Map {
            serde_json::from_value(serde_json::json!({
                "levels": many[..count], "shape": "probit", "announced": announced[..count], "guard": null
            }))
            .unwrap()
        };
        assert!(evaluate(&map(ROOM)).is_some());
        assert_eq!(evaluate(&map(ROOM + 1)), None);
    }
}
