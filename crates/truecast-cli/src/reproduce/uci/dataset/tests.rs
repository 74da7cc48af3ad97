#![allow(clippy::unwrap_used)]

use super::*;

fn folder(name: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    folder
}

fn rows(count: usize) -> String {
    (0..count).map(|k| format!("{k};1;2;3;4;5;6.5\r\n")).collect()
}

#[test]
fn what_is_missing_is_explained() {
    let folder = folder("qsar_fish_toxicity.csv", "");
    let error = Dataset::Aquatic.read(folder.path(), false).unwrap_err().to_string();
    assert!(error.contains("3 of 4 files are missing"), "{error}");
    assert!(error.contains("\"QSAR aquatic toxicity\", https://archive.ics.uci.edu/dataset/505"), "{error}");
    assert!(error.contains("head -n 10000 Features_Variant_1.csv") && error.contains("--data"), "{error}");
    assert!(!error.contains("fish"), "{error}");
}

#[test]
fn another_version_is_refused_with_both_hashes_unless_allowed() {
    let folder = folder("qsar_fish_toxicity.csv", &rows(11));
    let error = Dataset::Fish.read(folder.path(), false).unwrap_err().to_string();
    assert!(error.contains(FISH.sha256) && error.contains("--any-version"), "{error}");
    assert!(error.contains(&hex(&Sha256::digest(rows(11)))), "{error}");
    let table = Dataset::Fish.read(folder.path(), true).unwrap();
    assert_eq!((table.inputs.len(), table.inputs[3][0], table.outcomes[3]), (11, 3.0, 6.5));
}

#[test]
fn a_bad_cell_is_named_by_line_and_column() {
    let error = |last: &str| {
        let folder = folder("qsar_fish_toxicity.csv", &(rows(2) + last));
        let error = Dataset::Fish.read(folder.path(), true).unwrap_err().to_string();
        error.split_once("qsar_fish_toxicity.csv").unwrap().1.to_owned()
    };
    assert_eq!(error("1;2;3;x;5;6;7\n"), ", line 3, column 4: \"x\": this must be a finite number");
    assert_eq!(error("1;2;3;4;5;6;inf\n"), ", line 3, column 7: \"inf\": this must be a finite number");
    assert_eq!(error("1;2;3\n"), ", line 3: a row has 7 columns, this one 3");
    assert!(error("").contains(": 2 rows, more than one batch is needed"));
}

/// The whole file from UCI, with its line ends, gives the same text as the cut one.
#[test]
fn the_facebook_file_may_be_whole() {
    let line = |k: usize, end: &str| format!("{k}{}{end}", ",0".repeat(53));
    let text = |count, end| (0..count).map(|k| line(k, end)).collect::<String>();
    let whole = folder("Features_Variant_1.csv", &text(10_005, "\r\n"));
    let cut = folder("facebook_comment_volume_variant1_first10000.csv", &text(10_000, "\n"));
    let [whole, cut] = [whole, cut].map(|folder| Dataset::Facebook.read(folder.path(), true).unwrap());
    assert_eq!(whole, cut);
    assert_eq!(whole.outcomes.len(), 10_000);
}
