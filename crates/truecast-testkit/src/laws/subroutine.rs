//! The laws of a binary calibration subroutine.

use std::sync::Arc;

use truecast::error::SnapshotError;
use truecast::grid::Plays;
use truecast::random;
use truecast::subroutine::{Play, Subroutine};

/// Steps of the runs on which the calibration error is held against its bound.
const STEPS: u64 = 4000;
/// Base probabilities that the laws start from: the ends, near them, on a play of the even grids, in between.
const BASES: [f64; 6] = [0.0, 0.003, 0.25, 0.5, 0.77, 1.0];

/// What a subroutine promises.
#[derive(Debug, Clone, Copy)]
pub struct Promise {
    /// Whether it is made for the plays that are drawn, or for the expected ones.
    pub randomised: bool,
    /// The largest calibration error after so many steps on this grid, on every sequence.
    pub bound: fn(&Plays, f64) -> f64,
}

/// All laws, on one play grid.
pub fn subroutine_laws<S: Subroutine + PartialEq>(
    name: &str,
    options: &S::Options,
    plays: &Plays,
    promise: Promise,
) {
    let plays = Arc::new(plays.clone());
    for base in BASES {
        let law =
            Law { name, base, start: || S::start(options, plays.clone(), base).expect("a probability") };
        law.starts_at_the_base();
        law.plays_lie_on_the_grid_and_draws_are_right_on_average();
        law.memory_does_not_grow();
        law.state_round_trips();
        law.damaged_states_are_refused();
        law.calibration_error_is_within_its_bound(promise);
    }
    for base in [-0.1, 1.1, f64::NAN] {
        assert!(S::start(options, plays.clone(), base).is_err(), "{name}: started at the probability {base}");
    }
}

/// Whether the event of a step happens, given what is announced for it in expectation.
type Event = fn(u64, f64) -> bool;

/// Sequences of events; some look at what is announced in expectation, none at the coin.
const SEQUENCES: [(&str, Event); 7] = [
    ("always", |_, _| true),
    ("never", |_, _| false),
    ("alternating", |t, _| t % 2 == 0),
    ("Bernoulli(0.3)", |t, _| random::uniform(3, t, 0) < 0.3),
    ("against the announcement", |_, announced| announced < 0.5),
    ("against the announcement, around 0.3", |_, announced| announced < 0.3),
    ("switching every 500", |t, _| t / 500 % 2 == 0),
];

struct Law<'a, F> {
    name: &'a str,
    base: f64,
    start: F,
}

impl<S: Subroutine + PartialEq, F: Fn() -> S> Law<'_, F> {
    /// Plays against a sequence, and shows every step to `watch`.
    fn run(&self, steps: u64, randomised: bool, event: Event, mut watch: impl FnMut(&S)) -> S {
        let mut subroutine = (self.start)();
        for t in 0..steps {
            watch(&subroutine);
            let expected = subroutine.expected();
            let play = if randomised { subroutine.draw(random::uniform(11, t, 1)) } else { expected };
            subroutine.settle(play, event(t, expected.probability));
        }
        subroutine
    }

    /// Before any outcome the base is announced, to the rounding of one mixture.
    fn starts_at_the_base(&self) {
        let announced = (self.start)().expected().probability;
        assert!(
            (announced - self.base).abs() <= 1e-15,
            "{}: began with {announced}, not {}",
            self.name,
            self.base
        );
        assert_eq!((self.start)().calibration_error(), 0.0, "{}: an error before any outcome", self.name);
    }

    /// Every announcement is a mixture of neighbours; drawn ones are points of the grid, and right on average: K equally spaced
    /// draws are off by at most one of them, gap/K.
    fn plays_lie_on_the_grid_and_draws_are_right_on_average(&self) {
        const DRAWS: u32 = 1000;
        for (sequence, event) in SEQUENCES {
            for randomised in [false, true] {
                let mut t = 0_u64;
                self.run(300, randomised, event, |subroutine| {
                    let (name, v, play) = (self.name, subroutine.plays().values(), subroutine.expected());
                    assert_eq!(play, subroutine.expected(), "{name}: asking changed the answer");
                    let (cell, a) = (play.cell as usize, play.fraction);
                    assert!(
                        cell + 1 < v.len() && (0.0..=1.0).contains(&a),
                        "{name}: {play:?} is off the grid"
                    );
                    assert!((0.0..=1.0).contains(&play.probability), "{name}: {play:?} is no probability");
                    let mixed = (1.0 - a) * v[cell] + a * v[cell + 1];
                    assert!(
                        (play.probability - mixed).abs() <= 1e-15,
                        "{name}: {play:?} is not the mixture {mixed}"
                    );
                    if t.is_multiple_of(25) {
                        let draws =
                            (0..DRAWS).map(|k| subroutine.draw((f64::from(k) + 0.5) / f64::from(DRAWS)));
                        let mean =
                            draws.map(|drawn| self.on_the_grid(drawn, v)).sum::<f64>() / f64::from(DRAWS);
                        let gap = v[cell + 1] - v[cell];
                        let off = (mean - play.probability).abs();
                        assert!(
                            off <= gap / f64::from(DRAWS) + 1e-12,
                            "{name}, {sequence}: draws are off by {off}"
                        );
                    }
                    t += 1;
                });
            }
        }
    }

    fn on_the_grid(&self, drawn: Play, v: &[f64]) -> f64 {
        let at = drawn.cell as usize + usize::from(drawn.fraction == 1.0);
        let rounded = drawn.fraction == 0.0 || drawn.fraction == 1.0;
        assert!(rounded && drawn.probability == v[at], "{}: drew {drawn:?}, which is no play", self.name);
        drawn.probability
    }

    fn memory_does_not_grow(&self) {
        let length = (self.start)().state().len();
        for (sequence, event) in SEQUENCES {
            self.run(300, true, event, |subroutine| {
                assert_eq!(subroutine.state().len(), length, "{}: memory grew, {sequence}", self.name);
            });
        }
    }

    /// A run that is saved and restored at every step is the run, to the bit.
    fn state_round_trips(&self) {
        for (sequence, event) in SEQUENCES {
            for randomised in [false, true] {
                self.run(100, randomised, event, |subroutine| {
                    let mut restored = (self.start)();
                    let state = subroutine.state();
                    restored.restore(&state).expect("what was saved can be restored");
                    assert_eq!(&restored, subroutine, "{}, {sequence}: restored differs", self.name);
                    let bits = |play: Play| (play.probability.to_bits(), play.cell, play.fraction.to_bits());
                    assert_eq!(
                        bits(restored.expected()),
                        bits(subroutine.expected()),
                        "{}, {sequence}",
                        self.name
                    );
                });
            }
        }
    }

    /// NaN, infinities, a negative or broken count of steps, too short and too long: refused, and nothing changes.
    fn damaged_states_are_refused(&self) {
        let good = self.run(50, true, SEQUENCES[3].1, |_| ());
        let state = good.state();
        let mut damaged = vec![Vec::new(), state[1..].to_vec(), [&state[..], &[0.0]].concat()];
        for at in 0..state.len() {
            for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                damaged.push(state.clone());
                let last = damaged.len() - 1;
                damaged[last][at] = wrong;
            }
        }
        for state in damaged {
            let mut subroutine = good.clone();
            let refused = matches!(subroutine.restore(&state), Err(SnapshotError::Invalid { .. }));
            assert!(refused, "{}: restored from {state:?}", self.name);
            assert_eq!(subroutine, good, "{}: a refused state changed something", self.name);
        }
    }

    fn calibration_error_is_within_its_bound(&self, promise: Promise) {
        for (sequence, event) in SEQUENCES {
            let subroutine = self.run(STEPS, promise.randomised, event, |_| ());
            let (error, bound) =
                (subroutine.calibration_error(), (promise.bound)(subroutine.plays(), STEPS as f64));
            assert!(
                error <= bound,
                "{} from {}, {sequence}: calibration error {error} after {STEPS} steps, bound {bound}",
                self.name,
                self.base
            );
        }
    }
}
