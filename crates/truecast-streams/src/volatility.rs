//! The random walk behind the volatile scenario, in constant memory.
//!
//! The stream is defined as the whole walk drawn first and the outcomes after it. So the walk keeps a source of its own, and the
//! outcomes' source is moved past the draws that the walk will take: one normal is one uniform.

use crate::Draws;

/// Steps by which the forecast lags.
const LAG: usize = 50;
/// Size of a step of the walk.
const STEP: f64 = 0.05;
/// The walk stays within these, so that its exponential is a number: 6,000 steps in one direction away.
const REACH: f64 = 300.0;

/// The logarithm of the scale, now and [`LAG`] steps ago.
#[derive(Debug, Clone)]
pub(crate) struct Walk {
    draws: Draws,
    /// The last values, the one of t + LAG at t mod LAG once it is drawn.
    past: [f64; LAG],
    value: f64,
    step: usize,
}

impl Walk {
    /// The walk of a stream of so many steps; moves `draws` to where its outcomes begin.
    pub(crate) fn new(steps: usize, draws: &mut Draws) -> Self {
        let mut walk = Walk { draws: draws.clone(), past: [0.0; LAG], value: 0.0, step: 0 };
        for _ in 1..steps + LAG {
            draws.uniform();
        }
        for t in 1..LAG {
            walk.advance();
            walk.past[t] = walk.value;
        }
        walk
    }

    fn advance(&mut self) {
        self.value = (self.value + STEP * self.draws.normal()).clamp(-REACH, REACH);
    }

    /// The scale that the forecast knows, and the one that the outcome has.
    pub(crate) fn next_scales(&mut self) -> (f64, f64) {
        self.advance();
        let place = self.step % LAG;
        self.step += 1;
        let known = std::mem::replace(&mut self.past[place], self.value);
        (libm::exp(known), libm::exp(self.value))
    }
}
