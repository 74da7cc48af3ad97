//! Forms in which one forecast is spread over many rows: a hub's, and the M5 competition's.

use std::fmt::Write as _;

use truecast::{AnyForecast, Forecast, Quantiles, Samples, normal};
use truecast_streams::{Scenario, Step};

use crate::harness::{Folder, Table};
use crate::reference::{assert_close, calibrated, calibrated_in_windows, quantiles, steps};

const P: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];
const HUB: &str = "location,reference_date,horizon,target_end_date,output_type,output_type_id,value";

fn values(step: &Step) -> Vec<f64> {
    P.iter().map(|&p| step.mean() + step.std() * normal::quantile(p)).collect()
}

fn day(t: usize) -> String {
    format!("2026-{:02}-{:02}", 1 + t / 28, 1 + t % 28)
}

fn forecast(step: &Step) -> AnyForecast {
    Quantiles::new(&P, &values(step)).unwrap().into()
}

/// What the library says about the quantiles of a series whose outcomes are known this many rows later than to the next one.
fn expected(steps: &[Step], delay: usize) -> Vec<Vec<f64>> {
    let rows = steps.iter().map(|step| (forecast(step), Some(step.outcome)));
    let take = quantiles(&P);
    calibrated(rows, delay, |forecast: &dyn Forecast| [vec![forecast.mean()], take(forecast)].concat())
}

/// Rows of two locations in a hub's form: a mean, quantiles, a median, and probabilities of categories, which no forecast is made of.
fn hub_rows(streams: &[Vec<Step>; 2], outcome: bool) -> Vec<String> {
    let mut rows = Vec::new();
    for (place, stream) in ["01", "US"].iter().zip(streams) {
        for (t, step) in stream.iter().enumerate() {
            let task = format!("{place},{},1,{}", day(t), day(t + 1));
            let y = if outcome { format!(",{}", step.outcome) } else { String::new() };
            rows.push(format!("{task},mean,,{}{y}", step.mean()));
            for (p, value) in P.iter().zip(values(step)) {
                rows.push(format!("{task},quantile,{p},{value}{y}"));
            }
            rows.push(format!("{task},median,NA,{}{y}", values(step)[2]));
            rows.push(format!("{task},pmf,large_increase,0.250{y}"));
        }
    }
    rows
}

fn streams(count: usize) -> [Vec<Step>; 2] {
    [steps(Scenario::FourTimesTooNarrow, count, 1), steps(Scenario::Demo, count, 2)]
}

/// The calibrated rows must be the library's numbers, in their places.
#[track_caller]
fn check_hub(output: &Table, streams: &[Vec<Step>; 2]) {
    for (place, stream) in ["01", "US"].iter().zip(streams) {
        // A forecast about tomorrow that is handed in today: tomorrow's forecast does not know its outcome yet.
        for (t, numbers) in expected(stream, 1).into_iter().enumerate() {
            let made = day(t);
            let of = |kind: &str| -> Vec<f64> {
                let mine = |row: &&Vec<String>| row[0] == *place && row[1] == made && row[4] == kind;
                let mut rows: Vec<&Vec<String>> = output.rows.iter().filter(mine).collect();
                rows.sort_by(|a, b| a[5].cmp(&b[5]));
                rows.iter().map(|row| row[6].parse().unwrap()).collect()
            };
            assert_close(
                &[of("mean"), of("quantile"), of("median")],
                &[vec![numbers[0]], numbers[1..].to_vec(), vec![numbers[3]]],
            );
        }
    }
}

fn assert_rest_is_the_same(before: &Table, after: &Table) {
    assert_eq!((&before.names, before.rows.len()), (&after.names, after.rows.len()));
    for (a, b) in before.rows.iter().zip(&after.rows) {
        let same = |k: usize| k == 6 && a[4] != "pmf" || a[k] == b[k];
        assert!((0..a.len()).all(same), "{a:?} became {b:?}");
    }
}

#[test]
fn a_hub_with_outcomes_in_the_file() {
    let streams = streams(60);
    let text = format!("{HUB},observation\n{}\n", hub_rows(&streams, true).join("\n"));
    let folder = Folder::with("in.csv", &text);
    let ran = folder.run(&["calibrate", "in.csv"]).ok();
    assert_rest_is_the_same(&Table::read(&text), &ran.table());
    check_hub(&ran.table(), &streams);
    ran.says(&["hub form, output_type, output_type_id, value; outcome observation", "120 rows in 2 series"]);
}

#[test]
fn a_hub_with_outcomes_in_another_file_and_rows_in_any_order() {
    let streams = streams(60);
    let mut rows = hub_rows(&streams, false);
    // 7 is prime to the number of rows, so this is a permutation.
    let count = rows.len();
    assert_ne!(count % 7, 0);
    rows = (0..count).map(|k| rows[k * 7 % count].clone()).collect();
    let text = format!("{HUB}\n{}\n", rows.join("\n"));
    let mut oracle = "target_end_date,location,output_type,output_type_id,oracle_value\n".to_owned();
    for (place, stream) in ["01", "US"].iter().zip(&streams) {
        for (t, step) in stream.iter().enumerate() {
            let date = day(t + 1);
            writeln!(oracle, "{date},{place},pmf,large_increase,1\n{date},{place},pmf,stable,0").unwrap();
            writeln!(oracle, "{date},{place},quantile,NA,{}", step.outcome).unwrap();
        }
    }
    let folder = Folder::with("in.csv", &text);
    folder.write("oracle.csv", oracle);
    let ran = folder.run(&["calibrate", "in.csv", "--outcomes", "oracle.csv"]).ok();
    assert_rest_is_the_same(&Table::read(&text), &ran.table());
    check_hub(&ran.table(), &streams);
    // Parquet has types: the values become numbers, and the same ones.
    folder.run(&["calibrate", "in.csv", "--outcomes", "oracle.csv", "-o", "out.parquet"]).ok();
    folder.run(&["evaluate", "out.parquet", "--outcomes", "oracle.csv"]).ok().says(&["120 outcomes"]);
    folder.write("other.csv", "when,oracle_value\n1,2\n");
    folder.run(&["calibrate", "in.csv", "--outcomes", "other.csv"]).fails(
        2,
        "error: other.csv: no column says which forecast an outcome belongs to\nhint: it must have some of the forecasts' columns, such as location and target_end_date",
    );
    folder.write("twice.csv", format!("location,target_end_date,y\n01,{0},1\n01,{0},2\n", day(1)));
    folder.run(&["calibrate", "in.csv", "--outcomes", "twice.csv"]).fails(
        2,
        "error: twice.csv, line 3: a second outcome for the same location, target_end_date\nhint: leave out the rows that are not meant, or say in a column as_of since when each is known",
    );
}

/// Two models' forecasts of the same day were taken for one where `--key` left the model out.
#[test]
fn a_key_chooses_series_of_a_hub_and_not_what_one_forecast_is() {
    let mut text = "model,reference_date,output_type,output_type_id,value,y\n".to_owned();
    for t in 0..3 {
        for (model, low) in [("a", 0), ("b", 100)] {
            writeln!(
                text,
                "{model},{0},quantile,0.1,{low},5\n{model},{0},quantile,0.9,{1},5",
                day(t),
                low + 9
            )
            .unwrap();
        }
    }
    let folder = Folder::with("in.csv", text);
    let refused = "error: in.csv, line 4: a second forecast of its series was made at 2026-01-01, and nothing says when their outcomes were known\nhint: name the column of what they are about with --about, of when outcomes are known with --known, or one that tells series apart with --key";
    folder.run(&["calibrate", "in.csv", "--key", "none"]).fails(2, refused);
    let ran = folder.run(&["calibrate", "in.csv", "--key", "none", "--made", "none"]).ok();
    assert_eq!(
        ran.table().numbers("value")[2..4].iter().map(|x| x.round()).collect::<Vec<_>>(),
        [100.0, 109.0]
    );
    ran.says(&["6 rows in 1 series"]);
}

#[test]
fn a_hub_says_an_outcome_once_and_a_quantile_once() {
    let head = "reference_date,output_type,output_type_id,value,y";
    let row = |p: f64, value: f64, y: &str| format!("{},quantile,{p},{value},{y}\n", day(0));
    let file = |rows: &[String]| Folder::with("in.csv", format!("{head}\n{}", rows.concat()));
    file(&[row(0.1, 1.0, ""), row(0.9, 3.0, "2")]).run(&["evaluate", "in.csv"]).ok().says(&["1 outcome"]);
    file(&[row(0.1, 1.0, "2"), row(0.9, 3.0, "2.5")]).run(&["calibrate", "in.csv"]).fails(
        2,
        "error: in.csv, line 3, column y: \"2.5\": the forecast's rows before this one have another outcome",
    );
    file(&[row(0.1, 1.0, ""), row(0.9, 3.0, ""), row(0.1, 2.0, "")]).run(&["calibrate", "in.csv"]).fails(
        2,
        "error: in.csv, line 2: the forecast that begins here: probabilities of the quantiles must increase, but entry 1 is 0.1 after 0.1\nhint: two rows have different values of one quantile; a column that tells their forecasts apart may be missing",
    );
}

#[test]
fn samples_of_a_hub_move_to_the_quantiles_of_their_ranks() {
    let stream = steps(Scenario::FourTimesTooNarrow, 40, 3);
    let members = |step: &Step| [0.5, -1.0, 2.0].map(|z| step.mean() + z * step.std());
    let mut text = format!("{HUB},observation\n");
    for (t, step) in stream.iter().enumerate() {
        for (k, member) in members(step).iter().enumerate() {
            writeln!(text, "01,{},1,{},sample,s{k},{member},{}", day(t), day(t + 1), step.outcome).unwrap();
        }
    }
    let folder = Folder::with("in.csv", text);
    let found = folder.run(&["calibrate", "in.csv"]).ok().table().numbers("value");
    let found: Vec<Vec<f64>> = found.chunks(3).map(<[f64]>::to_vec).collect();
    let rows = stream
        .iter()
        .map(|step| (AnyForecast::from(Samples::new(&members(step)).unwrap()), Some(step.outcome)));
    assert_close(&found, &calibrated(rows, 1, quantiles(&[0.5, 0.5 / 3.0, 2.5 / 3.0])));
}

#[test]
fn rows_of_a_hub_that_break_a_rule_leave_the_output() {
    let head = "location,reference_date,horizon,target_end_date";
    let task = format!("01,{},1,{}", day(0), day(1));
    let good = format!("{task},quantile,0.1,1\n{task},quantile,0.5,2\n{task},quantile,0.9,3\n");
    let (no_value, no_probability) =
        (format!("{task},quantile,0.75,NA\n"), format!("{task},quantile,1.5,2\n"));
    let lonely = format!("02,{},1,{},quantile,0.5,2\n", day(0), day(1));
    let text = format!("{head},output_type,output_type_id,value\n{no_value}{good}{no_probability}{lonely}");
    let folder = Folder::with("in.csv", text);
    let all = folder.run(&["calibrate", "in.csv"]);
    all.fails(2, "error: in.csv, line 2, column value: \"NA\": a forecast must be there\nhint: a row may lack an outcome, not a forecast; --on-error skip leaves such rows out");
    let ran = folder.run(&["calibrate", "in.csv", "--on-error", "skip"]).ok();
    assert_eq!(ran.table().column("output_type_id"), ["0.1", "0.5", "0.9"], "{ran}");
    ran.says(&[
        "3 rows were left out",
        "line 6, column output_type_id: \"1.5\": a quantile's probability lies between 0 and 1",
        "line 7: the forecast that begins here: ",
    ]);
}

const M5_P: [&str; 5] = ["0.050", "0.250", "0.500", "0.750", "0.950"];

fn m5(stream: &[Step], phase: &str) -> String {
    let mut text = String::new();
    for (k, p) in M5_P.iter().enumerate() {
        write!(text, "FOODS_1_{p}_{phase}").unwrap();
        for step in stream {
            write!(text, ",{}", values(step)[k]).unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
fn rows_of_the_m5_competition() {
    let stream = steps(Scenario::FourTimesTooNarrow, 56, 4);
    let days: Vec<String> = (1..=28).map(|day| format!("F{day}")).collect();
    // Evaluation stands first in the file and comes second in time.
    let rows = [m5(&stream[28..], "evaluation"), m5(&stream[..28], "validation")].concat();
    let text = format!("id,{}\n{rows}", days.join(","));
    let folder = Folder::with("in.csv", &text);
    let outcomes =
        |steps: &[Step]| steps.iter().map(|step| step.outcome.to_string()).collect::<Vec<_>>().join(",");
    let by_day = format!(
        "id,{}\nFOODS_1_validation,{}\nFOODS_1_evaluation,{}\n",
        days.join(","),
        outcomes(&stream[..28]),
        outcomes(&stream[28..])
    );
    folder.write("days.csv", by_day);
    let dates: Vec<String> = (1914..1970).map(|day| format!("d_{day}")).collect();
    folder.write("dates.csv", format!("id,{}\nFOODS_1_evaluation,{}\n", dates.join(","), outcomes(&stream)));
    // All days of a phase are forecast before it begins: validation learns nothing, evaluation all of validation.
    let rows = stream.iter().map(|step| (forecast(step), Some(step.outcome)));
    let take = quantiles(&P);
    let expected = calibrated_in_windows(rows, 28, |forecast: &dyn Forecast| {
        [vec![forecast.mean()], take(forecast)].concat()
    });
    for file in ["days.csv", "dates.csv"] {
        let ran = folder.run(&["calibrate", "in.csv", "--outcomes", file]).ok();
        let table = ran.table();
        assert_eq!(
            (&table.names, table.column("id")),
            (&Table::read(&text).names, Table::read(&text).column("id"))
        );
        for (t, numbers) in expected.iter().enumerate() {
            let column = table.numbers(&days[t % 28]);
            let found = if t < 28 { &column[5..] } else { &column[..5] };
            assert_close(&[found.to_vec()], &[numbers[1..].to_vec()]);
        }
        ran.says(&["M5 form, id with F1, F2, …, F28", "of 56 outcomes"]);
    }
    folder.run(&["evaluate", "in.csv", "--outcomes", "days.csv"]).ok().says(&["56 outcomes"]);
    folder.write("bad.csv", "id,F1\nFOODS_1_validation,2\n");
    folder.run(&["calibrate", "bad.csv"]).fails(
        2,
        "error: bad.csv, line 2, column id: \"FOODS_1_validation\": must be a series, a probability and validation or evaluation, such as Total_X_0.250_validation",
    );
}

#[test]
fn long_forms_come_out_as_they_came_in() {
    let streams = streams(40);
    let text = format!("{HUB},observation\n{}\n", hub_rows(&streams, true).join("\n"));
    let folder = Folder::with("in.csv", &text);
    folder.write("none.csv", format!("{HUB}\n"));
    folder.run(&["calibrate", "in.csv", "--quantiles", "0.5"]).fails(
        2,
        "error: --quantiles and --intervals are for forms with one row for each forecast\nhint: hub and M5 forms come out with the quantiles that they came in with",
    );
    let table = folder
        .run(&["calibrate", "in.csv", "--scores", "--ledger", "group=location:2", "--key", "none"])
        .ok()
        .table();
    let scored = table.rows.iter().filter(|row| !row[8].is_empty()).count();
    // The rows of categories belong to no forecast.
    assert_eq!(
        (&table.names[8..], scored),
        (&["pit_raw", "pit", "crps_raw", "crps"].map(String::from)[..], 2 * 40 * 7)
    );
    folder.run(&["compare", "in.csv", "--methods", "ledger,aci"]).ok().says(&[
        "80 outcomes",
        "ledger",
        "aci",
    ]);
    assert_eq!(folder.run(&["calibrate", "none.csv"]).ok().text(), format!("{HUB}\n"));
}
