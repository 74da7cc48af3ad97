//! Arbitrary streams.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use truecast::Forecast;
use truecast::forecast::{AnyForecast, Quantiles, Samples};
use truecast::recalibrate::Groups;
use truecast_testkit::kinds::{KINDS, of_kind};

pub fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(2026),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// How the outcome of a step is chosen, once its announcement is known.
#[derive(Debug, Clone, Copy)]
pub enum Choice {
    /// At this base probit score.
    Score(f64),
    /// So many scales from the mean.
    Far(f64),
    /// Where the base has this quantile: at a corner of its table, or an atom.
    OnBase(f64),
    /// Where the announced forecast has it.
    OnAnnounced(f64),
    /// Just outside of the announced interval.
    Outside(f64, bool),
}

/// What a forecast is.
#[derive(Debug, Clone)]
pub enum Shape {
    /// One of the testkit's.
    Kind(usize),
    /// A table with its quantiles at these places.
    Table(Vec<f64>),
    /// An ensemble of these members.
    Ensemble(Vec<f64>),
}

#[derive(Debug, Clone)]
pub struct Event {
    pub shape: Shape,
    pub mean: f64,
    pub scale: f64,
    pub groups: u8,
    pub choice: Choice,
    /// How many later forecasts are issued before the outcome comes.
    pub delay: usize,
    /// Whether the outcome never comes.
    pub expires: bool,
    /// Orders outcomes that come together.
    pub key: u32,
}

/// The longest delay.
pub const LONGEST: usize = 12;

impl Event {
    pub fn forecast(&self) -> AnyForecast {
        let at = |places: &[f64]| places.iter().map(|z| self.scale * (self.mean + z)).collect::<Vec<f64>>();
        match &self.shape {
            Shape::Kind(kind) => of_kind(*kind, self.mean * self.scale, self.scale),
            Shape::Table(places) => {
                let levels: Vec<f64> =
                    (1..=places.len()).map(|k| k as f64 / (places.len() as f64 + 1.0)).collect();
                Quantiles::new(&levels, &at(places)).unwrap().into()
            }
            Shape::Ensemble(places) => Samples::new(&at(places)).unwrap().into(),
        }
    }

    pub fn groups(&self, count: usize) -> Groups {
        Groups::of(&(0..count).filter(|g| self.groups >> g & 1 == 1).collect::<Vec<_>>()).unwrap()
    }

    pub fn outcome(&self, forecast: &dyn Forecast, calibrated: &dyn Forecast) -> f64 {
        let y = match self.choice {
            Choice::Score(z) => forecast.at_probit(z),
            Choice::Far(distance) => self.scale * (self.mean + distance),
            Choice::OnBase(p) => forecast.quantile(p),
            Choice::OnAnnounced(p) => calibrated.quantile(p),
            Choice::Outside(coverage, above) => {
                let (low, high) = calibrated.interval(coverage).unwrap();
                if above { high + 1e-3 * self.scale } else { low - 1e-3 * self.scale }
            }
        };
        // An end of the support may be infinite.
        if y.is_finite() { y } else { self.mean * self.scale }
    }
}

fn choice() -> impl Strategy<Value = Choice> {
    let level =
        || prop_oneof![3 => 0.01..0.99, 1 => (1..24).prop_map(|k| f64::from(k) / 24.0), 1 => Just(0.5)];
    prop_oneof![
        4 => (-3.0..3.0).prop_map(Choice::Score),
        1 => prop_oneof![Just(0.0), Just(1.0), -6.0..6.0].prop_map(Choice::Score),
        2 => prop_oneof![Just(0.0), -10.0..10.0, -1e3..1e3, Just(-1e6), Just(1e6)].prop_map(Choice::Far),
        2 => level().prop_map(Choice::OnBase),
        2 => level().prop_map(Choice::OnAnnounced),
        2 => (prop_oneof![Just(0.8), Just(0.5), Just(0.98)], any::<bool>()).prop_map(|(c, above)| Choice::Outside(c, above)),
    ]
}

fn shape() -> impl Strategy<Value = Shape> {
    let place = || prop_oneof![4 => -3.0..3.0_f64, 1 => (-3..=3).prop_map(f64::from), 1 => Just(0.0)];
    prop_oneof![
        3 => Just(Shape::Kind(0)),
        5 => (0..KINDS.len()).prop_map(Shape::Kind),
        1 => prop::collection::vec(place(), 2..24).prop_map(Shape::Table),
        1 => prop::collection::vec(place(), 1..40).prop_map(Shape::Ensemble),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let delay = prop_oneof![6 => Just(0_usize), 1 => 0..LONGEST];
    (shape(), -5.0..5.0, -12.0..12.0, any::<u8>(), choice(), delay, 0..20_u8, any::<u32>()).prop_map(
        |(shape, mean, exponent, groups, choice, delay, fate, key)| Event {
            shape,
            mean,
            scale: 10_f64.powf(exponent),
            groups,
            choice,
            delay,
            expires: fate == 0,
            key,
        },
    )
}

/// How alike the events of a stream are.
#[derive(Debug, Clone, Copy)]
enum Likeness {
    /// One kind, one scale, and outcomes of one kind.
    All,
    Scale,
    Nothing,
}

/// Streams of one kind and scale are as common as those of widely different ones.
pub fn events(most: usize) -> impl Strategy<Value = Vec<Event>> {
    let likeness = prop_oneof![Just(Likeness::All), Just(Likeness::Scale), Just(Likeness::Nothing)];
    // All at once, a few late, or all late by the same: delays as they are, 0, or one for all.
    let delays = prop_oneof![2 => Just(None), 2 => Just(Some(0)), 1 => (1..LONGEST).prop_map(Some)];
    (prop::collection::vec(event(), 1..most), likeness, delays).prop_map(|(mut events, likeness, delay)| {
        let first = events[0].clone();
        for event in &mut events {
            if !matches!(likeness, Likeness::Nothing) {
                event.scale = first.scale;
            }
            if matches!(likeness, Likeness::All) {
                event.shape = first.shape.clone();
            }
            event.delay = delay.unwrap_or(event.delay);
        }
        events
    })
}

/// The same with normal forecasts alone.
pub fn normal_events(most: usize) -> impl Strategy<Value = Vec<Event>> {
    events(most).prop_map(|mut events| {
        events.iter_mut().for_each(|event| event.shape = Shape::Kind(0));
        events
    })
}

/// The outcomes that come at step `t`, in the order of their keys.
pub fn due(events: &[Event], t: usize) -> Vec<usize> {
    let mut due: Vec<usize> = (0..events.len().min(t + 1)).filter(|&k| k + events[k].delay == t).collect();
    due.sort_by_key(|&k| events[k].key);
    due
}
