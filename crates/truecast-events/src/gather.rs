//! A whole table as events, in the order in which forecasts were made. A forecast may be spread over rows that lie far apart, and rows may come in
//! any order; those that belong to no forecast pass through.

use std::borrow::Cow;
use std::collections::HashMap;

use truecast_data::RowError;
use truecast_data::recognise::Form;
use truecast_fleet::Parts;

use crate::cells::{Cells, Piece};
use crate::error::{Error, Result};
use crate::forecast::Reader;
use crate::key;
use crate::meaning::{Horizon, Meaning, Moments};
use crate::outcomes::Index;
use crate::{hub, m5};

/// A cell: the piece, the row, the column.
pub(crate) type Place = (usize, usize, usize);

/// A forecast of a table.
#[derive(Debug, Default)]
pub(crate) struct Event {
    pub(crate) key: Vec<u8>,
    /// What tells it from the others of its series.
    pub(crate) about: Option<Vec<u8>>,
    pub(crate) moments: Moments,
    pub(crate) outcome: Option<f64>,
    /// Later outcomes about the same, and when each was known.
    pub(crate) later: Vec<(f64, f64)>,
    /// The piece and the row of its first cell.
    pub(crate) at: (usize, usize),
    /// Its numbers and their places, if it is no whole row.
    pub(crate) parts: Option<(Parts, Vec<Place>)>,
    pub(crate) label: String,
}

/// What was found in a table.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) events: Vec<Event>,
    /// Rows that break a rule.
    pub(crate) refused: Vec<RowError>,
    /// Where these are.
    pub(crate) left_out: Vec<(usize, usize)>,
}

impl Gathered {
    /// A row that breaks a rule; what is wrong with more than a row ends the reading.
    pub(crate) fn refuse(&mut self, error: Error, at: (usize, usize)) -> Result<()> {
        match error {
            Error::Data(truecast_data::Error::Row(row)) => {
                self.refused.push(*row);
                self.left_out.push(at);
                Ok(())
            }
            other => Err(other),
        }
    }
}

/// Finds the forecasts, tells series apart, and joins outcomes.
pub(crate) fn gather<C: Cells>(
    reader: &Reader<'_>,
    pieces: &[Piece<C>],
    outcomes: Option<&Index>,
) -> Result<Gathered> {
    let meaning = reader.meaning;
    let mut gathered = Gathered::default();
    match &meaning.layout.form {
        Form::Hubverse { .. } => hub::gather(reader, pieces, &mut gathered)?,
        Form::M5 { .. } => m5::gather(reader, pieces, &mut gathered)?,
        _ => rows(reader, pieces, &mut gathered)?,
    }
    if let Some(index) = outcomes {
        for event in &mut gathered.events {
            join(event, meaning, index)?;
        }
    }
    if meaning.horizon == Horizon::Counted {
        count_horizons(&mut gathered.events, meaning.layout.keys.len());
    }
    // Stable: forecasts made at the same time keep the order of the table.
    let time = |event: &Event| event.moments.made.unwrap_or(f64::NEG_INFINITY);
    gathered.events.sort_by(|a, b| time(a).total_cmp(&time(b)));
    Ok(gathered)
}

/// Rows that hold one forecast each.
fn rows<C: Cells>(reader: &Reader<'_>, pieces: &[Piece<C>], gathered: &mut Gathered) -> Result<()> {
    let meaning = reader.meaning;
    for (number, piece) in pieces.iter().enumerate() {
        for row in 0..piece.cells.rows() {
            if !meaning.is_meant(&piece.cells, row) {
                continue;
            }
            let understood = begin(reader, piece, (number, row)).and_then(|mut event| {
                event.outcome = reader.outcome(piece, row)?;
                Ok(event)
            });
            match understood {
                Ok(event) => gathered.events.push(event),
                Err(error) => gathered.refuse(error, (number, row))?,
            }
        }
    }
    Ok(())
}

/// An event whose first cell is in this row.
pub(crate) fn begin<C: Cells>(reader: &Reader<'_>, piece: &Piece<C>, at: (usize, usize)) -> Result<Event> {
    let (meaning, row) = (reader.meaning, at.1);
    let label = meaning.layout.about.or(meaning.layout.made);
    Ok(Event {
        key: meaning.key(&piece.cells, row).into_owned(),
        about: meaning.about(&piece.cells, row),
        moments: meaning.moments(piece, row)?,
        at,
        label: label.map_or_else(String::new, |column| piece.shown(column, row)),
        ..Event::default()
    })
}

/// Gives an event the outcomes of a table of their own.
fn join(event: &mut Event, meaning: &Meaning, index: &Index) -> Result<()> {
    let mut cells = key::split(
        &event.key,
        meaning.memo.keys.len() + usize::from(matches!(meaning.horizon, Horizon::Column(_))),
    );
    if meaning.horizon == Horizon::Counted {
        cells.push(Vec::new());
    }
    cells.extend(key::split(event.about.as_deref().unwrap_or_default(), meaning.memo.rest.len()));
    let Some(entry) = index.find(&cells)? else { return Ok(()) };
    entry.use_it();
    let own = event.moments.due;
    let mut known =
        entry.vintages.iter().map(|&(due, outcome)| (due.or(own).unwrap_or(f64::NEG_INFINITY), outcome));
    if let Some((due, outcome)) = known.next() {
        event.outcome = Some(outcome);
        event.moments.due = own.is_some().then_some(due).or(entry.vintages[0].0);
        event.later = if index.last_counts { known.collect() } else { Vec::new() };
    }
    Ok(())
}

/// Puts the place among what a series was told at one time behind its key.
fn count_horizons(events: &mut [Event], keys: usize) {
    let mut together: HashMap<(Vec<u8>, u64), Vec<f64>> = HashMap::new();
    let group = |event: &Event| (event.key.clone(), event.moments.made.unwrap_or(0.0).to_bits());
    for event in events.iter() {
        together.entry(group(event)).or_default().extend(event.moments.about);
    }
    for times in together.values_mut() {
        times.sort_by(f64::total_cmp);
        times.dedup();
    }
    for event in events {
        let times = together.get(&group(event)).map_or(&[][..], Vec::as_slice);
        let about = event.moments.about.unwrap_or(f64::NAN);
        let place = times.partition_point(|time| *time < about) + 1;
        let mut cells = key::split(&event.key, keys);
        cells.push(place.to_string().into_bytes());
        event.key = joined_cells(cells);
    }
}

/// The key of some cells.
pub(crate) fn joined_cells(cells: Vec<Vec<u8>>) -> Vec<u8> {
    key::join(cells.into_iter().map(Cow::Owned).collect::<Vec<_>>().into_iter())
}
