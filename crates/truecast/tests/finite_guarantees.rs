//! The theorems of `finite`, on arbitrary sequences and against adversaries. Bounds are derived in the files they come from.

#![allow(clippy::unwrap_used, reason = "a test's own data")]

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use truecast::finite::non_proper::demonstration;
use truecast::finite::{
    BinaryRecalibrator, Calibeating, FosterVohra, FosterVohraParameters, PToP, PToPParameters, Scaling,
    ScalingFamily, ScalingParameters, SimplexParameters, SimplexRecalibrator,
};
use truecast::grid::Plays;
use truecast::random::uniform;
use truecast::subroutine::{Approachability, LedgerRule, Subroutine};

/// Room for sums of a few thousand rounded terms.
const ROUNDING: f64 = 1e-8;

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 200,
        rng_seed: RngSeed::Fixed(2026),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn square(x: f64) -> f64 {
    x * x
}

fn p_to_p<S: Subroutine>(cells: usize, plays: usize, randomised: bool) -> PToP<S> {
    let parameters = PToPParameters { cells, plays: Plays::uniform(plays).unwrap(), randomised, seed: 3 };
    PToP::new(parameters, S::Options::default()).unwrap()
}

/// A base probability and whether its event happens, or (`None`) whether it happens against the announcement.
fn sequence() -> impl Strategy<Value = Vec<(f64, Option<bool>)>> {
    let base = prop_oneof![0.0..=1.0, Just(0.0), Just(1.0), Just(0.5), Just(0.31)];
    prop::collection::vec((base, prop::option::of(any::<bool>())), 1..400)
}

/// The bookkeeping both squared-loss theorems are held against: sums per cell, outside of the library.
#[derive(Default)]
struct Books {
    loss: f64,
    base_loss: f64,
    cells: std::collections::BTreeMap<usize, (f64, f64)>,
}

impl Books {
    fn run<R: BinaryRecalibrator>(r: &mut R, cells: usize, steps: &[(f64, Option<bool>)]) -> Books {
        let mut books = Books::default();
        for &(base, event) in steps {
            let happened = event.unwrap_or(r.recalibrate(base).unwrap() < 0.5);
            let (announced, o) = (r.observe(base, happened).unwrap(), f64::from(u8::from(happened)));
            books.loss += square(announced - o);
            books.base_loss += square(base - o);
            let cell = books.cells.entry(((base * cells as f64) as usize).min(cells - 1)).or_default();
            *cell = (cell.0 + 1.0, cell.1 + o);
        }
        books
    }

    fn refinement(&self) -> f64 {
        self.cells.values().map(|&(n, ones)| ones * (1.0 - ones / n)).sum()
    }
}

fn check_p_to_p<S: Subroutine>(randomised: bool, steps: &[(f64, Option<bool>)]) -> Result<(), TestCaseError> {
    let (cells, plays) = (5, 8);
    let mut r = p_to_p::<S>(cells, plays, randomised);
    let books = Books::run(&mut r, cells, steps);
    let owed = 2.0 * steps.len() as f64 * r.calibration_error();
    prop_assert!((r.regret() - (books.loss - books.base_loss)).abs() < ROUNDING);
    prop_assert!(r.regret() <= r.regret_bound() + ROUNDING, "{} {}", r.regret(), r.regret_bound());
    prop_assert!(books.loss <= books.refinement() + owed + ROUNDING, "calibeating");
    if S::NAME == "ledger" && !randomised {
        // √(M(N+1)(1 + κ/2)/T), κ = 10.
        let bound = (cells as f64 * (plays as f64 + 1.0) * 6.0 / steps.len() as f64).sqrt();
        prop_assert!(r.calibration_error() <= bound, "{} {bound}", r.calibration_error());
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn p_to_p_is_calibrated_and_without_regret(steps in sequence()) {
        check_p_to_p::<LedgerRule>(false, &steps)?;
        check_p_to_p::<LedgerRule>(true, &steps)?;
        check_p_to_p::<Approachability>(false, &steps)?;
        check_p_to_p::<Approachability>(true, &steps)?;
    }

    /// Σ(q−o)² = refinement + booked excess, exactly, and the excess is at most Σ(1 + ln n).
    #[test]
    fn calibeating_pays_the_refinement_and_a_logarithm(steps in sequence()) {
        let mut r = Calibeating::new(7).unwrap();
        let books = Books::run(&mut r, 7, &steps);
        prop_assert!((r.refinement() - books.refinement()).abs() < ROUNDING);
        prop_assert!((r.excess() - (books.loss - books.refinement())).abs() < ROUNDING);
        prop_assert!(r.excess() <= r.excess_bound() + ROUNDING);
    }

    /// Against 60 fixed maps spread over the limits, and the identity.
    #[test]
    fn scaling_has_no_more_regret_than_it_books(steps in sequence(), beta in any::<bool>()) {
        let family = if beta { ScalingFamily::Beta } else { ScalingFamily::Platt };
        let mut r = Scaling::new(ScalingParameters::of(family)).unwrap();
        let (mut history, mut loss) = (Vec::new(), 0.0);
        for (base, event) in steps {
            let happened = event.unwrap_or(r.recalibrate(base).unwrap() < 0.5);
            let q = r.observe(base, happened).unwrap();
            loss -= if happened { q.ln() } else { (-q).ln_1p() };
            history.push((base.clamp(1e-6, 1.0 - 1e-6), happened));
        }
        for k in 0..=60 {
            let mut map: Vec<f64> = (0..family.count()).map(|c| 3.0 * uniform(8, k, c as u32)).collect();
            let last = family.count() - 1;
            map[last] = 2.0 * map[last] - 3.0;
            if k == 60 {
                map.fill(1.0);
                map[last] = 0.0;
            }
            let score = |p: f64| {
                let (a, b) = (p.ln(), -(-p).ln_1p());
                if beta { map[0] * a + map[1] * b + map[2] } else { map[0] * (a + b) + map[1] }
            };
            let fixed: f64 = history.iter().map(|&(p, o)| {
                let s = if o { -score(p) } else { score(p) };
                s.max(0.0) + (-s.abs()).exp().ln_1p()
            }).sum();
            let bound = r.regret_bound(&map).unwrap();
            prop_assert!(loss - fixed <= bound + 1e-6, "{map:?}: regret {}, bound {bound}", loss - fixed);
            if k == 60 {
                prop_assert!((r.regret() - (loss - fixed)).abs() < 1e-6);
            }
        }
    }
}

/// h/2 + √(2(N+1)/T) in mean (theorem 4 of docs/theory.md), + √(2 ln(1/δ)/T) at δ = 1e-6, over adversaries that see the mean.
#[test]
fn from_scratch_is_calibrated() {
    const STEPS: u64 = 20_000;
    let events: [fn(u64, f64) -> bool; 4] =
        [|_, p| p < 0.5, |t, _| uniform(1, t, 0) < 0.3, |t, _| t / 700 % 2 == 0, |_, p| p < 0.23];
    for event in events {
        let parameters = FosterVohraParameters::with_resolution(10).unwrap();
        let mut r = FosterVohra::<Approachability>::new(parameters, Default::default()).unwrap();
        let mut sums = [0.0; 11];
        for t in 0..STEPS {
            let happened = event(t, r.subroutine().expected().probability);
            let p = r.observe(happened).unwrap();
            sums[(p * 10.0).round() as usize] += f64::from(u8::from(happened)) - p;
        }
        let (error, t) = (sums.iter().map(|s| s.abs()).sum::<f64>() / STEPS as f64, STEPS as f64);
        assert!((error - r.calibration_error()).abs() < 1e-9);
        assert!(error <= 0.05 + (22.0 / t).sqrt() + (2.0 * 1e6_f64.ln() / t).sqrt(), "{error}");
    }
}

/// The maps are found: outcomes from a known member of the family. A map with d coefficients is known to about √(d q(1−q)/T) ≤ 0.006 at
/// T = 20,000; the update is a few times noisier than Newton's, and the map is asked at nine points: 0.03 allowed. The bound on the
/// regret is below 1 % of T, in nats.
#[test]
fn scaling_finds_the_map() {
    let truths: [(ScalingFamily, &[f64]); 2] =
        [(ScalingFamily::Platt, &[0.5, 0.4]), (ScalingFamily::Beta, &[0.6, 1.5, -0.3])];
    for (family, truth) in truths {
        let map = |p: f64| {
            let (a, b) = (p.ln(), -(-p).ln_1p());
            let s = match family {
                ScalingFamily::Platt => truth[0] * (a + b) + truth[1],
                ScalingFamily::Beta => truth[0] * a + truth[1] * b + truth[2],
            };
            1.0 / (1.0 + (-s).exp())
        };
        let mut r = Scaling::new(ScalingParameters::of(family)).unwrap();
        for t in 0..20_000 {
            let p = uniform(5, t, 0);
            r.observe(p, uniform(5, t, 1) < map(p)).unwrap();
        }
        for k in 1..10 {
            let p = f64::from(k) / 10.0;
            let (got, want) = (r.recalibrate(p).unwrap(), map(p));
            assert!((got - want).abs() < 0.03, "{family:?} at {p}: {got}, not {want}");
        }
        let bound = r.regret_bound(truth).unwrap();
        println!(
            "{family:?}: {:?}, bound {bound:.1} nats, regret to base {:.1}",
            r.coefficients(),
            r.regret()
        );
        assert!(r.regret() < 0.0 && bound < 200.0);
    }
}

/// The adversary's outcome: the one that was given least.
fn least(p: &[f64]) -> usize {
    (0..p.len()).min_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap()
}

/// Potential, Brier regret and a second proper loss (spherical), against adversaries and fixed sequences, at every step.
#[test]
fn simplex_is_weakly_calibrated_and_without_regret() {
    type Outcome = fn(u64, &[f64], &[f64]) -> usize;
    let sequences: [(&str, Outcome); 5] = [
        ("least given", |_, _, p| least(p)),
        ("least given by the base", |_, b, _| least(b)),
        ("rotating", |t, b, _| (t / 50) as usize % b.len()),
        ("one", |_, _, _| 0),
        ("i.i.d.", |t, b, _| (uniform(3, t, 7) * uniform(3, t, 8) * b.len() as f64) as usize),
    ];
    for (outcomes, base_resolution, resolution, steps) in [(2, 4, 8, 4000), (3, 2, 6, 3000), (4, 1, 4, 1500)]
    {
        for (name, outcome) in sequences {
            let parameters =
                SimplexParameters { outcomes, base_resolution, resolution, ..Default::default() };
            let mut r = SimplexRecalibrator::new(parameters).unwrap();
            let (mut brier, mut spherical) = (0.0, 0.0);
            for t in 0..steps {
                let mut base: Vec<f64> = (0..outcomes).map(|k| 0.05 + uniform(2, t, k as u32)).collect();
                let total: f64 = base.iter().sum();
                base.iter_mut().for_each(|b| *b /= total);
                let p = r.recalibrate(&base).unwrap();
                let o = outcome(t, &base, &p);
                r.observe(&base, o).unwrap();
                let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
                let miss = |x: &[f64]| norm(x).powi(2) - 2.0 * x[o] + 1.0;
                brier += miss(&p) - miss(&base);
                spherical += base[o] / norm(&base) - p[o] / norm(&p);
                for (potential, count) in r.potentials() {
                    // 2 + κ = 6 per step, with room for the search's tolerance.
                    assert!(
                        potential <= 6.0 * count as f64 * (1.0 + 1e-9),
                        "{name}, {outcomes}: {potential} {count}"
                    );
                }
            }
            assert!((r.regret() - brier).abs() < ROUNDING);
            let (error, bound) = (r.calibration_error(), r.calibration_bound());
            assert!(error <= bound, "{name}: {error} {bound}");
            // Brier: |v − u| ≤ 1 entry by entry, so 2 Σ|L|; a cell has diameter at most √K/M in the tails' steps, so ‖u − b‖ ≤ √K/M.
            let t = steps as f64;
            let mesh = |n: usize| (outcomes as f64).sqrt() / n as f64;
            let most = 2.0 * error * t + 2.0 * 2_f64.sqrt() * mesh(base_resolution) * t;
            assert!(brier <= most, "{name}: Brier regret {brier}, bound {most}");
            // Spherical: values in [−1, 0], Lipschitz 2/‖p‖ ≤ 2√K for the vector of losses.
            let lipschitz = 2.0 * (outcomes as f64).sqrt();
            let most =
                t * (error + 2_f64.sqrt() * lipschitz * mesh(resolution) + lipschitz * mesh(base_resolution));
            assert!(spherical <= most, "{name}: spherical regret {spherical}, bound {most}");
            println!(
                "K = {outcomes}, {name}: error {error:.4} (bound {bound:.3}), Brier regret/T {:+.4}, spherical {:+.4}",
                brier / t,
                spherical / t
            );
        }
    }
}

/// With two outcomes the announcement is a root of the binary ledger rule's balance, or an end it pushes out of, at every step.
#[test]
fn two_outcomes_are_the_binary_ledger_rule() {
    let parameters = SimplexParameters {
        outcomes: 2,
        base_resolution: 1,
        resolution: 8,
        prior: 10.0,
        ..Default::default()
    };
    let mut r = SimplexRecalibrator::new(parameters).unwrap();
    let mut ledger = LedgerRule::start(&Default::default(), Plays::uniform(8).unwrap().into(), 0.4).unwrap();
    for t in 0..3000 {
        let p = r.recalibrate(&[0.6, 0.4]).unwrap()[1];
        let happened = if t < 1500 { uniform(4, t, 0) < 0.7 } else { p < 0.55 };
        let play = truecast::subroutine::Play::at(ledger.plays(), p);
        let push = |i: usize| ledger.balances()[i] + 10.0 * (0.4 - i as f64 / 8.0);
        let cell = play.cell as usize;
        let here = (1.0 - play.fraction) * push(cell) + play.fraction * push(cell + 1);
        assert!(here.abs() < 1e-9 || (p == 1.0 && here > 0.0) || (p == 0.0 && here < 0.0), "{t}: {p} {here}");
        r.observe(&[0.6, 0.4], usize::from(happened)).unwrap();
        ledger.settle(play, happened);
        // Every norm counts once per outcome.
        let (potential, _) = r.potentials().next().unwrap();
        let binary: f64 = ledger.balances().iter().map(|l| l * l).sum();
        assert!((potential - 2.0 * binary).abs() <= 1e-9 * (1.0 + potential), "{t}");
    }
}

/// Drawn corners, outcomes from μ: corner v is right on average up to ‖μ − v‖₁, so Σ_v (share of v)‖μ − v‖₁ ≤ (1 − Σ w²) 2/N ≤ ⅔·0.4 with three corners
/// (any two are 2/N apart), and chance adds 9 sums of standard deviation √(T/3)/2 at most, 0.037 in all after division by T: three of those.
#[test]
fn drawn_corners_are_calibrated() {
    let parameters =
        SimplexParameters { base_resolution: 1, resolution: 5, randomised: true, ..Default::default() };
    let mut r = SimplexRecalibrator::new(parameters).unwrap();
    for t in 0..5000 {
        let outcome = (uniform(9, t, 1) * uniform(9, t, 2) * 3.0) as usize;
        let plan = r.observe(&[0.2, 0.3, 0.5], outcome).unwrap();
        assert_eq!(plan.location.weights[0], 1.0);
    }
    println!("drawn corners: {}", r.calibration_error());
    assert!(r.calibration_error() < 0.8 / 3.0 + 3.0 * 0.037, "{}", r.calibration_error());
}

/// Standard error of a mean loss at T = 50,000 is at most 0.5/√50,000 = 0.0023: five of them, and 0.005 for learning.
#[test]
fn a_non_proper_loss_cannot_be_recalibrated() {
    let shown = demonstration(0.7, 50_000, 2).unwrap();
    assert!((shown.absolute.expected_regret() - 0.12).abs() < 1e-12);
    assert!((shown.squared.expected_regret() + 0.09).abs() < 1e-12);
    for losses in [shown.absolute, shown.squared] {
        assert!((losses.regret() - losses.expected_regret()).abs() < 0.017, "{shown:?}");
    }
    // √((N+1)(1 + κ/2)/T) for the one cell that is used: 0.05.
    assert!(shown.calibration_error < 0.05 && (shown.last - 0.7).abs() < 0.02, "{shown:?}");
}
