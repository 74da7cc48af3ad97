//! Parallel coordinates: one level axis for each dimension, one line for each trial across all of them.
//!
//! Axes lie one above the other, not side by side, so that names and ends have room on a telephone however many there are; the chart grows downwards. Lines are
//! given the best first: the best is drawn on top, the best tenth stands out, the rest is faint.

use super::frame::{EDGE, Frame, Key, LINE, Mark, dot, line};
use super::lettering::{FONT, clipped, placed, width};
use super::theme::Colour;
use super::{Axis, Chart, EMPTY, Output, Size};
use crate::markup::Markup;
use crate::number::coordinate;

/// From one axis to the next, if there are many; few are spread over a chart of the usual height.
const PITCH: f64 = 46.0;
/// The most that names take, as a part of the width.
const NAMES: f64 = 0.28;
/// Beyond this many lines those in the background are thinned.
const MOST_LINES: usize = 400;
/// The share of lines that stand out.
const BEST: f64 = 0.1;

/// One axis: its name, and labels at places from 0 (left) to 1 (right). Labels that have no room are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct ParallelAxis {
    name: String,
    ticks: Vec<(f64, String)>,
}

impl ParallelAxis {
    /// An axis with labels at these places, which increase.
    pub fn new(name: &str, ticks: Vec<(f64, String)>) -> Self {
        ParallelAxis { name: name.to_owned(), ticks }
    }
}

/// Lines across several axes.
///
/// ```
/// use truecast_report::chart::{Chart, ParallelAxis, ParallelChart};
///
/// let ends = |low: &str, high: &str| vec![(0.0, low.to_owned()), (1.0, high.to_owned())];
/// let chart = ParallelChart::new("Trials")
///     .axis(ParallelAxis::new("rate", ends("1e-5", "1")))
///     .axis(ParallelAxis::new("value", ends("0.1", "7.2")))
///     .line(vec![0.4, 0.0])
///     .line(vec![0.9, 1.0]);
/// assert!(chart.to_svg().contains("rate"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ParallelChart {
    title: String,
    description: String,
    empty: String,
    axes: Vec<ParallelAxis>,
    lines: Vec<Vec<f64>>,
}

impl ParallelChart {
    /// An empty chart.
    pub fn new(title: &str) -> Self {
        ParallelChart {
            title: title.to_owned(),
            description: String::new(),
            empty: EMPTY.to_owned(),
            axes: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// What the chart shows, for those who do not see it.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        self.description = description.to_owned();
        self
    }

    /// What the chart says when there is nothing to draw.
    #[must_use]
    pub fn when_empty(mut self, text: &str) -> Self {
        self.empty = text.to_owned();
        self
    }

    /// Adds an axis below those before it.
    #[must_use]
    pub fn axis(mut self, axis: ParallelAxis) -> Self {
        self.axes.push(axis);
        self
    }

    /// Adds a line, worse than those before it: its place on each axis, from 0 to 1. A place that is not finite is a gap.
    #[must_use]
    pub fn line(mut self, places: Vec<f64>) -> Self {
        self.lines.push(places);
        self
    }

    /// How many of the lines stand out, the best among them.
    fn outstanding(&self) -> usize {
        ((BEST * self.lines.len() as f64).ceil() as usize).clamp(3, 20).min(self.lines.len())
    }

    fn keys(&self) -> Vec<Key> {
        let key = |label: &str, colour, mark| Key { label: label.to_owned(), colour, mark };
        let mut keys = vec![key("best", Colour::Raw, Mark::Line)];
        let next = self.outstanding().saturating_sub(1);
        if next > 0 {
            keys.push(key(&format!("next {next}"), Colour::Calibrated, Mark::Line));
        }
        if self.lines.len() > next + 1 {
            keys.push(key("others", Colour::Neutral, Mark::Rule));
        }
        keys
    }
}

impl Chart for ParallelChart {
    fn render(&self, output: Output) -> String {
        let drawn = !self.lines.is_empty() && !self.axes.is_empty();
        let usual = Size::default();
        // Above the first axis and below the last: title, legend, edges, and the labels of the last.
        let around = 2.0 * EDGE + 2.0 * LINE + 18.0 + LINE;
        let gaps = self.axes.len().saturating_sub(1).max(1) as f64;
        let pitch = PITCH.max((usual.height - around) / gaps);
        let size = Size { height: around + pitch * gaps, ..usual };
        let axis = Axis::default();
        let frame = Frame {
            title: &self.title,
            description: &self.description,
            empty: &self.empty,
            size,
            x: &axis,
            y: &axis,
            keys: if drawn { self.keys() } else { Vec::new() },
        };
        frame.draw_bare(output, drawn, |markup, top| self.draw(markup, size.width, top, pitch))
    }
}

impl ParallelChart {
    fn draw(&self, markup: &mut Markup, wide: f64, top: f64, pitch: f64) {
        let most = NAMES * wide;
        let names: Vec<String> = self.axes.iter().map(|axis| clipped(&axis.name, FONT, most)).collect();
        let room = names.iter().map(|name| width(name, FONT)).fold(0.0, f64::max);
        let (left, right) = (EDGE + room + 14.0, wide - EDGE - 8.0);
        let height = |row: usize| top + 18.0 + pitch * row as f64;
        for (row, name) in names.iter().enumerate() {
            line(markup, "tc-axis", (left, height(row)), (right, height(row)));
            markup.tag("text").number("x", EDGE).number("y", height(row) + 5.0).text(name);
        }
        let outstanding = self.outstanding();
        let every = self.lines.len().div_ceil(MOST_LINES).max(1);
        for (rank, places) in self.lines.iter().enumerate().rev() {
            if rank >= outstanding && rank % every != 0 {
                continue;
            }
            let (colour, thick, opacity) = match rank {
                0 => (Colour::Raw, 3.0, 1.0),
                _ if rank < outstanding => (Colour::Calibrated, 1.75, 0.9),
                // The worst are the faintest.
                _ => (Colour::Neutral, 1.0, 0.55 - 0.35 * rank as f64 / self.lines.len() as f64),
            };
            let points: Vec<Option<(f64, f64)>> = places
                .iter()
                .take(self.axes.len())
                .enumerate()
                .map(|(row, place)| {
                    place.is_finite().then(|| (left + place.clamp(0.0, 1.0) * (right - left), height(row)))
                })
                .collect();
            markup.tag("g").class(colour.class()).open();
            for run in points.split(Option::is_none).filter(|run| !run.is_empty()) {
                let steps: Vec<String> = run
                    .iter()
                    .flatten()
                    .map(|(x, y)| format!("{} {}", coordinate(*x), coordinate(*y)))
                    .collect();
                let path =
                    markup.tag("path").class("tc-line").attribute("d", &format!("M{}", steps.join("L")));
                let style = format!("stroke-width:{thick}");
                path.attribute("style", &style).number("stroke-opacity", opacity).empty();
            }
            if rank == 0 {
                for at in points.into_iter().flatten() {
                    dot(markup, at, 4.0);
                }
            }
            markup.close();
        }
        // Labels come last, each on a piece of paper of its own.
        for (row, axis) in self.axes.iter().enumerate() {
            for (centre, label) in labels(&axis.ticks, left, right) {
                let text = markup.tag("text").class("tc-soft tc-halo").attribute("text-anchor", "middle");
                text.number("x", centre).number("y", height(row) + LINE).text(&label);
            }
        }
    }
}

/// Where labels go, as many as have room: all of them, or the first and the last.
fn labels(ticks: &[(f64, String)], left: f64, right: f64) -> Vec<(f64, String)> {
    let fitted = |ticks: Vec<(f64, String)>| {
        let shares = (right - left) / ticks.len().max(1) as f64;
        let ticks: Vec<(f64, String)> =
            ticks.into_iter().map(|(place, label)| (place, clipped(&label, FONT, shares - 10.0))).collect();
        let places: Vec<(f64, f64)> =
            ticks.iter().map(|(place, label)| (left + place * (right - left), width(label, FONT))).collect();
        let centres = placed(&places, left, right, 8.0)?;
        Some(centres.into_iter().zip(ticks.into_iter().map(|tick| tick.1)).collect())
    };
    // Clipped to a few letters, labels say nothing.
    let readable = ticks.len() <= 6;
    let all = if readable { fitted(ticks.to_vec()) } else { None };
    let ends = || {
        let ends: Vec<(f64, String)> = ticks.first().into_iter().chain(ticks.last()).cloned().collect();
        fitted(ends)
    };
    all.or_else(ends).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(lines: usize) -> ParallelChart {
        let ends = vec![(0.0, "−32.77".to_owned()), (1.0, "32.77".to_owned())];
        let choices = (0..9).map(|k| (f64::from(k) / 8.0, format!("choice <{k}>"))).collect();
        let mut chart = ParallelChart::new("t")
            .axis(ParallelAxis::new("x".repeat(300).as_str(), ends.clone()))
            .axis(ParallelAxis::new("kind", choices))
            .axis(ParallelAxis::new("value", ends));
        for k in 0..lines {
            chart = chart.line(vec![f64::NAN, 0.5, k as f64 / lines as f64]);
        }
        chart
    }

    #[test]
    fn a_chart_is_well_formed_and_says_when_it_is_empty() {
        for lines in [0, 1, 2, 30, 3_000] {
            let svg = chart(lines).to_standalone_svg();
            roxmltree::Document::parse(&svg).unwrap();
            assert_eq!(svg.contains(EMPTY), lines == 0);
        }
        assert!(chart(3_000).to_svg().matches("<path").count() < MOST_LINES + 40);
    }

    #[test]
    fn labels_stay_apart_or_are_left_out() {
        let ticks = |count: u32| -> Vec<(f64, String)> {
            (0..count).map(|k| (f64::from(k) / f64::from(count - 1), "a long label".repeat(2))).collect()
        };
        assert_eq!(labels(&ticks(3), 100.0, 460.0).len(), 3);
        assert_eq!(labels(&ticks(12), 100.0, 460.0).len(), 2);
        assert_eq!(labels(&[], 100.0, 460.0), []);
    }
}
