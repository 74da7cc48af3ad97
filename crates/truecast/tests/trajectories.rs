//! Pinned trajectories: what each configuration announces after 200 steps of a fixed stream, to the last bit.
//!
//! These numbers are right because the golden and the property tests say so; here they only must not move unnoticed. Where a
//! change of numbers is meant, put the printed ones in their place and say so in the changelog: saved streams will go on
//! differently after an upgrade.

// Helpers of tests: what is broken must stop the test that met it.
#![allow(clippy::expect_used, clippy::panic)]

use truecast::{Forecast, Gaussian, Groups, GuardMode, Parameters, Pipeline, Recalibrator, Stream};
use truecast_streams::Scenario;

const STEPS: usize = 200;

/// Quantiles for N(0, 1) at seven levels; weights of the experts; what the stop-loss has booked; the guard's balances at 50, 80 and 98 %; the ledgers'
/// potential, and the calibration error and the regret of each.
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
    let recalibrator = stream.recalibrator();
    let certificate = recalibrator.certificate();
    let calibrated =
        recalibrator.recalibrate(Gaussian::new(0.0, 1.0).expect("a forecast")).expect("a forecast");
    let mut numbers: Vec<f64> =
        [0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999].map(|p| calibrated.quantile(p)).into();
    if recalibrator.method().experts().len() > 1 {
        numbers.extend(recalibrator.method().trusted().iter().map(|(_, weight)| *weight));
    }
    if let Some(account) = recalibrator.account() {
        numbers.extend([account.base(), account.extra(), account.lead(), account.largest_mean()]);
    }
    if let Some(guard) = recalibrator.guard() {
        numbers.extend([5, 7, 10].map(|k| guard.balances()[k]));
    }
    let ledgers = certificate.ledgers.expect("ledgers");
    numbers.push(ledgers.potential);
    numbers.extend(ledgers.ledgers.iter().flat_map(|ledger| [ledger.calibration_error, ledger.regret]));
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
            -3.881855506802263,
            -0.9675459665403445,
            -0.39722026945715516,
            0.11818554293585867,
            0.667062797300262,
            1.196643752895122,
            3.793859222989489,
            0.3313654916149564,
            0.11341570940531409,
            0.11990253442058159,
            0.15931274305874213,
            0.27600352150040575,
            33.30362578787845,
            -1.3558368627471267,
            1.4520949632773505,
            0.5641895835477563,
            2.000000000000016,
            3.000000000000016,
            -0.9999999999999964,
            1.7321424960545406,
            0.043474642461639804,
            -1.2235191804107417,
            0.04206382554700913,
            -0.7925195206710737,
        ],
    );
}

#[test]
fn ledgers_alone() {
    assert_pinned(
        Parameters::ledger().build().expect("parameters"),
        &[
            -4.711907047066016,
            -0.8148246714128975,
            -0.32620289384391016,
            0.07983804938122095,
            0.5327685084966068,
            1.032421112382009,
            3.6604267384283005,
            33.30362578787845,
            -0.9521067078697791,
            1.31899454067771,
            0.5641895835477563,
            1.1102230246251565e-14,
            -0.999999999999984,
            -1.9999999999999964,
            1.7321424960545406,
            0.043474642461639804,
            -1.2235191804107417,
            0.04206382554700913,
            -0.7925195206710737,
        ],
    );
}

#[test]
fn strict_guard() {
    assert_pinned(
        Parameters::builder().guard(GuardMode::Strict).build().expect("parameters"),
        &[
            -3.881855506802263,
            -0.9675459665403445,
            -0.39722026945715516,
            0.11818554293585867,
            0.667062797300262,
            1.196643752895122,
            3.793859222989489,
            0.3313654916149564,
            0.11341570940531409,
            0.11990253442058159,
            0.15931274305874213,
            0.27600352150040575,
            33.30362578787845,
            -1.3153500173506507,
            1.3893582357506147,
            0.5641895835477563,
            2.000000000000016,
            3.000000000000016,
            -0.9999999999999964,
            1.7321424960545406,
            0.043474642461639804,
            -1.2235191804107417,
            0.04206382554700913,
            -0.7925195206710737,
        ],
    );
}

#[test]
fn paper_randomised() {
    assert_pinned(
        Parameters::paper(20).expect("a resolution").build().expect("parameters"),
        &[
            -1.9599639845400538,
            -1.6448536269514726,
            -0.3853204664075677,
            0.0,
            0.5244005127080407,
            0.8416212335729144,
            1.6448536269514715,
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
            -1.9599639845400538,
            -1.0364333894937894,
            -0.3853204664075677,
            0.0,
            0.5244005127080407,
            1.0364333894937894,
            1.6448536269514715,
            1.8701053429468282,
            0.09129219178537269,
            -0.10581217909025176,
        ],
    );
}

#[test]
fn groups_threshold_and_half_life() {
    let builder = Parameters::builder().groups(2).threshold(0.5).half_life(80.0);
    assert_pinned(
        builder.build().expect("parameters"),
        &[
            -3.622634723626313,
            -0.9919876417291152,
            -0.4157859426301813,
            0.12338628389173675,
            0.6821387926848834,
            1.2117898484531782,
            3.6381501408958905,
            0.3440099365647275,
            0.08293228725005408,
            0.12469113833430341,
            0.16731069827594924,
            0.28105593957496566,
            33.30362578787845,
            -1.331896099998417,
            1.4279219882030663,
            0.5641895835477563,
            2.0000000000000124,
            3.000000000000016,
            -0.9999999999999964,
            5.573483752940232,
            0.059065593630886794,
            2.118903658362806,
            0.05399706967234343,
            -0.027848620206951315,
            0.06633925048143305,
            -0.7815045262688579,
            0.12456894766592813,
            2.773217193617367,
            0.20061130600440732,
            -0.11248570168868206,
        ],
    );
}
