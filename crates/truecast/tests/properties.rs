//! The guarantees, on arbitrary streams: any scales, ties, far tails, outcomes chosen against the announcement, late and
//! missing outcomes, and any combination of parameters. Runs repeat: the seed is fixed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use truecast::grid::{Levels, Plays};
use truecast::recalibrate::{Groups, LedgerKind, MapShape, Plan, isotonic_projection};
use truecast::{Forecast, Gaussian, LedgerRecalibrator, Parameters, Recalibrator, Stream, Ticket, normal};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(2026),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// How the outcome of a step is chosen, once its announcement is known.
#[derive(Debug, Clone, Copy)]
enum Choice {
    /// At this base probit score.
    Score(f64),
    /// Exactly on a level.
    OnLevel(usize),
    /// On the side of a level that was announced as the less likely one, by this many probit units.
    AgainstLevel(usize, f64),
    /// Just outside of the announced 80 % interval.
    Outside(bool),
    /// On an end of the announced 80 % interval.
    OnEnd(bool),
}

#[derive(Debug, Clone, Copy)]
struct Event {
    mean: f64,
    scale: f64,
    groups: u8,
    choice: Choice,
    /// How many later forecasts are issued before the outcome comes.
    delay: usize,
    /// Whether the outcome never comes.
    expires: bool,
}

impl Event {
    fn forecast(&self) -> Gaussian {
        Gaussian::new(self.mean * self.scale, self.scale).unwrap()
    }

    fn groups(&self, count: usize) -> Groups {
        Groups::of(&(0..count).filter(|g| self.groups >> g & 1 == 1).collect::<Vec<_>>()).unwrap()
    }

    fn outcome(&self, plan: &Plan) -> f64 {
        let forecast = self.forecast();
        let levels = plan.map().levels().probits();
        let (low, high) = plan.calibrated(&forecast).interval(0.8).unwrap();
        let nudge = 1e-3 * self.scale;
        match self.choice {
            Choice::Score(z) => forecast.at_probit(z),
            Choice::OnLevel(j) => forecast.at_probit(levels[j % levels.len()]),
            Choice::AgainstLevel(j, distance) => {
                let j = j % levels.len();
                let below = plan.plays()[j] < 0.5;
                forecast.at_probit(if below { levels[j] - distance } else { levels[j] + distance })
            }
            Choice::Outside(above) => {
                if above {
                    high + nudge
                } else {
                    low - nudge
                }
            }
            Choice::OnEnd(above) => {
                if above {
                    high
                } else {
                    low
                }
            }
        }
    }
}

fn choice() -> impl Strategy<Value = Choice> {
    prop_oneof![
        4 => (-3.0..3.0).prop_map(Choice::Score),
        1 => prop_oneof![Just(0.0), Just(1.0), -1e3..1e3, Just(-1e12), Just(1e12)].prop_map(Choice::Score),
        1 => (0..200_usize).prop_map(Choice::OnLevel),
        4 => (0..200_usize, 1e-9..1.0).prop_map(|(j, d)| Choice::AgainstLevel(j, d)),
        2 => any::<bool>().prop_map(Choice::Outside),
        1 => any::<bool>().prop_map(Choice::OnEnd),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let delay = prop_oneof![6 => Just(0_usize), 1 => 0..12_usize];
    (-5.0..5.0, -6.0..6.0, any::<u8>(), choice(), delay, 0..20_u8).prop_map(
        |(mean, exponent, groups, choice, delay, fate)| Event {
            mean,
            scale: 10_f64.powf(exponent),
            groups,
            choice,
            delay,
            expires: fate == 0,
        },
    )
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    // Streams of one scale are as common as those of widely different ones.
    (prop::collection::vec(event(), 1..200), any::<bool>()).prop_map(|(mut events, same)| {
        let scale = events[0].scale;
        if same {
            events.iter_mut().for_each(|event| event.scale = scale);
        }
        events
    })
}

fn parameters() -> impl Strategy<Value = Parameters> {
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
            (trust, guard, randomised, step),
            prior,
            seed,
        )| {
            let shape = if step { MapShape::Step } else { MapShape::Probit };
            let mut builder =
                Parameters::builder().levels(levels).plays(plays).ledgers(&ledgers).groups(groups);
            builder =
                builder.trust(trust).guard(guard).randomised(randomised).prior(prior).shape(shape).seed(seed);
            if let Some(outcomes) = half_life {
                builder = builder.half_life(outcomes);
            }
            if let Some(y) = threshold {
                builder = builder.threshold(y);
            }
            builder.build().unwrap()
        },
    )
}

/// One outcome as it was settled.
struct Settled<'a> {
    plan: &'a Plan,
    event: &'a Event,
    z: f64,
    recalibrator: &'a LedgerRecalibrator,
}

/// Runs the events, with their delays, and shows each settled outcome.
fn run(parameters: &Parameters, events: &[Event], mut watch: impl FnMut(Settled<'_>)) -> LedgerRecalibrator {
    let mut recalibrator = LedgerRecalibrator::new(parameters.clone());
    let mut pending: Vec<(usize, &Event, Plan, f64)> = Vec::new();
    for t in 0..events.len() + 12 {
        if let Some(event) = events.get(t) {
            let mut plan = recalibrator.empty_plan();
            let groups = event.groups(parameters.group_count());
            recalibrator.plan(&event.forecast(), groups, t as u64, &mut plan).unwrap();
            let outcome = event.outcome(&plan);
            if !event.expires {
                pending.push((t + event.delay, event, plan, outcome));
            }
        }
        let (due, later): (Vec<_>, Vec<_>) = pending.into_iter().partition(|(when, ..)| *when <= t);
        pending = later;
        for (_, event, plan, outcome) in &due {
            let scores = recalibrator.resolve(plan, &event.forecast(), *outcome).unwrap();
            watch(Settled { plan, event, z: scores.base, recalibrator: &recalibrator });
        }
    }
    assert!(pending.is_empty());
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
            let at = event.forecast().probit(y).clamp(z[0], z[count - 1]);
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

fn happened(parameters: &Parameters, z: f64) -> Vec<f64> {
    parameters.levels().probits().iter().map(|level| f64::from(u8::from(z <= *level))).collect()
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

    /// Theorem 1, booked: on every stream and at every step, level by level. 1e-9 covers the rounding of 200 sums.
    #[test]
    fn potential_stays_below_its_bound(parameters in parameters(), events in events()) {
        run(&parameters, &events, |settled| {
            let ledgers = settled.recalibrator.ledgers();
            for (j, (potential, bound)) in ledgers.potentials().iter().zip(ledgers.potential_bounds()).enumerate() {
                assert!(*potential <= bound + 1e-9 * (1.0 + bound.abs()), "level {j}: {potential} > {bound}");
            }
            let certificate = settled.recalibrator.certificate();
            assert!(certificate.holds(), "{certificate}");
        });
    }

    /// Theorem 2: the state alone tells the regret, whatever came late, was rounded or discounted. Section 6: what the mixture
    /// owes is at most what is booked for it, and (section 7) the projection does not add to it for the CRPS weights.
    #[test]
    fn regret_is_read_off_the_state(parameters in parameters(), events in events(), half_life in prop::option::of(1.0..50.0_f64)) {
        let parameters = match half_life {
            // The parameters do not tell their half-life, so it is set here.
            Some(outcomes) => rebuilt(&parameters, Some(outcomes)),
            None => rebuilt(&parameters, None),
        };
        let decay = half_life.map_or(1.0, |outcomes| (-1.0 / outcomes).exp2());
        let kinds = parameters.ledgers().to_vec();
        let base = parameters.levels().probabilities().to_vec();
        let mut direct = vec![(0.0, 0.0); kinds.len()];
        let mut mixed = vec![0.0; kinds.len()];
        let mut projected = vec![0.0; kinds.len()];
        let end = run(&parameters, &events, |settled| {
            let o = happened(&parameters, settled.z);
            let (p, trust) = (settled.plan.plays(), settled.plan.trust());
            let followed = settled.plan.followed().iter().zip(&base);
            let mixture: Vec<f64> = followed.map(|(q, u)| trust * q + (1.0 - trust) * u).collect();
            for (g, kind) in kinds.iter().enumerate() {
                let w = weights(*kind, &parameters, settled.event);
                let (sum, size) = regret(&w, p, &base, &o);
                direct[g] = (direct[g].0 * decay + sum, direct[g].1 * decay + size);
                mixed[g] = mixed[g] * decay + regret(&w, &mixture, &base, &o).0;
                projected[g] = projected[g] * decay + regret(&w, settled.plan.map().announced(), &base, &o).0;
            }
        });
        let certificate = end.certificate();
        for (g, kind) in kinds.iter().enumerate() {
            let (sum, size) = direct[g];
            let told = end.ledgers().regret(g);
            prop_assert!((told - sum).abs() <= 1e-9 * size + 1e-300, "{kind:?}: {told}, summed {sum} of {size}");
            if let Some(booked) = certificate.ledgers[g].announced_regret {
                prop_assert!(mixed[g] <= booked + 1e-9 * size, "{kind:?}: mixture {} > {booked}", mixed[g]);
                if *kind == LedgerKind::Crps {
                    prop_assert!(projected[g] <= booked + 1e-9 * size, "{kind:?}: projected {} > {booked}", projected[g]);
                }
            }
        }
    }

    /// The guard's knots never cross, and its balances are hits minus nominal, counted by hand.
    #[test]
    fn guard_counts_hits(parameters in parameters(), events in events()) {
        let mut hits: Vec<u32> = Vec::new();
        let mut settled_count = 0;
        let end = run(&parameters, &events, |settled| {
            let Some(knots) = settled.plan.map().guard() else { return };
            assert!(knots.scores().windows(2).all(|pair| pair[0] <= pair[1]), "knots cross: {:?}", knots.scores());
            hits.resize(knots.scores().len(), 0);
            let score = settled.plan.map().ledger_probit(settled.z);
            for (count, knot) in hits.iter_mut().zip(knots.scores()) {
                *count += u32::from(score <= *knot);
            }
            settled_count += 1;
        });
        if let Some(guard) = end.guard() {
            for ((&hit, balance), q) in hits.iter().zip(guard.balances()).zip(guard.probabilities()) {
                let counted = f64::from(hit) - q * f64::from(settled_count);
                prop_assert!((counted - balance).abs() <= 1e-10, "balance {balance}, counted {counted} at {q}");
            }
        }
    }
}

/// The same parameters with another half-life.
fn rebuilt(parameters: &Parameters, half_life: Option<f64>) -> Parameters {
    let mut fields = serde_json::to_value(parameters).unwrap();
    fields["half_life"] = serde_json::json!(half_life);
    serde_json::from_value(fields).unwrap()
}

proptest! {
    #![proptest_config(config(64))]

    /// G_t is a distribution after any stream: non-decreasing from 0 to 1, with quantiles as its inverse.
    #[test]
    fn calibrated_forecasts_are_distributions(parameters in parameters(), events in events()) {
        let recalibrator = run(&parameters, &events, |_| ());
        let base = Gaussian::new(1.0, 3.0).unwrap();
        let calibrated = recalibrator.recalibrate(base).unwrap();
        let points = (-400..=400).map(|k| base.at_probit(0.02 * f64::from(k)));
        let mut before = 0.0;
        for y in points {
            let (cdf, sf) = (calibrated.cdf(y), calibrated.sf(y));
            prop_assert!((0.0..=1.0).contains(&cdf) && (cdf + sf - 1.0).abs() <= 1e-14, "{cdf} and {sf} at {y}");
            prop_assert!(cdf >= before - 1e-15, "falls from {before} to {cdf} at {y}");
            before = cdf;
        }
        prop_assert_eq!(calibrated.cdf(base.at_probit(-1e6)), 0.0);
        prop_assert_eq!(calibrated.sf(base.at_probit(1e6)), 0.0);
        for p in (1..100).map(|k| f64::from(k) / 100.0) {
            let y = calibrated.quantile(p);
            // The map's slope turns the rounding of y into more, at most 1e-12 of it here.
            let step = 1e-12 * (y.abs() + 3.0);
            let (left, at) = (normal::cdf(calibrated.probit_left(y - step)), calibrated.cdf(y + step));
            prop_assert!(left <= p + 1e-12 && p <= at + 1e-12, "quantile {y} at {p}: {left}, {at}");
        }
    }

    /// Units cancel. A power of two changes no mantissa, so all that is announced is the same to the bit; any other
    /// factor, 1e9 here, changes the last bits of weights and scores, and 200 steps of that stay below 1e-9. The guard's reach
    /// beyond 8 probits is a score read through probabilities down to 1e-12, where 1e-16 is 1e-16/φ(7) = 1e-5. The prior is
    /// kept: without one a balance may be 0 all along a cell, and then the last bit decides where in it to play.
    #[test]
    fn units_change_nothing(
        parameters in parameters().prop_filter("units", |p| !p.ledgers().iter().any(|k| matches!(k, LedgerKind::Threshold(_)))),
        steps in prop::collection::vec((-5.0..5.0, -3.0..3.0, -4.0..4.0), 1..120),
        power in -60..60_i32,
    ) {
        let scaled = |factor: f64, shift: f64| {
            let mut recalibrator = LedgerRecalibrator::new(parameters.clone());
            let mut announced: Vec<f64> = Vec::new();
            for &(mean, exponent, z) in &steps {
                let scale = 10_f64.powf(exponent);
                let (mean, y) = (mean * scale, (mean + z) * scale);
                let forecast = Gaussian::new(mean * factor + shift, scale * factor).unwrap();
                let calibrated = recalibrator.recalibrate(forecast).unwrap();
                announced.extend(calibrated.map().announced());
                announced.extend(calibrated.map().guard().map(|knots| knots.scores()).unwrap_or_default());
                recalibrator.observe(&forecast, y * factor + shift).unwrap();
            }
            announced
        };
        let plain = scaled(1.0, 0.0);
        prop_assert_eq!(&plain, &scaled(2_f64.powi(power), 0.0));
        if parameters_have_prior(&parameters) {
            for factor in [1e9, 1e-9] {
                for (a, b) in plain.iter().zip(scaled(factor, 0.0)) {
                    let tolerance = if a.abs() <= 8.0 { 1e-9 } else { 1e-4 };
                    prop_assert!((a - b).abs() <= tolerance, "{a} and, with factor {factor}, {b}");
                }
            }
        }
    }

    /// A shift that is exact in floating point (all numbers are multiples of 2^-20 below 2^30) is exact in what is announced.
    #[test]
    fn shifts_change_nothing(
        parameters in parameters().prop_filter("units", |p| !p.ledgers().iter().any(|k| matches!(k, LedgerKind::Threshold(_)))),
        steps in prop::collection::vec((-1000..1000_i32, 1..1000_u32, -4_000_000..4_000_000_i32), 1..120),
    ) {
        let announced = |shift: f64| {
            let mut recalibrator = LedgerRecalibrator::new(parameters.clone());
            let mut announced: Vec<f64> = Vec::new();
            for &(mean, scale, y) in &steps {
                let forecast = Gaussian::new(f64::from(mean) + shift, f64::from(scale) / 32.0).unwrap();
                announced.extend(recalibrator.recalibrate(forecast).unwrap().map().announced());
                recalibrator.observe(&forecast, f64::from(y) / 4096.0 + shift).unwrap();
            }
            announced
        };
        prop_assert_eq!(announced(0.0), announced(f64::from(1 << 30)));
    }

    /// Saved and loaded anywhere, with outcomes pending, a run goes on as if it had not been.
    #[test]
    fn resumes_anywhere(parameters in parameters(), events in events(), at in 0..200_usize) {
        let mut whole: Stream<LedgerRecalibrator, Gaussian> = Stream::new(LedgerRecalibrator::new(parameters.clone()));
        let mut resumed = None;
        for (t, event) in events.iter().enumerate() {
            if t == at % events.len() {
                resumed = Some(Stream::<LedgerRecalibrator, Gaussian>::from_bytes(&whole.to_bytes().unwrap()).unwrap());
            }
            for stream in [Some(&mut whole), resumed.as_mut()].into_iter().flatten() {
                stream.issue_in(event.forecast(), event.groups(parameters.group_count())).unwrap();
                for (due, event) in events.iter().enumerate().take(t + 1).filter(|(due, e)| due + e.delay == t) {
                    let ticket = Ticket::from_number(due as u64);
                    if event.expires {
                        stream.expire(ticket).unwrap();
                    } else {
                        let y = event.forecast().at_probit(if let Choice::Score(z) = event.choice { z } else { 0.3 });
                        stream.resolve(ticket, y).unwrap();
                    }
                }
            }
        }
        let resumed = resumed.unwrap();
        prop_assert!(resumed.recalibrator() == whole.recalibrator());
        prop_assert_eq!(resumed.to_bytes().unwrap(), whole.to_bytes().unwrap());
    }

    /// Tickets issued from one state may be resolved in any order: sums are the same up to rounding, and so, without
    /// trust (whose exponential weights remember the order), is the next announcement.
    #[test]
    fn order_does_not_matter(
        parameters in parameters().prop_map(|p| rebuilt(&p, None)),
        events in events(),
        together in 2..20_usize,
        keys in prop::collection::vec(any::<u32>(), 20),
    ) {
        let warm = run(&parameters, &events, |_| ());
        let count = parameters.group_count();
        let issued: Vec<_> = events.iter().cycle().take(together).enumerate().map(|(k, event)| {
            let mut plan = warm.empty_plan();
            warm.plan(&event.forecast(), event.groups(count), (events.len() + k) as u64, &mut plan).unwrap();
            let outcome = event.outcome(&plan);
            (event.forecast(), plan, outcome)
        }).collect();
        let mut order: Vec<usize> = (0..together).collect();
        order.sort_by_key(|&k| keys[k]);
        let (mut forwards, mut shuffled) = (warm.clone(), warm);
        for k in 0..together {
            let (f, plan, y) = &issued[k];
            forwards.resolve(plan, f, *y).unwrap();
            let (f, plan, y) = &issued[order[k]];
            shuffled.resolve(plan, f, *y).unwrap();
        }
        prop_assert!(shuffled.certificate().holds(), "{}", shuffled.certificate());
        for g in 0..parameters.ledgers().len() {
            let (a, b) = (forwards.ledgers(), shuffled.ledgers());
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
        if let (Some(a), Some(b)) = (forwards.guard(), shuffled.guard()) {
            for (x, y) in a.balances().iter().zip(b.balances()) {
                prop_assert!((x - y).abs() <= 1e-9, "the guard's balances differ: {x} and {y}");
            }
        }
        if !parameters_have_trust(&parameters) && parameters_have_prior(&parameters) {
            let next = |r: &LedgerRecalibrator| {
                let mut plan = r.empty_plan();
                r.plan(&Gaussian::new(0.0, events[0].scale).unwrap(), Groups::NONE, 1 << 20, &mut plan).unwrap();
                plan.plays().to_vec()
            };
            for (x, y) in next(&forwards).iter().zip(next(&shuffled)) {
                prop_assert!((x - y).abs() <= 1e-9, "next plays differ: {x} and {y}");
            }
        }
    }

    /// A forecast that expires leaves nothing behind: neither in the recalibrator's bytes nor in later announcements.
    #[test]
    fn expiring_changes_nothing(
        parameters in parameters().prop_filter("draws are keyed by the number of the forecast", |p| !randomised(p)),
        events in events(),
    ) {
        let mut plain: Stream<LedgerRecalibrator, Gaussian> = Stream::new(LedgerRecalibrator::new(parameters.clone()));
        let mut with_expired = plain.clone();
        for event in &events {
            let groups = event.groups(parameters.group_count());
            if event.expires {
                let before = with_expired.recalibrator().clone();
                let (ticket, _) = with_expired.issue_in(event.forecast(), groups).unwrap();
                with_expired.expire(ticket).unwrap();
                prop_assert!(with_expired.recalibrator() == &before);
                continue;
            }
            let y = event.forecast().at_probit(if let Choice::Score(z) = event.choice { z } else { -0.7 });
            let (ticket, a) = plain.issue_in(event.forecast(), groups).unwrap();
            let (with_ticket, b) = with_expired.issue_in(event.forecast(), groups).unwrap();
            prop_assert_eq!(a.map(), b.map());
            plain.resolve(ticket, y).unwrap();
            with_expired.resolve(with_ticket, y).unwrap();
        }
    }
}

fn field(parameters: &Parameters, name: &str) -> serde_json::Value {
    serde_json::to_value(parameters).unwrap()[name].clone()
}

fn randomised(parameters: &Parameters) -> bool {
    field(parameters, "randomised") == true
}

fn parameters_have_trust(parameters: &Parameters) -> bool {
    field(parameters, "trust") == true
}

fn parameters_have_prior(parameters: &Parameters) -> bool {
    field(parameters, "prior").as_f64() > Some(0.1)
}

/// max over a ≤ j of min over b ≥ j of the weighted mean of a…b (Barlow et al. 1972): isotonic regression by definition.
fn min_max(values: &[f64], weights: &[f64]) -> Vec<f64> {
    let mean = |a: usize, b: usize| {
        let weight: f64 = weights[a..=b].iter().sum();
        (a..=b).map(|i| values[i] * (weights[i] / weight)).sum::<f64>()
    };
    let least = |a: usize, j: usize| (j..values.len()).map(|b| mean(a, b)).fold(f64::INFINITY, f64::min);
    (0..values.len()).map(|j| (0..=j).map(|a| least(a, j)).fold(f64::NEG_INFINITY, f64::max)).collect()
}

proptest! {
    #![proptest_config(config(256))]

    /// Monotone, idempotent, the isotonic regression by its definition, and no further from any step vector than before.
    #[test]
    fn projection_is_isotonic_regression(
        pairs in prop::collection::vec((prop_oneof![4 => 0.0..1.0, 1 => Just(0.0), 1 => Just(1.0), 1 => Just(0.5)], -6.0..6.0), 1..40),
        even in any::<bool>(),
    ) {
        let values: Vec<f64> = pairs.iter().map(|(value, _)| *value).collect();
        let weights: Vec<f64> = pairs.iter().map(|(_, e)| if even { 1.0 } else { 10_f64.powf(*e) }).collect();
        let mut projected = values.clone();
        isotonic_projection(&mut projected, |j| weights[j]);
        prop_assert!(projected.windows(2).all(|pair| pair[0] <= pair[1]), "{projected:?}");
        let mut again = projected.clone();
        isotonic_projection(&mut again, |j| weights[j]);
        prop_assert_eq!(&again, &projected);
        for (got, want) in projected.iter().zip(min_max(&values, &weights)) {
            prop_assert!((got - want).abs() <= 1e-12, "{got}, by min-max {want}");
        }
        let total: f64 = weights.iter().sum();
        for step in 0..=values.len() {
            let loss = |p: &[f64]| -> f64 {
                (0..p.len()).map(|j| weights[j] * (p[j] - f64::from(u8::from(j >= step))).powi(2)).sum()
            };
            let (after, before) = (loss(&projected), loss(&values));
            prop_assert!(after <= before + 1e-12 * total, "the loss rose from {before} to {after}");
        }
    }
}
