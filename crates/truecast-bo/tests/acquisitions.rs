//! Acquisitions: closed forms, the identity map, exact slopes, and a search that finds what there is.

#![allow(clippy::unwrap_used, clippy::panic)]

use truecast::{AnyForecast, Forecast, Gaussian, Pipeline, Recalibrator, normal};
use truecast_bo::acquisition::{
    Acquisition, ExpectedImprovement, LowerConfidenceBound, ProbabilityOfImprovement, ThompsonSampling,
};
use truecast_bo::maximise::{Excluded, maximise};
use truecast_bo::{
    AnyAcquisition, Criterion, Design, Kappa, ModelSurrogate, ProcessSurrogate, Remap, Search, Space,
    SurrogateSettings,
};
use truecast_models::{BayesianRidge, BayesianRidgeParameters, Noise};

fn acquisitions() -> Vec<Box<dyn Acquisition>> {
    vec![
        Box::new(LowerConfidenceBound { kappa: 2.0 }),
        Box::new(ExpectedImprovement),
        Box::new(ProbabilityOfImprovement { margin: 0.1 }),
        Box::new(ThompsonSampling::draw(3, 4)),
    ]
}

/// Means, standard deviations and best values: ordinary, far on both sides, and in other units.
const CASES: [(f64, f64, f64); 5] =
    [(0.3, 1.7, 0.1), (5.0, 0.4, 4.9), (-2.0, 3.0, -20.0), (1e6, 2e3, 1.001e6), (1e-7, 1e-9, 1.01e-7)];

/// 1e-12 of the value: the two sides are the same formula by different routes, and rounding is 1e-16 of each term.
fn close(left: f64, right: f64) {
    assert!((left - right).abs() <= 1e-12 * right.abs(), "{left} and {right}");
}

#[test]
fn acquisitions_of_a_gaussian_have_their_closed_forms() {
    for (mean, std, best) in CASES {
        let forecast = Gaussian::new(mean, std).unwrap();
        close(LowerConfidenceBound { kappa: 2.0 }.value(&forecast, best).unwrap(), 2.0 * std - mean);
        let t = (best - mean) / std;
        let improvement = std * (t * normal::cdf(t) + normal::density(t));
        let found = ExpectedImprovement.value(&forecast, best).unwrap();
        // In the far tail the closed form itself cancels: by φ(t) against φ(t)/t².
        assert!((found - improvement).abs() <= 1e-12 * improvement + 1e-15 * std * normal::density(t));
        let margin = 0.1;
        let chance = ProbabilityOfImprovement { margin }.value(&forecast, best).unwrap();
        close(chance, normal::cdf((best - margin - mean) / std));
    }
}

/// A recalibrator that has seen nothing has the identity as its map: every acquisition is then that of the base, to the rounding of a walk over 25 levels.
#[test]
fn the_identity_map_changes_no_acquisition() {
    for (mean, std, best) in CASES {
        let base = AnyForecast::from(Gaussian::new(mean, std).unwrap());
        let map = Pipeline::default().recalibrate(&base).unwrap().map().clone();
        let narrowed = Remap::Narrowed { map: Box::new(map.clone()), least: 0.05 };
        for remap in [Remap::Identity, Remap::Map(Box::new(map)), Remap::Scale(1.0), narrowed] {
            for acquisition in acquisitions() {
                let plain = acquisition.value(&base, best).unwrap();
                let value = acquisition.value(remap.applied(&base).unwrap().as_ref(), best).unwrap();
                let unit = plain.abs().max(if plain.abs() < std { 1e-3 * std } else { 0.0 });
                assert!((value - plain).abs() <= 1e-9 * unit, "{remap:?} {acquisition:?}: {value} {plain}");
            }
        }
    }
}

/// A map learned from outcomes that lie too near the mean.
fn learned() -> Remap {
    let mut recalibrator = Pipeline::default();
    for t in 0..300 {
        let forecast = Gaussian::new(0.0, 1.0).unwrap();
        recalibrator.observe(&forecast, 0.5 * normal::quantile((f64::from(t % 100) + 0.5) / 100.0)).unwrap();
    }
    let base = Gaussian::new(0.0, 1.0).unwrap();
    Remap::Map(Box::new(recalibrator.recalibrate(base).unwrap().map().clone()))
}

#[test]
fn narrowing_is_never_wider_and_never_less_than_its_least() {
    let Remap::Map(map) = learned() else { panic!("a map") };
    let base = AnyForecast::from(Gaussian::new(3.0, 2.0).unwrap());
    let remap = Remap::Narrowed { map, least: 0.7 };
    assert!((remap.multiplier(2.0) - 1.4).abs() < 1e-12, "{}", remap.multiplier(2.0));
    let forecast = remap.applied(&base).unwrap();
    for i in -40..=40 {
        let t = f64::from(i) / 10.0;
        let y = forecast.at_probit(t);
        let z = base.probit(y);
        assert!(z.abs() <= t.abs() + 1e-12 && z.abs() >= 0.7 * t.abs() - 1e-12 && z * t >= 0.0, "{t} {z}");
        // The map may jump, and then holds several quantiles at one point.
        let (left, right) = (forecast.probit_left(y), forecast.probit(y));
        assert!(left <= t + 1e-9 && t <= right + 1e-9, "{t} within {left} and {right}");
    }
}

fn surrogate() -> ProcessSurrogate {
    let points = Design::LatinHypercube.points(14, 3, 2);
    let outcomes: Vec<f64> =
        points.iter().map(|x| 40.0 * (6.0 * x[0]).sin() + 30.0 * x[1] * x[1] - 9.0 * x[2]).collect();
    let settings = SurrogateSettings { noise: Noise::Fixed(1e-4), ..Default::default() };
    ProcessSurrogate::fit(&points, &outcomes, &settings, None, 0).unwrap()
}

/// Gradients against central differences of 1e-6, whose own error is about 1e-6 of the slope's size here. A piecewise linear map has kinks, which a
/// difference across one would feel: few points lie that near.
#[test]
fn gradients_are_those_of_finite_differences() {
    let surrogate = surrogate();
    for remap in [Remap::Identity, learned(), Remap::Scale(0.6)] {
        for acquisition in acquisitions() {
            let criterion = Criterion {
                surrogate: &surrogate,
                remap: &remap,
                acquisition: acquisition.as_ref(),
                best: -20.0,
            };
            let mut wrong = 0;
            for x in Design::Random.points(20, 3, 9) {
                let (value, gradient) = criterion.with_gradient(&x).unwrap();
                assert_eq!(value, criterion.value(&x).unwrap());
                let gradient = gradient.unwrap();
                let size = gradient.iter().fold(1e-6_f64, |most, slope| most.max(slope.abs()));
                for k in 0..3 {
                    let at = |by: f64| {
                        let mut moved = x.clone();
                        moved[k] += by;
                        criterion.value(&moved).unwrap()
                    };
                    let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                    wrong += usize::from((slope - gradient[k]).abs() > 1e-4 * size);
                }
            }
            assert!(wrong <= 1, "{acquisition:?} through {remap:?}: {wrong} of 60");
        }
    }
}

/// No point of a fine grid is better than what the search finds, and an excluded ball is passed over.
#[test]
fn the_search_finds_the_largest_value_and_keeps_out_of_excluded_balls() {
    let surrogate = surrogate();
    let space = Space::real_box([(0.0, 1.0); 3]).unwrap();
    for acquisition in [AnyAcquisition::default(), AnyAcquisition::ExpectedImprovement] {
        let acquisition = acquisition.at_step(0, 0);
        let remap = learned();
        let criterion = Criterion {
            surrogate: &surrogate,
            remap: &remap,
            acquisition: acquisition.as_ref(),
            best: -40.0,
        };
        let search = Search::default();
        let (x, value) = maximise(&criterion, &space, &[], &[], search, (1, 2)).unwrap().unwrap();
        assert!(x.iter().all(|x| (0.0..=1.0).contains(x)));
        let grid = (0..21 * 21 * 21).map(|i| [i % 21, i / 21 % 21, i / 441].map(|k| f64::from(k) / 20.0));
        let most = grid.map(|x| criterion.value(&x).unwrap()).fold(f64::NEG_INFINITY, f64::max);
        assert!(value >= most - 1e-9 * most.abs(), "{value} against {most}");
        let balls = [Excluded { centre: x.clone(), radius: 0.2 }];
        let (other, less) =
            maximise(&criterion, &space, std::slice::from_ref(&x), &balls, search, (1, 2)).unwrap().unwrap();
        let distance = x.iter().zip(&other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        assert!(distance > 0.2 && less <= value);
        let everything = [Excluded { centre: x.clone(), radius: 2.0 }];
        assert_eq!(maximise(&criterion, &space, &[x], &everything, search, (1, 2)).unwrap(), None);
    }
}

/// A linear model has no gradients to give; by differences the search still ends in the corner where its lower bound is least.
#[test]
fn any_model_is_a_surrogate() {
    let mut model = BayesianRidge::new(2, BayesianRidgeParameters::default()).unwrap();
    for x in Design::LatinHypercube.points(30, 2, 4) {
        model.learn(&x, 3.0 * x[0] - 2.0 * x[1] + 0.1 * (40.0 * x[0]).sin()).unwrap();
    }
    let (surrogate, acquisition) = (ModelSurrogate(model), LowerConfidenceBound { kappa: 1.0 });
    let criterion =
        Criterion { surrogate: &surrogate, remap: &Remap::Identity, acquisition: &acquisition, best: 0.0 };
    let space = Space::real_box([(0.0, 1.0); 2]).unwrap();
    let search = Search { candidates: 20, starts: 2, steps: 50 };
    let (x, _) = maximise(&criterion, &space, &[], &[], search, (0, 0)).unwrap().unwrap();
    assert!(x[0] < 1e-6 && x[1] > 1.0 - 1e-6, "{x:?}");
}

#[test]
fn kappa_follows_its_line() {
    let line = Kappa::Line { from: 2.0, to: 1.0, steps: 5 };
    assert_eq!([0, 2, 4, 9].map(|step| line.at(step)), [2.0, 1.5, 1.0, 1.0]);
    assert!(AnyAcquisition::LowerConfidenceBound(Kappa::Fixed(f64::NAN)).validate().is_err());
    assert!(AnyAcquisition::ProbabilityOfImprovement { margin: -1.0 }.validate().is_err());
}
