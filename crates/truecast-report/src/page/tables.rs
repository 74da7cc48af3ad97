//! Tables: scores side by side, the certificate against its bounds, one line per series.

use truecast::monitor::Side;

use crate::markup::Markup;
use crate::number::{count, fixed, percent, signed, significant};
use crate::report::{Report, SeriesLine};

use super::chance::Verdict;
use super::held::Held;

/// The longest table of series; more would make the page slow to open and slow to read.
const MOST_SERIES: usize = 200;

const NONE: &str = "–";

pub(super) fn cell(page: &mut Markup, text: &str) {
    page.element("td", text);
}

pub(super) fn head(page: &mut Markup, names: &[(&str, &str)]) {
    page.tag("thead").open();
    page.tag("tr").open();
    for (name, class) in names {
        page.tag("th").attribute("scope", "col").class(class).text(name);
    }
    page.close();
    page.close();
}

/// Opens a table in a box of its own that scrolls, so that the page never does.
pub(super) fn open_table(page: &mut Markup, label: &str) {
    let scroll = page.tag("div").class("scroll").attribute("role", "region").attribute("tabindex", "0");
    scroll.attribute("aria-label", label).open();
    page.tag("table").open();
}

pub(super) fn close_table(page: &mut Markup) {
    page.close();
    page.close();
}

pub(super) fn name(page: &mut Markup, text: &str) {
    page.tag("th").attribute("scope", "row").text(text);
}

pub(super) fn scores(page: &mut Markup, report: &Report) {
    let board = &report.scoreboard;
    if board.rows() == 0 {
        return;
    }
    page.tag("section").open();
    page.element("h2", "Scores");
    open_table(page, "Scores");
    let columns = [("", ""), ("raw", "tc-raw"), ("calibrated", "tc-calibrated")];
    head(page, &columns[..if report.compares() { 3 } else { 2 }]);
    page.tag("tbody").open();
    let sides: Vec<&Side> =
        if report.compares() { vec![board.raw(), board.calibrated()] } else { vec![board.raw()] };
    for (index, &nominal) in board.raw().coverage().coverages().iter().enumerate() {
        page.tag("tr").open();
        name(page, &format!("{} interval covers", percent(nominal)));
        for side in &sides {
            coverage_cell(page, Held::new(side, index));
        }
        page.close();
    }
    page.tag("tr").open();
    name(page, "mean CRPS, lower is better");
    cell(page, &board.regret().base_mean().map_or(NONE.to_owned(), significant));
    if report.compares() {
        let mean = board.regret().calibrated_mean().map_or(NONE.to_owned(), significant);
        let change = board.regret().regret_percent().map(|change| format!("{}\u{a0}%", signed(change, 1)));
        page.tag("td").open();
        remark(page, change.as_deref().unwrap_or(""));
        page.text(&mean);
        page.close();
    }
    page.close();
    page.tag("tr").open();
    name(page, "calibration score, 0 is best");
    for side in &sides {
        let score = side.calibration_score().score();
        cell(page, &score.map_or(NONE.to_owned(), significant));
    }
    page.close();
    page.close();
    close_table(page);
    page.close();
}

/// A share, with a word before it where it is off its target by more than chance explains.
fn coverage_cell(page: &mut Markup, held: Option<Held>) {
    page.tag("td").open();
    match held {
        None => page.text(NONE),
        Some(held) => {
            match held.mark() {
                Verdict::AsItShould => {}
                Verdict::TooNarrow => remark(page, "too narrow"),
                Verdict::TooWide => remark(page, "too wide"),
            }
            page.text(&share_of(held.share));
        }
    }
    page.close();
}

/// With one decimal always, so that the points of a column lie below one another.
fn share_of(share: f64) -> String {
    format!("{}\u{a0}%", fixed(100.0 * share, 1))
}

fn remark(page: &mut Markup, text: &str) {
    if !text.is_empty() {
        page.tag("small").text(text);
        page.text(" ");
    }
}

pub(super) fn series(page: &mut Markup, report: &Report) {
    if report.series.len() < 2 {
        return;
    }
    let mut lines: Vec<&SeriesLine> = report.series.iter().collect();
    // How many standard errors the coverage is from 80 %: of many short series the luckless would lead otherwise.
    let distance = |line: &SeriesLine| {
        let share = if report.compares() { line.coverage80.calibrated } else { line.coverage80.raw };
        share.map_or(-1.0, |share| (share - 0.8).abs() * (line.rows as f64).sqrt())
    };
    lines.sort_by(|a, b| distance(b).total_cmp(&distance(a)).then_with(|| a.key.cmp(&b.key)));
    page.tag("section").open();
    page.element("h2", "Series");
    let order = "Those whose 80\u{a0}% interval is furthest from 80\u{a0}%, for their number of outcomes, come first.";
    page.element("p", order);
    open_table(page, "Series");
    if report.compares() {
        head(
            page,
            &[
                ("series", ""),
                ("outcomes", ""),
                ("80\u{a0}% covers, raw", "tc-raw"),
                ("calibrated", "tc-calibrated"),
                ("CRPS, raw", "tc-raw"),
                ("calibrated", "tc-calibrated"),
            ],
        );
    } else {
        head(page, &[("series", ""), ("outcomes", ""), ("80\u{a0}% covers", ""), ("CRPS", "")]);
    }
    page.tag("tbody").open();
    for line in lines.iter().take(MOST_SERIES) {
        page.tag("tr").open();
        // A row without a name could not be spoken of.
        let key = if line.key.trim().is_empty() { "(no name)" } else { &line.key };
        page.tag("th").attribute("scope", "row").class("key").text(key);
        cell(page, &count(line.rows));
        let sides = |raw: Option<f64>, calibrated: Option<f64>| {
            if report.compares() { vec![raw, calibrated] } else { vec![raw] }
        };
        for share in sides(line.coverage80.raw, line.coverage80.calibrated) {
            cell(page, &share.map_or(NONE.to_owned(), share_of));
        }
        for crps in sides(line.crps.raw, line.crps.calibrated) {
            cell(page, &crps.map_or(NONE.to_owned(), significant));
        }
        page.close();
    }
    page.close();
    close_table(page);
    if lines.len() > MOST_SERIES {
        let more = count((lines.len() - MOST_SERIES) as u64);
        page.element("p", &format!("{more} more series are not shown."));
    }
    page.close();
}
