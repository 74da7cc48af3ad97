//! Bayesian ridge regression against scikit-learn (`golden/bayesian_ridge.py`), and by its own laws.

// Helpers of tests: what is broken must stop the test that met it.
#![allow(clippy::expect_used, clippy::panic)]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use truecast_models::{BayesianRidge, BayesianRidgeParameters, Error, Stop};
use truecast_testkit::golden::{self, assert_all_close, assert_close};

type Table = (Vec<Vec<f64>>, Vec<f64>);

#[derive(Deserialize)]
struct Case {
    data: String,
    columns: usize,
    fitted: usize,
    tol: f64,
    max_iter: usize,
    iterations: usize,
    alpha: f64,
    lambda: f64,
    intercept: f64,
    coefficients: Vec<f64>,
    rows: Vec<usize>,
    mean: Vec<f64>,
    std: Vec<f64>,
}

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

fn cases() -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/bayesian_ridge.json");
    golden::load::<Cases>(&path).cases
}

/// The formula of the golden script.
fn synthetic(rows: usize, columns: usize) -> Table {
    let mut state: u64 = 20_240_229;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let scales = [0.1, 1.0, 10.0, 100.0, 1000.0];
    let (mut table, mut outcomes) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let mut x: Vec<f64> = (0..columns).map(|k| (draw() - 0.3) * scales[k % 5]).collect();
        x[2] = 7.0;
        x[4] = x[0] + x[1];
        let noise = draw() + draw() + draw() - 1.5;
        outcomes.push(3.0 + 2.0 * x[0] - 0.5 * x[1] + 0.01 * x[3] + noise);
        table.push(x);
    }
    (table, outcomes)
}

/// Where the UCI datasets are, if they are.
fn datasets() -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    place.is_dir().then_some(place)
}

fn read(place: &Path, name: &str) -> Table {
    let (file, separator, skip, columns, target) = match name {
        "aquatic" => ("qsar_aquatic_toxicity.csv", ';', 0, 8, 8),
        "fish" => ("qsar_fish_toxicity.csv", ';', 0, 6, 6),
        "energy-1" => ("ENB2012_data.csv", ',', 1, 8, 8),
        "energy-2" => ("ENB2012_data.csv", ',', 1, 8, 9),
        "facebook" => ("facebook_comment_volume_variant1_first10000.csv.gz", ',', 0, 53, 53),
        other => panic!("no dataset {other}"),
    };
    let bytes = fs::read(place.join(file)).expect("the dataset can be read");
    let mut text = String::new();
    if file.ends_with(".gz") {
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).expect("is gzip");
    } else {
        text = String::from_utf8(bytes).expect("is text");
    }
    let number = |cell: &str| cell.trim().parse::<f64>().expect("is a number");
    text.lines()
        .skip(skip)
        .map(|line| line.split(separator).map(number).collect::<Vec<f64>>())
        .map(|row| (row[..columns].to_vec(), row[target]))
        .unzip()
}

fn fitted(table: &Table, rows: usize, stop: Stop, most_iterations: usize) -> BayesianRidge {
    let parameters =
        BayesianRidgeParameters::builder().stop(stop).most_iterations(most_iterations).refit_every(None);
    let mut model =
        BayesianRidge::new(table.0[0].len(), parameters.build().expect("is valid")).expect("is valid");
    for (x, y) in table.0.iter().zip(&table.1).take(rows) {
        model.learn(x, *y).expect("is finite");
    }
    model.refit().expect("can be fitted");
    model
}

/// scikit-learn's singular values are good to ε times the largest, which leaves 1e-6 of the numbers below on the
/// widest scales here (page likes beside weekdays). A coefficient or mean that is a small difference of large terms
/// is compared on the scale of those.
fn check(case: &Case, table: &Table, stop: Stop) {
    let name = format!("{} {} {stop:?}", case.data, case.fitted);
    let model = fitted(table, case.fitted, stop, case.max_iter);
    let fit = model.fit().expect("was fitted");
    if stop == Stop::Change(1e-3) {
        assert_eq!(fit.iterations(), case.iterations, "{name}: iterations");
    }
    assert_close(&format!("{name}: alpha"), fit.noise_precision(), case.alpha, 1e-6, 0.0);
    assert_close(&format!("{name}: lambda"), fit.weight_precision(), case.lambda, 1e-6, 0.0);
    let largest = case.coefficients.iter().fold(0.0_f64, |most, w| most.max(w.abs()));
    assert_all_close(
        &format!("{name}: coefficients"),
        fit.coefficients(),
        &case.coefficients,
        1e-6,
        1e-6 * largest,
    );
    assert_close(&format!("{name}: intercept"), fit.intercept(), case.intercept, 1e-6, 1e-6);
    for (i, &row) in case.rows.iter().enumerate() {
        let forecast = model.predict(&table.0[row]).expect("was fitted");
        assert_close(
            &format!("{name}: mean at {row}"),
            forecast.mean(),
            case.mean[i],
            1e-6,
            1e-6 * case.std[i],
        );
        assert_close(&format!("{name}: std at {row}"), forecast.std(), case.std[i], 1e-6, 0.0);
    }
}

fn check_stops(case: &Case, table: &Table) {
    check(case, table, Stop::Change(case.tol));
    // Where the outcomes are all equal no weight ever moves: scikit-learn stops at the second iteration, whatever its
    // tolerance, and its precisions are not the fixed point.
    if case.tol < 1e-9 && case.iterations > 2 {
        check(case, table, Stop::FixedPoint);
    }
}

#[test]
fn synthetic_data_as_scikit_learn() {
    let mut count = 0;
    for case in cases().iter().filter(|case| case.data == "synthetic") {
        let table = synthetic(120, case.columns);
        check_stops(case, &table);
        count += 1;
    }
    assert!(count > 10);
}

/// Runs where the datasets lie beside the clone, at ../shared/data; they are not part of it.
#[test]
fn four_datasets_as_scikit_learn() {
    let Some(place) = datasets() else { return };
    let cases = cases();
    for name in ["aquatic", "fish", "energy-1", "energy-2", "facebook"] {
        let table = read(&place, name);
        for case in cases.iter().filter(|case| case.data == name) {
            check_stops(case, &table);
        }
    }
}

/// The posterior that followed the rows one by one is the one that a refit finds, at the same precisions.
#[test]
fn sequential_updates_are_the_posterior() {
    let table = synthetic(120, 7);
    let mut model = fitted(&table, 60, Stop::FixedPoint, 300);
    for (x, y) in table.0.iter().zip(&table.1).skip(60) {
        model.learn(x, *y).expect("is finite");
    }
    let fit = model.fit().expect("was fitted");
    let (alpha, lambda) = (fit.noise_precision(), fit.weight_precision());
    // A prior that is sure of the precisions makes the refit keep them.
    let sure = 1e15;
    let parameters = BayesianRidgeParameters::builder()
        .noise_prior(alpha * sure, sure)
        .weight_prior(lambda * sure, sure)
        .refit_every(None)
        .build()
        .expect("is valid");
    let mut whole = BayesianRidge::new(7, parameters).expect("is valid");
    for (x, y) in table.0.iter().zip(&table.1) {
        whole.learn(x, *y).expect("is finite");
    }
    whole.refit().expect("can be fitted");
    let again = whole.fit().expect("was fitted");
    // Shares of 120/1e15 of the data are left in the precisions; the rest is rounding.
    assert_close("alpha", again.noise_precision(), alpha, 1e-11, 0.0);
    assert_all_close("coefficients", fit.coefficients(), again.coefficients(), 1e-9, 1e-12);
    for x in &table.0 {
        let (one, two) = (model.predict(x).expect("fitted"), whole.predict(x).expect("fitted"));
        assert_close("mean", one.mean(), two.mean(), 1e-10, 1e-10);
        assert_close("std", one.std(), two.std(), 1e-10, 0.0);
    }
}

#[test]
fn a_saved_model_goes_on_bit_for_bit() {
    let table = synthetic(60, 7);
    let mut model = BayesianRidge::new(7, BayesianRidgeParameters::default()).expect("is valid");
    for (i, (x, y)) in table.0.iter().zip(&table.1).enumerate() {
        model.learn(x, *y).expect("is finite");
        if i % 7 == 0 {
            let text = serde_json::to_string(&model).expect("serialises");
            let loaded: BayesianRidge = serde_json::from_str(&text).expect("loads");
            assert_eq!(loaded, model);
            model = loaded;
        }
    }
    let text = serde_json::to_string(&model).expect("serialises");
    let broken = text.replacen("\"noise_precision\":", "\"noise_precision\":-", 1);
    assert!(serde_json::from_str::<BayesianRidge>(&broken).is_err());
}

/// Constant columns, repeated rows, equal outcomes and extreme scales: finite numbers or a typed error, never NaN.
#[test]
fn extremes_are_finite_or_refused() {
    for scale in [1e-300, 1e-160, 1e-9, 1.0, 1e9, 1e100, 1e149] {
        for outcome_scale in [0.0, 1e-300, 1e-9, 1.0, 1e9, 1e149] {
            let mut model = BayesianRidge::new(3, BayesianRidgeParameters::default()).expect("is valid");
            for i in 0..25 {
                let x = [scale * f64::from(i % 5), 1.0, scale * f64::from(i % 5) * 2.0];
                let before = model.clone();
                match model.learn(&x, outcome_scale * f64::from(i % 3)) {
                    Ok(()) => {}
                    Err(Error::OutOfRange { .. } | Error::NoConvergence { .. }) => assert_eq!(model, before),
                    Err(other) => panic!("{other}"),
                }
                match model.predict(&x) {
                    Ok(forecast) => assert!(forecast.mean().is_finite() && forecast.std() > 0.0),
                    Err(Error::OutOfRange { .. } | Error::NotEnoughOutcomes { .. } | Error::Core(_)) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }
}

#[test]
fn bad_rows_are_named_and_change_nothing() {
    let mut model = BayesianRidge::new(2, BayesianRidgeParameters::default()).expect("is valid");
    assert_eq!(model.predict(&[1.0, 2.0]), Err(Error::NotEnoughOutcomes { least: 1, found: 0 }));
    assert_eq!(model.refit(), Err(Error::NotEnoughOutcomes { least: 1, found: 0 }));
    model.learn(&[1.0, 2.0], 3.0).expect("is finite");
    let before = model.clone();
    assert_eq!(model.learn(&[1.0], 3.0), Err(Error::InputLength { expected: 2, found: 1 }));
    assert_eq!(model.learn(&[1.0, f64::INFINITY], 3.0), Err(Error::Input { index: 1, value: f64::INFINITY }));
    assert_eq!(model.learn(&[1.0, 2.0], 1e151), Err(Error::Outcome { value: 1e151 }));
    assert!(matches!(model.learn(&[1.0, 2.0], f64::NAN), Err(Error::Outcome { value }) if value.is_nan()));
    assert_eq!(model, before);
    assert!(BayesianRidge::new(0, BayesianRidgeParameters::default()).is_err());
}
