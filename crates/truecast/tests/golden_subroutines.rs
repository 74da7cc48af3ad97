//! Internal regret, defensive forecasting and the running mean against `golden/subroutines.py`, number by number.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use truecast::grid::Plays;
use truecast::subroutine::{
    Defensive, DefensiveOptions, InternalRegret, InternalRegretOptions, LearningRate, RunningMean,
    RunningMeanOptions, Subroutine,
};
use truecast_testkit::golden;

#[derive(Deserialize)]
struct File {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    subroutine: String,
    grid: String,
    plays: Vec<f64>,
    base: f64,
    rate: Option<f64>,
    bandwidth: Option<f64>,
    prior: f64,
    outcomes: Vec<u8>,
    steps: Vec<Shown>,
    r#final: f64,
}

#[derive(Deserialize)]
struct Shown {
    step: usize,
    mean: f64,
    distribution: Option<Vec<f64>>,
}

impl Case {
    /// Plays the expected form and hands every shown step to `check`.
    fn replay<S: Subroutine>(&self, options: &S::Options, check: impl Fn(&S, &Shown, &str)) -> S {
        let plays = Arc::new(Plays::new(self.plays.clone()).unwrap());
        let mut subroutine = S::start(options, plays, self.base).unwrap();
        for (t, &outcome) in self.outcomes.iter().enumerate() {
            let play = subroutine.expected();
            if let Some(shown) = self.steps.iter().find(|shown| shown.step == t) {
                let what = format!("{} on {} from {}, step {t}", self.subroutine, self.grid, self.base);
                golden::assert_close(&what, play.probability, shown.mean, 1e-9, 1e-12);
                check(&subroutine, shown, &what);
            }
            subroutine.settle(play, outcome == 1);
        }
        subroutine
    }
}

#[test]
fn subroutines_agree_with_their_definitions() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/subroutines.json");
    let file: File = golden::load(&path);
    assert_eq!(file.cases.len(), 36);
    for case in &file.cases {
        let prior = case.prior;
        match case.subroutine.as_str() {
            "internal-regret" => {
                let rate = case.rate.map_or(LearningRate::Anytime, LearningRate::Fixed);
                let check = |subroutine: &InternalRegret, shown: &Shown, what: &str| {
                    let want = shown.distribution.as_ref().unwrap();
                    golden::assert_all_close(what, subroutine.distribution(), want, 1e-9, 1e-300);
                };
                let end = case.replay(&InternalRegretOptions { rate, prior }, check);
                golden::assert_close("internal regret", end.internal_regret(), case.r#final, 1e-9, 1e-12);
            }
            "defensive" => {
                let bandwidth = case.bandwidth.unwrap();
                let end: Defensive = case.replay(&DefensiveOptions { bandwidth, prior }, |_, _, _| ());
                golden::assert_close("potential", end.potential(), case.r#final, 1e-9, 1e-12);
            }
            "running-mean" => {
                case.replay::<RunningMean>(&RunningMeanOptions { prior }, |_, _, _| ());
            }
            other => panic!("no subroutine is named {other}"),
        }
    }
}
