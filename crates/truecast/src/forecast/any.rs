//! One type for all kinds of forecasts: what files, services and snapshots carry.
//!
//! The tag is outside, `{"gaussian": {"mean": 20.0, "std": 2.0}}`, because binary formats such as postcard cannot read a
//! tag among the fields. Every kind validates what it loads.

use serde::{Deserialize, Serialize};

use super::{
    CdfTable, Forecast, Gaussian, Laplace, LogNormal, Logistic, Mixture, ProbitCurve, Quantiles, Samples,
    StudentT, Uniform,
};
use crate::grid::Levels;

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
        }
    }
}

impl Forecast for AnyForecast {
    fn cdf(&self, y: f64) -> f64 {
        self.inner().cdf(y)
    }

    fn sf(&self, y: f64) -> f64 {
        self.inner().sf(y)
    }

    fn quantile(&self, probability: f64) -> f64 {
        self.inner().quantile(probability)
    }

    fn probit(&self, y: f64) -> f64 {
        self.inner().probit(y)
    }

    fn probit_left(&self, y: f64) -> f64 {
        self.inner().probit_left(y)
    }

    fn at_probit(&self, z: f64) -> f64 {
        self.inner().at_probit(z)
    }

    fn widths(&self, levels: &Levels, out: &mut [f64]) {
        self.inner().widths(levels, out);
    }

    fn curve(&self) -> Option<ProbitCurve> {
        self.inner().curve()
    }

    fn kinks(&self, out: &mut Vec<f64>) {
        self.inner().kinks(out);
    }

    fn ln_density(&self, y: f64) -> Option<f64> {
        self.inner().ln_density(y)
    }

    fn crps(&self, y: f64) -> f64 {
        self.inner().crps(y)
    }

    fn interval(&self, coverage: f64) -> crate::Result<(f64, f64)> {
        self.inner().interval(coverage)
    }

    fn probability_between(&self, low: f64, high: f64) -> f64 {
        self.inner().probability_between(low, high)
    }

    fn randomised_probit(&self, y: f64, draw: f64) -> f64 {
        self.inner().randomised_probit(y, draw)
    }
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
