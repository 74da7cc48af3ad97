//! Surrogates: what is thought of the function between the points that were evaluated.
//!
//! [`Surrogate`] is anything that gives forecasts at points of the unit cube. The standard one, [`ProcessSurrogate`], is the Gaussian process
//! of `truecast-models` on standardised outcomes: forecasts come back in the outcomes' own units, and a noise variance is given in them.
//!
//! Acquisitions look at the *function*, without noise: at a point that was evaluated often nothing is left to learn. Recalibration looks at
//! *outcomes*, with noise, since these are what a forecast is held against. Where outcomes are exact the two are the same.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};
use truecast::{AnyForecast, Gaussian};
use truecast_models::{
    GaussianProcess, GaussianProcessBuilder, GaussianProcessParameters, Hyperparameters, Kernel, Latent,
    Model, Noise,
};

use crate::error::{self, Error, Result};

/// Forecasts of an unknown function at points of the unit cube.
pub trait Surrogate: Debug + Send + Sync {
    /// The forecast of the function at `x`, without noise where the surrogate can tell the two apart.
    fn function(&self, x: &[f64]) -> Result<AnyForecast>;

    /// The forecast of an outcome at `x`, noise included.
    fn outcome(&self, x: &[f64]) -> Result<AnyForecast>;

    /// Mean and standard deviation of [`function`](Surrogate::function) with their gradients in `x`, if it is Gaussian and they are known.
    fn gradients(&self, _x: &[f64]) -> Result<Option<Latent>> {
        Ok(None)
    }
}

/// Any model of `truecast-models` as a surrogate, its outcomes taken for the function. It knows no gradients: a search goes by differences.
#[derive(Debug, Clone)]
pub struct ModelSurrogate<M>(pub M);

impl<M: Model> Surrogate for ModelSurrogate<M> {
    fn function(&self, x: &[f64]) -> Result<AnyForecast> {
        self.outcome(x)
    }

    fn outcome(&self, x: &[f64]) -> Result<AnyForecast> {
        Ok(self.0.predict(x)?)
    }
}

/// What a [`ProcessSurrogate`] is fitted with.
///
/// | name | default | meaning |
/// |---|---|---|
/// | `kernel` | Matérn 5/2 | form of the covariance |
/// | `separate_lengths` | false | a length scale for each coordinate, or one for all: few points cannot tell many scales |
/// | `noise` | learned | variance of outcomes around the function, or a fixed one (0 for exact outcomes) |
/// | `first_starts` | 5 | from how many points the evidence is maximised while there are fewer than `few` outcomes |
/// | `later_starts` | 2 | the same afterwards; the first start is then what was found before |
/// | `few` | 10 | |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SurrogateSettings {
    /// Form of the covariance.
    pub kernel: Kernel,
    /// A length scale for each coordinate, or one for all.
    pub separate_lengths: bool,
    /// Variance of outcomes around the function, in squared units of the outcome.
    pub noise: Noise,
    /// Starts of the fit while there are few outcomes.
    pub first_starts: u32,
    /// Starts afterwards.
    pub later_starts: u32,
    /// How many outcomes are no longer few.
    pub few: usize,
}

impl Default for SurrogateSettings {
    fn default() -> Self {
        SurrogateSettings {
            kernel: Kernel::Matern52,
            separate_lengths: false,
            noise: Noise::Learned,
            first_starts: 5,
            later_starts: 2,
            few: 10,
        }
    }
}

/// A Gaussian process on standardised outcomes.
#[derive(Debug, Clone)]
pub struct ProcessSurrogate {
    process: GaussianProcess,
    centre: f64,
    unit: f64,
}

impl ProcessSurrogate {
    /// Fits hyperparameters to these points of the unit cube and their outcomes. `previous` is where the search begins; `seed` keys its other starts.
    pub fn fit(
        points: &[Vec<f64>],
        outcomes: &[f64],
        settings: &SurrogateSettings,
        previous: Option<&Hyperparameters>,
        seed: u64,
    ) -> Result<Self> {
        let few = outcomes.len() < settings.few;
        let starts = if few { settings.first_starts } else { settings.later_starts };
        let mut surrogate =
            Self::unfitted(points, outcomes, settings, |builder| builder.starts(starts).seed(seed))?;
        if let Some(previous) = previous {
            // Only a start: where it cannot be factored with the new point, the usual one is taken in its place.
            let _ = surrogate.process.set_hyperparameters(previous.clone());
        }
        surrogate.process.refit()?;
        Ok(surrogate)
    }

    /// The surrogate at given hyperparameters, which are in units of the standardised outcomes.
    pub fn at(
        points: &[Vec<f64>],
        outcomes: &[f64],
        settings: &SurrogateSettings,
        hyperparameters: &Hyperparameters,
    ) -> Result<Self> {
        let mut surrogate = Self::unfitted(points, outcomes, settings, |builder| builder)?;
        surrogate.process.set_hyperparameters(hyperparameters.clone())?;
        Ok(surrogate)
    }

    fn unfitted(
        points: &[Vec<f64>],
        outcomes: &[f64],
        settings: &SurrogateSettings,
        more: impl FnOnce(GaussianProcessBuilder) -> GaussianProcessBuilder,
    ) -> Result<Self> {
        let count = outcomes.len();
        let Some(width) = points.first().map(Vec::len).filter(|_| count >= 2) else {
            return Err(Error::TooFewOutcomes { least: 2, found: count });
        };
        let centre = outcomes.iter().map(|y| y / count as f64).sum::<f64>();
        let spread = outcomes.iter().map(|y| (y - centre) * (y - centre) / count as f64).sum::<f64>().sqrt();
        let centre = error::computed("the mean of the outcomes", centre)?;
        // Outcomes that do not differ have no unit of their own.
        let unit = if error::computed("the spread of the outcomes", spread)? > 0.0 { spread } else { 1.0 };
        let noise = match settings.noise {
            Noise::Learned => Noise::Learned,
            Noise::Fixed(variance) => Noise::Fixed(variance / (unit * unit)),
        };
        let builder = GaussianProcessParameters::builder()
            .kernel(settings.kernel)
            .separate_lengths(settings.separate_lengths)
            .noise(noise)
            .refit_every(None);
        let mut process = GaussianProcess::new(width, more(builder).build()?)?;
        for (x, y) in points.iter().zip(outcomes) {
            process.learn(x, (y - centre) / unit)?;
        }
        Ok(ProcessSurrogate { process, centre, unit })
    }

    /// The hyperparameters in use, in units of the standardised outcomes.
    pub fn hyperparameters(&self) -> Option<&Hyperparameters> {
        self.process.hyperparameters()
    }

    /// The forecast of each outcome by all the others, at the same hyperparameters.
    pub fn leave_one_out(&self) -> Result<Vec<Gaussian>> {
        self.process.leave_one_out()?.iter().map(|forecast| self.restored(forecast)).collect()
    }

    /// The surrogate as if each of these points had been evaluated with its mean as the outcome: points that are still being evaluated
    /// are then not suggested again, and nothing is made up about where they lead ("kriging believer", Ginsbourger et al. 2010).
    pub fn believing(&self, points: &[Vec<f64>]) -> Result<Self> {
        let mut next = self.clone();
        for x in points {
            let mean = next.process.latent(x)?.mean;
            next.process.learn(x, mean)?;
        }
        Ok(next)
    }

    /// The function at `x` as a normal distribution.
    pub fn function_gaussian(&self, x: &[f64]) -> Result<Gaussian> {
        let latent = self.process.latent(x)?;
        self.restored(&Gaussian::new(latent.mean, latent.std)?)
    }

    /// An outcome at `x` as a normal distribution.
    pub fn outcome_gaussian(&self, x: &[f64]) -> Result<Gaussian> {
        self.restored(&self.process.predict(x)?)
    }

    /// A forecast in the outcomes' own units.
    fn restored(&self, standardised: &Gaussian) -> Result<Gaussian> {
        Ok(Gaussian::new(self.centre + self.unit * standardised.mean(), self.unit * standardised.std())?)
    }
}

impl Surrogate for ProcessSurrogate {
    fn function(&self, x: &[f64]) -> Result<AnyForecast> {
        self.function_gaussian(x).map(AnyForecast::from)
    }

    fn outcome(&self, x: &[f64]) -> Result<AnyForecast> {
        self.outcome_gaussian(x).map(AnyForecast::from)
    }

    fn gradients(&self, x: &[f64]) -> Result<Option<Latent>> {
        let mut latent = self.process.latent(x)?;
        latent.mean = self.centre + self.unit * latent.mean;
        latent.std *= self.unit;
        latent.mean_gradient.iter_mut().chain(&mut latent.std_gradient).for_each(|slope| *slope *= self.unit);
        Ok(Some(latent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Design;

    fn rows() -> (Vec<Vec<f64>>, Vec<f64>) {
        let points = Design::LatinHypercube.points(12, 2, 5);
        let outcomes = points.iter().map(|x| 100.0 + 30.0 * (5.0 * x[0]).sin() + 7.0 * x[1]).collect();
        (points, outcomes)
    }

    /// Shifting and scaling outcomes does the same to forecasts, to rounding in a fit whose evidence is flat to 1e-5 at its end.
    #[test]
    fn units_of_the_outcomes_do_not_matter() {
        let (points, outcomes) = rows();
        let scaled: Vec<f64> = outcomes.iter().map(|y| 1e6 * y - 3e8).collect();
        let settings = SurrogateSettings::default();
        let one = ProcessSurrogate::fit(&points, &outcomes, &settings, None, 0).unwrap();
        let other = ProcessSurrogate::fit(&points, &scaled, &settings, None, 0).unwrap();
        let (left, right) = (one.outcome_gaussian(&[0.3, 0.8]), other.outcome_gaussian(&[0.3, 0.8]));
        let (left, right) = (left.unwrap(), right.unwrap());
        assert!((1e6 * left.mean() - 3e8 - right.mean()).abs() < 1e-3 * right.std());
        assert!((1e6 * left.std() / right.std() - 1.0).abs() < 1e-3);
    }

    #[test]
    fn believed_points_are_no_longer_unknown() {
        let (points, outcomes) = rows();
        let settings = SurrogateSettings { noise: Noise::Fixed(0.0), ..Default::default() };
        let surrogate = ProcessSurrogate::fit(&points, &outcomes, &settings, None, 0).unwrap();
        let at = vec![0.51, 0.49];
        let (before, after) =
            (surrogate.function_gaussian(&at), surrogate.believing(std::slice::from_ref(&at)));
        let (before, after) = (before.unwrap(), after.unwrap().function_gaussian(&at).unwrap());
        assert!((before.mean() - after.mean()).abs() < 1e-6 && after.std() < 1e-3 * before.std());
    }

    #[test]
    fn too_few_outcomes_are_an_error() {
        let found = ProcessSurrogate::fit(&[vec![0.5]], &[1.0], &Default::default(), None, 0);
        assert_eq!(found.unwrap_err(), Error::TooFewOutcomes { least: 2, found: 1 });
    }
}
