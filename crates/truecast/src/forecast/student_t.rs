//! Student's t distribution: power-law tails, for outcomes that surprise more often than a normal allows.
//!
//! With a = ν/2, q = t²/ν and f the density, both tails come from the incomplete beta function in two forms that
//! only add positive terms, so neither loses digits, whatever the degrees of freedom:
//!
//! ```text
//! P(0 < T < t) = t f(t) Σ_n Π_{k<n} (ν + 1 + 2k)/(3 + 2k) · q/(1 + q)             near the centre
//! P(T > t)     = (1 + q) f(t)/t · ₂F₁(1, ½; a + 1; −1/q), by its Stieltjes fraction  in the tail
//! ```
//!
//! (DLMF 8.17.8 with Pfaff's transformation, and 15.7.2.) The gamma functions enter only as Γ(a + ½)/Γ(a), which has
//! a series without cancellation. Probabilities and quantiles are good to about 1e-13 relative. Cost: some tens of
//! multiplications per probability, ten probabilities per quantile.

use serde::{Deserialize, Serialize};

use super::{Forecast, Moments};
use crate::error::{self, Error, Result};
use crate::normal;

const LN_PI: f64 = 1.144_729_885_849_400_2;

/// A Student's t forecast with a location and a scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct StudentT {
    dof: f64,
    location: f64,
    scale: f64,
    /// ln of the standard density at 0.
    ln_peak: f64,
}

impl StudentT {
    /// A t distribution with positive degrees of freedom (any real number), a finite location and a positive scale.
    ///
    /// The scale is not the standard deviation, which is scale · √(dof / (dof − 2)) for dof > 2 and does not exist else.
    pub fn new(dof: f64, location: f64, scale: f64) -> Result<Self> {
        error::positive("degrees of freedom", dof)?;
        error::finite("location", location)?;
        error::positive("scale", scale)?;
        let ln_peak = ln_gamma_ratio(0.5 * dof) - 0.5 * (libm::log(dof) + LN_PI);
        Ok(StudentT { dof, location, scale, ln_peak })
    }

    /// The degrees of freedom.
    pub fn dof(&self) -> f64 {
        self.dof
    }

    /// The location: median, mode and (for dof > 1) mean.
    pub fn location(&self) -> f64 {
        self.location
    }

    /// The scale.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    fn standard(&self, y: f64) -> f64 {
        (y - self.location) / self.scale
    }

    /// ln(1 + t²/ν).
    fn ln_one_plus_q(&self, t: f64) -> f64 {
        let root = t / self.dof.sqrt();
        // Beyond 1e150 the square leaves the range of f64, and the 1 is long lost.
        if root < 1e150 { libm::log1p(root * root) } else { 2.0 * libm::log(root) }
    }

    /// ln f(t) of the standard density.
    fn ln_standard_density(&self, t: f64) -> f64 {
        self.ln_peak - 0.5 * (self.dof + 1.0) * self.ln_one_plus_q(t)
    }

    /// True where the fraction for the tail converges fast; else the series for the centre does.
    fn in_tail(&self, t: f64) -> bool {
        t > self.edge()
    }

    /// Where the centre ends: q (a + 1) = 3/2.
    fn edge(&self) -> f64 {
        (1.5 / (0.5 + 1.0 / self.dof)).sqrt()
    }

    /// The mass up to which quantiles are sought from the centre. From one degree of freedom on, the centre holds at
    /// least a quarter on each side.
    fn central_limit(&self) -> f64 {
        if self.dof >= 1.0 { 0.25 } else { self.central_mass(self.edge()) }
    }

    /// P(0 < T < t) for a `t` of the centre.
    fn central_mass(&self, t: f64) -> f64 {
        let q = t * (t / self.dof);
        let ratio = q / (1.0 + q);
        let (mut term, mut sum, mut k) = (1.0, 1.0, 0.0);
        // The terms fall at least as fast as 0.6^n in the end: they reach rounding within a hundred.
        while term > sum * 1e-17 {
            term *= (self.dof + 1.0 + 2.0 * k) / (3.0 + 2.0 * k) * ratio;
            sum += term;
            k += 1.0;
        }
        t * libm::exp(self.ln_standard_density(t)) * sum
    }

    /// ln P(T > t) for a `t` of the tail.
    fn ln_tail(&self, t: f64) -> f64 {
        if t == f64::INFINITY {
            return f64::NEG_INFINITY;
        }
        let a = 0.5 * self.dof;
        let inverse_q = (self.dof / t) / t;
        // 1/(1 + c₁/(1 + c₂/(1 + …))) by Steed's forward recurrence; all c are positive.
        let (mut d, mut step, mut fraction) = (1.0, 1.0, 1.0);
        for n in 1..2000_u32 {
            let m = f64::from(n / 2);
            let c = inverse_q
                * if n % 2 == 1 {
                    (0.5 + m) * (a + m) / ((a + 2.0 * m) * (a + 1.0 + 2.0 * m))
                } else {
                    m * (a - 0.5 + m) / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
                };
            d = 1.0 / (1.0 + c * d);
            step *= d - 1.0;
            fraction += step;
            if step.abs() < 1e-17 * fraction {
                break;
            }
        }
        self.ln_standard_density(t) + self.ln_one_plus_q(t) - libm::log(t) + libm::log(fraction)
    }

    /// P(T > t), for t ≥ 0.
    fn upper(&self, t: f64) -> f64 {
        if self.in_tail(t) { libm::exp(self.ln_tail(t)) } else { 0.5 - self.central_mass(t) }
    }

    /// P(T ≤ t), for t ≥ 0.
    fn most(&self, t: f64) -> f64 {
        if self.in_tail(t) { 1.0 - libm::exp(self.ln_tail(t)) } else { 0.5 + self.central_mass(t) }
    }

    /// The t with P(0 < T < t) = `mass`. Newton's method from below: the mass is concave in t, so that each tangent
    /// stays short of the root and the steps never overshoot.
    fn central_quantile(&self, mass: f64) -> f64 {
        let mut t = 0.0;
        for _ in 0..100 {
            let found = if self.in_tail(t) { 0.5 - self.upper(t) } else { self.central_mass(t) };
            let step = (mass - found) / libm::exp(self.ln_standard_density(t));
            t += step;
            if step.abs() <= 2e-16 * t {
                break;
            }
        }
        t
    }

    /// The t > 0 with ln P(T > t) = `ln_p`, by Newton's method on ln P against ln t: there the tail is a line for
    /// few degrees of freedom and close to an exponential for many, concave in both cases. `z` is the normal
    /// quantile, which with the first term of the Cornish-Fisher series is the start.
    fn tail_quantile(&self, ln_p: f64, z: f64) -> f64 {
        const LARGEST: f64 = 709.782_712_893_384; // ln of the largest f64
        let start = z + z * (z * z + 1.0) / (4.0 * self.dof).max(1.0);
        let mut u = libm::log(start.max(self.edge())).min(LARGEST);
        for _ in 0..100 {
            let t = libm::exp(u);
            let ln_tail = if self.in_tail(t) { self.ln_tail(t) } else { libm::log(self.upper(t)) };
            let slope = libm::exp(u + self.ln_standard_density(t) - ln_tail);
            let next = u + (ln_tail - ln_p) / slope;
            if next > LARGEST && u >= LARGEST {
                return f64::INFINITY;
            }
            let step = next.min(LARGEST) - u;
            u += step;
            if step.abs() <= 2e-16 * u.abs().max(1.0) {
                break;
            }
        }
        libm::exp(u)
    }
}

impl Forecast for StudentT {
    fn cdf(&self, y: f64) -> f64 {
        let t = self.standard(y);
        if t < 0.0 { self.upper(-t) } else { self.most(t) }
    }

    fn sf(&self, y: f64) -> f64 {
        let t = self.standard(y);
        if t > 0.0 { self.upper(t) } else { self.most(-t) }
    }

    fn quantile(&self, probability: f64) -> f64 {
        // 1 − p is exact for p ≥ ½, and so is ½ − p near the centre.
        let (tail, side) = if probability < 0.5 { (probability, -1.0) } else { (1.0 - probability, 1.0) };
        let t = if 0.5 - tail <= self.central_limit() {
            self.central_quantile(0.5 - tail)
        } else if tail > 0.0 {
            self.tail_quantile(libm::log(tail), -normal::quantile(tail))
        } else if tail == 0.0 {
            f64::INFINITY
        } else {
            f64::NAN
        };
        self.location + side * self.scale * t
    }

    fn probit(&self, y: f64) -> f64 {
        let t = self.standard(y);
        let size = t.abs();
        let z = if self.in_tail(size) {
            -normal::quantile_of_ln(self.ln_tail(size))
        } else {
            -normal::quantile(0.5 - self.central_mass(size))
        };
        if t < 0.0 { -z } else { z }
    }

    fn at_probit(&self, z: f64) -> f64 {
        let size = z.abs();
        let mass = 0.5 * libm::erf(size * std::f64::consts::FRAC_1_SQRT_2);
        let t = if size.is_infinite() {
            f64::INFINITY
        } else if mass <= self.central_limit() {
            self.central_quantile(mass)
        } else {
            self.tail_quantile(normal::ln_cdf(-size), size)
        };
        self.location + if z < 0.0 { -1.0 } else { 1.0 } * self.scale * t
    }

    fn ln_density(&self, y: f64) -> Option<f64> {
        Some(self.ln_standard_density(self.standard(y).abs()) - libm::log(self.scale))
    }

    /// z (2F(z) − 1) + [2 f(z)(ν + z²) − 2√ν B(½, ν − ½)/B(½, ν/2)²]/(ν − 1), Jordan, Krüger & Lerch (2019), app. A.
    ///
    /// The integral that defines the score exists for ν > ½ and continues the formula analytically; at ν = 1 (Cauchy)
    /// the bracket is replaced by its limit, and close to 1 it keeps about 1e-16/|ν − 1| of relative accuracy, never
    /// worse than 1e-8. For ν ≤ ½ the score is +∞.
    fn crps(&self, y: f64) -> f64 {
        let nu = self.dof;
        if nu <= 0.5 {
            return f64::INFINITY;
        }
        let t = self.standard(y).abs();
        let ln_q = self.ln_one_plus_q(t);
        // ln of the last term's numerator; B(½, x) = √π Γ(x)/Γ(x + ½).
        let ln_constant =
            0.5 * (libm::log(nu) - LN_PI) + 2.0 * ln_gamma_ratio(0.5 * nu) - ln_gamma_ratio(nu - 0.5);
        let bracket = if (nu - 1.0).abs() > 1e-8 {
            let ln_moment = self.ln_peak + libm::log(nu) - 0.5 * (nu - 1.0) * ln_q;
            2.0 * libm::exp(ln_constant) * libm::expm1(ln_moment - ln_constant) / (nu - 1.0)
        } else {
            std::f64::consts::FRAC_2_PI * (std::f64::consts::LN_2 - 0.5 * ln_q)
        };
        self.scale * (t * (self.most(t) - self.upper(t)) + bracket)
    }

    /// The variance is s² ν/(ν − 2), infinite for ν ≤ 2. For ν ≤ 1 there is no mean, and this is the median.
    fn moments(&self) -> Moments {
        let variance = if self.dof > 2.0 {
            self.scale * self.scale * (self.dof / (self.dof - 2.0))
        } else {
            f64::INFINITY
        };
        Moments { mean: self.location, variance }
    }
}

/// ln(Γ(a + ½)/Γ(a)): the recurrence up to a ≥ 20, and there the asymptotic series ½ ln a − 1/(8a) + 1/(192a³) − …,
/// whose first omitted term is below 1e-16.
fn ln_gamma_ratio(a: f64) -> f64 {
    let (mut a, mut product) = (a, 1.0);
    while a < 20.0 {
        product *= a / (a + 0.5);
        a += 1.0;
    }
    let r = 1.0 / a;
    let r2 = r * r;
    let series = r
        * (-1.0 / 8.0
            + r2 * (1.0 / 192.0 + r2 * (-1.0 / 640.0 + r2 * (17.0 / 14_336.0 - r2 * 31.0 / 18_432.0))));
    0.5 * libm::log(a) + series + libm::log(product)
}

#[derive(Serialize, Deserialize)]
struct Parts {
    dof: f64,
    location: f64,
    scale: f64,
}

impl TryFrom<Parts> for StudentT {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        StudentT::new(parts.dof, parts.location, parts.scale)
    }
}

impl From<StudentT> for Parts {
    fn from(of: StudentT) -> Self {
        Parts { dof: of.dof, location: of.location, scale: of.scale }
    }
}
