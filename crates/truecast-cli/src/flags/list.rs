//! Lists of numbers on the command line: `0.05,0.5,0.95`, `50,80,95`.

use std::str::FromStr;

use serde::Deserialize;

/// Probabilities greater than 0 and less than 1, increasing.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Vec<f64>")]
pub(crate) struct Probabilities(pub(crate) Vec<f64>);

/// Coverages of central intervals in percent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Vec<f64>")]
pub(crate) struct Percentages(pub(crate) Vec<f64>);

fn numbers(text: &str) -> Result<Vec<f64>, String> {
    text.split(',').map(|part| part.trim().parse().map_err(|_| format!("{part:?} is not a number"))).collect()
}

impl TryFrom<Vec<f64>> for Probabilities {
    type Error = String;
    fn try_from(mut values: Vec<f64>) -> Result<Self, String> {
        if values.is_empty() {
            return Err("name at least one probability".to_owned());
        }
        if let Some(value) = values.iter().find(|&&value| !(value > 0.0 && value < 1.0)) {
            return Err(format!("a probability must be greater than 0 and less than 1, got {value}"));
        }
        values.sort_by(f64::total_cmp);
        values.dedup();
        Ok(Probabilities(values))
    }
}

impl TryFrom<Vec<f64>> for Percentages {
    type Error = String;
    fn try_from(mut values: Vec<f64>) -> Result<Self, String> {
        if values.is_empty() {
            return Err("name at least one interval".to_owned());
        }
        // Just below 100 the upper end's probability rounds to 1, which is no quantile's.
        let has_ends = |value: f64| value > 0.0 && (100.0 + value) / 200.0 < 1.0;
        if let Some(value) = values.iter().find(|&&value| !has_ends(value)) {
            return Err(format!("an interval covers more than 0 and less than 100 percent, got {value}"));
        }
        // 0.8 is almost surely meant as a share.
        if let Some(value) = values.iter().find(|&&value| value < 1.0) {
            return Err(format!("intervals are in percent: {} instead of {value}", 100.0 * value));
        }
        values.sort_by(f64::total_cmp);
        values.dedup();
        Ok(Percentages(values))
    }
}

impl FromStr for Probabilities {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        numbers(text)?.try_into()
    }
}

impl FromStr for Percentages {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        numbers(text)?.try_into()
    }
}
