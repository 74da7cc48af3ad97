//! At the ends of what doubles can hold the books still balance.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use truecast::recalibrate::{Groups, LedgerKind};
use truecast::{Error, Forecast, Gaussian, Parameters, Pipeline, Recalibrator, Stream};
use truecast_streams::Draws;

/// Runs 400 steps at a scale, and checks the certificate at each.
fn run(parameters: &Parameters, scale: f64) -> Result<(), Error> {
    let mut recalibrator = Pipeline::new(parameters.clone());
    let mut draws = Draws::new(1);
    let forecast = Gaussian::new(0.0, scale)?;
    for t in 0..400 {
        let calibrated = recalibrator.recalibrate(forecast)?;
        let quantiles = [-3.0, -1.0, 0.0, 1.0, 3.0].map(|z| calibrated.at_probit(z));
        assert!(
            quantiles.iter().all(|q| q.is_finite()) && quantiles.is_sorted(),
            "scale {scale}, step {t}: {quantiles:?}"
        );
        let outcome = forecast.at_probit(2.0 * draws.normal()).clamp(f64::MIN, f64::MAX);
        recalibrator.observe(&forecast, outcome)?;
        let certificate = recalibrator.certificate();
        assert!(certificate.holds(), "scale {scale}, step {t}: {certificate}");
    }
    let stream: Stream<Pipeline, Gaussian> = Stream::new(recalibrator);
    Stream::<Pipeline, Gaussian>::from_bytes(&stream.to_bytes()?).map(|_| ())
}

fn is_refused_or_right(parameters: &Parameters, scale: f64) {
    match run(parameters, scale) {
        Ok(()) | Err(Error::WidthOutOfRange { .. }) => {}
        Err(error) => panic!("scale {scale}: {error}"),
    }
}

/// Squares of widths below 1e-154 lose their digits, and below 1e-162 vanish.
#[test]
fn narrow_forecasts_are_refused_or_right() {
    for exponent in [-300, -200, -170, -160, -155, -150, -145, -140, -130, -100] {
        is_refused_or_right(&Parameters::default(), 10_f64.powi(exponent));
    }
    run(&Parameters::default(), 1e-100).unwrap();
    let width = 1e-200 * Parameters::default().levels().gaps()[0];
    assert_eq!(run(&Parameters::default(), 1e-200), Err(Error::WidthOutOfRange { level: 0, width }));
}

#[test]
fn wide_forecasts_are_refused_or_right() {
    for exponent in [100, 130, 139, 140, 150, 200, 300, 307] {
        is_refused_or_right(&Parameters::default(), 10_f64.powi(exponent));
    }
    run(&Parameters::default(), 1e100).unwrap();
}

/// A half-life multiplies weights, up to where they are rescaled.
#[test]
fn wide_forecasts_with_a_half_life_are_refused_or_right() {
    let parameters = Parameters::builder().half_life(1.0).build().unwrap();
    for exponent in [-140, -100, 50, 90, 100, 120, 139] {
        is_refused_or_right(&parameters, 10_f64.powi(exponent));
    }
}

/// The mixture reads widths too, where no ledger does.
#[test]
fn wide_forecasts_without_a_ledger_of_widths_are_refused_or_right() {
    let parameters = Parameters::builder().ledgers(&[LedgerKind::Uniform]).build().unwrap();
    for exponent in [-300, 100, 150, 200, 300, 307] {
        is_refused_or_right(&parameters, 10_f64.powi(exponent));
    }
    is_refused_or_right(&parameters, 1.7e308);
}

/// A group that has not been seen for a thousand half-lives is forgotten, not owed.
#[test]
fn a_group_that_is_long_gone_is_forgotten() {
    let parameters = Parameters::builder().groups(1).half_life(1.0).build().unwrap();
    let mut stream: Stream<Pipeline, Gaussian> = Stream::new(Pipeline::new(parameters));
    let mut draws = Draws::new(1);
    for t in 0..1500 {
        let group = if !(5..=1400).contains(&t) { Groups::of(&[0]).unwrap() } else { Groups::NONE };
        let (ticket, _) = stream.issue_in(Gaussian::new(0.0, 1.0).unwrap(), group).unwrap();
        stream.resolve(ticket, 2.0 * draws.normal()).unwrap();
        let certificate = stream.recalibrator().certificate();
        assert!(certificate.holds(), "step {t}: {certificate}");
    }
}

/// Two outcomes of 1.7e308 once made the sum of scores infinite; nothing could be announced or saved after that.
#[test]
fn outcomes_that_cannot_be_summed_are_refused() {
    let mut stream: Stream<Pipeline, Gaussian> = Stream::new(Pipeline::default());
    let forecast = Gaussian::new(0.0, 1.0).unwrap();
    for t in 0..20 {
        let refused = stream.observe(forecast, f64::MAX);
        assert!(
            matches!(refused, Err(Error::OutOfRange { what: "score of the base forecast", .. })),
            "{refused:?}"
        );
        stream.observe(forecast, if t % 2 == 0 { 1e289 } else { -0.3 }).unwrap();
        assert!(stream.recalibrator().certificate().holds());
    }
    Stream::<Pipeline, Gaussian>::from_bytes(&stream.to_bytes().unwrap()).unwrap();
}

/// The location 1e200 once made the affine expert's squares infinite: its features were 0 for ever, and its bytes were refused.
#[test]
fn locations_far_out_are_right() {
    for location in [1e100, 1e200, 1e307, f64::MAX] {
        let mut stream: Stream<Pipeline, Gaussian> = Stream::new(Pipeline::default());
        for t in 0..60 {
            let mean = if t % 2 == 0 { location } else { -location };
            let (ticket, _) = stream.issue(Gaussian::new(mean, 1.0).unwrap()).unwrap();
            // The forecasts are points beside their location, and always hit.
            stream.resolve(ticket, mean).unwrap();
            assert!(stream.recalibrator().certificate().holds());
        }
        Stream::<Pipeline, Gaussian>::from_bytes(&stream.to_bytes().unwrap()).unwrap();
    }
}
