//! What people use instead keeps the laws of every recalibrator, and learns what it is made for.

// Helpers of tests: what is broken must stop the test that met it.
#![allow(clippy::expect_used)]

use truecast::recalibrate::rival::{
    ByResidual, CrpsLearning, CrpsLearningOptions, Emos, EmosOptions, QuantileRegression,
    QuantileRegressionOptions, ResidualRule, RollingConformal, RollingConformalOptions, RollingPit,
    RollingPitOptions,
};
use truecast::recalibrate::{Family, GuardMode, Method, Protection};
use truecast::stream::Snapshot;
use truecast::{Error, Forecast, Gaussian, Pipeline, Quantiles, Recalibrator, Stream};
use truecast_streams::{Draws, Scenario};
use truecast_testkit::laws::recalibrator::{Start, recalibrator_laws};

const STOP_LOSS: Protection = Protection { guard: GuardMode::Off, ..DEFAULT };
const DEFAULT: Protection =
    Protection { stop_loss: Some(truecast::recalibrate::STOP_LOSS), guard: GuardMode::Priced, bounds: None };

/// Alone, and as it is announced by default.
fn laws<M: Snapshot + PartialEq>(name: &str, make: impl Fn() -> M) {
    recalibrator_laws(name, Start::Base, &make, |_| ());
    let behind = format!("{name} behind the stop-loss");
    recalibrator_laws(
        &behind,
        Start::Base,
        || Pipeline::around(make(), STOP_LOSS),
        |pipeline| {
            let account = pipeline.account().expect("it is on");
            let bound = account.bound() + 1e-9 * (account.base() + account.largest_mean());
            assert!(account.extra() + account.reserved() <= bound, "{behind}: {account:?}");
        },
    );
}

fn rule<R: ResidualRule>(name: &str, options: impl Fn() -> R::Options) {
    laws(name, || ByResidual::<R>::new(options()).expect("options are valid"));
}

#[test]
fn emos_keeps_the_laws() {
    rule::<Emos>("emos", EmosOptions::default);
    rule::<Emos>("emos over one outcome", || EmosOptions { window: 1 });
}

#[test]
fn rolling_pit_keeps_the_laws() {
    laws("rolling-pit", || RollingPit::new(RollingPitOptions::default()).expect("options are valid"));
    let few = RollingPitOptions { window: 3, prior: 0.1, seed: 7 };
    laws("rolling-pit over three", || RollingPit::new(few.clone()).expect("options are valid"));
}

#[test]
fn rolling_conformal_keeps_the_laws() {
    rule::<RollingConformal>("rolling-conformal", RollingConformalOptions::default);
    rule::<RollingConformal>("over twenty", || RollingConformalOptions { window: 20, symmetric: false });
    rule::<RollingConformal>("symmetric", || RollingConformalOptions { window: 20, symmetric: true });
}

#[test]
fn quantile_regression_keeps_the_laws() {
    rule::<QuantileRegression>("quantile-regression", QuantileRegressionOptions::default);
    rule::<QuantileRegression>("without forgetting", || QuantileRegressionOptions {
        rate: 2.0,
        half_life: None,
    });
}

#[test]
fn crps_learning_keeps_the_laws() {
    rule::<CrpsLearning>("crps-learning", CrpsLearningOptions::default);
    rule::<CrpsLearning>("forgetful", || CrpsLearningOptions { forget: 0.1, smooth: 10.0 });
}

fn rivals() -> impl Iterator<Item = Method> {
    Method::ALL.into_iter().filter(|method| method.family() == Family::Rival)
}

/// Where standard deviations are four times too small or ten times too large, every rival gains; nine tenths of what there is
/// to be gained, −17 % and −76 %, leaves room for what it does not know yet in the first of 5,000 steps.
#[test]
fn rivals_mend_a_wrong_scale() {
    assert_eq!(rivals().count(), 5);
    for method in rivals() {
        for (scenario, most) in [(Scenario::FourTimesTooNarrow, 0.17), (Scenario::TenTimesTooWide, 0.76)] {
            let mut recalibrator = method.build_with(0, Protection::NONE).unwrap();
            let (mut base, mut announced) = (0.0, 0.0);
            for step in scenario.steps(5_000, 3) {
                base += step.forecast().crps(step.outcome);
                announced += recalibrator.recalibrate(step.forecast()).unwrap().crps(step.outcome);
                recalibrator.observe(&step.forecast(), step.outcome).unwrap();
            }
            assert!(announced <= (1.0 - 0.9 * most) * base, "{method} on {scenario}: {}", announced / base);
        }
    }
}

/// Everything but the exact probit score reaches a rule in the outcome's own units: a table of quantiles whose forecasts lie two too low, and are
/// half as wide as outcomes, is mended as a normal forecast would be.
#[test]
fn tables_are_recalibrated_in_their_own_units() {
    let levels = [0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975];
    for method in rivals() {
        for protection in [Protection::NONE, STOP_LOSS] {
            let mut stream: Stream<_, Quantiles> = Stream::new(method.build_with(0, protection).unwrap());
            let mut draws = Draws::new(5);
            let (mut covered, mut shift) = (0, 0.0);
            for t in 0..1_500 {
                let middle = 100.0 * f64::from(t % 7);
                // Skewed: the upper side is twice as wide as the lower one.
                let values = [-2.0, -1.3, -0.7, 0.0, 1.4, 2.6, 4.0].map(|x| middle + x);
                let (ticket, announced) = stream.issue(Quantiles::new(&levels, &values).unwrap()).unwrap();
                let outcome = middle + 2.0 + 4.0 * draws.normal();
                if t >= 500 {
                    let (low, high) = announced.interval(0.8).unwrap();
                    covered += u32::from((low..=high).contains(&outcome));
                    shift += (announced.quantile(0.5) - middle) / 1_000.0;
                }
                stream.resolve(ticket, outcome).unwrap();
            }
            // Four standard errors of 1,000 outcomes are 5 points; the stop-loss and the windows take their part.
            assert!((730..=870).contains(&covered), "{method}: covered {covered}");
            assert!((shift - 2.0).abs() < 0.8, "{method}: median moved by {shift}");
        }
    }
}

/// A forecast without a scale is announced as it is, and its outcome counted.
#[test]
fn forecasts_without_a_scale_are_left_alone() {
    let table = Quantiles::new(&[0.1, 0.5, 0.9], &[3.0, 3.0, 3.0]).unwrap();
    for method in rivals().filter(|method| *method != Method::RollingPit) {
        let mut recalibrator = method.build(0).unwrap();
        let normal = Gaussian::new(0.0, 1.0).unwrap();
        for k in 0..30 {
            recalibrator.observe(&normal, f64::from(k % 3)).unwrap();
        }
        let before = recalibrator.recalibrate(normal).unwrap().quantile(0.9);
        let announced = recalibrator.recalibrate(&table).unwrap();
        assert_eq!(announced.quantile(0.9), 3.0, "{method}");
        recalibrator.observe(&table, 5.0).unwrap();
        assert_eq!(recalibrator.steps(), 31);
        assert_eq!(recalibrator.recalibrate(normal).unwrap().quantile(0.9), before, "{method}");
    }
}

/// Scale and shift of y change nothing: y and forecasts in other units give the same forecasts in these units.
#[test]
fn units_do_not_matter() {
    for method in rivals() {
        let mut here = method.build(0).unwrap();
        let mut there = method.build(0).unwrap();
        for step in Scenario::Demo.steps(400, 2) {
            let scale = 1024.0; // exact, so that only the shift rounds
            let forecast = step.forecast();
            let moved = Gaussian::new(scale * forecast.mean() + 1e3, scale * forecast.std()).unwrap();
            let (a, b) = (here.recalibrate(forecast).unwrap(), there.recalibrate(moved).unwrap());
            for p in [0.01, 0.1, 0.5, 0.9, 0.99] {
                let (a, b) = (scale * a.quantile(p) + 1e3, b.quantile(p));
                // Rounding of y is 1e-16 · 1e3; a window's fit ends within 1e-5 scales of its optimum.
                assert!((a - b).abs() <= 1e-3 * scale, "{method}: {a} and {b} at {p}");
            }
            here.observe(&forecast, step.outcome).unwrap();
            there.observe(&moved, scale * step.outcome + 1e3).unwrap();
        }
    }
}

#[test]
fn options_are_checked() {
    let few = Error::TooFew { what: "outcomes in the window", least: 1, found: 0 };
    assert_eq!(ByResidual::<Emos>::new(EmosOptions { window: 0 }), Err(few.clone()));
    assert_eq!(RollingPit::new(RollingPitOptions { window: 0, ..Default::default() }), Err(few.clone()));
    let none = RollingConformalOptions { window: 0, symmetric: false };
    assert_eq!(ByResidual::<RollingConformal>::new(none), Err(few));
    let rate = QuantileRegressionOptions { rate: 0.0, ..Default::default() };
    let refused = ByResidual::<QuantileRegression>::new(rate);
    assert_eq!(refused, Err(Error::NotPositive { what: "rate", value: 0.0 }));
    let forget = CrpsLearningOptions { forget: 1.0, ..Default::default() };
    let rule = "at least 0 and below 1";
    assert_eq!(
        ByResidual::<CrpsLearning>::new(forget),
        Err(Error::OutOfRange { what: "forget", rule, value: 1.0 })
    );
}
