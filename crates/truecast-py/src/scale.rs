//! Point forecasts of a `Recalibrator` or a `Stream`: the scale that it learns by the fleet's rule, and the bytes that keep it.
//!
//! Whatever has learned nothing from points is saved as Rust saves a stream, byte for byte. Otherwise that snapshot is put
//! into an envelope of its own, with the scale and the points that are pending; the layout is `docs/formats.md`.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use truecast::recalibrate::AnyRecalibrator;
use truecast::stream::envelope;
use truecast::{AnyForecast, SnapshotError, Stream};
use truecast_fleet::LearnedScale;

use crate::distribution::Like;
use crate::errors::{Error, Result};
use crate::held::Base;
use crate::point::Point;

const MAGIC: &[u8; 8] = b"TCPOINTS";
/// The version that is written, and the newest that is read.
const NEWEST_VERSION: u16 = 1;

/// A stream of any method.
pub(crate) type CoreStream = Stream<AnyRecalibrator, AnyForecast>;

/// What is understood as a forecast where scales are learned: a distribution, or a point.
pub(crate) enum Offer<D = Base> {
    Distribution(D),
    Point(f64),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Offer {
    type Error = Error;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> Result<Self> {
        match given.cast::<Point>() {
            Ok(point) => Ok(Offer::Point(point.get().value)),
            Err(_) => Ok(Offer::Distribution(Like::extract(given)?.0)),
        }
    }
}

/// A scale that is learned, with the half-life of its recalibrator.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    learned: LearnedScale,
    half_life: Option<f64>,
}

impl Scale {
    /// Nothing learned yet.
    pub(crate) fn new(recalibrator: &AnyRecalibrator) -> Self {
        Scale::with(LearnedScale::default(), recalibrator)
    }

    pub(crate) fn with(learned: LearnedScale, recalibrator: &AnyRecalibrator) -> Self {
        Scale { learned, half_life: half_life(recalibrator) }
    }

    /// The distribution, and the point if it was one.
    pub(crate) fn understand(&self, offer: Offer) -> Result<(Base, Option<f64>)> {
        match offer {
            Offer::Distribution(base) => Ok((base, None)),
            Offer::Point(value) => Ok((self.forecast(value)?, Some(value))),
        }
    }

    pub(crate) fn forecast(&self, value: f64) -> Result<Base> {
        Ok(Base::Gaussian(self.learned.forecast(value)?))
    }

    /// This scale with one more outcome.
    pub(crate) fn after(&self, point: Option<f64>, outcome: f64) -> Result<Self> {
        let mut scale = *self;
        if let Some(value) = point {
            scale.learned.observe(value, outcome, self.half_life)?;
        }
        Ok(scale)
    }
}

/// The half-life that outcomes fade with. Methods other than the ledgers have none.
fn half_life(recalibrator: &AnyRecalibrator) -> Option<f64> {
    let AnyRecalibrator::Ledger(ledger) = recalibrator else { return None };
    // Parameters say it by serialising alone.
    serde_json::to_value(ledger.parameters()).ok()?.get("half_life")?.as_f64()
}

/// The scale; ticket and point of the pending forecasts that are points; the snapshot of the stream.
type Saved = (LearnedScale, Vec<(u64, f64)>, Vec<u8>);

/// A stream with what was learned from its points, as bytes.
pub(crate) fn save(stream: &CoreStream, scale: &Scale, points: &BTreeMap<u64, f64>) -> Result<Vec<u8>> {
    let bytes = stream.to_bytes()?;
    if scale.learned.learned().is_none() && points.is_empty() {
        return Ok(bytes);
    }
    let points = points.iter().map(|(&ticket, &point)| (ticket, point)).collect();
    let saved: Saved = (scale.learned, points, bytes);
    let payload = postcard::to_allocvec(&saved).map_err(|error| malformed(error.to_string()))?;
    Ok(envelope::seal(MAGIC, NEWEST_VERSION, &payload))
}

/// Loads what `save` wrote, or a stream that Rust saved; anything damaged or inconsistent is refused.
pub(crate) fn load(bytes: &[u8]) -> Result<(CoreStream, Scale, BTreeMap<u64, f64>)> {
    if !bytes.starts_with(MAGIC) {
        let stream = Stream::from_bytes(bytes)?;
        let scale = Scale::new(stream.recalibrator());
        return Ok((stream, scale, BTreeMap::new()));
    }
    let payload = envelope::open(MAGIC, NEWEST_VERSION, bytes)?;
    let ((learned, points, snapshot), rest) =
        postcard::take_from_bytes::<Saved>(payload).map_err(|error| malformed(error.to_string()))?;
    if !rest.is_empty() {
        return Err(malformed(format!("{} bytes behind the end", rest.len())));
    }
    let stream = Stream::from_bytes(&snapshot)?;
    let scale = Scale::with(learned, stream.recalibrator());
    if learned.learned().is_some_and(|learned| learned.half_life() != scale.half_life) {
        let (field, rule) = ("half-life of the scale", "that of the recalibrator");
        return Err(SnapshotError::Invalid { field, rule }.into());
    }
    let pending: Vec<u64> = stream.pending().map(truecast::Ticket::number).collect();
    let ordered = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let known =
        points.iter().all(|(ticket, point)| point.is_finite() && pending.binary_search(ticket).is_ok());
    if !ordered || !known {
        let (field, rule) = ("points", "finite, of pending tickets, and in their order");
        return Err(SnapshotError::Invalid { field, rule }.into());
    }
    Ok((stream, scale, points.into_iter().collect()))
}

fn malformed(reason: String) -> Error {
    SnapshotError::Malformed { reason }.into()
}
