//! Bars: a histogram over numbers, or named groups; several series stand side by side.

use super::axis::Axis;
use super::frame::{Frame, Key, Mark};
use super::lines::Rule;
use super::theme::Colour;
use super::{Chart, EMPTY, Output, Size};

const OPACITY: f64 = 0.85;

/// One series of bars; a value that is not finite is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    label: String,
    colour: Colour,
    values: Vec<f64>,
}

impl Bars {
    /// A series with one value per bin or group.
    pub fn new(label: &str, colour: Colour, values: Vec<f64>) -> Self {
        Bars { label: label.to_owned(), colour, values }
    }
}

/// Bars over bins or groups.
#[derive(Debug, Clone, PartialEq)]
pub struct BarChart {
    title: String,
    description: String,
    empty: String,
    x: Axis,
    y: Axis,
    edges: Vec<f64>,
    bars: Vec<Bars>,
    band: Option<(String, f64, f64)>,
    rules: Vec<Rule>,
    size: Size,
}

impl BarChart {
    /// Bars over the bins between `edges`, which increase.
    pub fn histogram(title: &str, x: Axis, edges: Vec<f64>) -> Self {
        let x = match (edges.first(), edges.last()) {
            (Some(&first), Some(&last)) => x.range(first, last),
            _ => x,
        };
        BarChart {
            title: title.to_owned(),
            description: String::new(),
            empty: EMPTY.to_owned(),
            x,
            y: Axis::default(),
            edges,
            bars: Vec::new(),
            band: None,
            rules: Vec::new(),
            size: Size::default(),
        }
    }

    /// Bars over named groups.
    pub fn groups(title: &str, x: Axis, names: Vec<String>) -> Self {
        let edges = (0..=names.len()).map(|k| k as f64 - 0.5).collect();
        BarChart::histogram(title, x.names(names), edges)
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

    /// The upright axis. Bars stand on zero, which the axis always reaches.
    #[must_use]
    pub fn y(mut self, axis: Axis) -> Self {
        self.y = axis.including(0.0);
        self
    }

    /// Adds a series, to the right of those before it in every group.
    #[must_use]
    pub fn bars(mut self, bars: Bars) -> Self {
        self.bars.push(bars);
        self
    }

    /// A band across the plot in which bars are expected.
    #[must_use]
    pub fn band(mut self, label: &str, low: f64, high: f64) -> Self {
        self.band = Some((label.to_owned(), low, high)).filter(|_| low.is_finite() && high.is_finite());
        self
    }

    /// Adds a reference line.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Another size than the default.
    #[must_use]
    pub fn size(mut self, size: Size) -> Self {
        self.size = size;
        self
    }

    fn keys(&self) -> Vec<Key> {
        let bars = self.bars.iter().map(|bars| Key {
            label: bars.label.clone(),
            colour: bars.colour,
            mark: Mark::Fill(OPACITY),
        });
        let band = self.band.iter().map(|(label, ..)| Key {
            label: label.clone(),
            colour: Colour::Neutral,
            mark: Mark::Fill(0.3),
        });
        bars.chain(band).chain(self.rules.iter().map(Rule::key)).collect()
    }
}

impl Chart for BarChart {
    fn render(&self, output: Output) -> String {
        let values = self.bars.iter().flat_map(|bars| bars.values.iter().copied());
        let mut ys: Vec<f64> = values.filter(|&value| self.y.shows(value)).collect();
        if !ys.is_empty() {
            ys.push(0.0);
            ys.extend(self.band.iter().flat_map(|band| [band.1, band.2]));
            ys.extend(self.rules.iter().map(Rule::value));
        }
        let frame = Frame {
            title: &self.title,
            description: &self.description,
            empty: &self.empty,
            size: self.size,
            x: &self.x,
            y: &self.y,
            keys: self.keys(),
        };
        frame.draw(output, &self.edges, &ys, |markup, plot| {
            if let Some((_, low, high)) = &self.band {
                let (top, bottom) = (plot.y.at(*high), plot.y.at(*low));
                markup.tag("g").class(Colour::Neutral.class()).open();
                let area = markup.tag("rect").class("tc-fill").number("fill-opacity", 0.25);
                let area = area.number("x", plot.left).number("width", plot.right - plot.left);
                area.number("y", top).number("height", (bottom - top).max(0.0)).empty();
                markup.close();
            }
            for (index, bars) in self.bars.iter().enumerate() {
                markup.tag("g").class(bars.colour.class()).open();
                for (edges, &value) in self.edges.windows(2).zip(&bars.values) {
                    if !self.y.shows(value) {
                        continue;
                    }
                    let (left, right) = (plot.x.at(edges[0]), plot.x.at(edges[1]));
                    // A group keeps an eighth of its room free, and no more than its neighbours need to stand apart.
                    let gap = (0.125 * (right - left)).min(12.0);
                    let wide = (right - left - 2.0 * gap) / self.bars.len() as f64;
                    let (base, end) = (plot.y.base(), plot.y.at(value));
                    let bar = markup.tag("rect").class("tc-fill").number("fill-opacity", OPACITY);
                    let bar =
                        bar.number("x", left + gap + wide * index as f64).number("width", wide.max(0.5));
                    bar.number("y", base.min(end)).number("height", (base - end).abs()).empty();
                }
                markup.close();
            }
            for rule in &self.rules {
                rule.draw(markup, plot);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_of_all_kinds_are_well_formed() {
        let names = vec!["50 %".to_owned(), "<80> %".to_owned()];
        let chart = BarChart::groups("widths", Axis::new("coverage"), names)
            .y(Axis::new("width"))
            .bars(Bars::new("raw", Colour::Raw, vec![1.0, f64::NAN]))
            .bars(Bars::new("calibrated", Colour::Calibrated, vec![-1.0, 2.0, 99.0]))
            .band("expected", 0.5, 1.5)
            .rule(Rule::horizontal("one", 1.0));
        let svg = chart.to_standalone_svg();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let drawn = |node: &roxmltree::Node<'_, '_>| node.attribute("fill-opacity") == Some("0.85");
        // Three bars, the value without a group left out, and two swatches.
        assert_eq!(document.descendants().filter(drawn).count(), 5);
        assert!(svg.contains("&lt;80&gt; %"));
    }

    #[test]
    fn no_bars_say_so() {
        let chart = BarChart::histogram("pit", Axis::new("PIT"), vec![0.0, 0.5, 1.0]);
        assert!(chart.to_svg().contains(EMPTY));
        assert!(chart.bars(Bars::new("raw", Colour::Raw, vec![f64::NAN; 2])).to_svg().contains(EMPTY));
        assert!(BarChart::groups("none", Axis::new(""), vec![]).to_svg().contains(EMPTY));
    }
}
