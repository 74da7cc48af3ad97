//! The end of a run in words: the best point, how trials went, and what to do next.

use std::fmt::Write as _;
use std::path::Path;

use truecast_bo::{Dimension, Scale, Value};
use truecast_report::number::significant;

use super::results::Results;
use super::template::plain;
use crate::failure::Result;
use crate::terminal::{count, plural};

/// Trials without a better one, as a share of all, after which more of them promise little.
const SETTLED: f64 = 0.3;

/// For the terminal.
pub(crate) fn text(results: &Results<'_>) -> Result<String> {
    let (told, failed) = (results.told().len() as u64, results.failed().len() as u64);
    let mut text = format!(
        "{} {}: {} with an outcome, {} failed\n",
        count(told + failed),
        plural(told + failed, "trial", "trials"),
        count(told),
        count(failed)
    );
    let Some(best) = results.best() else { return Ok(text) };
    let width = results.study.space().dimensions().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let width = width.max("best value".len());
    let _ = writeln!(text, "{:<width$}  {}   (trial {})", "best value", best.value, best.step.number + 1);
    for ((name, _), value) in results.study.space().dimensions().zip(&best.step.point) {
        let _ = writeln!(text, "{name:<width$}  {}", plain(value));
    }
    let coverage = results.coverage()?;
    if coverage.raw.count > 0 {
        let _ = writeln!(
            text,
            "The surrogate's 80 % intervals, made before the outcome, held {} of {}.",
            coverage.recalibrated.hits, coverage.recalibrated.count
        );
    }
    Ok(text)
}

/// What somebody might do now, the most pressing first.
pub(crate) fn hints(results: &Results<'_>, study: Option<&Path>) -> Vec<String> {
    let mut hints = Vec::new();
    let (told, failed) = (results.told().len(), results.failed().len());
    if failed * 2 > told {
        hints.push("most trials failed: a space without what cannot run is searched better".to_owned());
    }
    let Some(best) = results.best() else { return hints };
    for ((name, dimension), value) in results.study.space().dimensions().zip(&best.step.point) {
        if let Some(bound) = at_bound(dimension, value) {
            hints.push(format!(
                "{name} is best at its {bound} bound of {}: a wider one may be better",
                plain(value)
            ));
        }
    }
    let trials = results.study.steps().len();
    let since = trials as u64 - (best.step.number + 1);
    if (since as f64) < SETTLED * trials as f64 {
        let how = match study {
            Some(path) => format!("--trials {} --resume {} goes on", 2 * trials, path.display()),
            None => {
                format!("--trials {} finds more; with --resume STUDY it would go on from here", 2 * trials)
            }
        };
        hints.push(format!("the best is {since} trials old: {how}"));
    } else {
        hints.push(format!(
            "no better value than {} in the last {since} trials: another --seed tells whether it is the best there is",
            significant(best.value)
        ));
    }
    hints
}

/// Which bound of its dimension a number lies on, to a thousandth of the range.
fn at_bound(dimension: &Dimension, value: &Value) -> Option<&'static str> {
    let place = match (dimension, value) {
        (Dimension::Real { low, high, scale: Scale::Linear }, Value::Real(x)) => (x - low) / (high - low),
        (Dimension::Real { low, high, scale: Scale::Log }, Value::Real(x)) => {
            (x / low).ln() / (high / low).ln()
        }
        (Dimension::Integer { low, .. }, Value::Integer(x)) if x == low => 0.0,
        (Dimension::Integer { high, .. }, Value::Integer(x)) if x == high => 1.0,
        _ => return None,
    };
    match place {
        ..=0.001 => Some("lower"),
        0.999.. => Some("upper"),
        _ => None,
    }
}
