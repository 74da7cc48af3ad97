//! The calibrated forecast G_t = map ∘ F_t: a forecast like any other.
//!
//! Everything goes through the base's probit score, so tails stay accurate at any distance. Over a base that is
//! piecewise normal (Gaussian, quantiles, ensemble) the result is piecewise normal too, and its CRPS exact.

use std::borrow::Borrow;

use serde::{Deserialize, Serialize};

use super::moments::{self, Accumulator};
use super::pieces::{Pieces, Through};
use super::{Forecast, Knot, Moments, ProbitCurve, by_probit};
use crate::normal;
use crate::recalibrate::Map;
use crate::score::crps::{self, pieces::SquaredErrors};
use crate::score::form;

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

impl<F: Forecast, M: Borrow<Map>> Recalibrated<F, M> {
    /// A step map makes a discrete distribution of any base: atoms at the base's quantiles where the map jumps. Calls `visit` with the outcome
    /// and the score of each of its knots, in order.
    fn step_knots(&self, mut visit: impl FnMut(f64, f64)) {
        let mut before = None;
        for z in self.map().jumps() {
            let y = self.base.at_probit(z);
            let after = self.map().probit(z);
            if let Some(before) = before {
                visit(y, before);
            }
            if after == f64::INFINITY {
                // All that is left sits here. Without a knot so far it is everything: a point mass.
                if before.is_none() {
                    visit(y, 0.0);
                }
                return;
            }
            if after > f64::NEG_INFINITY {
                visit(y, after);
                before = Some(after);
            }
        }
    }

    fn step_curve(&self) -> ProbitCurve {
        let mut knots: Vec<Knot> = Vec::new();
        self.step_knots(|y, z| knots.push(Knot { y, z }));
        knots.retain(|knot| knot.y.is_finite());
        Knot::arrange(&mut knots);
        ProbitCurve::from_parts(knots, 0.0, 0.0)
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
    by_probit!();

    fn probit(&self, y: f64) -> f64 {
        match self.map().announced() {
            Some(announced) => announced.probit(y),
            None => self.map().probit(self.base.probit(y)),
        }
    }

    fn probit_left(&self, y: f64) -> f64 {
        if let Some(announced) = self.map().announced() {
            return announced.probit_left(y);
        }
        let z = self.base.probit_left(y);
        // Where the base has an atom the left limit is reached from inside of it.
        if z < self.base.probit(y) { self.map().probit(z) } else { self.map().probit_left(z) }
    }

    fn at_probit(&self, t: f64) -> f64 {
        match self.map().announced() {
            Some(announced) => announced.at_probit(t),
            None => self.base.at_probit(self.map().invert(t)),
        }
    }

    fn curve(&self) -> Option<ProbitCurve> {
        if let Some(announced) = self.map().announced() {
            return Some(announced.clone());
        }
        let Some(map) = self.map().curve() else {
            return Some(self.step_curve());
        };
        let base = self.base.curve()?;
        // The base's knots through the map, and the map's at the outcomes where the base reaches them. Neither is evaluated
        // at the other's rounded place, so both sides of a jump are kept.
        let through =
            |knot: &Knot| [map.level_left(knot.z), map.level(knot.z)].map(|z| Knot { y: knot.y, z });
        let mut knots: Vec<Knot> = base.knots().iter().flat_map(through).collect();
        let mapped = map.places().iter().zip(map.levels());
        knots.extend(mapped.map(|(&place, &z)| Knot { y: base.at_probit(place), z }));
        knots.retain(|knot| knot.y.is_finite()); // a base so wide that the map's knots leave the axis
        Knot::arrange(&mut knots);
        let (left, right) = map.slopes();
        Some(ProbitCurve::from_parts(knots, base.lower_spread() / left, base.upper_spread() / right))
    }

    fn as_curve(&self) -> Option<&ProbitCurve> {
        self.map().announced()
    }

    /// Over a normal base it is that of the map, on the base's scale.
    fn crps(&self, y: f64) -> f64 {
        if !y.is_finite() {
            return crps::evaluate(self, y);
        }
        if let Some(announced) = self.map().announced() {
            return announced.crps(y);
        }
        let Some(map) = self.map().curve() else {
            let mut pieces = Pieces::new(SquaredErrors::new(y, 0.0));
            self.step_knots(|y, z| pieces.push(y, z));
            return SquaredErrors::finish(&mut pieces, y, 0.0);
        };
        if map.is_identity() {
            self.base.crps(y)
        } else if let Some(base) = self.base.as_gaussian() {
            base.std() * form::crps(map, base.probit(y))
        } else if let Some(base) = self.base.as_curve() {
            let (left, right) = map.slopes();
            let sink = SquaredErrors::new(y, base.lower_spread() / left);
            let mut through = Through::new(base, 1.0 / left, sink);
            map.places().iter().zip(map.levels()).for_each(|(&z, &t)| through.push(z, t));
            SquaredErrors::finish(through.finish(1.0 / right), y, base.upper_spread() / right)
        } else {
            crps::evaluate(self, y)
        }
    }

    /// Over a normal base they are those of the map, on the base's scale.
    fn moments(&self) -> Moments {
        if let Some(announced) = self.map().announced() {
            return announced.moments();
        }
        let Some(map) = self.map().curve() else {
            let median = self.at_probit(0.0);
            let mut pieces = Pieces::new(Accumulator::new(median, 0.0));
            self.step_knots(|y, z| pieces.push(y, z));
            return Accumulator::finish(&mut pieces, median, 0.0);
        };
        let (left, right) = map.slopes();
        let median = map.quantile(0.0);
        if map.is_identity() {
            self.base.moments()
        } else if let Some(base) = self.base.as_gaussian() {
            let mut pieces = Pieces::new(Accumulator::new(median, 1.0 / left));
            map.places().iter().zip(map.levels()).for_each(|(&z, &t)| pieces.push(z, t));
            Accumulator::finish(&mut pieces, median, 1.0 / right).over(&base)
        } else if let Some(base) = self.base.as_curve() {
            let median = base.at_probit(median);
            let sink = Accumulator::new(median, base.lower_spread() / left);
            let mut through = Through::new(base, 1.0 / left, sink);
            map.places().iter().zip(map.levels()).for_each(|(&z, &t)| through.push(z, t));
            Accumulator::finish(through.finish(1.0 / right), median, base.upper_spread() / right)
        } else {
            moments::evaluate(self)
        }
    }

    fn kinks(&self, out: &mut Vec<f64>) {
        if let Some(announced) = self.map().announced() {
            out.extend(announced.knots().iter().map(|knot| knot.y));
            return;
        }
        self.base.kinks(out);
        match self.map().curve() {
            Some(map) => out.extend(map.places().iter().map(|&z| self.base.at_probit(z))),
            None => out.extend(self.map().jumps().map(|z| self.base.at_probit(z))),
        }
    }

    fn ln_density(&self, y: f64) -> Option<f64> {
        if let Some(announced) = self.map().announced() {
            return announced.ln_density(y);
        }
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
