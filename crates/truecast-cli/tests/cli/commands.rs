//! Every command does what its help says.

use truecast::recalibrate::Method;
use truecast_streams::{Opponent, Scenario};

use crate::harness::{Folder, Ran};
use crate::reference::{csv, steps};

#[test]
fn demo_shows_a_table_writes_a_report_and_says_what_to_do_next() {
    let folder = Folder::new();
    let ran = folder.run(&["demo"]).ok();
    let words = ["5000 outcomes", "raw", "calibrated", "80 % covers", "CRPS", "report.html", "Next:"];
    let text = ran.says(&words).says(&["truecast calibrate YOUR.csv", "truecast simulate demo"]).text();
    assert!(folder.read("report.html").to_lowercase().starts_with("<!doctype html>"));
    assert_eq!(folder.run(&["demo"]).ok().text(), text, "two runs say the same");
    let other = folder.run(&["demo", "--steps", "300", "--seed", "7", "--report", "seven.html"]).ok();
    other.says(&["300 outcomes", "seven.html"]);
    assert_eq!(folder.names(), ["report.html", "seven.html"]);
}

#[test]
fn what_demo_names_as_the_next_step_works() {
    let folder = Folder::new();
    folder.run(&["simulate", "demo", "--steps", "500", "-o", "demo.csv"]).ok();
    let ran = folder.run(&["calibrate", "demo.csv", "-o", "calibrated.csv", "--report", "report.html"]).ok();
    ran.says(&[
        "demo.csv: mean mean, standard deviation std; outcome y; one series; about t; each outcome known before the next row",
        "500 rows in 1 series",
    ])
    .says(&["of 500 outcomes; calibrated they hold"]);
    assert_eq!(folder.table("calibrated.csv").names, ["t", "y", "mean", "std"]);
    folder.run(&["compare", "demo.csv"]).ok();
    folder.run(&["help", "calibrate"]).ok();
}

#[test]
fn calibrate_says_nothing_when_asked_to() {
    let folder = Folder::with("a.csv", csv(&steps(Scenario::Drift, 100, 0)));
    let ran = folder.run(&["calibrate", "a.csv", "-q"]).ok();
    assert_eq!(ran.stderr, "", "{ran}");
    assert_eq!(ran.table().rows.len(), 100);
}

#[test]
fn scores_are_added_and_their_names_never_collide() {
    let folder = Folder::with("a.csv", csv(&steps(Scenario::Drift, 100, 0)));
    folder.run(&["calibrate", "a.csv", "--scores", "-o", "b.csv"]).ok();
    folder.run(&["calibrate", "b.csv", "--scores", "-o", "c.csv"]).ok();
    folder.run(&["calibrate", "c.csv", "--scores", "-o", "d.csv"]).ok();
    let names = folder.table("d.csv").names;
    let mut unique = names.clone();
    unique.sort();
    unique.dedup();
    assert_eq!((names.len(), unique.len()), (16, 16), "{names:?}");
    let scores = folder.table("b.csv");
    assert!(scores.numbers("pit").iter().all(|pit| (0.0..=1.0).contains(pit)));
    assert!(scores.numbers("crps_raw").iter().all(|crps| *crps >= 0.0));
}

#[test]
fn other_quantiles_and_intervals_take_the_place_of_the_form() {
    let folder = Folder::with("a.csv", csv(&steps(Scenario::Drift, 50, 0)));
    let quantiles = folder.run(&["calibrate", "a.csv", "--quantiles", "0.9,0.1,0.5,0.1"]).ok().table();
    assert_eq!(quantiles.names, ["t", "y", "q0.1", "q0.5", "q0.9"]);
    let both = folder.run(&["calibrate", "a.csv", "--quantiles", "0.1", "--intervals", "80,99.5"]).ok();
    let both = both.table();
    assert_eq!(both.names, ["t", "y", "q0.1", "lo-80", "hi-80", "lo-99.5", "hi-99.5"]);
    assert_eq!(both.column("q0.1"), quantiles.column("q0.1"));
    assert_eq!(both.column("lo-80"), quantiles.column("q0.1"));
}

#[test]
fn evaluate_prints_how_honest_the_forecasts_are() {
    let folder = Folder::with("a.csv", csv(&steps(Scenario::TwiceTooWide, 4_000, 0)));
    let ran = folder.run(&["evaluate", "a.csv"]).ok();
    ran.says(&[
        "4,000 outcomes",
        " 80 % interval covers  99",
        "mean width",
        "CRPS",
        "calibration score",
        "PIT off uniform",
    ]);
}

#[test]
fn compare_runs_all_methods_or_those_chosen() {
    let folder = Folder::with("a.csv", csv(&steps(Scenario::Regimes, 600, 0)));
    let all = folder.run(&["compare", "a.csv", "--summary", "s.json"]).ok();
    let first_words: Vec<String> = all
        .text()
        .lines()
        .skip(2)
        .filter_map(|line| Some(line.split_whitespace().next()?.to_owned()))
        .collect();
    let mut expected = vec!["(as".to_owned()];
    expected.extend(Method::ALL.map(|method| method.name().to_owned()));
    assert_eq!(first_words, expected, "{all}");
    let summary: serde_json::Value = serde_json::from_str(&folder.read("s.json")).unwrap();
    assert_eq!(summary.as_object().unwrap().len(), Method::ALL.len());
    let two = folder.run(&["compare", "a.csv", "--methods", "aci,ledger"]).ok();
    assert_eq!(two.text().lines().count(), 5, "{two}");
    for line in two.text().lines().filter(|line| line.starts_with("aci") || line.starts_with("ledger")) {
        assert!(all.text().contains(line), "the same numbers alone: {line}");
    }
    folder.run(&["compare", "a.csv", "--preset", "paper", "--delay", "2", "--methods", "tophat"]).ok();
}

#[test]
fn compare_counts_what_it_leaves_out_and_keeps_numbers_apart() {
    // Far outside of what was announced: some comparators answer with intervals that lose thousands of percent.
    let mut text = csv(&steps(Scenario::Drift, 300, 0));
    text.push_str("x,0,1\n");
    let folder = Folder::with("a.csv", text);
    let ran = folder.run(&["compare", "a.csv", "--methods", "aci,pid", "--on-error", "skip"]).ok();
    for line in ran.text().lines().skip(3) {
        assert_eq!(line.split_whitespace().count(), 13, "{ran}");
    }
    ran.says(&["1 row was left out"]);
}

#[test]
fn simulate_knows_every_scenario_and_repeats_itself() {
    let folder = Folder::new();
    for name in Scenario::ALL.map(|scenario| scenario.name()).into_iter().chain(["adversary"]) {
        let run = |seed: &str| folder.run(&["simulate", name, "--steps", "200", "--seed", seed]).ok();
        let first = run("3");
        assert_eq!(
            (first.table().names.join(","), first.table().rows.len()),
            ("t,y,mean,std".into(), 200),
            "{first}"
        );
        assert_eq!(first.stdout, run("3").stdout, "{name}");
        assert!(name == "adversary" || first.stdout != run("4").stdout, "{name}");
    }
    let stream = steps(Scenario::Volatility, 300, 11);
    let ran = folder.run(&["simulate", "volatility", "--steps", "300", "--seed", "11"]).ok();
    let outcomes: Vec<f64> = stream.iter().map(|step| step.outcome).collect();
    assert_eq!(ran.table().numbers("y"), outcomes);
    let none = folder.run(&["simulate", "iid", "--steps", "0"]).ok();
    assert_eq!(none.text(), "t,y,mean,std\n");
}

#[test]
fn an_adversary_plays_against_the_method_that_is_named() {
    let folder = Folder::new();
    let against = |method: &str| {
        let args = ["simulate", "adversary", "--against", method, "--steps", "2000", "-o", "game.csv"];
        folder.run(&args).ok();
        folder.run(&["calibrate", "game.csv", "--method", method, "-o", "played.csv"]).ok().stderr
    };
    // The adversary leaves the conformal comparator's 80 % interval and cannot leave the ledger's.
    let held = |stderr: &str| -> f64 {
        let share = stderr.split("calibrated they hold ").nth(1).unwrap().split(' ').next().unwrap();
        share.parse().unwrap()
    };
    let (ledger, pit) = (held(&against("ledger")), held(&against("running-mean")));
    assert!(ledger > 70.0, "{ledger}");
    assert!(pit < ledger, "{pit} against {ledger}");
}

#[test]
fn certify_holds_against_every_adversary() {
    let folder = Folder::new();
    for opponent in Opponent::ALL {
        let ran = folder.run(&["certify", "--adversary", opponent.name(), "--steps", "3000"]).ok();
        ran.says(&["never behind the forecaster", "Every bound that is promised holds.", opponent.name()]);
    }
    let none = folder.run(&["certify", "--method", "aci", "--steps", "500"]).ok();
    none.says(&["never behind the forecaster"]);
    folder.run(&["certify", "--preset", "paper", "--steps", "500"]).ok().says(&["the ledgers' plays"]);
}

#[test]
fn certify_of_no_rounds_is_no_failure() {
    let folder = Folder::new();
    folder.run(&["certify", "--steps", "0"]).ok();
    folder.run(&["demo", "--steps", "0"]).ok();
    folder.run(&["demo", "--steps", "1"]).ok();
}

fn states() -> Folder {
    let folder = Folder::with("one.csv", csv(&steps(Scenario::FourTimesTooNarrow, 2_000, 0)));
    folder.run(&["calibrate", "one.csv", "--state", "one.state", "-o", "out.csv"]).ok();
    folder.write("two.csv", "key,region,y,mean,std\na,n,1,0,1\nb,s,2,0,1\na,n,3,0,1\n");
    folder.run(&["calibrate", "two.csv", "--state", "two.state", "-o", "out.csv"]).ok();
    let args = ["calibrate", "two.csv", "--key", "region,key", "--delay", "1", "--state", "both.state"];
    folder.run(&args).ok();
    folder
}

#[test]
fn explain_shows_the_map_of_a_state() {
    let folder = states();
    let ran = folder.run(&["explain", "one.state"]).ok();
    let ran = ran.says(&[
        "method experts, 2,000 outcomes learned",
        "whom it trusts now",
        "calibrated",
        "own quantile",
        "promised",
    ]);
    // A forecaster that is four times too narrow: its 80 % interval holds 25 %.
    let believed = ran.text().lines().find(|line| line.starts_with("  80 %")).unwrap().to_owned();
    let share: f64 = believed.split_whitespace().nth(2).unwrap().parse().unwrap();
    assert!((20.0..32.0).contains(&share), "{ran}");
}

#[test]
fn explain_asks_which_series_is_meant() {
    let folder = states();
    let all = "the series are a, b";
    folder
        .run(&["explain", "two.state"])
        .fails(2, &format!("error: two.state: the state has 2 series\nhint: choose one with --key; {all}"));
    folder
        .run(&["explain", "two.state", "--key", "c"])
        .fails(2, &format!("error: two.state: there is no series \"c\"\nhint: {all}"));
    folder.run(&["explain", "one.state", "--key", "c"]).fails(
        2,
        "error: one.state: there is no series \"c\"\nhint: its one series has no key: leave --key out",
    );
    folder
        .run(&["explain", "two.state", "--key", "a"])
        .ok()
        .says(&["series a, method experts, 2 outcomes learned"]);
    let waiting = folder.run(&["explain", "both.state", "--key", "n / a"]).ok();
    waiting
        .says(&["series n / a, method experts, 0 outcomes learned", "2 outcomes are read and not due yet"]);
}

#[test]
fn completions_and_manual_pages_come_from_the_flags() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        folder.run(&["completions", shell]).ok().says(&["truecast", "calibrate", "half-life"]);
    }
    folder.run(&["man", "pages"]).ok().says(&["wrote truecast.1, truecast-demo.1, truecast-calibrate.1"]);
    let page = std::fs::read_to_string(folder.path("pages/truecast-calibrate.1")).unwrap();
    assert!(page.contains("half\\-life") && page.contains(".SH"), "{page}");
    assert_eq!(std::fs::read_dir(folder.path("pages")).unwrap().count(), 13);
}

#[test]
fn without_a_command_the_help_is_shown() {
    let folder = Folder::new();
    let ran: Ran = folder.run(&[]);
    assert_eq!(ran.code, Some(2), "{ran}");
    ran.says(&["Usage: truecast", "Begin with `truecast demo`"]);
    folder.run(&["--version"]).ok().says(&["truecast 0."]);
}
