//! A hub's long form: rows of `output_type`, `output_type_id` and `value`; all other columns together say which forecast they
//! belong to. Rows of a type that is no quantile, sample, median, mean or point, and rows that are about no date, pass through as they are.

use std::collections::HashMap;

use truecast_data::RowError;
use truecast_data::recognise::Form;
use truecast_fleet::{Part, Parts};

use crate::cells::{Cells, Piece};
use crate::error::Result;
use crate::forecast::Reader;
use crate::gather::{Gathered, begin, joined_cells};

pub(crate) fn gather<C: Cells>(
    reader: &Reader<'_>,
    pieces: &[Piece<C>],
    gathered: &mut Gathered,
) -> Result<()> {
    let layout = &reader.meaning.layout;
    let Form::Hubverse { output_type, output_type_id, value } = layout.form else { return Ok(()) };
    // What tells forecasts apart, whichever of the columns tell series apart.
    let rest = [Some(output_type), Some(output_type_id), Some(value), layout.outcome];
    let task: Vec<usize> = (0..layout.names.len()).filter(|column| !rest.contains(&Some(*column))).collect();
    let mut index: HashMap<Vec<u8>, usize> = HashMap::new();
    for (number, piece) in pieces.iter().enumerate() {
        for row in 0..piece.cells.rows() {
            let is_about_nothing = |column: usize| is_missing(&piece.cells.text(column, row));
            if !reader.meaning.is_meant(&piece.cells, row) || layout.about.is_some_and(is_about_nothing) {
                continue;
            }
            let mut add = || -> Result<()> {
                let Some(part) = part(reader, piece, row, output_type, output_type_id)? else {
                    return Ok(());
                };
                let read = reader.needed(piece, value, row)?;
                let key = joined_cells(
                    task.iter().map(|&column| piece.cells.text(column, row).into_owned()).collect(),
                );
                let at = match index.get(&key) {
                    Some(&at) => at,
                    None => {
                        let mut event = begin(reader, piece, (number, row))?;
                        event.parts = Some((Parts::default(), Vec::new()));
                        gathered.events.push(event);
                        index.insert(key, gathered.events.len() - 1);
                        gathered.events.len() - 1
                    }
                };
                let event = &mut gathered.events[at];
                // Any of a forecast's rows may say the outcome.
                if let (Some(column), Some(said)) = (layout.outcome, reader.outcome(piece, row)?)
                    && *event.outcome.get_or_insert(said) != said
                {
                    let rule = "the forecast's rows before this one have another outcome";
                    return Err(piece.cell_error(row, column, reader.meaning.name(column), rule, "").into());
                }
                if let Some((parts, places)) = &mut event.parts {
                    parts.push(part, read);
                    places.push((number, row, value));
                }
                Ok(())
            };
            if let Err(error) = add() {
                gathered.refuse(error, (number, row))?;
            }
        }
    }
    Ok(())
}

fn is_missing(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    cell.is_empty()
        || [&b"NA"[..], b"NaN", b"NaT", b"null", b"None"].iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// What a row's value is; `None` for types that pass through.
fn part<C: Cells>(
    reader: &Reader<'_>,
    piece: &Piece<C>,
    row: usize,
    kind: usize,
    id: usize,
) -> Result<Option<Part>, Box<RowError>> {
    Ok(match &*piece.cells.text(kind, row) {
        b"quantile" => {
            let probability = piece.cells.number(id, row).ok().flatten().filter(|p| *p > 0.0 && *p < 1.0);
            let rule = "a quantile's probability lies between 0 and 1";
            let probability =
                probability.ok_or_else(|| piece.cell_error(row, id, reader.meaning.name(id), rule, ""))?;
            Some(Part::Quantile(probability))
        }
        b"median" => Some(Part::Quantile(0.5)),
        b"mean" => Some(Part::Mean),
        b"point" => Some(Part::Point),
        b"sample" => Some(Part::Member),
        _ => None,
    })
}
