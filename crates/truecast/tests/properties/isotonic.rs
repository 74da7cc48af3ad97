//! The projection, against its definition.

use proptest::prelude::*;
use truecast::recalibrate::isotonic_projection;

use super::streams::config;

/// max over a ≤ j of min over b ≥ j of the weighted mean of a…b (Barlow et al. 1972): isotonic regression by definition.
fn min_max(values: &[f64], weights: &[f64]) -> Vec<f64> {
    let mean = |a: usize, b: usize| {
        let weight: f64 = weights[a..=b].iter().sum();
        (a..=b).map(|i| values[i] * (weights[i] / weight)).sum::<f64>()
    };
    let least = |a: usize, j: usize| (j..values.len()).map(|b| mean(a, b)).fold(f64::INFINITY, f64::min);
    (0..values.len()).map(|j| (0..=j).map(|a| least(a, j)).fold(f64::NEG_INFINITY, f64::max)).collect()
}

proptest! {
    #![proptest_config(config(256))]

    /// Monotone, idempotent, the isotonic regression by its definition, and no further from any step vector than before.
    #[test]
    fn projection_is_isotonic_regression(
        pairs in prop::collection::vec((prop_oneof![4 => 0.0..1.0, 1 => Just(0.0), 1 => Just(1.0), 1 => Just(0.5)], -6.0..6.0), 1..40),
        even in any::<bool>(),
    ) {
        let values: Vec<f64> = pairs.iter().map(|(value, _)| *value).collect();
        let weights: Vec<f64> = pairs.iter().map(|(_, e)| if even { 1.0 } else { 10_f64.powf(*e) }).collect();
        let mut projected = values.clone();
        isotonic_projection(&mut projected, |j| weights[j]);
        prop_assert!(projected.windows(2).all(|pair| pair[0] <= pair[1]), "{projected:?}");
        let mut again = projected.clone();
        isotonic_projection(&mut again, |j| weights[j]);
        prop_assert_eq!(&again, &projected);
        for (got, want) in projected.iter().zip(min_max(&values, &weights)) {
            prop_assert!((got - want).abs() <= 1e-12, "{got}, by min-max {want}");
        }
        let total: f64 = weights.iter().sum();
        for step in 0..=values.len() {
            let loss = |p: &[f64]| -> f64 {
                (0..p.len()).map(|j| weights[j] * (p[j] - f64::from(u8::from(j >= step))).powi(2)).sum()
            };
            let (after, before) = (loss(&projected), loss(&values));
            prop_assert!(after <= before + 1e-12 * total, "the loss rose from {before} to {after}");
        }
    }
}
