//! The running mean: right where outcomes are independent and alike, wrong where they are not, and the laws.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::sync::Arc;

use truecast::error::Error;
use truecast::grid::Plays;
use truecast::random;
use truecast::subroutine::{LedgerRule, RunningMean, RunningMeanOptions, Subroutine};
use truecast_testkit::laws::subroutine::{Promise, subroutine_laws};

/// It promises nothing on arbitrary sequences: 1 is the largest error there is.
#[test]
fn laws() {
    for plays in [Plays::default(), Plays::uniform(20).unwrap(), Plays::uniform(1).unwrap()] {
        for prior in [1.0, 0.0, 10.0] {
            let promise = Promise { randomised: false, bound: |_, _| 1.0 };
            subroutine_laws::<RunningMean>("running mean", &RunningMeanOptions { prior }, &plays, promise);
        }
    }
}

fn error_after<S: Subroutine>(steps: u64, mut event: impl FnMut(u64, f64) -> bool) -> f64 {
    let plays = Arc::new(Plays::uniform(20).unwrap());
    let mut subroutine = S::start(&S::Options::default(), plays, 0.5).unwrap();
    for t in 0..steps {
        let play = subroutine.expected();
        subroutine.settle(play, event(t, play.probability));
    }
    subroutine.calibration_error()
}

/// L_i = Σ τ_i(p)(o − θ) + Σ τ_i(p)(θ − p). The first is a martingale with E L_i² ≤ Σ E τ_i²/4, so these sum to √((N+1)T/4) at most in mean; the
/// second sum is at most Σ_t E|θ − p_t|, with E|θ − p_t| ≤ (κ + √t/2)/(κ + t) before outcome t + 1. Means of 100 seeds, held to the bound.
#[test]
fn independent_outcomes_are_calibrated() {
    for (steps, chance) in [(200_u64, 0.3), (2000, 0.3), (2000, 0.9), (2000, 0.01)] {
        let errors = (0..100)
            .map(|seed| error_after::<RunningMean>(steps, |t, _| random::uniform(seed, t, 4) < chance));
        let mean = errors.sum::<f64>() / 100.0;
        let t = steps as f64;
        let bound = (21.0 / (4.0 * t)).sqrt() + 1.0 / t.sqrt() + (1.0 + (1.0 + t).ln()) / t;
        assert!(mean <= bound, "θ = {chance}: {mean} after {steps} steps, bound {bound}");
    }
}

/// The limit of the method: regimes, never and always in turn, each ten times as long as all before it. In a regime of events
/// p_t = 1 − c/t with c ≈ T/11, so its errors sum to c ln 10 at T = 10^k, and the regime before takes back a tenth: 0.19 of all steps, at every
/// such T. The ledger rule is calibrated on the same: its theorem gives √(21·6/T).
#[test]
fn growing_regimes_are_not() {
    let regimes = |t: u64, _: f64| (t + 1).ilog10().is_multiple_of(2);
    for steps in [10_000, 100_000] {
        let bound = (21.0 * 6.0 / steps as f64).sqrt();
        let (mean, ledger) =
            (error_after::<RunningMean>(steps, regimes), error_after::<LedgerRule>(steps, regimes));
        println!("T = {steps}: running mean {mean:.4}, ledger rule {ledger:.4}, whose bound is {bound:.4}");
        assert!(ledger <= bound && (0.17..0.22).contains(&mean), "T = {steps}: {mean} {ledger}");
    }
}

#[test]
fn bad_options_are_refused() {
    let plays = Arc::new(Plays::default());
    let error = RunningMean::start(&RunningMeanOptions { prior: -1.0 }, plays.clone(), 0.5).unwrap_err();
    assert_eq!(error, Error::OutOfRange { what: "prior", rule: "zero or more", value: -1.0 });
    let error = RunningMean::start(&Default::default(), plays, f64::NAN).unwrap_err();
    assert!(matches!(error, Error::OutOfRange { what: "base probability", .. }));
}
