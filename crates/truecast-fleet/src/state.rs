//! A fleet as bytes: magic, version, length, checksum, payload. The layout is `docs/formats.md`; old versions load forever.

use serde::{Deserialize, Serialize};
use truecast::error::SnapshotError;

use crate::error::{Error, Result};
use crate::fleet::Fleet;
use crate::series::{SavedSeries, Series};
use crate::settings::Settings;

const MAGIC: &[u8; 8] = b"TCFLEET\0";
const HEADER: usize = 8 + 2 + 8 + 4;
/// The version that is written, and the newest that is read.
pub const NEWEST_VERSION: u16 = 1;

#[derive(Serialize, Deserialize)]
struct Saved {
    settings: Settings,
    series: Vec<SavedSeries>,
}

impl Fleet {
    /// Saves every series with its pending forecasts and waiting outcomes; scores of this run are not part of it.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let series = self.series().map(Series::save).collect::<Result<_>>()?;
        let saved = Saved { settings: self.settings().clone(), series };
        let payload = postcard::to_allocvec(&saved).map_err(|error| malformed(&error))?;
        let mut bytes = Vec::with_capacity(HEADER + payload.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&NEWEST_VERSION.to_le_bytes());
        bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
        bytes.extend_from_slice(&payload);
        Ok(bytes)
    }

    /// Loads a saved fleet, and refuses anything that is damaged or inconsistent.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let payload = open(bytes)?;
        let (saved, rest) = postcard::take_from_bytes::<Saved>(payload).map_err(|error| malformed(&error))?;
        if !rest.is_empty() {
            let reason = format!("{} bytes behind the end", rest.len());
            return Err(truecast::Error::from(SnapshotError::Malformed { reason }).into());
        }
        let series = saved.series.into_iter().map(Series::load).collect::<Result<_>>()?;
        Ok(Fleet::from_series(saved.settings, series))
    }

    /// Checks that a saved fleet can go on with these settings.
    pub fn expect(&self, asked: &Settings) -> Result<()> {
        if self.settings() == asked {
            return Ok(());
        }
        Err(Error::OtherSettings {
            saved: describe(self.settings(), asked),
            asked: describe(asked, self.settings()),
        })
    }
}

/// The settings that differ from `other`'s, in words.
fn describe(settings: &Settings, other: &Settings) -> String {
    fn optional<T: ToString>(value: Option<T>) -> String {
        value.map_or("none".to_owned(), |value| value.to_string())
    }
    let parts = [
        ("method", settings.method.to_string(), other.method.to_string()),
        ("paper", optional(settings.paper), optional(other.paper)),
        ("groups", settings.groups.to_string(), other.groups.to_string()),
        ("thresholds", format!("{:?}", settings.thresholds), format!("{:?}", other.thresholds)),
        ("half-life", optional(settings.half_life), optional(other.half_life)),
        ("prior", optional(settings.prior), optional(other.prior)),
        ("memory", settings.memory.to_string(), other.memory.to_string()),
        ("trust", settings.trust.to_string(), other.trust.to_string()),
        ("guard", settings.guard.to_string(), other.guard.to_string()),
        ("randomised", optional(settings.randomised), optional(other.randomised)),
        ("seed", settings.seed.to_string(), other.seed.to_string()),
        ("outcomes known", settings.lateness.to_string(), other.lateness.to_string()),
    ];
    let differing = parts.into_iter().filter(|(_, mine, theirs)| mine != theirs);
    differing.map(|(name, mine, _)| format!("{name} {mine}")).collect::<Vec<_>>().join(", ")
}

fn malformed(error: &postcard::Error) -> Error {
    truecast::Error::from(SnapshotError::Malformed { reason: error.to_string() }).into()
}

/// Checks the header and gives the payload.
fn open(bytes: &[u8]) -> Result<&[u8]> {
    let refuse = |error: SnapshotError| Err(truecast::Error::from(error).into());
    if !bytes.starts_with(MAGIC) {
        return refuse(SnapshotError::BadMagic);
    }
    let Some((header, payload)) = bytes.split_at_checked(HEADER) else {
        return refuse(SnapshotError::WrongLength { expected: HEADER, found: bytes.len() });
    };
    let found = u16::from_le_bytes([header[8], header[9]]);
    if found == 0 || found > NEWEST_VERSION {
        return refuse(SnapshotError::UnsupportedVersion { found, newest: NEWEST_VERSION });
    }
    let mut length = [0; 8];
    length.copy_from_slice(&header[10..18]);
    let length = u64::from_le_bytes(length);
    if length != payload.len() as u64 {
        let expected = usize::try_from(length).unwrap_or(usize::MAX).saturating_add(HEADER);
        return refuse(SnapshotError::WrongLength { expected, found: bytes.len() });
    }
    let expected = u32::from_le_bytes([header[18], header[19], header[20], header[21]]);
    let found = crc32fast::hash(payload);
    if expected != found {
        return refuse(SnapshotError::WrongChecksum { expected, found });
    }
    Ok(payload)
}
