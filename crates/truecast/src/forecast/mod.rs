//! Predictive distributions: what goes into a recalibrator, and what comes out of it.
//!
//! [`Forecast`] asks for three functions (`cdf`, `sf`, `quantile`) and derives the rest. The number the
//! recalibrators work with is the *probit score* z = Φ⁻¹(F(y)): unlike F(y) itself it does not saturate, so an
//! outcome forty standard deviations out is still told from one fifty out.
//!
//! | kind | file | atoms | far tails |
//! |---|---|---|---|
//! | [`Gaussian`] | `gaussian.rs` | no | exact at any distance |
//! | [`StudentT`] | `student_t.rs` | no | power law |
//! | [`Laplace`], [`Logistic`] | `laplace.rs`, `logistic.rs` | no | exact by logarithms |
//! | [`LogNormal`], [`Uniform`] | `log_normal.rs`, `uniform.rs` | no | bounded support |
//! | [`Quantiles`] | `quantiles.rs` | where quantiles tie | normal, with the outer quantiles' spread |
//! | [`Samples`] | `samples.rs` | where samples tie | normal, with the sample's standard deviation |
//! | [`CdfTable`] | `cdf_table.rs` | where the table jumps | bounded by the table |
//! | [`Mixture`] | `mixture.rs` | those of its parts | exact by logarithms |
//! | [`Recalibrated`] | `recalibrated.rs` | where the guard or a step map puts one | those of its base, through the map |
//! | [`PointScale`] | `point.rs` | no | a point forecast as a [`Gaussian`] whose scale is learned |

mod any;
mod cdf_table;
mod curve;
mod gaussian;
mod laplace;
mod log_normal;
mod logistic;
mod mixture;
pub(crate) mod moments;
pub(crate) mod pieces;
mod point;
mod quantiles;
mod recalibrated;
mod samples;
mod student_t;
mod uniform;

use std::fmt::Debug;

pub use any::AnyForecast;
pub use cdf_table::CdfTable;
pub(crate) use curve::interpolate;
pub use curve::{Knot, ProbitCurve};
pub use gaussian::Gaussian;
pub use laplace::Laplace;
pub use log_normal::LogNormal;
pub use logistic::Logistic;
pub use mixture::Mixture;
pub use moments::Moments;
pub use point::PointScale;
pub use quantiles::Quantiles;
pub use recalibrated::{OwnedForecast, Recalibrated};
pub use samples::Samples;
pub(crate) use samples::standard_deviation;
pub use student_t::StudentT;
pub use uniform::Uniform;

use crate::error::{self, Result};
use crate::grid::Levels;
use crate::{normal, random, score};

/// A predictive distribution of one real outcome.
///
/// Implementors owe three functions that agree with each other:
///
/// - [`cdf`](Forecast::cdf) is non-decreasing and right-continuous, P(Y ≤ y);
/// - [`sf`](Forecast::sf) is P(Y > y), computed on its own and not as `1 - cdf`, so that it stays accurate where
///   the CDF rounds to 1;
/// - [`quantile`](Forecast::quantile) is the smallest y with `cdf(y) >= probability`.
///
/// All other methods follow from these; override them where something better is known. The laws in
/// `truecast-testkit` check an implementation.
///
/// ```
/// use truecast::{Forecast, Gaussian};
///
/// let forecast = Gaussian::new(20.0, 2.0)?;
/// assert_eq!(forecast.probit(24.0), 2.0);
/// let (low, high) = forecast.interval(0.8)?;
/// assert!((low - 17.4369).abs() < 1e-4 && (high - 22.5631).abs() < 1e-4);
/// # Ok::<(), truecast::Error>(())
/// ```
pub trait Forecast: Debug + Send + Sync {
    /// P(Y ≤ y).
    fn cdf(&self, y: f64) -> f64;

    /// P(Y > y), accurate in the upper tail.
    fn sf(&self, y: f64) -> f64;

    /// The smallest y with P(Y ≤ y) ≥ `probability`; the ends of the support at 0 and 1.
    fn quantile(&self, probability: f64) -> f64;

    /// The probit score Φ⁻¹(P(Y ≤ y)), −∞ below the support and +∞ above it.
    fn probit(&self, y: f64) -> f64 {
        normal::probit(self.cdf(y), self.sf(y))
    }

    /// Φ⁻¹(P(Y < y)): differs from [`probit`](Forecast::probit) only where the distribution has an atom.
    fn probit_left(&self, y: f64) -> f64 {
        self.probit(y)
    }

    /// The quantile at probability Φ(z).
    fn at_probit(&self, z: f64) -> f64 {
        self.quantile(normal::cdf(z))
    }

    /// The quantiles at probabilities Φ(z) for each z of `probits`: [`at_probit`](Forecast::at_probit) but for rounding, and cheaper where
    /// they share work. `out` must be as long.
    fn at_probits(&self, probits: &[f64], out: &mut [f64]) {
        for (y, &z) in out.iter_mut().zip(probits) {
            *y = self.at_probit(z);
        }
    }

    /// For each level, half the distance between the quantiles at its neighbours: how much of the outcome's
    /// axis the level stands for, and so the weight with which its squared error enters the CRPS.
    fn widths(&self, levels: &Levels, out: &mut [f64]) {
        let z = levels.probits();
        let last = z.len() - 1;
        let (mut before, mut here) = (self.at_probit(z[0]), self.at_probit(z[1]));
        out[0] = here - before;
        for j in 1..last {
            let after = self.at_probit(z[j + 1]);
            out[j] = 0.5 * (after - before);
            (before, here) = (here, after);
        }
        out[last] = here - before;
    }

    /// The distribution as Φ of a piecewise linear function, where it is one; its CRPS is then exact.
    fn curve(&self) -> Option<ProbitCurve> {
        None
    }

    /// Adds to `out` the points at which the CDF has a kink or a jump, for quadrature to split at.
    fn kinks(&self, _out: &mut Vec<f64>) {}

    /// ln of the density at `y`, if there is one.
    fn ln_density(&self, _y: f64) -> Option<f64> {
        None
    }

    /// The continuous ranked probability score ∫ (F(x) − 1{y ≤ x})² dx: exact where a closed form is known,
    /// otherwise by quadrature to about 1e-10.
    fn crps(&self, y: f64) -> f64 {
        score::crps::evaluate(self, y)
    }

    /// Mean and variance: exact where a closed form is known and for everything with a [`curve`](Forecast::curve), otherwise by
    /// quadrature to about 1e-10.
    ///
    /// Never NaN: a distribution without a mean (Student's t with at most one degree of freedom) says its median instead and an
    /// infinite variance. For an error in that case ask [`decision::mean`](crate::decision::mean).
    fn moments(&self) -> Moments {
        moments::evaluate(self)
    }

    /// The mean; see [`moments`](Forecast::moments), which is cheaper where the variance is wanted as well.
    fn mean(&self) -> f64 {
        self.moments().mean
    }

    /// The variance, which may be infinite; see [`moments`](Forecast::moments).
    fn variance(&self) -> f64 {
        self.moments().variance
    }

    /// The standard deviation; see [`moments`](Forecast::moments).
    fn std(&self) -> f64 {
        self.moments().std()
    }

    /// The distribution as a normal one, where it is one: what is made of it by a map then needs no curve.
    fn as_gaussian(&self) -> Option<Gaussian> {
        None
    }

    /// The [`curve`](Forecast::curve), where the forecast holds it: nothing need then be copied.
    fn as_curve(&self) -> Option<&ProbitCurve> {
        None
    }

    /// The quantiles that the forecast is made of, where it is made of quantiles: it is then scored by them.
    fn as_table(&self) -> Option<Tabular<'_>> {
        None
    }

    /// The central interval that holds the outcome with probability `coverage`.
    fn interval(&self, coverage: f64) -> Result<(f64, f64)> {
        error::inner_probability("coverage", coverage)?;
        let z = normal::quantile(0.5 * (1.0 - coverage));
        Ok((self.at_probit(z), self.at_probit(-z)))
    }

    /// The probability of low < Y ≤ high, without cancellation in either tail.
    fn probability_between(&self, low: f64, high: f64) -> f64 {
        let (below, above) = (self.cdf(low), self.sf(low));
        if below < above { self.cdf(high) - below } else { above - self.sf(high) }
    }

    /// The probit score with atoms split at random: `draw` in [0, 1) says where in the atom the outcome falls.
    /// Where there is no atom this is [`probit`](Forecast::probit), bit for bit.
    fn randomised_probit(&self, y: f64, draw: f64) -> f64 {
        let (left, right) = (self.probit_left(y), self.probit(y));
        if left == right {
            return right;
        }
        // Interpolated on whichever tail's scale is the smaller, so that a small atom far out keeps its place.
        let (cdf_left, cdf_right) = (normal::cdf(left), normal::cdf(right));
        let (sf_left, sf_right) = (normal::sf(left), normal::sf(right));
        let draw = random::open_unit(draw);
        normal::probit(cdf_left + draw * (cdf_right - cdf_left), sf_left + draw * (sf_right - sf_left))
    }
}

/// What a forecast is made of, if it is a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tabular<'a> {
    /// Quantiles at probit scores, on a support.
    Quantiles {
        /// Φ⁻¹ of their probabilities.
        probits: &'a [f64],
        /// The quantiles, in order.
        values: &'a [f64],
        /// The least and the largest outcome.
        support: (f64, f64),
    },
    /// Samples, in order.
    Ensemble {
        /// The samples.
        values: &'a [f64],
    },
}

/// `cdf`, `sf` and `quantile` of a [`Forecast`] that is known by its probit score.
macro_rules! by_probit {
    () => {
        fn cdf(&self, y: f64) -> f64 {
            $crate::normal::cdf(self.probit(y))
        }

        fn sf(&self, y: f64) -> f64 {
            $crate::normal::sf(self.probit(y))
        }

        fn quantile(&self, probability: f64) -> f64 {
            self.at_probit($crate::normal::quantile(probability))
        }
    };
}
use by_probit;

/// The methods of a [`Forecast`] that leaves everything to another one.
macro_rules! forward {
    ($self:ident => $inner:expr) => {
        fn cdf(&$self, y: f64) -> f64 { $inner.cdf(y) }
        fn sf(&$self, y: f64) -> f64 { $inner.sf(y) }
        fn quantile(&$self, probability: f64) -> f64 { $inner.quantile(probability) }
        fn probit(&$self, y: f64) -> f64 { $inner.probit(y) }
        fn probit_left(&$self, y: f64) -> f64 { $inner.probit_left(y) }
        fn at_probit(&$self, z: f64) -> f64 { $inner.at_probit(z) }
        fn at_probits(&$self, probits: &[f64], out: &mut [f64]) { $inner.at_probits(probits, out); }
        fn widths(&$self, levels: &$crate::grid::Levels, out: &mut [f64]) { $inner.widths(levels, out); }
        fn curve(&$self) -> Option<$crate::forecast::ProbitCurve> { $inner.curve() }
        fn kinks(&$self, out: &mut Vec<f64>) { $inner.kinks(out); }
        fn ln_density(&$self, y: f64) -> Option<f64> { $inner.ln_density(y) }
        fn crps(&$self, y: f64) -> f64 { $inner.crps(y) }
        fn moments(&$self) -> $crate::forecast::Moments { $inner.moments() }
        fn mean(&$self) -> f64 { $inner.mean() }
        fn variance(&$self) -> f64 { $inner.variance() }
        fn std(&$self) -> f64 { $inner.std() }
        fn as_gaussian(&$self) -> Option<$crate::forecast::Gaussian> { $inner.as_gaussian() }
        fn as_curve(&$self) -> Option<&$crate::forecast::ProbitCurve> { $inner.as_curve() }
        fn as_table(&$self) -> Option<$crate::forecast::Tabular<'_>> { $inner.as_table() }
        fn interval(&$self, coverage: f64) -> $crate::Result<(f64, f64)> { $inner.interval(coverage) }
        fn probability_between(&$self, low: f64, high: f64) -> f64 { $inner.probability_between(low, high) }
        fn randomised_probit(&$self, y: f64, draw: f64) -> f64 { $inner.randomised_probit(y, draw) }
    };
}
use forward;

impl<F: Forecast + ?Sized> Forecast for &F {
    forward!(self => (**self));
}

impl<F: Forecast + ?Sized> Forecast for Box<F> {
    forward!(self => (**self));
}

impl<F: Forecast + ?Sized> Forecast for std::sync::Arc<F> {
    forward!(self => (**self));
}
