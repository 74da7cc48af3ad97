//! A fleet as bytes: magic, version, length, checksum, payload. The layout is `docs/formats.md`; old versions load forever.

use serde::{Deserialize, Serialize};
use truecast::error::SnapshotError;
use truecast::stream::envelope;

use crate::error::{Error, Result};
use crate::fleet::Fleet;
use crate::series::{SavedSeries, Series};
use crate::settings::Settings;

const MAGIC: &[u8; 8] = b"TCFLEET\0";
/// The version that is written, and the newest that is read.
pub const NEWEST_VERSION: u16 = 2;
const SERIES_MAGIC: &[u8; 8] = b"TCSERIES";

#[derive(Serialize, Deserialize)]
struct Saved {
    settings: Settings,
    note: Vec<u8>,
    series: Vec<SavedSeries>,
}

/// What an envelope holds, whole and of a form that was released.
fn read<T: for<'de> Deserialize<'de>>(magic: &[u8; 8], bytes: &[u8]) -> Result<T> {
    let version = bytes.strip_prefix(magic).and_then(|rest| Some(u16::from_le_bytes(*rest.first_chunk()?)));
    if let Some(version) = version.filter(|version| *version < NEWEST_VERSION) {
        return Err(Error::EarlierState { version });
    }
    let payload = envelope::open(magic, NEWEST_VERSION, bytes).map_err(truecast::Error::from)?;
    let (saved, rest) = postcard::take_from_bytes::<T>(payload).map_err(|error| malformed(&error))?;
    if rest.is_empty() {
        return Ok(saved);
    }
    let reason = format!("{} bytes behind the end", rest.len());
    Err(truecast::Error::from(SnapshotError::Malformed { reason }).into())
}

impl Series {
    /// Saves one series with what waits in it.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let payload = postcard::to_allocvec(&self.save()?).map_err(|error| malformed(&error))?;
        Ok(envelope::seal(SERIES_MAGIC, NEWEST_VERSION, &payload))
    }

    /// Loads one, and refuses anything that is damaged or inconsistent.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Series::load(read(SERIES_MAGIC, bytes)?)
    }
}

impl Fleet {
    /// Saves every series with its pending forecasts and waiting outcomes; scores of this run are not part of it.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let series = self.series().map(Series::save).collect::<Result<_>>()?;
        let saved = Saved { settings: self.settings().clone(), note: self.note().to_vec(), series };
        let payload = postcard::to_allocvec(&saved).map_err(|error| malformed(&error))?;
        Ok(envelope::seal(MAGIC, NEWEST_VERSION, &payload))
    }

    /// Loads a saved fleet, and refuses anything that is damaged or inconsistent.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let saved: Saved = read(MAGIC, bytes)?;
        let series = saved.series.into_iter().map(Series::load).collect::<Result<_>>()?;
        Ok(Fleet::from_series(saved.settings, saved.note, series))
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
    let pairs = settings.named().into_iter().zip(other.named());
    let differing = pairs.filter(|(mine, theirs)| mine != theirs);
    differing.map(|((name, mine), _)| format!("{name} {mine}")).collect::<Vec<_>>().join(", ")
}

fn malformed(error: &postcard::Error) -> Error {
    truecast::Error::from(SnapshotError::Malformed { reason: error.to_string() }).into()
}
