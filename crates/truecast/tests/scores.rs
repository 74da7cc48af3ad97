//! Scores against independent implementations (`golden/scores.py`), closed forms and first principles.

use serde::Deserialize;
use statrs::distribution::{ContinuousCDF, StudentsT as StatrsT};
use truecast::score::interval::{CentralInterval, of_interval, weighted_of_intervals};
use truecast::score::{brier, crps, interval, log_score, pinball};
use truecast::{Error, Forecast, Gaussian};

#[derive(Deserialize)]
struct Golden {
    student_t: Vec<StudentT>,
    logistic: Scores,
    exponential: Scores,
    ensembles: Vec<Ensemble>,
    pinball: Vec<Pinball>,
    intervals: Vec<Intervals>,
}

#[derive(Deserialize)]
struct Scores {
    outcomes: Vec<f64>,
    crps: Vec<f64>,
}

#[derive(Deserialize)]
struct StudentT {
    dof: f64,
    #[serde(flatten)]
    scores: Scores,
}

#[derive(Deserialize)]
struct Ensemble {
    members: Vec<f64>,
    outcome: f64,
    crps: f64,
    fair: Option<f64>,
}

#[derive(Deserialize)]
struct Pinball {
    probability: f64,
    quantile: f64,
    outcome: f64,
    loss: f64,
}

#[derive(Deserialize)]
struct Intervals {
    median: f64,
    coverages: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    outcome: f64,
    winkler: Vec<f64>,
    weighted: f64,
}

#[expect(clippy::unwrap_used, reason = "a test's own data")]
fn golden() -> Golden {
    serde_json::from_str(include_str!("golden/scores.json")).unwrap()
}

/// Known by its three functions alone, as a user's own forecast would be.
#[derive(Debug)]
enum Plain {
    StudentT(StatrsT),
    Logistic,
    /// Of the given rate.
    Exponential(f64),
    /// Atoms at the two points, the first with the given probability.
    TwoAtoms(f64, f64, f64),
    /// P(Y > y) = (1 + y)^(-a) on y ≥ 0.
    Pareto(f64),
    /// N(0, 1) and N(distance, 1), half and half.
    FarModes(f64),
}

impl Forecast for Plain {
    fn cdf(&self, y: f64) -> f64 {
        match *self {
            Plain::StudentT(ref law) => law.cdf(y),
            Plain::Logistic => 1.0 / (1.0 + (-y).exp()),
            Plain::Exponential(rate) => -(-rate * y.max(0.0)).exp_m1(),
            Plain::TwoAtoms(a, b, p) => {
                f64::from(u8::from(y >= a)) * p + f64::from(u8::from(y >= b)) * (1.0 - p)
            }
            Plain::Pareto(a) => -(-a * y.max(0.0).ln_1p()).exp_m1(),
            Plain::FarModes(d) => 0.5 * (truecast::normal::cdf(y) + truecast::normal::cdf(y - d)),
        }
    }

    fn sf(&self, y: f64) -> f64 {
        match *self {
            Plain::StudentT(ref law) => law.cdf(-y),
            Plain::Logistic => 1.0 / (1.0 + y.exp()),
            Plain::Exponential(rate) => (-rate * y.max(0.0)).exp(),
            Plain::TwoAtoms(..) => 1.0 - self.cdf(y),
            Plain::Pareto(a) => (-a * y.max(0.0).ln_1p()).exp(),
            Plain::FarModes(d) => 0.5 * (truecast::normal::sf(y) + truecast::normal::sf(y - d)),
        }
    }

    fn quantile(&self, probability: f64) -> f64 {
        match *self {
            Plain::StudentT(_) | Plain::FarModes(_) => bisect(self, probability),
            Plain::Logistic => (probability / (1.0 - probability)).ln(),
            Plain::Exponential(rate) => -(-probability).ln_1p() / rate,
            Plain::Pareto(a) => (-(-probability).ln_1p() / a).exp_m1(),
            Plain::TwoAtoms(a, b, p) => {
                if probability <= p {
                    a
                } else {
                    b
                }
            }
        }
    }
}

/// The quantile to the last bit, by halving the order of the floating-point numbers: any magnitude, 64 steps.
fn bisect(forecast: &Plain, probability: f64) -> f64 {
    let (mut low, mut high) = (-1e30_f64, 1e30_f64);
    let key = |x: f64| if x < 0.0 { -(x.abs().to_bits() as i64) } else { x.to_bits() as i64 };
    let value = |k: i64| if k < 0 { -f64::from_bits(k.unsigned_abs()) } else { f64::from_bits(k as u64) };
    for _ in 0..64 {
        let middle = value(key(low).midpoint(key(high)));
        if forecast.cdf(middle) >= probability { high = middle } else { low = middle }
    }
    high
}

/// 1e-10 is what `crps::evaluate` promises.
fn assert_close(what: &str, got: f64, expected: f64, relative: f64) {
    assert!((got - expected).abs() <= relative * expected.abs(), "{what}: {got} for {expected}");
}

#[test]
fn quadrature_of_heavy_and_one_sided_tails() {
    let golden = golden();
    let mut cases = vec![
        (Plain::Logistic, golden.logistic, "logistic".to_owned()),
        (Plain::Exponential(2.0), golden.exponential, "exponential".to_owned()),
    ];
    for case in golden.student_t {
        let law = StatrsT::new(0.0, 1.0, case.dof).unwrap();
        cases.push((Plain::StudentT(law), case.scores, format!("Student-t {}", case.dof)));
    }
    for (forecast, scores, name) in cases {
        for (&y, &expected) in scores.outcomes.iter().zip(&scores.crps) {
            assert_close(&format!("{name} at {y}"), crps::of(&forecast, y).unwrap(), expected, 1e-10);
        }
    }
}

/// ∫ (1 − v^-a)² + ∫ v^-2a with v = 1 + x. At a ≤ 1 there is no mean, and the score is finite down to a > ½.
#[test]
fn quadrature_without_a_mean() {
    for a in [0.6, 0.8, 1.0_f64.next_up(), 2.5] {
        let forecast = Plain::Pareto(a);
        for y in [-3.0, 0.0, 0.5, 20.0, 1e4] {
            let v = 1.0 + f64::max(y, 0.0);
            let power =
                |p: f64| if (1.0 - p).abs() < 1e-9 { v.ln() } else { (v.powf(1.0 - p) - 1.0) / (1.0 - p) };
            let below = (v - 1.0) - 2.0 * power(a) + power(2.0 * a);
            let expected = f64::max(-y, 0.0) + below + v.powf(1.0 - 2.0 * a) / (2.0 * a - 1.0);
            assert_close(&format!("a = {a}, at {y}"), crps::of(&forecast, y).unwrap(), expected, 1e-10);
        }
    }
}

/// Two points a < b with probabilities p and 1 − p: (1 − p)² or p² for each unit of the axis between.
#[test]
fn quadrature_of_two_atoms_without_being_told_where_they_are() {
    let (a, b, p) = (-1.0, 3.0, 0.3);
    let forecast = Plain::TwoAtoms(a, b, p);
    for y in [-151.0_f64, -2.0, -1.0, 0.5, 3.0, 4.0, 203.0] {
        let inside = y.clamp(a, b);
        let expected =
            (a - y).max(0.0) + (y - b).max(0.0) + p * p * (inside - a) + (1.0 - p) * (1.0 - p) * (b - inside);
        assert_close(&format!("at {y}"), crps::of(&forecast, y).unwrap(), expected, 1e-10);
    }
}

/// E|X − y| − ½ E|X − X'| with E|N(m, s²)| in closed form. Nothing tells the quadrature where the modes are.
#[test]
fn quadrature_of_modes_far_apart() {
    let folded = |m: f64, s: f64| {
        let z = m / s;
        m * (truecast::normal::cdf(z) - truecast::normal::sf(z)) + 2.0 * s * truecast::normal::density(z)
    };
    let root_two = std::f64::consts::SQRT_2;
    for distance in [3.0, 1e3, 1e6, 1e9] {
        let forecast = Plain::FarModes(distance);
        for y in [-50.0, 0.2, 0.4 * distance, distance + 1.0, 2.0 * distance] {
            let spread = 0.5 * folded(0.0, root_two) + 0.5 * folded(distance, root_two);
            let expected = 0.5 * (folded(y, 1.0) + folded(y - distance, 1.0)) - 0.5 * spread;
            assert_close(
                &format!("{distance} apart, at {y}"),
                crps::of(&forecast, y).unwrap(),
                expected,
                1e-10,
            );
        }
    }
}

#[test]
fn golden_ensembles() {
    for case in golden().ensembles {
        let range = case.members.iter().fold(case.outcome.abs(), |most, x| most.max(x.abs()));
        // The package's energy form cancels: 31² differences of numbers near 1e6 keep ten digits of them.
        let allowed = 1e-14 * range * case.members.len() as f64 + 1e-14;
        let got = crps::of_ensemble(&case.members, case.outcome).unwrap();
        assert!(
            (got - case.crps).abs() <= allowed,
            "{:?} at {}: {got} for {}",
            case.members,
            case.outcome,
            case.crps
        );
        match case.fair {
            Some(expected) => {
                let got = crps::of_ensemble_fair(&case.members, case.outcome).unwrap();
                assert!((got - expected).abs() <= allowed, "fair {:?}: {got} for {expected}", case.members);
            }
            None => assert!(crps::of_ensemble_fair(&case.members, case.outcome).is_err()),
        }
    }
}

/// A few operations on numbers of one magnitude: 1e-14.
#[test]
fn golden_quantiles_and_intervals() {
    let golden = golden();
    for case in golden.pinball {
        let got = pinball::of_quantile(case.quantile, case.outcome, case.probability).unwrap();
        assert!((got - case.loss).abs() < 1e-14, "{got} for {}", case.loss);
    }
    for case in golden.intervals {
        let intervals: Vec<CentralInterval> = (0..case.coverages.len())
            .map(|k| CentralInterval { coverage: case.coverages[k], low: case.low[k], high: case.high[k] })
            .collect();
        for (&interval, &expected) in intervals.iter().zip(&case.winkler) {
            assert_close("Winkler", of_interval(interval, case.outcome).unwrap(), expected, 1e-13);
        }
        let weighted = weighted_of_intervals(case.median, &intervals, case.outcome).unwrap();
        assert_close("WIS", weighted, case.weighted, 1e-13);
        // The same as twice the mean pinball loss of the 2K + 1 quantiles.
        let (mut probabilities, mut quantiles) = (vec![0.5], vec![case.median]);
        for interval in intervals {
            probabilities.extend([0.5 * (1.0 - interval.coverage), 0.5 * (1.0 + interval.coverage)]);
            quantiles.extend([interval.low, interval.high]);
        }
        let by_pinball = crps::of_quantiles(&probabilities, &quantiles, case.outcome).unwrap();
        assert_close("WIS by pinball", by_pinball, case.weighted, 1e-13);
    }
}

/// The expected score under N(0, 1) is least at the truth, among neighbours that differ by 15 % in place or spread. The
/// outcomes are 20,000 quantiles at midpoints, a distribution within 2.5e-5 of N(0, 1): the neighbours' probabilities
/// differ by 0.03 and more, a thousand times that.
#[test]
fn scores_are_proper() {
    type Score = fn(&Gaussian, f64) -> f64;
    let scores: [(&str, Score); 6] = [
        ("CRPS", |f, y| crps::of(f, y).unwrap()),
        ("log", |f, y| log_score::evaluate(f, y).unwrap()),
        ("pinball", |f, y| pinball::evaluate(f, y, 0.9).unwrap()),
        ("Winkler", |f, y| interval::evaluate(f, y, 0.8).unwrap()),
        ("weighted", |f, y| interval::weighted(f, y, &[0.5, 0.9]).unwrap()),
        ("Brier", |f, y| brier::evaluate(f, y, 0.7).unwrap()),
    ];
    let outcomes: Vec<f64> =
        (0..20_000).map(|k| truecast::normal::quantile((f64::from(k) + 0.5) / 20_000.0)).collect();
    for (name, score) in scores {
        let expected = |mean: f64, std: f64| {
            let forecast = Gaussian::new(mean, std).unwrap();
            outcomes.iter().map(|&y| score(&forecast, y)).sum::<f64>() / 20_000.0
        };
        let truth = expected(0.0, 1.0);
        for (mean, std) in [(0.15, 1.0), (-0.15, 1.0), (0.0, 1.15), (0.0, 0.85)] {
            assert!(expected(mean, std) > truth, "{name}: N({mean}, {std}²) beats the truth");
        }
    }
}

#[test]
fn brier_integrates_to_the_crps() {
    // The midpoint rule on steps of 1e-3 with the outcome on a step's edge: h²/12 times the change of slope, 1e-7.
    let forecast = Gaussian::new(0.3, 1.2).unwrap();
    let sum: f64 = (-10_000..10_000)
        .map(|k| brier::evaluate(&forecast, 1.0, (f64::from(k) + 0.5) * 1e-3).unwrap() * 1e-3)
        .sum();
    assert!((sum - forecast.crps(1.0)).abs() < 1e-6);
}

#[test]
fn bad_input_by_its_error() {
    let forecast = Gaussian::new(0.0, 1.0).unwrap();
    let nan = f64::NAN;
    for refused in [
        crps::of(&forecast, nan),
        crps::of_ensemble(&[1.0], nan),
        crps::of_quantiles(&[0.5], &[0.0], nan),
        log_score::evaluate(&forecast, nan),
        pinball::evaluate(&forecast, nan, 0.5),
        brier::evaluate(&forecast, nan, 0.0),
        interval::evaluate(&forecast, nan, 0.5),
        interval::weighted(&forecast, nan, &[0.5]),
    ] {
        assert!(matches!(refused, Err(Error::NotFinite { what: "outcome", .. })), "{refused:?}");
    }
    for probability in [0.0, 1.0, -0.5, nan] {
        assert!(matches!(pinball::evaluate(&forecast, 0.0, probability), Err(Error::OutOfRange { .. })));
        assert!(matches!(interval::evaluate(&forecast, 0.0, probability), Err(Error::OutOfRange { .. })));
    }
    assert!(matches!(brier::of_probability(1.1, true), Err(Error::OutOfRange { .. })));
    assert_eq!(crps::of_ensemble(&[], 0.0), Err(Error::TooFew { what: "samples", least: 1, found: 0 }));
    assert_eq!(
        crps::of_ensemble_fair(&[1.0], 0.0),
        Err(Error::TooFew { what: "samples", least: 2, found: 1 })
    );
    assert!(matches!(crps::of_ensemble(&[nan], 0.0), Err(Error::NotFinite { what: "sample", .. })));
    assert!(matches!(
        crps::of_quantiles(&[0.5], &[], 0.0),
        Err(Error::LengthMismatch { left: 1, right: 0, .. })
    ));
    assert!(matches!(crps::of_quantiles(&[], &[], 0.0), Err(Error::TooFew { .. })));
    let crossed = CentralInterval { coverage: 0.5, low: 1.0, high: 0.0 };
    assert!(matches!(of_interval(crossed, 0.0), Err(Error::NotIncreasing { index: 1, .. })));
    let atoms = Plain::TwoAtoms(0.0, 1.0, 0.5);
    assert_eq!(log_score::evaluate(&atoms, 0.0), Err(Error::NoDensity { outcome: 0.0 }));
}

/// A step map makes atoms of a continuous base. Its CRPS in closed form equals the sum over the steps of the squared
/// distance to the outcome's indicator, which needs nothing but the CDF between them; 1e-12 covers the rounding of forty terms.
#[test]
fn the_crps_of_a_step_map_is_a_sum_over_its_steps() {
    use truecast::{Parameters, Pipeline, Recalibrator};
    let parameters = Parameters::paper(20).unwrap().build().unwrap();
    let mut recalibrator = Pipeline::new(parameters);
    let base = Gaussian::new(3.0, 2.0).unwrap();
    for t in 0..300 {
        let outcome = 3.0 + f64::from(t % 11) - 4.0;
        let calibrated = recalibrator.recalibrate(base).unwrap();
        let mut at = Vec::new();
        calibrated.kinks(&mut at);
        at.push(outcome);
        at.sort_by(f64::total_cmp);
        let squared = |low: f64, high: f64| {
            let middle = 0.5 * (low + high);
            let error = calibrated.cdf(middle) - f64::from(u8::from(outcome <= middle));
            (high - low) * error * error
        };
        let sum: f64 = at.windows(2).map(|pair| squared(pair[0], pair[1])).sum();
        let crps = calibrated.crps(outcome);
        assert!((crps - sum).abs() <= 1e-12 * (1.0 + sum), "step {t}: {crps} is not {sum}");
        recalibrator.observe(&base, outcome).unwrap();
    }
}
