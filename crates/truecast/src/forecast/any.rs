//! One type for all kinds of forecasts: what files, services and snapshots carry.
//!
//! The tag is outside, `{"gaussian": {"mean": 20.0, "std": 2.0}}`, because binary formats such as postcard cannot read a
//! tag among the fields. Every kind validates what it loads.

use serde::{Deserialize, Serialize};

use super::{
    CdfTable, Forecast, Gaussian, Laplace, LogNormal, Logistic, Mixture, Quantiles, Recalibrated, Samples, StudentT, Uniform,
    forward,
};

/// A forecast of any kind.
///
/// ```
/// use truecast::forecast::{AnyForecast, Forecast};
///
/// let forecast: AnyForecast = serde_json::from_str(r#"{"gaussian": {"mean": 20.0, "std": 2.0}}"#)?;
/// assert_eq!(forecast.probit(24.0), 2.0);
/// assert!(serde_json::from_str::<AnyForecast>(r#"{"gaussian": {"mean": 20.0, "std": -2.0}}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AnyForecast {
    /// A normal distribution.
    Gaussian(Gaussian),
    /// Student's t distribution.
    StudentT(StudentT),
    /// A Laplace distribution.
    Laplace(Laplace),
    /// A logistic distribution.
    Logistic(Logistic),
    /// A log-normal distribution.
    LogNormal(LogNormal),
    /// A uniform distribution.
    Uniform(Uniform),
    /// A table of quantiles.
    Quantiles(Quantiles),
    /// An ensemble.
    Samples(Samples),
    /// A tabulated distribution function.
    CdfTable(CdfTable),
    /// A mixture.
    Mixture(Mixture),
    /// What a recalibrator made of another forecast.
    Recalibrated(Box<Recalibrated<AnyForecast>>),
}

impl AnyForecast {
    fn inner(&self) -> &dyn Forecast {
        match self {
            AnyForecast::Gaussian(forecast) => forecast,
            AnyForecast::StudentT(forecast) => forecast,
            AnyForecast::Laplace(forecast) => forecast,
            AnyForecast::Logistic(forecast) => forecast,
            AnyForecast::LogNormal(forecast) => forecast,
            AnyForecast::Uniform(forecast) => forecast,
            AnyForecast::Quantiles(forecast) => forecast,
            AnyForecast::Samples(forecast) => forecast,
            AnyForecast::CdfTable(forecast) => forecast,
            AnyForecast::Mixture(forecast) => forecast,
            AnyForecast::Recalibrated(forecast) => forecast,
        }
    }
}

impl Forecast for AnyForecast {
    forward!(self => self.inner());
}

macro_rules! from_kind {
    ($($kind:ident),*) => {$(
        impl From<$kind> for AnyForecast {
            fn from(forecast: $kind) -> Self {
                AnyForecast::$kind(forecast)
            }
        }
    )*};
}

from_kind!(Gaussian, StudentT, Laplace, Logistic, LogNormal, Uniform, Quantiles, Samples, CdfTable, Mixture);

impl From<Recalibrated<AnyForecast>> for AnyForecast {
    fn from(forecast: Recalibrated<AnyForecast>) -> Self {
        AnyForecast::Recalibrated(Box::new(forecast))
    }
}
