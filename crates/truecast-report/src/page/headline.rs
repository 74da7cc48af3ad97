//! The result in words. A change counts as one only where chance does not explain it.

use truecast::monitor::Coverage;

use crate::chart::Colour;
use crate::markup::Markup;
use crate::number::{outcomes, percent, plain};
use crate::report::Report;

use super::chance::{FEW, Verdict};
use super::held::Held;

/// What recalibration did to the CRPS.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Change {
    Better(f64),
    Worse(f64),
    /// Within two standard errors.
    Noise(f64),
    /// Too few outcomes to know the noise.
    Unsure(f64),
    /// The same scores.
    None,
}

pub(super) fn change(report: &Report) -> Option<Change> {
    let regret = report.scoreboard.regret();
    let percent = regret.regret_percent().filter(|percent| percent.is_finite())?;
    // Differences of this size are rounding.
    if regret.regret().abs() <= 1e-12 * regret.base_total().abs() {
        return Some(Change::None);
    }
    Some(match report.timeline.difference_error() {
        None => Change::Unsure(percent),
        Some(error) if regret.regret().abs() <= 2.0 * error => Change::Noise(percent),
        Some(_) if percent < 0.0 => Change::Better(-percent),
        Some(_) => Change::Worse(percent),
    })
}

/// The coverage that the headline speaks of: 80 %, or the one nearest to it.
pub(super) fn headline_index(coverage: &Coverage) -> Option<usize> {
    let far = |k: &usize| (coverage.coverages()[*k] - 0.8).abs();
    (0..coverage.coverages().len()).min_by(|a, b| far(a).total_cmp(&far(b)))
}

pub(super) fn write(page: &mut Markup, report: &Report) {
    let board = &report.scoreboard;
    if board.rows() == 0 {
        page.tag("p").class("lede").text("No outcomes yet: there is nothing to judge.");
        return;
    }
    let Some(index) = headline_index(board.raw().coverage()) else { return };
    let Some(raw) = Held::new(board.raw(), index) else { return };
    let calibrated = Held::new(board.calibrated(), index).filter(|_| report.compares());
    let few = board.rows() < FEW;
    page.tag("p").class("lede").open();
    page.text(&format!("Your {} interval covered ", percent(raw.nominal)));
    number(page, Colour::Raw, raw.share);
    match &calibrated {
        Some(calibrated) => {
            page.text("; calibrated it covers ");
            number(page, Colour::Calibrated, calibrated.share);
            page.text(".");
        }
        None if few => page.text("."),
        None => page.text(match raw.verdict() {
            Verdict::AsItShould => ": as it should, within noise.",
            Verdict::TooNarrow => ": your forecasts are too sure of themselves.",
            Verdict::TooWide => ": your forecasts are too cautious.",
        }),
    }
    page.close();
    page.tag("p").class("sub").open();
    if few {
        page.text(&format!("With {} nothing is sure yet.", outcomes(board.rows())));
    } else {
        page.text(&ends_words(&raw, calibrated.as_ref()));
        page.text(calibrated.map_or("", |calibrated| coverage_words(&raw, &calibrated)));
    }
    page.text(" ");
    page.text(&crps_words(report));
    page.close();
}

fn number(page: &mut Markup, colour: Colour, share: f64) {
    page.tag("b").class(colour.class()).text(&percent(share));
}

/// What is left of the coverage without the outcomes on the ends of intervals, where there are many.
fn ends_words(raw: &Held, calibrated: Option<&Held>) -> String {
    if !raw.ends() && !calibrated.is_some_and(Held::ends) {
        return String::new();
    }
    let rest = calibrated.map_or(String::new(), |calibrated| format!(" and {}", percent(calibrated.split)));
    format!(
        "Many outcomes lie exactly on an end of their interval, as counts do; with those counted in part, it is {}{rest}. ",
        percent(raw.split)
    )
}

fn coverage_words(raw: &Held, calibrated: &Held) -> &'static str {
    use Verdict::{AsItShould, TooNarrow, TooWide};
    let far = |held: &Held| (held.split - held.nominal).abs();
    let closer = far(calibrated) < far(raw);
    match (raw.verdict(), calibrated.verdict()) {
        (AsItShould, AsItShould) => "Both are as they should be, within noise.",
        (TooNarrow, AsItShould) => "Your forecasts were too sure of themselves; the calibrated ones are not.",
        (TooWide, AsItShould) => "Your forecasts were too cautious; the calibrated ones are not.",
        (AsItShould, TooNarrow) => {
            "Your intervals were as they should be; the calibrated ones hold too few outcomes."
        }
        (AsItShould, TooWide) => {
            "Your intervals were as they should be; the calibrated ones hold too many outcomes."
        }
        (_, TooNarrow) if closer => "The calibrated intervals are closer to it, and still too narrow.",
        (_, TooWide) if closer => "The calibrated intervals are closer to it, and still too wide.",
        (_, TooNarrow) => "Calibration did not bring the coverage closer: the intervals are too narrow.",
        (_, TooWide) => "Calibration did not bring the coverage closer: the intervals are too wide.",
    }
}

fn crps_words(report: &Report) -> String {
    let size = |percent: f64| {
        if percent.abs() < 0.05 {
            "less than 0.1\u{a0}%".to_owned()
        } else {
            format!("{}\u{a0}%", plain(percent, 1))
        }
    };
    if !report.compares() {
        let mean = report.scoreboard.regret().base_mean();
        return mean.map_or(String::new(), |mean| {
            format!(
                "The mean CRPS of your forecasts is {}: the lower, the better.",
                crate::number::significant(mean)
            )
        });
    }
    match change(report) {
        None => String::new(),
        Some(Change::None) => "Accuracy is unchanged: both have the same CRPS.".to_owned(),
        Some(Change::Better(percent)) => {
            format!("The calibrated forecasts are more accurate: their CRPS is better by {}.", size(percent))
        }
        Some(Change::Worse(percent)) => format!(
            "The calibrated forecasts are less accurate: their CRPS is worse by {}, which is more than noise.",
            size(percent)
        ),
        Some(Change::Noise(percent)) => format!(
            "In accuracy neither is ahead: the CRPS is {} by {}, within noise.",
            if percent < 0.0 { "better" } else { "worse" },
            size(percent.abs())
        ),
        Some(Change::Unsure(percent)) => format!(
            "The CRPS is {} by {} so far.",
            if percent < 0.0 { "better" } else { "worse" },
            size(percent.abs())
        ),
    }
}

#[cfg(test)]
mod tests {
    use truecast::{Gaussian, Samples};

    use super::*;
    use crate::{ReportKind, TimelineRow};

    /// Outcomes of N(0, 1), seen by forecasts of the given standard deviations.
    fn report(rows: u64, base: f64, calibrated: f64) -> Report {
        let mut report = Report::default();
        let forecasts = [Gaussian::new(0.0, base).unwrap(), Gaussian::new(0.0, calibrated).unwrap()];
        for row in 0..rows {
            let y = truecast::normal::quantile(truecast::random::uniform(5, row, 0).max(1e-9));
            report.scoreboard.observe(&forecasts[0], &forecasts[1], y, 0.5).unwrap();
            report.timeline.record(row, &TimelineRow::new(&forecasts[0], &forecasts[1], y).unwrap()).unwrap();
        }
        report
    }

    fn words(report: &Report) -> String {
        let mut page = Markup::default();
        write(&mut page, report);
        let html = page.finish();
        let mut text = String::new();
        let mut inside = false;
        for character in html.chars() {
            match character {
                '<' => inside = true,
                '>' => inside = false,
                _ if !inside => text.push(if character == '\u{a0}' { ' ' } else { character }),
                _ => {}
            }
        }
        text
    }

    #[test]
    fn a_gain_a_loss_and_noise_have_their_words() {
        let better = words(&report(2_000, 0.5, 1.0));
        assert!(
            better.starts_with("Your 80 % interval covered 4") && better.contains("calibrated it covers 8")
        );
        assert!(better.contains("too sure of themselves") && better.contains("more accurate"), "{better}");
        let worse = words(&report(2_000, 1.0, 0.4));
        assert!(worse.contains("hold too few outcomes") && worse.contains("worse by"), "{worse}");
        let same = words(&report(2_000, 1.0, 1.0));
        assert!(same.contains("Both are as they should be") && same.contains("unchanged"), "{same}");
        // 27 % and 48 % are both far from 80 %.
        let closer = words(&report(2_000, 0.27, 0.5));
        assert!(closer.contains("closer to it, and still too narrow."), "{closer}");
        // Scales with the same expected CRPS to first order: what differs is chance.
        let noise = words(&report(400, 1.02, 0.98));
        assert!(noise.contains("within noise"), "{noise}");
    }

    /// A mark beside a share needs more than chance, as the bands of the charts do.
    #[test]
    fn few_rows_have_no_marks_in_the_table() {
        let html = report(1, 0.01, 0.01).to_html();
        assert!(html.contains("80\u{a0}% interval covers") && !html.contains("too narrow"));
    }

    /// Outcomes of 0, 1 and 2 with a third each, seen by forecasts of a fifth, three fifths and a fifth: 2/3 lie in the middle 80 %.
    #[test]
    fn counts_are_judged_without_the_ends_of_their_intervals() {
        let mut report = Report::default();
        let counts = |ends: usize, ones: usize| {
            Samples::new(&[vec![0.0; ends], vec![1.0; ones], vec![2.0; ends]].concat()).unwrap()
        };
        let (sure, right) = (counts(60, 180), counts(100, 100));
        for row in 0..2_000 {
            let outcome = (3.0 * truecast::random::uniform(5, row, 0)).floor();
            let draw = truecast::random::uniform(5, row, 1);
            report.scoreboard.observe(&sure, &right, outcome, draw).unwrap();
            report.timeline.record(row, &TimelineRow::new(&sure, &right, outcome).unwrap()).unwrap();
        }
        let both = words(&report);
        assert!(both.contains("covered 100 %; calibrated it covers 100 %."), "{both}");
        assert!(both.contains("with those counted in part, it is 65.9 % and 78.3 %."), "{both}");
        assert!(both.contains("too sure of themselves; the calibrated ones are not."), "{both}");
    }

    #[test]
    fn few_rows_and_evaluation_alone() {
        assert!(words(&Report::default()).contains("nothing to judge"));
        let one = words(&report(1, 1.0, 2.0));
        assert!(one.contains("With 1 outcome nothing is sure yet."), "{one}");
        let mut few = report(5, 1.0, 1.0);
        few.kind = ReportKind::Evaluation;
        let few = words(&few);
        assert!(few.contains("nothing is sure yet. The mean CRPS of your forecasts is"), "{few}");
        let mut alone = report(2_000, 0.5, 1.0);
        alone.kind = ReportKind::Evaluation;
        let alone = words(&alone);
        assert!(alone.contains("too sure of themselves") && !alone.contains("alibrated"), "{alone}");
    }
}
