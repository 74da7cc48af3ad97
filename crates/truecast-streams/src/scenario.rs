//! Streams of normal forecasts and outcomes fixed in advance, each wrong in one known way.

use std::fmt;
use std::str::FromStr;

use truecast::{Forecast, Gaussian};

use crate::volatility::Walk;
use crate::{Draws, UnknownName, demo};

/// One step of a stream: a normal forecast and what came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    forecast: Gaussian,
    /// The outcome.
    pub outcome: f64,
}

impl Step {
    /// The forecast, without the outcome.
    pub fn forecast(&self) -> Gaussian {
        self.forecast
    }

    /// Mean of the forecast.
    pub fn mean(&self) -> f64 {
        self.forecast.mean()
    }

    /// Standard deviation of the forecast.
    pub fn std(&self) -> f64 {
        self.forecast.std()
    }

    /// The probit score of the outcome, (outcome − mean)/std.
    pub fn probit(&self) -> f64 {
        self.forecast.probit(self.outcome)
    }
}

/// A stream by name. Every share below is of the base forecaster's own 80 % interval, over the whole stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
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
    /// A day of 24 steps, over and over: N(m, s²) announced with m and s of the hour, by a forecaster that looks honest and is not.
    /// Its noise is understated and depends on the hour more than it says, its bias drifts, and after 60 % of the run the
    /// noise grows by half. The 80 % interval covers 59.29 %, over whole days.
    Demo,
}

/// Steps in one cycle of [`Scenario::Drift`].
const DRIFT_CYCLE: f64 = 2000.0;
/// Steps by which the forecast lags in [`Scenario::Drift`].
const DRIFT_LAG: f64 = 200.0;

impl Scenario {
    /// Every scenario.
    pub const ALL: [Scenario; 13] = [
        Scenario::Demo,
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

    /// The name that people choose it by.
    pub fn name(self) -> &'static str {
        match self {
            Scenario::TwiceTooWide => "iid",
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
            Scenario::Demo => "demo",
        }
    }

    /// What is wrong with its forecaster, in one line.
    pub fn description(self) -> &'static str {
        match self {
            Scenario::TwiceTooWide => "independent outcomes, standard deviations twice too large",
            Scenario::TenTimesTooWide => "independent outcomes, standard deviations ten times too large",
            Scenario::FourTimesTooNarrow => "independent outcomes, standard deviations four times too small",
            Scenario::Perfect => "nothing is wrong: what recalibration costs",
            Scenario::Regimes => "standard deviations 2.5 times too large and too small, in turns",
            Scenario::Heteroscedastic => {
                "wide forecasts perfect, narrow ones biased: PIT calibration alone loses CRPS"
            }
            Scenario::FixedPoint => {
                "two forecasts in turn: a calibrated PIT is not calibrated at a fixed outcome"
            }
            Scenario::ScaleJump => "perfect, until outcomes jump to three times their scale in the middle",
            Scenario::Drift => "the mean moves away and back, and the forecast is 200 steps behind",
            Scenario::HeavyTails => "Student-t outcomes with 3 degrees of freedom under a normal forecast",
            Scenario::Counts => "Poisson counts under a normal forecast of the right mean and variance",
            Scenario::Volatility => "the scale is a random walk, and the forecast is 50 steps behind",
            Scenario::Demo => {
                "a daily cycle, overconfident, biased with a drift, and noisier after 60 % of the run"
            }
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
            Scenario::Demo => 0.5929,
        }
    }

    /// The stream, one step at a time and in constant memory.
    ///
    /// Some scenarios turn at a share of the run, so `steps` is part of what the stream is. The first half of an odd number of
    /// steps is the shorter one.
    pub fn steps(self, steps: usize, seed: u64) -> Steps {
        let mut draws = Draws::new(seed);
        let walk = (self == Scenario::Volatility).then(|| Walk::new(steps, &mut draws));
        Steps { scenario: self, steps, next: 0, draws, walk }
    }

    /// The whole stream.
    pub fn stream(self, steps: usize, seed: u64) -> Vec<Step> {
        self.steps(steps, seed).collect()
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Scenario {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        // The first scenario is also known by what is wrong with it, as its two neighbours are.
        let wanted = if name == "twice-too-wide" { Scenario::TwiceTooWide.name() } else { name };
        let found = Scenario::ALL.into_iter().find(|scenario| scenario.name() == wanted);
        found.ok_or_else(|| UnknownName::new("a scenario", name, Scenario::ALL.iter().map(|s| s.name())))
    }
}

/// The steps of a [`Scenario`], from [`Scenario::steps`].
#[derive(Debug, Clone)]
pub struct Steps {
    scenario: Scenario,
    steps: usize,
    next: usize,
    draws: Draws,
    walk: Option<Walk>,
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if self.next >= self.steps {
            return None;
        }
        let (mean, std, outcome) = self.step(self.next);
        self.next += 1;
        // All scenarios stay far within the range of `f64`; one that left it would end there.
        Some(Step { forecast: Gaussian::new(mean, std).ok()?, outcome })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.steps - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Steps {}

impl Steps {
    /// Mean, standard deviation and outcome of step `t`.
    fn step(&mut self, t: usize) -> (f64, f64, f64) {
        let draws = &mut self.draws;
        let second_half = t >= self.steps / 2;
        let even = t.is_multiple_of(2);
        match self.scenario {
            Scenario::TwiceTooWide => (0.0, 2.0, draws.normal()),
            Scenario::TenTimesTooWide => (0.0, 10.0, draws.normal()),
            Scenario::FourTimesTooNarrow => (0.0, 0.25, draws.normal()),
            Scenario::Perfect => (0.0, 1.0, draws.normal()),
            Scenario::Regimes => {
                let narrow = (t / self.steps.div_ceil(8)).is_multiple_of(2);
                (0.0, 1.0, draws.normal() * if narrow { 0.4 } else { 2.5 })
            }
            Scenario::Heteroscedastic => {
                let z = draws.normal();
                if even { (0.0, 10.0, 10.0 * z) } else { (0.0, 0.1, 0.1 * (0.3 * z - 1.5)) }
            }
            Scenario::FixedPoint => {
                let z = draws.normal();
                if even { (0.0, 1.0, 0.5 * z - 0.6) } else { (1.0, 1.0, 0.5 * z + 1.6) }
            }
            Scenario::ScaleJump => (0.0, 1.0, draws.normal() * if second_half { 3.0 } else { 1.0 }),
            Scenario::Drift => {
                let mean_at = |t: f64| 4.0 * libm::sin(std::f64::consts::TAU * t / DRIFT_CYCLE);
                let t = t as f64;
                (mean_at(t - DRIFT_LAG), 1.0, mean_at(t) + draws.normal())
            }
            Scenario::HeavyTails => (0.0, libm::sqrt(3.0), draws.student_t_three()),
            Scenario::Counts => {
                let rate = 4.0 * libm::exp(libm::sin(std::f64::consts::TAU * t as f64 / 50.0));
                (rate, libm::sqrt(rate), draws.poisson(rate))
            }
            Scenario::Volatility => {
                // Only this scenario has a walk; without one the scale would stand still.
                let (std, scale) = self.walk.as_mut().map_or((1.0, 1.0), Walk::next_scales);
                (0.0, std, scale * draws.normal())
            }
            Scenario::Demo => demo::step(t, self.steps, draws.normal()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                assert!(step.probit().is_finite() && step.std() > 0.0, "{}: {step:?}", scenario.name());
            }
        }
    }

    /// The first outcomes of seed 0, as first written: a change of generator or of order would change every trajectory.
    #[test]
    fn draws_are_pinned() {
        let outcomes: Vec<f64> = Scenario::Perfect.stream(3, 0).iter().map(|s| s.outcome).collect();
        assert_eq!(outcomes, [-0.4549425975981144, -0.2996048385268692, -0.3594821681370765]);
    }

    /// The same sums for the one stream that is not made from left to right: the walk is drawn first, then the outcomes.
    #[test]
    fn the_random_walk_is_pinned() {
        let stream = Scenario::Volatility.stream(60, 0);
        let mut draws = Draws::new(0);
        let mut walk = vec![0.0; 110];
        for t in 1..walk.len() {
            walk[t] = walk[t - 1] + 0.05 * draws.normal();
        }
        for (t, step) in stream.iter().enumerate() {
            assert_eq!(step.std(), libm::exp(walk[t]), "{t}");
            assert_eq!(step.outcome, libm::exp(walk[t + 50]) * draws.normal(), "{t}");
        }
    }

    #[test]
    fn every_scenario_has_a_name_that_leads_back_to_it_and_one_line_of_description() {
        for scenario in Scenario::ALL {
            assert_eq!(scenario.to_string().parse(), Ok(scenario));
            assert!(!scenario.description().contains('\n') && scenario.description().len() < 100);
            assert_eq!(Scenario::ALL.iter().filter(|other| other.name() == scenario.name()).count(), 1);
            assert_eq!(scenario.steps(5, 0).len(), 5);
        }
        assert_eq!("twice-too-wide".parse(), Ok(Scenario::TwiceTooWide));
        let error = "Demo".parse::<Scenario>().unwrap_err().to_string();
        assert!(error.starts_with("\"Demo\" is not a scenario; there are demo, iid, "), "{error}");
    }
}
