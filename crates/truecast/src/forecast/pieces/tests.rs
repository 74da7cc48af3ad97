//! Sums over pieces against the same integrals of the curve that [`Forecast::curve`] makes, knot by knot with scalar functions.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::forecast::{
    AnyForecast, Forecast, Gaussian, Moments, ProbitCurve, Quantiles, Recalibrated, Samples,
};
use crate::recalibrate::{Curve, Map};
use crate::{Error, normal};

/// ∫ (F − 1{y ≤ x})² dx by differences of ∫ Φ², and by Gauss-Legendre where they cancel.
fn crps(curve: &ProbitCurve, y: f64) -> f64 {
    let (first, last) = (curve.knots()[0], curve.knots()[curve.knots().len() - 1]);
    let mut points: Vec<(f64, f64, f64)> = Vec::new(); // outcome, limits from the left and from the right
    points.extend(curve.knots().iter().map(|knot| (knot.y, knot.z, knot.z)));
    if !points.iter().any(|point| point.0 == y) {
        points.push((y, curve.probit_left(y), curve.probit(y)));
    }
    points.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let mut score = 0.0;
    let (low, high) = (points[0], points[points.len() - 1]);
    if curve.lower_spread() > 0.0 {
        score += curve.lower_spread() * normal::integral_of_squared_cdf(low.1);
    }
    if curve.upper_spread() > 0.0 {
        score += curve.upper_spread() * normal::integral_of_squared_cdf(-high.2);
    }
    for pair in points.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        score +=
            if a.0 < first.y && curve.lower_spread() == 0.0 || b.0 > last.y && curve.upper_spread() == 0.0 {
                b.0 - a.0 // the CDF is 0 or 1 there, and the outcome is on the other side
            } else if b.0 <= y {
                squared_cdf(b.0 - a.0, a.2, b.1)
            } else {
                squared_cdf(b.0 - a.0, -b.1, -a.2)
            };
    }
    score
}

fn squared_cdf(length: f64, from: f64, to: f64) -> f64 {
    let rise = to - from;
    if length <= 0.0 {
        0.0
    } else if rise > 0.05 {
        length * (normal::integral_of_squared_cdf(to) - normal::integral_of_squared_cdf(from)) / rise
    } else {
        length * gauss(|x| normal::cdf(from + rise * x).powi(2))
    }
}

/// ∫ from 0 to 1 by five points.
fn gauss(f: impl Fn(f64) -> f64) -> f64 {
    let points = [
        (0.0, 0.568_888_888_888_888_9),
        (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
        (0.906_179_845_938_664, 0.236_926_885_056_189_1),
    ];
    let both = |x: f64| f(0.5 + 0.5 * x) + f(0.5 - 0.5 * x);
    points.iter().map(|&(x, weight)| 0.5 * weight * if x == 0.0 { f(0.5) } else { both(x) }).sum()
}

/// Mean and variance by Gauss-Legendre on pieces no longer than 0.25, around the median: no difference cancels.
fn moments(curve: &ProbitCurve) -> Moments {
    let median = curve.at_probit(0.0);
    let mut scores: Vec<f64> = curve.knots().iter().map(|knot| knot.z).filter(|z| z.abs() < 38.0).collect();
    scores.extend((-152..=152).map(|k| f64::from(k) / 4.0));
    scores.sort_by(f64::total_cmp);
    scores.dedup();
    let (mut shift, mut square) = (0.0, 0.0);
    for pair in scores.windows(2) {
        let (a, h) = (pair[0], pair[1] - pair[0]);
        // The curve within the piece, from its middle: a jump of y at either end belongs to another term.
        let (low, high) = (curve.at_probit(a + h / 4.0), curve.at_probit(a + 0.75 * h));
        let at = |x: f64| low + (high - low) * 2.0 * (x - 0.25) - median;
        let density = |x: f64| h * normal::density(a + h * x);
        shift += gauss(|x| at(x) * density(x));
        square += gauss(|x| at(x) * at(x) * density(x));
    }
    Moments { mean: median + shift, variance: square - shift * shift }
}

/// Steps, and curves that bend, jump (two knots at one place) and have gaps (two at one score), near and far.
fn arbitrary_map() -> impl Strategy<Value = Map> {
    let probability = prop_oneof![
        6 => 0.0..1.0_f64,
        2 => (0..=8).prop_map(|k| f64::from(k) / 8.0),
        1 => Just(1e-12),
        1 => Just(1.0 - 1e-9),
    ];
    let steps = (2..40_usize).prop_flat_map(move |count| {
        let parts =
            (prop::collection::vec(0.01..0.5_f64, count), prop::collection::vec(probability.clone(), count));
        parts.prop_map(|(gaps, mut announced)| {
            announced.sort_by(f64::total_cmp);
            let steps = serde_json::json!({ "levels": running(&gaps), "announced": announced });
            map(&serde_json::to_value(Curve::default()).unwrap(), &steps)
        })
    });
    let gap = || prop_oneof![6 => 0.01..0.5_f64, 1 => Just(0.0), 1 => Just(0.5)];
    let far = prop_oneof![6 => Just(1.0), 1 => Just(20.0)];
    // More than one block of knots as well.
    let count = prop_oneof![4 => 1..40_usize, 1 => 60..140_usize];
    let curves = (count, far).prop_flat_map(move |(count, far)| {
        let parts = (
            prop::collection::vec(gap(), count),
            prop::collection::vec(gap(), count),
            (-2.0..2.0_f64, 0.02..50.0_f64, 0.02..50.0_f64),
        );
        parts.prop_map(move |(z, t, (shift, left, right))| {
            let z: Vec<f64> = running(&z).iter().map(|z| z * far).collect();
            let t: Vec<f64> = running(&t).iter().map(|t| t + shift).collect();
            map(
                &serde_json::json!({ "z": z, "t": t, "left": left, "right": right }),
                &serde_json::Value::Null,
            )
        })
    });
    prop_oneof![1 => steps, 4 => curves]
}

/// Running sums, around 0.
fn running(gaps: &[f64]) -> Vec<f64> {
    let mut at = -0.5 * gaps.iter().sum::<f64>();
    let next = |gap: &f64| {
        at += gap;
        at
    };
    gaps.iter().map(next).collect()
}

fn map(curve: &serde_json::Value, steps: &serde_json::Value) -> Map {
    serde_json::from_value(serde_json::json!({ "curve": curve, "steps": steps, "announced": null })).unwrap()
}

fn arbitrary_base() -> impl Strategy<Value = AnyForecast> {
    let value = prop_oneof![3 => -5.0..5.0_f64, 1 => (-3..=3).prop_map(f64::from)];
    let table = (prop::collection::vec(value.clone(), 2..24), 0..4_u8).prop_map(|(values, support)| {
        let step = 1.0 / (values.len() as f64 + 1.0);
        let probabilities: Vec<f64> = (1..=values.len()).map(|k| k as f64 * step).collect();
        let table = Quantiles::new(&probabilities, &values)?;
        let low = if support % 2 == 1 { -2.5 } else { f64::NEG_INFINITY };
        let high = if support > 1 { 2.5 } else { f64::INFINITY };
        Ok(table.with_support(low, high)?.into())
    });
    prop_oneof![
        (-3.0..3.0_f64, 0.01..5.0_f64).prop_map(|(mean, std)| Ok(Gaussian::new(mean, std)?.into())),
        table,
        prop::collection::vec(value, 1..90).prop_map(|values| Ok(Samples::new(&values)?.into())),
    ]
    .prop_map(|base: Result<AnyForecast, Error>| base.unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_500,
        rng_seed: RngSeed::Fixed(11),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// 1e-12 of the score and of the width of the middle: where all but a far tail is one atom, the tail's own digits are fewer.
    #[test]
    fn the_crps_is_that_of_the_curve(map in arbitrary_map(), base in arbitrary_base(), at in 0..8_usize, y in -8.0..8.0_f64) {
        let calibrated = Recalibrated::new(base, map);
        let curve = calibrated.curve().unwrap();
        // At a knot, or anywhere.
        let y = if at == 0 { curve.knots()[(y.abs() * 7.0) as usize % curve.knots().len()].y } else { y };
        let (got, want) = (calibrated.crps(y), crps(&curve, y));
        let size = want + curve.at_probit(1.0) - curve.at_probit(-1.0);
        prop_assert!((got - want).abs() <= 1e-12 * size, "{got:e} {want:e}: {:e} of {size:e}", (got - want) / size);
        let of_curve = curve.crps(y);
        prop_assert!((of_curve - want).abs() <= 1e-12 * size, "{of_curve:e} {want:e}");
    }

    /// The rule for short pieces once held up to h = 0.05, where its error in the variance is 2e-11. Now mean and variance are right to 2e-12
    /// of the standard deviation and its square, with a part of the place for atoms, whose deviation is nothing but rounding.
    #[test]
    fn the_moments_are_those_of_the_curve(map in arbitrary_map(), base in arbitrary_base()) {
        let calibrated = Recalibrated::new(base, map);
        let curve = calibrated.curve().unwrap();
        let (got, fast, want) = (calibrated.moments(), curve.moments(), moments(&curve));
        for got in [got, fast] {
            let size = want.std() + 1e-3 * (1.0 + want.mean.abs());
            prop_assert!((got.mean - want.mean).abs() <= 2e-12 * size, "{got:?} {fast:?} {want:?}");
            prop_assert!((got.variance - want.variance).abs() <= 2e-12 * size * size, "{got:?} {fast:?} {want:?}");
        }
    }

    /// The quantiles that share their work are those that do not.
    #[test]
    fn many_quantiles_are_single_ones(map in arbitrary_map(), mean in -3.0..3.0_f64, std in 0.01..5.0_f64) {
        let calibrated = Recalibrated::new(Gaussian::new(mean, std).unwrap(), map);
        let probits: Vec<f64> = (-30..=30).map(|k| 0.137 * f64::from(k)).collect();
        let mut many = vec![0.0; probits.len()];
        calibrated.at_probits(&probits, &mut many);
        for (&z, &got) in probits.iter().zip(&many) {
            let want = calibrated.at_probit(z);
            // An ulp of the score moves the quantile by the map's inverse slope, and past a flat part of the map: then both ends will do.
            let (below, above) = (calibrated.at_probit(z - 1e-12), calibrated.at_probit(z + 1e-12));
            let slack = 1e-11 * (1.0 + want.abs());
            prop_assert!(got >= below - slack && got <= above + slack, "{z}: {got} {want} {below} {above}");
        }
    }
}
