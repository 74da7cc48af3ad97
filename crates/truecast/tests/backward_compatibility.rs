//! What a stream saves, it loads: to the same bytes, and to the same future. Bytes of another form are refused in words.
//!
//! No form has been released, so none is kept. From the first release on, streams of every version lie in `snapshots/` and are loaded here.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use truecast::error::{Error, SnapshotError};
use truecast::expert::ExpertKind;
use truecast::forecast::{AnyForecast, Quantiles, Samples, StudentT};
use truecast::recalibrate::{AnyRecalibrator, Method};
use truecast::stream::{NEWEST_VERSION, Snapshot, envelope};
use truecast::{Forecast, Gaussian, GuardMode, Parameters, Pipeline, Stream, Ticket};
use truecast_streams::Scenario;

/// Steps before the snapshot; the last three outcomes and one in the middle are pending in it.
const BEFORE: usize = 150;
const AFTER: usize = 50;
const PENDING: [usize; 4] = [100, BEFORE - 3, BEFORE - 2, BEFORE - 1];

/// Forecasts of four kinds in turn, each with its outcome.
fn steps() -> Vec<(AnyForecast, f64)> {
    let steps = Scenario::Heteroscedastic.stream(BEFORE + AFTER, 9);
    let levels: Vec<f64> = (1..24).map(|k| f64::from(k) / 24.0).collect();
    let forecast = |t: usize, normal: Gaussian| -> AnyForecast {
        let values: Vec<f64> = levels.iter().map(|p| normal.quantile(*p)).collect();
        match t % 4 {
            0 => normal.into(),
            1 => Quantiles::new(&levels, &values).unwrap().into(),
            2 => Samples::new(&values).unwrap().into(),
            _ => StudentT::new(5.0, normal.mean(), normal.std()).unwrap().into(),
        }
    };
    steps.iter().enumerate().map(|(t, step)| (forecast(t, step.forecast()), step.outcome)).collect()
}

fn saved<R: Snapshot>(recalibrator: R) -> Stream<R, AnyForecast> {
    let mut stream = Stream::new(recalibrator);
    for (t, (forecast, outcome)) in steps()[..BEFORE].iter().enumerate() {
        let (ticket, _) = stream.issue(forecast.clone()).unwrap();
        if !PENDING.contains(&t) {
            stream.resolve(ticket, *outcome).unwrap();
        }
    }
    stream
}

/// Brings the outcomes that wait, and goes on; what is announced on the way, with all its digits.
fn go_on<R: Snapshot>(stream: &mut Stream<R, AnyForecast>) -> Vec<u64> {
    let steps = steps();
    let mut announced = Vec::new();
    for t in PENDING {
        stream.resolve(Ticket::from_number(t as u64), steps[t].1).unwrap();
    }
    for (forecast, outcome) in &steps[BEFORE..] {
        let (ticket, calibrated) = stream.issue(forecast.clone()).unwrap();
        announced.extend([0.01, 0.1, 0.5, 0.9, 0.99].map(|p| calibrated.quantile(p).to_bits()));
        stream.resolve(ticket, *outcome).unwrap();
    }
    announced
}

fn goes_on<R: Snapshot>(name: &str, recalibrator: R) {
    let mut stream = saved(recalibrator);
    let bytes = stream.to_bytes().unwrap();
    let mut loaded =
        Stream::<R, AnyForecast>::from_bytes(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(loaded.to_bytes().unwrap(), bytes, "{name}: loaded and saved again");
    assert_eq!(
        loaded.pending().collect::<Vec<_>>(),
        PENDING.map(|t| Ticket::from_number(t as u64)),
        "{name}"
    );
    assert_eq!(go_on(&mut loaded), go_on(&mut stream), "{name}: what is announced after loading");
    assert_eq!(loaded.to_bytes().unwrap(), stream.to_bytes().unwrap(), "{name}: at the end");
}

#[test]
fn every_method_loads_what_it_saves() {
    for method in Method::ALL {
        goes_on::<AnyRecalibrator>(method.name(), method.build(7).unwrap());
    }
}

#[test]
fn every_setting_loads_what_it_saves() {
    let builders = [
        ("defaults", Parameters::builder()),
        ("ledgers", Parameters::ledger()),
        ("paper", Parameters::paper(20).unwrap().seed(4)),
        ("strict", Parameters::builder().guard(GuardMode::Strict)),
        ("no guard", Parameters::builder().guard(GuardMode::Off)),
        ("no stop-loss", Parameters::builder().stop_loss(None)),
        ("bounds", Parameters::builder().bounds(-1e3, 1e3).lags(false)),
        (
            "everything",
            Parameters::builder().groups(2).threshold(0.5).half_life(60.0).randomised(true).seed(8),
        ),
    ];
    for (name, builder) in builders {
        goes_on(name, Pipeline::new(builder.build().unwrap()));
    }
    for &kind in ExpertKind::ALL {
        goes_on(kind.name(), Pipeline::new(Parameters::builder().experts(&[kind]).build().unwrap()));
    }
}

/// The first form of the default was called `ledger`, and held ledgers, memories and trust.
#[test]
fn bytes_of_an_earlier_form_are_refused_in_words() {
    let mut payload = postcard::to_allocvec("ledger").unwrap();
    payload.extend([0; 64]);
    let bytes = envelope::seal(b"TRUECAST", NEWEST_VERSION, &payload);
    let reason = "it holds the recalibrator ledger, not pipeline/mixture".to_owned();
    let refused = Stream::<Pipeline, Gaussian>::from_bytes(&bytes).err();
    assert_eq!(refused, Some(Error::Snapshot(SnapshotError::Malformed { reason })));
    let refused = Stream::<AnyRecalibrator, Gaussian>::from_bytes(&bytes).err().unwrap();
    assert_eq!(
        refused.to_string(),
        "snapshot payload does not decode: it holds the recalibrator ledger, not any"
    );
}
