//! The comparators: laws, coverage bounds on adversarial streams, saved states, bad input.

// Helpers of tests: what is broken must stop the test that met it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use truecast::recalibrate::comparator::{
    Aci, AciOptions, DtAci, DtAciOptions, Pid, PidOptions, QuantileRecalibrator, QuantileRule, Saocp,
    SaocpOptions, SfOgd, SfOgdOptions, quantiles,
};
use truecast::{Error, Forecast, Gaussian, Recalibrator, SnapshotError, Stream, normal};
use truecast_streams::adversary::{Adversary, Alternator, IntervalStepper, LevelFlipper, Repeater, WorstPit};
use truecast_testkit::laws::recalibrator::{Start, recalibrator_laws};

const STEPS: usize = 3_000;

fn make<R: QuantileRule>() -> QuantileRecalibrator<R> {
    QuantileRecalibrator::new(R::Options::default()).expect("the defaults are valid")
}

fn laws<R: QuantileRule>() {
    recalibrator_laws(R::NAME, Start::Base, make::<R>, |_| {});
}

#[test]
fn aci_laws() {
    laws::<Aci>();
}

#[test]
fn dtaci_laws() {
    laws::<DtAci>();
}

#[test]
fn sf_ogd_laws() {
    laws::<SfOgd>();
}

#[test]
fn saocp_laws() {
    laws::<Saocp>();
}

#[test]
fn pid_laws() {
    laws::<Pid>();
}

/// Scores are the outcomes themselves: the base forecast is N(0, 1). All stay within ±12.
fn adversaries() -> Vec<(&'static str, Box<dyn Adversary>)> {
    vec![
        ("interval stepper, 80 %", Box::new(IntervalStepper::new(0.8, 4.0, 0).unwrap())),
        ("interval stepper, 98 %", Box::new(IntervalStepper::new(0.98, 4.0, 1).unwrap())),
        ("level flipper", Box::new(LevelFlipper::new(0.9, 1).unwrap())),
        ("worst PIT", Box::new(WorstPit::new(10, 4.0, 2).unwrap())),
        ("alternating fast", Box::new(Alternator::new(vec![-5.0, 5.0], 1).unwrap())),
        ("alternating slowly", Box::new(Alternator::new(vec![-3.0, 0.0, 3.0], 50).unwrap())),
        ("far above", Box::new(Repeater::new(12.0).unwrap())),
        ("far below", Box::new(Repeater::new(-12.0).unwrap())),
        ("ties", Box::new(Repeater::new(0.3).unwrap())),
    ]
}

/// Plays all adversaries; `check` sees, after each step, its number t (from 1), the recalibrator and every rule's own
/// Σ (hit − q), counted here and not by the rule.
fn against_all<R: QuantileRule>(check: impl Fn(&str, usize, &QuantileRecalibrator<R>, &[f64])) {
    let forecast = Gaussian::new(0.0, 1.0).expect("is valid");
    for (name, mut adversary) in adversaries() {
        let mut recalibrator = make::<R>();
        let probabilities: Vec<f64> = quantiles().map(normal::cdf).collect();
        let mut balances = vec![0.0; probabilities.len()];
        for t in 1..=STEPS {
            // The rules' own thresholds, before sorting.
            let history = recalibrator.history();
            let thresholds: Vec<f64> =
                recalibrator.rules().iter().map(|rule| rule.threshold(history)).collect();
            let calibrated = recalibrator.recalibrate(forecast).expect("is valid");
            let y = adversary.outcome(&forecast, &calibrated);
            let z = forecast.probit(y);
            assert!(z.abs() <= 12.0, "{name}: {z}");
            recalibrator.observe(&forecast, y).expect("is finite");
            for (balance, (threshold, q)) in balances.iter_mut().zip(thresholds.iter().zip(&probabilities)) {
                *balance += if z <= *threshold { 1.0 - q } else { -q };
            }
            check(name, t, &recalibrator, &balances);
        }
    }
}

/// −(1−q)/γ − q < Σ (hit − q) < q/γ + (1−q), from γ Σ (q − hit) = q_{T+1} − q and −γ(1−q) < q_{T+1} < 1 + γq; 1e-6 for rounding.
#[test]
fn aci_keeps_its_bound() {
    let rate = AciOptions::default().rate;
    against_all::<Aci>(|name, t, _, balances| {
        for (balance, q) in balances.iter().zip(quantiles().map(normal::cdf)) {
            let (low, high) = (-(1.0 - q) / rate - q, q / rate + (1.0 - q));
            assert!(
                *balance >= low - 1e-6 && *balance <= high + 1e-6,
                "{name}, step {t}, {q}: {balance} outside of {low} to {high}"
            );
        }
    });
}

/// |Σ (hit − q)| ≤ 2 B √S_T / η with B = max(12, 3.1) + η, by summation by parts: see `sf_ogd.rs`.
#[test]
fn sf_ogd_keeps_its_bound() {
    let rate = SfOgdOptions::default().rate;
    against_all::<SfOgd>(|name, t, recalibrator, balances| {
        for (balance, rule) in balances.iter().zip(recalibrator.rules()) {
            let bound = 2.0 * (12.0 + rate) * rule.squares().sqrt() / rate;
            assert!(balance.abs() <= bound + 1e-6, "{name}, step {t}: {balance} beyond {bound}");
        }
    });
}

/// |Σ (hit − q)| ≤ max(3, (π/2) C (T−1)/ln(T−1) + 1), C = c √(q(1−q)): see `pid.rs`.
#[test]
fn pid_keeps_its_bound() {
    let saturation = PidOptions::default().saturation;
    against_all::<Pid>(|name, t, recalibrator, balances| {
        for (k, (balance, q)) in balances.iter().zip(quantiles().map(normal::cdf)).enumerate() {
            assert!(
                (balance + recalibrator.rules()[k].error()).abs() < 1e-6,
                "{name}: its own count differs"
            );
            let before = t as f64 - 1.0;
            let c = saturation * (q * (1.0 - q)).sqrt();
            let budget =
                if t > 3 { 0.5 * std::f64::consts::PI * c * before / before.ln() + 1.0 } else { 3.0 };
            let bound = budget.max(3.0);
            assert!(balance.abs() <= bound + 1e-6, "{name}, step {t}, {q}: {balance} beyond {bound}");
        }
    });
}

/// The tracker alone, with an integrator so far from saturation that it is 1e-6 of the threshold at most: then
/// |Σ (hit − q)| ≤ (12 + 3.1 + η)/η, as x_{T+1} = x_1 + η Σ (q − hit) stays within 12 + η.
#[test]
fn the_tracker_alone_is_within_a_constant() {
    let options = PidOptions { saturation: 1e9, ..PidOptions::default() };
    let bound = (12.0 + 3.1 + options.rate) / options.rate;
    let forecast = Gaussian::new(0.0, 1.0).expect("is valid");
    for (name, mut adversary) in adversaries() {
        let mut recalibrator = QuantileRecalibrator::<Pid>::new(options.clone()).expect("is valid");
        for _ in 0..STEPS {
            let calibrated = recalibrator.recalibrate(forecast).expect("is valid");
            let y = adversary.outcome(&forecast, &calibrated);
            recalibrator.observe(&forecast, y).expect("is finite");
            for rule in recalibrator.rules() {
                assert!(rule.error().abs() <= bound + 1e-6, "{name}: {} beyond {bound}", rule.error());
            }
        }
    }
}

/// Sorting moves balance between levels and creates none: the announced quantiles' hits add up to the rules'.
#[test]
fn sorting_keeps_the_sum_of_hits() {
    let forecast = Gaussian::new(0.0, 1.0).expect("is valid");
    let mut recalibrator = make::<SfOgd>();
    let mut adversary = Alternator::new(vec![-5.0, 5.0, 0.2], 3).unwrap();
    let mut crossed = 0;
    for _ in 0..500 {
        let own: Vec<f64> =
            recalibrator.rules().iter().map(|rule| rule.threshold(recalibrator.history())).collect();
        let calibrated = recalibrator.recalibrate(forecast).expect("is valid");
        let announced = calibrated.map().curve().expect("is continuous").places().to_vec();
        let z = forecast.probit(adversary.outcome(&forecast, &calibrated));
        let count = |thresholds: &[f64]| thresholds.iter().filter(|&&threshold| z <= threshold).count();
        assert_eq!(count(&own), count(&announced));
        assert!(announced.is_sorted());
        crossed += usize::from(!own.is_sorted());
        recalibrator.observe(&forecast, z).expect("is finite");
    }
    assert!(crossed > 0, "the stream must make thresholds cross");
}

/// An infinite threshold is the end of the line in the map, and later quantiles are still exact to 1e-8 probit units.
#[test]
fn the_whole_line_costs_no_digits() {
    let forecast = Gaussian::new(0.0, 1.0).expect("is valid");
    let mut recalibrator = make::<Aci>();
    for t in 0..200 {
        recalibrator
            .observe(&forecast, if t % 4 == 0 { -40.0 } else { f64::from(t % 7) - 3.0 })
            .expect("is finite");
    }
    let own: Vec<f64> =
        recalibrator.rules().iter().map(|rule| rule.threshold(recalibrator.history())).collect();
    assert_eq!(own[0], f64::NEG_INFINITY, "{own:?}");
    let calibrated = recalibrator.recalibrate(forecast).expect("is valid");
    let curve = calibrated.map().curve().expect("is continuous");
    assert_eq!(curve.places()[0], -QuantileRecalibrator::<Aci>::LARGEST_REACH);
    for (q, &score) in quantiles().map(normal::cdf).zip(curve.places()) {
        let quantile = calibrated.quantile(q);
        // Relative to the knots' distance: 5e5 · 1e-16/0.12 = 4e-10.
        assert!((quantile - score).abs() <= 1e-8 * (1.0 + score.abs()), "{q}: {quantile}, not {score}");
    }
}

#[test]
fn bad_options_are_refused() {
    fn refused<R: QuantileRule>(options: R::Options) -> Error {
        QuantileRecalibrator::<R>::new(options).expect_err("must be refused")
    }
    let not_positive = |what: &'static str| Error::NotPositive { what, value: 0.0 };
    let aci = AciOptions::default;
    assert_eq!(refused::<Aci>(AciOptions { rate: 0.0, ..aci() }), not_positive("rate"));
    assert_eq!(refused::<Aci>(AciOptions { prior: 0.0, ..aci() }), not_positive("prior"));
    let none = Error::TooFew { what: "window", least: 1, found: 0 };
    assert_eq!(refused::<Aci>(AciOptions { window: 0, ..aci() }), none);
    assert_eq!(refused::<DtAci>(DtAciOptions { window: 0, ..DtAciOptions::default() }), none);
    let short = Error::OutOfRange { what: "horizon", rule: "at least 1", value: 0.5 };
    assert_eq!(refused::<DtAci>(DtAciOptions { horizon: 0.5, ..DtAciOptions::default() }), short);
    assert_eq!(refused::<SfOgd>(SfOgdOptions { rate: 0.0 }), not_positive("rate"));
    let infinite = Error::NotFinite { what: "rate", value: f64::INFINITY };
    assert_eq!(refused::<SfOgd>(SfOgdOptions { rate: f64::INFINITY }), infinite);
    let saocp = SaocpOptions::default;
    assert_eq!(refused::<Saocp>(SaocpOptions { radius: 0.0, ..saocp() }), not_positive("radius"));
    let none = Error::TooFew { what: "lifetime", least: 1, found: 0 };
    assert_eq!(refused::<Saocp>(SaocpOptions { lifetime: 0, ..saocp() }), none);
    let pid = PidOptions::default;
    let negative = Error::OutOfRange { what: "rate", rule: "zero or more", value: -1.0 };
    assert_eq!(refused::<Pid>(PidOptions { rate: -1.0, ..pid() }), negative);
    assert_eq!(refused::<Pid>(PidOptions { gain: 0.0, ..pid() }), not_positive("gain"));
    assert_eq!(refused::<Pid>(PidOptions { saturation: 0.0, ..pid() }), not_positive("saturation"));
    let reach = QuantileRecalibrator::<Pid>::with_reach(pid(), 1e6).expect_err("is too far");
    assert_eq!(reach, Error::OutOfRange { what: "reach", rule: "between 10 and 500,000", value: 1e6 });
}

#[test]
fn damaged_states_are_refused() {
    fn refused<R: QuantileRule>(states: &[&[f64]]) {
        let mut rule = R::start(&R::Options::default(), 0.9, 1.28).expect("is valid");
        let before = rule.clone();
        for state in states {
            match rule.restore(state) {
                Err(SnapshotError::Invalid { field, .. }) => assert_eq!(field, R::NAME),
                other => panic!("{}: {state:?} gave {other:?}", R::NAME),
            }
            assert_eq!(rule, before);
        }
        rule.restore(&before.state()).expect("its own state loads");
        assert_eq!(rule, before);
    }
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    refused::<Aci>(&[&[], &[nan], &[0.1, 0.2]]);
    refused::<DtAci>(&[&[0.5; 15], &[0.5; 17], &[0.0; 16], &[nan; 16]]);
    refused::<SfOgd>(&[&[0.0], &[0.0, -1.0], &[inf, 1.0], &[0.0, nan]]);
    refused::<Pid>(&[&[0.0], &[nan, 0.0], &[0.0, inf]]);
    // Half an expert, an expert that ended at step 9, one that is yet to begin, a NaN.
    let expert = |begin: f64| [begin, 0.0, 1.0, 0.0, 0.0, 0.0];
    let state = |step: f64, begins: &[f64]| {
        let mut state = vec![step];
        begins.iter().for_each(|&begin| state.extend(expert(begin)));
        state
    };
    let (ended, future, none) = (state(9.0, &[1.0, 9.0]), state(3.0, &[4.0]), state(3.0, &[]));
    refused::<Saocp>(&[&[], &[1.0, 2.0], &ended, &future, &none, &[nan; 7]]);
}

/// Another rule's snapshot is refused by name, and so is a history of the wrong length.
#[test]
fn snapshots_of_other_rules_are_refused() {
    let mut stream: Stream<QuantileRecalibrator<SfOgd>, Gaussian> = Stream::new(make());
    stream.observe(Gaussian::new(0.0, 1.0).expect("is valid"), 0.3).expect("is finite");
    let bytes = stream.to_bytes().expect("can be saved");
    let refused =
        Stream::<QuantileRecalibrator<Pid>, Gaussian>::from_bytes(&bytes).expect_err("is another's");
    let reason = "it holds the recalibrator comparator/sf-ogd, not comparator/pid".to_string();
    assert_eq!(refused, Error::Snapshot(SnapshotError::Malformed { reason }));
    let mut json = serde_json::to_value(make::<Aci>()).expect("can be saved");
    json["scores"] = serde_json::json!([1.0]);
    let refused =
        serde_json::from_value::<QuantileRecalibrator<Aci>>(json).expect_err("no outcome was settled");
    assert!(
        refused.to_string().contains("scores must be the finite scores of the last outcomes"),
        "{refused}"
    );
}

/// A pending plan with infinite thresholds is saved and resumed to the same bits, far beyond the window's length.
#[test]
fn long_runs_resume_bit_equal() {
    fn resumes<R: QuantileRule>() {
        let forecast = Gaussian::new(1.0, 0.5).expect("is valid");
        let mut adversary = Alternator::new(vec![-30.0, 0.1, 0.4, 2.0, 30.0], 13).unwrap();
        let mut stream: Stream<QuantileRecalibrator<R>, Gaussian> = Stream::new(make());
        for t in 0..1_200 {
            let (ticket, calibrated) = stream.issue(forecast).expect("is valid");
            let y = adversary.outcome(&forecast, &calibrated);
            if t % 300 == 299 {
                let bytes = stream.to_bytes().expect("can be saved");
                let loaded = Stream::from_bytes(&bytes).expect("loads");
                assert_eq!(loaded.to_bytes().expect("can be saved"), bytes, "{}", R::NAME);
                let mut other: Stream<QuantileRecalibrator<R>, Gaussian> = loaded;
                let (a, b) = (stream.resolve(ticket, y), other.resolve(ticket, y));
                assert_eq!(a.expect("is pending"), b.expect("is pending"), "{}", R::NAME);
                assert_eq!(stream.to_bytes().expect("can be saved"), other.to_bytes().expect("can be saved"));
                stream = other;
            } else {
                stream.resolve(ticket, y).expect("is pending");
            }
        }
    }
    resumes::<Aci>();
    resumes::<DtAci>();
    resumes::<SfOgd>();
    resumes::<Saocp>();
    resumes::<Pid>();
}
