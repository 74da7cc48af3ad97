//! The calibrated forecast G_t = map ∘ F_t: a forecast like any other.
//!
//! Everything goes through the base's probit score, so tails stay accurate at any distance. Over a base that is
//! piecewise normal (Gaussian, quantiles, ensemble) the result is piecewise normal too, and its CRPS exact.

use std::borrow::Borrow;

use serde::{Deserialize, Serialize};

use super::{Forecast, Knot, ProbitCurve};
use crate::normal;
use crate::recalibrate::{Map, sort_knots};

/// A base forecast seen through a recalibrator's map.
///
/// `F` and `M` may be owned or borrowed: a [`Stream`](crate::Stream) hands out `Recalibrated<&F, &Map>` and copies nothing;
/// [`to_owned`](Recalibrated::to_owned) keeps one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Recalibrated<F, M = Map> {
    base: F,
    map: M,
}

impl<F: Forecast, M: Borrow<Map>> Recalibrated<F, M> {
    /// Puts a map behind a base forecast.
    pub fn new(base: F, map: M) -> Self {
        Recalibrated { base, map }
    }

    /// The base forecast F_t.
    pub fn base(&self) -> &F {
        &self.base
    }

    /// The map in force.
    pub fn map(&self) -> &Map {
        self.map.borrow()
    }

    /// A copy that borrows from nothing.
    pub fn to_owned(&self) -> Recalibrated<<F as OwnedForecast>::Owned>
    where
        F: OwnedForecast,
    {
        Recalibrated { base: self.base.owned(), map: self.map().clone() }
    }
}

/// A forecast, or a reference to one, that can be copied out.
pub trait OwnedForecast {
    /// The forecast itself.
    type Owned;
    /// A copy of it.
    fn owned(&self) -> Self::Owned;
}

impl<F: Clone> OwnedForecast for &F {
    type Owned = F;
    fn owned(&self) -> F {
        (*self).clone()
    }
}

impl<F: Forecast, M: Borrow<Map> + std::fmt::Debug + Send + Sync> Forecast for Recalibrated<F, M> {
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
        self.map().probit(self.base.probit(y))
    }

    fn probit_left(&self, y: f64) -> f64 {
        let z = self.base.probit_left(y);
        // Where the base has an atom the left limit is reached from inside of it.
        if z < self.base.probit(y) { self.map().probit(z) } else { self.map().probit_left(z) }
    }

    fn at_probit(&self, t: f64) -> f64 {
        self.base.at_probit(self.map().invert(t))
    }

    fn curve(&self) -> Option<ProbitCurve> {
        let base = self.base.curve()?;
        let (mapped, lower_slope, upper_slope) = self.map().knots()?;
        let mut knots: Vec<Knot> =
            mapped.iter().map(|knot| Knot { y: base.at_probit(knot.y), z: knot.z }).collect();
        knots.extend(base.knots().iter().map(|knot| Knot { y: knot.y, z: self.map().probit(knot.z) }));
        sort_knots(&mut knots);
        Some(ProbitCurve::from_parts(knots, base.lower_spread() * lower_slope, base.upper_spread() * upper_slope))
    }

    fn kinks(&self, out: &mut Vec<f64>) {
        self.base.kinks(out);
        match self.map().knots() {
            Some((knots, _, _)) => out.extend(knots.iter().map(|knot| self.base.at_probit(knot.y))),
            None => out.extend(self.map().jumps().map(|z| self.base.at_probit(z))),
        }
    }

    fn ln_density(&self, y: f64) -> Option<f64> {
        // g = φ(t)·(dt/dz)·(f/φ(z)) by the chain rule.
        let z = self.base.probit(y);
        let slope = self.map().slope(z)?;
        let base = self.base.ln_density(y)?;
        if !z.is_finite() {
            return Some(f64::NEG_INFINITY);
        }
        let t = self.map().probit(z);
        Some(normal::ln_density(t) - normal::ln_density(z) + libm::log(slope) + base)
    }
}
