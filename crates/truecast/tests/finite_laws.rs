//! Laws of `finite`: planning is pure, the map starts as the identity, saved states resume bit for bit and are validated, bad input is
//! refused by name.

#![allow(clippy::unwrap_used, reason = "a test's own data")]

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use truecast::Error;
use truecast::finite::{
    BinaryPlan, BinaryRecalibrator, Calibeating, FosterVohra, FosterVohraParameters, PToP, PToPParameters,
    Scaling, ScalingFamily, ScalingParameters, SimplexParameters, SimplexRecalibrator, Triangulation,
};
use truecast::random::uniform;
use truecast::score::{brier, log_score};
use truecast::subroutine::{Approachability, LedgerRule, Play};

fn p_to_p<S: truecast::subroutine::Subroutine>(randomised: bool) -> PToP<S> {
    let parameters = PToPParameters { randomised, seed: 9, ..PToPParameters::with_resolution(10).unwrap() };
    PToP::new(parameters, S::Options::default()).unwrap()
}

fn scaling(family: ScalingFamily) -> Scaling {
    Scaling::new(ScalingParameters::of(family)).unwrap()
}

/// `tolerance`: how far the first announcement may be from the base, for bases within [1e-6, 1 − 1e-6].
fn laws<R>(name: &str, fresh: &R, tolerance: f64)
where
    R: BinaryRecalibrator + PartialEq + Serialize + DeserializeOwned,
{
    for base in [1e-6, 0.03, 0.5, 0.77, 1.0 - 1e-6] {
        let first = fresh.recalibrate(base).unwrap();
        assert!((first - base).abs() <= tolerance, "{name}: {base} became {first} before any outcome");
    }
    let mut run = fresh.clone();
    let mut resumed = fresh.clone();
    for t in 0..400 {
        let (base, happened) = (uniform(1, t, 0), uniform(1, t, 1) < 0.4);
        let asked = run.recalibrate(base).unwrap();
        assert_eq!(asked.to_bits(), run.recalibrate(base).unwrap().to_bits(), "{name}: asking changed it");
        assert!((0.0..=1.0).contains(&asked), "{name}: {asked}");
        assert_eq!(run.observe(base, happened).unwrap().to_bits(), asked.to_bits(), "{name}");
        let saved = serde_json::to_string(&resumed).unwrap();
        resumed = serde_json::from_str(&saved).unwrap();
        resumed.observe(base, happened).unwrap();
        assert_eq!(resumed, run, "{name}: a resumed run differs at {t}");
        assert_eq!(run.steps(), t + 1);
    }
    for base in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let refused: truecast::Result<f64> =
            Err(Error::OutOfRange { what: "base probability", rule: "between 0 and 1", value: base });
        let same = |got: truecast::Result<f64>| format!("{got:?}") == format!("{refused:?}");
        assert!(same(run.recalibrate(base)), "{name}: {base}");
        assert!(same(run.observe(base, true)), "{name}: {base}");
    }
    assert_eq!(resumed, run, "{name}: a refused input changed something");
    // No number of a saved state can be made NaN (JSON: null) or infinite (JSON: out of range) and be loaded.
    let saved = serde_json::to_value(&run).unwrap();
    let mut paths = Vec::new();
    numbers(&saved, String::new(), &mut paths);
    for path in paths {
        let mut damaged = saved.clone();
        *damaged.pointer_mut(&path).unwrap() = Value::Null;
        assert!(serde_json::from_value::<R>(damaged).is_err(), "{name}: loaded without {path}");
    }
}

fn numbers(value: &Value, path: String, into: &mut Vec<String>) {
    match value {
        Value::Number(_) => into.push(path),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(k, v)| numbers(v, format!("{path}/{k}"), into));
        }
        Value::Object(map) => map.iter().for_each(|(k, v)| numbers(v, format!("{path}/{k}"), into)),
        _ => (),
    }
}

#[test]
fn p_to_p_keeps_the_laws() {
    laws("ledger", &p_to_p::<LedgerRule>(false), 0.0);
    laws("approachability", &p_to_p::<Approachability>(false), 0.0);
    // Drawn plays are on the grid i/10.
    laws("drawn", &p_to_p::<Approachability>(true), 0.1);
}

#[test]
fn calibeating_keeps_the_laws() {
    laws("calibeating", &Calibeating::new(10).unwrap(), 0.0);
}

/// A logit and its inverse: 1e-6 of the ends they lose some 1e-16 relative to p(1−p) times the logit, 1e-14 here.
#[test]
fn scaling_keeps_the_laws() {
    laws("platt", &scaling(ScalingFamily::Platt), 1e-14);
    laws("beta", &scaling(ScalingFamily::Beta), 1e-14);
}

#[test]
fn scaling_is_monotone_at_every_step() {
    for family in [ScalingFamily::Platt, ScalingFamily::Beta] {
        let mut run = scaling(family);
        for t in 0..300 {
            // The event prefers small bases: the slope wants to be negative and must stop at zero.
            let base = uniform(2, t, 0);
            run.observe(base, uniform(2, t, 1) > base).unwrap();
            let map: Vec<f64> = (0..=20).map(|k| run.recalibrate(f64::from(k) / 20.0).unwrap()).collect();
            assert!(map.is_sorted_by(|a, b| a <= &(b + 1e-15)), "{family:?}, {t}: {map:?}");
        }
        assert_eq!(run.coefficients()[0], 0.0, "{family:?}");
    }
}

#[test]
fn from_scratch_keeps_the_laws() {
    let parameters = FosterVohraParameters::with_resolution(10).unwrap();
    let mut run = FosterVohra::<Approachability>::new(parameters, Default::default()).unwrap();
    let mut resumed = run.clone();
    assert_eq!(run.forecast(), 0.5);
    for t in 0..400 {
        let (asked, happened) = (run.forecast(), uniform(4, t, 1) < 0.3);
        assert_eq!(run.observe(happened).unwrap(), asked);
        assert!((asked * 10.0).fract() < 1e-12 || (asked * 10.0).fract() > 1.0 - 1e-12, "{asked}");
        resumed = serde_json::from_str(&serde_json::to_string(&resumed).unwrap()).unwrap();
        resumed.observe(happened).unwrap();
        assert_eq!(resumed, run);
    }
    let off = Play { probability: 0.5, cell: 10, fraction: 0.0 };
    let (what, rule) = ("cell of the play", "less than the number of play intervals");
    assert_eq!(run.settle(off, true), Err(Error::OutOfRange { what, rule, value: 10.0 }));
    let torn = Play { probability: 0.5, cell: 2, fraction: 0.0 };
    let (what, rule) = ("played probability", "the mixture that its cell and fraction say");
    assert_eq!(run.settle(torn, true), Err(Error::OutOfRange { what, rule, value: 0.5 }));
}

#[test]
fn simplex_keeps_the_laws() {
    for (outcomes, randomised) in [(2, false), (3, false), (4, false), (3, true)] {
        let parameters = SimplexParameters {
            outcomes,
            base_resolution: 2,
            resolution: 4,
            randomised,
            ..Default::default()
        };
        let mut run = SimplexRecalibrator::new(parameters).unwrap();
        let mut resumed = run.clone();
        for t in 0..200 {
            let mut base: Vec<f64> = (0..outcomes).map(|k| uniform(6, t, k as u32)).collect();
            let total: f64 = base.iter().sum();
            base.iter_mut().for_each(|b| *b /= total);
            if t == 0 && !randomised {
                assert_eq!(run.recalibrate(&base).unwrap(), base);
            }
            let outcome = ((uniform(6, t, 9) * uniform(6, t, 10)) * outcomes as f64) as usize;
            let asked = run.recalibrate(&base).unwrap();
            assert!((asked.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{asked:?}");
            let plan = run.observe(&base, outcome).unwrap();
            assert_eq!(&plan.probabilities[..outcomes], asked);
            resumed = serde_json::from_str(&serde_json::to_string(&resumed).unwrap()).unwrap();
            resumed.observe(&base, outcome).unwrap();
            assert_eq!(resumed, run, "{outcomes} outcomes, step {t}");
        }
    }
}

#[test]
fn bad_parameters_and_plans_are_refused_by_name() {
    assert_eq!(Calibeating::new(0), Err(Error::TooFew { what: "cells", least: 1, found: 0 }));
    let plan = BinaryPlan { base: 0.3, probability: 0.3, play: None };
    assert_eq!(
        p_to_p::<LedgerRule>(false).settle(&plan, true),
        Err(Error::ForeignPlan { expected: 1, found: 0 })
    );
    let of = |change: fn(&mut ScalingParameters)| {
        let mut parameters = ScalingParameters::of(ScalingFamily::Platt);
        change(&mut parameters);
        Scaling::new(parameters).unwrap_err()
    };
    let rule = "1 or more, so that the identity is allowed";
    assert_eq!(of(|p| p.largest_slope = 0.5), Error::OutOfRange { what: "largest slope", rule, value: 0.5 });
    assert_eq!(
        of(|p| p.largest_intercept = 0.0),
        Error::NotPositive { what: "largest intercept", value: 0.0 }
    );
    assert_eq!(of(|p| p.prior = -1.0), Error::NotPositive { what: "prior", value: -1.0 });
    assert_eq!(of(|p| p.clip = 0.5), Error::OutOfRange { what: "clip", rule: "between 0 and ½", value: 0.5 });
    let platt = scaling(ScalingFamily::Platt);
    let (what, rule) = ("coefficient of the map", "within the limits");
    assert_eq!(platt.regret_bound(&[-1.0, 0.0]), Err(Error::OutOfRange { what, rule, value: -1.0 }));
    let what = "coefficients of the map";
    assert_eq!(platt.regret_bound(&[1.0]), Err(Error::LengthMismatch { what, left: 2, right: 1 }));

    let five = SimplexParameters { outcomes: 5, ..Default::default() };
    let refused = Error::OutOfRange { what: "outcomes", rule: "at most 4", value: 5.0 };
    assert_eq!(SimplexRecalibrator::new(five).unwrap_err(), refused);
    let fine = Triangulation::new(4, 100).unwrap_err();
    let rule = "small enough for at most 20000 cells";
    assert_eq!(fine, Error::OutOfRange { what: "resolution", rule, value: 100.0 });
    let mut simplex = SimplexRecalibrator::new(SimplexParameters::default()).unwrap();
    let what = "probabilities of the outcomes";
    let refused = Error::LengthMismatch { what, left: 3, right: 2 };
    assert_eq!(simplex.recalibrate(&[0.5, 0.5]).unwrap_err(), refused);
    let (what, rule) = ("sum of the probabilities", "1, within 1e-9");
    let refused = Error::OutOfRange { what, rule, value: 0.75 };
    assert_eq!(simplex.recalibrate(&[0.25, 0.25, 0.25]).unwrap_err(), refused);
    assert_eq!(brier::of_outcome(&[0.25, 0.25, 0.25], 0).unwrap_err(), refused);
    assert_eq!(log_score::of_outcome(&[0.25, 0.25, 0.25], 0).unwrap_err(), refused);
    let (what, rule) = ("outcome", "less than the number of outcomes");
    let refused = Error::OutOfRange { what, rule, value: 3.0 };
    assert_eq!(simplex.observe(&[0.5, 0.25, 0.25], 3).unwrap_err(), refused);
    assert_eq!(brier::of_outcome(&[0.5, 0.25, 0.25], 3).unwrap_err(), refused);
}

/// Well-formed and false: what is owed at a vertex does not sum to zero, a piece or a cell that does not exist, more events than outcomes,
/// coefficients outside of their limits, a curvature that is no sum of squares.
#[test]
fn inconsistent_states_are_refused() {
    fn refuses<R: Serialize + DeserializeOwned>(of: &R, path: &str, value: f64, rule: &str) {
        let mut saved = serde_json::to_value(of).unwrap();
        *saved.pointer_mut(path).unwrap() =
            if value.fract() == 0.0 { Value::from(value as i64) } else { Value::from(value) };
        let refused = serde_json::from_value::<R>(saved).err().map(|e| e.to_string());
        assert!(refused.as_ref().is_some_and(|e| e.contains(rule)), "{path} = {value}: {refused:?}");
    }
    let mut simplex = SimplexRecalibrator::new(SimplexParameters::default()).unwrap();
    simplex.observe(&[0.5, 0.3, 0.2], 1).unwrap();
    refuses(&simplex, "/cells/0/1/balances/0", 0.7, "zero in sum at every vertex");
    refuses(&simplex, "/cells/0/1/piece", 100_000.0, "of the parameters' shape");
    refuses(&simplex, "/cells/0/0", 16.0, "of the parameters' shape");
    refuses(&simplex, "/cells/0/1/count", 0.0, "of the parameters' shape");
    refuses(&simplex, "/parameters/outcomes", 7.0, "outcomes must be at most 4");
    let mut running = Calibeating::new(2).unwrap();
    running.observe(0.2, true).unwrap();
    refuses(&running, "/cells/0/1", 2.0, "at most as many events as outcomes");
    let mut platt = scaling(ScalingFamily::Platt);
    platt.observe(0.2, true).unwrap();
    refuses(&platt, "/theta/0", -0.5, "within the limits");
    refuses(&platt, "/theta/2", 0.5, "within the limits");
    refuses(&platt, "/curvature/0/0", 3.5, "symmetric and positive definite");
    refuses(&platt, "/curvature/0/1", 0.5, "symmetric and positive definite");
    refuses(&platt, "/growth", -1.5, "growth must be zero or more");
    let mut cells = p_to_p::<LedgerRule>(false);
    cells.observe(0.2, true).unwrap();
    refuses(&cells, "/cells/0/1/11", -1.0, "a count of steps");
    refuses(&cells, "/parameters/cells", 9.0, "as many as the parameters say");
}

/// Plans that wait: settled backwards, every outcome is booked once, against what was announced for it.
#[test]
fn outcomes_may_come_late_and_in_any_order() {
    let mut recalibrator = p_to_p::<Approachability>(true);
    let mut simplex = SimplexRecalibrator::new(SimplexParameters::default()).unwrap();
    let plans: Vec<_> = (0..50).map(|t| recalibrator.plan(uniform(3, t, 0), t).unwrap()).collect();
    let wide: Vec<_> = (0..50).map(|t| simplex.plan(&[0.2, 0.3, 0.5], t).unwrap()).collect();
    let mut regret = 0.0;
    for (t, (plan, wide)) in plans.iter().zip(&wide).enumerate().rev() {
        let o = f64::from(u8::from(t % 3 == 0));
        recalibrator.settle(plan, t % 3 == 0).unwrap();
        simplex.settle(wide, t % 3).unwrap();
        regret += (plan.probability - o).powi(2) - (plan.base - o).powi(2);
    }
    assert_eq!((recalibrator.steps(), simplex.steps()), (50, 50));
    assert!((recalibrator.regret() - regret).abs() < 1e-12);
    assert!(simplex.regret().abs() < 1e-12, "only the base was announced");
}
