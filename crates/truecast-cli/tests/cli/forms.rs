//! Forms with one row for each forecast: what comes out has the form that came in, with the library's own numbers.

use std::fmt::Write as _;

use truecast::{AnyForecast, Forecast, Quantiles, Samples, normal};
use truecast_streams::{Scenario, Step};

use crate::harness::{Folder, Table};
use crate::reference::{Row, assert_close, calibrated, gaussian, mean_std, quantiles, rows, steps};

/// A file with a column before and one after the forecast's, and a quoted note in between: all of them must pass through.
fn file(header: &[&str], steps: &[Step], cells: impl Fn(&Step) -> Vec<f64>) -> String {
    let mut text = format!("note,{},y,last\n", header.join(","));
    for (row, step) in steps.iter().enumerate() {
        let cells: Vec<String> = cells(step).iter().map(f64::to_string).collect();
        writeln!(text, "n-{row:03},{},{},1e-{row}", cells.join(","), step.outcome).unwrap();
    }
    text
}

/// Calibrates the file: the header and all columns but the forecast's must be as they were.
#[track_caller]
fn run(text: &str, forecast: &[&str], flags: &[&str]) -> Table {
    let folder = Folder::with("in.csv", text);
    let ran = folder.run(&[&["calibrate", "in.csv"], flags].concat()).ok();
    let (before, after) = (Table::read(text), ran.table());
    assert_eq!(before.names, after.names[..before.names.len()], "{ran}");
    for name in before.names.iter().filter(|name| !forecast.contains(&name.as_str())) {
        assert_eq!(before.column(name), after.column(name), "{ran}");
    }
    after
}

#[test]
fn mean_and_standard_deviation_in_many_spellings() {
    let steps = steps(Scenario::Drift, 400, 1);
    let expected = calibrated(rows(&steps), 0, mean_std);
    for (mean, std) in [
        ("mean", "std"),
        ("mu", "sigma"),
        ("μ", "σ"),
        ("loc", "scale"),
        ("Forecast_Mean", "FORECAST_SD"),
        ("y_hat", "stddev"),
        ("prediction", "standard_deviation"),
    ] {
        let text = file(&[std, mean], &steps, |step| vec![step.std(), step.mean()]);
        let found = run(&text, &[mean, std], &[]).rows_of(&[mean, std]);
        assert_eq!(found, expected, "{mean}, {std}: bit for bit");
    }
    let text = file(&["centre", "spread"], &steps, |step| vec![step.mean(), step.std()]);
    let named = run(&text, &["centre", "spread"], &["--mean", "centre", "--std", "spread"]);
    assert_eq!(named.rows_of(&["centre", "spread"]), expected);
}

#[test]
fn a_variance_comes_back_as_one() {
    let steps = steps(Scenario::Volatility, 400, 1);
    for name in ["variance", "var", "sigma2"] {
        let text = file(&["mean", name], &steps, |step| vec![step.mean(), step.std() * step.std()]);
        let rows = steps.iter().map(|step| {
            let variance: f64 = step.std() * step.std();
            (gaussian(step.mean(), variance.sqrt()), Some(step.outcome))
        });
        let expected = calibrated(rows, 0, |forecast| vec![forecast.mean(), forecast.variance()]);
        assert_eq!(run(&text, &["mean", name], &[]).rows_of(&["mean", name]), expected);
    }
}

const PROBABILITIES: [f64; 5] = [0.025, 0.1, 0.5, 0.9, 0.975];

fn quantile_values(step: &Step) -> Vec<f64> {
    PROBABILITIES.iter().map(|&p| step.mean() + step.std() * normal::quantile(p)).collect()
}

fn quantile_rows(steps: &[Step], probabilities: &[f64], values: impl Fn(&Step) -> Vec<f64>) -> Vec<Row> {
    let forecast = |step: &Step| AnyForecast::from(Quantiles::new(probabilities, &values(step)).unwrap());
    steps.iter().map(|step| (forecast(step), Some(step.outcome))).collect()
}

#[test]
fn quantile_columns_in_many_spellings() {
    let steps = steps(Scenario::FourTimesTooNarrow, 300, 2);
    let expected =
        calibrated(quantile_rows(&steps, &PROBABILITIES, quantile_values), 0, quantiles(&PROBABILITIES));
    for names in [
        ["q0.025", "q0.1", "q0.5", "q0.9", "q0.975"],
        ["q025", "q10", "q50", "q90", "q975"],
        ["0.025", "0.1", "0.5", "0.9", "0.975"],
        ["quantile_P2.5", "quantile_P10", "quantile_P50", "quantile_P90", "quantile_P97.5"],
        ["Quantile_0.025", "quantile_0.1", "quantile_0.5", "quantile_0.9", "quantile_0.975"],
    ] {
        let text = file(&names, &steps, quantile_values);
        assert_close(&run(&text, &names, &[]).rows_of(&names), &expected);
        // Their order in the file says nothing: their names do.
        let mut reversed = names;
        reversed.reverse();
        let text = file(&reversed, &steps, |step| quantile_values(step).into_iter().rev().collect());
        assert_close(&run(&text, &names, &[]).rows_of(&names), &expected);
    }
}

#[test]
fn quantiles_that_cross_are_sorted_and_told() {
    let text = "y,q0.1,q0.5,q0.9\n1,2,1,3\n1,0,1,2\n";
    let folder = Folder::with("in.csv", text);
    folder.run(&["calibrate", "in.csv"]).ok().says(&["quantiles crossed in 1 row and were sorted"]);
}

fn nixtla(models: &[&str], steps: &[Step]) -> String {
    let mut text = "unique_id,ds,y".to_owned();
    for model in models {
        write!(text, ",{model},{model}-lo-95,{model}-lo-80,{model}-hi-80,{model}-hi-95").unwrap();
    }
    text.push('\n');
    for (row, step) in steps.iter().enumerate() {
        write!(text, "H1,2026-01-{:02}T{:02}:00,{}", 1 + row / 24, row % 24, step.outcome).unwrap();
        for k in 0..models.len() {
            let values = quantile_values(step);
            for value in [values[2], values[0], values[1], values[3], values[4]] {
                write!(text, ",{}", value + k as f64).unwrap();
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn frames_of_nixtla() {
    let steps = steps(Scenario::Demo, 300, 2);
    let names = ["A-lo-95", "A-lo-80", "A", "A-hi-80", "A-hi-95"];
    let table = run(&nixtla(&["A"], &steps), &names, &[]);
    let expected =
        calibrated(quantile_rows(&steps, &PROBABILITIES, quantile_values), 0, quantiles(&PROBABILITIES));
    assert_close(&table.rows_of(&names), &expected);
    let text = nixtla(&["A", "My-B"], &steps);
    let folder = Folder::with("in.csv", &text);
    folder.run(&["calibrate", "in.csv"]).fails(
        2,
        "error: in.csv: several columns may hold the forecast:\n  intervals: A-lo-95, A-lo-80, A, A-hi-80, A-hi-95\n  \
         intervals: My-B-lo-95, My-B-lo-80, My-B, My-B-hi-80, My-B-hi-95\nhint: choose with --model A or --model My-B",
    );
    let chosen = run(&text, &names, &["--model", "A"]);
    assert_eq!(chosen.rows_of(&names), table.rows_of(&names), "the other model passes through");
}

#[test]
fn members_of_an_ensemble_move_to_the_quantiles_of_their_ranks() {
    let steps = steps(Scenario::FourTimesTooNarrow, 200, 3);
    let members = |step: &Step| -> Vec<f64> {
        // Out of order on purpose.
        [0.7, -1.3, 0.1, 1.9, -0.4].iter().map(|z| step.mean() + z * step.std()).collect()
    };
    let ranks = [3usize, 0, 2, 4, 1];
    let rows = steps
        .iter()
        .map(|step| (AnyForecast::from(Samples::new(&members(step)).unwrap()), Some(step.outcome)));
    let expected = calibrated(rows, 0, |forecast: &dyn Forecast| {
        ranks.iter().map(|&rank| forecast.quantile((rank as f64 + 0.5) / 5.0)).collect()
    });
    for names in [
        ["sample_1", "sample_2", "sample_3", "sample_4", "sample_5"],
        ["Member0", "Member1", "Member2", "Member3", "Member4"],
        ["draw.7", "draw.8", "draw.9", "draw.10", "draw.11"],
    ] {
        let text = file(&names, &steps, members);
        assert_close(&run(&text, &names, &[]).rows_of(&names), &expected);
    }
}

#[test]
fn a_point_forecast_gets_intervals() {
    let steps = steps(Scenario::Demo, 500, 3);
    for (name, flags) in [("yhat", &[][..]), ("point", &[]), ("sales", &["--point", "sales"])] {
        let text = file(&[name], &steps, |step| vec![step.mean()]);
        let table = run(&text, &[name], flags);
        let intervals = ["lo-50", "hi-50", "lo-80", "hi-80", "lo-95", "hi-95"];
        assert_eq!(table.names[4..], intervals);
        let order = ["lo-95", "lo-80", "lo-50", name, "hi-50", "hi-80", "hi-95"];
        for (row, values) in table.rows_of(&order).iter().enumerate() {
            assert!(values.is_sorted(), "row {row}: {values:?}");
        }
        let held = |row: &Vec<f64>| (row[0]..=row[1]).contains(&row[2]);
        let share = table.rows_of(&["lo-80", "hi-80", "y"]).iter().skip(100).filter(|row| held(row)).count();
        assert!((300..=340).contains(&share), "80 % of 400 is 320, and {share} were held");
    }
    // What was written can be read again: now it is a forecast with intervals.
    let folder = Folder::with("in.csv", file(&["yhat"], &steps, |step| vec![step.mean()]));
    folder.run(&["calibrate", "in.csv", "-o", "out.csv"]).ok();
    folder.run(&["evaluate", "out.csv"]).ok().says(&["quantiles lo-95 (0.025)"]);
}

#[test]
fn rows_without_an_outcome_are_forecast_too() {
    let mut text =
        file(&["mean", "std"], &steps(Scenario::Demo, 50, 0), |step| vec![step.mean(), step.std()]);
    text.push_str("future,1,0.5,,\nfuture,1,0.5,NA,\nfuture,1,0.5,nan,x\n");
    let table = run(&text, &["mean", "std"], &[]);
    let last = &table.rows_of(&["mean", "std"])[50..];
    assert!(last[0][1] > 0.0 && last[0] == last[1] && last[1] == last[2], "{last:?}");
}

#[test]
fn the_columns_of_one_form_may_be_named_where_another_is_there_too() {
    let text = "y,mean,std,q10,q0.1,q0.9\n1,0,1,-1,-1,1\n";
    let folder = Folder::with("in.csv", text);
    folder.run(&["calibrate", "in.csv", "--form", "gaussian"]).ok();
    folder.run(&["calibrate", "in.csv", "--mean", "mean", "--std", "std"]).ok();
    folder.run(&["calibrate", "in.csv", "--form", "quantiles"]).fails(
        2,
        "error: in.csv: the columns q10 and q0.1 are both the quantile 0.1\nhint: leave one of them out",
    );
}
