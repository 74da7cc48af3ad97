//! Snapshots of every version that was ever written load, and go on as they would have then.
//!
//! `snapshots/<version>-<kind>.bin` is a stream with pending forecasts, `.json` beside it what it announced next. Both are
//! written once per version and never again; while a version is not yet released they can be written anew by
//! `cargo test --test backward_compatibility -- --ignored write`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use truecast::recalibrate::{AlgorithmOne, AlgorithmOneParameters};
use truecast::stream::{NEWEST_VERSION, Snapshot};
use truecast::subroutine::Approachability;
use truecast::{Forecast, Gaussian, Pipeline, Parameters, Stream, Ticket};
use truecast_streams::{Scenario, Step};
use truecast_testkit::golden;

/// Steps before the snapshot; the last three outcomes and one in the middle are pending in it.
const BEFORE: usize = 150;
const AFTER: usize = 50;
const PENDING: [usize; 4] = [100, BEFORE - 3, BEFORE - 2, BEFORE - 1];

/// What is pinned: the quantiles announced at each later step, in probit units of the base.
#[derive(Serialize, Deserialize)]
struct Pinned {
    steps_settled: u64,
    probabilities: Vec<f64>,
    quantiles: Vec<Vec<f64>>,
    potential: Option<f64>,
}

fn steps() -> Vec<Step> {
    Scenario::Heteroscedastic.stream(BEFORE + AFTER, 9)
}

fn path(version: u16, kind: &str, extension: &str) -> PathBuf {
    let file = format!("tests/snapshots/v{version}-{kind}.{extension}");
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file)
}

fn saved<R: Snapshot>(recalibrator: R) -> Vec<u8> {
    let mut stream: Stream<R, Gaussian> = Stream::new(recalibrator);
    for (t, step) in steps()[..BEFORE].iter().enumerate() {
        let (ticket, _) = stream.issue(step.forecast()).unwrap();
        if !PENDING.contains(&t) {
            stream.resolve(ticket, step.outcome).unwrap();
        }
    }
    stream.to_bytes().unwrap()
}

fn resumed<R: Snapshot>(bytes: &[u8], potential: fn(&R) -> Option<f64>) -> Pinned {
    let probabilities = vec![0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99];
    let steps = steps();
    let mut stream = Stream::<R, Gaussian>::from_bytes(bytes).unwrap();
    assert_eq!(stream.pending().collect::<Vec<_>>(), PENDING.map(|t| Ticket::from_number(t as u64)));
    for t in PENDING {
        stream.resolve(Ticket::from_number(t as u64), steps[t].outcome).unwrap();
    }
    let steps_settled = stream.recalibrator().steps();
    let mut quantiles = Vec::new();
    for step in &steps[BEFORE..] {
        let (ticket, calibrated) = stream.issue(step.forecast()).unwrap();
        let score = |p: &f64| step.forecast().probit(calibrated.quantile(*p));
        quantiles.push(probabilities.iter().map(score).collect());
        stream.resolve(ticket, step.outcome).unwrap();
    }
    Pinned { steps_settled, probabilities, quantiles, potential: potential(stream.recalibrator()) }
}

/// One kind of recalibrator that snapshots are kept of.
struct Kind {
    name: &'static str,
    write: fn() -> Vec<u8>,
    resume: fn(&[u8]) -> Pinned,
}

fn paper() -> Pipeline {
    Pipeline::new(Parameters::paper(20).unwrap().seed(4).build().unwrap())
}

fn approachability() -> AlgorithmOne<Approachability> {
    AlgorithmOne::new(AlgorithmOneParameters::paper(20).unwrap(), Default::default()).unwrap()
}

fn everything() -> Pipeline {
    let builder = Parameters::builder().groups(2).threshold(0.5).half_life(60.0).randomised(true).seed(8);
    Pipeline::new(builder.build().unwrap())
}

const KINDS: [Kind; 4] = [
    Kind {
        name: "ledger",
        write: || saved(Pipeline::default()),
        resume: |bytes| resumed(bytes, |r: &Pipeline| Some(r.certificate().potential)),
    },
    Kind {
        name: "ledger-options",
        write: || saved(everything()),
        resume: |bytes| resumed(bytes, |r: &Pipeline| Some(r.certificate().potential)),
    },
    Kind {
        name: "paper",
        write: || saved(paper()),
        resume: |bytes| resumed(bytes, |r: &Pipeline| Some(r.certificate().potential)),
    },
    Kind {
        name: "approachability",
        write: || saved(approachability()),
        resume: |bytes| resumed(bytes, |_: &AlgorithmOne<Approachability>| None),
    },
];

/// To 1e-9: the numbers were written by this code, but a compiler may round another way.
#[test]
fn old_snapshots_load_and_go_on() {
    for version in 1..=NEWEST_VERSION {
        for Kind { name, resume, .. } in KINDS {
            let file = path(version, name, "bin");
            let bytes = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let want: Pinned = golden::load(&path(version, name, "json"));
            let got = resume(&bytes);
            assert_eq!(got.steps_settled, want.steps_settled, "{name}");
            assert_eq!(got.probabilities, want.probabilities, "{name}");
            for (t, (got, want)) in got.quantiles.iter().zip(&want.quantiles).enumerate() {
                golden::assert_all_close(&format!("v{version}-{name}, step {t}"), got, want, 1e-9, 1e-9);
            }
            if let (Some(got), Some(want)) = (got.potential, want.potential) {
                golden::assert_close(&format!("v{version}-{name}, potential"), got, want, 1e-9, 0.0);
            }
        }
    }
}

/// What is written today is what was written then, so the version need not change. Sums may round another way.
#[test]
fn the_newest_layout_is_still_written() {
    for Kind { name, write, .. } in KINDS {
        let then = fs::read(path(NEWEST_VERSION, name, "bin")).unwrap();
        assert_eq!(write().len(), then.len(), "{name}: the layout has changed, so must the version");
    }
}

#[test]
#[ignore = "writes the snapshots of the newest version anew"]
fn write() {
    for Kind { name, write, resume } in KINDS {
        let bytes = write();
        let pinned = serde_json::to_string(&resume(&bytes)).unwrap();
        fs::create_dir_all(path(NEWEST_VERSION, name, "bin").parent().unwrap()).unwrap();
        fs::write(path(NEWEST_VERSION, name, "bin"), bytes).unwrap();
        fs::write(path(NEWEST_VERSION, name, "json"), pinned + "\n").unwrap();
    }
}
