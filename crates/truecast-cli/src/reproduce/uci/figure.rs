//! Error over time, as in the paper's figures 1 and 2: the calibration score of all outcomes so far, after each batch.

use truecast_report::chart::{Axis, Band, Colour, LineChart, Series, Size};

use super::column::Column;
use super::dataset::Dataset;
use super::result::Outcome;

/// The paper's figures name its subroutine no further; one line stands for it here. Approachability is in the table.
const DRAWN: [(Column, Colour); 5] = [
    (Column::Raw, Colour::Raw),
    (Column::Tophat, Colour::Series(2)),
    (Column::NonRandomised, Colour::Series(5)),
    (Column::InternalRegret, Colour::Series(3)),
    (Column::Ours, Colour::Calibrated),
];

/// The figure of one dataset.
pub(crate) fn chart(outcome: &Outcome, seeds: u64) -> LineChart {
    let batch = outcome.dataset.batch();
    let batches = format!("batches of {batch} outcomes");
    // A score may pass through zero by chance; the axis ends a little below where the lines do, and what falls below is cut off.
    let cells = || DRAWN.iter().map(|&(column, _)| outcome.cell(column));
    let low = cells().map(|cell| cell.score.mean).fold(f64::INFINITY, f64::min) / 4.0;
    let high = cells().flat_map(|cell| cell.curve.iter().map(|point| point.2)).fold(low, f64::max);
    // Scores fall by three orders of magnitude, and a linear axis would show that as one line on the floor.
    let mut chart = LineChart::new(outcome.dataset.title())
        .describe(&format!(
            "Calibration score of all outcomes so far over {batches}, for {} methods",
            DRAWN.len()
        ))
        .x(Axis::new(&batches).whole())
        .y(Axis::new("calibration score so far (lower is better)").logarithmic().range(low, high))
        .size(Size { width: 560.0, height: 400.0 });
    for (column, colour) in DRAWN {
        let curve = || (1_u32..).map(f64::from).zip(&outcome.cell(column).curve);
        if column.is_randomised() && seeds > 1 {
            let band = curve().map(|(at, &(_, low, high))| (at, low, high)).collect();
            chart = chart.band(Band::new(&format!("internal regret, {seeds} seeds"), colour, band));
        }
        let points = curve().map(|(at, &(mean, ..))| (at, mean)).collect();
        chart = chart.series(Series::line(column.title(), colour, points));
    }
    chart
}

/// What is to be seen.
pub(crate) fn caption(outcome: &Outcome) -> String {
    let score = |column| format!("{:.5}", outcome.cell(column).score.mean);
    let figure = match outcome.dataset {
        Dataset::Aquatic => "Figure 1 (a) of the paper.",
        Dataset::Fish => "Figure 1 (b) of the paper.",
        Dataset::EnergyY1 | Dataset::EnergyY2 => {
            "Figure 2 (a) of the paper, which does not say for which target."
        }
        Dataset::Facebook => "Figure 2 (b) of the paper.",
    };
    format!(
        "{figure} In the end: raw {}, the paper's randomised method {}, ours {}.",
        score(Column::Raw),
        score(Column::InternalRegret),
        score(Column::Ours)
    )
}
