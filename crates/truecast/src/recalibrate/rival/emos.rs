//! Ensemble model output statistics, or non-homogeneous regression: a normal distribution whose mean follows from the location and whose scale follows
//! from the scale of the forecast, by least CRPS over a rolling window.
//!
//! ```text
//! y ~ N(a + b·location, e^{2(c + d ln scale)})              the last W outcomes, refitted after each of them
//!
//! μ_i = l_i + s̄ (α + β λ_i)        λ_i = (l_i − l̄)/s̄        l̄, s̄: means over the window
//! ln σ_i = ln s_i + γ + δ g_i       g_i = ln s_i − mean ln s   γ + δ g held in ±9
//! least  Σ_i CRPS(N(μ_i, σ_i²), y_i)/s̄ + (α² + β² + ½γ² + ½δ²)/(2√π)
//! ```
//!
//! The second form is the first one around the base (a = 0, b = 1, c = 0, d = 1 are α = β = γ = δ = 0), in units in which nothing changes when y does, and with
//! the base behind it for one outcome, which decides where a window cannot: where location or scale stand still, and before there are four outcomes.
//! Fitted by steps with the expected curvature, halved while they do not help, from the last fit on:
//!
//! ```text
//! H = Σ ff′ s̄/(σ√π) + I/√π,  f = (1, λ)        J = Σ gg′ σ/(2 s̄ √π) + I/(2√π),  g = (1, g)
//! ```
//!
//! Source: Gneiting, Raftery, Westveld & Goldman 2005, "Calibrated probabilistic forecasting using ensemble model output statistics and minimum CRPS
//! estimation", whose window is 40 days; the logarithmic link is that of Gebetsberger, Messner, Mayr & Zeileis 2018 in place of an affine variance with
//! coefficients that must not be negative: it has no corner in which a fit can be caught, and includes every rescaling.
//! Nothing is promised. W = 100 did best of
//! 40, 60, 100, 200 and 300 on the streams of `truecast-streams` beside 200, at half its cost. Cost: a few passes over the window; 4 W + 7 numbers.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::residual::{Occasion, PROBITS, ResidualRule, Told};
use crate::error::{Result, SnapshotError};
use crate::normal;
use crate::score::form::FRAC_1_SQRT_PI;

/// ln of the ratio of scales is held in ± this.
const LARGEST_LOG_RATIO: f64 = 9.0;
/// A fit ends when a step promises less than this, in mean scales…
const ENOUGH: f64 = 1e-8;
/// … or after so many steps, or halvings of one.
const MOST_STEPS: usize = 30;
const MOST_HALVINGS: usize = 12;

/// Options of [`Emos`].
///
/// | name | default | meaning | range |
/// |---|---|---|---|
/// | `window` | 100 | W, outcomes that are fitted to | 1 to a million |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmosOptions {
    /// W, outcomes that are fitted to.
    pub window: usize,
}

impl Default for EmosOptions {
    fn default() -> Self {
        EmosOptions { window: 100 }
    }
}

/// Non-homogeneous regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Emos {
    options: EmosOptions,
    /// Oldest first.
    window: VecDeque<Seen>,
    centre: Centre,
    /// α, β, γ, δ around the centre.
    fit: [f64; 4],
}

/// An outcome and its forecast.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Seen {
    location: f64,
    scale: f64,
    log_scale: f64,
    residual: f64,
}

impl Seen {
    fn forecast(location: f64, scale: f64) -> Self {
        Seen { location, scale, log_scale: libm::log(scale), residual: 0.0 }
    }
}

/// What a fit is around.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Centre {
    location: f64,
    scale: f64,
    log_scale: f64,
}

impl Emos {
    /// The mean and the standard deviation for a forecast.
    pub fn distribution(&self, location: f64, scale: f64) -> (f64, f64) {
        let (shift, ratio) = self.residual(&self.fit, &Seen::forecast(location, scale));
        (location + scale * shift, scale * ratio)
    }

    /// The same, as a residual.
    fn residual(&self, [alpha, beta, gamma, delta]: &[f64; 4], seen: &Seen) -> (f64, f64) {
        let Centre { location: centre, scale: unit, log_scale } = self.centre;
        let shift = unit * (alpha + beta * ((seen.location - centre) / unit)) / seen.scale;
        let ratio = gamma + delta * (seen.log_scale - log_scale);
        (shift, libm::exp(ratio.clamp(-LARGEST_LOG_RATIO, LARGEST_LOG_RATIO)))
    }

    /// Moves the centre to the window's, and the fit with it: the same coefficients in other words.
    fn recentre(&mut self) {
        let count = self.window.len() as f64;
        let mean = |of: fn(&Seen) -> f64| self.window.iter().map(|seen| of(seen) / count).sum::<f64>();
        let now = Centre {
            location: mean(|s| s.location),
            scale: mean(|s| s.scale),
            log_scale: mean(|s| s.log_scale),
        };
        let [alpha, beta, gamma, delta] = &mut self.fit;
        *alpha = (*alpha * self.centre.scale + *beta * (now.location - self.centre.location)) / now.scale;
        *gamma += *delta * (now.log_scale - self.centre.log_scale);
        self.centre = now;
    }

    /// The sum that is made least.
    fn loss(&self, fit: &[f64; 4]) -> f64 {
        let sum = self.window.iter().map(|seen| {
            let (shift, ratio) = self.residual(fit, seen);
            let e = (seen.residual - shift) / ratio;
            let crps = e * (1.0 - 2.0 * normal::sf(e)) + 2.0 * normal::density(e) - FRAC_1_SQRT_PI;
            crps * ratio * seen.scale / self.centre.scale
        });
        let [alpha, beta, gamma, delta] = fit;
        let ridge = alpha * alpha + beta * beta + 0.5 * (gamma * gamma + delta * delta);
        sum.sum::<f64>() + 0.5 * FRAC_1_SQRT_PI * ridge
    }

    /// The step of least expected loss, and what it promises.
    fn step(&self, fit: &[f64; 4]) -> ([f64; 4], f64) {
        let Centre { location: centre, scale: unit, log_scale } = self.centre;
        let mut gradients = [[0.0; 2]; 2];
        let mut curvatures = [[0.0; 3]; 2];
        for seen in &self.window {
            let (shift, ratio) = self.residual(fit, seen);
            let (e, size) = ((seen.residual - shift) / ratio, ratio * seen.scale / unit);
            let features = [(seen.location - centre) / unit, seen.log_scale - log_scale];
            let slopes = [2.0 * normal::sf(e) - 1.0, size * (2.0 * normal::density(e) - FRAC_1_SQRT_PI)];
            let bends = [FRAC_1_SQRT_PI / size, 0.5 * size * FRAC_1_SQRT_PI];
            for i in 0..2 {
                let f = features[i];
                gradients[i][0] += slopes[i];
                gradients[i][1] += slopes[i] * f;
                curvatures[i][0] += bends[i];
                curvatures[i][1] += bends[i] * f;
                curvatures[i][2] += bends[i] * f * f;
            }
        }
        let mut step = [0.0; 4];
        let mut promise = 0.0;
        for i in 0..2 {
            let ridge = FRAC_1_SQRT_PI * if i == 0 { 1.0 } else { 0.5 };
            let g: [f64; 2] = std::array::from_fn(|k| gradients[i][k] + ridge * fit[2 * i + k]);
            let [a, b, c] = curvatures[i];
            let (a, c) = (a + ridge, c + ridge);
            // By elimination, which keeps the ridge's digits where a feature is large.
            let pivot = (c - b * (b / a)).max(0.5 * ridge);
            let second = (g[1] - b / a * g[0]) / pivot;
            step[2 * i] = (g[0] - b * second) / a;
            step[2 * i + 1] = second;
            promise += g[0] * step[2 * i] + g[1] * second;
        }
        (step, promise)
    }

    fn refit(&mut self) {
        self.recentre();
        let mut here = self.loss(&self.fit);
        if !here.is_finite() {
            self.fit = [0.0; 4];
            here = self.loss(&self.fit);
        }
        for _ in 0..MOST_STEPS {
            let (step, promise) = self.step(&self.fit);
            if promise.is_nan() || promise <= ENOUGH {
                return;
            }
            let mut part = 1.0;
            let better = (0..MOST_HALVINGS).find_map(|_| {
                let fit: [f64; 4] = std::array::from_fn(|k| self.fit[k] - part * step[k]);
                let loss = self.loss(&fit);
                part *= 0.5;
                (loss < here).then_some((fit, loss))
            });
            let Some((fit, loss)) = better else { return };
            (self.fit, here) = (fit, loss);
        }
    }
}

impl ResidualRule for Emos {
    const NAME: &'static str = "emos";
    type Options = EmosOptions;

    fn start(options: EmosOptions) -> Result<Self> {
        super::window(options.window, 1)?;
        let centre = Centre { location: 0.0, scale: 1.0, log_scale: 0.0 };
        Ok(Emos { options, window: VecDeque::new(), centre, fit: [0.0; 4] })
    }

    fn say(&self, occasion: &Occasion, said: &mut Vec<f64>, _: &mut Vec<f64>) {
        let (shift, ratio) = self.residual(&self.fit, &Seen::forecast(occasion.location, occasion.scale));
        said.extend(PROBITS.iter().map(|t| shift + ratio * t));
    }

    fn learn(&mut self, told: &Told<'_>) {
        if self.window.len() == self.options.window {
            self.window.pop_front();
        }
        self.window.push_back(Seen { residual: told.residual, ..Seen::forecast(told.location, told.scale) });
        self.refit();
    }

    fn validate(&self) -> Result<(), SnapshotError> {
        let invalid = |rule| Err(SnapshotError::Invalid { field: "emos", rule });
        let Centre { location, scale, log_scale } = self.centre;
        let numbers = self.fit.iter().chain([&location, &log_scale]).all(|x| x.is_finite());
        let seen = |s: &Seen| {
            let forecast = s.scale > 0.0 && s.log_scale == libm::log(s.scale);
            forecast && [s.location, s.scale, s.residual].iter().all(|x| x.is_finite())
        };
        if super::window(self.options.window, 1).is_err() || self.window.len() > self.options.window {
            return invalid("a window of at least one outcome, and no more outcomes than that");
        }
        if numbers && scale > 0.0 && scale.is_finite() && self.window.iter().all(seen) {
            Ok(())
        } else {
            invalid("finite coefficients and outcomes, and positive scales")
        }
    }
}
