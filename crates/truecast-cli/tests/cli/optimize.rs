//! Optimising a command: trials that work, fail and take too long; runs that are stopped and go on; space files with mistakes.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Folder, Ran};

const SPACE: &str = r#"
[rate]
type = "real"
low = 1e-5
high = 1.0
scale = "log"

[depth]
type = "integer"
low = 1
high = 8

[kind]
type = "choice"
choices = ["relu", "it's odd"]
"#;

/// (log₁₀ rate + 3)² + (depth − 5)²/10, and 1 more for the odd kind: least, 0, at 0.001, 5 and relu.
const COMMAND: &str = r#"awk -v r={rate} -v d={depth} -v k={kind} 'BEGIN { l = log(r) / log(10); printf "loss %.17g\n", (l + 3)^2 + (d - 5)^2 / 10 + (k == "relu" ? 0 : 1) }'"#;

fn folder() -> Folder {
    Folder::with("space.toml", SPACE)
}

#[track_caller]
fn optimize(folder: &Folder, command: &str, flags: &[&str]) -> Ran {
    let args = [&["optimize", "--space", "space.toml", "--command", command], flags].concat();
    folder.run(&args)
}

fn json(folder: &Folder, name: &str) -> Value {
    serde_json::from_slice(&folder.bytes(name)).unwrap()
}

#[test]
fn a_built_in_function_is_minimised() {
    let folder = Folder::new();
    let args = ["optimize", "--benchmark", "six-hump-camel", "--summary", "s.json", "--report", "r.html"];
    folder.run(&args).ok().says(&["30 trials: 30 with an outcome, 0 failed", "best value", "x2 ", "hint: "]);
    let summary = json(&folder, "s.json");
    // The minimum is −1.0316, and the next hump is at −0.2155.
    let best = summary["best"]["value"].as_f64().unwrap();
    assert!((-1.0317..-1.0).contains(&best), "{summary}");
    let values: Vec<f64> =
        summary["values"].as_array().unwrap().iter().map(|y| y.as_f64().unwrap()).collect();
    assert_eq!(values.len(), 30);
    assert_eq!(values.iter().copied().fold(f64::INFINITY, f64::min), best);
    // Five of the thirty come before there is a forecast.
    assert_eq!(summary["coverage80"]["raw"]["count"], 25);
    let page = folder.read("r.html");
    assert_eq!(page.matches("<figure>").count(), 3);
    for words in ["best so far", "Where the good trials are", "Best trials", "interval held"] {
        assert!(page.contains(words), "{words}");
    }
    folder.run(&["optimize", "--benchmark", "ackley-two"]).fails(
        2,
        "error: invalid value 'ackley-two' for '--benchmark <NAME>': `ackley-two` is not a benchmark; there are ackley-D, \
         alpine-D (D from 1 to 1000), six-hump-camel, six-hump-camel-wide, beale, beale-gpyopt, mccormick\n\n\
         For more information, try '--help'.",
    );
}

#[test]
fn a_command_is_minimised_over_a_mixed_space() {
    let folder = folder();
    optimize(&folder, COMMAND, &["--summary", "s.json"]).ok().says(&["kind        relu", "depth       5"]);
    let summary = json(&folder, "s.json");
    let best = &summary["best"];
    assert!(best["value"].as_f64().unwrap() < 0.05, "{summary}");
    let rate = best["point"]["rate"].as_f64().unwrap();
    assert!((5e-4..2e-3).contains(&rate), "{summary}");
}

#[test]
fn large_numbers_are_found_as_well_as_small_ones() {
    let folder = folder();
    let upside_down = COMMAND
        .replace("\"loss %.17g\\n\", (", "\"%.17g\\n\", -(")
        .replace("+ (d", "- (d")
        .replace("+ (k", "- (k");
    optimize(&folder, COMMAND, &["--summary", "low.json", "-q"]).ok();
    optimize(&folder, &upside_down, &["--maximize", "--summary", "high.json", "-q"]).ok();
    let (low, high) = (json(&folder, "low.json"), json(&folder, "high.json"));
    assert_eq!(low["best"]["point"], high["best"]["point"]);
    assert_eq!(low["best"]["value"].as_f64().unwrap(), -high["best"]["value"].as_f64().unwrap());
}

#[test]
fn failures_are_told_with_their_reason_and_never_learned() {
    let folder = folder();
    let broken =
        format!("[ {{depth}} -gt 5 ] && {{ echo 99; echo 'depth is too much' >&2; exit 3; }}; {COMMAND}");
    let ran =
        optimize(&folder, &broken, &["--summary", "s.json", "--report", "r.html", "--resume", "st.json"])
            .ok();
    ran.says(&["failed: exit status: 3: depth is too much"]);
    let summary = json(&folder, "s.json");
    let (ok, failed) = (summary["ok"].as_u64().unwrap(), summary["failed"].as_u64().unwrap());
    assert!(failed > 0 && ok + failed == 30, "{summary}");
    assert!(summary["values"].as_array().unwrap().iter().all(|value| *value != 99.0));
    assert!(folder.read("r.html").contains("Failed trials"));
    assert!(folder.read("st.json").contains(r#"{"failed":"exit status: 3: depth is too much"}"#));

    let all = "echo no; false {rate} {depth} {kind}";
    let ran = optimize(&folder, all, &["--trials", "7", "-q"]);
    assert_eq!(ran.code, Some(1), "{ran}");
    assert_eq!(ran.stderr, "error: no trial has an outcome; the last failed: exit status: 1\n");
    ran.says(&["7 trials: 0 with an outcome, 7 failed"]);
}

#[test]
fn a_trial_that_takes_too_long_is_ended() {
    let folder = folder();
    let slow = format!("[ {{depth}} -gt 4 ] && sleep 60; {COMMAND}");
    let start = Instant::now();
    let ran = optimize(&folder, &slow, &["--trials", "6", "--timeout", "0.3", "--parallel", "3"]).ok();
    ran.says(&["failed: took longer than 0.3 seconds"]);
    assert!(start.elapsed() < Duration::from_secs(40));
    optimize(&folder, COMMAND, &["--timeout", "0"]).fails(
        2,
        "error: invalid value '0' for '--timeout <SECONDS>': a timeout is more than 0 seconds, got 0\n\nFor more information, try '--help'.",
    );
}

#[test]
fn many_trials_at_once_are_all_told() {
    let folder = folder();
    let flags = ["--parallel", "4", "--trials", "24", "--summary", "s.json", "--resume", "st.json"];
    optimize(&folder, COMMAND, &flags).ok();
    let summary = json(&folder, "s.json");
    assert_eq!((&summary["trials"], &summary["ok"]), (&24.into(), &24.into()));
    assert!(summary["best"]["value"].as_f64().unwrap() < 0.2, "{summary}");
    // No point is run twice while the first is still running; noise is learned, so that later a point may come again.
    let steps = json(&folder, "st.json")["study"]["steps"].as_array().unwrap().clone();
    for pair in steps[..4].windows(2) {
        assert_ne!(pair[0]["point"], pair[1]["point"]);
    }
}

/// A run of 16 trials, in pieces and killed, ends with the bytes of one run.
#[test]
fn a_run_that_was_killed_goes_on_bit_for_bit() {
    let folder = folder();
    let flags = |study: &'static str, trials: &'static str| {
        ["--resume", study, "--trials", trials, "-q", "--calibration", "online"]
    };
    optimize(&folder, COMMAND, &flags("whole.json", "16")).ok();
    let whole = folder.bytes("whole.json");
    optimize(&folder, COMMAND, &flags("pieces.json", "1")).ok();
    optimize(&folder, COMMAND, &flags("pieces.json", "9")).ok();
    optimize(&folder, COMMAND, &flags("pieces.json", "16")).ok();
    assert!(whole == folder.bytes("pieces.json"));
    // Nothing is left to do, and nothing changes.
    optimize(&folder, COMMAND, &flags("pieces.json", "16")).ok().says(&["16 trials: 16"]);
    assert!(whole == folder.bytes("pieces.json"));

    // Every trial waits for its turn in a file, so that the kill comes in the middle of one whatever the machine.
    let waits = format!("[ $TRUECAST_TRIAL -lt 8 ] || [ -f go ] || sleep 60; {COMMAND}");
    let args = [&["optimize", "--space", "space.toml", "--command", &waits][..], &flags("killed.json", "16")]
        .concat();
    let mut child = folder.command(&args).spawn().unwrap();
    let told = || {
        let text = std::fs::read_to_string(folder.path("killed.json")).unwrap_or_default();
        text.matches("\"outcome\":").count()
    };
    let start = Instant::now();
    while told() < 7 {
        assert!(start.elapsed() < Duration::from_secs(60), "seven trials take less");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    folder.write("go", "");
    folder.run(&args).ok();
    // The command differs, and with it the name of the objective, but nothing else.
    let study = |name: &str| json(&folder, name)["study"].clone();
    assert_eq!(study("killed.json"), study("whole.json"));
}

#[cfg(unix)]
/// A program that keeps its own study, as Python's does, writes no objective.
#[test]
fn a_study_of_a_program_goes_on() {
    let folder = folder();
    optimize(&folder, COMMAND, &["--trials", "12", "--resume", "whole.json"]).ok();
    optimize(&folder, COMMAND, &["--trials", "7", "--resume", "part.json"]).ok();
    let mut part = json(&folder, "part.json");
    part.as_object_mut().unwrap().retain(|name, _| !["objective", "maximize"].contains(&name.as_str()));
    folder.write("part.json", part.to_string());
    optimize(&folder, COMMAND, &["--trials", "12", "--resume", "part.json"]).ok();
    assert_eq!(json(&folder, "part.json"), json(&folder, "whole.json"));
}

#[test]
fn ctrl_c_keeps_the_trials_that_ended() {
    use std::process::{Command, Stdio};
    let folder = folder();
    let waits = format!("[ $TRUECAST_TRIAL -lt 3 ] || sleep 60; {COMMAND}");
    let args = ["optimize", "--space", "space.toml", "--command", &waits, "--resume", "st.json"];
    let mut command = folder.command(&args);
    let child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while std::fs::read_to_string(folder.path("st.json")).unwrap_or_default().matches("\"outcome\":").count()
        < 2
    {
        assert!(start.elapsed() < Duration::from_secs(60), "two trials take less");
        std::thread::yield_now();
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let ran = Ran::of(&command, child.wait_with_output().unwrap());
    ran.fails(130, "error: interrupted after 2 trials, which st.json keeps\nhint: the same command goes on");
    assert!(start.elapsed() < Duration::from_secs(50));
}

#[test]
fn a_study_that_was_begun_otherwise_is_refused() {
    let folder = folder();
    let flags = ["--resume", "st.json", "--trials", "2", "-q"];
    optimize(&folder, COMMAND, &flags).ok();
    let refused = |more: &[&str], difference: &str| {
        let message = format!(
            "error: st.json: the study was begun otherwise: {difference}\nhint: use what the study was begun with, or another file"
        );
        optimize(&folder, COMMAND, &[&flags[..], more].concat()).fails(2, &message);
    };
    refused(&["--seed", "3"], "the seed was 0, now 3");
    refused(&["--maximize"], "without --maximize, now with it");
    refused(&["--initial", "9"], "the initial was 5, now 9");
    folder.write("space.toml", SPACE.replace("high = 8", "high = 9"));
    refused(
        &[],
        r#"depth was {"integer":{"high":8,"low":1,"scale":"linear"}}, now {"integer":{"high":9,"low":1,"scale":"linear"}}"#,
    );
    folder.write("space.toml", SPACE);
    for (content, problem) in [
        ("{", "not a study: EOF while parsing an object at line 1 column 1"),
        ("[1]", "not a study: the format is not truecast-study"),
        (r#"{"format":"truecast-study","version":9}"#, "version 9 is not known; this program writes 1"),
        (r#"{"format":"truecast-study","version":1}"#, "not a study: missing field `study`"),
    ] {
        folder.write("st.json", content);
        let hint = "a study is a file that `truecast optimize --resume` wrote; another name begins a new one";
        optimize(&folder, COMMAND, &flags).fails(2, &format!("error: st.json: {problem}\nhint: {hint}"));
        assert_eq!(folder.read("st.json"), content, "it stands as it was");
    }
}

#[test]
fn mistakes_in_a_space_are_named() {
    const HINT: &str = "hint: a dimension is [NAME] with type = \"real\" or \"integer\", low, high and scale = \"linear\" or \"log\", \
                        or with type = \"choice\" and choices = [\"a\", \"b\"]";
    let refused = |content: &str, problem: &str| {
        let folder = Folder::with("space.toml", content);
        optimize(&folder, "true {x}", &[]).fails(2, &format!("error: space.toml: {problem}\n{HINT}"));
    };
    refused("", "a space must have at least one dimension, got none");
    refused("[x]\ntype = \"real\"\nlow = 0", "[x] high is missing");
    refused(
        "[x]\ntype = \"integer\"\nlow = 0.5\nhigh = 2",
        "[x] low of an integer must be a whole number, got 0.5",
    );
    refused("[x]\ntype = \"choice\"", "[x] a choice needs choices");
    refused("[x]\ntype = \"choice\"\nlow = 1", "[x] a choice has choices and no low");
    refused(
        "[x]\ntype = \"real\"\nlow = 0\nhigh = 1\nchoices = [1]",
        "[x] a number has low and high and no choices",
    );
    refused(
        "[x]\ntype = \"real\"\nlow = 2\nhigh = 1",
        "dimension `x` must have finite bounds, the lower below the upper, got 2 and 1",
    );
    refused(
        "[x]\ntype = \"real\"\nlow = 0\nhigh = 1\nscale = \"log\"",
        "dimension `x` must have bounds above 0 on a logarithmic scale, got 0 and 1",
    );
    refused(
        "[\"x y\"]\ntype = \"real\"\nlow = 0\nhigh = 1",
        "[x y] a name begins with a letter or _ and goes on with letters, digits, _, - and .",
    );
    refused(
        "[x]\ntype = \"real\"\nlow = 0\nhihg = 1",
        "TOML parse error at line 4, column 1\n  |\n4 | hihg = 1\n  | ^^^^\nunknown field `hihg`, expected one of `type`, `low`, `high`, `scale`, `choices`",
    );
    let folder = folder();
    optimize(&folder, "train {rate} {depth}", &[]).fails(
        2,
        "error: the space has kind, and the command has no {kind}\nhint: name it in the command, or take it out of the space",
    );
    optimize(&folder, "train {rate} {depth} {kind} {width}", &[]).fails(
        2,
        "error: the command has {width}, and the space has no width\nhint: there are rate, depth, kind; {{width}} is {width} for the command itself",
    );
    optimize(&folder, COMMAND, &["--acquisition", "ei", "--kappa", "1"])
        .fails(2, "error: --kappa is for --acquisition lcb\nhint: leave it out");
    folder
        .run(&["optimize", "--space", "none.toml", "--command", "true"])
        .fails(2, "error: none.toml: No such file or directory (os error 2)");
}

#[test]
fn the_page_counts_one_as_one() {
    let folder = folder();
    let page = ["--report", "r.html"];
    let ran = optimize(&folder, "false {rate} {depth} {kind}", &[&page[..], &["--trials", "1"]].concat());
    assert_eq!(ran.code, Some(1), "{ran}");
    let html = folder.read("r.html");
    assert!(html.contains("The only trial has no outcome.") && !html.contains("Best trials"));
    assert!(!html.contains("0 of 0"));
    let command =
        "true {rate} {depth} {kind}; test $TRUECAST_TRIAL = 4 && echo 1000 || echo -$TRUECAST_TRIAL";
    optimize(&folder, command, &[&page[..], &["--trials", "5"]].concat()).ok();
    assert!(folder.read("r.html").contains(" 1 worse value lies outside of the chart."));
}

#[test]
fn every_acquisition_and_calibration_runs() {
    let folder = Folder::new();
    for flags in [
        ["--acquisition", "ei"],
        ["--acquisition", "pi"],
        ["--acquisition", "thompson"],
        ["--kappa", "1"],
        ["--calibration", "paper"],
        ["--calibration", "ledger"],
        ["--calibration", "online-scale"],
    ] {
        let args =
            [&["optimize", "--benchmark", "mccormick", "--trials", "9", "--exact"], &flags[..]].concat();
        folder.run(&args).ok().says(&["9 trials: 9 with an outcome, 0 failed"]);
    }
}
