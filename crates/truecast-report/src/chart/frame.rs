//! What all charts share: title, legend, axes, and the room in between.
//!
//! ```text
//! title                       one or two lines
//! ▬ raw   ▬ calibrated        as many lines as needed; the chart grows
//! label of the upright axis
//! ticks │ plot
//!         ticks
//!         label of the level axis
//! ```

use super::axis::{Axis, Scale};
use super::lettering::{FONT, clipped, width, wrapped};
use super::theme::{Colour, standalone_style};
use super::{Output, Size};
use crate::markup::Markup;
use crate::number::coordinate;

pub(super) const LINE: f64 = 20.0;
pub(super) const EDGE: f64 = 10.0;
const SWATCH: f64 = 20.0;
/// Marks at the very edge of the plot keep their full width.
const BLEED: f64 = 5.0;

/// How a series is drawn, in the plot and in the legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Mark {
    Line,
    Dashed,
    Rule,
    Dots,
    Arrow,
    Fill(f64),
}

/// One entry of the legend.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) label: String,
    pub(crate) colour: Colour,
    pub(crate) mark: Mark,
}

/// Entries of the legend with where they begin.
type LegendRow = Vec<(f64, Key)>;

/// Everything around the plot.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    pub(crate) empty: &'a str,
    pub(crate) size: Size,
    pub(crate) x: &'a Axis,
    pub(crate) y: &'a Axis,
    pub(crate) keys: Vec<Key>,
}

/// Where data goes.
#[derive(Debug)]
pub(crate) struct Plot {
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

impl Frame<'_> {
    /// Draws the frame for the given values, and `content` into it, cut off at the axes.
    pub(crate) fn draw(
        &self,
        output: Output,
        xs: &[f64],
        ys: &[f64],
        content: impl FnOnce(&mut Markup, &Plot),
    ) -> String {
        let (mut markup, mut top, rows, height) = self.head(output);
        let inner = self.size.width - 2.0 * EDGE;
        match self.plot(xs, ys, top + LINE * rows.len() as f64, height) {
            Some(plot) => {
                for row in &rows {
                    draw_row(&mut markup, row, top);
                    top += LINE;
                }
                self.draw_axes(&mut markup, &plot);
                let (wide, high) =
                    (plot.right - plot.left + 2.0 * BLEED, plot.bottom - plot.top + 2.0 * BLEED);
                let (x, y) = (plot.left - BLEED, plot.top - BLEED);
                let clip = markup.tag("svg").number("x", x).number("y", y);
                let clip = clip.number("width", wide).number("height", high);
                let view = [x, y, wide, high].map(coordinate).join(" ");
                clip.attribute("viewBox", &view).open();
                content(&mut markup, &plot);
                markup.close();
            }
            None => self.draw_empty(&mut markup, inner, top, height),
        }
        markup.finish()
    }

    /// Draws title and legend, and `content` below them; without content, what an empty chart says.
    pub(crate) fn draw_bare(
        &self,
        output: Output,
        drawn: bool,
        content: impl FnOnce(&mut Markup, f64),
    ) -> String {
        let (mut markup, mut top, rows, height) = self.head(output);
        if drawn {
            for row in &rows {
                draw_row(&mut markup, row, top);
                top += LINE;
            }
            content(&mut markup, top);
        } else {
            self.draw_empty(&mut markup, self.size.width - 2.0 * EDGE, top, height);
        }
        markup.finish()
    }

    /// Begins the chart and writes its title: where that ends, the lines of the legend, and how high the chart is with them.
    fn head(&self, output: Output) -> (Markup, f64, Vec<LegendRow>, f64) {
        let inner = self.size.width - 2.0 * EDGE;
        // Bold letters are wider.
        let title = wrapped(self.title, 1.08 * FONT, inner);
        let rows = self.legend_rows(inner);
        let extra = title.len().saturating_sub(1) + rows.len().saturating_sub(1);
        let height = self.size.height + LINE * extra as f64;
        let mut markup = Markup::default();
        self.open(&mut markup, output, height);
        let mut top = EDGE;
        for line in &title {
            top += LINE;
            let text = markup.tag("text").class("tc-title").number("x", EDGE).number("y", top - 5.0);
            text.text(line);
        }
        (markup, top, rows, height)
    }

    fn draw_empty(&self, markup: &mut Markup, inner: f64, top: f64, height: f64) {
        let room = markup.tag("rect").class("tc-empty").number("x", EDGE).number("y", top + 8.0);
        let room = room.number("width", inner).number("height", height - top - 8.0 - EDGE);
        room.number("rx", 6.0).empty();
        let text = markup.tag("text").class("tc-soft").attribute("text-anchor", "middle");
        text.number("x", 0.5 * self.size.width).number("y", 0.5 * (top + height)).text(self.empty);
    }

    fn open(&self, markup: &mut Markup, output: Output, height: f64) {
        let view = format!("0 0 {} {}", coordinate(self.size.width), coordinate(height));
        let tag = markup.tag("svg").attribute("xmlns", "http://www.w3.org/2000/svg").class("tc-chart");
        let tag = tag.attribute("viewBox", &view).attribute("role", "img");
        match output {
            Output::Inline => tag.open(),
            Output::Standalone => tag.number("width", self.size.width).number("height", height).open(),
        }
        markup.element("title", self.title);
        markup.element("desc", self.description);
        if output == Output::Standalone {
            markup.tag("style").open();
            markup.raw(&standalone_style());
            markup.close();
            let paper = markup.tag("rect").class("tc-paper");
            paper.number("width", self.size.width).number("height", height).empty();
        }
    }

    fn plot(&self, xs: &[f64], ys: &[f64], legend_end: f64, height: f64) -> Option<Plot> {
        if !xs.iter().any(|&x| self.x.shows(x)) || !ys.iter().any(|&y| self.y.shows(y)) {
            return None;
        }
        let label = if self.y.label().is_empty() { 0.0 } else { LINE };
        let (top, right) = (legend_end + label + 8.0, self.size.width - EDGE - 6.0);
        let below = if self.x.label().is_empty() { LINE } else { 2.0 * LINE };
        let bottom = height - below - 10.0;
        let y = self.y.upright(ys.iter().copied(), (bottom, top))?;
        let widest = y.ticks.iter().map(|tick| width(&tick.label, FONT)).fold(0.0, f64::max);
        let left = EDGE + widest.min(0.4 * self.size.width) + 8.0;
        let room = (2.0, self.size.width - 2.0);
        let x = self.x.level(xs.iter().copied(), (left, right), room)?;
        Some(Plot { x, y, left, right, top, bottom })
    }

    fn draw_axes(&self, markup: &mut Markup, plot: &Plot) {
        let inner = self.size.width - 2.0 * EDGE;
        if !self.y.label().is_empty() {
            let text = markup.tag("text").class("tc-soft").number("x", EDGE).number("y", plot.top - 13.0);
            text.text(&clipped(self.y.label(), FONT, inner));
        }
        for tick in &plot.y.ticks {
            let place = plot.y.at(tick.value);
            line(markup, "tc-grid", (plot.left, place), (plot.right, place));
            let text = markup.tag("text").class("tc-soft").attribute("text-anchor", "end");
            text.number("x", plot.left - 8.0).number("y", place + 5.0).text(&tick.label);
        }
        line(markup, "tc-axis", (plot.left, plot.bottom), (plot.right, plot.bottom));
        for (tick, &centre) in plot.x.ticks.iter().zip(&plot.x.centres) {
            let place = plot.x.at(tick.value);
            line(markup, "tc-axis", (place, plot.bottom), (place, plot.bottom + 4.0));
            let text = markup.tag("text").class("tc-soft").attribute("text-anchor", "middle");
            text.number("x", centre).number("y", plot.bottom + LINE + 3.0).text(&tick.label);
        }
        if !self.x.label().is_empty() {
            let text = markup.tag("text").class("tc-soft").attribute("text-anchor", "end");
            let text = text.number("x", plot.right).number("y", plot.bottom + 2.0 * LINE + 3.0);
            text.text(&clipped(self.x.label(), FONT, inner));
        }
    }

    /// The legend's entries with their places, line by line.
    fn legend_rows(&self, inner: f64) -> Vec<LegendRow> {
        let mut rows: Vec<LegendRow> = Vec::new();
        let mut end = f64::INFINITY;
        for key in self.keys.iter().filter(|key| !key.label.is_empty()) {
            let label = clipped(&key.label, FONT, inner - SWATCH - 8.0);
            let room = SWATCH + 6.0 + width(&label, FONT);
            if end + room > EDGE + inner {
                rows.push(Vec::new());
                end = EDGE;
            }
            if let Some(row) = rows.last_mut() {
                row.push((end, Key { label, ..key.clone() }));
            }
            end += room + 12.0;
        }
        rows
    }
}

fn draw_row(markup: &mut Markup, row: &[(f64, Key)], top: f64) {
    let middle = top + 0.5 * LINE;
    for (place, key) in row {
        markup.tag("g").class(key.colour.class()).open();
        let ends = ((*place, middle), (place + SWATCH, middle));
        match key.mark {
            Mark::Line => line(markup, "tc-line", ends.0, ends.1),
            Mark::Dashed => line(markup, "tc-dashed", ends.0, ends.1),
            Mark::Rule => line(markup, "tc-rule", ends.0, ends.1),
            Mark::Dots => dot(markup, (place + 0.5 * SWATCH, middle), 3.0),
            Mark::Arrow => arrow(markup, (place + 0.5 * SWATCH, middle - 4.0), true),
            Mark::Fill(opacity) => {
                let swatch = markup.tag("rect").class("tc-fill").number("fill-opacity", opacity);
                let swatch = swatch.number("x", place + 3.0).number("y", middle - 6.0);
                swatch.number("width", SWATCH - 6.0).number("height", 12.0).empty();
            }
        }
        markup.close();
        markup.tag("text").number("x", place + SWATCH + 6.0).number("y", middle + 5.0).text(&key.label);
    }
}

pub(crate) fn line(markup: &mut Markup, class: &str, from: (f64, f64), to: (f64, f64)) {
    let tag = markup.tag("line").class(class).number("x1", from.0).number("y1", from.1);
    tag.number("x2", to.0).number("y2", to.1).empty();
}

pub(crate) fn dot(markup: &mut Markup, at: (f64, f64), radius: f64) {
    markup.tag("circle").class("tc-fill").number("cx", at.0).number("cy", at.1).number("r", radius).empty();
}

/// A triangle with its tip at a place, pointing up or down.
pub(crate) fn arrow(markup: &mut Markup, tip: (f64, f64), up: bool) {
    let [left, right, tip_x] = [tip.0 - 4.0, tip.0 + 4.0, tip.0].map(coordinate);
    let [end, tip_y] = [if up { tip.1 + 8.0 } else { tip.1 - 8.0 }, tip.1].map(coordinate);
    let shape = format!("M{left} {end}L{tip_x} {tip_y}L{right} {end}Z");
    markup.tag("path").class("tc-fill").attribute("d", &shape).empty();
}
