//! Theorem 1, booked by somebody else: scores from what is announced alone, and the account from its definition.

use truecast::forecast::{AnyForecast, Forecast};
use truecast::normal;

/// How a kind of forecast is scored: its CRPS if it is normal, 2 × the mean pinball loss of its own quantiles if it has some, and otherwise that of 49.
#[derive(Debug, Clone)]
pub enum Scoring {
    /// The CRPS.
    Crps,
    /// Σ 2 w ρ_τ at τ = Φ(z).
    Quantiles {
        /// z.
        probits: Vec<f64>,
        /// w, τ and 1 − τ.
        weights: Vec<[f64; 3]>,
    },
}

impl Scoring {
    fn quantile_scores(probits: Vec<f64>, weight: impl Fn(usize) -> f64) -> Self {
        let row = |(k, &z): (usize, &f64)| [weight(k), normal::cdf(z), normal::sf(z)];
        let weights = probits.iter().enumerate().map(row).collect();
        Scoring::Quantiles { probits, weights }
    }

    /// The score that a forecast is held to.
    pub fn of(forecast: &AnyForecast) -> Self {
        match forecast {
            AnyForecast::Gaussian(_) => Scoring::Crps,
            AnyForecast::Quantiles(table) => {
                let probits: Vec<f64> = table.probabilities().iter().map(|p| normal::quantile(*p)).collect();
                let count = probits.len() as f64;
                Scoring::quantile_scores(probits, |_| 1.0 / count)
            }
            AnyForecast::Samples(ensemble) => {
                let count = ensemble.values().len() as f64;
                let probit = |k: usize| normal::quantile((k as f64 + 0.5) / count);
                Scoring::quantile_scores((0..ensemble.values().len()).map(probit).collect(), |_| 1.0 / count)
            }
            _ => {
                let probit = |k: i32| 6.0 * (f64::from(k) / 8.0).sinh() / 3.0_f64.sinh();
                let edge = |k: i32| match k {
                    -24 => 0.0,
                    25 => 1.0,
                    k => normal::cdf(0.5 * (probit(k - 1) + probit(k))),
                };
                let weight = |k: usize| edge(k as i32 - 23) - edge(k as i32 - 24);
                Scoring::quantile_scores((-24..=24).map(probit).collect(), weight)
            }
        }
    }

    /// The quantiles that are scored; none where the CRPS is.
    pub fn quantiles(&self, forecast: &dyn Forecast) -> Vec<f64> {
        match self {
            Scoring::Crps => Vec::new(),
            Scoring::Quantiles { probits, .. } => {
                let mut quantiles = vec![0.0; probits.len()];
                forecast.at_probits(probits, &mut quantiles);
                quantiles
            }
        }
    }

    /// The score of a forecast, of which these are the [`quantiles`](Scoring::quantiles).
    pub fn of_quantiles(&self, forecast: &dyn Forecast, quantiles: &[f64], y: f64) -> f64 {
        let Scoring::Quantiles { weights, .. } = self else { return forecast.crps(y) };
        let loss = |(&q, [weight, below, above]): (&f64, &[f64; 3])| {
            2.0 * weight * if y >= q { below * (y - q) } else { above * (q - y) }
        };
        quantiles.iter().zip(weights).map(loss).sum()
    }

    /// The score of a forecast.
    pub fn score(&self, forecast: &dyn Forecast, y: f64) -> f64 {
        self.of_quantiles(forecast, &self.quantiles(forecast), y)
    }

    /// What a forecast expects of its own score: σ/√π, or the mean over its quantiles.
    pub fn expected(&self, forecast: &dyn Forecast) -> f64 {
        let quantiles = self.quantiles(forecast);
        match self {
            Scoring::Crps => forecast.std() / std::f64::consts::PI.sqrt(),
            Scoring::Quantiles { weights, .. } => {
                let scores = quantiles.iter().map(|y| self.of_quantiles(forecast, &quantiles, *y));
                scores.zip(weights).map(|(score, [weight, ..])| score * weight).sum()
            }
        }
    }
}

/// The account: Σ_A [score(G) − score(F)] + Σ_P d ≤ ε Σ_A score(F) + ¼ m̄ − ½ lead.
#[derive(Debug, Clone, Default)]
pub struct Account {
    share: f64,
    base: f64,
    extra: f64,
    lead: f64,
    reserved: f64,
    expected: f64,
    issued: f64,
    most: f64,
}

impl Account {
    /// With share ε.
    pub fn new(share: f64) -> Self {
        Account { share, ..Account::default() }
    }

    /// A forecast is announced that expects this score of itself and reserves d.
    pub fn announce(&mut self, expected: f64, reserved: f64) {
        self.issued += 1.0;
        self.expected += expected;
        self.most = self.most.max(self.expected / self.issued);
        self.reserved += reserved;
    }

    /// Its outcome came, or never will.
    pub fn release(&mut self, reserved: f64) {
        self.reserved -= reserved;
    }

    /// The scores of F and G.
    pub fn settle(&mut self, base: f64, announced: f64) {
        self.base += base;
        self.extra += announced - base;
        self.lead = self.lead.max(-self.extra);
    }

    /// Theorem 1. Sums of some thousand terms, each of them known to 1e-12 of itself: 1e-9 of their size is rounding.
    pub fn check(&self, at: &str) {
        let bound = self.share * self.base + 0.25 * self.most - 0.5 * self.lead;
        let size = self.base + self.most + self.reserved.abs();
        assert!(
            self.extra + self.reserved <= bound + 1e-9 * size,
            "{at}: theorem 1 is broken\n{self:#?}\nbound {bound}"
        );
        // What the user is told.
        let most = self.share * self.base + 0.25 * self.most;
        assert!(self.extra <= most + 1e-9 * size, "{at}: behind by more than was promised\n{self:#?}");
    }

    /// Σ score(F), and Σ [score(G) − score(F)].
    pub fn sums(&self) -> (f64, f64) {
        (self.base, self.extra)
    }
}
