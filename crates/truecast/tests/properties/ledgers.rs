//! The ledgers' own guarantees, alone and among the experts: theorems L1 and L2 of docs/theory.md.

use proptest::prelude::*;
use truecast::expert::{ExpertKind, Ledgers};
use truecast::grid::{Levels, Plays};
use truecast::recalibrate::{LedgerKind, MapShape, Plan, Protection};
use truecast::{Forecast, Gaussian, Parameters, Pipeline, Recalibrator, normal};

use super::streams::{Event, LONGEST, config, due, normal_events};

pub fn parameters() -> impl Strategy<Value = (Parameters, Option<f64>)> {
    let levels = prop_oneof![
        3 => Just(Levels::default()),
        1 => Just(Levels::uniform(20).unwrap()),
        1 => Just(Levels::new(vec![-1.0, 1.0]).unwrap()),
        1 => Just(Levels::stretched(10, 4.0, 1.0).unwrap()),
    ];
    let plays = prop_oneof![
        3 => Just(Plays::default()),
        1 => Just(Plays::uniform(20).unwrap()),
        1 => Just(Plays::probit(3, 1.0).unwrap()),
        1 => Just(Plays::uniform(1).unwrap()),
    ];
    let ledgers = prop_oneof![
        3 => Just(vec![LedgerKind::Uniform, LedgerKind::Crps]),
        1 => Just(vec![LedgerKind::Uniform]),
        1 => Just(vec![LedgerKind::Crps]),
    ];
    let half_life = prop_oneof![2 => Just(None), 1 => (0.5..100.0).prop_map(Some)];
    let threshold = prop_oneof![2 => Just(None), 1 => (-1e3..1e3).prop_map(Some)];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let prior = prop_oneof![2 => Just(10.0), 1 => Just(0.0), 1 => 0.0..100.0];
    (levels, plays, ledgers, half_life, threshold, 0..4_u8, flags, prior, any::<u64>()).prop_map(
        |(
            levels,
            plays,
            ledgers,
            half_life,
            threshold,
            groups,
            (alone, bare, randomised, step),
            prior,
            seed,
        )| {
            let shape = if step { MapShape::Step } else { MapShape::Probit };
            let mut builder = if alone { Parameters::ledger() } else { Parameters::builder() };
            builder = builder.levels(levels).plays(plays).ledgers(&ledgers).groups(groups);
            builder = builder.randomised(randomised).prior(prior).shape(shape).seed(seed);
            if bare {
                builder = builder.protection(Protection::NONE);
            }
            if let Some(outcomes) = half_life {
                builder = builder.half_life(outcomes);
            }
            if let Some(y) = threshold {
                builder = builder.threshold(y);
            }
            (builder.build().unwrap(), half_life)
        },
    )
}

fn ledgers(recalibrator: &Pipeline) -> &Ledgers {
    recalibrator.ledgers().unwrap()
}

/// What the ledgers said.
fn plays<'a>(parameters: &Parameters, plan: &'a Plan) -> &'a [f64] {
    let count = parameters.levels().count();
    let at = parameters.experts().iter().position(|kind| *kind == ExpertKind::Ledger).unwrap();
    &plan.said()[at * count..][..count]
}

/// Where the outcome falls: as the event says, or on the side of a level that was held for less likely.
fn outcome(parameters: &Parameters, event: &Event, forecast: Gaussian, plan: &Plan) -> f64 {
    if event.key % 3 > 0 {
        return event.outcome(&forecast, &plan.calibrated(&forecast));
    }
    let levels = parameters.levels().probits();
    let j = (event.key / 3) as usize % levels.len();
    let distance = 1e-3 * f64::from(event.key % 1000);
    forecast.at_probit(if plays(parameters, plan)[j] < 0.5 {
        levels[j] - distance
    } else {
        levels[j] + distance
    })
}

/// One outcome as it was settled.
struct Settled<'a> {
    plan: &'a Plan,
    event: &'a Event,
    z: f64,
    recalibrator: &'a Pipeline,
}

fn normal_forecast(event: &Event) -> Gaussian {
    Gaussian::new(event.mean * event.scale, event.scale).unwrap()
}

/// Runs the events, with their delays, and shows each settled outcome.
fn run(parameters: &Parameters, events: &[Event], mut watch: impl FnMut(Settled<'_>)) -> Pipeline {
    let mut recalibrator = Pipeline::new(parameters.clone());
    let mut waiting: Vec<(Plan, f64)> = Vec::new();
    for t in 0..events.len() + LONGEST {
        if let Some(event) = events.get(t) {
            let mut plan = recalibrator.empty_plan();
            let forecast = normal_forecast(event);
            recalibrator
                .plan(&forecast, event.groups(parameters.group_count()), t as u64, &mut plan)
                .unwrap();
            recalibrator.announced(&plan);
            let y = outcome(parameters, event, forecast, &plan);
            waiting.push((plan, y));
        }
        for k in due(events, t) {
            let (event, (plan, y)) = (&events[k], &waiting[k]);
            if event.expires {
                recalibrator.expire(plan);
                continue;
            }
            let scores = recalibrator.resolve(plan, &normal_forecast(event), *y).unwrap();
            watch(Settled { plan, event, z: scores.base, recalibrator: &recalibrator });
        }
    }
    recalibrator
}

/// What a ledger weighs each level by, from its definition.
fn weights(kind: LedgerKind, parameters: &Parameters, event: &Event) -> Vec<f64> {
    let levels = parameters.levels();
    let (z, count) = (levels.probits(), levels.count());
    match kind {
        LedgerKind::Uniform => vec![1.0; count],
        LedgerKind::Crps => levels.gaps().iter().map(|gap| gap * event.scale).collect(),
        LedgerKind::Group(group) => vec![f64::from(event.groups >> group & 1); count],
        LedgerKind::Threshold(y) => {
            let at = normal_forecast(event).probit(y).clamp(z[0], z[count - 1]);
            // The tent of level j: 1 there, 0 at its neighbours.
            let tent = |j: usize| {
                let rise = if j > 0 { (at - z[j - 1]) / (z[j] - z[j - 1]) } else { 1.0 };
                let fall = if j + 1 < count { (z[j + 1] - at) / (z[j + 1] - z[j]) } else { 1.0 };
                rise.min(fall).clamp(0.0, 1.0)
            };
            (0..count).map(tent).collect()
        }
    }
}

/// Σ_j w[(p−o)² − (u−o)²], and how large its parts are: 1e-9 of that is what rounding is allowed. Where p and u nearly are o
/// their own last bit counts for more than their squares' ones do: 1e-6 of a distance, times 1e-9, is ten such bits.
fn regret(weights: &[f64], plays: &[f64], base: &[f64], outcome: &[f64]) -> (f64, f64) {
    (0..weights.len()).fold((0.0, 0.0), |(sum, size), j| {
        let (p, u, o, w) = (plays[j], base[j], outcome[j], weights[j]);
        let (ours, theirs) = ((p - o) * (p - o), (u - o) * (u - o));
        (sum + w * (ours - theirs), size + w * (ours + theirs + 1e-6 * ((p - o).abs() + (u - o).abs())))
    })
}

proptest! {
    #![proptest_config(config(256))]

    /// Theorem L1, booked: on every stream and at every step, level by level. 1e-9 covers the rounding of 200 sums.
    #[test]
    fn potential_stays_below_its_bound((parameters, _) in parameters(), events in normal_events(200)) {
        run(&parameters, &events, |settled| {
            let ledgers = ledgers(settled.recalibrator);
            for (j, (potential, bound)) in ledgers.potentials().iter().zip(ledgers.potential_bounds()).enumerate() {
                assert!(*potential <= bound + 1e-9 * (1.0 + bound.abs()), "level {j}: {potential} > {bound}");
            }
            let certificate = settled.recalibrator.certificate();
            assert!(certificate.holds(), "{certificate}");
        });
    }

    /// Theorem L2: the state alone tells the regret, whatever came late, was rounded or discounted.
    #[test]
    fn regret_is_read_off_the_state((parameters, half_life) in parameters(), events in normal_events(200)) {
        let decay = half_life.map_or(1.0, |outcomes| (-1.0 / outcomes).exp2());
        let kinds = parameters.ledgers().to_vec();
        let base = parameters.levels().probabilities().to_vec();
        let mut direct = vec![(0.0, 0.0); kinds.len()];
        let end = run(&parameters, &events, |settled| {
            let o: Vec<f64> = parameters.levels().probits().iter().map(|z| f64::from(u8::from(settled.z <= *z))).collect();
            for (sums, kind) in direct.iter_mut().zip(&kinds) {
                let w = weights(*kind, &parameters, settled.event);
                let (sum, size) = regret(&w, plays(&parameters, settled.plan), &base, &o);
                *sums = (sums.0 * decay + sum, sums.1 * decay + size);
            }
        });
        let certificate = end.certificate().ledgers.unwrap();
        for (g, kind) in kinds.iter().enumerate() {
            let (sum, size) = direct[g];
            let told = ledgers(&end).regret(g);
            prop_assert!((told - sum).abs() <= 1e-9 * size + 1e-300, "{kind:?}: {told}, summed {sum} of {size}");
            prop_assert_eq!(certificate.ledgers[g].regret, told);
        }
    }

    /// Tickets issued from one state may be resolved in any order: the ledgers' sums are the same up to rounding.
    #[test]
    fn order_does_not_matter(
        parameters in parameters().prop_filter_map("outcomes do not age", |(p, half_life)| half_life.is_none().then_some(p)),
        events in normal_events(200),
        together in 2..20_usize,
        keys in prop::collection::vec(any::<u32>(), 20),
    ) {
        let warm = run(&parameters, &events, |_| ());
        let count = parameters.group_count();
        let mut planned = warm.clone();
        let issued: Vec<_> = events.iter().cycle().take(together).enumerate().map(|(k, event)| {
            let (forecast, mut plan) = (normal_forecast(event), warm.empty_plan());
            planned.plan(&forecast, event.groups(count), (events.len() + k) as u64, &mut plan).unwrap();
            planned.announced(&plan);
            let y = outcome(&parameters, event, forecast, &plan);
            (forecast, plan, y)
        }).collect();
        let mut order: Vec<usize> = (0..together).collect();
        order.sort_by_key(|&k| keys[k]);
        let (mut forwards, mut shuffled) = (planned.clone(), planned);
        for k in 0..together {
            let (f, plan, y) = &issued[k];
            forwards.resolve(plan, f, *y).unwrap();
            let (f, plan, y) = &issued[order[k]];
            shuffled.resolve(plan, f, *y).unwrap();
        }
        prop_assert!(shuffled.certificate().holds(), "{}", shuffled.certificate());
        let (a, b) = (ledgers(&forwards), ledgers(&shuffled));
        for g in 0..parameters.ledgers().len() {
            let totals = a.totals(g);
            for (x, y) in totals.iter().zip(b.totals(g)).chain(a.squares(g).iter().zip(b.squares(g))) {
                prop_assert!((x - y).abs() <= 1e-9 * x.abs(), "sums differ: {x} and {y}");
            }
            for (j, (x, y)) in a.balances(g).iter().zip(b.balances(g)).enumerate() {
                for (x, y) in x.iter().zip(y) {
                    prop_assert!((x - y).abs() <= 1e-9 * totals[j], "balances differ at level {j}: {x} and {y}");
                }
            }
        }
        if let (Some(a), Some(b)) = (forwards.account(), shuffled.account()) {
            prop_assert!((a.extra() - b.extra()).abs() <= 1e-9 * (a.base() + a.largest_mean()));
            prop_assert_eq!((a.reserved(), b.reserved(), a.pending()), (0.0, 0.0, 0));
        }
    }
}

proptest! {
    #![proptest_config(config(64))]

    /// With any settings G is a distribution after any stream: non-decreasing from 0 to 1, with quantiles as its inverse.
    #[test]
    fn calibrated_forecasts_are_distributions((parameters, _) in parameters(), events in normal_events(200)) {
        let recalibrator = run(&parameters, &events, |_| ());
        let base = Gaussian::new(1.0, events[0].scale).unwrap();
        let calibrated = recalibrator.recalibrate(base).unwrap();
        let points = (-400..=400).map(|k| base.at_probit(0.02 * f64::from(k)));
        let mut before = 0.0;
        for y in points {
            let (cdf, sf) = (calibrated.cdf(y), calibrated.sf(y));
            prop_assert!((0.0..=1.0).contains(&cdf) && (cdf + sf - 1.0).abs() <= 1e-14, "{cdf} and {sf} at {y}");
            prop_assert!(cdf >= before - 1e-15, "falls from {before} to {cdf} at {y}");
            before = cdf;
        }
        for p in (1..100).map(|k| f64::from(k) / 100.0) {
            let y = calibrated.quantile(p);
            // The map's slope turns the rounding of y into more, at most 1e-12 of it here.
            let step = 1e-12 * (y.abs() + base.std());
            let (left, at) = (normal::cdf(calibrated.probit_left(y - step)), calibrated.cdf(y + step));
            prop_assert!(left <= p + 1e-9 && p <= at + 1e-9, "quantile {y} at {p}: {left}, {at}");
        }
    }
}
