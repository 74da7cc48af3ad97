//! Theorem 3: the balances of a strict guard, for outcomes that score less than 8 under S, at once and late, chosen against it.
//!
//! S is what the guard was put behind. A strict guard leaves the account to S, so that S is what a twin without a guard announces after the same outcomes.

use std::collections::VecDeque;

use proptest::prelude::*;
use truecast::forecast::AnyForecast;
use truecast::recalibrate::{Guard, Plan};
use truecast::{Forecast, Gaussian, Groups, GuardMode, Parameters, Pipeline, Recalibrator};
use truecast_testkit::account::Account;

use super::streams::config;

const STRENGTH: f64 = 0.3;
const REACH: f64 = 8.0;

/// What the adversary does.
#[derive(Debug, Clone, Copy)]
enum Move {
    /// Just outside of the announced interval with this number, above or below; within 8 probits.
    Outside(usize, bool),
    /// Inside of it.
    Inside(usize),
    /// At this score under S.
    Score(f64),
    /// Where the balance that is furthest up, or down, goes further.
    Worst(bool),
}

fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![
        3 => (0..13_usize, any::<bool>()).prop_map(|(k, above)| Move::Outside(k, above)),
        1 => (0..13_usize).prop_map(Move::Inside),
        2 => (-7.9..7.9_f64).prop_map(Move::Score),
        2 => any::<bool>().prop_map(Move::Worst),
    ]
}

/// How moves follow one another.
#[derive(Debug, Clone, Copy)]
enum Pattern {
    AsDrawn,
    /// The first for ever.
    Insisting,
    /// Each for so many steps.
    Turns(usize),
}

/// x⁻ and x⁺ of docs/theory.md: 0.3 x/(1 − x²) = push.
fn share(push: f64) -> f64 {
    let reach = push / STRENGTH;
    ((1.0 + 4.0 * reach * reach).sqrt() - 1.0) / (2.0 * reach)
}

/// (i) to (iii), with at most `late` forecasts waiting whenever one is issued. `medians` outcomes fell on the median of S, where every interval covers.
fn check(guard: &Guard, late: usize, medians: usize, at: &str) {
    let late = late as f64;
    let e: Vec<f64> = guard.balances().iter().map(|a| 0.5 * a).collect();
    let b: Vec<f64> = guard.budgets().map(|b| b + late).collect();
    let (last, step) = (e.len() - 1, 0.5 * (late + 1.0));
    let print = || format!("{at}\nbalances {e:?}\nbudgets {b:?}");
    assert!(e[last] >= -share(REACH) * b[last] - step, "(i) {}", print());
    for k in 1..e.len() {
        assert!(e[k] - e[k - 1] <= b[k - 1] + b[k] + step, "(ii) at {k}: {}", print());
    }
    for k in 0..e.len() {
        let below: f64 = b[..k].iter().sum();
        let above: f64 = b[k + 1..].iter().sum();
        let upper = b[k] + 2.0 * below + 0.5 * step * k as f64 + step + 0.5 * medians as f64;
        let lower = -(b[k] + 2.0 * above + 0.5 * step * (last - k) as f64 + step);
        assert!((lower..=upper).contains(&e[k]), "(iii) at {k}, {lower} to {upper}: {}", print());
    }
}

/// A forecast that waits, with both plans.
struct Waiting {
    forecast: Gaussian,
    strict: Plan,
    twin: Plan,
    y: f64,
}

/// Plays the moves, `late` forecasts late, and checks after every outcome.
fn play(moves: &[Move], late: usize, scales: &[f64]) {
    let make = |mode| Pipeline::new(Parameters::builder().guard(mode).build().unwrap());
    let (mut strict, mut twin) = (make(GuardMode::Strict), make(GuardMode::Off));
    let coverages: Vec<f64> = Guard::coverages().collect();
    let mut waiting: VecDeque<Waiting> = VecDeque::new();
    let (mut medians, mut account) = (0, Account::new(0.005));
    for t in 0..moves.len() + late {
        if let Some(next) = moves.get(t) {
            let forecast = Gaussian::new(0.0, scales[t % scales.len()]).unwrap();
            let (mut plan, mut of_twin) = (strict.empty_plan(), twin.empty_plan());
            strict.plan(&forecast, Groups::NONE, t as u64, &mut plan).unwrap();
            twin.plan(&forecast, Groups::NONE, t as u64, &mut of_twin).unwrap();
            let (g, s) = (plan.calibrated(forecast), of_twin.calibrated(forecast));
            let e = strict.guard().unwrap().balances();
            let outside = |k: usize, above: bool| {
                let (low, high) = g.interval(coverages[k]).unwrap();
                let nudge = 1e-6 * (1.0 + (high - low).abs() / forecast.std()) * forecast.std();
                if above { high + nudge } else { low - nudge }
            };
            let y = match *next {
                Move::Outside(k, above) => outside(k, above),
                Move::Inside(k) => {
                    let (low, high) = g.interval(coverages[k]).unwrap();
                    low + 0.37 * (high - low)
                }
                Move::Score(r) => s.at_probit(r),
                Move::Worst(true) => {
                    let k = (0..13).max_by(|a, b| e[*a].total_cmp(&e[*b])).unwrap();
                    let (low, high) = g.interval(coverages[k]).unwrap();
                    low + 0.43 * (high - low)
                }
                Move::Worst(false) => outside((0..13).min_by(|a, b| e[*a].total_cmp(&e[*b])).unwrap(), true),
            };
            // Where an interval leaves no room within the reach the middle is taken.
            let y = if s.probit(y).abs() < 7.99 { y } else { s.at_probit(0.01) };
            strict.announced(&plan);
            twin.announced(&of_twin);
            account.announce(forecast.std() / std::f64::consts::PI.sqrt(), plan.reserved());
            waiting.push_back(Waiting { forecast, strict: plan, twin: of_twin, y });
        }
        if t >= late
            && let Some(Waiting { forecast, strict: plan, twin: of_twin, y }) = waiting.pop_front()
        {
            let s = of_twin.calibrated(forecast);
            let r = s.probit(y);
            assert!(r.abs() < REACH, "score {r} at {y}");
            medians += usize::from(r.abs() < 1e-9);
            // A strict guard stands outside of theorem 1, which holds for S.
            account.release(plan.reserved());
            account.settle(forecast.crps(y), s.crps(y));
            strict.resolve(&plan, &forecast, y).unwrap();
            twin.resolve(&of_twin, &forecast, y).unwrap();
            let at = format!("after outcome {y}, with score {r}, {late} late, step {t}");
            account.check(&at);
            assert_eq!(
                strict.account().unwrap().extra(),
                twin.account().unwrap().extra(),
                "{at}: the account is that of S"
            );
            check(strict.guard().unwrap(), late, medians, &at);
        }
    }
    // (7): the guard's balances are counted from its own places; here from what was announced.
    assert_eq!(strict.guard().unwrap().steps(), moves.len() as u64);
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn theorem_3(
        drawn in prop::collection::vec(moves(), 1..300),
        pattern in prop_oneof![Just(Pattern::AsDrawn), Just(Pattern::Insisting), (5..60_usize).prop_map(Pattern::Turns)],
        late in prop_oneof![2 => Just(0_usize), 1 => Just(1_usize), 1 => 2..24_usize],
        scales in prop_oneof![Just(vec![1.0]), Just(vec![1.0, 1e-3]), Just(vec![1.0, 30.0, 0.2])],
    ) {
        let turned = |t: usize| match pattern {
            Pattern::AsDrawn => drawn[t],
            Pattern::Insisting => drawn[0],
            Pattern::Turns(length) => drawn[t / length],
        };
        let moves: Vec<Move> = (0..drawn.len()).map(turned).collect();
        play(&moves, late, &scales);
    }

    /// The guard counts what an interval of what is announced covers: over normal forecasts a_k is Σ 1{covered} − (1 − 2q_k), whatever it may cost.
    #[test]
    fn it_counts_what_its_intervals_cover(
        steps in prop::collection::vec((-3.0..3.0_f64, -5.0..5.0_f64), 1..150),
        mode in prop_oneof![Just(GuardMode::Priced), Just(GuardMode::Strict)],
    ) {
        let mut recalibrator = Pipeline::new(Parameters::builder().guard(mode).build().unwrap());
        let coverages: Vec<f64> = Guard::coverages().collect();
        let mut counted = vec![0.0; coverages.len()];
        for (mean, z) in steps {
            let forecast: AnyForecast = Gaussian::new(mean, 2.0).unwrap().into();
            let y = forecast.at_probit(z);
            let calibrated = recalibrator.recalibrate(&forecast).unwrap();
            for (count, coverage) in counted.iter_mut().zip(&coverages) {
                let (low, high) = calibrated.interval(*coverage).unwrap();
                *count += f64::from(u8::from((low..=high).contains(&y))) - coverage;
            }
            recalibrator.observe(&forecast, y).unwrap();
        }
        let guard = recalibrator.guard().unwrap();
        let held_back = recalibrator.account().unwrap().guard_held_back();
        for ((count, balance), budget) in counted.iter().zip(guard.balances()).zip(guard.budgets()) {
            // Where it was held back it does not wind up: it is held within two budgets.
            let held = held_back > 0 && balance.abs() <= 2.0 * budget + 1.0;
            prop_assert!((count - balance).abs() <= 1e-9 || (mode == GuardMode::Priced && held), "{count} {balance}");
        }
    }
}

/// 1,000 steps of each pattern that theory has tried: outside of each interval for 100 steps in turn, always inside of the one that has covered most, one
/// side, both sides in turn; at once, 5 and 23 late.
#[test]
fn long_patterns() {
    let outside_in_turn: Vec<Move> = (0..1300).map(|t| Move::Outside(t / 100, t % 2 == 0)).collect();
    let one_side: Vec<Move> = (0..1000).map(|_| Move::Outside(7, true)).collect();
    let alternating: Vec<Move> = (0..1000).map(|t| Move::Outside(7, t % 2 == 0)).collect();
    let inside: Vec<Move> = (0..1000).map(|_| Move::Worst(true)).collect();
    let far: Vec<Move> = (0..1000).map(|t| Move::Score(if t % 2 == 0 { 7.9 } else { -7.9 })).collect();
    for moves in [outside_in_turn, one_side, alternating, inside, far] {
        for late in [0, 5, 23] {
            play(&moves, late, &[1.0]);
        }
    }
}
