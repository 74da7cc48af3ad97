//! Every recalibrator keeps the laws, at the defaults and at the edges of what its parameters allow.

use truecast::expert::ExpertKind;
use truecast::grid::{Levels, Plays};
use truecast::recalibrate::{AlgorithmOne, AlgorithmOneParameters, MapShape, ParametersBuilder, Protection};
use truecast::subroutine::{Approachability, LedgerRule, Subroutine};
use truecast::{GuardMode, Parameters, Pipeline};
use truecast_testkit::laws::recalibrator::{Start, recalibrator_laws};

#[expect(clippy::unwrap_used, reason = "parameters that are known to be valid")]
fn ledgers(name: &str, start: Start, builder: ParametersBuilder) {
    let parameters = builder.build().unwrap();
    let make = || Pipeline::new(parameters.clone());
    recalibrator_laws(name, start, make, |recalibrator| {
        let certificate = recalibrator.certificate();
        assert!(certificate.holds(), "{name}: {certificate}");
    });
}

#[expect(clippy::unwrap_used, reason = "parameters that are known to be valid")]
fn algorithm_one<S: Subroutine + PartialEq>(name: &str, randomised: bool, shape: MapShape) {
    let parameters =
        AlgorithmOneParameters { randomised, shape, ..AlgorithmOneParameters::paper(20).unwrap() };
    // The levels are plays, so nothing is there to be rounded at first, but for the last bit of a level.
    recalibrator_laws(
        name,
        if randomised { Start::Rounded } else { Start::Base },
        || AlgorithmOne::<S>::new(parameters.clone(), Default::default()).unwrap(),
        |_| (),
    );
}

#[test]
fn defaults() {
    ledgers("defaults", Start::Base, Parameters::builder());
}

#[test]
fn ledgers_alone() {
    ledgers("ledgers alone", Start::Base, Parameters::ledger());
    ledgers("ledgers, nothing else", Start::Base, Parameters::ledger().protection(Protection::NONE));
}

#[test]
fn every_expert_beside_the_base() {
    for &kind in ExpertKind::ALL {
        ledgers(kind.name(), Start::Base, Parameters::builder().experts(&[kind]));
    }
    ledgers("without lags", Start::Base, Parameters::builder().lags(false));
}

#[test]
fn protections() {
    ledgers("without stop-loss", Start::Base, Parameters::builder().stop_loss(None));
    ledgers("strict guard", Start::Base, Parameters::builder().guard(GuardMode::Strict));
    ledgers("no protection", Start::Base, Parameters::builder().protection(Protection::NONE));
    ledgers("bounds", Start::Base, Parameters::builder().bounds(-1e6, 1e6));
}

#[test]
fn without_guard() {
    ledgers("without guard", Start::Base, Parameters::builder().guard(GuardMode::Off));
}

#[test]
fn without_prior() {
    ledgers("without prior", Start::Base, Parameters::ledger().prior(0.0));
}

#[test]
fn paper() {
    ledgers("paper(20)", Start::Rounded, Parameters::paper(20).unwrap());
    ledgers("paper(20), expected plays", Start::Base, Parameters::paper(20).unwrap().randomised(false));
    ledgers("paper(20), guarded", Start::Rounded, Parameters::paper(20).unwrap().guard(GuardMode::Priced));
}

#[test]
fn groups_and_thresholds() {
    ledgers(
        "groups, thresholds",
        Start::Base,
        Parameters::builder().groups(3).threshold(0.5).threshold(-1e9),
    );
}

#[test]
fn half_life() {
    ledgers("half-life 50", Start::Base, Parameters::builder().half_life(50.0));
    // Weights grow by 2^300 within 300 steps, so the state is rescaled on the way.
    ledgers("half-life 1", Start::Base, Parameters::builder().half_life(1.0).groups(1));
}

#[test]
fn randomised() {
    ledgers("randomised", Start::Rounded, Parameters::builder().randomised(true).seed(3));
}

#[test]
fn unusual_grids() {
    let few = Parameters::builder()
        .levels(Levels::new(vec![-1.0, 1.0]).unwrap())
        .plays(Plays::probit(3, 1.0).unwrap());
    ledgers("2 levels, 3 play intervals", Start::Base, few);
    let one =
        Parameters::ledger().levels(Levels::new(vec![-0.1, 0.2]).unwrap()).plays(Plays::uniform(1).unwrap());
    ledgers("2 levels, 1 play interval", Start::Base, one);
    let many = Parameters::builder()
        .levels(Levels::stretched(101, 6.0, 3.0).unwrap())
        .plays(Plays::probit(64, 3.3).unwrap());
    ledgers("101 levels, 64 play intervals", Start::Base, many);
}

#[test]
fn algorithm_one_with_ledger_rule() {
    algorithm_one::<LedgerRule>("Algorithm 1, ledger rule, steps", true, MapShape::Step);
    algorithm_one::<LedgerRule>("Algorithm 1, ledger rule, probit", false, MapShape::Probit);
}

#[test]
fn algorithm_one_with_approachability() {
    algorithm_one::<Approachability>("Algorithm 1, approachability, steps", true, MapShape::Step);
    algorithm_one::<Approachability>("Algorithm 1, approachability, expected, steps", false, MapShape::Step);
    algorithm_one::<Approachability>("Algorithm 1, approachability, probit", true, MapShape::Probit);
}
