//! `truecast reproduce bo` from end to end, small.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::process::Command;

use serde_json::Value;

const VARIANTS: [&str; 8] =
    ["plain", "paper", "ledger", "online", "online-scale", "kappa-1.5", "kappa-1", "anneal"];

#[test]
fn a_small_run_has_every_number_and_figure() {
    let folder = tempfile::tempdir().unwrap();
    let run = |threads: &str| -> (Value, String, Vec<u8>) {
        let (output, summary) = (folder.path().join("results"), folder.path().join("summary.json"));
        let mut run = Command::new(env!("CARGO_BIN_EXE_truecast"));
        run.args(["reproduce", "bo", "--seeds", "2", "--steps", "5", "--threads", threads]);
        let run = run.arg("--output").arg(&output).arg("--summary").arg(&summary).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let page = fs::read_to_string(output.join("index.html")).unwrap();
        for name in ["table.md", "ackley-2.svg", "six-hump-camel-wide.svg", "mccormick.svg"] {
            assert!(fs::metadata(output.join(name)).unwrap().len() > 1_000, "{name}");
        }
        (serde_json::from_slice(&fs::read(&summary).unwrap()).unwrap(), page, run.stdout)
    };
    let (summary, page, table) = run("2");
    assert_eq!(page.matches("<figure>").count(), 8);
    assert_eq!(summary.as_object().unwrap().len(), 8);
    for (benchmark, variants) in summary.as_object().unwrap() {
        assert_eq!(variants.as_object().unwrap().len(), VARIANTS.len());
        for variant in VARIANTS {
            let of = |key: &str| variants[variant][key].as_f64();
            for key in ["mean", "se", "stuck"] {
                assert!(of(key).is_some_and(f64::is_finite), "{benchmark} {variant} {key}");
            }
            let curve: Vec<f64> =
                variants[variant]["curve"].as_array().unwrap().iter().map(|y| y.as_f64().unwrap()).collect();
            assert_eq!(curve.len(), 6, "{benchmark} {variant}");
            assert!(curve.windows(2).all(|pair| pair[1] <= pair[0]), "{benchmark} {variant}");
            // Runs are paired: the same initial points, and a difference of means that is the mean of differences.
            assert_eq!(curve[0], variants["plain"]["curve"][0], "{benchmark} {variant}");
            let difference = of("mean").unwrap() - variants["plain"]["mean"].as_f64().unwrap();
            match of("paired_difference") {
                Some(paired) => {
                    // Rounding of sums of outcomes as large as 1e5.
                    assert!(
                        (paired - difference).abs() < 1e-9,
                        "{benchmark} {variant}: {paired} {difference}"
                    );
                }
                None => assert_eq!(variant, "plain"),
            }
        }
    }
    assert_eq!(summary["ackley-2"]["paper"]["paper_mean"], 8.313);
    // Runs are the same however many threads share them.
    assert!(run("1") == (summary, page, table));
}
