//! The page is well-formed, safe and complete, whatever it is made from.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

mod samples;

use truecast_report::{Report, ReportKind};

/// The page is XML once its document type is taken off.
fn parse(html: &str) -> roxmltree::Document<'_> {
    let body = html.strip_prefix("<!DOCTYPE html>\n").unwrap();
    roxmltree::Document::parse(body).unwrap()
}

#[test]
fn every_page_is_well_formed_and_fetches_nothing() {
    for (name, report) in samples::all() {
        let html = report.to_html();
        let document = parse(&html);
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            assert!(!["script", "link", "img", "iframe"].contains(&node.tag_name().name()), "{name}");
            for attribute in node.attributes() {
                assert!(!["src", "href"].contains(&attribute.name()), "{name}");
                assert!(!attribute.name().starts_with("on"), "{name}");
            }
        }
        assert!(!html.contains("NaN") && !html.contains("@import") && !html.contains("url("), "{name}");
        assert_eq!(html, report.to_html(), "{name}");
    }
}

#[test]
fn text_from_outside_is_escaped() {
    let hostile = "<script>&\"'</script>".to_owned();
    let mut report = samples::stream(50, 1.0, 1);
    report.title = hostile.clone();
    report.source = hostile.clone();
    report.notes = vec![hostile.clone()];
    report.settings = vec![(hostile.clone(), hostile.clone())];
    report.series = vec![Default::default(), Default::default()];
    report.series[0].key = hostile.clone();
    let fan = report.fan.as_mut().unwrap();
    fan.series = hostile.clone();
    fan.points[0].time = hostile.clone();
    report.map.as_mut().unwrap().series = hostile;
    let html = report.to_html();
    assert!(!html.contains("<script") && html.contains("&lt;script&gt;&amp;&quot;&#39;"));
    parse(&html);
}

#[test]
fn sections_come_in_order() {
    let report = samples::with_series(samples::stream(2_000, 0.6, 1), 3);
    let html = report.to_html();
    let parts = [
        "<h1>",
        "class=\"source\"",
        "Your 80\u{a0}% interval covered",
        ">Scores<",
        "PIT histogram</text>",
        "Reliability</text>",
        "Coverage over time</text>",
        "Regret: CRPS against the raw forecasts</text>",
        "Sharpness</text>",
        "The last forecasts",
        "The map now",
        "What was promised",
        "never behind the forecaster",
        "Ledgers",
        ">Series<",
        ">Notes<",
        ">Settings<",
        "How to read this page",
    ];
    let mut from = 0;
    for part in parts {
        let at = html[from..].find(part).unwrap_or_else(|| panic!("{part} is missing or out of order"));
        from += at;
    }
}

#[test]
fn an_empty_report_says_so_and_one_row_is_not_overstated() {
    let html = Report::default().to_html();
    assert!(html.contains("No outcomes yet") && html.contains("no outcomes yet"));
    assert!(samples::stream(1, 1.0, 1).to_html().contains("With 1 outcome nothing is sure yet."));
}

#[test]
fn thousands_of_series_are_capped_with_a_note() {
    let html = samples::with_series(samples::stream(100, 1.0, 1), 10_000).to_html();
    assert!(html.contains("9,800 more series are not shown."));
    assert!(html.len() < 400_000, "{}", html.len());
}

#[test]
fn an_evaluation_speaks_of_one_side_only() {
    let mut report = samples::stream(500, 0.5, 1);
    report.kind = ReportKind::Evaluation;
    report.certificate = None;
    let html = report.to_html();
    assert!(!html.contains("calibrated it covers") && !html.contains("Regret"));
    assert!(!html.contains("class=\"tc-calibrated\"") && !html.contains("The map now"));
}

#[test]
fn a_saved_report_gives_the_same_page() {
    let report = samples::with_series(samples::stream(300, 0.7, 1), 4);
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap().to_html(), report.to_html());
}

#[test]
fn a_certificate_lists_what_was_used_and_says_what_is_older_than_the_page() {
    let mut report = samples::stream(100, 1.0, 1);
    let html = report.to_html();
    assert!(html.contains("after 100 outcomes, what they owe beside") && !html.contains("left out"));
    let certificate = report.certificate.as_mut().unwrap();
    let ledgers = certificate.ledgers.as_mut().unwrap();
    ledgers.steps = 250;
    let mut idle = ledgers.ledgers[0].clone();
    idle.kind = truecast::recalibrate::LedgerKind::Group(5);
    (idle.calibration_error, idle.calibration_bound, idle.regret, idle.regret_bound) = (0.0, 0.0, 0.0, 0.0);
    ledgers.ledgers.push(idle);
    let html = report.to_html();
    assert!(html.contains("after 250 outcomes, those of earlier runs among them, what they owe beside"));
    assert!(!html.contains("group 5") && html.contains("Ledgers without outcomes are left out."));
}

#[test]
fn a_series_without_a_name_is_called_so() {
    let mut report = samples::with_series(samples::stream(50, 1.0, 1), 3);
    report.series[1].key = " ".into();
    assert!(report.to_html().contains("class=\"key\">(no name)</th>"));
}
