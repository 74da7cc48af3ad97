//! The table, for the terminal and as Markdown.

use std::fmt::Write as _;

use truecast_bo::Benchmark;
use truecast_bo::reproduction::{Comparison, Coverage, Estimate, Row};

use super::result::paper;

/// The columns of one line.
pub(crate) const HEADS: [&str; 8] = [
    "variant",
    "final least",
    "the paper's",
    "against plain",
    "stuck",
    "κ",
    "80 % covers: queried",
    "80 % covers: random",
];

/// The benchmarks of a comparison, in its order.
pub(crate) fn benchmarks(comparison: &Comparison) -> Vec<Benchmark> {
    let mut all: Vec<Benchmark> = comparison.rows.iter().map(|row| row.benchmark).collect();
    all.dedup();
    all
}

/// One line for each variant on this benchmark, as text.
pub(crate) fn lines(benchmark: Benchmark, comparison: &Comparison) -> Vec<[String; 8]> {
    comparison.rows.iter().filter(|row| row.benchmark == benchmark).map(line).collect()
}

fn line(row: &Row) -> [String; 8] {
    let reported = paper(row.benchmark, row.variant);
    let reported = reported.map(|(mean, error)| Estimate { mean, error: Some(error) });
    [
        row.variant.to_string(),
        format!("{:.3}", row.last),
        reported.map_or("–".to_owned(), |reported| format!("{reported:.3}")),
        row.difference.map_or(String::new(), |difference| format!("{difference:+.3}")),
        format!("{:.0} %", 100.0 * row.stuck),
        row.multiplier.map_or(String::new(), |kappa| format!("{kappa:.2}")),
        both(row.at_chosen, row.recalibrated_at_chosen),
        both(row.at_random, row.recalibrated_at_random),
    ]
}

/// Raw, and recalibrated where that is another number of outcomes.
fn both(raw: Coverage, recalibrated: Coverage) -> String {
    let percent =
        |of: Coverage| of.share().map_or("–".to_owned(), |share| format!("{:.0} %", 100.0 * share));
    if raw == recalibrated { percent(raw) } else { format!("{} → {}", percent(raw), percent(recalibrated)) }
}

/// For the terminal.
pub(crate) fn text(comparison: &Comparison) -> String {
    let mut text = String::new();
    for benchmark in benchmarks(comparison) {
        let _ = writeln!(text, "{benchmark} (least value {:.4})", benchmark.minimum());
        for line in std::iter::once(HEADS.map(str::to_owned)).chain(lines(benchmark, comparison)) {
            let [variant, last, reported, difference, stuck, kappa, queried, random] = line;
            let _ = writeln!(
                text,
                "  {variant:<13}{last:>20}{reported:>18}{difference:>18}{stuck:>7}{kappa:>6}{queried:>22}{random:>21}"
            );
        }
        text.push('\n');
    }
    text
}

/// As Markdown.
pub(crate) fn markdown(comparison: &Comparison) -> String {
    let mut text = String::new();
    for benchmark in benchmarks(comparison) {
        let _ = writeln!(text, "### {benchmark} (least value {:.4})\n", benchmark.minimum());
        let _ = writeln!(text, "| {} |\n|---{}|", HEADS.join(" | "), "|---:".repeat(HEADS.len() - 1));
        for line in lines(benchmark, comparison) {
            let _ = writeln!(text, "| {} |", line.join(" | "));
        }
        text.push('\n');
    }
    text
}
