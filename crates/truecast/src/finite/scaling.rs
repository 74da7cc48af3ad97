//! Platt scaling and beta scaling, learned online by a second-order update of fixed cost.
//!
//! Guarantee in log loss, on every sequence and against every fixed map θ* of the family within the limits, identity included:
//!
//! ```text
//! Σ loss(q_t) − Σ loss(θ*)  ≤  ½ B_T + ½ κ ‖θ* − θ_1‖²,      B_T = Σ g_t² x_tᵀ A_t⁻¹ x_t, booked as it happens
//! ```
//!
//! The map: q = σ(θ·x), with x = (logit p, 1) for Platt and (ln p, −ln(1−p), 1) for beta; θ_1 is the identity, slopes stay ≥ 0, so
//! the map is monotone. The update, with g = q − o, s = θ·x:
//!
//! ```text
//! h = min over δ in [low, high] of 2(f(s+δ) − f(s) − f'(s)δ)/δ²     f = ln(1 + e^s); low, high: what θ'·x − s can be within the limits
//! A ← A + h x xᵀ (A = κI at first);    θ ← the point within the limits nearest to θ − A⁻¹ g x, in A's norm
//! ```
//!
//! Proof: loss(θ_t) − loss(θ*) ≤ g x·(θ_t − θ*) − ½ h (x·(θ_t − θ*))² by the choice of h, and summing ‖θ_{t+1} − θ*‖²_A ≤ ‖θ_t − A⁻¹gx − θ*‖²_A
//! leaves the two terms. The minimum is at an end or at δ = 0: the quotient is f'' averaged from s to s + δ with weights 2(1 − u), f'' rises and
//! then falls, and v(δ − v) is totally positive, so the average rises and then falls too. B_T ≤ max(g²/h) ln(det A_T/det A_0), of
//! order d ln T; g² has mean f''(s) where q is right. A sequence that is surely predicted and wrong can make g²/h exponential in the
//! limits, for every method that stays in the family (Hazan, Koren & Levy 2014): therefore B_T is booked and not assumed.
//!
//! Cost O(d³), d ≤ 3, no allocation. Sources: Platt (1999); Kull, Silva Filho & Flach (2017), "Beta calibration"; Hazan, Agarwal & Kale (2007),
//! "Logarithmic regret algorithms for online convex optimization". Where we differ: curvature h of the loss itself in the place of
//! a worst-case constant times g². Late outcomes are booked against the map in force when they come.

use serde::{Deserialize, Serialize};

use super::{BinaryPlan, BinaryRecalibrator, indicator};
use crate::error::{self, Error, Result, SnapshotError};

/// Most parameters of a family.
const MOST: usize = 3;
type Vector = [f64; MOST];
type Matrix = [[f64; MOST]; MOST];

/// Which maps are learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScalingFamily {
    /// Slope and intercept on the logit.
    Platt,
    /// One slope for ln p, one for −ln(1 − p), and an intercept.
    Beta,
}

impl ScalingFamily {
    /// d, the number of parameters, intercept included.
    pub fn count(self) -> usize {
        match self {
            ScalingFamily::Platt => 2,
            ScalingFamily::Beta => 3,
        }
    }

    fn features(self, p: f64) -> Vector {
        let (left, right) = (libm::log(p), -libm::log1p(-p));
        match self {
            ScalingFamily::Platt => [left + right, 1.0, 0.0],
            ScalingFamily::Beta => [left, right, 1.0],
        }
    }

    fn identity(self) -> Vector {
        match self {
            ScalingFamily::Platt => [1.0, 0.0, 0.0],
            ScalingFamily::Beta => [1.0, 1.0, 0.0],
        }
    }
}

/// Parameters of [`Scaling`].
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `family` | Platt | which maps | |
/// | `largest_slope` | 3 | slopes lie in [0, this] | at least 1 |
/// | `largest_intercept` | 3 | the intercept lies within ± this | greater than 0 |
/// | `prior` | 4 | κ: how firmly the identity is believed | greater than 0 |
/// | `clip` | 1e-6 | base probabilities are held within [clip, 1 − clip] | in (0, ½) |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ScalingParameters {
    /// Which maps.
    pub family: ScalingFamily,
    /// Slopes lie in [0, this].
    pub largest_slope: f64,
    /// The intercept lies within ± this.
    pub largest_intercept: f64,
    /// κ: how firmly the identity is believed.
    pub prior: f64,
    /// Base probabilities are held within [clip, 1 − clip].
    pub clip: f64,
}

impl ScalingParameters {
    /// The defaults of a family.
    pub fn of(family: ScalingFamily) -> Self {
        ScalingParameters { family, largest_slope: 3.0, largest_intercept: 3.0, prior: 4.0, clip: 1e-6 }
    }

    fn limits(&self, k: usize) -> (f64, f64) {
        if k + 1 == self.family.count() {
            (-self.largest_intercept, self.largest_intercept)
        } else {
            (0.0, self.largest_slope)
        }
    }
}

/// A parametric map of a binary forecaster's probability.
///
/// ```
/// use truecast::finite::{BinaryRecalibrator, Scaling, ScalingFamily, ScalingParameters};
///
/// let mut platt = Scaling::new(ScalingParameters::of(ScalingFamily::Platt))?;
/// assert!((platt.recalibrate(0.9)? - 0.9).abs() < 1e-15); // no outcome yet
/// for t in 0..2000 {
///     platt.observe(0.9, t % 10 < 7)?; // says 90 %, happens 70 % of the time
/// }
/// assert!((platt.recalibrate(0.9)? - 0.7).abs() < 0.02);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct Scaling {
    parameters: ScalingParameters,
    theta: Vector,
    curvature: Matrix,
    steps: u64,
    /// B_T.
    growth: f64,
    /// Σ loss(q_t) − loss(p_t), p_t clipped.
    regret: f64,
}

impl Scaling {
    /// Starts at the identity.
    pub fn new(parameters: ScalingParameters) -> Result<Self> {
        error::finite("largest slope", parameters.largest_slope)?;
        if parameters.largest_slope < 1.0 {
            let (what, value) = ("largest slope", parameters.largest_slope);
            return Err(Error::OutOfRange {
                what,
                rule: "1 or more, so that the identity is allowed",
                value,
            });
        }
        error::positive("largest intercept", parameters.largest_intercept)?;
        error::positive("prior", parameters.prior)?;
        if !(parameters.clip > 0.0 && parameters.clip < 0.5) {
            return Err(Error::OutOfRange { what: "clip", rule: "between 0 and ½", value: parameters.clip });
        }
        let mut curvature = Matrix::default();
        for k in 0..MOST {
            curvature[k][k] = parameters.prior;
        }
        let theta = parameters.family.identity();
        Ok(Scaling { parameters, theta, curvature, steps: 0, growth: 0.0, regret: 0.0 })
    }

    /// Slopes, then the intercept.
    pub fn coefficients(&self) -> &[f64] {
        &self.theta[..self.parameters.family.count()]
    }

    /// Σ loss(q_t) − loss(p_t) so far, in nats.
    pub fn regret(&self) -> f64 {
        self.regret
    }

    /// The most that log loss can exceed the fixed map with these coefficients by, given what has happened.
    pub fn regret_bound(&self, against: &[f64]) -> Result<f64> {
        let (family, found) = (self.parameters.family, against.len());
        if found != family.count() {
            let what = "coefficients of the map";
            return Err(Error::LengthMismatch { what, left: family.count(), right: found });
        }
        let mut square = 0.0;
        for (k, (&coefficient, start)) in against.iter().zip(family.identity()).enumerate() {
            let (low, high) = self.parameters.limits(k);
            if !(low..=high).contains(&coefficient) {
                let (what, rule) = ("coefficient of the map", "within the limits");
                return Err(Error::OutOfRange { what, rule, value: coefficient });
            }
            square += (coefficient - start) * (coefficient - start);
        }
        Ok(0.5 * self.growth + 0.5 * self.parameters.prior * square)
    }

    /// x and s = θ·x for a base probability.
    fn score(&self, base: f64) -> Result<(Vector, f64)> {
        error::probability("base probability", base)?;
        let clip = self.parameters.clip;
        let x = self.parameters.family.features(base.clamp(clip, 1.0 - clip));
        Ok((x, dot(&self.theta, &x)))
    }

    /// The least curvature of the loss at score s, over all maps within the limits.
    fn least_curvature(&self, x: &Vector, s: f64) -> f64 {
        let (mut low, mut high) = (-s, -s);
        for k in 0..self.parameters.family.count() {
            let (a, b) = self.parameters.limits(k);
            low += (a * x[k]).min(b * x[k]);
            high += (a * x[k]).max(b * x[k]);
        }
        let q = sigmoid(s);
        let here = q * sigmoid(-s);
        let chord = |delta: f64| {
            if delta.abs() < 1e-2 {
                // |f'''| ≤ f'' gives at least this much; the quotient below would cancel.
                return here * 2.0 / (2.0 + delta.abs());
            }
            2.0 * (softplus(s + delta) - softplus(s) - q * delta) / (delta * delta)
        };
        here.min(chord(low)).min(chord(high)).max(0.0)
    }

    /// The point within the limits that is nearest to `target` in A's norm: the best of all faces, of which there are 3^d.
    fn project(&self, target: Vector) -> Vector {
        let d = self.parameters.family.count();
        let inside = |k: usize, value: f64| {
            let (low, high) = self.parameters.limits(k);
            (low..=high).contains(&value)
        };
        if (0..d).all(|k| inside(k, target[k])) {
            return target;
        }
        let (mut best, mut least) = (self.theta, f64::INFINITY);
        for face in 0..3_usize.pow(d as u32) {
            let side = |k: usize| face / 3_usize.pow(k as u32) % 3;
            // Minimise over the free coordinates (side 0) with the others at a limit: A_ff (θ_f − z_f) = −A_fc (θ_c − z_c).
            let (mut system, mut right) = (Matrix::default(), Vector::default());
            let fixed = |k: usize| match (side(k), self.parameters.limits(k)) {
                (1, (low, _)) => low - target[k],
                (_, (_, high)) => high - target[k],
            };
            for k in 0..d {
                if side(k) > 0 {
                    (system[k][k], right[k]) = (1.0, fixed(k));
                    continue;
                }
                for l in 0..d {
                    if side(l) > 0 {
                        right[k] -= self.curvature[k][l] * fixed(l);
                    } else {
                        system[k][l] = self.curvature[k][l];
                    }
                }
            }
            let step = solve(&system, &right, d);
            let mut point = target;
            for k in 0..d {
                point[k] = match (side(k), self.parameters.limits(k)) {
                    (0, _) => target[k] + step[k],
                    (1, (low, _)) => low,
                    (_, (_, high)) => high,
                };
            }
            let distance = dot(&step, &multiply(&self.curvature, &step));
            if distance < least && (0..d).all(|k| inside(k, point[k])) {
                (best, least) = (point, distance);
            }
        }
        best
    }
}

impl BinaryRecalibrator for Scaling {
    fn plan(&self, base: f64, _: u64) -> Result<BinaryPlan> {
        let (_, s) = self.score(base)?;
        Ok(BinaryPlan { base, probability: sigmoid(s), play: None })
    }

    fn settle(&mut self, plan: &BinaryPlan, happened: bool) -> Result<()> {
        let (x, s) = self.score(plan.base)?;
        let d = self.parameters.family.count();
        let o = indicator(happened);
        let h = self.least_curvature(&x, s);
        for k in 0..d {
            for l in 0..d {
                self.curvature[k][l] += h * (x[k] * x[l]);
            }
        }
        let g = if happened { -sigmoid(-s) } else { sigmoid(s) };
        let direction = solve(&self.curvature, &x, d);
        let mut target = self.theta;
        for k in 0..d {
            target[k] -= g * direction[k];
        }
        self.theta = self.project(target);
        self.growth += g * g * dot(&x, &direction);
        let base_score = dot(&self.parameters.family.identity(), &x);
        self.regret += softplus(s) - softplus(base_score) - o * (s - base_score);
        self.steps += 1;
        Ok(())
    }

    fn steps(&self) -> u64 {
        self.steps
    }
}

fn sigmoid(s: f64) -> f64 {
    if s >= 0.0 {
        1.0 / (1.0 + libm::exp(-s))
    } else {
        let e = libm::exp(s);
        e / (1.0 + e)
    }
}

/// ln(1 + e^s).
fn softplus(s: f64) -> f64 {
    s.max(0.0) + libm::log1p(libm::exp(-s.abs()))
}

fn dot(a: &Vector, b: &Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn multiply(a: &Matrix, x: &Vector) -> Vector {
    [dot(&a[0], x), dot(&a[1], x), dot(&a[2], x)]
}

/// Gaussian elimination. The matrix is positive definite, up to rows of the identity, so no pivoting is needed.
fn solve(a: &Matrix, b: &Vector, d: usize) -> Vector {
    let (mut a, mut b) = (*a, *b);
    for k in 0..d {
        for row in k + 1..d {
            let factor = a[row][k] / a[k][k];
            for column in k..d {
                a[row][column] -= factor * a[k][column];
            }
            b[row] -= factor * b[k];
        }
    }
    let mut x = Vector::default();
    for k in (0..d).rev() {
        let known: f64 = (k + 1..d).map(|l| a[k][l] * x[l]).sum();
        x[k] = (b[k] - known) / a[k][k];
    }
    x
}

/// The saved form.
#[derive(Serialize, Deserialize)]
struct State {
    parameters: ScalingParameters,
    theta: Vector,
    curvature: Matrix,
    steps: u64,
    growth: f64,
    regret: f64,
}

impl TryFrom<State> for Scaling {
    type Error = Error;
    fn try_from(state: State) -> Result<Self> {
        let mut scaling = Scaling::new(state.parameters)?;
        let d = state.parameters.family.count();
        let within = (0..d).all(|k| {
            let (low, high) = state.parameters.limits(k);
            (low..=high).contains(&state.theta[k])
        });
        if !within || (d..MOST).any(|k| state.theta[k] != 0.0) {
            return Err(SnapshotError::Invalid { field: "coefficients", rule: "within the limits" }.into());
        }
        let a = &state.curvature;
        let symmetric = (0..MOST).all(|k| (0..MOST).all(|l| a[k][l].is_finite() && a[k][l] == a[l][k]));
        // A − κI is a sum of squares: its diagonal and its 2 × 2 minors are not negative, up to rounding.
        let prior = state.parameters.prior;
        let positive = (0..MOST).all(|k| a[k][k] >= prior)
            && (0..MOST).all(|k| (0..k).all(|l| a[k][l] * a[k][l] < a[k][k] * a[l][l]));
        if !symmetric || !positive {
            let rule = "symmetric and positive definite";
            return Err(SnapshotError::Invalid { field: "curvature", rule }.into());
        }
        scaling.growth = error::not_negative("growth", state.growth)?;
        scaling.regret = error::finite("regret", state.regret)?;
        (scaling.theta, scaling.curvature, scaling.steps) = (state.theta, state.curvature, state.steps);
        Ok(scaling)
    }
}

impl From<Scaling> for State {
    fn from(of: Scaling) -> Self {
        let Scaling { parameters, theta, curvature, steps, growth, regret } = of;
        State { parameters, theta, curvature, steps, growth, regret }
    }
}
