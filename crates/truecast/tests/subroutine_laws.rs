//! Every subroutine keeps the laws, on several play grids, with the bound that it promises.

use truecast::grid::Plays;
use truecast::subroutine::{Approachability, LedgerOptions, LedgerRule};
use truecast_testkit::laws::subroutine::{Promise, subroutine_laws};

#[expect(clippy::unwrap_used, reason = "grids that are known to be valid")]
fn grids() -> Vec<(&'static str, Plays)> {
    vec![
        ("the default grid", Plays::default()),
        ("i/20", Plays::uniform(20).unwrap()),
        ("one interval", Plays::uniform(1).unwrap()),
        ("three intervals", Plays::probit(3, 1.0).unwrap()),
        ("64 intervals", Plays::probit(64, 3.3).unwrap()),
        ("uneven", Plays::new(vec![0.0, 1e-6, 0.25, 0.26, 0.9, 1.0]).unwrap()),
    ]
}

fn largest_gap(plays: &Plays) -> f64 {
    plays.values().windows(2).map(|v| v[1] - v[0]).fold(0.0, f64::max)
}

/// Theorem L1 with one ledger of weight 1: Ψ ≤ 1 + κ/2, so Σ|L|/T ≤ √((N+1)(1 + κ/2)/T), on every sequence.
#[test]
fn ledger_rule() {
    for (grid, plays) in grids() {
        let bound = |plays: &Plays, t: f64| (plays.values().len() as f64 * 6.0 / t).sqrt();
        let name = format!("ledger rule on {grid}");
        subroutine_laws::<LedgerRule>(
            &name,
            &LedgerOptions::default(),
            &plays,
            Promise { randomised: false, bound },
        );
        let bound = |plays: &Plays, t: f64| (plays.values().len() as f64 / t).sqrt();
        let name = format!("ledger rule without prior on {grid}");
        subroutine_laws::<LedgerRule>(
            &name,
            &LedgerOptions { prior: 0.0 },
            &plays,
            Promise { randomised: false, bound },
        );
    }
}

/// Theorem 4: with probability 1 − δ at most h/2 + √(2(N+1)/T) + √(2 ln(1/δ)/T); δ = 1e-6 over the 252 runs of this test.
#[test]
fn approachability() {
    for (grid, plays) in grids() {
        let bound = |plays: &Plays, t: f64| {
            let chance = (2.0 * 1e6_f64.ln() / t).sqrt();
            0.5 * largest_gap(plays) + (2.0 * plays.values().len() as f64 / t).sqrt() + chance
        };
        let name = format!("approachability on {grid}");
        subroutine_laws::<Approachability>(
            &name,
            &Default::default(),
            &plays,
            Promise { randomised: true, bound },
        );
    }
}

/// The same bound without chance for the expected plays: the mean of theorem 4's proof is then what is booked.
#[test]
fn approachability_in_expectation() {
    for (grid, plays) in grids() {
        let bound =
            |plays: &Plays, t: f64| 0.5 * largest_gap(plays) + (2.0 * plays.values().len() as f64 / t).sqrt();
        let name = format!("expected approachability on {grid}");
        subroutine_laws::<Approachability>(
            &name,
            &Default::default(),
            &plays,
            Promise { randomised: false, bound },
        );
    }
}
