//! Expected values under a forecast.
//!
//! - A loss that is piecewise linear in the outcome ([`Loss::lines`]) needs only E[(c − Y)⁺], E[(Y − c)⁺] and probabilities at
//!   its corners: in closed form where the forecast is piecewise normal ([`Forecast::curve`]: Gaussian, quantiles,
//!   samples, and what recalibration makes of them), by quadrature of the CDF (`partial.rs`) otherwise.
//! - Any other loss is integrated on the probit scale,
//!
//! ```text
//! E ℓ(Y) = ∫ ℓ(Q(Φ(z))) φ(z) dz          Q the quantile function
//! ```
//!
//!   where the weight is the same for every forecast, atoms are intervals, and a power-law tail still decays like a normal one.
//!   The integral is split at the kinks of the forecast and of the loss, and followed out to z = ±37, where φ ends.
//!
//! Relative error about 1e-10, of the mean absolute loss where it changes sign. A loss whose panels have not died out at the
//! end has no expectation, or one that cannot be told from none: [`Error::NoExpectation`]. (For a squared loss and a
//! Student-t this refuses ν below about 2.1, for an absolute one below 1.04.) A forecast of your own with heavy tails should
//! bring its own [`Forecast::at_probit`]: the default cannot see past the quantile at 1 − 1e-16.
//!
//! Cost: one pass over the curve's knots per corner; else 17 evaluations per panel, some 20 panels and one per kink.

use super::lines::Partials;
use super::loss::{Loss, Squared};
use super::partial;
use crate::error::{self, Error, Result};
use crate::forecast::{Forecast, ProbitCurve};
use crate::normal;
use crate::quadrature::{self, Integral, Tolerance};

/// A forecast made ready for expected values: build it once, ask for many actions.
///
/// ```
/// use truecast::{Gaussian, decision::{Absolute, Expectation}};
///
/// let forecast = Gaussian::new(20.0, 2.0)?;
/// let expectation = Expectation::new(&forecast);
/// assert_eq!(expectation.mean()?, 20.0);
/// assert!((expectation.of(&Absolute, 20.0)? - 2.0 * 0.797884560802865).abs() < 1e-12);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug)]
pub struct Expectation<'a, F: Forecast + ?Sized> {
    forecast: &'a F,
    curve: Option<ProbitCurve>,
    /// Where to split an integral over the outcome; empty if there is a curve.
    points: Vec<f64>,
}

/// The expected loss of an action. Asking for several actions is cheaper through an [`Expectation`].
pub fn expected_loss<F, L>(forecast: &F, loss: &L, action: f64) -> Result<f64>
where
    F: Forecast + ?Sized,
    L: Loss + ?Sized,
{
    Expectation::new(forecast).of(loss, action)
}

/// The mean of a forecast.
pub fn mean<F: Forecast + ?Sized>(forecast: &F) -> Result<f64> {
    Expectation::new(forecast).mean()
}

/// The standard deviation of a forecast.
pub fn standard_deviation<F: Forecast + ?Sized>(forecast: &F) -> Result<f64> {
    Expectation::new(forecast).standard_deviation()
}

/// Split points on the probit scale; beyond the outer ones panels of width 1 follow.
const SPLITS: [f64; 11] = [-8.0, -6.0, -4.5, -3.0, -1.5, 0.0, 1.5, 3.0, 4.5, 6.0, 8.0];

/// φ(37.5) is about the smallest `f64`.
const END: f64 = 37.0;

/// As in `partial.rs`.
const RELATIVE: f64 = 1e-11;
const NEGLIGIBLE: f64 = 1e-13;

impl<'a, F: Forecast + ?Sized> Expectation<'a, F> {
    /// Reads the forecast's shape.
    pub fn new(forecast: &'a F) -> Self {
        let curve = forecast.curve();
        let points = if curve.is_some() { Vec::new() } else { partial::split_points(forecast) };
        Expectation { forecast, curve, points }
    }

    /// The forecast.
    pub fn forecast(&self) -> &'a F {
        self.forecast
    }

    /// The expected loss of an action.
    pub fn of<L: Loss + ?Sized>(&self, loss: &L, action: f64) -> Result<f64> {
        error::finite("action", action)?;
        let expected = match loss.lines(action) {
            Some(lines) => lines.expected(self)?,
            None => self.by_quadrature(loss, action)?,
        };
        if expected.is_finite() { Ok(expected) } else { Err(no_expectation()) }
    }

    /// The mean of the forecast.
    pub fn mean(&self) -> Result<f64> {
        let middle = self.middle();
        let named = |_| Error::NoExpectation { what: "the mean" };
        let above = self.excess(middle).map_err(named)?;
        let below = self.shortfall(middle).map_err(named)?;
        let mean = middle + (above - below);
        if mean.is_finite() { Ok(mean) } else { Err(Error::NoExpectation { what: "the mean" }) }
    }

    /// The standard deviation of the forecast.
    pub fn standard_deviation(&self) -> Result<f64> {
        let mean = self.mean()?;
        let named = |_| Error::NoExpectation { what: "the standard deviation" };
        Ok(self.by_quadrature(&Squared, mean).map_err(named)?.sqrt())
    }

    fn at_probit(&self, z: f64) -> f64 {
        match &self.curve {
            Some(curve) => curve.at_probit(z),
            None => self.forecast.at_probit(z),
        }
    }

    /// ∫ ℓ(Q(Φ(z))) φ(z) dz.
    fn by_quadrature<L: Loss + ?Sized>(&self, loss: &L, action: f64) -> Result<f64> {
        let weighted = |z: f64| loss.loss(self.at_probit(z), action) * normal::density(z);
        let mut kinks = Vec::new();
        loss.kinks(action, &mut kinks);
        if self.curve.is_none() {
            self.forecast.kinks(&mut kinks);
        }
        let mut nodes = SPLITS.to_vec();
        nodes.extend(kinks.iter().flat_map(|&y| [self.forecast.probit_left(y), self.forecast.probit(y)]));
        if let Some(curve) = &self.curve {
            nodes.extend(curve.knots().iter().map(|knot| knot.z));
        }
        nodes.retain(|z| z.abs() < END);
        nodes.sort_unstable_by(f64::total_cmp);
        nodes.dedup();

        let looks: Vec<Integral> =
            nodes.windows(2).map(|ends| quadrature::single(weighted, ends[0], ends[1])).collect();
        let scale: f64 = looks.iter().map(|panel| panel.value.abs()).sum();
        let tolerance = Tolerance { relative: RELATIVE, absolute: NEGLIGIBLE * scale };
        let mut sum = 0.0;
        for (ends, &look) in nodes.windows(2).zip(&looks) {
            let panel = match look {
                look if tolerance.is_met(look) => look,
                _ => quadrature::integrate(weighted, ends[0], ends[1], tolerance),
            };
            if !panel.value.is_finite() {
                return Err(self.why_not_finite(loss, action, 0.5 * (ends[0] + ends[1])));
            }
            sum += panel.value;
        }
        for side in [-1.0, 1.0] {
            let start = if side < 0.0 { -nodes[0] } else { nodes[nodes.len() - 1] };
            let outwards = |z: f64| weighted(side * z);
            sum += self.tail(outwards, start, scale, |z| self.at_probit(side * z).is_finite())?;
        }
        Ok(sum)
    }

    /// ∫ of `f` from `start` outwards, in panels of width 1, while the outcome is finite.
    fn tail(
        &self,
        f: impl Fn(f64) -> f64,
        start: f64,
        scale: f64,
        reaches: impl Fn(f64) -> bool,
    ) -> Result<f64> {
        let (mut z, mut sum) = (start, 0.0);
        let mut last = if scale > 0.0 { f64::INFINITY } else { 0.0 };
        while z < END && reaches((z + 1.0).min(END)) {
            let next = (z + 1.0).min(END);
            let tolerance = Tolerance { relative: RELATIVE, absolute: NEGLIGIBLE * scale };
            let added = quadrature::integrate(&f, z, next, tolerance).value;
            if !added.is_finite() {
                return Err(no_expectation());
            }
            sum += added;
            last = added.abs();
            if last <= 0.01 * NEGLIGIBLE * (scale + sum.abs()) {
                return Ok(sum);
            }
            z = next;
        }
        // A bounded end, or the end of the scale: fine if nothing was left there.
        let value_there = f(z.next_down()).abs();
        if last.min(value_there) <= RELATIVE * (scale + sum.abs()) { Ok(sum) } else { Err(no_expectation()) }
    }

    /// A loss that is not a number is the loss's fault, one that overflows the forecast's.
    fn why_not_finite<L: Loss + ?Sized>(&self, loss: &L, action: f64, z: f64) -> Error {
        let outcome = self.at_probit(z);
        match loss.loss(outcome, action) {
            value if value.is_nan() && outcome.is_finite() => Error::NotFinite { what: "loss", value },
            _ => no_expectation(),
        }
    }
}

fn no_expectation() -> Error {
    Error::NoExpectation { what: "the expected loss" }
}

impl<F: Forecast + ?Sized> Partials for Expectation<'_, F> {
    fn middle(&self) -> f64 {
        self.at_probit(0.0)
    }

    fn shortfall(&self, c: f64) -> Result<f64> {
        match &self.curve {
            Some(curve) => Ok(curve.shortfall(c)),
            None => partial::shortfall(self.forecast, &self.points, c),
        }
    }

    fn excess(&self, c: f64) -> Result<f64> {
        match &self.curve {
            Some(curve) => Ok(curve.excess(c)),
            None => partial::excess(self.forecast, &self.points, c),
        }
    }

    fn tails(&self, c: f64) -> (f64, f64, f64, f64) {
        let left = self.forecast.probit_left(c);
        (normal::cdf(left), self.forecast.cdf(c), normal::sf(left), self.forecast.sf(c))
    }
}
