//! What recalibration does to every forecast of one step: one monotone map of the probit scale, the same at all points.
//!
//! ```text
//! G has at Φ(t) the quantile that F has at Φ(invert(t))
//! identity    invert(t) = t
//! map         a recalibrator's map
//! narrowed    the same, held between t and least · t: never wider than F, never narrower than that
//! scale       invert(t) = s t: a Gaussian with s times its standard deviation
//! ```
//!
//! Because it is the same at all points, a Gaussian surrogate stays a family of one location and one scale, and gradients stay exact.

use serde::{Deserialize, Serialize};
use truecast::recalibrate::Map;
use truecast::{AnyForecast, Forecast, Gaussian, Recalibrated, normal};

use crate::error::Result;

/// A monotone map of the probit scale.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Remap {
    /// Changes nothing.
    #[default]
    Identity,
    /// A recalibrator's map.
    Map(Box<Map>),
    /// A recalibrator's map, as far as it narrows, and no narrower than `least` times the forecast.
    Narrowed {
        /// The map.
        map: Box<Map>,
        /// The least width, as a part of the forecast's own.
        least: f64,
    },
    /// So many times the forecast's own width.
    Scale(f64),
}

impl Remap {
    /// The base's probit score at which the calibrated one is `t`.
    pub fn invert(&self, t: f64) -> f64 {
        match self {
            Remap::Identity => t,
            Remap::Map(map) => map.invert(t),
            Remap::Narrowed { map, least } => between(map.invert(t), t, least * t),
            Remap::Scale(scale) => scale * t,
        }
    }

    /// The calibrated probit score of a base score `z`.
    pub fn probit(&self, z: f64) -> f64 {
        match self {
            Remap::Identity => z,
            Remap::Map(map) => map.probit(z),
            Remap::Narrowed { map, least } => between(map.probit(z), z, z / least),
            Remap::Scale(scale) => z / scale,
        }
    }

    /// The limit of [`probit`](Remap::probit) from the left: a map may jump.
    pub fn probit_left(&self, z: f64) -> f64 {
        match self {
            Remap::Map(map) => map.probit_left(z),
            Remap::Narrowed { map, least } => between(map.probit_left(z), z, z / least),
            _ => self.probit(z),
        }
    }

    /// κ_t: the multiplier with which a Gaussian's lower confidence bound at κ is taken.
    pub fn multiplier(&self, kappa: f64) -> f64 {
        -self.invert(-kappa)
    }

    /// The calibrated forecast.
    pub fn applied<'a>(&'a self, base: &'a AnyForecast) -> Result<Box<dyn Forecast + 'a>> {
        Ok(match (self, base.as_gaussian()) {
            (Remap::Identity, _) => Box::new(base),
            (Remap::Map(map), _) => Box::new(Recalibrated::new(base, map.as_ref())),
            (Remap::Scale(scale), Some(normal)) => {
                Box::new(Gaussian::new(normal.mean(), scale * normal.std())?)
            }
            _ => Box::new(Remapped { base, remap: self }),
        })
    }
}

/// `x`, moved between two numbers given in any order.
fn between(x: f64, one: f64, other: f64) -> f64 {
    x.clamp(one.min(other), one.max(other))
}

/// A forecast seen through a [`Remap`].
#[derive(Debug, Clone, Copy)]
struct Remapped<'a> {
    base: &'a AnyForecast,
    remap: &'a Remap,
}

impl Forecast for Remapped<'_> {
    fn cdf(&self, y: f64) -> f64 {
        normal::cdf(self.probit(y))
    }

    fn sf(&self, y: f64) -> f64 {
        normal::sf(self.probit(y))
    }

    fn quantile(&self, probability: f64) -> f64 {
        self.at_probit(normal::quantile(probability))
    }

    fn probit(&self, y: f64) -> f64 {
        self.remap.probit(self.base.probit(y))
    }

    fn probit_left(&self, y: f64) -> f64 {
        self.remap.probit_left(self.base.probit_left(y))
    }

    fn at_probit(&self, z: f64) -> f64 {
        self.base.at_probit(self.remap.invert(z))
    }
}
