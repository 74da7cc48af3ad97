//! The loop of Bayesian optimisation, turned inside out: ask for a point, tell its outcome (algorithms 2 and 3 of the paper).
//!
//! Everything that a suggestion depends on is in the log of steps and in the hyperparameters found last, and every draw is a function of the seed and the
//! step's number. So a study that was saved and loaded goes on bit for bit. Outcomes may come late, in any order, or never.
//!
//! Cost of a suggestion with n outcomes: one fit, O(starts · evaluations · n³), and a search, O(candidates · n²).

mod propose;
mod settings;
mod step;

use serde::{Deserialize, Serialize};
use truecast_models::Hyperparameters;

pub use settings::StudySettings;
pub use step::{Evaluation, Fallback, Origin, Stage, Step};

use crate::calibration::Foretold;
use crate::error::{Error, Result};
use crate::space::{Space, Value};
use crate::surrogate::ProcessSurrogate;

/// The largest outcome: squares of it can be summed.
const LARGEST: f64 = 1e100;

/// A function that is being minimised.
///
/// ```
/// use truecast_bo::{Space, Study, StudySettings};
///
/// let mut study = Study::new(Space::real_box([(-5.0, 10.0)])?, StudySettings { seed: 1, ..Default::default() })?;
/// for _ in 0..15 {
///     let point = study.suggest()?;
///     let x = point[0].as_real().unwrap_or_default();
///     study.observe(&point, (x - 2.0) * (x - 2.0))?;
/// }
/// let best = study.best().and_then(|step| step.outcome()).unwrap_or(f64::MAX);
/// assert!(best < 1e-3);
/// # Ok::<(), truecast_bo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Study {
    space: Space,
    settings: StudySettings,
    steps: Vec<Step>,
    /// Where each step's point lies in the unit cube.
    places: Vec<Vec<f64>>,
    fit: Option<Fit>,
}

/// The hyperparameters found last, and for how many outcomes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Fit {
    hyperparameters: Hyperparameters,
    outcomes: usize,
}

impl Study {
    /// A study that has seen nothing.
    pub fn new(space: Space, settings: StudySettings) -> Result<Self> {
        settings.validate()?;
        Ok(Study { space, settings, steps: Vec::new(), places: Vec::new(), fit: None })
    }

    /// What is searched.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// What it is run with.
    pub fn settings(&self) -> &StudySettings {
        &self.settings
    }

    /// The log: one line for each point that was suggested or told.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The step of least outcome, the first of equals.
    pub fn best(&self) -> Option<&Step> {
        let known = self.steps.iter().filter_map(|step| Some((step, step.outcome()?)));
        known.reduce(|best, next| if next.1 < best.1 { next } else { best }).map(|(step, _)| step)
    }

    /// The next point to evaluate. Points that were suggested and not yet told count as being evaluated.
    pub fn suggest(&mut self) -> Result<Vec<Value>> {
        let step = self.propose()?;
        let point = step.point.clone();
        self.places.push(self.space.encode(&point)?);
        self.steps.push(step);
        Ok(point)
    }

    /// Several points to evaluate at once: each takes the ones before it as evaluated, with the surrogate's mean as their outcome.
    pub fn suggest_batch(&mut self, count: usize) -> Result<Vec<Vec<Value>>> {
        (0..count).map(|_| self.suggest()).collect()
    }

    /// Takes in the outcome of a point, suggested or not.
    pub fn observe(&mut self, point: &[Value], outcome: f64) -> Result<()> {
        if outcome.is_nan() || outcome.abs() > LARGEST {
            return Err(Error::Outcome { value: outcome });
        }
        self.tell(point, Evaluation::Outcome(outcome))
    }

    /// Takes in that the evaluation of a point failed. No number is made of it; points near it are not suggested again.
    pub fn observe_failed(&mut self, point: &[Value], why: impl Into<String>) -> Result<()> {
        self.tell(point, Evaluation::Failed(why.into()))
    }

    fn tell(&mut self, point: &[Value], evaluation: Evaluation) -> Result<()> {
        let place = self.space.encode(point)?;
        let waits = |(step, at): (&Step, &Vec<f64>)| step.evaluation == Evaluation::Pending && *at == place;
        match self.steps.iter().zip(&self.places).position(waits) {
            Some(i) => self.steps[i].evaluation = evaluation,
            None => {
                let step = Step {
                    number: self.steps.len() as u64,
                    point: point.to_vec(),
                    origin: Origin::Told,
                    multiplier: None,
                    forecast: None,
                    interval: None,
                    fallback: None,
                    evaluation,
                };
                self.steps.push(step);
                self.places.push(place);
            }
        }
        Ok(())
    }

    /// Places and outcomes of all that is known.
    fn known(&self) -> (Vec<Vec<f64>>, Vec<f64>) {
        let known = self.steps.iter().zip(&self.places);
        known.filter_map(|(step, place)| Some((place.clone(), step.outcome()?))).unzip()
    }

    /// The forecasts that were made before their outcomes, with these.
    pub fn online(&self) -> Vec<Foretold> {
        let told = |step: &Step| Some(Foretold { forecast: step.forecast?, outcome: step.outcome()? });
        self.steps.iter().filter_map(told).collect()
    }

    /// The surrogate of all that is known, as the next suggestion would see it, without points that are being evaluated.
    pub fn surrogate(&self) -> Result<ProcessSurrogate> {
        let (places, outcomes) = self.known();
        let settings = &self.settings.surrogate;
        match &self.fit {
            Some(fit) if fit.outcomes == outcomes.len() => {
                ProcessSurrogate::at(&places, &outcomes, settings, &fit.hyperparameters)
            }
            fit => {
                let previous = fit.as_ref().map(|fit| &fit.hyperparameters);
                let seed = self.settings.seed.wrapping_add(outcomes.len() as u64);
                ProcessSurrogate::fit(&places, &outcomes, settings, previous, seed)
            }
        }
    }
}

/// What is saved.
#[derive(Serialize, Deserialize)]
struct Parts {
    space: Space,
    settings: StudySettings,
    steps: Vec<Step>,
    fit: Option<Fit>,
}

impl From<Study> for Parts {
    fn from(of: Study) -> Self {
        let Study { space, settings, steps, fit, .. } = of;
        Parts { space, settings, steps, fit }
    }
}

impl TryFrom<Parts> for Study {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        let Parts { space, settings, steps, fit } = parts;
        let mut study = Study::new(space, settings)?;
        for (i, step) in steps.into_iter().enumerate() {
            if step.number != i as u64 {
                return Err(Error::State { rule: "steps are numbered from 0" });
            }
            if let Some(value) = step.outcome().filter(|y| y.is_nan() || y.abs() > LARGEST) {
                return Err(Error::Outcome { value });
            }
            study.places.push(study.space.encode(&step.point)?);
            study.steps.push(step);
        }
        let known = study.steps.iter().filter(|step| step.outcome().is_some()).count();
        if fit.as_ref().is_some_and(|fit| fit.outcomes > known) {
            return Err(Error::State { rule: "a fit has no more outcomes than there are" });
        }
        study.fit = fit;
        Ok(study)
    }
}
