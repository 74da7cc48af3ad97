//! `summary.json`: the numbers of a run for machines. Its schema is `docs/summary.schema.json`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use truecast::monitor::{Certificate, Scoreboard, Sides, Summary};
use truecast_data::NewFile;
use truecast_fleet::Tally;

use crate::failure::{Failure, Result};
use crate::told::Run;

/// The summary of a run.
#[derive(Debug, Serialize)]
pub(crate) struct RunSummary {
    #[serde(flatten)]
    scores: Summary,
    certificate: Option<CertificateSummary>,
    /// What waits, was booked, was revised, matched nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<EventCounts>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    horizons: BTreeMap<String, Part>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    by: BTreeMap<String, Part>,
}

#[derive(Debug, Serialize)]
struct EventCounts {
    booked: u64,
    waiting: u64,
    revised: u64,
    unmatched: u64,
}

/// Some of the outcomes.
#[derive(Debug, Serialize)]
struct Part {
    rows: u64,
    coverage80: Sides,
    crps: Sides,
}

impl Part {
    fn of(tally: &Tally) -> Self {
        let share = |held: u64, of: u64| (of > 0).then(|| held as f64 / of as f64);
        let mean = |side: usize| (tally.scored > 0).then(|| tally.crps[side] / tally.scored as f64);
        Part {
            rows: tally.outcomes,
            coverage80: Sides {
                raw: share(tally.raw, tally.outcomes),
                calibrated: share(tally.calibrated, tally.outcomes),
            },
            crps: Sides { raw: mean(0), calibrated: mean(1) },
        }
    }
}

impl RunSummary {
    /// The same with what is told of times.
    pub(crate) fn with(mut self, run: &Run<'_>) -> Self {
        let parts = |parts: &mut dyn Iterator<Item = (&String, &Tally)>| {
            parts.map(|(name, tally)| (name.clone(), Part::of(tally))).collect()
        };
        let counts = run.desk.counts();
        let (waiting, booked) = (run.waiting(), counts.booked);
        self.events =
            Some(EventCounts { booked, waiting, revised: counts.revised, unmatched: counts.unmatched });
        self.horizons = parts(&mut run.horizons.iter().map(|(name, tally)| (name, tally)));
        self.by = parts(&mut run.desk.by().iter());
        self
    }
}

#[derive(Debug, Serialize)]
struct CertificateSummary {
    holds: bool,
    words: Vec<String>,
    #[serde(flatten)]
    certificate: Certificate,
}

/// Of base and calibrated forecasts.
pub(crate) fn of(scoreboard: &Scoreboard, certificate: Option<Certificate>) -> RunSummary {
    let certificate = certificate.map(|certificate| CertificateSummary {
        holds: certificate.holds(),
        words: certificate.lines(),
        certificate,
    });
    RunSummary {
        scores: scoreboard.summary(),
        certificate,
        events: None,
        horizons: BTreeMap::new(),
        by: BTreeMap::new(),
    }
}

/// Of forecasts as they are: the calibrated side is empty.
pub(crate) fn of_raw(scoreboard: &Scoreboard) -> RunSummary {
    let mut summary = of(scoreboard, None);
    let scores = &mut summary.scores;
    scores.coverage.values_mut().for_each(|sides| sides.calibrated = None);
    scores.crps.calibrated = None;
    scores.crps.regret_percent = None;
    scores.calibration_score.calibrated = None;
    summary
}

/// Anything as JSON for people and machines.
pub(crate) fn json(summary: &impl Serialize) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(summary)
        .map_err(|error| Failure::usage(format!("the summary cannot be written: {error}"), ""))?;
    text.push(b'\n');
    Ok(text)
}

/// Writes it.
pub(crate) fn write(path: &Path, summary: &impl Serialize) -> Result<()> {
    Ok(NewFile::write(path, &json(summary)?)?)
}
