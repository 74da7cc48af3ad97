//! The comparators against `golden/comparators.py`, threshold by threshold.

// Helpers of tests: what is broken must stop the test that met it.
#![allow(clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use truecast::normal;
use truecast::recalibrate::comparator::{
    Aci, AciOptions, DtAci, DtAciOptions, History, Pid, QuantileRule, Saocp, SfOgd,
};
use truecast_testkit::golden;

#[derive(Deserialize)]
struct File {
    window: usize,
    prior: f64,
    sequences: BTreeMap<String, Vec<f64>>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    method: String,
    sequence: String,
    q: f64,
    thresholds: Vec<Threshold>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Threshold {
    Finite(f64),
    Named(String),
}

impl Threshold {
    fn value(&self) -> f64 {
        match self {
            Threshold::Finite(x) => *x,
            Threshold::Named(name) => name.parse().expect("inf or -inf"),
        }
    }
}

fn run<R: QuantileRule>(options: &R::Options, q: f64, scores: &[f64]) -> Vec<f64> {
    let (capacity, prior) = R::memory(options);
    let mut history = History::new(capacity, prior);
    let mut rule = R::start(options, q, normal::quantile(q)).expect("options");
    scores
        .iter()
        .map(|&score| {
            let threshold = rule.threshold(&history);
            rule.settle(threshold, score, &history);
            history.push(score);
            threshold
        })
        .collect()
}

/// Agreement to 1e-9: rounded sums over 240 steps differ by 1e-14, and no case amplifies that by more than 1e5.
#[test]
fn thresholds_are_the_references() {
    let file: File =
        golden::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/comparators.json"));
    let (window, prior) = (file.window, file.prior);
    assert_eq!(file.cases.len(), 5 * 4 * 4);
    for case in &file.cases {
        let (q, scores) = (case.q, &file.sequences[&case.sequence]);
        let got = match case.method.as_str() {
            "aci" => run::<Aci>(&AciOptions { window, prior, ..Default::default() }, q, scores),
            "dtaci" => run::<DtAci>(&DtAciOptions { window, prior, ..Default::default() }, q, scores),
            "sf-ogd" => run::<SfOgd>(&Default::default(), q, scores),
            "saocp" => run::<Saocp>(&Default::default(), q, scores),
            "pid" => run::<Pid>(&Default::default(), q, scores),
            other => panic!("unknown method {other}"),
        };
        assert_eq!(got.len(), case.thresholds.len());
        for (t, (got, want)) in got.iter().zip(&case.thresholds).enumerate() {
            let want = want.value();
            let close = *got == want || (got - want).abs() <= 1e-9 * (1.0 + want.abs());
            assert!(close, "{} on {} at {q}, step {t}: {got}, not {want}", case.method, case.sequence);
        }
    }
}
