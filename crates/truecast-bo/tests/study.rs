//! Studies: points inside their space, seeds repeat, resumption is bit-equal, failures are never numbers, batches spread.

#![allow(clippy::unwrap_used, clippy::panic)]

use proptest::prelude::*;
use truecast_bo::study::{Evaluation, Origin, Stage};
use truecast_bo::{
    AnyAcquisition, Benchmark, Calibration, Design, Dimension, Error, Kappa, Search, Space, Study,
    StudySettings, SurrogateSettings, Value,
};
use truecast_models::Noise;

fn quick(calibration: Calibration, acquisition: AnyAcquisition, seed: u64) -> StudySettings {
    let search = Search { candidates: 60, starts: 2, steps: 15 };
    StudySettings { initial: 4, calibration, acquisition, search, seed, ..Default::default() }
}

fn mixed() -> Space {
    Space::new([
        ("x", Dimension::real(-2.0, 3.0)),
        ("rate", Dimension::log(1e-4, 1.0)),
        ("count", Dimension::integer(1, 6)),
        ("kind", Dimension::category(["a", "b", "c"])),
    ])
    .unwrap()
}

/// Least at x = 1, rate = 0.01, count = 4, kind = b.
fn cost(point: &[Value]) -> f64 {
    let number = |k: usize| point[k].as_real().unwrap();
    let rate = number(1).log10() + 2.0;
    let kind = if point[3] == "b".into() { 0.0 } else { 1.0 };
    (number(0) - 1.0).powi(2) + rate * rate + 0.3 * (number(2) - 4.0).powi(2) + kind
}

fn kinds() -> Vec<Calibration> {
    vec![
        Calibration::None,
        Calibration::paper(),
        Calibration::ledger(),
        Calibration::online(),
        Calibration::online_scale(),
    ]
}

fn acquisitions() -> Vec<AnyAcquisition> {
    vec![
        AnyAcquisition::LowerConfidenceBound(Kappa::Line { from: 2.0, to: 1.0, steps: 8 }),
        AnyAcquisition::ExpectedImprovement,
        AnyAcquisition::ProbabilityOfImprovement { margin: 0.01 },
        AnyAcquisition::ThompsonSampling,
    ]
}

fn advance(study: &mut Study, steps: usize) {
    for _ in 0..steps {
        let point = study.suggest().unwrap();
        study.observe(&point, cost(&point)).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..Default::default() })]

    /// Whatever the outcomes are, every suggestion is a point of the space, and no step is refused.
    #[test]
    fn suggestions_lie_inside_their_space(
        outcomes in prop::collection::vec(prop_oneof![-3.0f64..3.0, Just(0.0), -1e90f64..1e90], 9),
        kind in 0usize..5,
        acquisition in 0usize..4,
        seed: u64,
    ) {
        let mut study = Study::new(mixed(), quick(kinds()[kind], acquisitions()[acquisition], seed)).unwrap();
        for y in outcomes {
            let point = study.suggest().unwrap();
            prop_assert!(study.space().encode(&point).unwrap().iter().all(|x| (0.0..=1.0).contains(x)));
            study.observe(&point, y).unwrap();
        }
    }
}

/// Saved and loaded after every step, with a failure and points that wait, a study goes on to the same bits.
#[test]
fn resumption_is_bit_equal_and_seeds_repeat() {
    for calibration in kinds() {
        for acquisition in acquisitions() {
            let mut whole = Study::new(mixed(), quick(calibration, acquisition, 7)).unwrap();
            let mut parts = whole.clone();
            for i in 0..10 {
                let point = whole.suggest().unwrap();
                parts = serde_json::from_str(&serde_json::to_string(&parts).unwrap()).unwrap();
                assert_eq!(parts.suggest().unwrap(), point);
                for study in [&mut whole, &mut parts] {
                    match i {
                        3 => study.observe_failed(&point, "no convergence").unwrap(),
                        6 => {}
                        _ => study.observe(&point, cost(&point)).unwrap(),
                    }
                }
            }
            parts = serde_json::from_str(&serde_json::to_string(&parts).unwrap()).unwrap();
            assert_eq!(whole, parts, "{calibration:?} {acquisition:?}");
            let mut other = Study::new(mixed(), quick(calibration, acquisition, 8)).unwrap();
            advance(&mut other, 2);
            assert_ne!(other.steps()[0].point, whole.steps()[0].point);
        }
    }
}

#[test]
fn a_mixed_space_is_searched_to_its_minimum() {
    let settings = StudySettings { initial: 6, seed: 3, ..Default::default() };
    let mut study = Study::new(mixed(), settings).unwrap();
    advance(&mut study, 40);
    let best = study.best().unwrap();
    assert!(best.outcome().unwrap() < 0.05, "{best:?}");
    assert_eq!(best.point[2..], [Value::Integer(4), "b".into()]);
}

/// Where every evaluation in half of the space fails, no number is learned from it, and nothing near a failure is suggested again.
#[test]
fn failures_are_never_learned_as_numbers() {
    let space = Space::real_box([(0.0, 1.0), (0.0, 1.0)]).unwrap();
    let mut study = Study::new(space, quick(Calibration::online(), AnyAcquisition::default(), 1)).unwrap();
    let mut failed: Vec<Vec<f64>> = Vec::new();
    for _ in 0..25 {
        let point = study.suggest().unwrap();
        let x: Vec<f64> = point.iter().filter_map(Value::as_real).collect();
        let near = |y: &Vec<f64>| ((x[0] - y[0]).powi(2) + (x[1] - y[1]).powi(2)).sqrt() <= 0.01;
        assert!(!failed.iter().any(near), "{x:?}");
        if x[0] < 0.5 {
            failed.push(x);
            study.observe_failed(&point, "diverged").unwrap();
        } else {
            study.observe(&point, x[0] + x[1] * x[1]).unwrap();
        }
    }
    assert!(!failed.is_empty());
    let outcomes = study.steps().iter().filter(|step| step.outcome().is_some()).count();
    assert_eq!(outcomes + failed.len(), 25);
    let forecasts = study.surrogate().unwrap().leave_one_out().unwrap();
    assert_eq!(forecasts.len(), outcomes);
    assert_eq!(
        study.online().len(),
        study.steps().iter().filter(|s| s.forecast.is_some() && s.outcome().is_some()).count()
    );
}

#[test]
fn a_surrogate_that_cannot_be_fitted_is_told_in_the_log_and_the_loop_goes_on() {
    let space = Space::real_box([(0.0, 1.0)]).unwrap();
    let surrogate = SurrogateSettings { noise: Noise::Fixed(0.0), ..Default::default() };
    let settings = StudySettings { initial: 0, surrogate, ..Default::default() };
    let mut study = Study::new(space, settings).unwrap();
    study.suggest().unwrap();
    let first = study.steps()[0].clone();
    assert_eq!((first.origin, first.fallback.clone().unwrap().stage), (Origin::Fallback, Stage::Surrogate));
    assert_eq!(first.fallback.unwrap().reason, "0 outcomes seen, at least 2 are needed for a surrogate");
    // The same point with two outcomes and no noise contradicts itself.
    study.observe(&[0.5.into()], 1.0).unwrap();
    study.observe(&[0.5.into()], 2.0).unwrap();
    study.suggest().unwrap();
    let last = study.steps().last().unwrap();
    assert_eq!(last.origin, Origin::Fallback);
    assert!(last.fallback.as_ref().unwrap().reason.contains("rows 0 and 1 have the same inputs"), "{last:?}");
    assert_eq!(last.evaluation, Evaluation::Pending);
}

#[test]
fn points_of_a_batch_differ() {
    let mut study = Study::new(mixed(), quick(Calibration::None, AnyAcquisition::default(), 5)).unwrap();
    advance(&mut study, 8);
    let batch = study.suggest_batch(4).unwrap();
    for i in 0..4 {
        assert!(batch[..i].iter().all(|other| *other != batch[i]), "{batch:?}");
    }
    // Told in another order.
    for point in batch.iter().rev() {
        study.observe(point, cost(point)).unwrap();
    }
    assert!(study.steps().iter().all(|step| step.outcome().is_some()));
    assert_eq!(study.steps().len(), 12);
}

#[test]
fn exact_points_of_a_small_space_are_evaluated_once() {
    let space = Space::new([("k", Dimension::integer(1, 7))]).unwrap();
    let surrogate = SurrogateSettings { noise: Noise::Fixed(0.0), ..Default::default() };
    let settings = StudySettings { initial: 3, surrogate, ..Default::default() };
    let mut study = Study::new(space, settings).unwrap();
    let mut seen = Vec::new();
    for _ in 0..7 {
        let point = study.suggest().unwrap();
        assert!(!seen.contains(&point), "{point:?} again after {seen:?}");
        study.observe(&point, point[0].as_real().unwrap().cos()).unwrap();
        seen.push(point);
    }
}

#[test]
fn bad_input_is_named() {
    let mut study = Study::new(mixed(), StudySettings::default()).unwrap();
    let point = study.suggest().unwrap();
    assert!(matches!(study.observe(&point, f64::NAN), Err(Error::Outcome { .. })));
    assert_eq!(study.observe(&point, f64::INFINITY), Err(Error::Outcome { value: f64::INFINITY }));
    assert_eq!(study.observe(&[], 1.0), Err(Error::PointLength { expected: 4, found: 0 }));
    assert_eq!(study.steps().len(), 1);
    let json = serde_json::to_string(&study).unwrap();
    let broken = json.replace(r#""number":0"#, r#""number":1"#);
    assert!(serde_json::from_str::<Study>(&broken).is_err());
    let bad = StudySettings { search: Search { candidates: 0, ..Default::default() }, ..Default::default() };
    assert!(Study::new(mixed(), bad).is_err());
}

/// With noise of a known or a learned variance, the point of least mean is near the minimum at 0.3. Of 40 outcomes at a standard deviation of 0.1 some 15 lie
/// near it, so that the mean there is known to about 0.03; three times that is (x − 0.3)² at a distance of 0.3.
#[test]
fn noise_is_fixed_or_learned() {
    for noise in [Noise::Fixed(0.01), Noise::Learned] {
        let space = Space::real_box([(-1.0, 1.0)]).unwrap();
        let surrogate = SurrogateSettings { noise, ..Default::default() };
        let mut study =
            Study::new(space, StudySettings { surrogate, seed: 4, ..Default::default() }).unwrap();
        for i in 0..40 {
            let point = study.suggest().unwrap();
            let x = point[0].as_real().unwrap();
            let draw = truecast::random::uniform(99, i, 0).clamp(1e-6, 1.0 - 1e-6);
            study.observe(&point, (x - 0.3).powi(2) + 0.1 * truecast::normal::quantile(draw)).unwrap();
        }
        let surrogate = study.surrogate().unwrap();
        let mean = |i: i32| surrogate.function_gaussian(&[f64::from(i) / 100.0]).unwrap().mean();
        let least = (0..=100).min_by(|&a, &b| mean(a).total_cmp(&mean(b))).unwrap();
        let x = f64::from(least) / 50.0 - 1.0;
        assert!((x - 0.3).abs() < 0.3, "{noise:?}: {x}");
    }
}

/// Thirty steps come far nearer to the minimum than thirty points of a design.
#[test]
fn benchmarks_are_minimised() {
    for benchmark in [Benchmark::SixHumpCamel, Benchmark::McCormick] {
        let space = benchmark.space().unwrap();
        let mut study =
            Study::new(space, StudySettings { initial: 3, seed: 2, ..Default::default() }).unwrap();
        let at = |point: &[Value]| {
            let x: Vec<f64> = point.iter().filter_map(Value::as_real).collect();
            benchmark.value(&x).unwrap()
        };
        let designed = Design::LatinHypercube.points(33, 2, 2).into_iter();
        let designed = designed.map(|place| at(&study.space().decode(&place).unwrap()) - benchmark.minimum());
        let designed = designed.fold(f64::INFINITY, f64::min);
        for _ in 0..33 {
            let point = study.suggest().unwrap();
            study.observe(&point, at(&point)).unwrap();
        }
        let regret = study.best().unwrap().outcome().unwrap() - benchmark.minimum();
        assert!(regret < 0.1 * designed, "{benchmark}: {regret} against {designed}");
    }
}
