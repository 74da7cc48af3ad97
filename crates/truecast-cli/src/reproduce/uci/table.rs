//! The table, for the terminal and as Markdown.

use std::fmt::Write as _;

use super::column::Column;
use super::result::{Cell, Outcome, Spread, paper};

/// The columns of one line: what they are called, and what they say.
pub(crate) const HEADS: [&str; 6] = ["method", "score", "the paper's", "CRPS", "change", "80 % covers"];

/// One line for each column of the experiment, as text.
pub(crate) fn lines(outcome: &Outcome) -> Vec<[String; 6]> {
    Column::ALL.into_iter().map(|column| line(outcome, column)).collect()
}

fn line(outcome: &Outcome, column: Column) -> [String; 6] {
    let Cell { score, crps, coverage80, .. } = outcome.cell(column);
    let reported = paper(outcome.dataset, column).map_or("–".to_owned(), |(score, error)| {
        with_error(column.is_randomised(), Spread { mean: score, error }, 4)
    });
    let change = match column {
        Column::Raw => String::new(),
        _ => format!("{:+.2} %", outcome.crps_change(column)),
    };
    [
        column.title().to_owned(),
        with_error(column.is_randomised(), *score, 5),
        reported,
        format!("{:.4}", crps.mean),
        change,
        format!("{:.1} %", 100.0 * coverage80.mean),
    ]
}

/// Deterministic columns have no standard error over coins, whatever the paper gives for its own.
fn with_error(randomised: bool, of: Spread, decimals: usize) -> String {
    if randomised || of.error > 0.0 {
        format!("{:.decimals$} ± {:.decimals$}", of.mean, of.error)
    } else {
        format!("{:.decimals$}", of.mean)
    }
}

/// For the terminal.
pub(crate) fn text(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        let _ = writeln!(text, "{} ({} forecasts)", outcome.dataset.title(), outcome.rows);
        for line in std::iter::once(HEADS.map(str::to_owned)).chain(lines(outcome)) {
            let [method, score, reported, crps, change, coverage] = line;
            let _ =
                writeln!(text, "  {method:<25}{score:>19}{reported:>18}{crps:>10}{change:>10}{coverage:>13}");
        }
        text.push('\n');
    }
    text
}

/// As Markdown.
pub(crate) fn markdown(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        let _ = writeln!(text, "### {} ({} forecasts)\n", outcome.dataset.title(), outcome.rows);
        let _ = writeln!(text, "| {} |\n|---{}|", HEADS.join(" | "), "|---:".repeat(HEADS.len() - 1));
        for line in lines(outcome) {
            let _ = writeln!(text, "| {} |", line.join(" | "));
        }
        text.push('\n');
    }
    text
}
