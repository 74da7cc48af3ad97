//! The page that `--report` writes: the result in words, and nothing from elsewhere.

use std::fmt::Write as _;

use truecast_streams::Scenario;

use crate::harness::Folder;
use crate::reference::{csv, steps};

/// The page has these words, and no address but the names of XML's own formats.
#[track_caller]
fn page(folder: &Folder, words: &[&str]) {
    let html = folder.read("r.html");
    for word in words {
        assert!(html.contains(word), "without {word:?}");
    }
    for part in html.split("http").skip(1) {
        let namespace = part.starts_with("://www.w3.org/");
        assert!(
            namespace || !part.starts_with("://") && !part.starts_with("s://"),
            "http{}",
            &part[..60.min(part.len())]
        );
    }
    for outside in ["src=\"//", "href=\"//", "@import", "<link", "<iframe"] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[test]
fn of_one_series() {
    let folder = Folder::with("demand.csv", csv(&steps(Scenario::FourTimesTooNarrow, 800, 0)));
    folder.run(&["calibrate", "demand.csv", "-o", "out.csv", "--report", "r.html"]).ok();
    page(&folder, &["Calibration report", "demand.csv", "800", "PIT", "CRPS", "ertificate", "<svg"]);
}

#[test]
fn of_many_series_with_names_that_are_markup() {
    let mut text = "key,y,mean,std\n".to_owned();
    for (t, step) in steps(Scenario::Demo, 600, 0).iter().enumerate() {
        let key = ["<b>bold</b>", "a&b", "plain"][t % 3];
        writeln!(text, "{key},{},{},{}", step.outcome, step.mean(), step.std()).unwrap();
    }
    text.push_str("plain,oops,0,1\n");
    let folder = Folder::with("<in>.csv", text);
    folder.run(&["calibrate", "<in>.csv", "-o", "o.csv", "--report", "r.html", "--on-error", "skip"]).ok();
    page(&folder, &["&lt;b&gt;bold", "a&amp;b", "plain", "1 row was left out."]);
    let html = folder.read("r.html");
    assert!(!html.contains("<b>bold") && !html.contains("<in>"));
}

/// Two pages that differ must say in what their runs did.
#[test]
fn settings_in_force_are_listed() {
    let mut text = "day,y,mean,std\n".to_owned();
    for (t, step) in steps(Scenario::Demo, 60, 0).iter().enumerate() {
        writeln!(text, "d{},{},{},{}", t % 2, step.outcome, step.mean(), step.std()).unwrap();
    }
    let folder = Folder::with("a.csv", text);
    let run = ["calibrate", "a.csv", "-o", "o.csv", "--report", "r.html"];
    folder.run(&run).ok();
    let html = folder.read("r.html");
    assert!(
        !["prior", "groups", "randomised", "outcomes known"].iter().any(|name| html.contains(&setting(name)))
    );
    let flags =
        ["--prior", "25", "--ledger", "group=day:4", "--randomised", "--delay", "3", "--guard", "off"];
    folder.run(&[&run[..], &flags].concat()).ok();
    for (name, value) in [
        ("prior", "25"),
        ("groups", "4"),
        ("randomised", "true"),
        ("outcomes known", "3 rows late"),
        ("guard", "off"),
    ] {
        page(&folder, &[&format!("{}<dd>{value}</dd>", setting(name))]);
    }
}

fn setting(name: &str) -> String {
    format!("<dt>{name}</dt>")
}

#[test]
fn of_forecasts_as_they_are() {
    let folder = Folder::with("a.csv", csv(&steps(Scenario::TwiceTooWide, 500, 0)));
    folder.run(&["evaluate", "a.csv", "--report", "r.html"]).ok();
    page(&folder, &["How honest are these forecasts?", "a.csv", "500"]);
}

#[test]
fn of_no_outcomes_and_of_one() {
    let folder = Folder::with("a.csv", "y,mean,std\n,0,1\n");
    folder.run(&["calibrate", "a.csv", "--report", "r.html"]).ok();
    page(&folder, &["Calibration report"]);
    folder.write("b.csv", "y,mean,std\n1,0,1\n");
    folder.run(&["calibrate", "b.csv", "--report", "r.html"]).ok();
    page(&folder, &["Calibration report"]);
    folder.write("c.csv", "y,mean,std\n");
    folder.run(&["calibrate", "c.csv", "--report", "r.html"]).ok();
    let html = folder.read("r.html");
    assert!(!html.contains("NaN"), "no number is made up");
}
