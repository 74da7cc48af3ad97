//! The certificate: one line for each promise, with its bound, what was measured, and how close it came.

use truecast::monitor::{Certificate, LedgerCertificate, LedgersCertificate};

use super::tables::{cell, close_table, head, name, open_table};
use crate::markup::Markup;
use crate::number::{outcomes, significant};

/// `rows`: how many outcomes the page is about.
pub(super) fn certificate(page: &mut Markup, certificate: &Certificate, rows: u64) {
    if certificate.stop_loss.is_none() && certificate.guard.is_none() && certificate.ledgers.is_none() {
        return;
    }
    page.tag("section").class("certificate").open();
    page.element("h2", "What was promised");
    if let Some(stop_loss) = &certificate.stop_loss {
        promise(page, "Accuracy", stop_loss.holds(), &stop_loss.to_string());
    }
    if let Some(guard) = &certificate.guard {
        // What is measured and not promised is neither kept nor broken.
        promise(page, "Coverage", true, &guard.to_string());
    }
    if let Some(ledgers) = &certificate.ledgers {
        let earlier = if ledgers.steps > rows { ", those of earlier runs among them" } else { "" };
        let words = format!(
            "the ledgers are calibrated and without regret in their own plays, before they are mixed with other experts: after {}{earlier}, what they owe beside the most that they can owe on any data.",
            outcomes(ledgers.steps)
        );
        promise(page, "Ledgers", ledgers.holds(), &words);
        table(page, ledgers);
    }
    page.close();
}

fn promise(page: &mut Markup, what: &str, holds: bool, words: &str) {
    page.tag("p").open();
    page.tag("b").class(if holds { "good" } else { "bad" }).text(what);
    page.text(&format!(": {}.", words.trim_end_matches('.')));
    if !holds {
        page.text(
            " The bound is proved for every stream, so this is a defect of the software: please report it.",
        );
    }
    page.close();
}

fn table(page: &mut Markup, ledgers: &LedgersCertificate) {
    let idle = |ledger: &&LedgerCertificate| {
        ledgers.steps > 0 && ledger.calibration_bound == 0.0 && ledger.regret_bound == 0.0
    };
    open_table(page, "Ledgers");
    head(page, &[("", ""), ("measured", ""), ("at most", "")]);
    page.tag("tbody").open();
    row(page, "potential", ledgers.potential, ledgers.potential_bound);
    for ledger in ledgers.ledgers.iter().filter(|ledger| !idle(ledger)) {
        let kind = ledger.kind.to_string();
        row(page, &format!("{kind}: calibration error"), ledger.calibration_error, ledger.calibration_bound);
        row(page, &format!("{kind}: regret"), ledger.regret, ledger.regret_bound);
    }
    page.close();
    close_table(page);
    if ledgers.ledgers.iter().any(|ledger| idle(&ledger)) {
        page.element("p", "Ledgers without outcomes are left out.");
    }
}

/// A number on the scale of its bound: what is left by rounding is nothing.
fn beside(value: f64, bound: f64) -> String {
    significant(if value.abs() < 1e-12 * bound.abs() { 0.0 } else { value })
}

fn row(page: &mut Markup, label: &str, measured: f64, bound: f64) {
    page.tag("tr").open();
    name(page, label);
    cell(page, &beside(measured, bound));
    cell(page, &significant(bound));
    page.close();
}
