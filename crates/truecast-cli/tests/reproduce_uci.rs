//! `truecast reproduce uci` from end to end. Needs the four files at ../shared/data beside the clone; without them the test says so and passes.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const COLUMNS: [&str; 7] =
    ["raw", "tophat", "nonrandomised", "internal-regret", "approachability", "ledger", "ours"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_truecast"))
}

#[test]
fn without_files_it_says_where_to_get_them() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("no-such-neighbours");
    fs::create_dir(&place).unwrap();
    for given in [&["reproduce", "uci"][..], &["reproduce", "uci", "--data", "."]] {
        let output = command().args(given).current_dir(&place).output().unwrap();
        let words = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(words.contains("4 of 4 files are missing") && words.contains("hint: "), "{words}");
        assert!(words.contains("https://archive.ics.uci.edu/dataset/242"), "{words}");
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
    }
}

#[test]
fn the_table_holds_what_is_promised() {
    let data = root().join("../shared/data");
    if !data.is_dir() {
        eprintln!("skipped: the datasets are not at ../shared/data beside the clone");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (output, summary) = (folder.path().join("results"), folder.path().join("summary.json"));
    let mut run = command();
    run.args(["reproduce", "uci", "--seeds", "2", "--data"]).arg(&data);
    let run = run.arg("--output").arg(&output).arg("--summary").arg(&summary).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let table = String::from_utf8(run.stdout).unwrap();

    for name in ["index.html", "table.md", "facebook.svg", "energy-y1.svg"] {
        assert!(fs::metadata(output.join(name)).unwrap().len() > 1_000, "{name}");
    }
    let page = fs::read_to_string(output.join("index.html")).unwrap();
    assert_eq!(page.matches("<figure>").count(), 5);

    let summary: Value = serde_json::from_str(&fs::read_to_string(&summary).unwrap()).unwrap();
    let golden = fs::read_to_string(root().join("experiments/uci/raw_column.json")).unwrap();
    let golden: Value = serde_json::from_str(&golden).unwrap();
    // Largest score and largest change of CRPS against the base, of the default and of the ledgers alone: what was measured, and a tenth more. The default is the
    // more accurate one; the ledgers, which guard every level and not intervals alone, are the better calibrated.
    let promises = [
        ("aquatic", (0.0009, -0.015), (0.0005, -0.003)),
        ("fish", (0.0008, -0.006), (0.0002, -0.004)),
        ("energy-y1", (0.015, -0.25), (0.0031, -0.09)),
        ("energy-y2", (0.0040, -0.14), (0.0034, -0.05)),
        ("facebook", (0.0041, -0.09), (0.0001, -0.06)),
    ];
    for (dataset, experts, ledger) in promises {
        let of = |column: &str, key: &str| summary[dataset][column][key].as_f64().unwrap();
        for column in COLUMNS {
            for key in ["score", "score_se", "crps", "coverage80"] {
                assert!(of(column, key).is_finite(), "{dataset} {column} {key}\n{table}");
            }
        }
        // Scores and coverages are counts of outcomes, so they agree unless an outcome sits on a boundary within 1e-6.
        for (key, tolerance) in [("score", 1e-3), ("crps", 1e-5), ("coverage80", 1e-3)] {
            let (got, want) = (of("raw", key), golden[dataset]["raw"][key].as_f64().unwrap());
            assert!((got / want - 1.0).abs() < tolerance, "{dataset} {key}: {got}, scikit-learn {want}");
        }
        for (column, (most_score, most_change)) in [("ours", experts), ("ledger", ledger)] {
            assert!(of(column, "score") <= most_score, "{dataset} {column}\n{table}");
            let change = of(column, "crps") / of("raw", "crps") - 1.0;
            assert!(change <= most_change, "{dataset} {column}: {change}\n{table}");
        }
        for column in ["internal-regret", "approachability"] {
            assert!(of(column, "score") < of("raw", "score"), "{dataset} {column}\n{table}");
        }
    }
}
