//! What is announced is a distribution and theorem 1 holds, over every kind of forecast and however far the outcomes fall.
//!
//! The first edition had it otherwise. It went on with the slope of its outermost levels through the base's own tail, and a guard that was pushed outwards
//! asked a heavy-tailed base for quantiles that it has at 1e61: Student t(10) forecasts of outcomes ten times as wide had a mean CRPS of 10⁶¹, t(30) with
//! outcomes at ±20 was infinite after 6 steps and crossed after 22, a log-normal one reached 10¹². Such forecasts are now tables of 49 quantiles, which go on
//! straight in probit scores, and the account refuses what can cost more than was won.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use truecast::forecast::{AnyForecast, LogNormal, StudentT};
use truecast::recalibrate::Method;
use truecast::{Forecast, GuardMode, Parameters, Pipeline, Recalibrator};
use truecast_streams::Draws;
use truecast_testkit::account::Scoring;
use truecast_testkit::kinds::{KINDS, of_kind};
use truecast_testkit::laws::pipeline::protected_laws;

const STEPS: usize = 80;
const EPSILON: f64 = 0.005;

/// Outcomes `times` as wide as a forecast of this kind says: drawn, alternating, always the same, and first one then the other.
fn streams(kind: usize, times: f64) -> Vec<(&'static str, Vec<(AnyForecast, f64)>)> {
    let pattern = |name: &'static str, place: &dyn Fn(usize, &mut Draws) -> f64| {
        let mut draws = Draws::new(5);
        let step = |t: usize| {
            let (mean, scale) = (draws.normal(), (0.3 * draws.normal()).exp());
            let y = mean + times * scale * place(t, &mut draws);
            (of_kind(kind, mean, scale), y)
        };
        (name, (0..STEPS).map(step).collect())
    };
    vec![
        pattern("drawn", &|_, draws| draws.normal()),
        pattern("alternating", &|t, _| if t % 2 == 0 { 2.0 } else { -2.0 }),
        pattern("constant", &|_, _| 1.0),
        pattern("turning", &|t, draws| if t < 40 { 0.2 * draws.normal() } else { -3.0 }),
    ]
}

/// Over all kinds and streams.
fn all(times: f64, make: impl Fn() -> Pipeline) {
    for (kind, name) in KINDS.iter().enumerate() {
        for (pattern, stream) in streams(kind, times) {
            protected_laws(&format!("{name}, {pattern}, {times} times as wide"), make(), EPSILON, &stream);
        }
    }
}

#[test]
fn as_wide_as_it_says() {
    all(1.0, Pipeline::default);
}

#[test]
fn ten_times_as_wide() {
    all(10.0, Pipeline::default);
}

#[test]
fn a_hundred_times_as_wide() {
    all(100.0, Pipeline::default);
}

#[test]
fn a_thousand_times_as_wide() {
    all(1000.0, Pipeline::default);
}

#[test]
fn a_thousandth_as_wide() {
    all(0.001, Pipeline::default);
}

#[test]
fn ledgers_and_no_guard() {
    all(10.0, || Pipeline::new(Parameters::ledger().guard(GuardMode::Off).build().unwrap()));
}

#[test]
fn every_method_behind_the_stop_loss() {
    for method in Method::ALL {
        for (kind, name) in KINDS.iter().enumerate() {
            let (pattern, stream) = streams(kind, 10.0).swap_remove(kind % 4);
            protected_laws(
                &format!("{method}, {name}, {pattern}"),
                method.build(3).unwrap(),
                EPSILON,
                &stream,
            );
        }
    }
}

/// The story at the top, as it was: 300 forecasts each, whose mean score stays within what is promised, and their CRPS finite.
#[test]
fn crps_of_1e61() {
    let mut draws = Draws::new(8);
    let t = |dof: f64| AnyForecast::from(StudentT::new(dof, 0.0, 1.0).unwrap());
    let wide: Vec<_> = (0..300).map(|_| (t(10.0), 10.0 * draws.normal())).collect();
    let far: Vec<_> = (0..300).map(|k| (t(30.0), if k % 2 == 0 { 20.0 } else { -20.0 })).collect();
    let log: Vec<_> = (0..300)
        .map(|_| {
            (AnyForecast::from(LogNormal::new(0.0, 1.0).unwrap()), (10.0 * draws.normal()).exp().min(1e6))
        })
        .collect();
    for (name, stream) in [("t(10), ten times as wide", wide), ("t(30), ±20", far), ("log-normal", log)] {
        protected_laws(name, Pipeline::default(), EPSILON, &stream);
        let (mut ours, mut base, mut expected) = (0.0, 0.0, 0.0_f64);
        let mut recalibrator = Pipeline::default();
        for (forecast, y) in &stream {
            ours += recalibrator.recalibrate(forecast).unwrap().crps(*y);
            base += forecast.crps(*y);
            expected = expected.max(Scoring::of(forecast).expected(forecast));
            recalibrator.observe(forecast, *y).unwrap();
        }
        // The promise speaks of 49 levels; the CRPS itself is within 1 % of that here.
        assert!(ours <= (1.01 + EPSILON) * base + 0.25 * expected, "{name}: {ours} after {base}");
    }
}
