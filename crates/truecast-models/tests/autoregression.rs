//! Online autoregression against weighted normal equations in 50 digits (`golden/autoregression.py`), and by its own laws.

// Helpers of tests: what is broken must stop the test that met it.
#![allow(clippy::expect_used, clippy::panic)]

use std::path::Path;

use proptest::prelude::*;
use serde::Deserialize;
use truecast_models::{Autoregression, AutoregressionParameters, Error, Model};
use truecast_testkit::golden::{self, assert_close};

#[derive(Deserialize)]
struct Case {
    lags: usize,
    half_life: Option<f64>,
    ridge: f64,
    outcomes: Vec<f64>,
    checkpoints: Vec<usize>,
    forecasts: Vec<[f64; 3]>,
}

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

fn cases() -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/autoregression.json");
    golden::load::<Cases>(&path).cases
}

fn model(lags: usize, half_life: Option<f64>, ridge: f64) -> Autoregression {
    let parameters = AutoregressionParameters::builder().lags(lags).half_life(half_life).ridge(ridge).build();
    Autoregression::new(parameters.expect("is valid"))
}

/// Outcomes of 1e3 ± 1e-5 keep eight digits of their differences; elsewhere rounding is far below.
#[test]
fn forecasts_as_by_normal_equations() {
    for case in cases() {
        let mut model = model(case.lags, case.half_life, case.ridge);
        let mut want = case.checkpoints.iter().zip(&case.forecasts);
        let mut next = want.next();
        for (t, y) in case.outcomes.iter().enumerate() {
            model.learn(*y).expect("is finite");
            let Some((&checkpoint, [dof, location, scale])) = next else { break };
            if checkpoint == t + 1 {
                let got = model.predict().expect("has outcomes");
                let name = format!("AR({}) {:?} after {checkpoint}", case.lags, case.half_life);
                assert_close(&format!("{name}: dof"), got.dof(), *dof, 1e-12, 0.0);
                assert_close(&format!("{name}: location"), got.location(), *location, 1e-12, 1e-7 * scale);
                assert_close(&format!("{name}: scale"), got.scale(), *scale, 1e-7, 0.0);
                next = want.next();
            }
        }
        assert_eq!(next, None);
    }
}

#[test]
fn the_start_is_wide_and_the_first_outcome_is_refused() {
    let mut model = model(3, None, 1e-6);
    assert_eq!(model.predict(), Err(Error::NotEnoughOutcomes { least: 2, found: 0 }));
    model.learn(1.0).expect("is finite");
    assert_eq!(model.predict(), Err(Error::NotEnoughOutcomes { least: 2, found: 1 }));
    model.learn(3.0).expect("is finite");
    let forecast = model.predict().expect("two outcomes");
    // One degree of freedom, mean 2, s² = 2, scale s √1.5.
    assert_eq!((forecast.dof(), forecast.location()), (1.0, 2.0));
    assert_close("scale", forecast.scale(), 3.0_f64.sqrt(), 1e-15, 0.0);
}

/// A level that never changes, then a jump: the least scale, then a forecast that knows of the jump; never NaN.
#[test]
fn outcomes_that_do_not_vary() {
    for half_life in [None, Some(8.0)] {
        let mut model = model(2, half_life, 1e-6);
        for t in 0..5_000 {
            model.learn(if t < 4_000 { 7.0 } else { 8.0 }).expect("is finite");
            if t > 0 {
                let forecast = model.predict().expect("has outcomes");
                assert!(forecast.scale() >= 1e-9 && forecast.location().is_finite());
            }
        }
    }
}

#[test]
fn bad_values_are_named() {
    let rule = "long enough for lags + 5 effective rows, 1/(1 − 2^(−1/half_life))";
    assert_eq!(
        AutoregressionParameters::builder().lags(3).half_life(2.0).build(),
        Err(Error::Parameter { what: "the half-life", rule, value: 2.0 })
    );
    assert_eq!(AutoregressionParameters::builder().build(), Ok(AutoregressionParameters::default()));
    assert!(AutoregressionParameters::builder().lags(0).build().is_err());
    assert!(AutoregressionParameters::builder().ridge(0.0).build().is_err());
    assert!(AutoregressionParameters::builder().least_scale(f64::NAN).build().is_err());
    let mut model = model(1, None, 1e-6);
    assert_eq!(Model::learn(&mut model, &[1.0], 2.0), Err(Error::InputLength { expected: 0, found: 1 }));
    assert_eq!(model.learn(f64::INFINITY), Err(Error::Outcome { value: f64::INFINITY }));
    assert_eq!(model.count(), 0);
}

/// The true coefficients of a long stream, within five standard errors (√(1/4000)).
#[test]
fn coefficients_are_found() {
    let mut model = model(2, None, 1e-6);
    let (mut a, mut b) = (0.0, 0.0);
    for t in 0..4_000 {
        let noise = truecast::normal::quantile(0.5 * 2.0_f64.powi(-53) + truecast::random::uniform(5, t, 0));
        (a, b) = (1.0 + 0.6 * a - 0.3 * b + noise, a);
        model.learn(a).expect("is finite");
    }
    let w = model.coefficients().expect("has a regression");
    for (got, want) in w.iter().zip([1.0, 0.6, -0.3]) {
        assert!((got - want).abs() < 5.0 * 4_000.0_f64.sqrt().recip() * 1.5, "{w:?}");
    }
}

proptest! {
    /// Shifting and scaling the outcomes does the same to the forecasts.
    #[test]
    fn units_do_not_matter(
        outcomes in prop::collection::vec(-1.0..1.0_f64, 16..60), scale in 1e-3..1e3_f64, shift in -10.0..10.0_f64,
    ) {
        let (mut one, mut two) = (model(2, Some(10.0), 1e-3), model(2, Some(10.0), 1e-3));
        for y in &outcomes {
            one.learn(*y).unwrap();
            two.learn(shift + scale * y).unwrap();
        }
        let (one, two) = (one.predict().unwrap(), two.predict().unwrap());
        // Rounding of shift + scale·y, which at scale 1e-3 has lost four digits of the differences.
        prop_assert!((two.location() - shift - scale * one.location()).abs() < 1e-9 * scale * (1.0 + one.scale()));
        prop_assert!((two.scale() / scale / one.scale() - 1.0).abs() < 1e-7);
    }

    /// Saved and loaded at any step, the model goes on bit for bit.
    #[test]
    fn resume(outcomes in prop::collection::vec(-1e3..1e3_f64, 2..40), stop in 0..40_usize) {
        let mut model = model(3, Some(12.0), 1e-6);
        let mut resumed = model.clone();
        for (t, y) in outcomes.iter().enumerate() {
            model.learn(*y).unwrap();
            resumed.learn(*y).unwrap();
            if t == stop {
                resumed = serde_json::from_str(&serde_json::to_string(&resumed).unwrap()).unwrap();
            }
        }
        prop_assert_eq!(model, resumed);
    }
}
