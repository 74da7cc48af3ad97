//! Internal regret: its theorem on sequences that are chosen against it, the laws of a subroutine, the authors' experiment.
//!
//! Theorem. Let q_t balance the weights w_ij = exp(η R_ij) and l be the losses (v_i − o)². Then Σ_ij w_ij q_i (l_i − l_j) = 0: the
//! w-mean of x_ij = q_i (l_i − l_j) is zero. x_ij is the loss of q minus that of q with i's share moved to j, so it has range 1, and by
//! Hoeffding Σ w e^{ηx} ≤ Σ w e^{η²/8}. From Σ w = K at first, max R ≤ ln K/η + ηT/8. Where η falls, (1/η) ln(mean e^{ηR}) does not
//! grow, so max R ≤ ln K/η_T + Σ η_t/8 = √(T ln K) for η_t = 2√(ln K/t). The first play is the base's: at most 1 more.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::sync::Arc;
use std::time::Instant;

use proptest::prelude::*;
use truecast::error::{Error, SnapshotError};
use truecast::grid::Plays;
use truecast::monitor::CalibrationScore;
use truecast::recalibrate::{AlgorithmOne, AlgorithmOneParameters};
use truecast::subroutine::{InternalRegret, InternalRegretOptions, LearningRate, Subroutine};
use truecast::{Forecast, Gaussian, Recalibrator, normal, random};

const ANYTIME: InternalRegretOptions = InternalRegretOptions { rate: LearningRate::Anytime, prior: 0.0 };

fn grids() -> Vec<Arc<Plays>> {
    let uneven = Plays::new(vec![0.0, 1e-6, 0.25, 0.26, 0.9, 1.0]);
    let grids =
        [Plays::uniform(20), Plays::uniform(1), Plays::probit(16, 3.3), Plays::probit(40, 3.3), uneven];
    grids.into_iter().map(|plays| Arc::new(plays.unwrap())).collect()
}

fn log_pairs(plays: &Plays) -> f64 {
    let count = plays.values().len() as f64;
    (count * (count - 1.0)).ln()
}

/// Whether the event of a step happens, given the mean that is announced.
type Event = fn(u64, f64) -> bool;

const SEQUENCES: [Event; 6] = [
    |_, _| true,
    |t, _| t % 2 == 0,
    |t, _| random::uniform(3, t, 0) < 0.3,
    |_, announced| announced < 0.5,
    |_, announced| announced < 0.3,
    |t, _| t / 300 % 2 == 0,
];

/// Draws every play, and shows the subroutine before each.
fn run(
    mut subroutine: InternalRegret,
    steps: u64,
    event: Event,
    mut watch: impl FnMut(&InternalRegret, u64),
) -> InternalRegret {
    for t in 0..steps {
        watch(&subroutine, t);
        let mean = subroutine.expected().probability;
        let play = subroutine.draw(random::uniform(11, t, 1));
        subroutine.settle(play, event(t, mean));
    }
    watch(&subroutine, steps);
    subroutine
}

#[test]
fn regret_is_within_its_bound_at_every_step() {
    for plays in grids() {
        let log_pairs = log_pairs(&plays);
        for event in SEQUENCES {
            let start = |options| InternalRegret::start(&options, plays.clone(), 0.7).unwrap();
            run(start(ANYTIME), 1500, event, |subroutine, t| {
                let (regret, bound) = (subroutine.internal_regret(), (t as f64 * log_pairs).sqrt() + 1.0);
                assert!(regret <= bound + 1e-9, "anytime: {regret} after {t} steps, bound {bound}");
            });
            for (rate, prior) in
                [((8.0 * log_pairs / 1500.0).sqrt(), 0.0), (1.0, 0.0), (0.3, 5.0), (5.0, 0.0)]
            {
                let options = InternalRegretOptions { rate: LearningRate::Fixed(rate), prior };
                run(start(options), 1500, event, |subroutine, t| {
                    let bound = log_pairs / rate + rate * t as f64 / 8.0 + 1.0 + 2.0 * prior;
                    let regret = subroutine.internal_regret();
                    assert!(regret <= bound + 1e-9, "rate {rate}: {regret} after {t} steps, bound {bound}");
                });
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// The bound on arbitrary outcomes, some of them set against the announcement; and the expected form's loss.
    #[test]
    fn regret_is_bounded_on_arbitrary_sequences(base in 0.0..=1.0_f64, outcomes in prop::collection::vec(0..4_u8, 1..400)) {
        let plays = Arc::new(Plays::uniform(10).unwrap());
        let mut subroutine = InternalRegret::start(&ANYTIME, plays.clone(), base).unwrap();
        let (mut own, mut fixed) = (0.0, [0.0; 11]);
        for outcome in &outcomes {
            let play = subroutine.expected();
            let happened = match outcome { 0 => false, 1 => true, 2 => play.probability < 0.5, _ => play.probability < 0.2 };
            let o = f64::from(u8::from(happened));
            own += (play.probability - o) * (play.probability - o);
            fixed.iter_mut().zip(plays.values()).for_each(|(loss, v)| *loss += (v - o) * (v - o));
            subroutine.settle(play, happened);
        }
        let bound = (outcomes.len() as f64 * log_pairs(&plays)).sqrt() + 1.0;
        prop_assert!(subroutine.internal_regret() <= bound + 1e-9);
        // By convexity, and because moving every play to v_j is a sum of N swaps.
        let best = fixed.into_iter().fold(f64::INFINITY, f64::min);
        prop_assert!(own - best <= 10.0 * bound + 1e-9);
    }
}

/// n_i (v_i − ρ_i)² ≤ max R + n_i h²/4 for every play, by the swap to the play nearest to ρ_i = s_i/n_i. Drawn plays: given the outcomes,
/// which look at no coin, the draws are independent; E Σ_i |Σ_t (1{play i} − q_i)(o − v_i)| ≤ √((N+1)T), and one draw changes the sum by 2 at
/// most, so (McDiarmid) the mean is exceeded by √(2 ln(1/δ)/T) with probability δ at most; δ = 1e-6 over the 30 runs.
#[test]
fn small_regret_is_calibration() {
    const STEPS: u64 = 3000;
    for plays in grids() {
        let v = plays.values();
        let gap = v.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
        for event in SEQUENCES {
            let start = InternalRegret::start(&InternalRegretOptions::default(), plays.clone(), 0.3).unwrap();
            let end = run(start, STEPS, event, |_, _| ());
            let state = end.state();
            let (n, s) = (&state[..v.len()], &state[v.len()..2 * v.len()]);
            let played = (0..v.len()).filter(|&i| n[i] > 0.0);
            let squared = played.map(|i| n[i] * (v[i] - s[i] / n[i]).powi(2)).sum::<f64>() / STEPS as f64;
            let count = v.len() as f64;
            let bound = 0.25 * gap * gap + count * end.internal_regret() / STEPS as f64;
            assert!(squared <= bound + 1e-12, "{squared} {bound}");
            let chance = (count / STEPS as f64).sqrt() + (2.0 * 1e6_f64.ln() / STEPS as f64).sqrt();
            let error = end.calibration_error();
            assert!(error <= squared.sqrt() + chance, "{error} {squared} {chance}");
        }
    }
}

/// What the testkit's laws ask of a subroutine, with draws from the whole grid: K equally spaced draws are off by at most half a draw
/// at every jump of the quantile function, and the jumps add up to 1, so by 1/2K.
#[test]
fn laws() {
    const DRAWS: u32 = 1000;
    for plays in grids() {
        for base in [0.0, 0.003, 0.25, 0.5, 0.77, 1.0] {
            for options in [InternalRegretOptions::default(), ANYTIME] {
                let fresh = InternalRegret::start(&options, plays.clone(), base).unwrap();
                assert_eq!((fresh.expected().probability, fresh.calibration_error()), (base, 0.0));
                for event in SEQUENCES {
                    run(fresh.clone(), 100, event, |subroutine, t| {
                        let mut restored = fresh.clone();
                        restored.restore(&subroutine.state()).unwrap();
                        assert_eq!(&restored, subroutine);
                        assert_eq!(subroutine.state().len(), 3 * plays.values().len() + 1);
                        let play = subroutine.expected();
                        let (cell, a) = (play.cell as usize, play.fraction);
                        let mixed = (1.0 - a) * plays.values()[cell] + a * plays.values()[cell + 1];
                        assert!((play.probability - mixed).abs() <= 1e-15 && (0.0..=1.0).contains(&a));
                        if t.is_multiple_of(20) {
                            let drawn = (0..DRAWS).map(|k| {
                                let drawn = subroutine.draw((f64::from(k) + 0.5) / f64::from(DRAWS));
                                assert!(drawn.fraction == 0.0 || drawn.fraction == 1.0);
                                assert!(plays.values().contains(&drawn.probability));
                                drawn.probability
                            });
                            let off = drawn.sum::<f64>() / f64::from(DRAWS) - play.probability;
                            assert!(off.abs() <= 0.5 / f64::from(DRAWS) + 1e-12, "{off}");
                        }
                    });
                }
                let good = run(fresh.clone(), 50, SEQUENCES[2], |_, _| ());
                let state = good.state();
                let mut damaged = vec![vec![], state[1..].to_vec(), [&state[..], &[0.0]].concat()];
                for (at, wrong) in (0..state.len()).flat_map(|at| [(at, f64::NAN), (at, f64::INFINITY)]) {
                    damaged.push(
                        state.iter().enumerate().map(|(k, x)| if k == at { wrong } else { *x }).collect(),
                    );
                }
                for state in damaged {
                    let mut subroutine = good.clone();
                    assert!(matches!(subroutine.restore(&state), Err(SnapshotError::Invalid { .. })));
                    assert_eq!(subroutine, good);
                }
            }
        }
    }
}

#[test]
fn bad_options_are_refused() {
    let start = |rate, prior, base| {
        let options = InternalRegretOptions { rate: LearningRate::Fixed(rate), prior };
        InternalRegret::start(&options, Arc::new(Plays::default()), base).unwrap_err()
    };
    assert_eq!(start(0.0, 0.0, 0.5), Error::NotPositive { what: "learning rate", value: 0.0 });
    let infinite = f64::INFINITY;
    assert_eq!(start(infinite, 0.0, 0.5), Error::NotFinite { what: "learning rate", value: infinite });
    assert_eq!(start(5.0, -1.0, 0.5), Error::OutOfRange { what: "prior", rule: "zero or more", value: -1.0 });
    let rule = "between 0 and 1";
    assert_eq!(start(5.0, 0.0, 1.1), Error::OutOfRange { what: "base probability", rule, value: 1.1 });
}

/// A million steps between two regimes: regrets of −10⁵ and weights far below what doubles hold, and q is still a distribution.
#[test]
fn long_histories_stay_finite() {
    let plays = Arc::new(Plays::uniform(20).unwrap());
    let mut subroutine = InternalRegret::start(&InternalRegretOptions::default(), plays, 0.5).unwrap();
    let length = subroutine.state().len();
    let mut state = vec![0.0; length];
    // 7/10 of the steps at play 14 and 3/10 at play 6, each with as many events as it says.
    (state[14], state[6], state[length - 1]) = (7e5, 3e5, 1e6);
    (state[21 + 14], state[21 + 6]) = (4.9e5, 0.9e5);
    subroutine.restore(&state).unwrap();
    let q = subroutine.distribution();
    assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert!(q.iter().all(|share| *share > 0.0));
    assert!((q[14] + q[6] - 1.0).abs() < 1e-12, "{q:?}");
}

/// The authors' experiment: forecasts N(0, 2²), outcomes N(0, 1), N = 20, η = 5, plays by coin. Calibration scores before and after, means of
/// 10 seeds, PITs randomised over the steps of the map: 0.0753 → 0.0047 at T = 200 and 0.0726 → 0.0013 at T = 1,500. Of uniform PITs the
/// expectation would be 0.82/T: 0.0041 and 0.0005. The thresholds leave five times the spread between seeds (0.003 and 0.0005) over √10.
#[test]
fn the_authors_experiment() {
    for (steps, at_most) in [(200, 0.0047 + 0.005), (1500, 0.0013 + 0.0008)] {
        let (mut before, mut after) = (0.0, 0.0);
        for seed in 0..10 {
            let parameters = AlgorithmOneParameters { seed, ..AlgorithmOneParameters::paper(20).unwrap() };
            let mut recalibrator =
                AlgorithmOne::<InternalRegret>::new(parameters, Default::default()).unwrap();
            let (mut raw, mut calibrated) = (CalibrationScore::default(), CalibrationScore::default());
            let forecast = Gaussian::new(0.0, 2.0).unwrap();
            for t in 0..steps {
                let y = normal::quantile(random::uniform(seed + 1000, t, 7));
                let announced = recalibrator.recalibrate(forecast).unwrap();
                raw.observe(forecast.cdf(y)).unwrap();
                calibrated
                    .observe_probit(announced.randomised_probit(y, random::uniform(seed, t, 999)))
                    .unwrap();
                recalibrator.observe(&forecast, y).unwrap();
            }
            before += raw.score().unwrap() / 10.0;
            after += calibrated.score().unwrap() / 10.0;
        }
        println!("T = {steps}: calibration score {before:.4} before, {after:.5} after");
        assert!(before > 0.07 && after < at_most, "T = {steps}: {before} before, {after} after");
    }
}

/// Run in release: `cargo test --release --test internal_regret -- --ignored --nocapture`.
#[test]
#[ignore = "measures time"]
fn time_per_step() {
    const STEPS: u64 = 20_000;
    for options in [InternalRegretOptions::default(), ANYTIME] {
        let plays = Arc::new(Plays::uniform(20).unwrap());
        let start = InternalRegret::start(&options, plays, 0.3).unwrap();
        let clock = Instant::now();
        let end = run(start, STEPS, SEQUENCES[2], |_, _| ());
        let each = clock.elapsed().as_nanos() as f64 / STEPS as f64;
        println!("{:?}: {each:.0} ns per step, regret {:.2}", options.rate, end.internal_regret());
    }
}
