//! Many series in one file are as many files.

use std::fmt::Write as _;

use truecast_streams::Scenario;

use crate::harness::{Folder, Table};
use crate::reference::steps;

const REGIONS: [&str; 3] = ["north", "south", "deep \"south\", west"];

/// Series of several scenarios, interleaved unevenly: `region,item,y,mean,std`.
fn interleaved() -> Vec<(String, String, String)> {
    let streams: Vec<_> = Scenario::ALL.iter().map(|&scenario| steps(scenario, 150, 9)).collect();
    let mut rows = Vec::new();
    let mut at = vec![0; streams.len()];
    for turn in 0..streams.len() * 150 {
        let k = turn * turn % streams.len();
        let Some(step) = streams[k].get(at[k]) else { continue };
        at[k] += 1;
        let cells = format!("{},{},{}", step.outcome, step.mean(), step.std());
        rows.push((REGIONS[k % 3].to_owned(), format!("i{}", k / 3), cells));
    }
    rows
}

fn quoted(cell: &str) -> String {
    if cell.contains(',') { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}

fn file(rows: &[(String, String, String)]) -> String {
    let mut text = "region,item,y,mean,std\n".to_owned();
    for (region, item, cells) in rows {
        writeln!(text, "{},{item},{cells}", quoted(region)).unwrap();
    }
    text
}

#[test]
fn interleaved_series_equal_each_series_alone() {
    let rows = interleaved();
    let folder = Folder::with("all.csv", file(&rows));
    for flags in [&[][..], &["--delay", "2"], &["--method", "sf-ogd"], &["--randomised", "--seed", "5"]] {
        let run = |name: &str| {
            folder.run(&[&["calibrate", name, "--key", "region,item"], flags].concat()).ok().text()
        };
        let all: Vec<String> = run("all.csv").lines().skip(1).map(str::to_owned).collect();
        assert_eq!(all.len(), rows.len());
        for region in REGIONS {
            for item in ["i0", "i2"] {
                let mine = |row: &&(String, String, String)| row.0 == region && row.1 == item;
                let alone: Vec<_> = rows.iter().filter(mine).cloned().collect();
                folder.write("one.csv", file(&alone));
                let start = format!("{},{item},", quoted(region));
                let expected: Vec<&String> = all.iter().filter(|line| line.starts_with(&start)).collect();
                let text = run("one.csv");
                assert!(text.lines().skip(1).eq(expected), "{region} {item} {flags:?}");
            }
        }
    }
}

#[test]
fn the_output_does_not_depend_on_threads() {
    let folder = Folder::with("all.csv", file(&interleaved()));
    let run = |threads: &str| {
        let args = ["calibrate", "all.csv", "--key", "item,region", "--threads", threads, "--scores"];
        let more = ["-o", "out.csv", "--state", "s", "--summary", "s.json"];
        folder.run(&[&args[..], &more[..]].concat()).ok();
        let files = ["out.csv", "s", "s.json"].map(|name| folder.bytes(name));
        std::fs::remove_file(folder.path("s")).unwrap();
        files
    };
    assert_eq!(run("1"), run("2"));
    assert_eq!(run("1"), run("5"));
}

#[test]
fn a_key_is_recognised_or_named_or_none() {
    let folder = Folder::with("a.csv", "unique_id,kind,y,mean,std\na,k,1,0,1\nb,k,3,0,1\na,l,1,0,1\n");
    let says = |flags: &[&str], words: &str| {
        let args = [&["calibrate", "a.csv"], flags].concat();
        folder.run(&args).ok().says(&[words, "3 rows in"]).table()
    };
    let two = says(&[], "series unique_id");
    let one = says(&["--key", "none"], "one series");
    let kinds = says(&["--key", "kind"], "series kind");
    let all = says(&["--key", "kind,unique_id"], "note: every row is a series of its own");
    let mean = |table: &Table| table.column("mean");
    assert_ne!(mean(&two), mean(&one));
    assert_ne!(mean(&two), mean(&kinds));
    assert_eq!(mean(&all)[0], mean(&all)[2], "nothing was learned");
}

/// Cells of composite keys are joined by a separator that no cell ends with by accident.
#[test]
fn composite_keys_do_not_run_together() {
    let folder = Folder::with("a.csv", "a,b,y,mean,std\nx,yz,5,0,1\nxy,z,1,0,1\n");
    folder.run(&["calibrate", "a.csv", "--key", "a,b"]).ok().says(&["2 rows in 2 series"]);
}

#[test]
fn a_key_is_the_same_key_in_every_format() {
    let folder = Folder::with("a.csv", "key,y,mean,std\n7,1,0,1\n7,3,0,1\n8,1,0,1\n");
    folder.run(&["calibrate", "a.csv", "--state", "csv.state", "-o", "a.ndjson"]).ok();
    folder.write("b.ndjson", "{\"key\":7,\"mean\":0,\"std\":1}\n{\"key\":\"7\",\"mean\":0,\"std\":1}\n");
    let ran = folder.run(&["calibrate", "b.ndjson", "--state", "csv.state", "--output-format", "csv"]).ok();
    let mean = ran.table().numbers("mean");
    assert!(mean[0] > 0.1 && mean[0] == mean[1], "{ran}");
}
