//! Monitors against numpy (`golden/scores.py`), and on forecasts with atoms.

use serde::Deserialize;
use truecast::monitor::{CalibrationScore, Coverage, PitHistogram, QuantileError, Scoreboard};
use truecast::{Forecast, normal, random};

#[derive(Deserialize)]
struct Golden {
    calibration_score: Calibration,
    pit_histogram: Histogram,
}

#[derive(Deserialize)]
struct Calibration {
    pits: Vec<f64>,
    score: f64,
}

#[derive(Deserialize)]
struct Histogram {
    counts: Vec<u64>,
    total_variation: f64,
    chi_square: f64,
}

/// 0 with probability 0.3, otherwise 1.
#[derive(Debug)]
struct Coin;

impl Forecast for Coin {
    fn cdf(&self, y: f64) -> f64 {
        if y < 0.0 {
            0.0
        } else if y < 1.0 {
            0.3
        } else {
            1.0
        }
    }

    fn sf(&self, y: f64) -> f64 {
        if y < 0.0 {
            1.0
        } else if y < 1.0 {
            0.7
        } else {
            0.0
        }
    }

    fn quantile(&self, probability: f64) -> f64 {
        if probability <= 0.3 { 0.0 } else { 1.0 }
    }

    fn probit_left(&self, y: f64) -> f64 {
        normal::probit(self.cdf(y.next_down()), self.sf(y.next_down()))
    }
}

/// 1e-13: sums of at most ten terms, with cancellation of one digit.
#[test]
fn golden_calibration() {
    let golden: Golden = serde_json::from_str(include_str!("golden/scores.json")).unwrap();
    let mut score = CalibrationScore::default();
    let mut histogram = PitHistogram::new(10).unwrap();
    for &pit in &golden.calibration_score.pits {
        score.observe(pit).unwrap();
        histogram.observe(pit).unwrap();
    }
    assert!((score.score().unwrap() / golden.calibration_score.score - 1.0).abs() < 1e-13);
    assert_eq!(histogram.counts(), golden.pit_histogram.counts);
    assert!(
        (histogram.total_variation().unwrap() / golden.pit_histogram.total_variation - 1.0).abs() < 1e-13
    );
    assert!((histogram.chi_square().unwrap() / golden.pit_histogram.chi_square - 1.0).abs() < 1e-13);
}

/// P(0) = 0.3, P(1) = 0.7. The 20 % interval runs from the 40 % to the 60 % quantile, which is the point 1; the 50 %
/// interval is [0, 1] and holds everything.
#[test]
fn atoms_are_counted_as_announced_or_split_at_random() {
    let forecast = Coin;
    let coverages = [0.2, 0.5];
    let mut announced = Coverage::new(coverages.to_vec(), 100.0).unwrap();
    let mut split = announced.clone();
    let mut quantiles = QuantileError::new(vec![0.1, 0.3, 0.5, 0.9]).unwrap();
    let mut board = Scoreboard::new(&coverages).unwrap();
    const ROWS: u32 = 10_000;
    let (mut held, mut ones) = ([0_u32; 2], 0);
    for t in 0..u64::from(ROWS) {
        let y = if random::uniform(5, t, 0) < 0.3 { 0.0 } else { 1.0 };
        let draw = random::uniform(5, t, random::ATOM_LANE);
        let z = forecast.randomised_probit(y, draw);
        announced.observe(&forecast, y).unwrap();
        split.observe_probit(z).unwrap();
        quantiles.observe_probit(z).unwrap();
        board.observe(&forecast, &forecast, y, draw).unwrap();
        for (count, coverage) in held.iter_mut().zip(coverages) {
            let (low, high) = forecast.interval(coverage).unwrap();
            *count += u32::from(low <= y && y <= high);
        }
        ones += u32::from(y > 0.5);
    }
    assert_eq!(held, [ones, ROWS]);
    for k in 0..2 {
        assert_eq!(announced.share(k), Some(f64::from(held[k]) / f64::from(ROWS)));
        assert_eq!(board.raw().coverage().share(k), announced.share(k));
        // Split at random the forecast is calibrated: five standard errors of a share of 10,000.
        assert!((split.share(k).unwrap() - coverages[k]).abs() < 5.0 * 0.5 / 100.0);
    }
    assert!(quantiles.largest().unwrap().1.abs() < 5.0 * 0.5 / 100.0);
    // The scoreboard splits too: expectation 0.82/n, and five times that.
    assert!(board.raw().calibration_score().score().unwrap() < 5.0 * 0.82 / f64::from(ROWS));
    assert_eq!(board.regret().regret(), 0.0);
}
