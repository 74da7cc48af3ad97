//! Online autoregression: the next outcome from the last p, by recursive least squares, with its scale learned along.
//!
//! ```text
//! y_t = c + φ₁ y_{t−1} + … + φ_p y_{t−p} + e_t,      a_t = (1, y_{t−1}, …, y_{t−p})
//! A = Σ g^{T−t} a_t a_tᵀ + prior,   w = A⁻¹ Σ g^{T−t} a_t y_t,   n = Σ g^{T−t},   s² = residual/(n − p − 1)
//! forecast: Student-t with n − p − 1 degrees of freedom, location aᵀw, scale s √(1 + aᵀA⁻¹a)
//! ```
//!
//! with g = 2^(−1/half_life), or 1 without forgetting; then this is the exact predictive distribution of a normal linear model under the flat prior
//! on (w, log s), which counts what is not known about w and s. With forgetting it is that of n effective rows.
//!
//! Start: two outcomes are needed. Then, until the regression has three degrees of freedom, the forecast is that of independent normal
//! outcomes, Student-t with k − 1 degrees of freedom around their mean: wide, and honest about it. After 2p + 4 outcomes, their
//! mean and standard deviation become the origin and the unit in which the regression is done, so that shifting and scaling the outcomes does the same to
//! the forecasts. A prior of weight `ridge` on each coefficient (in those units) keeps A invertible where the outcomes do not vary; under forgetting it is
//! renewed by one coefficient per step in turn, (1 − g^(p+1))·ridge, so that A never fades away (windup).
//!
//! Cost: O(p²) per step, memory O(p²). Assumes nothing; a good forecast assumes that the last p outcomes tell what can be told.
//! Source: Ljung & Söderström, Theory and Practice of Recursive Identification (1983), 2.2; in square-root form, `triangle.rs`.

use serde::{Deserialize, Serialize};
use truecast::AnyForecast;
use truecast::forecast::StudentT;

use crate::error::{self, Error, Result};
use crate::model::Model;
use crate::triangle::Triangle;

/// Degrees of freedom from which the regression forecasts: the variance of Student-t exists.
const LEAST_DOF: f64 = 3.0;

/// The largest order.
const MOST_LAGS: usize = 10_000;

/// Validated parameters of an [`Autoregression`].
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `lags` | 3 | p, how many outcomes back | 1 to 10000 |
/// | `half_life` | none | outcomes after which an old one counts half | > 0, and long enough for p + 5 effective rows |
/// | `ridge` | 1e-6 | weight of the prior on each coefficient, in rows | > 0 |
/// | `least_scale` | 1e-9 | the smallest scale that is forecast, in the outcome's unit, for outcomes that do not vary | > 0 |
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "AutoregressionBuilder", into = "AutoregressionBuilder")]
pub struct AutoregressionParameters {
    inner: AutoregressionBuilder,
}

/// Builds [`AutoregressionParameters`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AutoregressionBuilder {
    lags: usize,
    half_life: Option<f64>,
    ridge: f64,
    least_scale: f64,
}

impl Default for AutoregressionBuilder {
    fn default() -> Self {
        AutoregressionBuilder { lags: 3, half_life: None, ridge: 1e-6, least_scale: 1e-9 }
    }
}

impl AutoregressionBuilder {
    /// How many outcomes back.
    #[must_use]
    pub fn lags(mut self, lags: usize) -> Self {
        self.lags = lags;
        self
    }

    /// Outcomes after which an old one counts half; `None` forgets nothing.
    #[must_use]
    pub fn half_life(mut self, outcomes: impl Into<Option<f64>>) -> Self {
        self.half_life = outcomes.into();
        self
    }

    /// Weight of the prior on each coefficient, in rows.
    #[must_use]
    pub fn ridge(mut self, rows: f64) -> Self {
        self.ridge = rows;
        self
    }

    /// The smallest scale that is forecast.
    #[must_use]
    pub fn least_scale(mut self, scale: f64) -> Self {
        self.least_scale = scale;
        self
    }

    /// Validates.
    pub fn build(self) -> Result<AutoregressionParameters> {
        let lags = self.lags as f64;
        error::parameter(
            "the number of lags",
            "between 1 and 10000",
            lags,
            (1..=MOST_LAGS).contains(&self.lags),
        )?;
        error::positive("the ridge", self.ridge)?;
        error::positive("the least scale", self.least_scale)?;
        if let Some(half_life) = self.half_life {
            error::positive("the half-life", half_life)?;
            let rule = "long enough for lags + 5 effective rows, 1/(1 − 2^(−1/half_life))";
            let rows = 1.0 / (1.0 - self.keep());
            error::parameter("the half-life", rule, half_life, rows >= lags + 5.0)?;
        }
        Ok(AutoregressionParameters { inner: self })
    }

    /// g, what an outcome keeps of its weight per step.
    fn keep(&self) -> f64 {
        self.half_life.map_or(1.0, |outcomes| libm::exp2(-1.0 / outcomes))
    }
}

impl AutoregressionParameters {
    /// Starts from the defaults.
    pub fn builder() -> AutoregressionBuilder {
        AutoregressionBuilder::default()
    }

    /// How many outcomes back.
    pub fn lags(&self) -> usize {
        self.inner.lags
    }

    /// Outcomes that fix the origin and the unit of the regression.
    fn start(&self) -> usize {
        2 * self.inner.lags + 4
    }
}

impl TryFrom<AutoregressionBuilder> for AutoregressionParameters {
    type Error = Error;
    fn try_from(builder: AutoregressionBuilder) -> Result<Self> {
        builder.build()
    }
}

impl From<AutoregressionParameters> for AutoregressionBuilder {
    fn from(parameters: AutoregressionParameters) -> Self {
        parameters.inner
    }
}

/// An online AR(p).
///
/// ```
/// use truecast_models::{Autoregression, AutoregressionParameters};
///
/// let mut model = Autoregression::new(AutoregressionParameters::builder().lags(2).build()?);
/// for step in 0..60 {
///     let t = f64::from(step);
///     model.learn((0.3 * t).sin() + 0.01 * (t * t).cos())?;
/// }
/// let forecast = model.predict()?;
/// assert!((forecast.location() - (0.3_f64 * 60.0).sin()).abs() < 0.05);
/// # Ok::<(), truecast_models::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct Autoregression {
    parameters: AutoregressionParameters,
    count: u64,
    mean: f64,
    /// Sum of squared deviations from the mean (Welford).
    deviations: f64,
    /// The outcomes so far until the regression begins, then the last p; the newest at the end.
    recent: Vec<f64>,
    regression: Option<Regression>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Regression {
    origin: f64,
    unit: f64,
    /// Effective rows.
    rows: f64,
    /// The coefficient whose prior is renewed next.
    turn: usize,
    root: Triangle,
}

impl Autoregression {
    /// A model before any outcome.
    pub fn new(parameters: AutoregressionParameters) -> Self {
        Autoregression {
            parameters,
            count: 0,
            mean: 0.0,
            deviations: 0.0,
            recent: Vec::with_capacity(parameters.start()),
            regression: None,
        }
    }

    /// Outcomes learned.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// (c, φ₁, …, φ_p), once there is a regression.
    pub fn coefficients(&self) -> Option<Vec<f64>> {
        self.regression.as_ref().map(|regression| {
            let mut w = regression.root.coefficients();
            let slopes: f64 = w[1..].iter().sum();
            w[0] = w[0] * regression.unit + regression.origin * (1.0 - slopes);
            w
        })
    }

    /// The forecast of the next outcome. Refused before two outcomes.
    pub fn predict(&self) -> Result<StudentT> {
        if self.count < 2 {
            return Err(Error::NotEnoughOutcomes { least: 2, found: self.count as usize });
        }
        let inner = &self.parameters.inner;
        let (dof, location, scale) = match &self.regression {
            Some(regression) if regression.dof() >= LEAST_DOF => regression.predict(&self.recent),
            _ => {
                let n = self.count as f64;
                (n - 1.0, self.mean, (self.deviations / (n - 1.0) * (1.0 + 1.0 / n)).sqrt())
            }
        };
        let scale = error::computed("the scale", scale)?.max(inner.least_scale);
        Ok(StudentT::new(dof, error::computed("the location", location)?, scale)?)
    }

    /// Takes in the next outcome.
    pub fn learn(&mut self, y: f64) -> Result<()> {
        error::outcome(y)?;
        self.count += 1;
        let gap = y - self.mean;
        self.mean += gap / self.count as f64;
        self.deviations += gap * (y - self.mean);
        let inner = &self.parameters.inner;
        if let Some(regression) = &mut self.regression {
            regression.learn(&self.recent, y, inner);
            self.recent.remove(0);
            self.recent.push(y);
        } else {
            self.recent.push(y);
            if self.recent.len() == self.parameters.start() {
                let spread = (self.deviations / (self.count as f64 - 1.0)).sqrt();
                let mut regression = Regression::new(self.mean, spread, inner);
                for now in inner.lags..self.recent.len() {
                    regression.learn(&self.recent[now - inner.lags..now], self.recent[now], inner);
                }
                self.regression = Some(regression);
                self.recent.drain(..self.recent.len() - inner.lags);
            }
        }
        Ok(())
    }
}

impl Regression {
    fn new(origin: f64, spread: f64, parameters: &AutoregressionBuilder) -> Self {
        let size = parameters.lags + 1;
        let mut root = Triangle::zero(size + 1);
        for k in 0..size {
            root.absorb(&mut single(size + 1, k, parameters.ridge.sqrt()));
        }
        let unit = if spread > 0.0 { spread } else { 1.0 };
        Regression { origin, unit, rows: 0.0, turn: 0, root }
    }

    /// n − p − 1.
    fn dof(&self) -> f64 {
        self.rows - (self.root.size() - 1) as f64
    }

    /// (1, y_{t−1}, …, y_{t−p}) in the regression's units.
    fn row(&self, lags: &[f64]) -> Vec<f64> {
        let mut row = Vec::with_capacity(lags.len() + 2);
        row.push(1.0);
        row.extend(lags.iter().rev().map(|y| (y - self.origin) / self.unit));
        row
    }

    fn predict(&self, lags: &[f64]) -> (f64, f64, f64) {
        let row = self.row(lags);
        let w = self.root.coefficients();
        let location: f64 = row.iter().zip(&w).map(|(a, w)| a * w).sum();
        let dof = self.dof();
        let variance = self.root.residual() / dof * (1.0 + self.root.leverage(&row));
        (dof, self.origin + self.unit * location, self.unit * variance.sqrt())
    }

    fn learn(&mut self, lags: &[f64], y: f64, parameters: &AutoregressionBuilder) {
        let keep = parameters.keep();
        let size = self.root.size();
        if keep < 1.0 {
            self.root.scale(keep.sqrt());
            let renewed = parameters.ridge * (1.0 - libm::pow(keep, (size - 1) as f64));
            self.root.absorb(&mut single(size, self.turn, renewed.sqrt()));
            self.turn = (self.turn + 1) % (size - 1);
        }
        self.rows = keep * self.rows + 1.0;
        let mut row = self.row(lags);
        row.push((y - self.origin) / self.unit);
        self.root.absorb(&mut row);
    }
}

/// A row that is zero but for one entry.
fn single(size: usize, at: usize, value: f64) -> Vec<f64> {
    let mut row = vec![0.0; size];
    row[at] = value;
    row
}

impl Model for Autoregression {
    /// The forecast of the next outcome; takes no inputs.
    fn predict(&self, x: &[f64]) -> Result<AnyForecast> {
        error::inputs(0, x)?;
        self.predict().map(AnyForecast::from)
    }

    fn learn(&mut self, x: &[f64], y: f64) -> Result<()> {
        error::inputs(0, x)?;
        self.learn(y)
    }
}

#[derive(Deserialize)]
struct Parts {
    parameters: AutoregressionParameters,
    count: u64,
    mean: f64,
    deviations: f64,
    recent: Vec<f64>,
    regression: Option<Regression>,
}

impl TryFrom<Parts> for Autoregression {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        let Parts { parameters, count, mean, deviations, recent, regression } = parts;
        let lags = parameters.lags();
        error::outcome(mean)?;
        recent.iter().try_for_each(|&y| error::outcome(y))?;
        error::not_negative("the sum of squared deviations", deviations)?;
        let expected = if regression.is_some() { lags as u64 } else { count };
        if recent.len() as u64 != expected || regression.is_some() != (count >= parameters.start() as u64) {
            return Err(Error::State { rule: "the outcomes kept are those that the count asks for" });
        }
        if let Some(regression) = &regression {
            regression.root.check_size(lags + 2)?;
            error::outcome(regression.origin)?;
            error::positive("the unit", regression.unit)?;
            error::positive("the effective rows", regression.rows)?;
            if regression.turn > lags || !regression.root.is_regular() {
                return Err(Error::State { rule: "every coefficient of an autoregression has a prior" });
            }
        }
        Ok(Autoregression { parameters, count, mean, deviations, recent, regression })
    }
}
