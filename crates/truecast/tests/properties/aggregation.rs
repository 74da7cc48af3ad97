//! Theorem 2: the mixture's regret to every expert, with its constant, when each outcome is known before the next forecast.
//!
//! ```text
//! ℓ(p) = Σ_j c_j (p_j − o_j)²,   c_j = .8 w_j + .2 (largest Σw so far)/M,   W = the largest Σc so far
//! Σ_t ℓ_t(p) − ℓ_t(e_k)  ≤  8W ln(16/π_k) + 2W             in one epoch
//!                         ≤  2.02 · 8W ln(24/π_k) + 2W      in any number: a new one starts where Σc > 64 times what it was at the start
//! ```

use proptest::prelude::*;
use truecast::expert::ExpertKind;
use truecast::{Forecast, Gaussian, Groups, GuardMode, Parameters, Pipeline, Recalibrator};

use super::streams::{Choice, config};

/// Weights before any outcome.
fn prior(kind: ExpertKind) -> f64 {
    if kind == ExpertKind::Base { 0.4 } else { 0.15 }
}

/// Keeps the regrets from what was said.
struct Regrets {
    kinds: Vec<ExpertKind>,
    sums: Vec<f64>,
    widest: f64,
    most: f64,
    /// Σc where the epoch started; 0 before any outcome.
    unit: f64,
    restarts: u32,
}

impl Regrets {
    fn new(kinds: &[ExpertKind]) -> Self {
        let kinds = kinds.to_vec();
        Regrets { sums: vec![0.0; kinds.len()], kinds, widest: 0.0, most: 0.0, unit: 0.0, restarts: 0 }
    }

    /// An outcome with score `z`: what each expert said and what they were mixed to, with the CRPS widths of the levels at `places`.
    fn learn(&mut self, places: &[f64], widths: &[f64], said: &[f64], mixed: &[f64], z: f64) {
        let count = places.len();
        let width: f64 = widths.iter().sum();
        self.widest = self.widest.max(width);
        let c: Vec<f64> = widths.iter().map(|w| 0.8 * w + 0.2 * self.widest / count as f64).collect();
        let total: f64 = c.iter().sum();
        self.most = self.most.max(total);
        if self.unit == 0.0 {
            self.unit = total;
        } else if total > 64.0 * self.unit {
            self.unit = total;
            self.restarts += 1;
        }
        let loss = |p: &[f64]| -> f64 {
            (0..count).map(|j| c[j] * (p[j] - f64::from(u8::from(z <= places[j]))).powi(2)).sum()
        };
        let ours = loss(mixed);
        for (sum, said) in self.sums.iter_mut().zip(said.chunks_exact(count)) {
            *sum += ours - loss(said);
        }
    }

    /// 1e-12 of W for the rounding of some hundred terms, each at most W.
    fn check(&self) {
        let total: f64 = self.kinds.iter().map(|kind| prior(*kind)).sum();
        for (kind, regret) in self.kinds.iter().zip(&self.sums) {
            let share = prior(*kind) / total;
            let bound = if self.restarts == 0 {
                8.0 * self.most * (16.0 / share).ln() + 2.0 * self.most
            } else {
                2.02 * 8.0 * self.most * (24.0 / share).ln() + 2.0 * self.most
            };
            let Regrets { most, restarts, .. } = self;
            assert!(
                *regret <= bound + 1e-9 * most,
                "{kind}: regret {regret}, bound {bound}, W {most}, {restarts} restarts"
            );
        }
    }

    /// The largest regret as a share of W.
    fn worst(&self) -> f64 {
        self.sums.iter().fold(0.0_f64, |worst, sum| worst.max(sum / self.most))
    }
}

/// Half the distance of the neighbouring levels, and the whole distance at the ends.
fn gaps(places: &[f64]) -> Vec<f64> {
    let last = places.len() - 1;
    let gap = |j: usize| match j {
        0 => places[1] - places[0],
        j if j == last => places[last] - places[last - 1],
        j => 0.5 * (places[j + 1] - places[j - 1]),
    };
    (0..=last).map(gap).collect()
}

/// Scores are chosen for or against an expert, or are anything.
#[derive(Debug, Clone, Copy)]
enum Against {
    /// In the cell in which this expert gains most on the mixture.
    Gain(usize),
    /// In the cell in which the mixture loses most.
    Loss,
    Chosen(Choice),
}

fn against() -> impl Strategy<Value = Against> {
    prop_oneof![
        3 => (0..5_usize).prop_map(Against::Gain),
        1 => Just(Against::Loss),
        2 => (-3.0..3.0).prop_map(|z| Against::Chosen(Choice::Score(z))),
        1 => prop_oneof![Just(1e300), Just(-1e300), -20.0..20.0].prop_map(|z| Against::Chosen(Choice::Score(z))),
    ]
}

/// A score within each cell.
fn cells(places: &[f64]) -> Vec<f64> {
    let mut cells = vec![places[0] - 0.5];
    cells.extend(places.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])));
    cells.push(places[places.len() - 1] + 0.5);
    cells
}

fn score(against: Against, places: &[f64], said: &[f64], mixed: &[f64]) -> f64 {
    let count = places.len();
    let loss = |p: &[f64], z: f64| -> f64 {
        (0..count).map(|j| (p[j] - f64::from(u8::from(z <= places[j]))).powi(2)).sum()
    };
    let most = |gain: &dyn Fn(f64) -> f64| {
        let all = cells(places).into_iter().map(|z| (z, gain(z)));
        all.fold((0.0, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best }).0
    };
    match against {
        Against::Gain(expert) => {
            let experts = said.len() / count;
            let said = &said[expert % experts * count..][..count];
            most(&|z| loss(mixed, z) - loss(said, z))
        }
        Against::Loss => most(&|z| loss(mixed, z)),
        Against::Chosen(Choice::Score(z)) => z,
        Against::Chosen(_) => 0.0,
    }
}

fn holds(parameters: &Parameters, steps: impl Iterator<Item = (f64, Against)>) -> f64 {
    let mut recalibrator = Pipeline::new(parameters.clone());
    let places = parameters.levels().probits().to_vec();
    let gaps = gaps(&places);
    let mut regrets = Regrets::new(parameters.experts());
    let mut plan = recalibrator.empty_plan();
    for (t, (scale, against)) in steps.enumerate() {
        let forecast = Gaussian::new(0.0, scale).unwrap();
        recalibrator.plan(&forecast, Groups::NONE, t as u64, &mut plan).unwrap();
        let z = score(against, &places, plan.said(), plan.mixed());
        let y = forecast.at_probit(z).clamp(-1e200, 1e200);
        recalibrator.announced(&plan);
        recalibrator.resolve(&plan, &forecast, y).unwrap();
        let widths: Vec<f64> = gaps.iter().map(|gap| gap * scale).collect();
        regrets.learn(&places, &widths, plan.said(), plan.mixed(), forecast.probit(y));
        regrets.check();
    }
    regrets.worst()
}

fn experts() -> impl Strategy<Value = Parameters> {
    let chosen = prop_oneof![
        2 => Just(ExpertKind::ALL.to_vec()),
        1 => prop::sample::subsequence(ExpertKind::ALL.to_vec(), 1..=4),
    ];
    (chosen, any::<bool>(), prop::option::of(5.0..100.0_f64)).prop_filter_map(
        "some beside the base",
        |(experts, lags, half_life)| {
            let mut builder = Parameters::builder().experts(&experts).lags(lags).guard(GuardMode::Off);
            if let Some(outcomes) = half_life {
                builder = builder.half_life(outcomes);
            }
            builder.build().ok().filter(|parameters| parameters.experts().len() > 1)
        },
    )
}

proptest! {
    #![proptest_config(config(200))]

    /// Scales from 1e-12 to 1e12: constant, drawn, and growing, which starts new epochs.
    #[test]
    fn theorem_2(
        parameters in experts(),
        steps in prop::collection::vec((-12.0..12.0_f64, against()), 1..200),
        spread in prop_oneof![Just(0.0), Just(0.1), Just(1.0)],
        growth in prop_oneof![3 => Just(0.0), 1 => Just(0.1), 1 => -0.1..0.3_f64],
        insisting in prop::option::of(against()),
    ) {
        let steps = steps.iter().enumerate().map(|(t, (exponent, against))| {
            let exponent = (spread * exponent + growth * t as f64).clamp(-60.0, 60.0);
            (10_f64.powf(exponent), insisting.unwrap_or(*against))
        });
        holds(&parameters, steps);
    }
}

/// The same adversary for long: within a seventh of the bound, as docs/theory.md has measured, so that a factor would be seen. 31.6 W and 39.4 W.
#[test]
fn insisting_for_long() {
    for expert in 0..5 {
        let worst = holds(&Parameters::default(), (0..1500).map(|_| (1.0, Against::Gain(expert))));
        assert!(worst <= 0.15 * 39.4, "expert {expert}: {worst} W");
    }
    holds(&Parameters::default(), (0..1500).map(|t| (1.02_f64.powi(t), Against::Gain(4))));
}
