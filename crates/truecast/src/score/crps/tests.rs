//! The closed form of piecewise normal curves against 40-digit quadrature, and our quadrature against both.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde::Deserialize;

use super::*;
use crate::forecast::{Knot, ProbitCurve};
use crate::normal;

/// A curve that does not say it is one, so that only quadrature is left.
#[derive(Debug)]
struct Hidden(ProbitCurve);

impl Forecast for Hidden {
    fn cdf(&self, y: f64) -> f64 {
        normal::cdf(self.0.probit(y))
    }
    fn sf(&self, y: f64) -> f64 {
        normal::sf(self.0.probit(y))
    }
    fn quantile(&self, probability: f64) -> f64 {
        self.0.at_probit(normal::quantile(probability))
    }
    fn probit(&self, y: f64) -> f64 {
        self.0.probit(y)
    }
    fn probit_left(&self, y: f64) -> f64 {
        self.0.probit_left(y)
    }
    fn at_probit(&self, z: f64) -> f64 {
        self.0.at_probit(z)
    }
    fn kinks(&self, out: &mut Vec<f64>) {
        out.extend(self.0.knots().iter().map(|knot| knot.y));
    }
}

#[derive(Deserialize)]
struct Golden {
    curves: Vec<GoldenCurve>,
}

#[derive(Deserialize)]
struct GoldenCurve {
    name: String,
    knots: Vec<(f64, f64)>,
    lower: f64,
    upper: f64,
    outcomes: Vec<f64>,
    crps: Vec<f64>,
}

fn curve(knots: &[(f64, f64)], lower: f64, upper: f64) -> ProbitCurve {
    ProbitCurve::from_parts(knots.iter().map(|&(y, z)| Knot { y, z }).collect(), lower, upper)
}

#[test]
fn golden_curves_by_closed_form_and_by_quadrature() {
    let golden: Golden = serde_json::from_str(include_str!("../../../tests/golden/scores.json")).unwrap();
    assert!(golden.curves.len() >= 12);
    for case in golden.curves {
        let curve = curve(&case.knots, case.lower, case.upper);
        let hidden = Hidden(curve.clone());
        for (&y, &expected) in case.outcomes.iter().zip(&case.crps) {
            // Differences of antiderivatives as large as |z| ≤ 50 lose two of sixteen digits, a slope taken from a rise
            // of 0.05 another.
            let closed = curve.crps(y);
            assert!((closed / expected - 1.0).abs() < 1e-12, "{} at {y}: {closed} for {expected}", case.name);
            // The promise of `evaluate`.
            let integrated = evaluate(&hidden, y);
            assert!(
                (integrated / expected - 1.0).abs() < 1e-10,
                "{} at {y}: {integrated} for {expected}",
                case.name
            );
        }
    }
}

/// Non-decreasing knots with atoms and flat pieces among them, spreads that may be 0, and an outcome that may be on
/// a knot.
fn arbitrary() -> impl Strategy<Value = (ProbitCurve, f64)> {
    let steps = prop::collection::vec((0..4_u8, 1e-3..10.0_f64, 1e-3..1.5_f64), 0..8);
    (
        -20.0..20.0_f64,
        -3.0..1.0_f64,
        steps,
        0.0..3.0_f64,
        0.0..3.0_f64,
        -1.0..2.0_f64,
        any::<prop::sample::Index>(),
    )
        .prop_map(|(first_y, first_z, steps, lower, upper, place, index)| {
            let mut knots = vec![(first_y, first_z)];
            let (mut y, mut z) = (first_y, first_z);
            for (kind, dy, dz) in steps {
                y += if kind == 0 { 0.0 } else { dy };
                z += if kind == 1 { 0.0 } else { dz };
                knots.push((y, z));
            }
            // Below 0.3 the support ends.
            let spread = |s: f64| if s < 0.3 { 0.0 } else { s };
            let outcome =
                if place > 1.5 { index.get(&knots).0 } else { first_y + place * (y - first_y + 5.0) };
            (curve(&knots, spread(lower), spread(upper)), outcome)
        })
}

proptest! {
    // A fixed seed: the same cases everywhere, every time.
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// 1e-8 relative, as promised to users ten times over; the score itself may be tiny at an atom, hence the 1e-12.
    #[test]
    fn the_closed_form_equals_quadrature((curve, y) in arbitrary()) {
        let closed = curve.crps(y);
        let integrated = evaluate(&Hidden(curve.clone()), y);
        prop_assert!((closed - integrated).abs() <= 1e-8 * closed + 1e-12, "{} and {}", closed, integrated);
    }

    /// CRPS = 2 ∫ pinball dp. The midpoint rule on K = 20,000 probabilities misses at most the largest jump of the
    /// integrand, which is bounded by the range of the quantiles, times 2/K, and the tails beyond 1/2K: the range at
    /// Φ(±4.2) over K covers both.
    #[test]
    fn twice_the_pinball_loss_integrates_to_the_crps((curve, y) in arbitrary()) {
        const K: u32 = 20_000;
        let probabilities: Vec<f64> = (0..K).map(|k| (f64::from(k) + 0.5) / f64::from(K)).collect();
        let forecast = Hidden(curve);
        let quantiles: Vec<f64> = probabilities.iter().map(|&p| forecast.quantile(p)).collect();
        let mean = of_quantiles(&probabilities, &quantiles, y).unwrap();
        let range = forecast.at_probit(4.2).max(y) - forecast.at_probit(-4.2).min(y);
        let allowed = 4.0 * range / f64::from(K);
        let exact = forecast.0.crps(y);
        prop_assert!((mean - exact).abs() <= allowed, "{} and {}, allowed {}", mean, exact, allowed);
    }

    /// The sorted form, the energy form written out, and the fair form from it. 1e-12 of the members' range: a sum of
    /// at most 900 terms.
    #[test]
    fn ensemble_estimators_agree(members in prop::collection::vec(-1e3..1e3_f64, 2..30), y in -2e3..2e3_f64) {
        let m = members.len() as f64;
        let distance = members.iter().map(|x| (x - y).abs()).sum::<f64>() / m;
        let pairs: f64 = members.iter().flat_map(|a| members.iter().map(move |b| (a - b).abs())).sum();
        let energy = distance - 0.5 * pairs / (m * m);
        let fair = distance - 0.5 * pairs / (m * (m - 1.0));
        prop_assert!((of_ensemble(&members, y).unwrap() - energy).abs() < 1e-9);
        prop_assert!((of_ensemble_fair(&members, y).unwrap() - fair).abs() < 1e-9);
        // The empirical distribution as a curve of atoms: the integral form.
        let steps = EmpiricalSteps::new(members);
        let integral = evaluate(&steps, y);
        prop_assert!((integral / energy - 1.0).abs() < 1e-9, "{} and {}", integral, energy);
    }
}

/// The empirical distribution of an ensemble: nothing but atoms.
#[derive(Debug)]
struct EmpiricalSteps(Vec<f64>);

impl EmpiricalSteps {
    fn new(mut members: Vec<f64>) -> Self {
        members.sort_unstable_by(f64::total_cmp);
        EmpiricalSteps(members)
    }
}

impl Forecast for EmpiricalSteps {
    fn cdf(&self, y: f64) -> f64 {
        self.0.partition_point(|&x| x <= y) as f64 / self.0.len() as f64
    }
    fn sf(&self, y: f64) -> f64 {
        (self.0.len() - self.0.partition_point(|&x| x <= y)) as f64 / self.0.len() as f64
    }
    fn quantile(&self, probability: f64) -> f64 {
        let index = (probability * self.0.len() as f64).ceil() as usize;
        self.0[index.clamp(1, self.0.len()) - 1]
    }
    fn kinks(&self, out: &mut Vec<f64>) {
        out.extend_from_slice(&self.0);
    }
}

#[test]
fn outcomes_that_are_no_numbers() {
    let hidden = Hidden(curve(&[(0.0, 0.0)], 1.0, 1.0));
    assert!(evaluate(&hidden, f64::NAN).is_nan());
    assert_eq!(evaluate(&hidden, f64::NEG_INFINITY), f64::INFINITY);
    assert!(matches!(of(&hidden, f64::NAN), Err(Error::NotFinite { what: "outcome", .. })));
    assert!(of(&hidden, f64::INFINITY).is_err());
}
