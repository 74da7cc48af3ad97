//! `summary.json`: the numbers of a run for machines. Its schema is `docs/summary.schema.json`.

use std::path::Path;

use serde::Serialize;
use truecast::monitor::{Certificate, Scoreboard, Summary};
use truecast_data::NewFile;

use crate::failure::{Failure, Result};

/// The summary of a run.
#[derive(Debug, Serialize)]
pub(crate) struct RunSummary {
    #[serde(flatten)]
    scores: Summary,
    certificate: Option<CertificateSummary>,
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
    let certificate =
        certificate.map(|certificate| CertificateSummary { holds: certificate.holds(), words: certificate.lines(), certificate });
    RunSummary { scores: scoreboard.summary(), certificate }
}

/// Of forecasts as they are: the calibrated side is empty.
pub(crate) fn of_raw(scoreboard: &Scoreboard) -> RunSummary {
    let mut scores = scoreboard.summary();
    scores.coverage.values_mut().for_each(|sides| sides.calibrated = None);
    scores.crps.calibrated = None;
    scores.crps.regret_percent = None;
    scores.calibration_score.calibrated = None;
    RunSummary { scores, certificate: None }
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
