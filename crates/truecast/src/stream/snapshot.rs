//! A stream as bytes: magic, version, length, checksum, payload. The layout is `docs/formats.md`; old versions load forever.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::pending::{Entry, Pending};
use super::{Stream, Ticket};
use crate::error::{Result, SnapshotError};
use crate::forecast::Forecast;
use crate::recalibrate::{Plan, Recalibrator};

const MAGIC: &[u8; 8] = b"TRUECAST";
const HEADER: usize = 8 + 2 + 8 + 4;

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
        let mut bytes = Vec::with_capacity(HEADER + payload.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&NEWEST_VERSION.to_le_bytes());
        bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
        bytes.extend_from_slice(&payload);
        Ok(bytes)
    }

    /// Loads a saved stream, and refuses anything that is damaged or inconsistent.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let payload = open(bytes)?;
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

/// Checks the header and gives the payload.
fn open(bytes: &[u8]) -> Result<&[u8], SnapshotError> {
    let magic = bytes.get(..MAGIC.len()).unwrap_or(bytes);
    if magic.is_empty() || !MAGIC.starts_with(magic) {
        return Err(SnapshotError::BadMagic);
    }
    let Some((header, payload)) = bytes.split_at_checked(HEADER) else {
        return Err(SnapshotError::WrongLength { expected: HEADER, found: bytes.len() });
    };
    let found = u16::from_le_bytes([header[8], header[9]]);
    if found == 0 || found > NEWEST_VERSION {
        return Err(SnapshotError::UnsupportedVersion { found, newest: NEWEST_VERSION });
    }
    let mut length = [0; 8];
    length.copy_from_slice(&header[10..18]);
    let length = u64::from_le_bytes(length);
    if length != payload.len() as u64 {
        let expected = usize::try_from(length).unwrap_or(usize::MAX).saturating_add(HEADER);
        return Err(SnapshotError::WrongLength { expected, found: bytes.len() });
    }
    let expected = u32::from_le_bytes([header[18], header[19], header[20], header[21]]);
    let found = crc32fast::hash(payload);
    if expected != found {
        return Err(SnapshotError::WrongChecksum { expected, found });
    }
    Ok(payload)
}

/// Puts a decoded stream together, if its parts fit.
fn restore<R: Snapshot, F: Forecast>(saved: Saved<R, F>) -> Result<Stream<R, F>> {
    let ordered = saved.pending.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let known = saved.pending.iter().all(|(ticket, _, _)| ticket.number() < saved.issued);
    if !ordered || !known || saved.issued < saved.recalibrator.steps() {
        let rule = "increasing, issued before, and as many as are open at most";
        return Err(SnapshotError::Invalid { field: "pending tickets", rule }.into());
    }
    let mut stream =
        Stream { recalibrator: saved.recalibrator, issued: saved.issued, pending: Pending::default() };
    for (ticket, forecast, plan) in saved.pending {
        stream.recalibrator.validate_plan(&plan)?;
        stream.pending.push(ticket, Box::new(Entry { forecast, plan }));
    }
    Ok(stream)
}
