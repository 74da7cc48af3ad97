//! What a run says at its end: how outcomes were met, whether that was better or worse, and what became of forecasts that wait.

use truecast_events::{Desk, table, verdict};
use truecast_fleet::{Fleet, Series, Tally};

use crate::terminal::{count, percent, plural, say};

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) fleet: &'a Fleet,
    pub(crate) desk: &'a Desk,
    pub(crate) horizons: &'a [(String, Tally)],
    pub(crate) skipped: u64,
    pub(crate) expired: usize,
}

/// Forecasts that wait for their outcome.
pub(crate) fn waiting(fleet: &Fleet) -> u64 {
    fleet.series().map(|series| series.open().count() as u64).sum()
}

/// What became of outcomes for forecasts that wait.
pub(crate) fn booked(counts: &truecast_events::Counts, fleet: &Fleet, expired: usize) -> Vec<String> {
    let (waiting, known): (u64, usize) = (waiting(fleet), fleet.series().map(Series::waiting).sum());
    let mut parts = Vec::new();
    let mut add = |number: u64, one: &str, many: &str| {
        if number > 0 {
            parts.push(format!("{} {}", count(number), plural(number, one, many)));
        }
    };
    add(counts.booked, "forecast that waited has its outcome", "forecasts that waited have their outcomes");
    add(
        counts.revised,
        "forecast has another outcome now than the one that counts",
        "forecasts have other outcomes now than those that count",
    );
    add(
        expired as u64,
        "forecast was forgotten without an outcome",
        "forecasts were forgotten without an outcome",
    );
    add(waiting, "forecast waits for its outcome", "forecasts wait for their outcomes");
    add(
        known as u64,
        "outcome is learned when the next forecast is made that can know it",
        "outcomes are learned when the next forecasts are made that can know them",
    );
    parts
}

impl Run<'_> {
    pub(crate) fn waiting(&self) -> u64 {
        waiting(self.fleet)
    }

    /// The verdict, and what else whoever reads a report has to know.
    pub(crate) fn notes(&self) -> Vec<String> {
        let sentence = |words: String| {
            let mut letters = words.chars();
            letters
                .next()
                .map_or(String::new(), |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
        };
        let mut notes = vec![verdict(&self.fleet.tally())];
        notes.extend(self.counted());
        notes.retain(|note| !note.is_empty());
        notes.into_iter().map(sentence).collect()
    }

    /// Everything that was counted beside outcomes.
    fn counted(&self) -> Vec<String> {
        let (counts, tally) = (self.desk.counts(), self.fleet.tally());
        // Without a state nothing comes after this run.
        let mut lines =
            if self.desk.keeps() { booked(&counts, self.fleet, self.expired) } else { Vec::new() };
        if counts.outcomes > 0 {
            let (all, unmatched) = (count(counts.outcomes), count(counts.unmatched));
            lines.push(format!(
                "of {all} outcomes, {unmatched} are about no forecast; {} forecasts of {} have no outcome",
                count(counts.without_outcome),
                count(counts.forecasts)
            ));
        }
        if tally.again > 0 {
            lines.push(format!(
                "{} {} given before and got the same answer",
                count(tally.again),
                plural(tally.again, "forecast was", "forecasts were")
            ));
        }
        if counts.without_width > 0 {
            let forecasts = plural(counts.without_width, "forecast has", "forecasts have");
            lines.push(format!(
                "{} {forecasts} no width: taken for points, whose scale is learned",
                count(counts.without_width)
            ));
        }
        if counts.below_zero > 0 {
            let forecasts =
                plural(counts.below_zero, "calibrated forecast falls", "calibrated forecasts fall");
            lines.push(format!(
                "{} {forecasts} below 0, where none was before: if nothing can, say --bounds 0,",
                count(counts.below_zero)
            ));
        }
        if tally.repaired > 0 {
            let rows = plural(tally.repaired, "row", "rows");
            lines.push(format!("quantiles crossed in {} {rows} and were sorted", count(tally.repaired)));
        }
        if self.skipped > 0 {
            lines.push(format!(
                "{} {} left out",
                count(self.skipped),
                plural(self.skipped, "row was", "rows were")
            ));
        }
        lines
    }

    /// The run in words.
    pub(crate) fn say(&self) {
        let (tally, series) = (self.fleet.tally(), self.fleet.series().count() as u64);
        let rows = format!("{} {}", count(tally.rows), plural(tally.rows, "row", "rows"));
        say!("{rows} in {} series", count(series));
        if tally.outcomes > 0 {
            let (raw, calibrated) =
                (percent(tally.raw, tally.outcomes), percent(tally.calibrated, tally.outcomes));
            let outcomes =
                format!("{} {}", count(tally.outcomes), plural(tally.outcomes, "outcome", "outcomes"));
            say!("80 % intervals held {raw} of {outcomes}; calibrated they hold {calibrated}");
            say!("{}", verdict(&tally));
        } else {
            say!(
                "no outcome was there to learn from: the forecasts are as calibrated as the state that they began with"
            );
        }
        if self.horizons.len() > 1 {
            say!("{}", table("horizon", self.horizons));
        }
        if !self.desk.by().is_empty() {
            let parts: Vec<_> = self.desk.by().iter().map(|(name, tally)| (name.clone(), *tally)).collect();
            say!("{}", table(self.desk.by_name(), &parts));
        }
        self.counted().iter().for_each(|line| say!("{line}"));
        if series > 1 && series == tally.rows && !self.desk.holds() {
            say!(
                "note: every row is a series of its own, so nothing could be learned; --key names the column of the series"
            );
        }
    }
}
