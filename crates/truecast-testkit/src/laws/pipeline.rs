//! The laws of what a protected recalibrator announces, over every kind of forecast.

use truecast::forecast::{AnyForecast, Forecast};
use truecast::{Groups, Recalibrator};

use super::distribution_laws;
use crate::account::{Account, Scoring};

/// Runs a stream, with each outcome known before the next forecast, and checks that whatever is announced is a distribution with a finite score, that it
/// loses no more than was reserved for it, and theorem 1 after every outcome with the share ε.
pub fn protected_laws<R: Recalibrator>(
    name: &str,
    mut recalibrator: R,
    share: f64,
    stream: &[(AnyForecast, f64)],
) {
    let mut account = Account::new(share);
    let mut plan = recalibrator.empty_plan();
    for (t, (forecast, y)) in stream.iter().enumerate() {
        let at = format!("{name}, step {t}, outcome {y}");
        if let Err(error) = recalibrator.plan(forecast, Groups::NONE, t as u64, &mut plan) {
            panic!("{at}: {error}");
        }
        let scoring = Scoring::of(forecast);
        account.announce(scoring.expected(forecast), plan.reserved());
        account.check(&at);
        let calibrated = plan.calibrated(forecast);
        is_a_distribution(&at, forecast, &calibrated, *y);
        // Many points each, so not at every step; over a normal base a jump of the map lies between two outcomes that may round to one score.
        if t % 40 == 39 && calibrated.as_curve().is_some() {
            distribution_laws(&at, &calibrated);
        }
        let (base, announced) = (scoring.score(forecast, *y), scoring.score(&calibrated, *y));
        assert!(base.is_finite() && announced.is_finite(), "{at}: scores {base} and {announced}");
        let rounding = 1e-9 * (base + announced);
        assert!(
            announced - base <= plan.reserved() + rounding,
            "{at}: {announced} after {base}, with {} reserved",
            plan.reserved()
        );
        recalibrator.announced(&plan);
        account.release(plan.reserved());
        recalibrator.resolve(&plan, forecast, *y).unwrap_or_else(|error| panic!("{at}: {error}"));
        account.settle(base, announced);
        account.check(&at);
    }
}

/// Finite, ordered and nested, quantiles inverse to probabilities, and a finite CRPS.
fn is_a_distribution(at: &str, base: &AnyForecast, calibrated: &dyn Forecast, y: f64) {
    let scores = [-3.5, -3.0, -2.0, -1.2, -0.6, -0.2, 0.0, 0.2, 0.6, 1.2, 2.0, 3.0, 3.5];
    let quantiles = scores.map(|z| calibrated.at_probit(z));
    assert!(quantiles.iter().all(|q| q.is_finite()), "{at}: quantiles {quantiles:?}");
    assert!(quantiles.is_sorted(), "{at}: quantiles cross: {quantiles:?}");
    let mut inner = (f64::INFINITY, f64::NEG_INFINITY);
    for coverage in [0.1, 0.5, 0.8, 0.9, 0.98, 0.999] {
        let (low, high) = calibrated.interval(coverage).unwrap();
        assert!(
            low <= high && low <= inner.0 && inner.1 <= high,
            "{at}: the interval of {coverage} is not nested"
        );
        inner = (low, high);
    }
    let width = quantiles[12] - quantiles[0];
    for (&z, &q) in scores.iter().zip(&quantiles) {
        // A jump of the distribution may fall on q, whose own rounding is 1e-12 of its place and of the width.
        let step = 1e-12 * (q.abs() + width);
        let (left, right) = (calibrated.probit_left(q - step), calibrated.probit(q + step));
        let slack = 1e-9 * (1.0 + z.abs());
        assert!(
            left <= z + slack && z <= right + slack,
            "{at}: quantile {q} of {z} lies between {left} and {right}"
        );
    }
    let (ends, far) =
        ((calibrated.cdf(f64::NEG_INFINITY), calibrated.cdf(f64::INFINITY)), base.quantile(0.5));
    assert_eq!(ends, (0.0, 1.0), "{at}: the ends of the line");
    for y in [y, far, quantiles[0], quantiles[12], y + 1e3 * width] {
        let crps = calibrated.crps(y);
        assert!(crps >= 0.0 && (crps.is_finite() || base.crps(y).is_infinite()), "{at}: crps {crps} at {y}");
    }
}
