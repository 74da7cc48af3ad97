//! A stream as bytes: the header of `envelope.rs`, then the payload. The layout is `docs/formats.md`; old versions load forever.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::pending::{Entry, Pending};
use super::{Stream, Ticket, envelope};
use crate::error::{Result, SnapshotError};
use crate::forecast::Forecast;
use crate::recalibrate::{Plan, Recalibrator};

const MAGIC: &[u8; 8] = b"TRUECAST";

/// The version that is written, and the newest that is read.
pub const NEWEST_VERSION: u16 = 1;

/// What can be saved: a recalibrator that says its name, so that another kind's snapshot is refused.
pub trait Snapshot: Recalibrator + Serialize + DeserializeOwned {
    /// The name that is written into the snapshot.
    fn name() -> String;
}

#[derive(Serialize, Deserialize)]
struct Saved<R, F> {
    recalibrator: R,
    issued: u64,
    pending: Vec<(Ticket, F, Plan)>,
}

impl<R: Snapshot, F: Forecast + Clone + Serialize + DeserializeOwned> Stream<R, F> {
    /// Saves the whole stream, pending forecasts included.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let pending =
            self.pending.iter().map(|(ticket, entry)| (ticket, entry.forecast.clone(), entry.plan.clone()));
        let saved = Saved {
            recalibrator: self.recalibrator.clone(),
            issued: self.issued,
            pending: pending.collect::<Vec<_>>(),
        };
        let malformed = |e: postcard::Error| SnapshotError::Malformed { reason: e.to_string() };
        let mut payload = postcard::to_allocvec(&R::name()).map_err(malformed)?;
        payload.extend(postcard::to_allocvec(&saved).map_err(malformed)?);
        Ok(envelope::seal(MAGIC, NEWEST_VERSION, &payload))
    }

    /// Loads a saved stream, and refuses anything that is damaged or inconsistent.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let payload = envelope::open(MAGIC, NEWEST_VERSION, bytes)?;
        let malformed = |e: postcard::Error| SnapshotError::Malformed { reason: e.to_string() };
        let (name, payload) = postcard::take_from_bytes::<String>(payload).map_err(malformed)?;
        if name != R::name() {
            let reason = format!("it holds the recalibrator {name}, not {}", R::name());
            return Err(SnapshotError::Malformed { reason }.into());
        }
        let (saved, rest) = postcard::take_from_bytes::<Saved<R, F>>(payload).map_err(malformed)?;
        if !rest.is_empty() {
            return Err(
                SnapshotError::Malformed { reason: format!("{} bytes behind the end", rest.len()) }.into()
            );
        }
        restore(saved)
    }
}

/// Puts a decoded stream together, if its parts fit.
fn restore<R: Snapshot, F: Forecast>(saved: Saved<R, F>) -> Result<Stream<R, F>> {
    let ordered = saved.pending.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let known = saved.pending.iter().all(|(ticket, _, _)| ticket.number() < saved.issued);
    if !ordered || !known || saved.issued < saved.recalibrator.steps() {
        let rule = "increasing, issued before, and as many as are open at most";
        return Err(SnapshotError::Invalid { field: "pending tickets", rule }.into());
    }
    if saved.recalibrator.waits().is_some_and(|waits| waits != saved.pending.len() as u64) {
        let rule = "as many as the stop-loss has reserved for";
        return Err(SnapshotError::Invalid { field: "pending tickets", rule }.into());
    }
    let mut stream = Stream {
        recalibrator: saved.recalibrator,
        issued: saved.issued,
        pending: Pending::default(),
        room: None,
    };
    for (ticket, forecast, plan) in saved.pending {
        stream.recalibrator.validate_plan(&plan)?;
        stream.pending.push(ticket, Box::new(Entry { forecast, plan }));
    }
    Ok(stream)
}
