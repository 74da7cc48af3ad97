//! Calibrated probabilities of an event from scratch: no forecaster, no features, any sequence.
//!
//! Guarantee: that of the subroutine S, on every sequence of outcomes that does not see the current coin. With plays v_0 … v_N
//!
//! ```text
//! C_T = Σ_i |(1/T) Σ_t 1{p_t = v_i}(o_t − v_i)| → 0 up to the grid     of the times it said v_i, v_i of them happened
//! ```
//!
//! for a randomised S, and against the grid's tent functions for a deterministic one, which cannot have more (Oakes 1985).
//! Against any constant q, squared loss has regret Σ(p−o)² − (q−o)² ≤ 2 T C_T (docs/theory.md, "The exact regret identity").
//!
//! Cost per step and memory: those of one subroutine. Source: Foster & Vohra (1998), "Asymptotic Calibration", which plays by
//! internal regret; any other calibration subroutine serves. Where we differ: the play may also be the expected one, and a
//! starting probability counts until outcomes speak.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::check_play;
use crate::error::{Error, Result};
use crate::grid::Plays;
use crate::random;
use crate::subroutine::{Play, Subroutine};

/// Parameters of [`FosterVohra`].
///
/// | name | default | meaning |
/// |---|---|---|
/// | `plays` | i/20 | what may be announced |
/// | `start` | 0.5 | announced before any outcome |
/// | `randomised` | true | play by coin, for calibration in the strict sense |
/// | `seed` | 0 | key of all coins |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FosterVohraParameters {
    /// What may be announced.
    pub plays: Plays,
    /// Announced before any outcome.
    pub start: f64,
    /// Whether to play by coin.
    pub randomised: bool,
    /// The key of all coins.
    pub seed: u64,
}

impl FosterVohraParameters {
    /// The defaults with plays i/N.
    pub fn with_resolution(resolution: usize) -> Result<Self> {
        Ok(FosterVohraParameters {
            plays: Plays::uniform(resolution)?,
            start: 0.5,
            randomised: true,
            seed: 0,
        })
    }
}

/// A calibrated forecaster of one event per step.
///
/// ```
/// use truecast::finite::{FosterVohra, FosterVohraParameters};
/// use truecast::subroutine::Approachability;
///
/// let parameters = FosterVohraParameters::with_resolution(20)?;
/// let mut rain = FosterVohra::<Approachability>::new(parameters, Default::default())?;
/// let chance = rain.forecast(); // pure
/// rain.observe(true)?;
/// assert_eq!(chance, 0.5);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State<S::Options>", into = "State<S::Options>", bound = "S: Subroutine")]
pub struct FosterVohra<S: Subroutine> {
    parameters: FosterVohraParameters,
    options: S::Options,
    subroutine: S,
    steps: u64,
}

impl<S: Subroutine> FosterVohra<S> {
    /// Starts with no outcomes.
    pub fn new(parameters: FosterVohraParameters, options: S::Options) -> Result<Self> {
        let subroutine = S::start(&options, Arc::new(parameters.plays.clone()), parameters.start)?;
        Ok(FosterVohra { parameters, options, subroutine, steps: 0 })
    }

    /// The play for step number `step`. Pure; keep it if the outcome comes later.
    pub fn play(&self, step: u64) -> Play {
        if self.parameters.randomised {
            self.subroutine.draw(random::uniform(self.parameters.seed, step, 0))
        } else {
            self.subroutine.expected()
        }
    }

    /// The probability announced for the next step. Pure.
    pub fn forecast(&self) -> f64 {
        self.play(self.steps).probability
    }

    /// Books whether the event happened against the play that was announced for it.
    pub fn settle(&mut self, play: Play, happened: bool) -> Result<()> {
        check_play(&self.parameters.plays, play)?;
        // As the grid rounds it, so that a restored state has the same bits.
        let booked = Play::new(&self.parameters.plays, play.cell as usize, play.fraction);
        self.subroutine.settle(booked, happened);
        self.steps += 1;
        Ok(())
    }

    /// Announces and learns at once; gives what was announced.
    pub fn observe(&mut self, happened: bool) -> Result<f64> {
        let play = self.play(self.steps);
        self.settle(play, happened)?;
        Ok(play.probability)
    }

    /// Outcomes settled so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// C_T of what was announced so far.
    pub fn calibration_error(&self) -> f64 {
        self.subroutine.calibration_error()
    }

    /// The subroutine.
    pub fn subroutine(&self) -> &S {
        &self.subroutine
    }
}

/// The saved form.
#[derive(Serialize, Deserialize)]
struct State<O> {
    parameters: FosterVohraParameters,
    options: O,
    subroutine: Vec<f64>,
    steps: u64,
}

impl<S: Subroutine> TryFrom<State<S::Options>> for FosterVohra<S> {
    type Error = Error;
    fn try_from(state: State<S::Options>) -> Result<Self> {
        let mut forecaster = FosterVohra::<S>::new(state.parameters, state.options)?;
        forecaster.subroutine.restore(&state.subroutine)?;
        forecaster.steps = state.steps;
        Ok(forecaster)
    }
}

impl<S: Subroutine> From<FosterVohra<S>> for State<S::Options> {
    fn from(of: FosterVohra<S>) -> Self {
        State {
            subroutine: of.subroutine.state(),
            parameters: of.parameters,
            options: of.options,
            steps: of.steps,
        }
    }
}
