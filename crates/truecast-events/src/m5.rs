//! Rows of the M5 uncertainty competition: `id` is the series, a quantile's probability and `validation` or `evaluation`, joined by
//! underscores; `F1` to `F28` are the days, all of which are forecast before the first of them.
//!
//! Outcomes come from a table with `id` (series and phase, or series alone) and either `F1`, … or the sales' days `d_1914`, …:
//! validation begins on day 1914 and evaluation on day 1942 of the competition's calendar.

use std::collections::HashMap;

use truecast_data::RowError;
use truecast_data::recognise::Form;
use truecast_fleet::{Part, Parts};

use crate::cells::{Cells, Piece};
use crate::error::{Error, Result};
use crate::forecast::Reader;
use crate::gather::{Event, Gathered};
use crate::key;
use crate::meaning::Moments;

/// The first days of both phases.
const FIRST_DAYS: [(&str, usize); 2] = [("validation", 1914), ("evaluation", 1942)];

pub(crate) fn gather<C: Cells>(
    reader: &Reader<'_>,
    pieces: &[Piece<C>],
    gathered: &mut Gathered,
) -> Result<()> {
    let Form::M5 { id, days } = &reader.meaning.layout.form else { return Ok(()) };
    let mut index: HashMap<(String, usize), usize> = HashMap::new();
    for (number, piece) in pieces.iter().enumerate() {
        for row in 0..piece.cells.rows() {
            if !reader.meaning.is_meant(&piece.cells, row) {
                continue;
            }
            // A row is taken whole or not at all: it is one quantile of every day.
            let understood =
                parse(piece, *id, row, reader.meaning.name(*id)).map_err(Error::from).and_then(|id| {
                    let value = |&column: &usize| reader.needed(piece, column, row);
                    Ok((id, days.iter().map(value).collect::<Result<Vec<f64>, _>>()?))
                });
            let ((series, probability, first), values) = match understood {
                Ok(understood) => understood,
                Err(error) => {
                    gathered.refuse(error, (number, row))?;
                    continue;
                }
            };
            for (day, (&column, value)) in days.iter().zip(values).enumerate() {
                let date = first + day;
                let at = *index.entry((series.clone(), date)).or_insert_with(|| {
                    let about = date as f64;
                    gathered.events.push(Event {
                        key: series.clone().into_bytes(),
                        about: Some(key::of_time(about)),
                        moments: Moments {
                            made: Some((first - 1) as f64),
                            about: Some(about),
                            due: Some(reader.meaning.memo.due(about)),
                        },
                        at: (number, row),
                        parts: Some((Parts::default(), Vec::new())),
                        label: format!("day {date}"),
                        ..Event::default()
                    });
                    gathered.events.len() - 1
                });
                if let Some((parts, places)) = &mut gathered.events[at].parts {
                    parts.push(Part::Quantile(probability), value);
                    places.push((number, row, column));
                }
            }
        }
    }
    Ok(())
}

/// Series, probability and first day of an `id`.
fn parse<C: Cells>(
    piece: &Piece<C>,
    id: usize,
    row: usize,
    name: &str,
) -> Result<(String, f64, usize), Box<RowError>> {
    let rule =
        "must be a series, a probability and validation or evaluation, such as Total_X_0.250_validation";
    let text = piece.shown(id, row);
    let parsed = || {
        let (rest, phase) = text.rsplit_once('_')?;
        let (series, probability) = rest.rsplit_once('_')?;
        let (_, first) = FIRST_DAYS.iter().find(|(name, _)| *name == phase)?;
        let probability = probability.parse().ok().filter(|p| *p > 0.0 && *p < 1.0)?;
        Some((series.to_owned(), probability, *first))
    };
    parsed().ok_or_else(|| piece.cell_error(row, id, name, rule, ""))
}

/// An outcome of a table of sales: its series and day, where it stands, and what it is.
pub(crate) type Sold = (Vec<u8>, (usize, usize, usize), f64);

/// What was sold.
pub(crate) fn sold<C: Cells>(file: &str, names: &[String], pieces: &[Piece<C>]) -> Result<Vec<Sold>> {
    let needed = "M5 outcomes have id and F1, F2, … or d_1914, d_1915, …";
    let refused = |problem: &str| Err(truecast_data::Error::file(file, problem, needed).into());
    let Some(id) = names.iter().position(|name| name == "id") else {
        return refused("there is no column id");
    };
    let number = |name: &str, prefix: &str| name.strip_prefix(prefix)?.parse::<usize>().ok();
    let dates: Vec<(usize, usize)> =
        names.iter().enumerate().filter_map(|(at, name)| Some((number(name, "d_")?, at))).collect();
    let days: Vec<(usize, usize)> =
        names.iter().enumerate().filter_map(|(at, name)| Some((number(name, "F")?, at))).collect();
    if dates.is_empty() && days.is_empty() {
        return refused("there are no columns of days");
    }
    let mut found = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        for row in 0..piece.cells.rows() {
            let text = piece.shown(id, row);
            // Sales files call their rows …_validation or …_evaluation whatever days they hold.
            let phase = FIRST_DAYS
                .iter()
                .find_map(|(phase, first)| Some((text.strip_suffix(&format!("_{phase}"))?, *first)));
            let (series, firsts) = match phase {
                Some((series, first)) => (series, vec![first]),
                None => (text.as_str(), FIRST_DAYS.map(|(_, first)| first).to_vec()),
            };
            let phased = days
                .iter()
                .flat_map(|&(day, column)| firsts.iter().map(move |first| (first + day - 1, column)));
            for (date, column) in dates.iter().copied().chain(phased) {
                let value = match piece.cells.number(column, row) {
                    Ok(value) if value.is_none_or(f64::is_finite) => value,
                    _ => {
                        return Err(piece
                            .cell_error(row, column, &names[column], "must be a finite number", "")
                            .into());
                    }
                };
                let cells = vec![series.as_bytes().to_vec(), key::of_time(date as f64)];
                found.extend(
                    value.map(|value| (crate::gather::joined_cells(cells), (at, row, column), value)),
                );
            }
        }
    }
    Ok(found)
}
