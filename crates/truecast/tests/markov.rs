//! The generalised Markov inequality on streams: an overconfident base breaks it, the calibrated forecasts obey it.

#![expect(clippy::unwrap_used, reason = "a test's own data")]

use truecast::decision::{Loss, Newsvendor, expected_loss};
use truecast::monitor::{DEFAULT_RATIOS, MarkovMonitor};
use truecast::recalibrate::Guard;
use truecast::{Error, Forecast, Gaussian, Pipeline, Stream, normal, random};
use truecast_streams::Scenario;
use truecast_streams::adversary::{Adversary, IntervalStepper};

const STEPS: usize = 10_000;

/// The base's own order at 90 %, and the cost of the sales that it loses: non-negative and non-decreasing in the demand.
const SERVICE: f64 = 0.9;

struct Run {
    base: MarkovMonitor,
    calibrated: MarkovMonitor,
    /// Outcomes at or above the calibrated quantile at 1 − 1/r.
    above: Vec<u64>,
    stream: Stream<Pipeline, Gaussian>,
}

fn run(
    steps: impl Iterator<Item = Gaussian>,
    mut outcome: impl FnMut(&Gaussian, &dyn Forecast) -> f64,
) -> Run {
    let shortage = Newsvendor::new(1.0, 0.0).unwrap();
    let mut run = Run {
        base: MarkovMonitor::default(),
        calibrated: MarkovMonitor::default(),
        above: vec![0; DEFAULT_RATIOS.len()],
        stream: Stream::new(Pipeline::default()),
    };
    for forecast in steps {
        let (ticket, calibrated) = run.stream.issue(forecast).unwrap();
        let order = forecast.quantile(SERVICE);
        let estimates = (
            expected_loss(&forecast, &shortage, order).unwrap(),
            expected_loss(&calibrated, &shortage, order).unwrap(),
        );
        let y = outcome(&forecast, &calibrated);
        let loss = shortage.loss(y, order);
        run.base.observe(loss, estimates.0).unwrap();
        run.calibrated.observe(loss, estimates.1).unwrap();
        for (above, ratio) in run.above.iter_mut().zip(DEFAULT_RATIOS) {
            // P(Y ≥ y) ≤ 1/r, with the rounding of two ways to compute a probability.
            let exceeds = normal::sf(calibrated.probit_left(y)) <= 1.0 / ratio + 1e-9;
            *above += u64::from(exceeds);
            // The theorem's step: a loss of r times its estimate lies beyond the quantile at 1 − 1/r.
            assert!(exceeds || loss <= 0.0 || loss < ratio * estimates.1, "r = {ratio}, y = {y}");
        }
        run.stream.resolve(ticket, y).unwrap();
    }
    run
}

fn scenario(scenario: Scenario, seed: u64) -> Run {
    let stream = scenario.stream(STEPS, seed);
    let outcomes: Vec<f64> = stream.iter().map(|step| step.outcome).collect();
    let mut t = 0;
    run(stream.iter().map(|step| step.forecast()), move |_, _| {
        t += 1;
        outcomes[t - 1]
    })
}

/// N_r ≤ #{P_G(Y ≥ y_t) ≤ 1/r} holds by the theorem. For r = 5 and 10 an outcome beyond the quantile at 1 − 1/r is outside of a guarded interval with
/// that tail, of which there are 2T/r − a_k, a_k the guard's balance, up to outcomes that fall exactly on an end. Which of the two sides misses the guard
/// leaves to the experts: on streams that are not chosen against them the share is 1/r, up to three standard errors and a budget of b_k for learning.
fn obeys(run: &Run, what: &str, chosen: bool) {
    let guard = run.stream.recalibrator().guard().unwrap();
    let budgets: Vec<f64> = guard.budgets().collect();
    let rows = run.calibrated.rows() as f64;
    for (k, ratio) in DEFAULT_RATIOS.into_iter().enumerate() {
        let count = run.calibrated.count(k).unwrap();
        assert!(count <= run.above[k], "{what}: {count} {:?}", run.above);
        let tail = 1.0 / ratio;
        let Some(index) = Guard::coverages().position(|c| (c - (1.0 - 2.0 * tail)).abs() < 1e-9) else {
            continue;
        };
        let outside = 2.0 * tail * rows - guard.balances()[index];
        assert!(run.above[k] as f64 <= outside + 1.0, "{what}: r = {ratio}, {:?} of {outside}", run.above);
        if !chosen {
            let bound = tail * rows + 3.0 * (rows * tail * (1.0 - tail)).sqrt() + budgets[index];
            assert!(count as f64 <= bound, "{what}: r = {ratio}, {count} of {bound}\n{}", run.calibrated);
        }
    }
}

/// The base orders at its 90 % quantile, q = μ + 1.2816 σ, and estimates the lost sales at σ(φ − 0.1 · 1.2816) = 0.0473 σ.
/// FourTimesTooNarrow (σ = ¼, truth 1): the loss is at least r times that if y ≥ 0.3204 + 0.0118 r, with probability
/// 0.3525 and 0.3305 for r = 5 and 10, where 0.2 and 0.1 are allowed. Regimes (σ = 1, truth 0.4 or 2.5 in turn): y ≥ 1.2816 +
/// 0.0473 r, with probabilities (0.00007 + 0.2720)/2 = 0.136 for r = 5 and (0.00001 + 0.2412)/2 = 0.1206 for r = 10.
/// Five standard errors are 5 · 0.5/100 at most, which is 0.025, and for 0.1206 they are 5 √(0.1206 · 0.8794)/100 = 0.0163,
/// less than its distance from 0.1.
#[test]
fn an_overconfident_base_breaks_it_and_recalibration_restores_it() {
    for seed in 1..=3 {
        let narrow = scenario(Scenario::FourTimesTooNarrow, seed);
        for (k, share) in [(2, 0.3525), (3, 0.3305)] {
            assert!((narrow.base.share(k).unwrap() - share).abs() < 0.025, "{}", narrow.base);
            assert!(narrow.base.excess(k).unwrap() > 0.0 && narrow.base.ln_evidence(k).unwrap() > 100.0);
            let limit = narrow.base.limit(k, 0.01).unwrap().unwrap();
            assert!(narrow.base.count(k).unwrap() > limit);
        }
        obeys(&narrow, "narrow", false);

        let regimes = scenario(Scenario::Regimes, seed);
        assert!((regimes.base.share(3).unwrap() - 0.1206).abs() < 0.0163, "{}", regimes.base);
        assert!(regimes.base.excess(3).unwrap() > 0.0, "{}", regimes.base);
        obeys(&regimes, "regimes", false);

        for other in [Scenario::TwiceTooWide, Scenario::Perfect, Scenario::Drift, Scenario::Heteroscedastic] {
            obeys(&scenario(other, seed), other.name(), false);
        }
    }
}

/// On data chosen against the forecast, too: the adversary stays just outside of the 80 % interval.
#[test]
fn it_holds_against_an_adversary() {
    let mut adversary = IntervalStepper::new(0.8, 4.0, 1).unwrap();
    let forecasts = (0..STEPS).map(|_| Gaussian::new(0.0, 1.0).unwrap());
    let run = run(forecasts, |forecast, calibrated| adversary.outcome(forecast, calibrated));
    obeys(&run, "adversary", true);
}

/// Ville: with hits of probability exactly 1/r the count ever passes the limit at level δ = 0.05 with probability at most 0.05.
/// Of 400 runs of 2,000 steps, looked at after each of them, 20 are expected at most, with a standard deviation of
/// √(400 · 0.05 · 0.95) = 4.4: five of them make 42.
#[test]
fn the_evidence_is_valid_at_any_time() {
    for ratio in DEFAULT_RATIOS {
        let mut alarms = 0;
        for seed in 0..400 {
            let mut monitor = MarkovMonitor::new(&[ratio]).unwrap();
            let mut alarmed = false;
            for t in 0..2_000 {
                let hit = random::uniform(seed, t, 7) < 1.0 / ratio;
                // A hit loses r, r times the mean: Markov's inequality is tight.
                monitor.observe(if hit { ratio } else { 0.0 }, 1.0).unwrap();
                // It falls without a hit, so only hits need a look.
                alarmed |= hit && monitor.ln_evidence(0).unwrap() >= -libm::log(0.05);
            }
            alarms += u32::from(alarmed);
        }
        assert!(alarms <= 42, "r = {ratio}: {alarms}");
    }
}

/// The limit is the last count whose evidence is below 1/δ, by trying all of them; it lies above T/r and within a few standard
/// deviations of it.
#[test]
fn the_limit_is_where_the_evidence_crosses() {
    for rows in [0, 1, 10, 1_000] {
        for (k, ratio) in DEFAULT_RATIOS.into_iter().enumerate() {
            let with = |hits: u32| {
                let mut monitor = MarkovMonitor::default();
                for t in 0..rows {
                    monitor.observe(if t < hits { 1e9 } else { 0.0 }, 1.0).unwrap();
                }
                monitor
            };
            let limit = with(0).limit(k, 0.05).unwrap().unwrap();
            let below = |hits: u64| with(hits as u32).ln_evidence(k).unwrap() < -libm::log(0.05);
            assert!(below(limit), "{rows} {ratio}");
            assert!(limit == u64::from(rows) || !below(limit + 1), "{rows} {ratio}");
            let (n, p) = (f64::from(rows), 1.0 / ratio);
            assert!(limit as f64 >= (n * p).floor());
            assert!(limit as f64 <= n * p + 5.0 * (n * p * (1.0 - p)).sqrt() + 6.0, "{rows} {ratio} {limit}");
        }
    }
}

#[test]
fn saved_merged_shown_and_refused() {
    let (mut left, mut right, mut all) =
        (MarkovMonitor::default(), MarkovMonitor::default(), MarkovMonitor::default());
    assert_eq!(
        (all.share(0), all.excess(0), all.count(9), all.ln_evidence(0)),
        (None, Some(0.0), None, Some(0.0))
    );
    assert!(all.to_string().lines().count() == 6);
    for t in 0..100 {
        let loss = f64::from(t % 13);
        let half = if t % 2 == 0 { &mut left } else { &mut right };
        half.observe(loss, 2.0).unwrap();
        all.observe(loss, 2.0).unwrap();
    }
    left.merge(&right).unwrap();
    assert_eq!(left, all);
    let text = serde_json::to_string(&all).unwrap();
    assert_eq!(serde_json::from_str::<MarkovMonitor>(&text).unwrap(), all);
    assert!(serde_json::from_str::<MarkovMonitor>(&text.replace("\"rows\":100", "\"rows\":1")).is_err());
    assert!(all.to_string().contains("0.5000"), "{all}");

    // A certain loss of nothing is no event; a loss where none was thought possible is one, at every ratio.
    let before = all.clone();
    all.observe(0.0, 0.0).unwrap();
    assert_eq!(all.count(0), before.count(0));
    all.observe(0.1, 0.0).unwrap();
    assert_eq!(all.count(3), before.count(3).map(|count| count + 1));
    let before = all.clone();
    assert!(matches!(all.observe(-1.0, 1.0), Err(Error::OutOfRange { what: "loss", .. })));
    assert!(matches!(all.observe(1.0, f64::NAN), Err(Error::NotFinite { what: "estimate of the loss", .. })));
    assert_eq!(all, before);
    assert_eq!(
        MarkovMonitor::new(&[1.0, 2.0]),
        Err(Error::OutOfRange { what: "ratio", rule: "greater than 1", value: 1.0 })
    );
    assert!(matches!(MarkovMonitor::new(&[]), Err(Error::TooFew { what: "ratios", .. })));
    assert!(matches!(MarkovMonitor::new(&[5.0, 2.0]), Err(Error::NotIncreasing { what: "ratios", .. })));
    assert!(all.merge(&MarkovMonitor::new(&[2.0]).unwrap()).is_err());
    assert!(matches!(all.limit(0, 0.0), Err(Error::OutOfRange { what: "delta", .. })));
    assert_eq!(all.limit(9, 0.1), Ok(None));
}
