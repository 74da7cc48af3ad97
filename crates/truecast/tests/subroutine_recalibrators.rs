//! Algorithm 1 over internal regret, defensive forecasting and the running mean keeps the laws of a recalibrator.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use truecast::grid::{Levels, Plays};
use truecast::recalibrate::{AlgorithmOne, AlgorithmOneParameters, MapShape};
use truecast::subroutine::{Defensive, InternalRegret, RunningMean, Subroutine};
use truecast_testkit::laws::recalibrator::{Start, recalibrator_laws};

fn keeps_the_laws<S: Subroutine + PartialEq>() {
    let paper = AlgorithmOneParameters::paper(20).unwrap();
    let expected = AlgorithmOneParameters { randomised: false, ..paper.clone() };
    let probit = AlgorithmOneParameters { shape: MapShape::Probit, ..expected.clone() };
    let wide =
        AlgorithmOneParameters { levels: Levels::default(), plays: Plays::default(), ..probit.clone() };
    for (form, start, parameters) in [
        ("paper", Start::Rounded, paper),
        ("expected plays", Start::Base, expected),
        ("probit map", Start::Base, probit),
        ("default grids", Start::Base, wide),
    ] {
        let make = || AlgorithmOne::<S>::new(parameters.clone(), Default::default()).unwrap();
        recalibrator_laws(&format!("{}, {form}", S::NAME), start, make, |_| ());
    }
}

#[test]
fn internal_regret() {
    keeps_the_laws::<InternalRegret>();
}

#[test]
fn defensive() {
    keeps_the_laws::<Defensive>();
}

#[test]
fn running_mean() {
    keeps_the_laws::<RunningMean>();
}
