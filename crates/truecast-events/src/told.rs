//! A run in words: whether calibration helped, and where.

use std::fmt::Write as _;

use truecast_fleet::Tally;

/// Changes of less than this, in percent, are none.
const EVEN: f64 = 0.05;

/// One sentence on whether calibration helped. Empty without outcomes.
pub fn verdict(tally: &Tally) -> String {
    let Some(change) = tally.change() else { return String::new() };
    let off = |held: u64| (100.0 * held as f64 / tally.outcomes as f64 - 80.0).abs();
    let (raw, calibrated) = (off(tally.raw), off(tally.calibrated));
    let accuracy = match change {
        change if change > EVEN => format!(
            "less accurate: their CRPS is {change:.1} % WORSE than that of the forecasts as they came"
        ),
        change if change < -EVEN => format!(
            "more accurate: their CRPS is {:.1} % better than that of the forecasts as they came",
            -change
        ),
        _ => "as accurate as the forecasts that came in".to_owned(),
    };
    let honesty = match calibrated - raw {
        difference if difference > 0.5 => "and less honest",
        difference if difference < -0.5 => "and more honest",
        _ => "and as honest",
    };
    format!("calibrated forecasts were {accuracy}, {honesty}")
}

/// One line for each part of the outcomes: how often 80 % intervals held, before and after, and the change of the CRPS.
pub fn table(head: &str, parts: &[(String, Tally)]) -> String {
    let width =
        parts.iter().map(|(name, _)| name.chars().count()).chain([head.chars().count()]).max().unwrap_or(0);
    let mut text = format!(
        "{head:<width$}  {:>9}  {:>10}  {:>10}  {:>8}",
        "outcomes", "80 % held", "calibrated", "CRPS"
    );
    for (name, tally) in parts {
        let share = |held: u64| match tally.outcomes {
            0 => "-".to_owned(),
            all => format!("{:.1} %", 100.0 * held as f64 / all as f64),
        };
        let change = tally.change().map_or("-".to_owned(), |change| format!("{change:+.1} %"));
        let _ = write!(
            text,
            "\n{name:<width$}  {:>9}  {:>10}  {:>10}  {change:>8}",
            tally.outcomes,
            share(tally.raw),
            share(tally.calibrated)
        );
        if tally.change().is_some_and(|change| change > EVEN) {
            text.push_str("  worse");
        }
    }
    text
}
