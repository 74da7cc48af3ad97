//! How the next point is found, and what is done when a part of that does not work.
//!
//! | does not work | in its place | log |
//! |---|---|---|
//! | the surrogate cannot be fitted | a uniform random point | [`Stage::Surrogate`] |
//! | its forecasts cannot be recalibrated | they are taken as they are | [`Stage::Calibration`] |
//! | no point has an acquisition, or all are excluded | a uniform random point | [`Stage::Acquisition`] |
//!
//! Excluded are balls around failed evaluations, a hundredth of the cube's diagonal in radius, and, where outcomes are exact, every point that was suggested.

use truecast::Forecast;

use super::{Evaluation, Fallback, Fit, Origin, Stage, Step, Study};
use crate::criterion::Criterion;
use crate::draws::{self, Purpose};
use crate::error::{Error, Result};
use crate::maximise::{Excluded, maximise};
use crate::remap::Remap;
use crate::surrogate::{ProcessSurrogate, Surrogate};

/// The radius around a failed evaluation, in diagonals of the cube.
const FAILED_RADIUS: f64 = 0.01;
/// Nearer than this, exact outcomes are the same for a surrogate.
const SAME_POINT: f64 = 1e-6;
/// The best points so far that a search also begins from.
const ANCHORS: usize = 3;
/// Random draws before one that is excluded is suggested after all.
const MOST_DRAWS: u64 = 100;

/// A point that was found, with what was foretold there.
struct Found {
    place: Vec<f64>,
    step: Step,
}

impl Study {
    pub(super) fn propose(&mut self) -> Result<Step> {
        let designed = self.steps.iter().filter(|step| step.origin == Origin::Design).count();
        if designed < self.settings.initial {
            let (width, seed) = (self.space.width(), self.settings.seed);
            let points = self.settings.design.points(self.settings.initial, width, seed);
            return self.step(&points[designed], Origin::Design);
        }
        let surrogate = match self.surrogate() {
            Ok(surrogate) => surrogate,
            Err(error) => return self.random(Stage::Surrogate, &error),
        };
        if let Some(hyperparameters) = surrogate.hyperparameters().cloned() {
            self.fit = Some(Fit { hyperparameters, outcomes: self.known().1.len() });
        }
        match self.acquired(&surrogate) {
            Ok(found) => {
                let point = self.space.decode(&found.place)?;
                Ok(Step { point, ..found.step })
            }
            Err(error) => self.random(Stage::Acquisition, &error),
        }
    }

    fn acquired(&self, surrogate: &ProcessSurrogate) -> Result<Found> {
        let settings = &self.settings;
        let (places, outcomes) = self.known();
        let number = self.steps.len() as u64;
        let seed = draws::seed(settings.seed, Purpose::Candidates);
        let (remap, fallback) = match self.remap(surrogate, number) {
            Ok(remap) => (remap, None),
            Err(error) => {
                let fallback = Fallback { stage: Stage::Calibration, reason: error.to_string() };
                (Remap::Identity, Some(fallback))
            }
        };
        let waiting: Vec<Vec<f64>> = self.places_of(|evaluation| *evaluation == Evaluation::Pending);
        let believing = if waiting.is_empty() { None } else { Some(surrogate.believing(&waiting)?) };
        let seen = believing.as_ref().unwrap_or(surrogate);
        let chosen = |step: &&Step| matches!(step.origin, Origin::Acquisition | Origin::Fallback);
        let since = self.steps.iter().filter(chosen).count() as u64;
        let acquisition = settings.acquisition.at_step(settings.seed, since);
        let criterion = Criterion {
            surrogate: seen,
            remap: &remap,
            acquisition: acquisition.as_ref(),
            best: least_mean(surrogate, &places)?,
        };
        let mut order: Vec<usize> = (0..outcomes.len()).collect();
        order.sort_by(|&a, &b| outcomes[a].total_cmp(&outcomes[b]));
        let anchors: Vec<Vec<f64>> = order.iter().take(ANCHORS).map(|&i| places[i].clone()).collect();
        let found =
            maximise(&criterion, &self.space, &anchors, &self.excluded(), settings.search, (seed, number))?;
        let Some((place, _)) = found else {
            return Err(Error::Space { rule: "a point that is not excluded", found: "none".to_string() });
        };
        // What will be evaluated is the point, whose place may differ from this one by rounding.
        let place = self.space.encode(&self.space.decode(&place)?)?;
        let base = surrogate.outcome(&place)?;
        let step = Step {
            multiplier: settings
                .acquisition
                .kappa(since)
                .map(|kappa| remap.multiplier(kappa))
                .filter(|multiplier| multiplier.is_finite()),
            forecast: base.as_gaussian(),
            interval: Some(remap.applied(&base)?.interval(0.8)?)
                .filter(|(low, high)| (high - low).is_finite()),
            fallback,
            ..self.step(&place, Origin::Acquisition)?
        };
        Ok(Found { place, step })
    }

    /// What recalibration makes of this surrogate's forecasts at the step of this number.
    pub(crate) fn remap(&self, surrogate: &ProcessSurrogate, number: u64) -> Result<Remap> {
        let coins = draws::seed(self.settings.seed, Purpose::Candidates).wrapping_add(number);
        self.settings.calibration.remap(surrogate, &self.known().1, &self.online(), coins)
    }

    /// A step at a place, about which nothing is known yet.
    fn step(&self, place: &[f64], origin: Origin) -> Result<Step> {
        Ok(Step {
            number: self.steps.len() as u64,
            point: self.space.decode(place)?,
            origin,
            multiplier: None,
            forecast: None,
            interval: None,
            fallback: None,
            evaluation: Evaluation::Pending,
        })
    }

    fn random(&self, stage: Stage, error: &Error) -> Result<Step> {
        let excluded = self.excluded();
        let seed = draws::seed(self.settings.seed, Purpose::Fallback);
        let first = self.steps.len() as u64 * MOST_DRAWS;
        let mut place = self.space.snapped(&draws::point(seed, first, self.space.width()))?;
        for draw in 1..MOST_DRAWS {
            if !excluded.iter().any(|ball| ball.holds(&place)) {
                break;
            }
            place = self.space.snapped(&draws::point(seed, first + draw, self.space.width()))?;
        }
        let fallback = Some(Fallback { stage, reason: error.to_string() });
        Ok(Step { fallback, ..self.step(&place, Origin::Fallback)? })
    }

    fn places_of(&self, wanted: impl Fn(&Evaluation) -> bool) -> Vec<Vec<f64>> {
        let steps = self.steps.iter().zip(&self.places);
        steps.filter(|(step, _)| wanted(&step.evaluation)).map(|(_, place)| place.clone()).collect()
    }

    fn excluded(&self) -> Vec<Excluded> {
        let radius = FAILED_RADIUS * (self.space.width() as f64).sqrt();
        let failed = self.places_of(|evaluation| matches!(evaluation, Evaluation::Failed(_)));
        let mut excluded: Vec<Excluded> =
            failed.into_iter().map(|centre| Excluded { centre, radius }).collect();
        if self.settings.is_exact() {
            let known = self.places_of(|evaluation| !matches!(evaluation, Evaluation::Failed(_)));
            excluded.extend(known.into_iter().map(|centre| Excluded { centre, radius: SAME_POINT }));
        }
        excluded
    }
}

/// The best value so far: the least mean of the function at a point that was evaluated, so that a lucky draw of the noise is not one.
fn least_mean(surrogate: &ProcessSurrogate, places: &[Vec<f64>]) -> Result<f64> {
    places
        .iter()
        .try_fold(f64::INFINITY, |least, place| Ok(least.min(surrogate.function_gaussian(place)?.mean())))
}
