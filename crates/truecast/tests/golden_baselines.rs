//! The baselines against independent implementations in Python: `golden/{tophat,isotonic_regression,without_covariates}.py`.

// Helpers of tests: what is broken must stop the test that met it.
#![allow(clippy::expect_used, clippy::panic)]

use std::path::Path;

use serde_json::Value;
use truecast::grid::Levels;
use truecast::recalibrate::{
    IsotonicRegression, IsotonicRegressionParameters, Tophat, WithoutCovariates, WithoutCovariatesParameters,
};
use truecast::subroutine::Approachability;
use truecast::{Forecast, Recalibrator, recalibrate::Groups};
use truecast_testkit::golden;

fn cases(name: &str) -> (Vec<usize>, Vec<Value>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let file: Value = golden::load(&path);
    (golden::decode(&file, "/checkpoints"), golden::decode(&file, "/cases"))
}

/// Settles the scores and compares what is announced after each number of steps in `checkpoints`.
fn follows(
    name: &str,
    mut recalibrator: impl Recalibrator,
    scores: &[f64],
    checkpoints: &[usize],
    want: &[Vec<f64>],
) {
    let mut plan = recalibrator.empty_plan();
    let mut want = want.iter();
    let forecast = truecast::Gaussian::new(0.0, 1.0).expect("is valid");
    recalibrator.plan(&forecast, Groups::NONE, 0, &mut plan).expect("is valid");
    for (t, z) in scores.iter().enumerate() {
        recalibrator.learn(&plan, *z).expect("is a score");
        recalibrator.plan(&forecast, Groups::NONE, t as u64 + 1, &mut plan).expect("is valid");
        if checkpoints.contains(&(t + 1)) {
            let want = want.next().expect("one list per checkpoint");
            golden::assert_all_close(&format!("{name} after {}", t + 1), plan.said(), want, 1e-9, 1e-12);
        }
    }
    assert_eq!(want.next(), None);
}

#[test]
fn tophat() {
    let (checkpoints, cases) = cases("tophat.json");
    for case in &cases {
        let cells: usize = golden::decode(case, "/cells");
        let want: Vec<Vec<f64>> = golden::decode(case, "/announced");
        let recalibrator = Tophat::new(cells, 0).expect("is valid");
        let scores = golden::numbers(case, "/scores");
        follows(&format!("tophat({cells})"), recalibrator, &scores, &checkpoints, &want);
    }
}

#[test]
fn isotonic_regression() {
    let (checkpoints, cases) = cases("isotonic_regression.json");
    for case in &cases {
        let parameters = IsotonicRegressionParameters {
            levels: Levels::new(golden::numbers(case, "/levels")).expect("are valid"),
            bins: golden::decode(case, "/bins"),
            half_life: golden::decode(case, "/half_life"),
            seed: 0,
        };
        let want: Vec<Vec<f64>> = golden::decode(case, "/fits");
        let recalibrator = IsotonicRegression::new(parameters).expect("is valid");
        let scores = golden::numbers(case, "/scores");
        follows("isotonic", recalibrator, &scores, &checkpoints, &want);
    }
}

#[test]
fn without_covariates() {
    let (checkpoints, cases) = cases("without_covariates.json");
    for case in &cases {
        let parameters = WithoutCovariatesParameters {
            bound: golden::number(case, "/bound"),
            intervals: golden::decode(case, "/intervals"),
            resolution: golden::decode(case, "/resolution"),
            randomised: golden::decode(case, "/randomised"),
            seed: golden::decode(case, "/seed"),
        };
        let mut forecaster =
            WithoutCovariates::<Approachability>::new(parameters, Default::default()).expect("is valid");
        let want: Vec<Vec<f64>> = golden::decode(case, "/forecasts");
        let mut want = want.iter();
        for (t, y) in golden::numbers(case, "/outcomes").iter().enumerate() {
            if checkpoints.contains(&t) {
                let forecast = forecaster.forecast().expect("is valid");
                let got: Vec<f64> = forecaster.thresholds().iter().map(|y| forecast.cdf(*y)).collect();
                let want = want.next().expect("one list per checkpoint");
                golden::assert_all_close(&format!("forecast {t}"), &got, want, 1e-9, 1e-12);
            }
            forecaster.observe(*y).expect("within the bound");
        }
        let errors: Vec<f64> = (0..).map_while(|j| forecaster.calibration_error(j)).collect();
        golden::assert_all_close("errors", &errors, &golden::numbers(case, "/errors"), 1e-9, 1e-12);
    }
}
