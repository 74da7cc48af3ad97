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
        Ok(envelope::seal(MAGIC, NEWEST_VERSION, &payload))
    }

    /// Loads a saved fleet, and refuses anything that is damaged or inconsistent.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let payload = envelope::open(MAGIC, NEWEST_VERSION, bytes).map_err(truecast::Error::from)?;
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
    let pairs = settings.named().into_iter().zip(other.named());
    let differing = pairs.filter(|(mine, theirs)| mine != theirs);
    differing.map(|((name, mine), _)| format!("{name} {mine}")).collect::<Vec<_>>().join(", ")
}

fn malformed(error: &postcard::Error) -> Error {
    truecast::Error::from(SnapshotError::Malformed { reason: error.to_string() }).into()
}
