//! Seeded streams of Gaussian forecasts and outcomes, each wrong in one known way.
//!
//! A stream is a function of ([`Scenario`], steps, seed) and of nothing else: uniforms come from xoshiro256++, normals
//! are their quantiles, and all transcendental functions are those of `libm`, so it is the same on every platform.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use truecast::{Gaussian, normal};

/// One step of a stream: a normal forecast and what came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Mean of the forecast.
    pub mean: f64,
    /// Standard deviation of the forecast.
    pub std: f64,
    /// The outcome.
    pub outcome: f64,
}

impl Step {
    /// The forecast, without the outcome.
    pub fn forecast(&self) -> Gaussian {
        Gaussian::new(self.mean, self.std).expect("streams hold valid forecasts")
    }

    /// The probit score of the outcome, (outcome − mean)/std.
    pub fn probit(&self) -> f64 {
        (self.outcome - self.mean) / self.std
    }
}

/// A stream by name. Every share below is of the base forecaster's own 80 % interval, over the whole stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scenario {
    /// Forecast N(0, 2²), outcome N(0, 1): standard deviations twice too large. The 80 % interval covers 98.96 %.
    TwiceTooWide,
    /// Forecast N(0, 10²), outcome N(0, 1): standard deviations ten times too large. The 80 % interval covers 100 %.
    TenTimesTooWide,
    /// Forecast N(0, (1/4)²), outcome N(0, 1): standard deviations four times too small. The 80 % interval covers 25.13 %.
    FourTimesTooNarrow,
    /// Forecast N(0, 1), outcome N(0, 1): nothing is wrong. The 80 % interval covers 80 %.
    Perfect,
    /// Forecast N(0, 1); outcomes have 0.4 and 2.5 times that scale in turn, an eighth of the stream each, so standard
    /// deviations are 2.5 times too large, then 2.5 times too small. The 80 % interval covers 69.52 % (99.87 % and 39.18 %),
    /// over whole pairs of eighths.
    Regimes,
    /// Forecasts alternate N(0, 10²), which is perfect, and N(0, 0.1²), whose outcomes lie at −1.5 ± 0.3 standard
    /// deviations. Calibrating the PIT alone makes the CRPS worse here. The 80 % interval covers 51.66 %.
    Heteroscedastic,
    /// Forecasts alternate N(0, 1) and N(1, 1), outcomes N(−0.6, 0.5²) and N(1.6, 0.5²): a calibrated PIT does not
    /// make the probability of Y ≤ 0.5 right. The 80 % interval covers 91.35 %.
    FixedPoint,
    /// Forecast N(0, 1), perfect in the first half; then outcomes have three times that scale. The 80 % interval covers
    /// 56.54 % (80 % and then 33.07 %).
    ScaleJump,
    /// The outcome's mean moves away by ±4 and back, 2,000 steps a cycle, and the forecast N(m, 1) has the mean of 200
    /// steps ago. The 80 % interval covers 38.85 %, over whole cycles.
    Drift,
    /// Student-t outcomes with 3 degrees of freedom under N(0, 3), which has their variance: too wide in the middle, far
    /// too thin in the tails. The 80 % interval covers 88.69 %.
    HeavyTails,
    /// Poisson counts under N(λ, λ), λ = 4 exp(sin) with 50 steps a cycle, between 1.5 and 10.9: the forecast has neither
    /// the atoms nor the skewness. The 80 % interval covers 81.43 %, over whole cycles.
    Counts,
    /// The outcome's standard deviation is the exponential of a random walk with steps of 0.05; the forecast has the one of
    /// 50 steps ago. The 80 % interval covers 78.27 %.
    Volatility,
}

/// Steps in one cycle of [`Scenario::Drift`].
const DRIFT_CYCLE: f64 = 2000.0;
/// Steps by which the forecast lags in [`Scenario::Drift`].
const DRIFT_LAG: f64 = 200.0;
/// Steps by which the forecast lags in [`Scenario::Volatility`].
const VOLATILITY_LAG: usize = 50;

impl Scenario {
    /// Every scenario.
    pub const ALL: [Scenario; 12] = [
        Scenario::TwiceTooWide,
        Scenario::TenTimesTooWide,
        Scenario::FourTimesTooNarrow,
        Scenario::Perfect,
        Scenario::Regimes,
        Scenario::Heteroscedastic,
        Scenario::FixedPoint,
        Scenario::ScaleJump,
        Scenario::Drift,
        Scenario::HeavyTails,
        Scenario::Counts,
        Scenario::Volatility,
    ];

    /// A short name, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Scenario::TwiceTooWide => "twice-too-wide",
            Scenario::TenTimesTooWide => "ten-times-too-wide",
            Scenario::FourTimesTooNarrow => "four-times-too-narrow",
            Scenario::Perfect => "perfect",
            Scenario::Regimes => "regimes",
            Scenario::Heteroscedastic => "heteroscedastic",
            Scenario::FixedPoint => "fixed-point",
            Scenario::ScaleJump => "scale-jump",
            Scenario::Drift => "drift",
            Scenario::HeavyTails => "heavy-tails",
            Scenario::Counts => "counts",
            Scenario::Volatility => "volatility",
        }
    }

    /// The share of outcomes that the base forecaster's 80 % interval covers: exact in expectation, from the
    /// distributions above, rounded to four digits.
    pub fn base_coverage(self) -> f64 {
        match self {
            Scenario::TwiceTooWide => 0.9896,
            Scenario::TenTimesTooWide => 1.0,
            Scenario::FourTimesTooNarrow => 0.2513,
            Scenario::Perfect => 0.8,
            Scenario::Regimes => 0.6952,
            Scenario::Heteroscedastic => 0.5166,
            Scenario::FixedPoint => 0.9135,
            Scenario::ScaleJump => 0.5654,
            Scenario::Drift => 0.3885,
            Scenario::HeavyTails => 0.8869,
            Scenario::Counts => 0.8143,
            Scenario::Volatility => 0.7827,
        }
    }

    /// The stream. The first half of an odd number of steps is the shorter one.
    pub fn stream(self, steps: usize, seed: u64) -> Vec<Step> {
        let mut draws = Draws::new(seed);
        if self == Scenario::Volatility {
            return volatility(steps, &mut draws);
        }
        (0..steps).map(|t| self.step(t, steps, &mut draws)).collect()
    }

    fn step(self, t: usize, steps: usize, draws: &mut Draws) -> Step {
        let second_half = t >= steps / 2;
        let even = t.is_multiple_of(2);
        match self {
            Scenario::TwiceTooWide => Step { mean: 0.0, std: 2.0, outcome: draws.normal() },
            Scenario::TenTimesTooWide => Step { mean: 0.0, std: 10.0, outcome: draws.normal() },
            Scenario::FourTimesTooNarrow => Step { mean: 0.0, std: 0.25, outcome: draws.normal() },
            Scenario::Perfect => Step { mean: 0.0, std: 1.0, outcome: draws.normal() },
            Scenario::Regimes => {
                let narrow = (t / steps.div_ceil(8)).is_multiple_of(2);
                Step { mean: 0.0, std: 1.0, outcome: draws.normal() * if narrow { 0.4 } else { 2.5 } }
            }
            Scenario::Heteroscedastic => {
                let z = draws.normal();
                if even {
                    Step { mean: 0.0, std: 10.0, outcome: 10.0 * z }
                } else {
                    Step { mean: 0.0, std: 0.1, outcome: 0.1 * (0.3 * z - 1.5) }
                }
            }
            Scenario::FixedPoint => {
                let z = draws.normal();
                if even {
                    Step { mean: 0.0, std: 1.0, outcome: 0.5 * z - 0.6 }
                } else {
                    Step { mean: 1.0, std: 1.0, outcome: 0.5 * z + 1.6 }
                }
            }
            Scenario::ScaleJump => {
                Step { mean: 0.0, std: 1.0, outcome: draws.normal() * if second_half { 3.0 } else { 1.0 } }
            }
            Scenario::Drift => {
                let mean_at = |t: f64| 4.0 * libm::sin(std::f64::consts::TAU * t / DRIFT_CYCLE);
                let t = t as f64;
                Step { mean: mean_at(t - DRIFT_LAG), std: 1.0, outcome: mean_at(t) + draws.normal() }
            }
            Scenario::HeavyTails => {
                Step { mean: 0.0, std: libm::sqrt(3.0), outcome: draws.student_t_three() }
            }
            Scenario::Counts => {
                let rate = 4.0 * libm::exp(libm::sin(std::f64::consts::TAU * t as f64 / 50.0));
                Step { mean: rate, std: libm::sqrt(rate), outcome: draws.poisson(rate) }
            }
            Scenario::Volatility => unreachable!("a random walk is not made step by step"),
        }
    }
}

fn volatility(steps: usize, draws: &mut Draws) -> Vec<Step> {
    let mut walk = vec![0.0; steps + VOLATILITY_LAG];
    for t in 1..walk.len() {
        walk[t] = walk[t - 1] + 0.05 * draws.normal();
    }
    (0..steps)
        .map(|t| Step {
            mean: 0.0,
            std: libm::exp(walk[t]),
            outcome: libm::exp(walk[t + VOLATILITY_LAG]) * draws.normal(),
        })
        .collect()
}

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
    use truecast::Forecast;

    const STEPS: usize = 100_000;

    fn covered(step: &Step) -> bool {
        let (low, high) = step.forecast().interval(0.8).expect("0.8 is a coverage");
        (low..=high).contains(&step.outcome)
    }

    /// Five standard errors, and rounding in the fourth digit. Steps of all scenarios but one are independent, so a standard
    /// error is at most √(c(1−c)/T) (unequal shares have less variance than equal ones). The scales of Volatility overlap
    /// for 50 steps: their share of the variance is that of T/50 independent steps (correlations that fall linearly to 0
    /// over 50 steps on either side sum to 50), and coverage given the scales has a standard deviation of 0.16.
    #[test]
    fn base_interval_covers_what_the_documentation_says() {
        for scenario in Scenario::ALL {
            let stream = scenario.stream(STEPS, 1);
            assert_eq!(stream.len(), STEPS);
            let share = stream.iter().filter(|step| covered(step)).count() as f64 / STEPS as f64;
            let expected = scenario.base_coverage();
            let mut error = (expected * (1.0 - expected) / STEPS as f64).sqrt();
            if scenario == Scenario::Volatility {
                error += 0.16 / (STEPS as f64 / 50.0).sqrt();
            }
            let tolerance = 5.0 * error + 1e-4;
            assert!(
                (share - expected).abs() <= tolerance,
                "{}: covered {share}, documented {expected}, tolerance {tolerance}",
                scenario.name()
            );
        }
    }

    #[test]
    fn streams_depend_on_their_seed_alone() {
        for scenario in Scenario::ALL {
            let stream = scenario.stream(500, 7);
            assert_eq!(stream, scenario.stream(500, 7), "{}", scenario.name());
            assert_ne!(stream, scenario.stream(500, 8), "{}", scenario.name());
            for step in &stream {
                assert!(step.probit().is_finite() && step.std > 0.0, "{}: {step:?}", scenario.name());
            }
        }
    }

    /// The first outcomes of seed 0, as first written: a change of generator or of order would change every trajectory.
    #[test]
    fn draws_are_pinned() {
        let outcomes: Vec<f64> = Scenario::Perfect.stream(3, 0).iter().map(|s| s.outcome).collect();
        assert_eq!(outcomes, [-0.4549425975981144, -0.2996048385268692, -0.3594821681370765]);
    }

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
