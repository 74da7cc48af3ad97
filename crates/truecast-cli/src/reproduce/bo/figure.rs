//! Convergence, as in the paper's figures: the least outcome so far, averaged over the runs, after each step.

use truecast_bo::Benchmark;
use truecast_bo::reproduction::{Comparison, Row, Variant};
use truecast_report::chart::{Axis, Band, Colour, LineChart, Rule, Series, Size};

/// Two of the controls are in the table alone: more lines than these cannot be told apart.
const DRAWN: [(Variant, Colour); 5] = [
    (Variant::Plain, Colour::Raw),
    (Variant::Paper, Colour::Series(3)),
    (Variant::Ledger, Colour::Series(2)),
    (Variant::Online, Colour::Calibrated),
    (Variant::Anneal, Colour::Neutral),
];

fn row(benchmark: Benchmark, variant: Variant, comparison: &Comparison) -> Option<&Row> {
    comparison.rows.iter().find(|row| (row.benchmark, row.variant) == (benchmark, variant))
}

/// The figure of one benchmark.
pub(crate) fn chart(benchmark: Benchmark, comparison: &Comparison) -> LineChart {
    let least = benchmark.minimum();
    let mut chart = LineChart::new(&benchmark.to_string())
        .describe(&format!(
            "Least outcome so far over the steps after the initial points, averaged over runs, for {} variants",
            DRAWN.len()
        ))
        .x(Axis::new("steps after the initial points").whole())
        .y(Axis::new("least outcome so far, mean of the runs").including(least))
        .rule(Rule::horizontal("minimum", least))
        .size(Size { width: 560.0, height: 400.0 });
    for (variant, colour) in DRAWN {
        let Some(row) = row(benchmark, variant, comparison) else { continue };
        let curve = || (0_u32..).map(f64::from).zip(&row.curve);
        // One band is enough to see how much of a difference is chance.
        if variant == Variant::Plain {
            let band =
                curve().filter_map(|(at, of)| Some((at, of.mean - of.error?, of.mean + of.error?))).collect();
            chart = chart.band(Band::new("plain ± standard error", colour, band));
        }
        let points = curve().map(|(at, of)| (at, of.mean)).collect();
        chart = chart.series(match variant {
            Variant::Anneal => Series::dashed(variant.name(), colour, points),
            _ => Series::line(variant.name(), colour, points),
        });
    }
    chart
}

/// What is to be seen.
pub(crate) fn caption(benchmark: Benchmark, comparison: &Comparison) -> String {
    let last = |variant| {
        row(benchmark, variant, comparison).map_or(String::new(), |row| format!("{variant} {:.3}", row.last))
    };
    let drawn: Vec<String> =
        DRAWN.iter().map(|&(variant, _)| last(variant)).filter(|text| !text.is_empty()).collect();
    format!("In the end: {}.", drawn.join(", "))
}
