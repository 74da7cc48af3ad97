//! Defensive forecasting: its inequality on arbitrary sequences, the norm it speaks of, and the laws.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::sync::Arc;
use std::time::Instant;

use proptest::prelude::*;
use truecast::error::{Error, SnapshotError};
use truecast::grid::Plays;
use truecast::random;
use truecast::subroutine::{Defensive, DefensiveOptions, LedgerOptions, LedgerRule, Play, Subroutine};
use truecast_testkit::laws::subroutine::{Promise, subroutine_laws};

fn grids() -> Vec<(&'static str, Plays)> {
    vec![
        ("the default grid", Plays::default()),
        ("i/20", Plays::uniform(20).unwrap()),
        ("one interval", Plays::uniform(1).unwrap()),
        ("three intervals", Plays::probit(3, 1.0).unwrap()),
        ("uneven", Plays::new(vec![0.0, 1e-6, 0.25, 0.26, 0.9, 1.0]).unwrap()),
    ]
}

/// √((1 + Σ (1 + ρ)/(1 − ρ)) (1 + κ/2)/T), the norm of ±1 in turn; never more than 1, since no error is.
fn promised(plays: &Plays, steps: f64, bandwidth: f64, prior: f64) -> f64 {
    let correlation = |v: &[f64]| (-(v[1] - v[0]) / bandwidth).exp();
    let squared = plays.values().windows(2).map(correlation).map(|r| (1.0 + r) / (1.0 - r)).sum::<f64>();
    ((1.0 + squared) * (1.0 + 0.5 * prior) / steps).sqrt().min(1.0)
}

#[test]
fn laws() {
    for (grid, plays) in grids() {
        let promise = Promise { randomised: false, bound: |plays, t| promised(plays, t, 0.1, 10.0) };
        subroutine_laws::<Defensive>(&format!("defensive on {grid}"), &Default::default(), &plays, promise);
        let promise = Promise { randomised: false, bound: |plays, t| promised(plays, t, 0.02, 0.0) };
        let options = DefensiveOptions { bandwidth: 0.02, prior: 0.0 };
        subroutine_laws::<Defensive>(&format!("defensive, no prior, on {grid}"), &options, &plays, promise);
    }
}

/// k(p, p') from its definition.
fn kernel(plays: &Plays, bandwidth: f64, p: Play, q: Play) -> f64 {
    let v = plays.values();
    let ends =
        |play: Play| [(play.cell as usize, 1.0 - play.fraction), (play.cell as usize + 1, play.fraction)];
    let mut sum = 0.0;
    for (i, a) in ends(p) {
        for (j, b) in ends(q) {
            sum += a * b * (-(v[i] - v[j]).abs() / bandwidth).exp();
        }
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// cᵀKc is Σ_s,t k (o − p)(o − p), at most Σ k(p,p)(o − p)² plus the prior's part, at most T(1 + κ/2); and every test function is
    /// within its norm. Equal to rounding where bets are zero: 1e-9.
    #[test]
    fn the_inequality_holds_on_arbitrary_sequences(
        grid in 0..5_usize,
        base in 0.0..=1.0_f64,
        bandwidth in prop::sample::select(vec![0.01, 0.1, 0.5, 3.0]),
        prior in prop::sample::select(vec![0.0, 1.0, 10.0]),
        outcomes in prop::collection::vec(0..4_u8, 1..150),
        test in prop::collection::vec(-1.0..=1.0_f64, 21),
    ) {
        let plays = Arc::new(grids()[grid].1.clone());
        let options = DefensiveOptions { bandwidth, prior };
        let mut subroutine = Defensive::start(&options, plays.clone(), base).unwrap();
        let (mut history, mut allowed) = (Vec::<(Play, f64)>::new(), 0.0);
        for outcome in &outcomes {
            let play = subroutine.expected();
            let p = play.probability;
            let o = f64::from(match outcome { 0 => 0_u8, 1 => 1, 2 => u8::from(p < 0.5), _ => u8::from(p < 0.2) });
            allowed += kernel(&plays, bandwidth, play, play) * (o - p) * (o - p) + 2.0 * prior * (p - base) * (o - p);
            history.push((play, o - p));
            subroutine.settle(play, o == 1.0);
        }
        let pairs = history.iter().flat_map(|&(p, e)| history.iter().map(move |&(q, f)| (p, q, e * f)));
        let energy = pairs.map(|(p, q, product)| kernel(&plays, bandwidth, p, q) * product).sum::<f64>();
        let steps = outcomes.len() as f64;
        prop_assert!((energy - subroutine.potential()).abs() <= 1e-9 * steps, "{energy} {}", subroutine.potential());
        prop_assert!(energy <= allowed + 1e-9 * steps, "{energy} {allowed}");
        prop_assert!(allowed <= steps * (1.0 + 0.5 * prior) + 1e-9 * steps);
        let f = &test[..plays.values().len()];
        let at = |play: Play| (1.0 - play.fraction) * f[play.cell as usize] + play.fraction * f[play.cell as usize + 1];
        let tested = history.iter().map(|&(play, error)| at(play) * error).sum::<f64>().abs();
        let norm = subroutine.norm(f).unwrap();
        prop_assert!(tested <= norm * (energy.max(0.0) + 1e-9 * steps).sqrt() + 1e-9, "{tested} {norm} {energy}");
    }
}

/// K e_i has norm √K_ii = 1 by reproduction; a Lipschitz function's norm stays below √(1 + 1/2b + bℓ²/2) however fine the grid.
#[test]
fn norms() {
    for intervals in [1, 5, 20, 200, 2000] {
        let plays = Arc::new(Plays::uniform(intervals).unwrap());
        for bandwidth in [0.05, 0.1, 1.0] {
            let options = DefensiveOptions { bandwidth, prior: 0.0 };
            let subroutine = Defensive::start(&options, plays.clone(), 0.5).unwrap();
            let row: Vec<f64> = plays.values().iter().map(|v| (-(v - 0.0).abs() / bandwidth).exp()).collect();
            assert!((subroutine.norm(&row).unwrap() - 1.0).abs() < 1e-9);
            for slope in [0.0, 1.0, 6.0] {
                let f: Vec<f64> = plays.values().iter().map(|v| (slope * v).sin()).collect();
                let bound = (1.0 + 0.5 / bandwidth + 0.5 * bandwidth * slope * slope).sqrt();
                assert!(subroutine.norm(&f).unwrap() <= bound);
            }
        }
    }
    let subroutine =
        Defensive::start(&Default::default(), Arc::new(Plays::uniform(4).unwrap()), 0.5).unwrap();
    let mismatch = Error::LengthMismatch { what: "test function and plays", left: 2, right: 5 };
    assert_eq!(subroutine.norm(&[0.0, 1.0]), Err(mismatch));
}

/// At a bandwidth far below every gap no play answers for another, and the rule is the ledger's.
#[test]
fn no_bandwidth_is_the_ledger_rule() {
    let plays = Arc::new(Plays::uniform(20).unwrap());
    let options = DefensiveOptions { bandwidth: 1e-5, prior: 10.0 };
    let mut defensive = Defensive::start(&options, plays.clone(), 0.3).unwrap();
    let mut ledger = LedgerRule::start(&LedgerOptions { prior: 10.0 }, plays, 0.3).unwrap();
    for t in 0..2000 {
        let (play, other) = (defensive.expected(), ledger.expected());
        assert_eq!(play.probability, other.probability, "step {t}");
        let happened = random::uniform(5, t, 0) < if t % 400 < 200 { 0.2 } else { 0.7 };
        defensive.settle(play, happened);
        ledger.settle(other, happened);
    }
}

#[test]
fn bad_options_and_states_are_refused() {
    let plays = Arc::new(Plays::uniform(1).unwrap());
    let start = |bandwidth, prior| {
        Defensive::start(&DefensiveOptions { bandwidth, prior }, plays.clone(), 0.5).unwrap_err()
    };
    assert_eq!(start(0.0, 0.0), Error::NotPositive { what: "bandwidth", value: 0.0 });
    assert_eq!(start(0.1, -1.0), Error::OutOfRange { what: "prior", rule: "zero or more", value: -1.0 });
    let mut subroutine = Defensive::start(&Default::default(), plays.clone(), 0.5).unwrap();
    let invalid = SnapshotError::Invalid { field: "defensive", rule: "on the play grid" };
    for last in [[1.0, 0.5], [0.5, 0.5], [0.0, 1.5]] {
        assert_eq!(subroutine.restore(&[0.0, 0.0, 3.0, last[0], last[1]]), Err(invalid.clone()));
    }
}

/// Run in release: `cargo test --release --test defensive -- --ignored --nocapture`.
#[test]
#[ignore = "measures time"]
fn time_per_step() {
    const STEPS: u64 = 1_000_000;
    let plays = Arc::new(Plays::uniform(20).unwrap());
    let mut subroutine = Defensive::start(&Default::default(), plays, 0.3).unwrap();
    let clock = Instant::now();
    for t in 0..STEPS {
        let play = subroutine.expected();
        subroutine.settle(play, random::uniform(3, t, 0) < 0.3);
    }
    let each = clock.elapsed().as_nanos() as f64 / STEPS as f64;
    println!("{each:.1} ns per step, calibration error {:.5}", subroutine.calibration_error());
}
