//! CSV, NDJSON and Parquet, plain or gzipped, from files and from standard input.

use std::io::Read;

use truecast_streams::Scenario;

use crate::harness::{Folder, Table, gzip};
use crate::reference::{csv, steps};

fn input() -> String {
    csv(&steps(Scenario::Volatility, 120, 8))
}

fn expected() -> Table {
    let folder = Folder::with("in.csv", input());
    folder.run(&["calibrate", "in.csv"]).ok().table()
}

#[test]
fn csv_as_people_write_it() {
    let (plain, expected) = (input(), expected());
    let crlf = plain.replace('\n', "\r\n");
    let quoted =
        plain.lines().map(|line| format!("\"{}\"\n", line.replace(',', "\",\""))).collect::<String>();
    let spaced = plain.replace("t,y,mean,std", " t , y,mean ,std");
    for (what, text) in [
        ("a byte order mark", format!("\u{feff}{plain}")),
        ("a byte order mark and quotes", format!("\u{feff}{quoted}")),
        ("Windows line ends", crlf),
        ("quotes", quoted),
        ("no line end at the end", plain.trim_end().to_owned()),
        ("blank lines", plain.replace("\n5,", "\n\n\n5,")),
        ("spaces in the header", spaced),
    ] {
        let folder = Folder::with("in.csv", text);
        assert_eq!(folder.run(&["calibrate", "in.csv"]).ok().table(), expected, "{what}");
    }
}

#[test]
fn the_separator_that_came_in_goes_out() {
    let (plain, expected) = (input(), expected());
    for separator in [';', '\t', '|'] {
        let folder = Folder::with("in.csv", plain.replace(',', &separator.to_string()));
        let text = folder.run(&["calibrate", "in.csv"]).ok().text();
        assert_eq!(Table::separated(&text, separator), expected, "{separator:?}");
        for name in ["out.tsv", "OUT.TSV"] {
            folder.run(&["calibrate", "in.csv", "-o", name]).ok();
            assert_eq!(Table::separated(&folder.read(name), '\t'), expected);
        }
    }
    let folder = Folder::with("in.csv", plain.replace(',', "~"));
    let text = folder.run(&["calibrate", "in.csv", "--separator", "~"]).ok().text();
    assert_eq!(Table::separated(&text, '~'), expected);
}

#[test]
fn cells_with_separators_quotes_and_line_ends_survive() {
    let row = "\"a, \"\"b\"\"\nc\",1,0,1";
    let folder = Folder::with("in.csv", format!("note,y,mean,std\n{row}\nplain,2,0,1\n"));
    let text = folder.run(&["calibrate", "in.csv"]).ok().text();
    assert!(text.starts_with("note,y,mean,std\n\"a, \"\"b\"\"\nc\",1,"), "{text}");
    folder.run(&["calibrate", "in.csv", "-o", "out.ndjson"]).ok();
    let first: serde_json::Value =
        serde_json::from_str(folder.read("out.ndjson").lines().next().unwrap()).unwrap();
    assert_eq!(first["note"], "a, \"b\"\nc");
    folder.write("bad.csv", format!("note,y,mean,std\n{row}\nplain,x,0,1\n"));
    let ran = folder.run(&["calibrate", "bad.csv"]);
    assert!(ran.stderr.contains("bad.csv, line 4, column y"), "the cell's line end is counted: {ran}");
}

/// Passing rows from format to format changes no number.
#[test]
fn formats_go_around_in_a_circle() {
    let folder = Folder::with("a.csv", input());
    folder.run(&["calibrate", "a.csv", "-o", "expected.csv"]).ok();
    for (from, to) in [
        ("a.csv", "b.ndjson"),
        ("a.csv", "c.parquet"),
        ("a.csv", "d.csv.gz"),
        ("a.csv", "e.ndjson.gz"),
        ("a.csv", "f.jsonl"),
        ("a.csv", "g.pq"),
        ("a.csv", "h.CSV.GZ"),
    ] {
        folder.run(&["calibrate", from, "-o", to]).ok();
        // The same scores come from every one of them, to the last digit.
        let scores = |name: &str| folder.run(&["evaluate", name, "-q"]).ok().text();
        assert_eq!(scores(to), scores("expected.csv"), "{to}");
        // And so does the same second run over it.
        let back = format!("{to}.csv");
        folder.run(&["calibrate", to, "-o", &back]).ok();
        let twice = folder.run(&["calibrate", "expected.csv"]).ok().table();
        assert_eq!(
            folder.table(&back).rows_of(&["y", "mean", "std"]),
            twice.rows_of(&["y", "mean", "std"]),
            "{to}"
        );
    }
}

#[test]
fn simulated_files_are_the_same_in_every_format() {
    let folder = Folder::new();
    for name in ["a.csv", "a.ndjson", "a.parquet", "a.csv.gz", "a.tsv"] {
        folder.run(&["simulate", "counts", "--steps", "300", "-o", name]).ok();
    }
    let calibrated = |name: &str| folder.run(&["calibrate", name, "--output-format", "csv"]).ok().text();
    let expected = calibrated("a.csv");
    for name in ["a.ndjson", "a.csv.gz"] {
        assert_eq!(calibrated(name), expected, "{name}");
    }
    assert_eq!(calibrated("a.tsv").replace('\t', ","), expected);
    let parquet = Table::read(&calibrated("a.parquet"));
    let names = ["t", "y", "mean", "std"];
    assert_eq!(parquet.rows_of(&names), Table::read(&expected).rows_of(&names));
    assert!(folder.bytes("a.csv.gz").starts_with(&[0x1f, 0x8b]));
    assert!(folder.bytes("a.parquet").starts_with(b"PAR1"));
}

#[test]
fn standard_input_is_recognised_by_its_first_bytes() {
    let folder = Folder::with("a.csv", input());
    folder.run(&["calibrate", "a.csv", "-q", "-o", "expected.csv"]).ok();
    for name in ["a.ndjson", "a.parquet"] {
        let identical = ["simulate", "volatility", "--steps", "120", "--seed", "8", "-o", name];
        folder.run(&identical).ok();
    }
    let plain = folder.bytes("a.csv");
    let names = ["y", "mean", "std"];
    let expected = folder.table("expected.csv").rows_of(&names);
    for (what, bytes) in [
        ("csv", plain.clone()),
        ("gzipped csv", gzip(&plain)),
        ("gzipped twice over, one after the other", [gzip(&plain[..500]), gzip(&plain[500..])].concat()),
        ("ndjson", folder.bytes("a.ndjson")),
        ("gzipped ndjson", gzip(folder.bytes("a.ndjson"))),
        ("parquet", folder.bytes("a.parquet")),
        ("gzipped parquet", gzip(folder.bytes("a.parquet"))),
    ] {
        let ran = folder.run_with(&["calibrate", "-", "--output-format", "csv"], &bytes).ok();
        assert_eq!(ran.table().rows_of(&names), expected, "{what}");
        ran.says(&["standard input: mean mean"]);
    }
}

#[test]
fn the_output_is_in_the_format_that_is_asked_for() {
    let folder = Folder::with("a.csv", input());
    folder.run(&["simulate", "iid", "--steps", "20", "-o", "a.parquet"]).ok();
    folder.run(&["simulate", "iid", "--steps", "20", "-o", "a.ndjson"]).ok();
    let stdout = |args: &[&str]| folder.run(&[&["calibrate"], args].concat()).ok().stdout;
    assert!(stdout(&["a.csv"]).starts_with(b"t,y,"));
    assert!(stdout(&["a.ndjson"]).starts_with(b"{\"t\":"));
    assert!(stdout(&["a.parquet"]).starts_with(b"t,y,"), "nobody wants Parquet on a terminal");
    assert!(stdout(&["a.parquet", "-o", "-"]).starts_with(b"t,y,"));
    assert!(stdout(&["a.csv", "--output-format", "parquet"]).starts_with(b"PAR1"));
    assert!(stdout(&["a.parquet", "--output-format", "ndjson"]).starts_with(b"{\"t\":"));
    folder.run(&["calibrate", "a.parquet", "-o", "no-ending"]).ok();
    assert!(folder.bytes("no-ending").starts_with(b"PAR1"));
    folder.run(&["calibrate", "a.csv", "-o", "x.csv", "--output-format", "ndjson"]).ok();
    assert!(folder.bytes("x.csv").starts_with(b"{"));
    folder.run(&["calibrate", "x.csv", "--format", "ndjson"]).ok();
}

#[test]
fn a_compressed_output_unpacks_to_the_plain_one() {
    let folder = Folder::with("a.csv", input());
    folder.run(&["calibrate", "a.csv", "-o", "b.csv.gz"]).ok();
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(&folder.bytes("b.csv.gz")[..]).read_to_end(&mut text).unwrap();
    assert_eq!(text, folder.run(&["calibrate", "a.csv"]).ok().stdout);
}

#[test]
fn a_table_without_rows_keeps_its_columns() {
    let folder = Folder::with("a.csv", "key,y,mean,std\n");
    let text =
        folder.run(&["calibrate", "a.csv", "--intervals", "80"]).ok().says(&["0 rows in 0 series"]).text();
    assert_eq!(text, "key,y,lo-80,hi-80\n");
    folder.run(&["calibrate", "a.csv", "-o", "a.parquet"]).ok();
    assert_eq!(folder.run(&["calibrate", "a.parquet"]).ok().text(), "key,y,mean,std\n");
}

#[test]
fn json_that_passes_through_is_the_same_to_the_byte() {
    let line = "{\"y\":1.50,\"mean\":0,\"std\":1,\"tags\":[1, {\"a\":null}],\"name\":\"\\u00e9\"}\n{\"std\":1,\"mean\":0}\n";
    let folder = Folder::with("a.ndjson", line);
    let text = folder.run(&["calibrate", "a.ndjson"]).ok().text();
    let first = text.lines().next().unwrap();
    assert!(
        first.starts_with("{\"y\":1.50,\"mean\":")
            && first.ends_with(",\"tags\":[1, {\"a\":null}],\"name\":\"\\u00e9\"}"),
        "{first}"
    );
    assert!(
        !text.lines().nth(1).unwrap().contains("\"y\""),
        "a field that a row lacks is not made up: {text}"
    );
}
