//! Two rivals against `golden/rivals.py`, forecast by forecast.

// Helpers of tests: what is broken must stop the test that met it.
#![allow(clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use truecast::recalibrate::rival::{
    ByResidual, Emos, EmosOptions, QuantileRegression, QuantileRegressionOptions, ResidualRule,
};
use truecast::{Forecast, Gaussian, Recalibrator};
use truecast_testkit::golden;

#[derive(Deserialize)]
struct File {
    window: usize,
    rate: f64,
    half_life: f64,
    probabilities: Vec<f64>,
    streams: BTreeMap<String, Stream>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Stream {
    location: Vec<f64>,
    scale: Vec<f64>,
    outcome: Vec<f64>,
}

#[derive(Deserialize)]
struct Case {
    method: String,
    stream: String,
    steps: Vec<usize>,
    announced: Vec<Vec<f64>>,
}

fn check<R: ResidualRule>(file: &File, case: &Case, options: R::Options, tolerance: f64) {
    let mut recalibrator = ByResidual::<R>::new(options).expect("options");
    let Stream { location, scale, outcome } = &file.streams[&case.stream];
    let mut wanted = case.steps.iter().zip(&case.announced).peekable();
    for t in 0..outcome.len() {
        let forecast = Gaussian::new(location[t], scale[t]).expect("valid");
        if let Some((_, announced)) = wanted.next_if(|(step, _)| **step == t) {
            let calibrated = recalibrator.recalibrate(forecast).expect("valid");
            for (&p, want) in file.probabilities.iter().zip(announced) {
                let got = calibrated.quantile(p);
                let close = (got - want).abs() <= tolerance * scale[t];
                assert!(close, "{} on {}, step {t}, at {p}: {got}, not {want}", case.method, case.stream);
            }
        }
        recalibrator.observe(&forecast, outcome[t]).expect("finite");
    }
    assert_eq!(wanted.next(), None);
}

/// The regression to 1e-3 scales: a fit ends when a step promises less than 1e-10 mean scales over a window of 12 to 40, each with
/// a curvature of 1/√π or half of it, so it is within √(1e-10/(12 · 0.28)) = 5e-6 standard errors' worth in each coefficient, times features up to
/// ten and quantiles up to two, and the reference's derivatives are good to 1e-5. The gradient steps to 1e-9: rounded sums over 160 steps differ by 1e-14,
/// and nothing amplifies that.
#[test]
fn announced_quantiles_are_the_references() {
    let file: File = golden::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/rivals.json"));
    assert_eq!(file.cases.len(), 4);
    for case in &file.cases {
        match case.method.as_str() {
            "emos" => check::<Emos>(&file, case, EmosOptions { window: file.window }, 1e-3),
            "quantile-regression" => {
                let options = QuantileRegressionOptions { rate: file.rate, half_life: Some(file.half_life) };
                check::<QuantileRegression>(&file, case, options, 1e-9);
            }
            other => panic!("unknown method {other}"),
        }
    }
}
