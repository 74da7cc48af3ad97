//! A forecast that is clipped to known bounds: what lies beyond one is put there. Its score is never higher, as long as outcomes keep to the bounds.

use truecast::Forecast;

/// A forecast between bounds, either of which may be infinite.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounded<'a> {
    forecast: &'a dyn Forecast,
    low: f64,
    high: f64,
}

impl<'a> Bounded<'a> {
    pub(crate) fn new(forecast: &'a dyn Forecast, [low, high]: [f64; 2]) -> Self {
        Bounded { forecast, low, high }
    }
}

impl Forecast for Bounded<'_> {
    fn cdf(&self, y: f64) -> f64 {
        if y < self.low {
            0.0
        } else if y >= self.high {
            1.0
        } else {
            self.forecast.cdf(y)
        }
    }

    fn sf(&self, y: f64) -> f64 {
        if y < self.low {
            1.0
        } else if y >= self.high {
            0.0
        } else {
            self.forecast.sf(y)
        }
    }

    fn quantile(&self, probability: f64) -> f64 {
        self.forecast.quantile(probability).clamp(self.low, self.high)
    }

    fn probit(&self, y: f64) -> f64 {
        if y < self.low {
            f64::NEG_INFINITY
        } else if y >= self.high {
            f64::INFINITY
        } else {
            self.forecast.probit(y)
        }
    }

    fn probit_left(&self, y: f64) -> f64 {
        if y <= self.low {
            f64::NEG_INFINITY
        } else if y > self.high {
            f64::INFINITY
        } else {
            self.forecast.probit_left(y)
        }
    }

    fn at_probit(&self, z: f64) -> f64 {
        self.forecast.at_probit(z).clamp(self.low, self.high)
    }

    fn at_probits(&self, probits: &[f64], out: &mut [f64]) {
        self.forecast.at_probits(probits, out);
        out.iter_mut().for_each(|y| *y = y.clamp(self.low, self.high));
    }

    fn kinks(&self, out: &mut Vec<f64>) {
        self.forecast.kinks(out);
        out.extend([self.low, self.high].iter().filter(|bound| bound.is_finite()));
    }
}

#[cfg(test)]
mod tests {
    use truecast::Gaussian;

    use super::*;

    #[test]
    fn half_a_normal_is_known_in_closed_form() {
        let normal = Gaussian::new(0.0, 1.0).unwrap();
        let clipped = Bounded::new(&normal, [0.0, f64::INFINITY]);
        let moments = clipped.moments();
        // E max(Z, 0) = φ(0), E max(Z, 0)² = ½.
        let mean = 0.398_942_280_401_432_7;
        assert!(
            (moments.mean - mean).abs() < 1e-9 && (moments.variance - (0.5 - mean * mean)).abs() < 1e-9,
            "{moments:?}"
        );
        // The CRPS at 1 lacks the integral of Φ² below 0; that of Φ² is x Φ² + 2 φ Φ − Φ(√2 x)/√π.
        let below = 2.0 * mean * 0.5 - 0.5 / std::f64::consts::PI.sqrt();
        assert!((clipped.crps(1.0) - (normal.crps(1.0) - below)).abs() < 1e-9);
        assert_eq!((clipped.quantile(0.2), clipped.at_probit(-1.0), clipped.at_probit(1.0)), (0.0, 0.0, 1.0));
        assert_eq!(
            (clipped.cdf(-0.1), clipped.cdf(0.0), clipped.probit_left(0.0)),
            (0.0, 0.5, f64::NEG_INFINITY)
        );
        let both = Bounded::new(&normal, [-1.0, 1.0]);
        assert_eq!(
            (both.sf(1.0), both.probit(1.0), both.probit_left(1.0)),
            (0.0, f64::INFINITY, normal.probit(1.0))
        );
    }
}
