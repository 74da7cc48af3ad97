//! The seeded source of uniform, normal, Student-t and Poisson draws.
//!
//! Uniforms come from xoshiro256++, normals are their quantiles, and all transcendental functions are those of `libm`, so a
//! seed gives the same draws on every platform.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use truecast::normal;

/// A seeded source of the draws that streams and adversaries are made of.
#[derive(Debug, Clone)]
pub struct Draws {
    generator: Xoshiro256PlusPlus,
}

impl Draws {
    /// A source that the seed determines.
    pub fn new(seed: u64) -> Self {
        Draws { generator: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// A uniform draw in the open interval (0, 1): the middles of 2⁵² equal cells.
    pub fn uniform(&mut self) -> f64 {
        const CELL: f64 = 1.0 / (1u64 << 52) as f64;
        ((self.generator.next_u64() >> 12) as f64 + 0.5) * CELL
    }

    /// A uniform draw between `low` and `high`.
    pub fn uniform_between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// True with probability one half.
    pub fn coin(&mut self) -> bool {
        self.uniform() < 0.5
    }

    /// A standard normal draw, by inversion.
    pub fn normal(&mut self) -> f64 {
        normal::quantile(self.uniform())
    }

    /// A Student-t draw with three degrees of freedom: a normal over the root of a mean of three squared ones.
    pub fn student_t_three(&mut self) -> f64 {
        let numerator = self.normal();
        let square: f64 = (0..3).map(|_| self.normal()).map(|z| z * z).sum();
        numerator / libm::sqrt(square / 3.0)
    }

    /// A Poisson draw, by adding up probabilities; for rates well below 700, where e^−rate is not yet 0.
    pub fn poisson(&mut self, rate: f64) -> f64 {
        let u = self.uniform();
        let (mut count, mut probability) = (0.0, libm::exp(-rate));
        let mut below = probability;
        // Ends by the mass that is left even where rounding keeps `below` from reaching u.
        while below < u && probability > 0.0 {
            count += 1.0;
            probability *= rate / count;
            below += probability;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: usize = 100_000;

    /// Mean and variance of 100,000 draws within five standard errors; a Poisson's variance is its rate, and the
    /// variance of the sample variance of a Poisson is about (2λ² + λ)/T.
    #[test]
    fn counts_are_poisson() {
        let mut draws = Draws::new(3);
        for rate in [0.3, 4.0, 11.0] {
            let sample: Vec<f64> = (0..STEPS).map(|_| draws.poisson(rate)).collect();
            let mean = sample.iter().sum::<f64>() / STEPS as f64;
            let variance = sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / STEPS as f64;
            let n = STEPS as f64;
            assert!((mean - rate).abs() < 5.0 * (rate / n).sqrt(), "rate {rate}, mean {mean}");
            let error = ((2.0 * rate * rate + rate) / n).sqrt();
            assert!((variance - rate).abs() < 5.0 * error, "rate {rate}, variance {variance}");
        }
    }
}
