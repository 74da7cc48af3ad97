//! Means and variances: golden values of every kind, and what has none.

use std::path::Path;

use serde_json::Value;
use truecast::forecast::{AnyForecast, Forecast, Gaussian, LogNormal, Mixture, StudentT};
use truecast::{Parameters, Pipeline, Recalibrator};
use truecast_testkit::golden;

/// 1e-12 of the standard deviation for the mean, 4e-12 for the variance: four times the error of a piece in `moments.rs`.
#[test]
fn golden_values_of_every_kind() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/moments.json");
    let file: Value = golden::load(&path);
    let rows = file["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 13);
    for row in rows {
        let forecast: AnyForecast = serde_json::from_value(row["forecast"].clone()).unwrap();
        let (mean, variance) = (golden::number(row, "/mean"), golden::number(row, "/variance"));
        let found = forecast.moments();
        let tolerance = 1e-12 * variance.sqrt() + 4e-16 * mean.abs();
        assert!((found.mean - mean).abs() <= tolerance, "{}: {found:?} {mean}", row["forecast"]);
        let relative = found.variance / variance - 1.0;
        assert!(relative.abs() <= 4e-12, "{}: {found:?} {variance} {relative:e}", row["forecast"]);
        assert_eq!((found.mean, found.variance), (forecast.mean(), forecast.variance()));
        assert!((forecast.std() - found.std()).abs() <= 4e-16 * found.std());
    }
}

/// Where a moment does not exist or leaves the range of `f64` there is a median, or an infinity, and no NaN.
#[test]
fn moments_that_do_not_exist_are_never_nan() {
    let t = |dof| StudentT::new(dof, 3.0, 2.0).unwrap();
    for dof in [0.5, 1.0, 1.5, 2.0] {
        let moments = t(dof).moments();
        assert_eq!((moments.mean, moments.variance, moments.std()), (3.0, f64::INFINITY, f64::INFINITY));
    }
    let huge = LogNormal::new(0.0, 60.0).unwrap();
    assert_eq!((huge.mean(), huge.variance()), (f64::INFINITY, f64::INFINITY));
    for part in [AnyForecast::from(t(1.0)), huge.into()] {
        let mixture = Mixture::new(&[1.0, 1.0], vec![Gaussian::new(0.0, 1.0).unwrap().into(), part]).unwrap();
        assert!(!mixture.mean().is_nan() && mixture.variance() == f64::INFINITY, "{mixture:?}");
    }
    let calibrated = Pipeline::default().recalibrate(t(1.0)).unwrap();
    assert_eq!(calibrated.variance(), f64::INFINITY);
    assert!((calibrated.mean() - 3.0).abs() < 1e-6);
}

/// Before the first outcome the continuous map is the identity; the paper's step function makes atoms of the base, and has their moments.
#[test]
fn the_identity_keeps_the_moments_and_steps_have_those_of_their_atoms() {
    let base = Gaussian::new(20.0, 2.5).unwrap();
    let calibrated = Pipeline::default().recalibrate(base).unwrap();
    assert!(
        (calibrated.mean() - 20.0).abs() < 1e-9 && (calibrated.std() - 2.5).abs() < 1e-9,
        "{calibrated:?}"
    );
    let paper = Pipeline::new(Parameters::paper(20).unwrap().build().unwrap());
    let steps = paper.recalibrate(base).unwrap();
    let curve = steps.curve().unwrap();
    assert_eq!(steps.moments(), curve.moments());
    // Atoms by hand: each jump of the step function, with the base's quantile where it jumps.
    let mut atoms = Vec::new();
    let mut below = 0.0;
    for knot in curve.knots() {
        let at = steps.cdf(knot.y + 1e-9); // past the rounding of the place of a jump
        if at > below {
            atoms.push((knot.y, at - below));
            below = at;
        }
    }
    let mean = atoms.iter().map(|(y, mass)| y * mass).sum::<f64>();
    let variance = atoms.iter().map(|(y, mass)| (y - mean).powi(2) * mass).sum::<f64>();
    assert!((steps.mean() - mean).abs() < 1e-12 * mean, "{} {mean}", steps.mean());
    assert!((steps.variance() - variance).abs() < 1e-12 * variance, "{} {variance}", steps.variance());
}
