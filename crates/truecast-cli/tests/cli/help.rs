//! The help of every command, word for word. `UPDATE=1 cargo test -p truecast-cli --test cli help` writes the files anew: read them
//! as somebody would who meets the program for the first time.

use std::path::Path;

use crate::harness::Folder;

#[track_caller]
fn shows(name: &str, args: &[&str]) {
    let folder = Folder::new();
    let text = folder.run(args).ok().text();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/help/{name}.txt"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let line = text.lines().zip(known.lines()).find(|(new, old)| new != old);
    assert!(
        text == known,
        "{}: the first line that differs: {line:?}; UPDATE=1 writes it anew",
        path.display()
    );
}

#[test]
fn of_the_program() {
    shows("truecast", &["--help"]);
}

#[test]
fn of_every_command() {
    for command in [
        "demo",
        "calibrate",
        "resolve",
        "evaluate",
        "compare",
        "simulate",
        "certify",
        "explain",
        "optimize",
        "completions",
        "man",
    ] {
        shows(command, &[command, "--help"]);
    }
    shows("reproduce-uci", &["reproduce", "uci", "--help"]);
    shows("reproduce-bo", &["reproduce", "bo", "--help"]);
}

#[test]
fn short_and_long_ways_to_ask_agree() {
    let folder = Folder::new();
    let help = |args: &[&str]| folder.run(args).ok().stdout;
    assert_eq!(help(&["help", "calibrate"]), help(&["calibrate", "--help"]));
    assert!(help(&["calibrate", "-h"]).len() < help(&["calibrate", "--help"]).len());
}
