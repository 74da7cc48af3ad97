//! The cases that the command and the Python package run alike: `crates/truecast-events/tests/cases`.

use serde_json::Value;

use crate::harness::{Folder, Table};

/// Columns in which a forecast may stand.
fn is_forecast(name: &str) -> bool {
    let known = ["mean", "std", "value", "yhat", "yhat_lower", "yhat_upper"];
    known.contains(&name) || name.starts_with('q') && name != "quantile" || name.starts_with("y_q")
}

/// A flag of Python in the command's words.
fn flags(asked: &Value) -> Vec<String> {
    let mut flags = Vec::new();
    for (name, value) in asked.as_object().unwrap() {
        let flag = format!("--{}", name.replace('_', "-"));
        match value {
            Value::Object(cells) => {
                for (column, cell) in cells {
                    flags.extend([flag.clone(), format!("{column}={}", cell.as_str().unwrap())]);
                }
            }
            Value::Array(list) => {
                let list: Vec<&str> = list.iter().map(|item| item.as_str().unwrap()).collect();
                flags.extend([flag, list.join(",")]);
            }
            Value::String(text) => flags.extend([flag, text.clone()]),
            number => flags.extend([flag, number.to_string()]),
        }
    }
    flags
}

/// The numbers of forecasts that must have changed, or must not, to 1e-9.
#[track_caller]
fn check(case: &Value, before: &Table, after: &Table) {
    let name = &case["name"];
    let columns: Vec<usize> = (0..before.names.len()).filter(|&at| is_forecast(&before.names[at])).collect();
    let moved = |row: usize| {
        columns.iter().any(|&at| {
            match (before.rows[row][at].parse::<f64>(), after.rows[row][at].parse::<f64>()) {
                (Ok(a), Ok(b)) => (a - b).abs() > 1e-9 * a.abs().max(1.0),
                _ => before.rows[row][at] != after.rows[row][at],
            }
        })
    };
    for (what, expected) in [("same", false), ("other", true)] {
        for row in case[what].as_array().into_iter().flatten() {
            let row = usize::try_from(row.as_u64().unwrap()).unwrap();
            assert_eq!(
                moved(row),
                expected,
                "{name}: row {row}: {:?} became {:?}",
                before.rows[row],
                after.rows[row]
            );
        }
    }
}

#[test]
fn of_times_and_outcomes() {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../../../truecast-events/tests/cases/times.json")).unwrap();
    for case in &cases {
        let folder = Folder::with("in.csv", case["table"].as_str().unwrap());
        let mut args = vec!["calibrate".to_owned(), "in.csv".to_owned()];
        if let Some(outcomes) = case["outcomes"].as_str() {
            folder.write("outcomes.csv", outcomes);
            args.extend(["--outcomes".to_owned(), "outcomes.csv".to_owned()]);
        }
        args.extend(flags(&case["asked"]));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ran = folder.run(&args);
        match case["error"].as_array() {
            Some(words) => {
                assert_eq!(ran.code, Some(2), "{}: {ran}", case["name"]);
                words.iter().for_each(|word| {
                    assert!(
                        ran.stderr.contains(word.as_str().unwrap()),
                        "{}: without {word}: {ran}",
                        case["name"]
                    );
                });
            }
            None => check(case, &Table::read(case["table"].as_str().unwrap()), &ran.ok().table()),
        }
    }
}
