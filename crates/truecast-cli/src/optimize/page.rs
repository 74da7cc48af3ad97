//! The page of a run: how fast it went down, where the good points are, and whether the surrogate knew what it did not know.

use truecast_bo::study::Origin;
use truecast_bo::{Dimension, Value};
use truecast_report::chart::{
    Axis, BarChart, Bars, Chart, Colour, LineChart, ParallelAxis, ParallelChart, Rule, Series,
};
use truecast_report::number::{count, significant};
use truecast_report::{Document, DocumentTable};

use super::results::Results;
use super::template::plain;
use crate::failure::Result;
use crate::terminal::plural;

/// Trials in the table.
const MOST_ROWS: usize = 10;
/// Bins of the PIT histogram: few, since there are few trials.
const BINS: usize = 5;

/// The page.
pub(crate) fn html(results: &Results<'_>, source: &str) -> Result<String> {
    let (told, failed) = (results.told().len() as u64, results.failed().len() as u64);
    let wanted = if results.sign < 0.0 { "largest" } else { "least" };
    let mut page = Document::new("Optimisation").source(&format!("truecast optimize · {source}"));
    page = match results.best() {
        Some(best) => page.paragraph(&format!(
            "The {wanted} value is {} (trial {} of {}): {}.",
            significant(best.value),
            best.step.number + 1,
            count(told + failed),
            described(results, &best.step.point)
        )),
        None if failed == 1 => page.paragraph("The only trial has no outcome."),
        None => page.paragraph(&format!("None of {} trials has an outcome.", count(failed))),
    };
    let (chart, caption) = convergence(results);
    page = page.figure(chart.to_svg(), &caption);
    let (chart, caption) = calibration(results)?;
    page = page.figure(chart.to_svg(), &caption);
    page = page.figure(
        coordinates(results)?.to_svg(),
        "Each trial is a line from its inputs, top to bottom, to its value. Where the best lie close together on an axis, that input matters and is found; \
         where they are spread over it, it matters little.",
    );
    if told > 0 {
        page = page.table(best_trials(results));
    }
    let failures = results.failed();
    if !failures.is_empty() {
        let rows = failures.iter().map(|(step, why)| {
            vec![(step.number + 1).to_string(), described(results, &step.point), (*why).to_owned()]
        });
        let rows = rows.collect();
        let heads = ["trial", "point", "why"].map(str::to_owned).to_vec();
        page = page.table(DocumentTable { title: "Failed trials".to_owned(), heads, rows });
    }
    Ok(page.list("What is shown", notes(results)).to_html())
}

fn notes(results: &Results<'_>) -> Vec<String> {
    let settings = results.study.settings();
    let fallbacks = results.study.steps().iter().filter(|step| step.origin == Origin::Fallback).count();
    let mut notes = vec![
        format!(
            "The first {} points are a {} design; the others have the largest acquisition.",
            settings.initial, settings.design
        ),
        "A forecast counts if it was made before its outcome was known, at the point that was then tried."
            .to_owned(),
        "Failed trials are never learned as numbers; points close to them are not tried again.".to_owned(),
    ];
    if fallbacks > 0 {
        let trials = plural(fallbacks as u64, "trial", "trials");
        notes.push(format!(
            "In {fallbacks} {trials} the surrogate gave no point, and a random one was taken."
        ));
    }
    notes
}

fn described(results: &Results<'_>, point: &[Value]) -> String {
    let names = results.study.space().dimensions().map(|(name, _)| name);
    names.zip(point).map(|(name, value)| format!("{name} = {}", short(value))).collect::<Vec<_>>().join(", ")
}

/// A value as people read it.
fn short(value: &Value) -> String {
    match value {
        Value::Real(x) => significant(*x),
        other => plain(other),
    }
}

/// Values and the best so far.
fn convergence(results: &Results<'_>) -> (LineChart, String) {
    let values: Vec<(f64, f64)> =
        results.told().iter().map(|told| ((told.step.number + 1) as f64, told.value)).collect();
    // A step where a trial is better: nothing was known in between.
    let mut best: Vec<(f64, f64)> = Vec::new();
    for (trial, value) in results.best_so_far() {
        best.extend(best.last().map(|&(_, before)| (trial as f64, before)));
        best.push((trial as f64, value));
    }
    let mut sorted: Vec<f64> = values.iter().map(|point| results.sign * point.1).collect();
    sorted.sort_by(f64::total_cmp);
    let mut axis = Axis::new("value");
    let mut caption = "Every trial, and the best so far.".to_owned();
    if let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) {
        // A few terrible values must not press all the others into one line.
        let middle = sorted[sorted.len() / 2];
        if results.sign > 0.0 && low > 0.0 && high > 100.0 * low {
            axis = axis.logarithmic();
        } else if high - low > 8.0 * (middle - low) && middle > low {
            let cut = low + 4.0 * (middle - low);
            let beyond = sorted.iter().filter(|&&value| value > cut).count();
            let margin = 0.05 * (cut - low);
            let (a, b) = (results.sign * (low - margin), results.sign * cut);
            axis = axis.range(a.min(b), a.max(b));
            let values = plural(beyond as u64, "worse value lies", "worse values lie");
            caption = format!("{caption} {beyond} {values} outside of the chart.");
        }
    }
    if !results.failed().is_empty() {
        caption = format!("{caption} Failed trials are gaps.");
    }
    let chart = LineChart::new("Value of each trial, and the best so far")
        .describe("Values of the trials in their order as dots, and the best value so far as a line")
        .when_empty("no trial has an outcome")
        .x(Axis::new("trial").whole())
        .y(axis)
        .series(Series::dots("trial", Colour::Neutral, values))
        .series(Series::line("best so far", Colour::Calibrated, best));
    (chart, caption)
}

/// All trials across all dimensions.
fn coordinates(results: &Results<'_>) -> Result<ParallelChart> {
    let space = results.study.space();
    let ranked = results.ranked();
    let mut chart = ParallelChart::new("Where the good trials are")
        .describe("Parallel coordinates: one level axis for each input and one for the value, one line for each trial")
        .when_empty("no trial has an outcome");
    for (name, dimension) in space.dimensions() {
        chart = chart.axis(ParallelAxis::new(name, ticks(dimension)));
    }
    let (best, worst) = match (ranked.first(), ranked.last()) {
        (Some(best), Some(worst)) => (best.value, worst.value),
        _ => return Ok(chart),
    };
    let ends = if best == worst {
        vec![(0.0, significant(best))]
    } else {
        vec![(0.0, significant(best)), (1.0, significant(worst))]
    };
    chart = chart.axis(ParallelAxis::new("value", ends));
    for told in &ranked {
        let place = space.encode(&told.step.point)?;
        let mut rest = place.as_slice();
        let mut line = Vec::new();
        for (_, dimension) in space.dimensions() {
            let (own, others) = rest.split_at(dimension.width());
            rest = others;
            line.push(match dimension {
                Dimension::Category { choices } => {
                    let at = own.iter().position(|&x| x == 1.0).unwrap_or(0);
                    at as f64 / (choices.len() - 1) as f64
                }
                _ => own[0],
            });
        }
        line.push(if best == worst { 0.0 } else { (told.value - best) / (worst - best) });
        chart = chart.line(line);
    }
    Ok(chart)
}

/// A bound as it was written, where that is short.
fn bound(x: f64) -> String {
    let text = x.to_string();
    if text.trim_start_matches('-').len() <= 5 { text.replace('-', "−") } else { significant(x) }
}

fn ticks(dimension: &Dimension) -> Vec<(f64, String)> {
    match dimension {
        Dimension::Real { low, high, .. } => vec![(0.0, bound(*low)), (1.0, bound(*high))],
        Dimension::Integer { low, high, .. } => vec![(0.0, low.to_string()), (1.0, high.to_string())],
        Dimension::Category { choices } => {
            let last = (choices.len() - 1) as f64;
            choices.iter().enumerate().map(|(at, choice)| (at as f64 / last, choice.clone())).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether outcomes fell where forecasts said.
fn calibration(results: &Results<'_>) -> Result<(BarChart, String)> {
    let pits = results.pits();
    let mut shares = vec![0.0; BINS];
    for pit in &pits {
        let bin = ((pit * BINS as f64) as usize).min(BINS - 1);
        shares[bin] += 1.0 / pits.len() as f64;
    }
    let even = 1.0 / BINS as f64;
    let edges = (0..=BINS).map(|k| k as f64 * even).collect();
    let bars = if pits.is_empty() { Vec::new() } else { shares };
    let chart = BarChart::histogram(
        "Where outcomes fell in the surrogate's forecasts",
        Axis::new("forecast probability of a smaller value").percent(),
        edges,
    )
    .describe(
        "Histogram of the probability integral transform of outcomes under the forecasts made before them",
    )
    .when_empty("no trial had a forecast")
    .y(Axis::new("share of outcomes").percent().including(0.0))
    .bars(Bars::new("outcomes", Colour::Calibrated, bars))
    .rule(Rule::horizontal("calibrated", even));
    let coverage = results.coverage()?;
    if coverage.raw.count == 0 {
        return Ok((chart, "Forecasts are made once there are trials to learn from.".to_owned()));
    }
    let mut caption = format!(
        "Forecasts made one step ahead, at the points that were tried. The 80\u{a0}% interval held {} of {} outcomes",
        coverage.raw.hits, coverage.raw.count
    );
    if coverage.recalibrated != coverage.raw {
        caption = format!(
            "{caption}; recalibrated it held {} of {}",
            coverage.recalibrated.hits, coverage.recalibrated.count
        );
    }
    Ok((chart, format!("{caption}. High ends mean surprises, a high middle means too much caution.")))
}

fn best_trials(results: &Results<'_>) -> DocumentTable {
    let names = results.study.space().dimensions().map(|(name, _)| name.to_owned());
    let heads = ["trial".to_owned(), "value".to_owned()].into_iter().chain(names).collect();
    let row = |told: &super::results::Told<'_>| {
        let cells = [(told.step.number + 1).to_string(), significant(told.value)];
        cells.into_iter().chain(told.step.point.iter().map(short)).collect()
    };
    let rows = results.ranked().iter().take(MOST_ROWS).map(row).collect();
    DocumentTable { title: "Best trials".to_owned(), heads, rows }
}
