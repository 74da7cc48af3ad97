//! The desk: rows come in, events go to the fleet, and what becomes of the rows comes back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use truecast_data::RowError;
use truecast_data::recognise::Layout;
use truecast_fleet::{Answer, Ask, Booked, Fleet, Known, Lateness, RowScores, Rows, Tally};

use crate::cells::{Cells, Piece};
use crate::error::{Error, Result};
use crate::forecast::{Reader, Signs};
use crate::gather::{Event, Gathered, gather};
use crate::key;
use crate::meaning::{Meaning, Memo, Request};
use crate::numbers::Ahead;
use crate::outcomes::{Index, Outcomes};
use crate::output::{Changes, Numbers, Output, four};
use crate::rows::{Streamed, Window};

/// Events that run at once, so that whoever waits can end it in between.
const WINDOW: usize = 1 << 14;

/// What happened to forecasts and outcomes beside calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Forecasts that waited and got their outcome.
    pub booked: u64,
    /// Forecasts whose outcome is another one than that which was known.
    pub revised: u64,
    /// Things that a table of outcomes is about.
    pub outcomes: u64,
    /// Of them, those that no forecast is about.
    pub unmatched: u64,
    /// Forecasts of this table.
    pub forecasts: u64,
    /// Of them, those without an outcome.
    pub without_outcome: u64,
    /// Forecasts without a width, which were taken for points.
    pub without_width: u64,
    /// Calibrated quantiles below 0, of forecasts that have none.
    pub below_zero: u64,
}

/// What became of rows.
#[derive(Debug, Default)]
pub struct Taken {
    /// For each piece.
    pub changes: Vec<Changes>,
    /// Rows that break a rule.
    pub refused: Vec<RowError>,
    /// How many forecasts there were, in the order in which they were taken, and how outcomes were met.
    pub forecasts: usize,
    /// As of the fleet, by the number of the forecast.
    pub scores: Vec<RowScores>,
}

/// Knows what the columns of a table mean.
#[derive(Debug)]
pub struct Desk {
    meaning: Meaning,
    output: Arc<Output>,
    request: Request,
    index: Option<Index>,
    counts: Counts,
    by: BTreeMap<String, Tally>,
    signs: Signs,
}

impl Desk {
    /// Finds out what the columns mean, and refuses what can be read in two ways or would look ahead.
    pub fn open(file: &str, names: &[String], request: Request) -> Result<Self> {
        let meaning = Meaning::new(file, names, &request)?;
        let output = Arc::new(Output::new(&meaning.layout, &request)?);
        Ok(Desk {
            meaning,
            output,
            request,
            index: None,
            counts: Counts::default(),
            by: BTreeMap::new(),
            signs: Signs::default(),
        })
    }

    /// One line: what was understood.
    pub fn said(&self) -> String {
        self.meaning.said()
    }

    /// Which column holds what.
    pub fn layout(&self) -> &Layout {
        &self.meaning.layout
    }

    /// When outcomes are known: a fleet must have the same.
    pub fn lateness(&self) -> Lateness {
        self.meaning.lateness
    }

    /// True if all rows must be there before any is taken: asked after outcomes were brought.
    pub fn holds(&self) -> bool {
        self.meaning.holds() || self.meaning.filters() || self.index.is_some()
    }

    /// What is worth reading ahead, on another thread.
    pub fn ahead(&self) -> Ahead {
        if self.holds() { Ahead::default() } else { self.meaning.ahead() }
    }

    /// The columns that are read, as numbers, as times and as texts.
    pub fn read_columns(&self) -> [Vec<usize>; 3] {
        let meaning = &self.meaning;
        let Layout { outcome, keys, made, about, known, horizon, form, .. } = &meaning.layout;
        let all = || (0..meaning.layout.names.len()).collect::<Vec<_>>();
        let mut texts: Vec<usize> =
            keys.iter().chain(horizon).chain(&meaning.groups).chain(&meaning.by).copied().collect();
        texts.extend(meaning.filters().then(all).into_iter().flatten());
        texts.extend(meaning.rest.iter().map(|(column, _)| *column));
        let mut numbers: Vec<usize> = outcome.iter().chain(horizon).copied().collect();
        numbers.extend(form.columns());
        if let truecast_data::recognise::Form::Hubverse { output_type, output_type_id, .. } = form {
            texts.extend(all().into_iter().filter(|column| !numbers.contains(column)));
            texts.extend([*output_type, *output_type_id]);
        }
        if let truecast_data::recognise::Form::M5 { id, .. } = form {
            texts.push(*id);
        }
        let mut columns = [numbers, [made, about, known].into_iter().flatten().copied().collect(), texts];
        columns.iter_mut().for_each(|list| {
            list.sort_unstable();
            list.dedup();
        });
        columns
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        let unmatched = self.index.as_ref().map_or(0, |index| index.unused().1);
        Counts { unmatched, below_zero: self.signs.fell(), ..self.counts }
    }

    /// How outcomes were met, by the values of the column that was asked for.
    pub fn by(&self) -> &BTreeMap<String, Tally> {
        &self.by
    }

    /// Brings a table of outcomes: what waits in the fleet gets them now, and what is taken later then.
    pub fn bring<C: Cells>(
        &mut self,
        fleets: &mut [&mut Fleet],
        outcomes: &Outcomes<C>,
        ask: &Ask,
    ) -> Result<()> {
        let outcome = self.request.wishes.outcome.as_deref();
        let index =
            Index::new(outcomes, &self.meaning.memo, outcome, self.request.last_counts, self.meaning.idiom)?;
        self.counts.outcomes = index.unused().0;
        let mut counts = self.counts;
        for (at, fleet) in fleets.iter_mut().enumerate() {
            let found = book(fleet, &index, ask)?;
            if at == 0 {
                (counts.booked, counts.revised) = found;
            }
        }
        self.counts = counts;
        self.index = Some(index);
        Ok(())
    }

    /// Takes rows, or the whole table where it [`holds`](Desk::holds) it. The first fleet answers; others are run on the same forecasts.
    pub fn take<C: Cells>(
        &mut self,
        fleets: &mut [&mut Fleet],
        pieces: &[Piece<C>],
        ask: &Ask,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Taken> {
        self.meaning.measure(pieces)?;
        for fleet in fleets.iter_mut() {
            if let Some(noted) = Memo::of(fleet)?.filter(|noted| *noted != self.meaning.memo) {
                let problem = format!(
                    "the state knows its forecasts by {} and cannot go on with {}",
                    noted.words(),
                    self.meaning.memo.words()
                );
                return Err(Error::usage(
                    problem,
                    "use columns of the same names and meaning, or another state",
                ));
            }
        }
        let without_width = AtomicU64::new(0);
        let answer = if ask.raw_only { Answer::Nothing } else { self.output.answer.clone() };
        let row_scores = ask.row_scores || self.output.needs_scores() || self.meaning.by.is_some();
        let ask = Ask { answer, row_scores, replace: self.request.replace, ..ask.clone() };
        let reader = Reader { meaning: &self.meaning, without_width: &without_width, signs: &self.signs };
        let mut by = std::mem::take(&mut self.by);
        let mut count = |column: usize, piece: &Piece<C>, row: usize, scores: &RowScores| {
            by.entry(piece.shown(column, row)).or_default().meet(scores);
        };
        let (taken, counts) = if self.holds() {
            let gathered = gather(&reader, pieces, self.index.as_ref())?;
            let table =
                Table { reader: &reader, pieces, output: &self.output, request: &self.request, ask: &ask };
            table.take(fleets, gathered, &mut count, go_on)?
        } else {
            stream(&reader, fleets, pieces, &self.output, &self.request, &ask, &mut count)
        };
        self.by = by;
        self.counts.forecasts += counts.0;
        self.counts.without_outcome += counts.1;
        self.counts.without_width += without_width.into_inner() / fleets.len().max(1) as u64;
        Ok(taken)
    }

    /// True if forecasts without an outcome wait for it.
    pub fn keeps(&self) -> bool {
        self.request.keep
    }

    /// The column that was asked for.
    pub fn by_name(&self) -> &str {
        self.meaning.by.map_or("", |column| self.meaning.name(column))
    }

    /// Notes with the fleet what later tables, and outcomes, need to know of this one.
    pub fn close(&self, fleet: &mut Fleet) -> Result<()> {
        // Where nothing tells forecasts apart, none can wait.
        if self.meaning.memo.rest.is_empty() { Ok(()) } else { self.meaning.memo.keep(fleet) }
    }
}

/// Counts an outcome's scores by some column: where it stands, and how it was met.
type Count<'a, C> = dyn FnMut(usize, &Piece<C>, usize, &RowScores) + 'a;

/// Rows as they come. Gives how many forecasts there were, and how many had no outcome.
fn stream<C: Cells>(
    reader: &Reader<'_>,
    fleets: &mut [&mut Fleet],
    pieces: &[Piece<C>],
    output: &Arc<Output>,
    request: &Request,
    ask: &Ask,
    count: &mut Count<'_, C>,
) -> (Taken, (u64, u64)) {
    let (mut taken, mut counts) = (Taken::default(), (0, 0));
    for piece in pieces {
        let rows = Streamed { reader, piece, keep: request.keep };
        if request.all_or_nothing {
            let before = reader.without_width.load(Ordering::Relaxed);
            let refused = (0..rows.len()).into_par_iter().find_map_first(|row| match rows.plain(row) {
                Some(_) => None,
                None => rows.task(row).err(),
            });
            reader.without_width.store(before, Ordering::Relaxed);
            if let Some(refused) = refused {
                taken.refused.push(*refused);
                return (taken, counts);
            }
        }
        let mut first = true;
        for fleet in fleets.iter_mut() {
            let outcomes = fleet.tally().outcomes;
            let answers = fleet.run(&rows, ask);
            if !std::mem::take(&mut first) {
                continue;
            }
            counts.0 += (rows.len() - answers.refused.len()) as u64;
            counts.1 += (rows.len() - answers.refused.len()) as u64
                - (fleet.tally().outcomes - outcomes).min(rows.len() as u64);
            let left_out = answers.refused.iter().map(|(row, _)| *row).collect();
            if matches!(ask.answer, Answer::Quantiles(_)) {
                let width = ask.answer.width();
                let rows = answers.values.chunks_exact(width).enumerate();
                for (row, values) in rows.take_while(|_| reader.signs.is_open()) {
                    let given = piece.numbers.row(row).iter().take(reader.meaning.read_ahead());
                    reader.signs.see(given.fold(f64::INFINITY, |least, value| least.min(*value)), values);
                }
            }
            if let Some(by) = reader.meaning.by {
                answers.scores.iter().for_each(|scores| count(by, piece, scores.row, scores));
            }
            let four_scores = if output.needs_scores() {
                answers.scores.iter().map(|row| (row.row, four(row))).collect()
            } else {
                Vec::new()
            };
            taken.refused.extend(answers.refused.into_iter().map(|(_, error)| *error));
            taken.scores.extend(
                answers
                    .scores
                    .into_iter()
                    .map(|scores| RowScores { row: taken.forecasts + scores.row, ..scores }),
            );
            taken.forecasts += rows.len();
            taken.changes.push(Changes {
                output: Arc::clone(output),
                rows: rows.len(),
                numbers: Numbers::Rows(answers.values),
                scores: four_scores,
                left_out,
            });
        }
    }
    (taken, counts)
}

/// A table that is held whole.
struct Table<'a, C> {
    reader: &'a Reader<'a>,
    pieces: &'a [Piece<C>],
    output: &'a Arc<Output>,
    request: &'a Request,
    ask: &'a Ask,
}

impl<C: Cells> Table<'_, C> {
    /// Runs the events and puts numbers into their cells.
    fn take(
        &self,
        fleets: &mut [&mut Fleet],
        gathered: Gathered,
        count: &mut Count<'_, C>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(Taken, (u64, u64))> {
        let Gathered { events, refused, left_out } = gathered;
        let mut taken = Taken { refused, ..Taken::default() };
        let all =
            Window { reader: self.reader, pieces: self.pieces, events: &events, keep: self.request.keep };
        if !self.request.skip && !taken.refused.is_empty() {
            return Ok((taken, (0, 0)));
        }
        if self.request.all_or_nothing {
            let broken = || (0..all.len()).into_par_iter().find_map_first(|at| all.task(at).err());
            if let Some(error) = broken() {
                taken.refused.push(*error);
                return Ok((taken, (0, 0)));
            }
            self.reader.without_width.store(0, Ordering::Relaxed);
        }
        let mut probabilities: Vec<f64> = events
            .iter()
            .filter_map(|event| event.parts.as_ref())
            .flat_map(|(parts, _)| parts.wanted())
            .filter(|p| !p.is_nan())
            .collect();
        probabilities.sort_by(f64::total_cmp);
        probabilities.dedup();
        let is_long = self.reader.meaning.layout.form.is_long();
        let answer = if is_long && !self.ask.raw_only {
            Answer::MeanQuantiles(probabilities.clone())
        } else {
            self.ask.answer.clone()
        };
        let (width, ask) = (answer.width(), Ask { answer, ..self.ask.clone() });
        taken.changes =
            self.pieces.iter().map(|piece| Changes::in_cells(self.output, piece.cells.rows())).collect();
        left_out.iter().for_each(|&(piece, row)| taken.changes[piece].left_out.push(row));
        for start in (0..events.len()).step_by(WINDOW) {
            if !go_on() {
                return Err(Error::usage("interrupted", ""));
            }
            let events = &events[start..events.len().min(start + WINDOW)];
            let window = Window { events, ..all };
            let mut answers = None;
            for fleet in fleets.iter_mut() {
                let found = fleet.run(&window, &ask);
                answers.get_or_insert(found);
            }
            let Some(answers) = answers else { continue };
            let refused: Vec<usize> = answers.refused.iter().map(|(at, _)| *at).collect();
            taken.refused.extend(answers.refused.into_iter().map(|(_, error)| *error));
            for (at, event) in events.iter().enumerate() {
                let values = &answers.values[at * width..(at + 1) * width];
                if let Some((parts, _)) = event.parts.as_ref().filter(|_| width > 0) {
                    self.reader.signs.see(parts.least(), &values[1..]);
                }
                put(
                    &mut taken.changes,
                    event,
                    values,
                    refused.binary_search(&at).is_ok(),
                    &probabilities,
                    ask.raw_only,
                );
            }
            for scores in answers.scores {
                let event = &events[scores.row];
                if let Some(by) = self.reader.meaning.by {
                    count(by, &self.pieces[event.at.0], event.at.1, &scores);
                }
                for &(piece, row) in &rows_of(event) {
                    taken.changes[piece].scores.push((row, four(&scores)));
                }
                taken.scores.push(RowScores { row: start + scores.row, ..scores });
            }
        }
        taken.changes.iter_mut().for_each(|changes| {
            changes.left_out.sort_unstable();
            changes.left_out.dedup();
        });
        taken.forecasts = events.len();
        let without = events.iter().filter(|event| event.outcome.is_none()).count();
        Ok((taken, (events.len() as u64, without as u64)))
    }
}

/// The rows in which a forecast stands.
fn rows_of(event: &Event) -> Vec<(usize, usize)> {
    match &event.parts {
        None => vec![event.at],
        Some((_, places)) => places.iter().map(|&(piece, row, _)| (piece, row)).collect(),
    }
}

/// Puts the answer about an event into its cells, or leaves its rows out.
fn put(
    changes: &mut [Changes],
    event: &Event,
    values: &[f64],
    is_refused: bool,
    probabilities: &[f64],
    raw_only: bool,
) {
    if is_refused {
        rows_of(event).into_iter().for_each(|(piece, row)| changes[piece].left_out.push(row));
        return;
    }
    if raw_only {
        return;
    }
    match &event.parts {
        None => changes[event.at.0].put_row(event.at.1, values),
        Some((parts, places)) => {
            for (&(piece, row, column), p) in places.iter().zip(parts.wanted()) {
                let k = if p.is_nan() { 0 } else { 1 + probabilities.partition_point(|&known| known < p) };
                changes[piece].put(column, row, values[k]);
            }
        }
    }
}

/// Gives what waits in a fleet its outcomes: how many there were, and for how many forecasts another one was known.
fn book(fleet: &mut Fleet, index: &Index, ask: &Ask) -> Result<(u64, u64)> {
    let Some(memo) = Memo::of(fleet)? else { return Ok((0, 0)) };
    let mut found = Vec::new();
    for series in fleet.series() {
        let key = key::split(series.key(), memo.key_cells());
        for about in series.open().map(|(about, _)| about).chain(series.remembered()) {
            let rest = key::split(about, memo.rest.len());
            let time = memo
                .about
                .and_then(|at| rest.get(at))
                .and_then(|cell| std::str::from_utf8(cell).ok()?.parse().ok());
            let cells: Vec<Vec<u8>> = key.iter().cloned().chain(rest).collect();
            if let Some(entry) = index.find(&cells)? {
                entry.use_it();
                let own = time.map(|time| memo.due(time));
                let known = entry.vintages.iter().map(|&(due, outcome)| (due.or(own), outcome));
                found.push((series.key().to_vec(), about.to_vec(), known.collect::<Vec<_>>()));
            }
        }
    }
    let (mut booked, mut revised) = (0, 0);
    for (key, about, known) in found {
        let mut is_revised = false;
        for (due, outcome) in known {
            let known = Known { about: &about, outcome, due, last_counts: index.last_counts };
            match fleet.book(&key, &known, 0, ask)?.0 {
                Booked::Matched => booked += 1,
                Booked::Revised => is_revised = true,
                Booked::Same | Booked::Nothing => {}
            }
        }
        revised += u64::from(is_revised);
    }
    Ok((booked, revised))
}

/// Brings outcomes to what waits in a fleet that rows of a table were given to.
pub fn resolve<C: Cells>(
    fleet: &mut Fleet,
    outcomes: &Outcomes<C>,
    request: &Request,
    ask: &Ask,
) -> Result<Counts> {
    let Some(memo) = Memo::of(fleet)? else {
        return Err(Error::usage(
            "the state has no forecasts of a table, so none can wait",
            "make it with `truecast calibrate --state`",
        ));
    };
    let index = Index::new(
        outcomes,
        &memo,
        request.wishes.outcome.as_deref(),
        request.last_counts,
        request.wishes.idiom,
    )?;
    let (booked, revised) = book(fleet, &index, ask)?;
    let (all, unmatched) = index.unused();
    Ok(Counts { booked, revised, outcomes: all, unmatched, ..Counts::default() })
}

/// How outcomes were met by how far ahead forecasts look, nearest first; empty where that does not tell series apart.
pub fn by_horizon(fleet: &Fleet) -> Result<Vec<(String, Tally)>> {
    let Some(memo) = Memo::of(fleet)?.filter(|memo| memo.horizon.is_some()) else { return Ok(Vec::new()) };
    let mut found: BTreeMap<(i64, String), Tally> = BTreeMap::new();
    for series in fleet.series() {
        let cell = key::split(series.key(), memo.key_cells()).pop().unwrap_or_default();
        let name = String::from_utf8_lossy(&cell).into_owned();
        let place = name.parse::<f64>().map_or(i64::MAX, |number| (1e3 * number) as i64);
        found.entry((place, name)).or_default().add(series.tally());
    }
    Ok(found
        .into_iter()
        .map(|((_, name), tally)| (name, tally))
        .filter(|(_, tally)| tally.outcomes > 0)
        .collect())
}

/// Forgets forecasts that still wait and were made this much before the last one; says how many.
pub fn expire(fleet: &mut Fleet, after: crate::span::Span) -> Result<usize> {
    let last = fleet.series().filter_map(truecast_fleet::Series::last).fold(f64::NEG_INFINITY, f64::max);
    let length = after
        .of_times(true)
        .or(after.of_times(false))
        .ok_or_else(|| Error::usage("forecasts wait for a time, not for rows", "write 90d"))?;
    Ok(fleet.expire(last - length)?)
}
