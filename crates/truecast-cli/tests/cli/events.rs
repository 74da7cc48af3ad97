//! Time told truthfully: no forecast knows an outcome before it was known, and weekly runs are one run.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::harness::{Folder, Ran};

/// Days at which forecasts are made, how far they look, series.
const DAYS: usize = 6;
const AHEAD: usize = 3;
const SERIES: [&str; 2] = ["01", "1"];

/// An outcome of each series and day.
type Outcomes = [[f64; DAYS + AHEAD]; 2];

/// A way to write the same forecasts down, and on which day an outcome is known at the earliest.
struct Form {
    name: &'static str,
    table: fn(&Outcomes) -> String,
    outcomes: Option<fn(&Outcomes) -> String>,
    flags: &'static [&'static str],
    /// Days between the thing that it is about and the first forecast that knows it.
    late: usize,
    rows_of_a_forecast: usize,
}

fn outcomes() -> Outcomes {
    let mut outcomes = [[0.0; DAYS + AHEAD]; 2];
    for (s, days) in outcomes.iter_mut().enumerate() {
        for (d, y) in days.iter_mut().enumerate() {
            *y = (3.0 + s as f64) * (1.0 + (d * 7 % 5) as f64);
        }
    }
    outcomes
}

/// A line for each forecast, in the order of series, day and horizon; those of a forecast stand together.
fn each(head: &str, outcomes: &Outcomes, line: impl Fn(usize, usize, usize, f64) -> String) -> String {
    let mut text = format!("{head}\n");
    for (s, of_series) in outcomes.iter().enumerate() {
        for made in 0..DAYS {
            for ahead in 1..=AHEAD {
                text.push_str(&line(s, made, made + ahead, of_series[made + ahead - 1]));
            }
        }
    }
    text
}

fn date(day: usize) -> String {
    format!("2026-01-{:02}", day + 1)
}

fn hub_line(s: usize, made: usize, about: usize, y: &str) -> String {
    let mut text = String::new();
    for (p, value) in [("0.1", -1), ("0.5", 0), ("0.9", 1)] {
        writeln!(
            text,
            "{},{},{},{},quantile,{p},{value}{y}",
            SERIES[s],
            date(made),
            about - made,
            date(about)
        )
        .unwrap();
    }
    text
}

const HUB: &str = "location,reference_date,horizon,target_end_date,output_type,output_type_id,value";

/// The outcome about day d stands at d − 1.
fn dated(outcomes: &Outcomes) -> String {
    let mut text = "location,target_end_date,value\n".to_owned();
    for (s, days) in outcomes.iter().enumerate() {
        for (d, y) in days.iter().enumerate() {
            writeln!(text, "{},{},{y}", SERIES[s], date(d + 1)).unwrap();
        }
    }
    text
}

const FORMS: [Form; 8] = [
    Form {
        name: "windows of cross-validation",
        table: |outcomes| {
            each("unique_id,ds,cutoff,y,mean,std", outcomes, |s, made, about, y| {
                format!("{},{},{},{y},0,1\n", SERIES[s], date(about), date(made))
            })
        },
        outcomes: None,
        flags: &[],
        late: 0,
        rows_of_a_forecast: 1,
    },
    Form {
        name: "the same in one pooled series",
        table: |outcomes| {
            each("unique_id,ds,cutoff,y,mean,std", outcomes, |s, made, about, y| {
                format!("{},{},{},{y},0,1\n", SERIES[s], date(about), date(made))
            })
        },
        outcomes: None,
        flags: &["--key", "none", "--horizon", "none"],
        late: 0,
        rows_of_a_forecast: 1,
    },
    Form {
        name: "interval columns, outcomes two days late",
        table: |outcomes| {
            each("unique_id,t,origin,y,A-lo-80,A,A-hi-80", outcomes, |s, made, about, y| {
                format!("{},{about},{made},{y},-1,0,1\n", SERIES[s])
            })
        },
        outcomes: None,
        flags: &["--lag", "2"],
        late: 2,
        rows_of_a_forecast: 1,
    },
    Form {
        name: "samples with times of their own",
        table: |outcomes| {
            each("key,made_at,known_at,h,y,sample_1,sample_2,sample_3", outcomes, |s, made, about, y| {
                format!("{},{made},{},{},{y},-1,0,1\n", SERIES[s], about + 1, about - made)
            })
        },
        outcomes: None,
        flags: &[],
        late: 1,
        rows_of_a_forecast: 1,
    },
    Form {
        name: "points by steps of a horizon",
        table: |outcomes| {
            each("key,ds,horizon,y,yhat", outcomes, |s, made, about, y| {
                format!("{},{},{},{y},0\n", SERIES[s], date(about), about - made)
            })
        },
        outcomes: None,
        flags: &["--step", "1d", "--horizon", "horizon"],
        late: 0,
        rows_of_a_forecast: 1,
    },
    Form {
        name: "a hub with outcomes in its rows",
        table: |outcomes| {
            each(&format!("{HUB},observation"), outcomes, |s, made, about, y| {
                hub_line(s, made, about, &format!(",{y}"))
            })
        },
        outcomes: None,
        flags: &[],
        late: 1,
        rows_of_a_forecast: 3,
    },
    Form {
        name: "a hub with outcomes of their own",
        table: |outcomes| each(HUB, outcomes, |s, made, about, _| hub_line(s, made, about, "")),
        outcomes: Some(dated),
        flags: &[],
        late: 1,
        rows_of_a_forecast: 3,
    },
    Form {
        name: "a hub in one pooled series",
        table: |outcomes| each(HUB, outcomes, |s, made, about, _| hub_line(s, made, about, "")),
        outcomes: Some(dated),
        flags: &["--key", "none", "--horizon", "none"],
        late: 1,
        rows_of_a_forecast: 3,
    },
];

/// Perturbs one outcome at a time: no forecast made before it was known changes by a bit, and some that was made later does.
#[test]
fn no_forecast_knows_an_outcome_before_it_was_known() {
    for form in &FORMS {
        let folder = Folder::new();
        let run = |outcomes: &Outcomes| -> Vec<String> {
            folder.write("in.csv", (form.table)(outcomes));
            let mut args = vec!["calibrate", "in.csv", "-q"];
            args.extend(form.flags);
            if let Some(table) = form.outcomes {
                folder.write("outcomes.csv", table(outcomes));
                args.extend(["--outcomes", "outcomes.csv"]);
            }
            let text = folder.run(&args).ok().text();
            // The outcome itself may stand in its row: it is written the same however it was perturbed.
            let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
            let is_outcome = |k: usize| matches!(names[k], "y" | "observation");
            let line = |line: &str| {
                line.split(',')
                    .enumerate()
                    .filter(|(k, _)| !is_outcome(*k))
                    .map(|(_, cell)| cell.to_owned() + ",")
                    .collect()
            };
            text.lines().skip(1).map(line).collect()
        };
        let usual = run(&outcomes());
        assert_eq!(usual.len(), 2 * DAYS * AHEAD * form.rows_of_a_forecast, "{}", form.name);
        let mut moved = 0;
        for s in 0..2 {
            for day in 1..DAYS + AHEAD {
                let mut changed = outcomes();
                changed[s][day - 1] += 37.0;
                let perturbed = run(&changed);
                for (at, (before, after)) in usual.iter().zip(&perturbed).enumerate() {
                    let made = at / form.rows_of_a_forecast / AHEAD % DAYS;
                    if made < day + form.late {
                        assert_eq!(
                            before, after,
                            "{}: made on day {made}, outcome about day {day}",
                            form.name
                        );
                    } else if before != after {
                        moved += 1;
                    }
                }
            }
        }
        assert!(moved > 0, "{}: nothing was learned at all", form.name);
    }
}

/// The made-up hub that stands beside the tests of the crate: 13 weeks, two locations whose names are `1` and `01`, revised outcomes.
fn hub() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../truecast-events/tests/hub")
}

/// Runs week by week with what was published by then; gives all rows.
fn week_by_week(folder: &Folder, flags: &[&str]) -> String {
    let truth = std::fs::read_to_string(hub().join("target-data/target.csv")).unwrap();
    let mut files: Vec<PathBuf> = std::fs::read_dir(hub().join("model-output/TEAM-model"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    let mut all = String::new();
    for file in &files {
        let week = &file.file_name().unwrap().to_str().unwrap()[..10];
        let published = truth
            .lines()
            .enumerate()
            .filter(|(at, line)| *at == 0 || line.rsplit(',').next().unwrap() < week);
        folder.write("truth.csv", published.map(|(_, line)| format!("{line}\n")).collect::<String>());
        let args =
            ["calibrate", file.to_str().unwrap(), "--state", "s", "--outcomes", "truth.csv", "-o", "out.csv"];
        folder.run(&[&args, flags].concat()).ok();
        let text = folder.read("out.csv");
        let (header, rows) = text.split_once('\n').unwrap();
        if all.is_empty() {
            writeln!(all, "{header}").unwrap();
        }
        all.push_str(rows);
    }
    all
}

#[test]
fn weekly_runs_are_one_run() {
    for flags in
        [&[][..], &["--revisions", "last"], &["--lag", "7d"], &["--key", "location", "--horizon", "none"]]
    {
        let weekly = Folder::new();
        let (output, target) = (hub().join("model-output/TEAM-model"), hub().join("target-data/target.csv"));
        let (output, target) = (output.to_str().unwrap(), target.to_str().unwrap());
        let rows = week_by_week(&weekly, flags);
        let whole = Folder::new();
        let args = ["calibrate", output, "--state", "s", "--outcomes", target, "-o", "out.csv"];
        let ran = whole.run(&[&args, flags].concat()).ok();
        assert_eq!(whole.read("out.csv"), rows, "{flags:?}");
        assert!(
            ran.stderr.contains("forecasts have no outcome") || ran.stderr.contains("of 104 have no outcome"),
            "{ran}"
        );
        // What was published after the last week makes the states the same, too.
        let last = if flags.contains(&"last") { "last" } else { "first" };
        let ran = weekly.run(&["resolve", "s", "--outcomes", target, "--revisions", last]).ok();
        ran.says(&["forecasts that waited have their outcomes"]);
        assert!(weekly.bytes("s") == whole.bytes("s"), "{flags:?}: the states differ");
    }
}

#[test]
fn rows_that_are_not_calibrated_pass_through_untouched() {
    let folder = Folder::new();
    let file = hub().join("model-output/TEAM-model/2026-03-28-TEAM-model.csv");
    folder.run(&["calibrate", file.to_str().unwrap(), "-o", "out.csv"]).ok();
    let (before, after) = (std::fs::read_to_string(&file).unwrap(), folder.read("out.csv"));
    let peaks = |text: &str| {
        text.lines().filter(|line| line.contains("peak week")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!((peaks(&before), peaks(&before).len()), (peaks(&after), 2));
}

/// A table that waits: what is given again, what is changed, replaced, revised and forgotten.
#[test]
fn a_forecast_that_waits_is_one_forecast() {
    let head = "unique_id,cutoff,ds,mean,std\n";
    let folder = Folder::with("monday.csv", format!("{head}a,1,2,0,1\na,1,3,0,1\n"));
    let go = |args: &[&str]| -> Ran {
        folder.run(&[&["calibrate"], args, &["--state", "s", "-o", "out.csv"]].concat())
    };
    go(&["monday.csv"]).ok().says(&["2 forecasts wait for their outcomes"]);
    let (state, answer) = (folder.bytes("s"), folder.read("out.csv"));
    // The same again is the same answer, and the same state.
    go(&["monday.csv"]).ok().says(&["2 forecasts were given before and got the same answer"]);
    assert!(folder.bytes("s") == state && folder.read("out.csv") == answer);
    folder.write("changed.csv", format!("{head}a,1,2,5,1\n"));
    go(&["changed.csv"]).fails(
        2,
        "error: changed.csv, line 2: another forecast of its series about the same waits for its outcome\nhint: --replace takes this one instead",
    );
    assert!(folder.bytes("s") == state);
    go(&["changed.csv", "--replace"]).ok().says(&["2 forecasts wait for their outcomes"]);
    folder.write("truth.csv", "unique_id,ds,y\na,2,9\nb,2,1\n");
    folder.run(&["resolve", "s", "--outcomes", "truth.csv"]).ok().says(&[
        "of 2 outcomes, 1 are about no forecast that waits",
        "1 forecast that waited has its outcome",
        "1 forecast waits for its outcome",
        "80 % intervals held 0.0 % of 1",
    ]);
    folder.write("revised.csv", "unique_id,ds,y\na,2,8\n");
    let revised = "1 forecast has another outcome now than the one that counts";
    folder.run(&["resolve", "s", "--outcomes", "revised.csv"]).ok().says(&[revised]);
    // It counts when the next forecast of its series is made: the outcome as it was known first.
    folder.write("wednesday.csv", format!("{head}a,3,4,0,1\n"));
    let first = go(&["wednesday.csv"]).ok();
    assert!(folder.table("out.csv").numbers("mean")[0] > 0.01, "{first}");
    folder
        .run(&["resolve", "s", "--outcomes", "revised.csv", "--expire", "1"])
        .ok()
        .says(&[revised, "1 forecast was forgotten without an outcome"]);
    // Time does not run backwards.
    folder.write("late.csv", format!("{head}a,2,3,0,1\n"));
    go(&["late.csv"]).fails(
        2,
        "error: late.csv, line 2: 2 lies before the time of the series' row before it\nhint: sort the rows by time, or say that it is no time: --made none",
    );
    folder.write("other.csv", "series,cutoff,ds,mean,std\na,9,9,0,1\n");
    go(&["other.csv"]).fails(
        2,
        "error: the state knows its forecasts by unique_id, horizon, cutoff, ds and cannot go on with series, horizon, cutoff, ds\nhint: use columns of the same names and meaning, or another state",
    );
}

/// Where each outcome comes before the next row, a forecast without one waits by what it is about.
#[test]
fn tomorrow_is_learned_tomorrow() {
    let folder = Folder::with("all.csv", "ds,y,mean,std\n1,7,0,1\n2,-3,0,1\n3,,0,1\n");
    let whole = folder.run(&["calibrate", "all.csv"]).ok().table();
    folder.write("truth.csv", "ds,y\n");
    for (day, y) in [(1, 7), (2, -3), (3, 0)] {
        folder.write("day.csv", format!("ds,mean,std\n{day},0,1\n"));
        let ran = folder.run(&["calibrate", "day.csv", "--state", "s", "--outcomes", "truth.csv"]).ok();
        let row = usize::try_from(day).unwrap() - 1;
        assert_eq!(ran.table().numbers("std"), whole.numbers("std")[row..=row], "{ran}");
        let truth = folder.read("truth.csv");
        folder.write("truth.csv", format!("{truth}{day},{y}\n"));
    }
}

#[test]
fn outcomes_are_counted_by_any_column() {
    let folder = Folder::with(
        "in.csv",
        "key,region,y,mean,std\na,north,5,0,1\nb,south,0.5,0,1\na,north,4,0,1\nb,south,-0.5,0,1\n",
    );
    let ran = folder.run(&["calibrate", "in.csv", "--by", "region", "--summary", "s.json"]).ok();
    ran.says(&[
        "region   outcomes   80 % held  calibrated      CRPS",
        "north           2       0.0 %",
        "south           2     100.0 %",
    ]);
    let summary: serde_json::Value = serde_json::from_str(&folder.read("s.json")).unwrap();
    assert_eq!(summary["by"]["south"]["coverage80"]["raw"], 1.0);
    folder
        .run(&["evaluate", "in.csv", "--by", "region"])
        .ok()
        .says(&["region", "north           2       0.0 %"]);
}

/// Counts once got negative quantiles; now the flag is suggested, and with it no quantile falls below 0.
#[test]
fn bounds_hold_every_quantile() {
    let mut text = "y,q0.05,q0.25,q0.5,q0.75,q0.95\n".to_owned();
    for t in 0..60 {
        writeln!(text, "{},0.5,1,1.5,2,2.5", [0, 9, 1, 0, 6][t % 5]).unwrap();
    }
    let folder = Folder::with("in.csv", &text);
    let names = ["q0.05", "q0.25", "q0.5", "q0.75", "q0.95"];
    let least = |ran: &Ran| ran.table().rows_of(&names).concat().into_iter().fold(f64::INFINITY, f64::min);
    let free = folder
        .run(&["calibrate", "in.csv"])
        .ok()
        .says(&["below 0, where none was before: if nothing can, say --bounds 0,"]);
    let bound = folder.run(&["calibrate", "in.csv", "--bounds", "0,", "--scores"]).ok();
    assert!(least(&free) < 0.0 && least(&bound) == 0.0, "{bound}");
    assert!(!bound.stderr.contains("below 0"), "{bound}");
    // What lies above the bound is as it was.
    for (a, b) in free.table().rows_of(&names).concat().iter().zip(bound.table().rows_of(&names).concat()) {
        assert_eq!(a.max(0.0), b);
    }
    let scores = folder.run(&["calibrate", "in.csv", "--scores"]).ok().table().numbers("crps");
    assert!(scores.iter().zip(bound.table().numbers("crps")).all(|(free, bound)| bound <= free + 1e-9));
    let help = "\n\nFor more information, try '--help'.";
    folder.run(&["calibrate", "in.csv", "--bounds", "1,0"]).fails(
        2,
        &format!("error: invalid value '1,0' for '--bounds <LOW,HIGH>': \"1,0\" is no pair of bounds: write 0, or ,1 or 0,1{help}"),
    );
}
