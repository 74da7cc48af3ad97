//! Expected losses and best actions against mpmath (`golden/decisions.py`), brute force and first principles.

#![expect(clippy::unwrap_used, reason = "a test's own data")]

use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use truecast::decision::{
    Absolute, Event, Expectation, Loss, Newsvendor, PiecewiseLinear, Squared, Threshold, best_in, best_of,
    by, expected_loss, mean, standard_deviation,
};
use truecast::forecast::{CdfTable, Logistic, Mixture, StudentT};
use truecast::{AnyForecast, Error, Forecast, Gaussian, Pipeline, Quantiles, Samples, Stream, normal};
use truecast_streams::Scenario;
use truecast_testkit::golden;

fn golden_file() -> Value {
    golden::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/decisions.json"))
}

fn ready_losses() -> Vec<(&'static str, Box<dyn Loss>)> {
    vec![
        ("newsvendor", Box::new(Newsvendor::new(3.0, 1.0).unwrap())),
        ("shortage", Box::new(Newsvendor::new(1.0, 0.0).unwrap())),
        ("absolute", Box::new(Absolute)),
        ("squared", Box::new(Squared)),
        ("logarithmic", Box::new(by(|y: f64, a: f64| libm::log1p((y - a) * (y - a))))),
        ("steep", Box::new(by(|y: f64, a: f64| libm::pow((y - a).abs(), 1.5)))),
    ]
}

/// 1e-9 relative, as everywhere. Absolute 1e-14 of the loss's own scale would do for the shortage far above a normal
/// forecast, but its tail is as exact as the rest: it is 1e-24 at 9 for N(1.5, 0.75²), and compared relatively.
#[test]
fn golden_expected_losses() {
    let file = golden_file();
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 5);
    for case in cases {
        let forecast: AnyForecast = serde_json::from_value(case["forecast"].clone()).unwrap();
        let expectation = Expectation::new(&forecast);
        let what = |name: &str| format!("{} {name}", case["forecast"]);
        let close = |name: &str, got: f64, want: f64| golden::assert_close(&what(name), got, want, 1e-9, 0.0);
        close("mean", expectation.mean().unwrap(), golden::number(case, "/mean"));
        close("std", standard_deviation(&forecast).unwrap(), golden::number(case, "/standard_deviation"));
        for (name, loss) in ready_losses() {
            let want = golden::numbers(case, &format!("/losses/{name}"));
            for (action, want) in golden::numbers(case, "/actions").into_iter().zip(want) {
                close(&format!("{name} of {action}"), expectation.of(&*loss, action).unwrap(), want);
            }
        }
    }
}

/// 2e-14: a few roundings where nothing cancels, z² = 9 times as many where terms do.
#[test]
fn golden_integral_of_the_normal_cdf() {
    let file = golden_file();
    let (z, want) =
        (golden::numbers(&file, "/integral_of_cdf/z"), golden::numbers(&file, "/integral_of_cdf/value"));
    for (z, want) in z.into_iter().zip(want) {
        golden::assert_close(&format!("at {z}"), normal::integral_of_cdf(z), want, 2e-14, 0.0);
    }
}

/// What recalibration makes of a Gaussian, after 3,000 steps of a stream, three ways: in closed form over the curve, by
/// quadrature on the probit scale (a closure says nothing about its form), and by a plain sum over 10⁶ quantiles. The sum's
/// error: midpoints in probability leave out less than 1e-6 of the mass at the ends, where losses are below 40.
#[test]
fn a_recalibrated_gaussian_three_ways() {
    let mut stream: Stream<Pipeline, Gaussian> = Stream::new(Pipeline::default());
    for step in Scenario::Regimes.stream(3_000, 5) {
        stream.observe(step.forecast(), step.outcome).unwrap();
    }
    let (_, calibrated) = stream.issue(Gaussian::new(2.0, 1.5).unwrap()).unwrap();
    let newsvendor = Newsvendor::new(3.0, 1.0).unwrap();
    let plain = by(move |y: f64, a: f64| newsvendor.loss(y, a));
    const SUM: u32 = 1_000_000;
    let quantiles: Vec<f64> =
        (0..SUM).map(|i| calibrated.quantile((f64::from(i) + 0.5) / f64::from(SUM))).collect();
    for action in [-1.0, 1.0, 2.0, 3.5, 8.0] {
        let exact = expected_loss(&calibrated, &newsvendor, action).unwrap();
        let quadrature = expected_loss(&calibrated, &plain, action).unwrap();
        golden::assert_close("quadrature", quadrature, exact, 1e-9, 0.0);
        let sum: f64 = quantiles.iter().map(|&y| newsvendor.loss(y, action)).sum::<f64>() / f64::from(SUM);
        golden::assert_close("sum", sum, exact, 0.0, 2.0 * 40.0 / f64::from(SUM));
    }
    let sum = quantiles.iter().sum::<f64>() / f64::from(SUM);
    golden::assert_close("mean", mean(&calibrated).unwrap(), sum, 0.0, 2.0 * 40.0 / f64::from(SUM));
}

/// At the optimal order of a continuous forecast: (u + o) σ φ(Φ⁻¹(α)) for a normal one, and u E[Y] − (u + o) E[Y; Y ≤ q] for
/// any, where E[Y; Y ≤ q] = q F(q) − E[(q − Y)⁺].
#[test]
fn the_newsvendors_cost_at_the_best_order() {
    for (underage, overage) in [(7.0, 3.0), (1.0, 1.0), (0.02, 5.0), (99.0, 1.0)] {
        let seller = Newsvendor::new(underage, overage).unwrap();
        let order = seller.order(&Gaussian::new(100.0, 20.0).unwrap()).unwrap();
        let z = normal::quantile(seller.probability());
        golden::assert_close("order", order.quantity, 100.0 + 20.0 * z, 1e-12, 0.0);
        let want = (underage + overage) * 20.0 * normal::density(z);
        golden::assert_close("cost", order.expected_cost, want, 1e-12, 0.0);

        let logistic = Logistic::new(3.0, 2.0).unwrap();
        let order = seller.order(&logistic).unwrap();
        let shortfall =
            expected_loss(&logistic, &Newsvendor::new(0.0, 1.0).unwrap(), order.quantity).unwrap();
        let below = order.quantity * logistic.cdf(order.quantity) - shortfall;
        let want = underage * 3.0 - (underage + overage) * below;
        golden::assert_close("cost", order.expected_cost, want, 1e-9, 1e-9);
    }
    let wide = Gaussian::new(0.0, 2.0).unwrap();
    let value =
        Newsvendor::new(9.0, 1.0).unwrap().value_over(&wide, &Gaussian::new(0.0, 0.5).unwrap()).unwrap();
    assert!(value.saving() > 0.0 && value.base.expected_cost < value.base_cost, "{value:?}");
    assert_eq!(
        Newsvendor::new(1.0, 0.0).unwrap().order(&wide),
        Err(Error::NotFinite { what: "order", value: f64::INFINITY })
    );
}

/// Brute force on 4,001 actions. The search must do as well as the grid's best up to the error of an expected loss, 1e-10, and
/// its action must lie where the grid's best does: one step of the grid for the convex losses.
#[test]
fn the_best_action_against_brute_force() {
    let forecasts: Vec<Box<dyn Forecast>> = vec![
        Box::new(Gaussian::new(1.0, 2.0).unwrap()),
        Box::new(Quantiles::new(&[0.1, 0.4, 0.6, 0.9], &[0.0, 1.0, 1.0, 4.0]).unwrap()),
        Box::new(Samples::new(&[-2.0, 0.0, 0.0, 3.0, 3.5]).unwrap()),
    ];
    let newsvendor = Newsvendor::new(3.0, 1.0).unwrap();
    let table = PiecewiseLinear::new(
        &[-2.0, 0.5, 3.0],
        &[-1.0, 0.0, 2.0],
        &[&[0.0, 1.0, 5.0], &[2.0, 0.5, 1.5], &[6.0, 2.0, 0.0]],
    )
    .unwrap();
    let losses: Vec<(bool, Box<dyn Loss>)> = vec![
        (true, Box::new(newsvendor)),
        (true, Box::new(Squared)),
        (false, Box::new(table)),
        (false, Box::new(Threshold::new(0.0, Event::AtMost, 1.0, 4.0).unwrap())),
    ];
    const GRID: u32 = 4_000;
    let (low, high) = (-4.0, 6.0);
    let step = (high - low) / f64::from(GRID);
    for forecast in &forecasts {
        let expectation = Expectation::new(&**forecast);
        for (convex, loss) in &losses {
            let (low, high) = if *convex { (low, high) } else { (0.0_f64.max(low), 1.0_f64.min(high)) };
            let found = best_in(&**forecast, &**loss, low, high).unwrap();
            let mut best = (f64::INFINITY, 0.0);
            for i in 0..=GRID {
                let action = low + (high - low) * (f64::from(i) / f64::from(GRID));
                let expected = expectation.of(&**loss, action).unwrap();
                if expected < best.0 {
                    best = (expected, action);
                }
            }
            assert!(found.expected_loss <= best.0 + 1e-10 * best.0.abs(), "{loss:?}: {found:?} {best:?}");
            if *convex {
                assert!((found.value - best.1).abs() <= step, "{loss:?}: {found:?} {best:?}");
            }
        }
    }
}

/// The same newsvendor as a closure, which knows no minimiser: the search must come to the quantile. On a flat minimum an
/// expected loss good to ε finds the action to √ε of its scale: 1e-10 gives 1e-5 of σ = 2 over a curvature of about 1.
#[test]
fn the_search_finds_the_quantile_and_both_of_two_dips() {
    let forecast = Gaussian::new(1.0, 2.0).unwrap();
    let found =
        best_in(&forecast, &by(|y: f64, a: f64| if y > a { 3.0 * (y - a) } else { a - y }), -9.0, 9.0)
            .unwrap();
    assert!((found.value - forecast.quantile(0.75)).abs() < 1e-4, "{found:?}");
    // Two dips, the second one deeper: at ±3 up to the tilt.
    let dips = by(|y: f64, a: f64| (a * a - 9.0) * (a * a - 9.0) - a + 0.0 * y);
    let found = best_in(&forecast, &dips, -5.0, 5.0).unwrap();
    // 4a(a² − 9) = 1 at a = 3.01381…: f' = 4a³ − 36a − 1.
    assert!((4.0 * found.value.powi(3) - 36.0 * found.value - 1.0).abs() < 1e-3, "{found:?}");
    assert!(found.value > 0.0);
    // A single action, and an interval that does not hold the optimum.
    assert_eq!(best_in(&forecast, &Absolute, 4.0, 4.0).unwrap().value, 4.0);
    assert_eq!(best_in(&forecast, &Absolute, 4.0, 6.0).unwrap().value, 4.0);
    assert_eq!(best_of(&forecast, &Absolute, &[5.0, 0.5, 1.5]).unwrap().value, 0.5);
}

/// Protecting pays if and only if the event's probability exceeds cost/damage, and an atom on the threshold belongs to the event.
#[test]
fn cost_and_loss_with_an_atom_on_the_threshold() {
    let table = CdfTable::new(&[0.0, 10.0, 10.0, 20.0], &[0.0, 0.25, 0.75, 1.0]).unwrap();
    for (event, probability) in [(Event::AtMost, 0.75), (Event::AtLeast, 0.75)] {
        for (cost, protect) in [(7.4, 1.0), (7.6, 0.0)] {
            let loss = Threshold::new(10.0, event, cost, 10.0).unwrap();
            golden::assert_close("probability", loss.probability(&table), probability, 1e-14, 0.0);
            let best = best_of(&table, &loss, &[0.0, 1.0]).unwrap();
            assert_eq!(best.value, protect, "{event:?} {cost}");
            golden::assert_close("risk", expected_loss(&table, &loss, 0.0).unwrap(), 7.5, 1e-13, 0.0);
            assert_eq!(best_in(&table, &loss, 0.0, 1.0).unwrap().value, protect);
        }
    }
    // Mean 0.25·5 + 0.5·10 + 0.25·15, by quadrature split at the table's points.
    golden::assert_close("mean", mean(&table).unwrap(), 10.0, 1e-12, 0.0);
    golden::assert_close(
        "std",
        standard_deviation(&table).unwrap().powi(2),
        2.0 * 0.25 * (25.0 + 25.0 / 3.0),
        1e-9,
        0.0,
    );
}

/// Known by its three functions alone.
#[derive(Debug)]
struct Exponential;

impl Forecast for Exponential {
    fn cdf(&self, y: f64) -> f64 {
        if y <= 0.0 { 0.0 } else { -libm::expm1(-y) }
    }
    fn sf(&self, y: f64) -> f64 {
        if y <= 0.0 { 1.0 } else { libm::exp(-y) }
    }
    fn quantile(&self, probability: f64) -> f64 {
        -libm::log1p(-probability)
    }
}

/// E|Y − a| = a − 1 + 2e^−a, mean and standard deviation 1. The default `at_probit` ends at 1 − 1e-16, where the squared loss
/// has 1e-16 · 37² left: 1e-13, far below 1e-9.
#[test]
fn a_forecast_of_the_users_own() {
    golden::assert_close("mean", mean(&Exponential).unwrap(), 1.0, 1e-9, 0.0);
    golden::assert_close("std", standard_deviation(&Exponential).unwrap(), 1.0, 1e-9, 0.0);
    for a in [0.5, 1.0, 4.0] {
        let want = a - 1.0 + 2.0 * libm::exp(-a);
        golden::assert_close("absolute", expected_loss(&Exponential, &Absolute, a).unwrap(), want, 1e-9, 0.0);
    }
    let parts = vec![Gaussian::new(-1.0, 0.5).unwrap().into(), Gaussian::new(3.0, 1.0).unwrap().into()];
    let mixture = Mixture::new(&[0.25, 0.75], parts).unwrap();
    golden::assert_close("mean", mean(&mixture).unwrap(), 2.0, 1e-9, 0.0);
    let variance: f64 = 0.25 * 0.25 + 0.75 + 0.25 * 0.75 * 16.0;
    golden::assert_close("std", standard_deviation(&mixture).unwrap(), variance.sqrt(), 1e-9, 0.0);
}

#[test]
fn what_does_not_exist_is_an_error() {
    let none = |what| Err(Error::NoExpectation { what });
    let cauchy = StudentT::new(1.0, 0.0, 1.0).unwrap();
    assert_eq!(mean(&cauchy), none("the mean"));
    assert_eq!(expected_loss(&cauchy, &Absolute, 0.0), none("the expected loss"));
    assert_eq!(expected_loss(&cauchy, &Squared, 0.0), none("the expected loss"));
    assert_eq!(best_in(&cauchy, &Squared, 0.0, 1.0).map(|best| best.value), none("the mean"));
    // The order itself exists, its cost does not.
    assert_eq!(
        Newsvendor::new(1.0, 1.0).unwrap().order(&cauchy).map(|order| order.quantity),
        none("the expected loss")
    );
    // A bounded loss has an expectation under any forecast: P(|Y| > 1) = ½ for a Cauchy.
    let outside =
        expected_loss(&cauchy, &by(|y: f64, _| if y.abs() > 1.0 { 1.0 } else { 0.0 }), 0.0).unwrap();
    golden::assert_close("bounded", outside, 0.5, 1e-9, 0.0);
    let two = StudentT::new(2.0, 0.0, 1.0).unwrap();
    assert_eq!(standard_deviation(&two), none("the standard deviation"));
    golden::assert_close("mean", mean(&two).unwrap(), 0.0, 0.0, 1e-9);
    // E|T| = 2√ν Γ((ν+1)/2)/(√π (ν−1) Γ(ν/2)), √2 at ν = 2.
    golden::assert_close("|T|", expected_loss(&two, &Absolute, 0.0).unwrap(), 2.0_f64.sqrt(), 1e-9, 0.0);
    let normal = Gaussian::new(0.0, 1.0).unwrap();
    assert_eq!(expected_loss(&normal, &by(|y: f64, _| libm::exp(y * y)), 0.0), none("the expected loss"));
}

#[test]
fn bad_input_by_its_error() {
    let forecast = Gaussian::new(0.0, 1.0).unwrap();
    assert!(matches!(
        expected_loss(&forecast, &Absolute, f64::NAN),
        Err(Error::NotFinite { what: "action", .. })
    ));
    assert!(matches!(
        expected_loss(&forecast, &by(|_, _| f64::NAN), 0.0),
        Err(Error::NotFinite { what: "loss", .. })
    ));
    assert_eq!(
        best_of(&forecast, &Absolute, &[]),
        Err(Error::TooFew { what: "actions", least: 1, found: 0 })
    );
    assert_eq!(
        best_in(&forecast, &Absolute, 1.0, 0.0),
        Err(Error::NotIncreasing { what: "ends of the interval", index: 1, previous: 1.0, value: 0.0 })
    );
    assert!(matches!(Newsvendor::new(-1.0, 1.0), Err(Error::OutOfRange { what: "underage cost", .. })));
    assert!(matches!(Newsvendor::new(0.0, 0.0), Err(Error::NotPositive { .. })));
    assert!(matches!(
        Threshold::new(0.0, Event::AtMost, 1.0, -1.0),
        Err(Error::OutOfRange { what: "damage", .. })
    ));
    assert_eq!(
        PiecewiseLinear::new(&[0.0], &[0.0, 1.0], &[&[1.0]]),
        Err(Error::LengthMismatch { what: "outcomes and losses of an action", left: 2, right: 1 })
    );
    assert!(serde_json::from_str::<Newsvendor>(r#"{"underage":1.0,"overage":-1.0}"#).is_err());
    let table = PiecewiseLinear::new(&[0.0], &[0.0, 1.0], &[&[1.0, 2.0]]).unwrap();
    assert_eq!(
        serde_json::from_str::<PiecewiseLinear>(&serde_json::to_string(&table).unwrap()).unwrap(),
        table
    );
}

fn quantile_table() -> impl Strategy<Value = Quantiles> {
    prop::collection::vec(-5.0..5.0_f64, 5)
        .prop_map(|values| Quantiles::new(&[0.1, 0.3, 0.5, 0.7, 0.9], &values).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A loss that is convex in the action has a convex expected value; 1e-9 is its error.
    #[test]
    fn expected_losses_are_convex(forecast in quantile_table(), a in -8.0..8.0_f64, b in -8.0..8.0_f64, share in 0.0..1.0_f64) {
        let expectation = Expectation::new(&forecast);
        for (name, loss) in ready_losses().into_iter().filter(|(name, _)| *name != "logarithmic") {
            let at = |action: f64| expectation.of(&*loss, action).unwrap();
            let chord = share * at(a) + (1.0 - share) * at(b);
            prop_assert!(at(share * a + (1.0 - share) * b) <= chord + 1e-9 * (1.0 + chord), "{name}");
        }
    }

    /// Moving outcomes and action together changes nothing; moving outcomes up alone raises a loss that is non-decreasing in them.
    #[test]
    fn outcome_shifts(forecast in quantile_table(), a in -8.0..8.0_f64, shift in 0.0..3.0_f64) {
        let moved: Vec<f64> = forecast.values().iter().map(|y| y + shift).collect();
        let moved = Quantiles::new(forecast.probabilities(), &moved).unwrap();
        for (name, loss) in ready_losses() {
            let (here, there) = (expected_loss(&forecast, &*loss, a).unwrap(), expected_loss(&moved, &*loss, a + shift).unwrap());
            prop_assert!((here - there).abs() <= 1e-9 * (1.0 + here), "{name}: {here} {there}");
        }
        let shortage = Newsvendor::new(2.0, 0.0).unwrap();
        let (here, there) = (expected_loss(&forecast, &shortage, a).unwrap(), expected_loss(&moved, &shortage, a).unwrap());
        prop_assert!(there >= here - 1e-12 * (1.0 + here), "{here} {there}");
    }

    /// A piecewise linear loss of any shape: the closed form is the integral on the probit scale.
    #[test]
    fn tables_are_exact(
        forecast in quantile_table(),
        losses in prop::collection::vec(-3.0..3.0_f64, 8),
        action in -1.0..2.0_f64,
    ) {
        let table = PiecewiseLinear::new(&[0.0, 1.0], &[-3.0, -1.0, 1.5, 4.0], &[&losses[..4], &losses[4..]]).unwrap();
        let exact = expected_loss(&forecast, &table, action).unwrap();
        let plain = by(move |y: f64, a: f64| table.loss(y, a));
        let quadrature = expected_loss(&forecast, &plain, action).unwrap();
        prop_assert!((exact - quadrature).abs() < 1e-8, "{exact} {quadrature}");
    }
}
