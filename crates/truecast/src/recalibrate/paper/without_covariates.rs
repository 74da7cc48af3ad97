//! Online calibrated regression without covariates: a calibrated forecast made of nothing but past outcomes.
//!
//! Guarantee: at each threshold the plays are as well calibrated as the subroutine is, on every sequence of outcomes. With
//! [`Approachability`](crate::subroutine::Approachability) and coins, in expectation over the coins,
//! Σ_p |ρ_T(y_j, p) − p| · (share of steps with play p) ≤ h/2 + √(2(N+1)/T), h = 1/N (docs/theory.md, "Approachability"). So
//! ρ_T(y_j, p) → p up to the grid's gap for each play p that keeps being announced. Here the paper's lemma needs no repair: the event at
//! threshold j is Y ≤ y_j at every step.
//!
//! ```text
//! y_j = −B/2 + j B/M                         j = 1 … M − 1; the event at y_M = B/2 is certain
//! p_tj = play of subroutine j                plays i/N, by a coin or expected
//! G_t(y_j) = projection of p_t1 … p_t,M−1 on non-decreasing vectors, straight in between; 0 below −B/2, 1 from B/2 on
//! subroutine j learns 1{y_t ≤ y_j}
//! ```
//!
//! Cost: M times the subroutine's, and a table of M + 1 points per forecast.
//!
//! Source: the paper, appendix "Online calibrated regression". Where we differ: it announces a step function of the plays;
//! ours is straight between thresholds, and projected where plays cross, so that G_t is a distribution. The projection never
//! raises the squared loss, but an announcement that was moved is no longer the play that was proven to be calibrated:
//! [`WithoutCovariates::plays`] has the plays and [`WithoutCovariates::calibration_error`] speaks of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::target::MOST_INTERVALS;
use crate::error::{self, Error, Result, SnapshotError};
use crate::forecast::CdfTable;
use crate::grid::{Plays, equally_spaced};
use crate::random;
use crate::recalibrate::isotonic;
use crate::subroutine::{Play, Subroutine};

/// Parameters of [`WithoutCovariates`].
///
/// | name | [`new`](WithoutCovariatesParameters::new) | meaning | range |
/// |---|---|---|---|
/// | `bound` | given | B: outcomes lie in [−B/2, B/2] | > 0 |
/// | `intervals` | given | M equal intervals of that range | 2 to 2000 |
/// | `resolution` | given | N: plays are i/N | 1 to 2000 |
/// | `randomised` | true | play by coin; otherwise announce the expected play | |
/// | `seed` | 0 | key of all coins | any |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WithoutCovariatesParameters {
    /// B: outcomes lie in [−B/2, B/2].
    pub bound: f64,
    /// M.
    pub intervals: usize,
    /// N.
    pub resolution: usize,
    /// Whether to play by coin.
    pub randomised: bool,
    /// The key of all coins.
    pub seed: u64,
}

impl WithoutCovariatesParameters {
    /// Randomised, with seed 0. Numbers are checked where the forecaster is made.
    pub fn new(bound: f64, intervals: usize, resolution: usize) -> Self {
        WithoutCovariatesParameters { bound, intervals, resolution, randomised: true, seed: 0 }
    }
}

/// A forecaster of bounded outcomes that is calibrated at its thresholds against any adversary.
///
/// Two verbs: [`forecast`](WithoutCovariates::forecast) is pure, a function of the state and of (seed, step);
/// [`observe`](WithoutCovariates::observe) learns the outcome of the forecast in force.
///
/// ```
/// use truecast::Forecast;
/// use truecast::recalibrate::{WithoutCovariates, WithoutCovariatesParameters};
/// use truecast::subroutine::Approachability;
///
/// let parameters = WithoutCovariatesParameters::new(2.0, 10, 20); // outcomes in [−1, 1]
/// let mut forecaster = WithoutCovariates::<Approachability>::new(parameters, Default::default())?;
/// let forecast = forecaster.forecast()?;
/// assert!((forecast.cdf(0.0) - 0.5).abs() < 1e-12); // uniform at first
/// forecaster.observe(0.3)?;
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State<S::Options>", into = "State<S::Options>", bound = "S: Subroutine")]
pub struct WithoutCovariates<S: Subroutine> {
    parameters: WithoutCovariatesParameters,
    options: S::Options,
    /// −B/2, y_1 … y_{M−1}, B/2.
    points: Vec<f64>,
    subroutines: Vec<S>,
    steps: u64,
}

impl<S: Subroutine> WithoutCovariates<S> {
    /// Starts one subroutine per threshold, at the uniform distribution.
    pub fn new(parameters: WithoutCovariatesParameters, options: S::Options) -> Result<Self> {
        let half = 0.5 * error::positive("bound", parameters.bound)?;
        let intervals = parameters.intervals;
        if intervals < 2 {
            return Err(Error::TooFew { what: "intervals", least: 2, found: intervals });
        }
        if parameters.resolution < 1 {
            return Err(Error::TooFew { what: "play intervals", least: 1, found: 0 });
        }
        for (what, count) in [("intervals", intervals), ("play intervals", parameters.resolution)] {
            if count > MOST_INTERVALS {
                return Err(Error::OutOfRange { what, rule: "at most 2000", value: count as f64 });
            }
        }
        let points: Vec<f64> = equally_spaced(-half, half, intervals + 1).collect();
        error::increasing("thresholds", &points)?;
        let plays = Arc::new(Plays::uniform(parameters.resolution)?);
        let start = |j: usize| S::start(&options, plays.clone(), j as f64 / intervals as f64);
        let subroutines = (1..intervals).map(start).collect::<Result<_>>()?;
        Ok(WithoutCovariates { parameters, options, points, subroutines, steps: 0 })
    }

    /// The parameters.
    pub fn parameters(&self) -> &WithoutCovariatesParameters {
        &self.parameters
    }

    /// The thresholds y_1 … y_{M−1}.
    pub fn thresholds(&self) -> &[f64] {
        &self.points[1..self.points.len() - 1]
    }

    /// The plays of this step at the thresholds, before projection: what the guarantee speaks of.
    pub fn plays(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.subroutines.len()).map(|j| self.play(j).probability)
    }

    /// The subroutine of each threshold.
    pub fn subroutines(&self) -> &[S] {
        &self.subroutines
    }

    /// Outcomes learned so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The forecast of the next outcome. Pure.
    pub fn forecast(&self) -> Result<CdfTable> {
        let mut probabilities: Vec<f64> = Vec::with_capacity(self.points.len());
        probabilities.push(0.0);
        probabilities.extend(self.plays());
        isotonic::project(&mut probabilities[1..], |_| 1.0);
        probabilities.push(1.0);
        CdfTable::new(&self.points, &probabilities)
    }

    /// Learns the outcome, which must lie in [−B/2, B/2].
    pub fn observe(&mut self, outcome: f64) -> Result<()> {
        error::finite("outcome", outcome)?;
        if outcome.abs() > 0.5 * self.parameters.bound {
            let rule = "within half of the bound on either side of 0";
            return Err(Error::OutOfRange { what: "outcome", rule, value: outcome });
        }
        for j in 0..self.subroutines.len() {
            let play = self.play(j);
            self.subroutines[j].settle(play, outcome <= self.points[j + 1]);
        }
        self.steps += 1;
        Ok(())
    }

    /// The ℓ1 calibration error of the plays at threshold `j`, counted from 0; `None` where there is no such threshold.
    pub fn calibration_error(&self, j: usize) -> Option<f64> {
        self.subroutines.get(j).map(S::calibration_error)
    }

    fn play(&self, j: usize) -> Play {
        if self.parameters.randomised {
            self.subroutines[j].draw(random::uniform(self.parameters.seed, self.steps, j as u32))
        } else {
            self.subroutines[j].expected()
        }
    }
}

/// The saved form.
#[derive(Serialize, Deserialize)]
struct State<O> {
    parameters: WithoutCovariatesParameters,
    options: O,
    subroutines: Vec<Vec<f64>>,
    steps: u64,
}

impl<S: Subroutine> TryFrom<State<S::Options>> for WithoutCovariates<S> {
    type Error = Error;
    fn try_from(state: State<S::Options>) -> Result<Self> {
        // Before anything of that size is made.
        if state.subroutines.len().checked_add(1) != Some(state.parameters.intervals) {
            return Err(SnapshotError::Invalid { field: "subroutines", rule: "one per threshold" }.into());
        }
        if state.steps >= 1 << 53 {
            return Err(SnapshotError::Invalid { field: "steps", rule: "below 2^53" }.into());
        }
        let mut forecaster = WithoutCovariates::<S>::new(state.parameters, state.options)?;
        for (subroutine, saved) in forecaster.subroutines.iter_mut().zip(&state.subroutines) {
            subroutine.restore(saved)?;
        }
        forecaster.steps = state.steps;
        Ok(forecaster)
    }
}

impl<S: Subroutine> From<WithoutCovariates<S>> for State<S::Options> {
    fn from(of: WithoutCovariates<S>) -> Self {
        State {
            subroutines: of.subroutines.iter().map(S::state).collect(),
            parameters: of.parameters,
            options: of.options,
            steps: of.steps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Forecast;
    use crate::subroutine::{Approachability, LedgerRule};

    type Forecaster = WithoutCovariates<Approachability>;

    fn with(bound: f64, intervals: usize, resolution: usize) -> Result<Forecaster> {
        let parameters = WithoutCovariatesParameters::new(bound, intervals, resolution);
        Forecaster::new(parameters, Default::default())
    }

    #[test]
    fn starts_uniform_and_has_bounded_support() {
        let forecaster = with(8.0, 8, 8).unwrap();
        assert_eq!(forecaster.thresholds(), [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0]);
        let forecast = forecaster.forecast().unwrap();
        for k in 0..=16 {
            let y = f64::from(k) / 2.0 - 4.0;
            assert_eq!(forecast.cdf(y), f64::from(k) / 16.0, "at {y}");
        }
        assert_eq!((forecast.quantile(0.0), forecast.quantile(1.0)), (-4.0, 4.0));
    }

    #[test]
    fn bad_input_is_refused_and_changes_nothing() {
        assert_eq!(with(-1.0, 4, 4), Err(Error::NotPositive { what: "bound", value: -1.0 }));
        assert_eq!(with(1.0, 1, 4), Err(Error::TooFew { what: "intervals", least: 2, found: 1 }));
        assert_eq!(with(1.0, 4, 0), Err(Error::TooFew { what: "play intervals", least: 1, found: 0 }));
        let large = |what| Err(Error::OutOfRange { what, rule: "at most 2000", value: 2001.0 });
        assert_eq!((with(1.0, 2001, 4), with(1.0, 4, 2001)), (large("intervals"), large("play intervals")));
        let mut forecaster = with(2.0, 4, 4).unwrap();
        let before = forecaster.clone();
        let rule = "within half of the bound on either side of 0";
        let outside = Error::OutOfRange { what: "outcome", rule, value: 1.5 };
        assert_eq!(forecaster.observe(1.5), Err(outside));
        assert!(matches!(forecaster.observe(f64::NAN), Err(Error::NotFinite { what: "outcome", .. })));
        assert_eq!(forecaster, before);
        assert_eq!(forecaster.calibration_error(3), None);
    }

    /// Pure forecasts, and a saved run that goes on as if it had not been saved.
    #[test]
    fn forecasts_are_pure_and_runs_resume() {
        let parameters = WithoutCovariatesParameters::new(2.0, 6, 10);
        let mut forecaster = WithoutCovariates::<LedgerRule>::new(parameters, Default::default()).unwrap();
        let mut resumed = forecaster.clone();
        for t in 0..200 {
            assert_eq!(forecaster.forecast(), forecaster.forecast());
            assert_eq!(forecaster.forecast(), resumed.forecast());
            let y = 2.0 * random::uniform(5, t, 0) - 1.0;
            forecaster.observe(y).unwrap();
            resumed.observe(y).unwrap();
            let bytes = postcard::to_allocvec(&resumed).unwrap();
            resumed = postcard::from_bytes(&bytes).unwrap();
            assert_eq!(forecaster, resumed, "at {t}");
        }
        let mut state = State::from(forecaster);
        state.subroutines.pop();
        let invalid = SnapshotError::Invalid { field: "subroutines", rule: "one per threshold" };
        assert_eq!(WithoutCovariates::<LedgerRule>::try_from(state), Err(Error::Snapshot(invalid)));
    }
}
