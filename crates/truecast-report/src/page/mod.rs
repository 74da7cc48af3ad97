//! The page: order of the sections, head and style.
//!
//! | file | part |
//! |---|---|
//! | `chance.rs` | what chance alone would do |
//! | `headline.rs` | the result in words |
//! | `held.rs` | how many outcomes intervals held |
//! | `figures.rs` | one function per figure, with its caption |
//! | `certificate.rs` | what was promised, and what was measured |
//! | `tables.rs` | scores, series |
//! | `style.css` | type, columns, print |

mod certificate;
mod chance;
mod figures;
mod headline;
mod held;
mod tables;

use crate::chart::page_style;
use crate::markup::Markup;
use crate::number;
use crate::report::Report;

const STYLE: &str = include_str!("style.css");

/// The whole page.
pub(crate) fn html(report: &Report) -> String {
    let mut page = Markup::default();
    page.raw("<!DOCTYPE html>\n");
    page.tag("html").attribute("lang", "en").open();
    head(&mut page, title(report));
    page.tag("body").open();
    page.tag("main").open();
    header(&mut page, report);
    tables::scores(&mut page, report);
    page.tag("div").class("figures").open();
    for figure in figures::all(report) {
        page.tag("figure").open();
        page.raw(&figure.svg);
        page.element("figcaption", &figure.caption);
        page.close();
    }
    if let Some(certificate) = report.certificate.as_ref().filter(|_| report.compares()) {
        certificate::certificate(&mut page, certificate, report.scoreboard.rows());
    }
    page.close();
    tables::series(&mut page, report);
    notes(&mut page, report);
    settings(&mut page, report);
    footer(&mut page, report);
    page.finish()
}

fn title(report: &Report) -> &str {
    if report.title.is_empty() { "Calibration report" } else { &report.title }
}

pub(crate) fn head(page: &mut Markup, title: &str) {
    page.tag("head").open();
    page.tag("meta").attribute("charset", "utf-8").empty();
    let viewport = page.tag("meta").attribute("name", "viewport");
    viewport.attribute("content", "width=device-width, initial-scale=1").empty();
    page.tag("meta").attribute("name", "color-scheme").attribute("content", "light dark").empty();
    page.element("title", title);
    page.tag("style").open();
    page.raw(&page_style());
    page.raw(STYLE);
    page.close();
    page.close();
}

fn header(page: &mut Markup, report: &Report) {
    page.tag("header").open();
    page.element("h1", title(report));
    page.tag("p").class("source").open();
    if !report.source.is_empty() {
        page.text(&report.source);
        page.text(" · ");
    }
    page.text(&number::outcomes(report.scoreboard.rows()));
    if report.series.len() > 1 {
        page.text(&format!(" · {} series", number::count(report.series.len() as u64)));
    }
    page.close();
    headline::write(page, report);
    page.close();
}

fn notes(page: &mut Markup, report: &Report) {
    if report.notes.is_empty() {
        return;
    }
    page.tag("section").class("notes").open();
    page.element("h2", "Notes");
    page.tag("ul").open();
    for note in &report.notes {
        page.element("li", note);
    }
    page.close();
    page.close();
}

fn settings(page: &mut Markup, report: &Report) {
    if report.settings.is_empty() {
        return;
    }
    page.tag("section").open();
    page.element("h2", "Settings");
    page.tag("dl").open();
    for (name, value) in &report.settings {
        page.tag("div").open();
        page.element("dt", name);
        page.element("dd", value);
        page.close();
    }
    page.close();
    page.close();
}

fn footer(page: &mut Markup, report: &Report) {
    page.tag("footer").open();
    page.element("h2", "How to read this page");
    let mut terms = vec![
        (
            "Coverage",
            "the share of outcomes inside an interval. An 80 % interval should hold 80 % of them, no fewer and no more.",
        ),
        (
            "CRPS",
            "the continuous ranked probability score, in the units of the outcome: the distance between a forecast distribution and what happened. Lower is better; it rewards calibration and sharpness at once.",
        ),
        (
            "PIT",
            "the probability that a forecast gave to values up to the outcome. Over many outcomes it should be spread evenly between 0 and 1.",
        ),
        (
            "Calibration score",
            "the squared distance between how often PITs fell between the levels 0, 0.2, 0.4, 0.5, 0.6, 0.8, 1 and how often they should have. 0 is best.",
        ),
        (
            "Grey bands",
            "where 95 % of the values of a perfectly calibrated forecaster would lie, by chance alone, if outcomes were independent.",
        ),
    ];
    if report.compares() {
        terms.insert(0, ("Raw and calibrated", "the forecasts as they came in, and after recalibration. Every calibrated forecast was made before its outcome was known."));
    }
    for (term, meaning) in terms {
        page.tag("p").open();
        page.element("b", term);
        page.text(": ");
        page.text(meaning);
        page.close();
    }
    page.close();
}
