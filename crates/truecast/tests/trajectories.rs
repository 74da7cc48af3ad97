//! Pinned trajectories: what each configuration announces after 200 steps of a fixed stream, to the last bit.
//!
//! These numbers are right because the golden and the property tests say so; here they only must not move unnoticed. Where a
//! change of numbers is meant, put the printed ones in their place and say so in the changelog: saved streams will go on
//! differently after an upgrade.

// Helpers of tests: what is broken must stop the test that met it.
#![allow(clippy::expect_used, clippy::panic)]

use truecast::{Forecast, Gaussian, Groups, Pipeline, Parameters, Stream};
use truecast_streams::Scenario;

const STEPS: usize = 200;

/// Probabilities announced at the first, the middle and the last but one level for N(0, 1); quantiles 0.1, 0.5 and 0.9; the certificate's
/// potential and its bound; calibration error, regret and announced regret of each ledger.
fn trajectory(parameters: Parameters) -> Vec<f64> {
    let groups = parameters.group_count();
    let mut stream: Stream<Pipeline, Gaussian> = Stream::new(Pipeline::new(parameters));
    for (t, step) in Scenario::Volatility.stream(STEPS, 0).iter().enumerate() {
        // Every second step is in group 0, every third in group 1.
        let members: Vec<usize> = (0..groups).filter(|group| t % (group + 2) == 0).collect();
        let groups = Groups::of(&members).expect("few groups");
        let (ticket, _) = stream.issue_in(step.forecast(), groups).expect("a forecast");
        stream.resolve(ticket, step.outcome).expect("an outcome");
    }
    let certificate = stream.recalibrator().certificate();
    let (_, calibrated) = stream.issue(Gaussian::new(0.0, 1.0).expect("a forecast")).expect("a forecast");
    let announced = calibrated.map().announced();
    let mut numbers = vec![announced[0], announced[announced.len() / 2], announced[announced.len() - 2]];
    numbers.extend([0.1, 0.5, 0.9].map(|probability| calibrated.quantile(probability)));
    numbers.extend([certificate.potential, certificate.potential_bound]);
    for ledger in &certificate.ledgers {
        numbers.extend([ledger.calibration_error, ledger.regret]);
        numbers.extend(ledger.announced_regret);
    }
    numbers
}

#[track_caller]
fn assert_pinned(parameters: Parameters, pinned: &[f64]) {
    let got = trajectory(parameters);
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert!(bits(&got) == bits(pinned), "\n   got {got:?}\npinned {pinned:?}");
}

#[test]
fn default() {
    assert_pinned(
        Parameters::default(),
        &[
            3.335012623655764e-10,
            0.4594405005875591,
            0.9999994790727355,
            -0.9912829279724106,
            0.08769669369956194,
            1.1371422819934818,
            1.7321424960545404,
            2.603604049586243,
            0.0434746424616398,
            -1.2235191804107413,
            0.08509447496039024,
            0.04206382554700912,
            -0.7925195206710736,
            -0.490382954634939,
        ],
    );
}

#[test]
fn paper_randomised() {
    assert_pinned(
        Parameters::paper(20).expect("a resolution").build().expect("parameters"),
        &[
            0.05,
            0.45,
            0.9166666666666667,
            -1.6448536269514726,
            0.0,
            0.8416212335729144,
            4.617799999999999,
            4.617799999999999,
            0.12150000000000002,
            6.960000000000066,
        ],
    );
}

#[test]
fn paper_expected() {
    let builder = Parameters::paper(20).expect("a resolution").randomised(false);
    assert_pinned(
        builder.build().expect("parameters"),
        &[
            0.004826131621352089,
            0.4707917150416824,
            0.9171914960911498,
            -1.0364333894937894,
            0.0,
            1.0364333894937894,
            1.870105342946828,
            1.8701053429468288,
            0.09129219178537269,
            -0.10581217909025342,
        ],
    );
}

#[test]
fn groups_threshold_and_half_life() {
    let builder = Parameters::builder().groups(2).threshold(0.5).half_life(80.0);
    assert_pinned(
        builder.build().expect("parameters"),
        &[
            6.380356424677993e-10,
            0.47598797491414196,
            0.9999990033915924,
            -1.1235709807186163,
            0.09299158845442299,
            1.2458703687587653,
            5.5734837529402315,
            24.650095987870053,
            0.05906559363088681,
            2.1189036583628074,
            1.54424669647312,
            0.053997069672343405,
            -0.027848620206951388,
            -0.006372718738571113,
            0.06633925048143305,
            -0.7815045262688586,
            -0.12693817174165625,
            0.1245689476659281,
            2.7732171936173677,
            1.6315351365241364,
            0.2006113060044073,
            -0.11248570168868208,
            -0.09631219094481762,
        ],
    );
}
