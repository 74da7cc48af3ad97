//! Lines: series over a common axis, with bands of what is expected and reference lines.

use super::axis::Axis;
use super::frame::{Frame, Key, Mark, Plot, arrow, dot, line};
use super::theme::Colour;
use super::{Chart, EMPTY, Output, Size};
use crate::markup::Markup;
use crate::number::coordinate;

/// Beyond this many points a line keeps only what can be seen: first, lowest, highest and last of each column.
const MOST_POINTS: usize = 2_000;

/// Points drawn as a line or as dots. A point whose y is not finite is a gap.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    label: String,
    colour: Colour,
    points: Vec<(f64, f64)>,
    dashed: bool,
    line: bool,
    dots: bool,
    /// Only what lies above or below the plot is drawn, as arrows at its edge.
    beyond: bool,
}

impl Series {
    /// A line.
    pub fn line(label: &str, colour: Colour, points: Vec<(f64, f64)>) -> Self {
        Series {
            label: label.to_owned(),
            colour,
            points,
            dashed: false,
            line: true,
            dots: false,
            beyond: false,
        }
    }

    /// A dashed line.
    pub fn dashed(label: &str, colour: Colour, points: Vec<(f64, f64)>) -> Self {
        Series { dashed: true, ..Series::line(label, colour, points) }
    }

    /// Dots without a line.
    pub fn dots(label: &str, colour: Colour, points: Vec<(f64, f64)>) -> Self {
        Series { line: false, dots: true, ..Series::line(label, colour, points) }
    }

    /// Arrows at the edge of a plot for the points above and below it.
    pub(super) fn beyond(label: &str, colour: Colour, points: Vec<(f64, f64)>) -> Self {
        Series { line: false, beyond: true, ..Series::line(label, colour, points) }
    }

    /// Adds a dot at every point of a line.
    #[must_use]
    pub fn with_dots(mut self) -> Self {
        self.dots = true;
        self
    }

    fn mark(&self) -> Mark {
        match (self.line, self.dashed) {
            _ if self.beyond => Mark::Arrow,
            (false, _) => Mark::Dots,
            (true, true) => Mark::Dashed,
            (true, false) => Mark::Line,
        }
    }

    fn draw(&self, markup: &mut Markup, plot: &Plot, shown: &dyn Fn(f64, f64) -> bool) {
        if self.beyond {
            for &(x, y) in self.points.iter().filter(|&&(x, y)| shown(x, y) && !plot.y.contains(y)) {
                let up = plot.y.at(y) < plot.top;
                arrow(markup, (plot.x.at(x), if up { plot.top } else { plot.bottom }), up);
            }
            return;
        }
        // Many dots are small, so that they do not hide one another.
        let radius = if self.points.len() > 100 { 2.0 } else { 3.0 };
        let gaps = self.points.split(|&(x, y)| !shown(x, y)).filter(|run| !run.is_empty());
        for run in gaps {
            let places: Vec<(f64, f64)> = run.iter().map(|&(x, y)| (plot.x.at(x), plot.y.at(y))).collect();
            if self.line && places.len() > 1 {
                let class = if self.dashed { "tc-dashed" } else { "tc-line" };
                markup.tag("path").class(class).attribute("d", &path(&visible(&places))).empty();
            }
            if self.dots || places.len() == 1 {
                for (place, &(x, y)) in places.iter().zip(run) {
                    // A dot beyond the axes would be half cut off.
                    if plot.x.contains(x) && plot.y.contains(y) {
                        dot(markup, *place, radius);
                    }
                }
            }
        }
    }
}

/// A shaded area between two lines: (x, low, high) from left to right.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    label: String,
    colour: Colour,
    points: Vec<(f64, f64, f64)>,
    opacity: f64,
    /// The opacity in the legend.
    shade: f64,
}

impl Band {
    /// A faint band.
    pub fn new(label: &str, colour: Colour, points: Vec<(f64, f64, f64)>) -> Self {
        Band { label: label.to_owned(), colour, points, opacity: 0.18, shade: 0.3 }
    }

    /// How much the band hides, between 0 and 1.
    #[must_use]
    pub fn opacity(mut self, opacity: f64) -> Self {
        self.opacity = opacity.clamp(0.0, 1.0);
        self.shade = self.opacity.max(0.3);
        self
    }

    /// As it looks on top of `below` bands of the same opacity.
    pub(super) fn on_top_of(mut self, below: usize) -> Self {
        self.shade = 1.0 - (1.0 - self.opacity).powf(below as f64 + 1.0);
        self
    }

    fn draw(&self, markup: &mut Markup, plot: &Plot, shown: &dyn Fn(f64, f64) -> bool) {
        let runs = self.points.split(|&(x, low, high)| !(shown(x, low) && shown(x, high)));
        for run in runs.filter(|run| !run.is_empty()) {
            let upper = run.iter().map(|&(x, _, high)| (plot.x.at(x), plot.y.at(high)));
            let lower = run.iter().rev().map(|&(x, low, _)| (plot.x.at(x), plot.y.at(low)));
            let outline: Vec<(f64, f64)> = match (run, upper.clone().next(), lower.clone().next()) {
                // One point alone has no width to shade: it gets one.
                ([_], Some((x, high)), Some((_, low))) => {
                    vec![(x - 5.0, high), (x + 5.0, high), (x + 5.0, low), (x - 5.0, low)]
                }
                _ => upper.chain(lower).collect(),
            };
            let area = markup.tag("path").class("tc-fill").number("fill-opacity", self.opacity);
            area.attribute("d", &format!("{}Z", path(&outline))).empty();
        }
    }
}

/// A reference line across the plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    label: String,
    value: f64,
    level: bool,
}

impl Rule {
    /// At a height: a target.
    pub fn horizontal(label: &str, y: f64) -> Self {
        Rule { label: label.to_owned(), value: y, level: true }
    }

    /// At a place along the level axis: a change.
    pub fn vertical(label: &str, x: f64) -> Self {
        Rule { label: label.to_owned(), value: x, level: false }
    }

    pub(crate) fn key(&self) -> Key {
        Key { label: self.label.clone(), colour: Colour::Ink, mark: Mark::Rule }
    }

    pub(crate) fn value(&self) -> f64 {
        self.value
    }

    pub(crate) fn draw(&self, markup: &mut Markup, plot: &Plot) {
        let scale = if self.level { &plot.y } else { &plot.x };
        if !scale.contains(self.value) {
            return;
        }
        let place = scale.at(self.value);
        markup.tag("g").class(Colour::Ink.class()).open();
        if self.level {
            line(markup, "tc-rule", (plot.left, place), (plot.right, place));
        } else {
            line(markup, "tc-rule", (place, plot.top), (place, plot.bottom));
        }
        markup.close();
    }
}

/// Series, bands and reference lines over two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct LineChart {
    title: String,
    description: String,
    empty: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    bands: Vec<Band>,
    rules: Vec<Rule>,
    size: Size,
}

impl LineChart {
    /// An empty chart.
    pub fn new(title: &str) -> Self {
        LineChart {
            title: title.to_owned(),
            description: String::new(),
            empty: EMPTY.to_owned(),
            x: Axis::default(),
            y: Axis::default(),
            series: Vec::new(),
            bands: Vec::new(),
            rules: Vec::new(),
            size: Size::default(),
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

    /// The level axis.
    #[must_use]
    pub fn x(mut self, axis: Axis) -> Self {
        self.x = axis;
        self
    }

    /// The upright axis.
    #[must_use]
    pub fn y(mut self, axis: Axis) -> Self {
        self.y = axis;
        self
    }

    /// Adds a series, above those before it.
    #[must_use]
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Adds a band, below all series.
    #[must_use]
    pub fn band(mut self, band: Band) -> Self {
        self.bands.push(band);
        self
    }

    /// Adds a reference line. The axis reaches it only if told to [include](Axis::including) it.
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
        let series = self.series.iter().map(|of| (&of.label, of.colour, of.mark()));
        let bands = self.bands.iter().map(|of| (&of.label, of.colour, Mark::Fill(of.shade)));
        let keys = series.chain(bands);
        let keys = keys.map(|(label, colour, mark)| Key { label: label.clone(), colour, mark });
        keys.chain(self.rules.iter().map(Rule::key)).collect()
    }
}

impl Chart for LineChart {
    fn render(&self, output: Output) -> String {
        let shown = |x: f64, y: f64| self.x.shows(x) && self.y.shows(y);
        let points = self.series.iter().flat_map(|series| series.points.iter().copied());
        let edges = self.bands.iter().flat_map(|band| band.points.iter());
        let edges = edges.flat_map(|&(x, low, high)| [(x, low), (x, high)]);
        let has_points = points.clone().any(|(x, y)| shown(x, y));
        // A band of what would be expected is no data of its own.
        let drawn = points.chain(edges).filter(|&(x, y)| has_points && shown(x, y));
        let (xs, ys): (Vec<f64>, Vec<f64>) = drawn.unzip();
        let frame = Frame {
            title: &self.title,
            description: &self.description,
            empty: &self.empty,
            size: self.size,
            x: &self.x,
            y: &self.y,
            keys: self.keys(),
        };
        frame.draw(output, &xs, &ys, |markup, plot| {
            for band in &self.bands {
                markup.tag("g").class(band.colour.class()).open();
                band.draw(markup, plot, &shown);
                markup.close();
            }
            for rule in &self.rules {
                rule.draw(markup, plot);
            }
            for series in &self.series {
                markup.tag("g").class(series.colour.class()).open();
                series.draw(markup, plot, &shown);
                markup.close();
            }
        })
    }
}

fn path(places: &[(f64, f64)]) -> String {
    let mut text = String::with_capacity(14 * places.len());
    for (index, &(x, y)) in places.iter().enumerate() {
        text.push(if index == 0 { 'M' } else { 'L' });
        text.push_str(&coordinate(x));
        text.push(' ');
        text.push_str(&coordinate(y));
    }
    text
}

/// The places that make a difference to what is seen.
fn visible(places: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if places.len() <= MOST_POINTS {
        return places.to_vec();
    }
    let mut kept = Vec::new();
    for column in places.chunk_by(|a, b| a.0.floor() == b.0.floor()) {
        let extreme = |sign: f64| {
            (0..column.len())
                .max_by(|&a, &b| (sign * column[a].1).total_cmp(&(sign * column[b].1)))
                .unwrap_or(0)
        };
        let mut indices = [0, extreme(1.0), extreme(-1.0), column.len() - 1];
        indices.sort_unstable();
        let mut previous = None;
        for index in indices {
            if previous.replace(index) != Some(index) {
                kept.push(column[index]);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>) -> String {
        let chart = LineChart::new("t <&> \"t\"").x(Axis::new("x")).y(Axis::new("y"));
        chart
            .series(Series::line("a & b", Colour::Raw, points))
            .rule(Rule::vertical("change", 2.0))
            .to_standalone_svg()
    }

    fn count(svg: &str, name: &str) -> usize {
        let document = roxmltree::Document::parse(svg).unwrap();
        document.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", name))).count()
    }

    #[test]
    fn missing_points_are_gaps_and_lonely_ones_dots() {
        let svg = chart(vec![(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 4.0), (4.0, f64::INFINITY)]);
        assert_eq!((count(&svg, "path"), count(&svg, "circle")), (1, 1));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn no_data_says_so() {
        for points in [vec![], vec![(f64::NAN, 1.0)], vec![(1.0, f64::NAN)]] {
            let svg = chart(points);
            assert!(svg.contains(EMPTY) && count(&svg, "path") == 0);
        }
        let band = Band::new("expected", Colour::Neutral, vec![(0.0, 0.0, 1.0)]);
        assert!(LineChart::new("t").band(band).to_svg().contains(EMPTY));
    }

    #[test]
    fn constant_huge_and_single_values_draw() {
        for points in [vec![(0.0, 0.0)], vec![(5.0, 7.0), (6.0, 7.0)], vec![(1.0, -1e299), (2.0, 1e299)]] {
            assert!(count(&chart(points), "line") > 2);
        }
    }

    #[test]
    fn a_million_points_stay_a_small_file() {
        let svg = chart((0..1_000_000).map(|k| (f64::from(k), f64::from(k % 1_001))).collect());
        assert!(svg.len() < 60_000, "{}", svg.len());
    }

    #[test]
    fn many_series_make_room_for_their_legend() {
        let mut chart = LineChart::new("many");
        for k in 0..12 {
            let name = format!("a method with a rather long name, number {k}");
            chart = chart.series(Series::line(&name, Colour::Series(k), vec![(0.0, 1.0), (1.0, k as f64)]));
        }
        let svg = chart.to_svg();
        roxmltree::Document::parse(&svg).unwrap();
        assert!(svg.contains("viewBox=\"0 0 480 560\""), "{}", &svg[..200]);
    }
}
