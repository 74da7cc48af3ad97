//! A run that goes on where another stopped, whatever stopped it.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use truecast::recalibrate::Method;
use truecast_streams::Scenario;

use crate::harness::{Folder, Ran};
use crate::reference::{csv, steps};

const HEADER: &str = "key,g,t,known,y,mean,std\n";

/// Three series with groups and times; every eleventh row lacks its outcome.
fn lines(count: usize) -> Vec<String> {
    let steps = steps(Scenario::Regimes, count, 12);
    let line = |(t, step): (usize, &truecast_streams::Step)| {
        let outcome = if t % 11 == 5 { String::new() } else { step.outcome.to_string() };
        let (key, group, known) = (["a", "b", "c"][t * t % 3], ["x", "y"][t % 2], t + t * 7 % 13);
        format!("{key},{group},{t},{known},{outcome},{},{}\n", step.mean(), step.std())
    };
    steps.iter().enumerate().map(line).collect()
}

/// Cuts the rows at these places, runs the pieces one after the other, and puts their outputs together.
fn pieces(folder: &Folder, lines: &[String], cuts: &[usize], flags: &[&str]) -> (String, Vec<u8>) {
    let mut output = String::new();
    let mut from = 0;
    for &to in cuts.iter().chain([&lines.len()]) {
        folder.write("in.csv", format!("{HEADER}{}", lines[from..to].concat()));
        let args = [&["calibrate", "in.csv", "--state", "s.state", "-o", "out.csv"], flags].concat();
        folder.run(&args).ok();
        let text = folder.read("out.csv");
        let (header, rows) = text.split_once('\n').unwrap();
        if output.is_empty() {
            writeln!(output, "{header}").unwrap();
        }
        output.push_str(rows);
        from = to;
    }
    let state = folder.bytes("s.state");
    std::fs::remove_file(folder.path("s.state")).unwrap();
    (output, state)
}

#[track_caller]
fn splits_agree(count: usize, flags: &[&str]) {
    let (folder, lines) = (Folder::new(), lines(count));
    let whole = pieces(&folder, &lines, &[], flags);
    for cuts in [&[1][..], &[count / 2], &[3, 4], &[count / 3, count - 1]] {
        let cut = pieces(&folder, &lines, cuts, flags);
        assert_eq!(whole.0, cut.0, "{flags:?} cut at {cuts:?}");
        assert!(whole.1 == cut.1, "the states differ: {flags:?} cut at {cuts:?}");
    }
}

#[test]
fn runs_in_a_row_are_one_run() {
    for flags in [
        &[][..],
        &["--key", "none"],
        &["--delay", "3"],
        &["--known", "known", "--made", "t"],
        &["--known", "known", "--made", "t", "--key", "none"],
        &["--ledger", "group=g:2"],
        &["--form", "point", "--point", "mean"],
        &["--form", "point", "--point", "mean", "--delay", "2", "--half-life", "30"],
        &["--threshold", "0.5", "--half-life", "50", "--randomised", "--seed", "9"],
        &["--preset", "paper"],
    ] {
        splits_agree(150, flags);
    }
}

#[test]
fn runs_in_a_row_are_one_run_for_every_method() {
    for method in Method::ALL {
        splits_agree(60, &["--method", method.name(), "--key", "none"]);
    }
}

#[test]
fn a_batch_boundary_changes_nothing() {
    // Batches have 16,384 rows: cut on, before and after their ends.
    let (folder, lines) = (Folder::new(), lines(40_000));
    let whole = pieces(&folder, &lines, &[], &["--delay", "1"]);
    assert!(whole == pieces(&folder, &lines, &[16_383, 33_000], &["--delay", "1"]));
}

/// A file that takes a while, its state after an earlier run, and what a whole run over it must give.
struct LongRun {
    folder: Folder,
    state: Vec<u8>,
    expected: Vec<u8>,
    took: Duration,
}

// Both files count their rows from 0: that is no time.
const LONG: [&str; 9] =
    ["calibrate", "long.csv", "-q", "--about", "none", "--state", "s.state", "-o", "out.csv"];

impl LongRun {
    fn new(rows: usize) -> Self {
        let folder = Folder::with("first.csv", csv(&steps(Scenario::Demo, 100, 1)));
        folder.write("long.csv", csv(&steps(Scenario::Demo, rows, 2)));
        folder
            .run(&["calibrate", "first.csv", "--about", "none", "--state", "s.state", "-o", "out.csv"])
            .ok();
        let state = folder.bytes("s.state");
        let start = Instant::now();
        folder.run(&LONG).ok();
        let took = start.elapsed();
        let expected = folder.bytes("out.csv");
        let run = LongRun { folder, state, expected, took };
        run.reset();
        run
    }

    fn reset(&self) {
        self.folder.write("s.state", &self.state);
        self.folder.write("out.csv", "the output before");
    }

    /// The old files stand as they were.
    #[track_caller]
    fn untouched(&self) {
        assert!(self.folder.bytes("s.state") == self.state);
        assert_eq!(self.folder.read("out.csv"), "the output before");
    }

    #[track_caller]
    fn again(&self) {
        self.folder.run(&LONG).ok();
        assert!(self.folder.bytes("out.csv") == self.expected);
    }
}

#[test]
fn a_run_that_is_killed_leaves_the_old_files_and_can_be_repeated() {
    let long = LongRun::new(300_000);
    for part in [0.1, 0.4, 0.7] {
        let mut child = long.folder.command(&LONG).spawn().unwrap();
        std::thread::sleep(long.took.mul_f64(part));
        let ended = child.try_wait().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        if ended.is_some() {
            // The machine was quicker than before: there was nothing to interrupt.
            long.reset();
            continue;
        }
        long.untouched();
        long.again();
        long.reset();
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_run_cleanly() {
    let long = LongRun::new(300_000);
    let mut command = long.folder.command(&["calibrate", "-", "--state", "s.state", "-o", "out.csv"]);
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The input stays open, so the run cannot end by itself; that it listens is told by its first words.
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, b"y,mean,std\n1,0,1\n").unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut words = String::new();
    stderr.read_line(&mut words).unwrap();
    assert!(words.starts_with("standard input: mean mean"), "{words}");
    let pressed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(pressed.success());
    let status = child.wait().unwrap();
    words.clear();
    stderr.read_line(&mut words).unwrap();
    assert_eq!((status.code(), words.as_str()), (Some(130), "error: interrupted; nothing was written\n"));
    drop(input);
    long.untouched();
    assert_eq!(
        long.folder.names(),
        ["first.csv", "long.csv", "out.csv", "s.state"],
        "no partial file is left"
    );
}

/// The first press was kept for later while nothing came from a pipe, and there was no later.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_is_heard_before_the_input_begins() {
    let folder = Folder::new();
    let mut command = folder.command(&["calibrate", "-", "-o", "out.csv"]);
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, b"y,me").unwrap();
    // Until the program listens, a press would end it by the signal: bit 1 of those that it catches is SIGINT.
    let listens = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & 2 != 0
    };
    while !listens() {
        std::thread::yield_now();
    }
    let pressed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(pressed.success());
    let ran = Ran::of(&command, child.wait_with_output().unwrap());
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (Some(130), "error: interrupted; nothing was written\n"),
        "{ran}"
    );
    drop(input);
    assert!(folder.names().is_empty());
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = Folder::with("long.csv", csv(&steps(Scenario::Demo, 50_000, 2)));
    for args in [
        &["simulate", "demo", "--steps", "200000"][..],
        &["calibrate", "long.csv", "-q"],
        &["calibrate", "long.csv", "-q", "--output-format", "ndjson"],
    ] {
        let mut command = folder.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let ran = Ran::of(&command, child.wait_with_output().unwrap());
        assert!(first.contains("mean"), "{first}");
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran}");
    }
}
