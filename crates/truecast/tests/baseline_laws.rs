//! The baselines keep the laws of a recalibrator.

#![allow(clippy::unwrap_used, reason = "parameters that are known to be valid")]

use truecast::grid::Levels;
use truecast::recalibrate::{IsotonicRegression, IsotonicRegressionParameters, Tophat};
use truecast::{Gaussian, Recalibrator, Stream};
use truecast_testkit::laws::recalibrator::{Start, recalibrator_laws};

#[test]
fn tophat() {
    for cells in [3, 20, 101] {
        let name = format!("tophat, {cells} cells");
        recalibrator_laws(
            &name,
            Start::Base,
            || Tophat::new(cells, 0).unwrap(),
            |tophat| {
                assert_eq!(tophat.counts().iter().sum::<u64>(), tophat.steps(), "{name}");
            },
        );
    }
}

#[test]
fn isotonic_regression() {
    let few = Levels::new(vec![-1.0, 1.0]).unwrap();
    // A half-life of 1 lets weights grow by 2^300 within 300 steps, so they are rescaled on the way.
    let cases = [
        ("defaults", Levels::default(), 200, None),
        ("half-life 50", Levels::default(), 200, Some(50.0)),
        ("half-life 1", Levels::default(), 7, Some(1.0)),
        ("2 levels, 1 bin", few, 1, None),
    ];
    for (name, levels, bins, half_life) in cases {
        let parameters = IsotonicRegressionParameters { levels, bins, half_life, seed: 3 };
        let make = || IsotonicRegression::new(parameters.clone()).unwrap();
        recalibrator_laws(&format!("isotonic, {name}"), Start::Base, make, |_| ());
    }
}

/// Snapshots say which method they hold.
#[test]
fn a_snapshot_of_one_method_is_not_loaded_as_another() {
    let mut stream: Stream<Tophat, Gaussian> = Stream::new(Tophat::default());
    stream.issue(Gaussian::new(0.0, 1.0).unwrap()).unwrap();
    let bytes = stream.to_bytes().unwrap();
    let error = Stream::<IsotonicRegression, Gaussian>::from_bytes(&bytes).unwrap_err();
    assert!(error.is_snapshot() && error.to_string().contains("tophat"), "{error}");
}
