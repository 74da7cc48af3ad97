//! Parameters of a Gaussian process: a builder, and what it validates to.

use serde::{Deserialize, Serialize};

use super::kernel::Kernel;
use crate::error::{self, Error, Result};

/// The variance of an outcome around the function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// Found with the other hyperparameters.
    #[default]
    Learned,
    /// This variance, in squared units of the outcome; zero for exact outcomes.
    Fixed(f64),
}

/// The mean of the process, a constant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mean {
    /// The most likely one, in closed form.
    #[default]
    Fitted,
    /// This one.
    Fixed(f64),
}

/// Validated parameters of a [`GaussianProcess`](super::GaussianProcess).
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `kernel` | Matérn 5/2 | form of the covariance | |
/// | `separate_lengths` | true | a length scale for each input (automatic relevance determination), or one for all | |
/// | `mean` | fitted | the constant that the process returns to | finite |
/// | `noise` | learned | variance of outcomes around the function | ≥ 0 |
/// | `signal_bounds` | 1e-3 to 1e3 | of the signal variance, in variances of the outcomes | 0 < low ≤ high |
/// | `length_bounds` | 1e-2 to 20 | of a length scale, in ranges of its input | 0 < low ≤ high |
/// | `noise_bounds` | 1e-8 to 2 | of a learned noise variance, in variances of the outcomes | 0 < low ≤ high |
/// | `starts` | 5 | from how many points the evidence is maximised | ≥ 1 |
/// | `most_steps` | 100 | steps from each | ≥ 1 |
/// | `refit_every` | 10 | outcomes after which `learn` maximises the evidence again; none: only `refit` does | ≥ 1 |
/// | `seed` | 0 | key of the starting points | any |
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "GaussianProcessBuilder", into = "GaussianProcessBuilder")]
pub struct GaussianProcessParameters {
    inner: GaussianProcessBuilder,
}

/// Builds [`GaussianProcessParameters`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GaussianProcessBuilder {
    pub(super) kernel: Kernel,
    pub(super) separate_lengths: bool,
    pub(super) mean: Mean,
    pub(super) noise: Noise,
    pub(super) signal_bounds: (f64, f64),
    pub(super) length_bounds: (f64, f64),
    pub(super) noise_bounds: (f64, f64),
    pub(super) starts: u32,
    pub(super) most_steps: usize,
    pub(super) refit_every: Option<usize>,
    pub(super) seed: u64,
}

impl Default for GaussianProcessBuilder {
    fn default() -> Self {
        GaussianProcessBuilder {
            kernel: Kernel::default(),
            separate_lengths: true,
            mean: Mean::default(),
            noise: Noise::default(),
            signal_bounds: (1e-3, 1e3),
            length_bounds: (1e-2, 20.0),
            noise_bounds: (1e-8, 2.0),
            starts: 5,
            most_steps: 100,
            refit_every: Some(10),
            seed: 0,
        }
    }
}

macro_rules! setters {
    ($($(#[doc = $doc:literal])+ $name:ident: $kind:ty,)+) => {$(
        $(#[doc = $doc])+
        #[must_use]
        pub fn $name(mut self, $name: $kind) -> Self {
            self.$name = $name;
            self
        }
    )+};
}

impl GaussianProcessBuilder {
    setters! {
        /// Form of the covariance.
        kernel: Kernel,
        /// A length scale for each input, or one for all.
        separate_lengths: bool,
        /// The constant that the process returns to.
        mean: Mean,
        /// Variance of outcomes around the function.
        noise: Noise,
        /// Bounds of the signal variance, in variances of the outcomes.
        signal_bounds: (f64, f64),
        /// Bounds of a length scale, in ranges of its input.
        length_bounds: (f64, f64),
        /// Bounds of a learned noise variance, in variances of the outcomes.
        noise_bounds: (f64, f64),
        /// From how many points the evidence is maximised.
        starts: u32,
        /// Steps from each starting point.
        most_steps: usize,
        /// Outcomes after which `learn` maximises the evidence again; `None` leaves it to `refit`.
        refit_every: Option<usize>,
        /// Key of the starting points.
        seed: u64,
    }

    /// Validates.
    pub fn build(self) -> Result<GaussianProcessParameters> {
        if let Mean::Fixed(mean) = self.mean {
            error::parameter("the mean", "finite", mean, mean.is_finite())?;
        }
        if let Noise::Fixed(variance) = self.noise {
            error::not_negative("the noise variance", variance)?;
        }
        for (what, (low, high)) in [
            ("a bound of the signal variance", self.signal_bounds),
            ("a bound of the length scales", self.length_bounds),
            ("a bound of the noise variance", self.noise_bounds),
        ] {
            error::positive(what, low)?;
            error::positive(what, high)?;
            error::parameter(what, "at least the lower bound", high, low <= high)?;
        }
        error::parameter("the number of starts", "1 or more", f64::from(self.starts), self.starts > 0)?;
        error::parameter("the most steps", "1 or more", self.most_steps as f64, self.most_steps > 0)?;
        if let Some(outcomes) = self.refit_every {
            error::parameter("the outcomes between refits", "1 or more", outcomes as f64, outcomes > 0)?;
        }
        Ok(GaussianProcessParameters { inner: self })
    }
}

impl GaussianProcessParameters {
    /// Starts from the defaults.
    pub fn builder() -> GaussianProcessBuilder {
        GaussianProcessBuilder::default()
    }

    /// Form of the covariance.
    pub fn kernel(&self) -> Kernel {
        self.inner.kernel
    }

    pub(super) fn values(&self) -> &GaussianProcessBuilder {
        &self.inner
    }
}

impl TryFrom<GaussianProcessBuilder> for GaussianProcessParameters {
    type Error = Error;
    fn try_from(builder: GaussianProcessBuilder) -> Result<Self> {
        builder.build()
    }
}

impl From<GaussianProcessParameters> for GaussianProcessBuilder {
    fn from(parameters: GaussianProcessParameters) -> Self {
        parameters.inner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid() {
        assert_eq!(GaussianProcessParameters::builder().build(), Ok(GaussianProcessParameters::default()));
    }

    #[test]
    fn bad_values_are_named() {
        let builder = GaussianProcessParameters::builder;
        let rule = "at least the lower bound";
        assert_eq!(
            builder().length_bounds((2.0, 1.0)).build(),
            Err(Error::Parameter { what: "a bound of the length scales", rule, value: 1.0 })
        );
        assert!(builder().noise(Noise::Fixed(-1.0)).build().is_err());
        assert!(builder().mean(Mean::Fixed(f64::NAN)).build().is_err());
        assert!(builder().starts(0).build().is_err());
        assert!(builder().refit_every(Some(0)).build().is_err());
        assert!(serde_json::from_str::<GaussianProcessParameters>(r#"{"most_steps": 0}"#).is_err());
    }
}
