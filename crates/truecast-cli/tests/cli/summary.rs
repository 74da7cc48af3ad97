//! `--summary`: the numbers of a run in the form that `docs/summary.schema.json` describes.

use serde_json::{Map, Value};
use truecast_streams::Scenario;

use crate::harness::Folder;
use crate::reference::{csv, steps};

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../../docs/summary.schema.json")).unwrap()
}

/// Checks a value against the keywords that the schema uses; a keyword that it does not know is an error of the test.
fn validate(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let rules: &Map<String, Value> = schema.as_object().unwrap();
    for (keyword, rule) in rules {
        match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" | "examples" => {}
            "$ref" => {
                let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                validate(root, root.pointer(pointer).unwrap(), value, at)?;
            }
            "type" => {
                let is = |name: &Value| match name.as_str().unwrap() {
                    "null" => value.is_null(),
                    "boolean" => value.is_boolean(),
                    "number" => value.is_number(),
                    "integer" => value.is_u64() || value.is_i64(),
                    "string" => value.is_string(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    other => panic!("unknown type {other}"),
                };
                let fits = rule.as_array().map_or_else(|| is(rule), |names| names.iter().any(is));
                fits.then_some(()).ok_or(format!("{at}: {value} is not of type {rule}"))?;
            }
            "minimum" | "maximum" => {
                let (limit, Some(number)) = (rule.as_f64().unwrap(), value.as_f64()) else { continue };
                let fits = if keyword == "minimum" { number >= limit } else { number <= limit };
                fits.then_some(()).ok_or(format!("{at}: {number} breaks {keyword} {limit}"))?;
            }
            "oneOf" => {
                let options = rule.as_array().unwrap();
                let fitting =
                    options.iter().filter(|option| validate(root, option, value, at).is_ok()).count();
                (fitting == 1).then_some(()).ok_or(format!("{at}: {value} fits {fitting} options"))?;
            }
            "const" => {
                (rule == value).then_some(()).ok_or(format!("{at}: {value} is not {rule}"))?;
            }
            "items" => {
                for (k, item) in value.as_array().into_iter().flatten().enumerate() {
                    validate(root, rule, item, &format!("{at}/{k}"))?;
                }
            }
            "required" => {
                let Some(object) = value.as_object() else { continue };
                for name in rule.as_array().unwrap() {
                    let there = object.contains_key(name.as_str().unwrap());
                    there.then_some(()).ok_or(format!("{at}: {name} is missing"))?;
                }
            }
            "properties" => {
                let Some(object) = value.as_object() else { continue };
                for (name, rule) in rule.as_object().unwrap() {
                    if let Some(value) = object.get(name) {
                        validate(root, rule, value, &format!("{at}/{name}"))?;
                    }
                }
            }
            "additionalProperties" => {
                if rule.is_object() {
                    for (name, value) in value.as_object().into_iter().flatten() {
                        validate(root, rule, value, &format!("{at}/{name}"))?;
                    }
                    continue;
                }
                assert_eq!(rule, false);
                let known = rules["properties"].as_object().unwrap();
                let stranger =
                    value.as_object().and_then(|object| object.keys().find(|key| !known.contains_key(*key)));
                stranger.map_or(Ok(()), |key| Err(format!("{at}: {key} is not known")))?;
            }
            "enum" => {
                let known = rule.as_array().unwrap().contains(value);
                known.then_some(()).ok_or(format!("{at}: {value} is none of {rule}"))?;
            }
            other => panic!("the schema has a keyword that this test does not check: {other}"),
        }
    }
    Ok(())
}

#[track_caller]
fn summary(folder: &Folder, args: &[&str]) -> Value {
    folder.run(&[args, &["--summary", "s.json", "-q"]].concat()).ok();
    let summary: Value = serde_json::from_str(&folder.read("s.json")).unwrap();
    let schema = schema();
    if let Err(problem) = validate(&schema, &schema, &summary, "") {
        panic!("{problem}\n{summary:#}");
    }
    summary
}

fn keys(value: &Value) -> Vec<&String> {
    value.as_object().unwrap().keys().collect()
}

#[test]
fn has_exactly_the_keys_that_are_promised() {
    let folder = Folder::with("a.csv", csv(&steps(Scenario::FourTimesTooNarrow, 2_000, 0)));
    let summary = summary(&folder, &["calibrate", "a.csv", "-o", "out.csv"]);
    assert_eq!(keys(&summary), ["calibration_score", "certificate", "coverage", "crps", "events", "rows"]);
    assert_eq!(keys(&summary["coverage"]), ["0.5", "0.8", "0.9", "0.95", "0.98"]);
    assert_eq!(keys(&summary["coverage"]["0.8"]), ["calibrated", "raw"]);
    assert_eq!(keys(&summary["crps"]), ["calibrated", "raw", "regret_percent"]);
    assert_eq!(keys(&summary["calibration_score"]), ["calibrated", "raw"]);
    assert_eq!((&summary["rows"], &summary["certificate"]["holds"]), (&2_000.into(), &true.into()));
    // The scenario's own share, and what calibration makes of it.
    let share = |side: &str| summary["coverage"]["0.8"][side].as_f64().unwrap();
    assert!((share("raw") - 0.2513).abs() < 0.04 && (share("calibrated") - 0.8).abs() < 0.03, "{summary:#}");
    // The same numbers can be had from the rows.
    let rows = folder.run(&["calibrate", "a.csv", "--scores"]).ok().table();
    let mean = |name: &str| rows.numbers(name).iter().sum::<f64>() / 2_000.0;
    for (side, name) in [("raw", "crps_raw"), ("calibrated", "crps")] {
        assert!((summary["crps"][side].as_f64().unwrap() - mean(name)).abs() < 1e-9);
    }
}

#[test]
fn of_forecasts_as_they_are_has_no_calibrated_side() {
    let mut text = "key,y,sample_1,sample_2,sample_3\n".to_owned();
    for (t, step) in steps(Scenario::Counts, 900, 0).iter().enumerate() {
        // Members that tie, and outcomes on them: the shares depend on how atoms are split.
        let centre = step.mean().round();
        let y = step.outcome.round();
        text.push_str(&format!("{},{y},{centre},{},{}\n", ["a", "b"][t % 2], centre + 1.0, centre));
    }
    let folder = Folder::with("a.csv", csv(&steps(Scenario::Demo, 900, 0)));
    folder.write("b.csv", text);
    for file in ["a.csv", "b.csv"] {
        let evaluated = summary(&folder, &["evaluate", file]);
        let calibrated = summary(&folder, &["calibrate", file, "-o", "out.csv"]);
        for (part, nested) in [("crps", false), ("calibration_score", false), ("coverage", true)] {
            let sides = |summary: &Value| -> Vec<Value> {
                let part = &summary[part];
                if nested {
                    part.as_object().unwrap().values().cloned().collect()
                } else {
                    vec![part.clone()]
                }
            };
            for (alone, both) in sides(&evaluated).iter().zip(sides(&calibrated)) {
                assert_eq!(alone["raw"], both["raw"], "{file}: {part}");
                assert!(alone["calibrated"].is_null() && !both["calibrated"].is_null());
            }
        }
        assert!(evaluated["certificate"].is_null() && evaluated["crps"]["regret_percent"].is_null());
    }
}

#[test]
fn fits_the_schema_whatever_was_run() {
    let folder = Folder::with("a.csv", csv(&steps(Scenario::Regimes, 300, 0)));
    for flags in [
        &["--method", "aci"][..],
        &["--threshold", "0.5", "--threshold", "-1"],
        &["--preset", "paper"],
        &["--key", "t"],
        &["--ledger", "group=t:2", "--on-error", "skip"],
        &["--no-lags", "--experts", "mean", "--guard", "off"],
    ] {
        summary(&folder, &[&["calibrate", "a.csv", "-o", "out.csv"], flags].concat());
    }
    folder.write("none.csv", "y,mean,std\n,0,1\n");
    assert_eq!(summary(&folder, &["calibrate", "none.csv", "-o", "out.csv"])["rows"], 0);
    folder.run(&["compare", "a.csv", "--methods", "ledger,aci", "--summary", "s.json"]).ok();
    let compared: Value = serde_json::from_str(&folder.read("s.json")).unwrap();
    let schema = schema();
    for (method, summary) in compared.as_object().unwrap() {
        validate(&schema, &schema, summary, method).unwrap();
    }
}

#[test]
fn the_schema_refuses_what_is_no_summary() {
    let schema = schema();
    let folder = Folder::with("a.csv", csv(&steps(Scenario::Regimes, 100, 0)));
    let good = summary(&folder, &["calibrate", "a.csv", "-o", "out.csv"]);
    for (pointer, value) in [
        ("/rows", Value::from(-1)),
        ("/coverage/0.8/raw", 1.5.into()),
        ("/crps", Value::Null),
        ("/crps/raw", "x".into()),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        assert!(validate(&schema, &schema, &bad, "").is_err(), "{pointer}");
    }
    let mut bad = good;
    bad["more"] = 1.into();
    assert!(validate(&schema, &schema, &bad, "").is_err());
}
