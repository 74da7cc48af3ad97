//! The calibrated forecast G_t = map ∘ F_t: a forecast like any other.
//!
//! Everything goes through the base's probit score, so tails stay accurate at any distance. Over a base that is
//! piecewise normal (Gaussian, quantiles, ensemble) the result is piecewise normal too, and its CRPS exact.

use std::borrow::Borrow;

use serde::{Deserialize, Serialize};

use super::moments::{self, Accumulator};
use super::pieces::{Pieces, Through};
use super::{Forecast, Knot, Moments, ProbitCurve, by_probit};
use crate::error::{self, Result};
use crate::normal;
use crate::recalibrate::{Map, Walk};
use crate::score::crps::{self, pieces::SquaredErrors};

/// So many quantiles cost less one by one than with those of all levels.
const FEW: usize = 6;

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
        let Some((mapped, lower_slope, upper_slope)) = self.map().knots() else {
            return Some(self.step_curve());
        };
        let base = self.base.curve()?;
        // The base's knots through the map, and the map's at the outcomes where the base reaches them. Neither is evaluated
        // at the other's rounded place, so both sides of a jump are kept.
        let through = |knot: &Knot| {
            [self.map().probit_left(knot.z), self.map().probit(knot.z)].map(|z| Knot { y: knot.y, z })
        };
        let mut knots: Vec<Knot> = base.knots().iter().flat_map(through).collect();
        knots.extend(mapped.iter().map(|knot| Knot { y: base.at_probit(knot.y), z: knot.z }));
        knots.retain(|knot| knot.y.is_finite()); // a base so wide that the map's knots leave the axis
        Knot::arrange(&mut knots);
        Some(ProbitCurve::from_parts(
            knots,
            base.lower_spread() * lower_slope,
            base.upper_spread() * upper_slope,
        ))
    }

    fn interval(&self, coverage: f64) -> Result<(f64, f64)> {
        error::inner_probability("coverage", coverage)?;
        let z = normal::quantile(0.5 * (1.0 - coverage));
        let [low, high] = self.map().invert_both([z, -z]);
        Ok((self.base.at_probit(low), self.base.at_probit(high)))
    }

    fn at_probits(&self, probits: &[f64], out: &mut [f64]) {
        // A walk takes the normal quantiles of all levels.
        if probits.len() <= FEW {
            let (pairs, rest) = probits.as_chunks::<2>();
            let (outs, last) = out[..probits.len()].as_chunks_mut::<2>();
            for (out, &ends) in outs.iter_mut().zip(pairs) {
                *out = self.map().invert_both(ends).map(|z| self.base.at_probit(z));
            }
            for (y, &t) in last.iter_mut().zip(rest) {
                *y = self.at_probit(t);
            }
            return;
        }
        let walk = Walk::new(self.map());
        for (y, &t) in out.iter_mut().zip(probits) {
            *y = self
                .base
                .at_probit(walk.as_ref().map_or_else(|| self.map().invert(t), |walk| walk.invert(t)));
        }
    }

    /// Over a normal base it is that of the map, on the base's scale.
    fn crps(&self, y: f64) -> f64 {
        if !y.is_finite() {
            return crps::evaluate(self, y);
        }
        let Some(walk) = Walk::new(self.map()) else {
            let mut pieces = Pieces::new(SquaredErrors::new(y, 0.0));
            self.step_knots(|y, z| pieces.push(y, z));
            return SquaredErrors::finish(&mut pieces, y, 0.0);
        };
        let (lower, upper) = (walk.lower_spread(), walk.upper_spread());
        if let Some(base) = self.base.as_gaussian() {
            let outcome = base.probit(y);
            let mut pieces = Pieces::new(SquaredErrors::new(outcome, lower));
            walk.for_each(|z, t| pieces.push(z, t));
            base.std() * SquaredErrors::finish(&mut pieces, outcome, upper)
        } else if let Some(base) = self.base.as_curve() {
            let sink = SquaredErrors::new(y, base.lower_spread() * lower);
            let mut through = Through::new(base, lower, sink);
            walk.for_each(|z, t| through.push(z, t));
            SquaredErrors::finish(through.finish(upper), y, base.upper_spread() * upper)
        } else {
            crps::evaluate(self, y)
        }
    }

    /// Over a normal base they are those of the map, on the base's scale.
    fn moments(&self) -> Moments {
        if let Some(base) = self.base.as_gaussian()
            && let Some(moments) = moments::bends::evaluate(self.map())
        {
            return moments.over(&base);
        }
        let Some(walk) = Walk::new(self.map()) else {
            let median = self.at_probit(0.0);
            let mut pieces = Pieces::new(Accumulator::new(median, 0.0));
            self.step_knots(|y, z| pieces.push(y, z));
            return Accumulator::finish(&mut pieces, median, 0.0);
        };
        let (lower, upper) = (walk.lower_spread(), walk.upper_spread());
        let median = walk.invert(0.0);
        if let Some(base) = self.base.as_gaussian() {
            let mut pieces = Pieces::new(Accumulator::new(median, lower));
            walk.for_each(|z, t| pieces.push(z, t));
            Accumulator::finish(&mut pieces, median, upper).over(&base)
        } else if let Some(base) = self.base.as_curve() {
            let median = base.at_probit(median);
            let sink = Accumulator::new(median, base.lower_spread() * lower);
            let mut through = Through::new(base, lower, sink);
            walk.for_each(|z, t| through.push(z, t));
            Accumulator::finish(through.finish(upper), median, base.upper_spread() * upper)
        } else {
            moments::evaluate(self)
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gaussian, LedgerRecalibrator, Recalibrator};

    /// A piecewise normal base with an atom at 0, nothing between 0 and 1, and a bounded upper end at 2.
    #[derive(Debug)]
    struct Pieces(ProbitCurve);

    impl Pieces {
        fn new() -> Self {
            let knots = [(-1.0, -1.0), (0.0, -0.3), (0.0, 0.4), (1.0, 0.4), (2.0, 1.5)];
            let knots = knots.map(|(y, z)| Knot { y, z }).to_vec();
            Pieces(ProbitCurve::from_parts(knots, 0.7, 0.0))
        }
    }

    impl Forecast for Pieces {
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
            self.0.probit(y)
        }
        fn probit_left(&self, y: f64) -> f64 {
            self.0.probit_left(y)
        }
        fn at_probit(&self, z: f64) -> f64 {
            self.0.at_probit(z)
        }
        fn curve(&self) -> Option<ProbitCurve> {
            Some(self.0.clone())
        }
    }

    /// The curve is the forecast, over a base with an atom, a gap and a bounded end, and behind a guard whose knots tie because all
    /// outcomes lie far out on alternating sides. 1e-9 is the rounding of two ways to interpolate; a jump may round to either side of a
    /// point that lies on it, so points are taken between those.
    #[test]
    fn its_curve_is_the_forecast() {
        let mut recalibrator = LedgerRecalibrator::default();
        let mut tied = 0;
        for t in 0..200 {
            let base = Pieces::new();
            let calibrated = recalibrator.recalibrate(&base).unwrap();
            let knots = calibrated.map().guard().unwrap().scores();
            tied += knots.windows(2).filter(|pair| pair[0] == pair[1]).count();
            let curve = calibrated.curve().unwrap();
            for i in -4000..4000 {
                let y = (f64::from(i) + 0.37) / 1000.0;
                let (got, want) = (curve.probit(y), calibrated.probit(y));
                assert!(
                    got == want || (got - want).abs() < 1e-9 * (1.0 + want.abs()),
                    "{t} at {y}: {got} {want}"
                );
            }
            for y in [0.0, 1.0] {
                let (got, want) = (curve.probit(y), calibrated.probit(y));
                assert!((got - want).abs() < 1e-9 * (1.0 + want.abs()), "{t} at {y}: {got} {want}");
            }
            let outcome = if t % 3 == 0 { 2.9 } else { -3.3 };
            recalibrator.observe(&Gaussian::new(0.0, 1.0).unwrap(), outcome).unwrap();
        }
        assert!(tied > 100, "the guard must pool for this to test anything: {tied}");
    }
}
