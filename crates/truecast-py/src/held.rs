//! How a distribution is held on this side of the border.

use std::sync::Arc;

use truecast::forecast::AnyForecast;
use truecast::recalibrate::Map;
use truecast::{Forecast, Gaussian, Recalibrated};

/// A base forecast. The normal one, which most are, is held by value; others are shared.
#[derive(Debug, Clone)]
pub(crate) enum Base {
    Gaussian(Gaussian),
    Other(Arc<AnyForecast>),
}

impl Base {
    pub(crate) fn new(forecast: impl Into<AnyForecast>) -> Self {
        match forecast.into() {
            AnyForecast::Gaussian(gaussian) => Base::Gaussian(gaussian),
            other => Base::Other(Arc::new(other)),
        }
    }

    pub(crate) fn forecast(&self) -> &dyn Forecast {
        match self {
            Base::Gaussian(gaussian) => gaussian,
            Base::Other(forecast) => &**forecast,
        }
    }

    pub(crate) fn to_any(&self) -> AnyForecast {
        match self {
            Base::Gaussian(gaussian) => (*gaussian).into(),
            Base::Other(forecast) => (**forecast).clone(),
        }
    }

    /// True if both are surely the same distribution: what a plan is remembered by.
    pub(crate) fn is(&self, other: &Base) -> bool {
        match (self, other) {
            (Base::Gaussian(a), Base::Gaussian(b)) => {
                a.mean().to_bits() == b.mean().to_bits() && a.std().to_bits() == b.std().to_bits()
            }
            (Base::Other(a), Base::Other(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// A distribution as Python sees it: a base, or a base behind a map.
#[derive(Debug, Clone)]
pub(crate) enum Held {
    Plain(Base),
    Calibrated { base: Base, map: Map },
}

impl Held {
    /// Asks the distribution something.
    pub(crate) fn with<R>(&self, ask: impl FnOnce(&dyn Forecast) -> R) -> R {
        match self {
            Held::Plain(base) => ask(base.forecast()),
            Held::Calibrated { base: Base::Gaussian(gaussian), map } => {
                ask(&Recalibrated::new(*gaussian, map))
            }
            Held::Calibrated { base: Base::Other(forecast), map } => {
                ask(&Recalibrated::new(&**forecast, map))
            }
        }
    }

    /// As the base of a further recalibration.
    pub(crate) fn to_base(&self) -> Base {
        match self {
            Held::Plain(base) => base.clone(),
            Held::Calibrated { .. } => Base::Other(Arc::new(self.to_any())),
        }
    }

    pub(crate) fn to_any(&self) -> AnyForecast {
        match self {
            Held::Plain(base) => base.to_any(),
            Held::Calibrated { base, map } => Recalibrated::new(base.to_any(), map.clone()).into(),
        }
    }
}

impl From<AnyForecast> for Held {
    fn from(forecast: AnyForecast) -> Self {
        match forecast {
            AnyForecast::Recalibrated(recalibrated) => Held::Calibrated {
                base: Base::new(recalibrated.base().clone()),
                map: recalibrated.map().clone(),
            },
            other => Held::Plain(Base::new(other)),
        }
    }
}
