//! `finite` against an independent implementation (`golden/finite.py`).

#![allow(clippy::unwrap_used, reason = "a test's own data")]

use std::path::Path;

use serde_json::Value;
use truecast::finite::{
    BinaryRecalibrator, Calibeating, PToP, PToPParameters, Scaling, ScalingFamily, ScalingParameters,
    Triangulation,
};
use truecast::grid::Plays;
use truecast::subroutine::LedgerRule;
use truecast_testkit::golden;

fn load() -> Value {
    golden::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/finite.json"))
}

fn announced<R: BinaryRecalibrator>(file: &Value, r: &mut R) -> Vec<f64> {
    let (base, event) = (golden::numbers(file, "/base"), golden::numbers(file, "/event"));
    base.iter().zip(event).map(|(&p, o)| r.observe(p, o > 0.5).unwrap()).collect()
}

#[test]
fn announcements_match() {
    let file = load();
    let got = announced(&file, &mut Calibeating::new(7).unwrap());
    golden::assert_all_close("calibeating", &got, &golden::numbers(&file, "/calibeating"), 1e-9, 1e-12);
    let parameters =
        PToPParameters { cells: 5, plays: Plays::uniform(8).unwrap(), randomised: false, seed: 0 };
    let got = announced(&file, &mut PToP::<LedgerRule>::new(parameters, Default::default()).unwrap());
    golden::assert_all_close("p-to-p", &got, &golden::numbers(&file, "/ledger"), 1e-9, 1e-9);
}

/// 1e-7, because the oracle scans for the least curvature and projects by a general optimiser.
#[test]
fn scalings_match() {
    let file = load();
    for (family, name) in [(ScalingFamily::Platt, "platt"), (ScalingFamily::Beta, "beta")] {
        let mut r = Scaling::new(ScalingParameters::of(family)).unwrap();
        let got = announced(&file, &mut r);
        golden::assert_all_close(
            name,
            &got,
            &golden::numbers(&file, &format!("/{name}/announced")),
            1e-7,
            1e-7,
        );
        let theta = golden::numbers(&file, &format!("/{name}/theta"));
        golden::assert_all_close(name, r.coefficients(), &theta, 1e-7, 1e-7);
    }
}

#[test]
fn locations_match() {
    let file = load();
    for case in file["locations"].as_array().unwrap() {
        let (outcomes, resolution): (usize, usize) =
            (golden::decode(case, "/outcomes"), golden::decode(case, "/resolution"));
        let t = Triangulation::new(outcomes, resolution).unwrap();
        let (vertices, (_, at)) = (t.vertices(), t.locate(&golden::numbers(case, "/point")));
        let corners: Vec<Vec<u16>> = golden::decode(case, "/corners");
        for (corner, want) in corners.iter().zip(golden::numbers(case, "/weights")) {
            let here = (0..outcomes).find(|&k| vertices[at.vertices[k] as usize][..outcomes] == corner[..]);
            let got = here.map(|k| at.weights[k]);
            golden::assert_close(
                &format!("{corner:?} of {case}"),
                got.unwrap_or(f64::NAN),
                want,
                1e-9,
                1e-12,
            );
        }
    }
}
