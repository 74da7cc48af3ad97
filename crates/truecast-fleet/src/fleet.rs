//! Many series at once, on all cores.
//!
//! Series are independent, so a batch is split by key and the parts run in parallel; within a series rows keep their order. The
//! result does not depend on how many cores there are, nor on where one batch ends and the next begins.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use rayon::prelude::*;
use truecast::monitor::{Certificate, Scoreboard};
use truecast::{AnyForecast, Recalibrated, SnapshotError, Ticket};

use crate::ask::{Answer, Answered, Ask, Given, Plain, Prepared, Question, RowScores, Task};
use crate::certificate;
use crate::error::{Error, Result};
use crate::reader::{Reader, Readers};
use crate::record::{ALL_SCORED, Tally};
use crate::series::Series;
use crate::settings::Settings;
use crate::turns::Turns;
use crate::waiting::{Booked, Known};

/// Rows that are read together before the first of them is taken. Those of one series lie far apart where series take turns, and memory brings
/// several at once in the time of one.
const TOGETHER: usize = 16;

/// Rows of a batch that all parts take before any goes on. Those of other series stand in the same lines of memory: they come from near by, as long as so many
/// rows fit in there.
const STRETCH: usize = 1 << 17;

/// Pieces that the parts of a batch are run in: so many that no core has to wait long for another's last one.
const PIECES: usize = 64;

/// From so many rows of a series on, several forecasts are read at once.
const WORTH_READING_TOGETHER: usize = 8;

/// Rows whose answers one core puts in order in one piece.
const PIECE: usize = 1 << 12;

/// Rows as the fleet sees them: a table's batch, or arrays of a program.
pub trait Rows: Sync {
    /// What tells a person which row was refused and why.
    type Error: Send;

    /// How many rows there are.
    fn len(&self) -> usize;

    /// True if there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The series of a row.
    fn key(&self, row: usize) -> Cow<'_, [u8]>;

    /// The number of the row's key among the keys of the batch, if they are numbered: rows have the same number if and only if they have the same
    /// key, and numbers are small. The key itself is then asked for once.
    fn code(&self, _row: usize) -> Option<usize> {
        None
    }

    /// The row, understood.
    fn task(&self, row: usize) -> Result<Task, Self::Error>;

    /// The row's normal forecast and its outcome, if that is all that [`task`](Rows::task) would say, in fewer words: most rows of most tables, which run
    /// faster so.
    fn plain(&self, _row: usize) -> Option<Plain> {
        None
    }

    /// What a picture of the last rows calls this one.
    fn label(&self, row: usize) -> String {
        row.to_string()
    }

    /// Says which row the fleet refused.
    fn refuse(&self, row: usize, error: Error) -> Self::Error;
}

/// What became of a batch.
#[derive(Debug)]
pub struct Answers<E> {
    /// The numbers asked for, row by row; NaN in rows that were refused.
    pub values: Vec<f64>,
    /// Scores of the rows that have an outcome, in the order of the rows.
    pub scores: Vec<RowScores>,
    /// Rows that were refused, in order. They have changed nothing.
    pub refused: Vec<(usize, E)>,
}

/// Independent series with the same settings.
///
/// ```
/// use std::borrow::Cow;
/// use truecast::Gaussian;
/// use truecast_fleet::{Answer, Ask, Error, Fleet, Given, Rows, Settings, Task};
///
/// /// Key, mean, standard deviation, outcome.
/// struct Table(Vec<(&'static str, f64, f64, f64)>);
///
/// impl Rows for Table {
///     type Error = Error;
///     fn len(&self) -> usize { self.0.len() }
///     fn key(&self, row: usize) -> Cow<'_, [u8]> { Cow::Borrowed(self.0[row].0.as_bytes()) }
///     fn task(&self, row: usize) -> Result<Task, Error> {
///         let (_, mean, std, y) = self.0[row];
///         let forecast = Given::Distribution(Gaussian::new(mean, std)?.into());
///         Ok(Task::plain(forecast, Some(y)))
///     }
///     fn refuse(&self, _row: usize, error: Error) -> Error { error }
/// }
///
/// let mut fleet = Fleet::new(Settings::default())?;
/// let table = Table(vec![("a", 1.0, 0.5, 1.2), ("b", 7.0, 2.0, 3.0), ("a", 1.1, 0.5, 0.4)]);
/// let answers = fleet.run(&table, &Ask::numbers(Answer::Quantiles(vec![0.1, 0.9])));
/// assert_eq!((answers.values.len(), fleet.series().count()), (6, 2));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Fleet {
    settings: Settings,
    /// What whoever brings rows has to know of those before; a fleet keeps it and does not read it.
    note: Vec<u8>,
    /// Rows of this run.
    met: u64,
    /// Every series in the order of its first row.
    series: Vec<Slot>,
    index: HashMap<Box<[u8]>, usize, RandomState>,
}

/// Where a series is.
#[derive(Debug)]
enum Slot {
    /// At its place.
    Home(Box<Series>),
    /// With this part of a batch that runs.
    Away(usize),
}

/// The rows of one series in a batch, and what comes of them.
struct Part<'a, E> {
    at: usize,
    series: Box<Series>,
    /// The rows that are left, and their answers.
    rows: &'a [u32],
    values: &'a mut [f64],
    scores: Vec<RowScores>,
    refused: Vec<(usize, E)>,
}

impl Fleet {
    /// A fleet without series. Settings that do not go together are refused.
    pub fn new(settings: Settings) -> Result<Self> {
        settings.build(b"")?;
        Ok(Fleet { settings, note: Vec::new(), met: 0, series: Vec::new(), index: HashMap::default() })
    }

    pub(crate) fn from_series(settings: Settings, note: Vec<u8>, series: Vec<Series>) -> Self {
        let index = series.iter().enumerate().map(|(at, series)| (series.key().into(), at)).collect();
        let series = series.into_iter().map(|series| Slot::Home(Box::new(series))).collect();
        Fleet { settings, note, met: 0, series, index }
    }

    /// What all series have in common.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What was noted beside the series.
    pub fn note(&self) -> &[u8] {
        &self.note
    }

    /// Notes something that is saved with the fleet.
    pub fn take_note(&mut self, note: Vec<u8>) {
        self.note = note;
    }

    /// All series in the order of their first rows. One whose rows were all refused is as if it had never been met.
    pub fn series(&self) -> impl Iterator<Item = &Series> {
        let home = self.series.iter().filter_map(|slot| match slot {
            Slot::Home(series) => Some(&**series),
            Slot::Away(_) => None,
        });
        home.filter(|series| series.rows() > 0)
    }

    /// Takes a batch of rows.
    pub fn run<R: Rows>(&mut self, rows: &R, ask: &Ask) -> Answers<R::Error> {
        let mut refused = Vec::new();
        let (away, part_of_row) = self.split(rows, &mut refused);
        let sorted = Sorted::new(part_of_row, away.len());
        let (prepared, width) = (Prepared::new(&ask.answer), ask.answer.width());
        let samples = self.met >= ALL_SCORED;
        self.met += rows.len() as u64;
        let question = Question { settings: &self.settings, ask, prepared: &prepared, samples };
        // Zeros, which the system has at hand, each on the core that first writes there.
        let mut values = vec![0.0; sorted.rows.len() * width];
        let mut parts = sorted.parts(away, &mut values, width);
        let readers = Readers::new(question);
        let piece = (parts.len() / PIECES).max(1);
        for end in (0..rows.len()).step_by(STRETCH).map(|start| start + STRETCH) {
            let pieces = parts.par_iter_mut().with_max_len(piece);
            pieces.for_each(|part| readers.lend(|reader| part.run(rows, end, question, width, reader)));
        }
        let mut answers = Answers { values: Vec::new(), scores: Vec::new(), refused };
        for part in parts {
            answers.scores.extend(part.scores);
            answers.refused.extend(part.refused);
            self.series[part.at] = Slot::Home(part.series);
        }
        answers.values = sorted.unsorted(&values, width);
        answers.scores.sort_by_key(|scores| scores.row);
        answers.refused.sort_by_key(|(row, _)| *row);
        answers
    }

    /// Takes the series that have rows out of the fleet, and says for each row which of them it belongs to.
    fn split<R: Rows>(&mut self, rows: &R, refused: &mut Vec<(usize, R::Error)>) -> (Vec<Away>, Vec<u32>) {
        let (mut away, mut part_of_row) = (Vec::new(), Vec::with_capacity(rows.len()));
        let mut turns = Turns::default();
        let mut by_code: Vec<Option<usize>> = Vec::new();
        for row in 0..rows.len() {
            let code = rows.code(row);
            if let Some(part) = code.and_then(|code| by_code.get(code).copied().flatten()) {
                part_of_row.push(part as u32);
                continue;
            }
            let key = rows.key(row);
            let part = match turns.guess(&key) {
                Some(part) => part,
                None => match self.find(&key) {
                    Ok(at) => self.send_away(at, &mut away),
                    Err(error) => {
                        refused.push((row, rows.refuse(row, error)));
                        part_of_row.push(NOWHERE);
                        continue;
                    }
                },
            };
            part_of_row.push(part as u32);
            turns.take(part, &key);
            if let Some(code) = code {
                if by_code.len() <= code {
                    by_code.resize(code + 1, None);
                }
                by_code[code] = Some(part);
            }
        }
        (away, part_of_row)
    }

    /// The part that a series is with, which begins if it was at home.
    fn send_away(&mut self, at: usize, away: &mut Vec<Away>) -> usize {
        match std::mem::replace(&mut self.series[at], Slot::Away(away.len())) {
            Slot::Home(series) => {
                away.push(Away { at, series });
                away.len() - 1
            }
            Slot::Away(part) => {
                self.series[at] = Slot::Away(part);
                part
            }
        }
    }

    fn find(&mut self, key: &[u8]) -> Result<usize> {
        if let Some(&at) = self.index.get(key) {
            return Ok(at);
        }
        let series = Box::new(Series::new(key, &self.settings)?);
        let at = self.series.len();
        self.series.push(Slot::Home(series));
        self.index.insert(key.into(), at);
        Ok(at)
    }

    /// Gives the calibrated forecast of one series, which waits for its outcome: the same as a batch of one row. `made` says when, where outcomes are
    /// known at times.
    pub fn issue(
        &mut self,
        key: &[u8],
        about: &[u8],
        made: Option<f64>,
        forecast: Given,
    ) -> Result<Recalibrated<AnyForecast>> {
        let task = Task { now: made, about: Some(about.to_vec()), ..Task::plain(forecast, None) };
        let answers = self.run(&One { key, task }, &Ask::numbers(Answer::Nothing));
        if let Some((_, error)) = answers.refused.into_iter().next() {
            return Err(error);
        }
        let issued = self.get(key).and_then(|series| series.forecast(about));
        issued.ok_or_else(|| truecast::Error::UnknownTicket { ticket: Ticket::from_number(0) }.into())
    }

    /// Brings an outcome that is known now to every series in which a forecast about this waits; says how many there are.
    pub fn resolve(&mut self, about: &[u8], outcome: f64) -> Result<usize> {
        let known = Known { about, outcome, due: None, last_counts: false };
        let (ask, mut matched) = (Ask::numbers(Answer::Nothing), 0);
        for at in 0..self.series.len() {
            if self.book_at(at, &known, 0, &ask)?.0 == Booked::Matched {
                matched += 1;
            }
        }
        Ok(matched)
    }

    /// Brings an outcome to a forecast of one series that waits; `row` is whose scores it gives, if the ask is for them.
    pub fn book(
        &mut self,
        key: &[u8],
        known: &Known<'_>,
        row: usize,
        ask: &Ask,
    ) -> Result<(Booked, Option<RowScores>)> {
        match self.index.get(key) {
            Some(&at) => self.book_at(at, known, row, ask),
            None => Ok((Booked::Nothing, None)),
        }
    }

    fn book_at(
        &mut self,
        at: usize,
        known: &Known<'_>,
        row: usize,
        ask: &Ask,
    ) -> Result<(Booked, Option<RowScores>)> {
        let prepared = Prepared::new(&ask.answer);
        let question = Question { settings: &self.settings, ask, prepared: &prepared, samples: false };
        match &mut self.series[at] {
            Slot::Home(series) => series.book(known, row, &question),
            Slot::Away(_) => Ok((Booked::Nothing, None)),
        }
    }

    /// Forgets forecasts that were made before this time and still wait; says how many.
    pub fn expire(&mut self, time: f64) -> Result<usize> {
        let mut forgotten = 0;
        for slot in &mut self.series {
            if let Slot::Home(series) = slot {
                forgotten += series.expire(time)?;
            }
        }
        Ok(forgotten)
    }

    /// One series.
    pub fn get(&self, key: &[u8]) -> Option<&Series> {
        match self.index.get(key).map(|&at| &self.series[at]) {
            Some(Slot::Home(series)) => Some(series),
            _ => None,
        }
    }

    pub(crate) fn has(&self, key: &[u8]) -> bool {
        self.get(key).is_some()
    }

    pub(crate) fn series_bytes(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.get(key).map(Series::to_bytes).transpose()
    }

    /// Puts a saved series in.
    pub(crate) fn insert(&mut self, key: &[u8], bytes: &[u8]) -> Result<()> {
        let series = Series::from_bytes(bytes)?;
        if series.key() != key || series.recalibrator().method() != self.settings.method {
            let (field, rule) = ("series", "that of its key, with the fleet's method");
            return Err(truecast::Error::from(SnapshotError::Invalid { field, rule }).into());
        }
        self.index.insert(key.into(), self.series.len());
        self.series.push(Slot::Home(Box::new(series)));
        Ok(())
    }

    /// Takes a series out.
    pub(crate) fn remove(&mut self, key: &[u8]) {
        if let Some(at) = self.index.remove(key) {
            self.series.remove(at);
            self.index.values_mut().filter(|other| **other > at).for_each(|other| *other -= 1);
        }
    }

    /// What this run counted over all series.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        self.series().for_each(|series| tally.add(series.tally()));
        tally
    }

    /// The scores of this run over all series, if they were asked for.
    pub fn scoreboard(&self) -> Result<Scoreboard> {
        let mut all = Scoreboard::default();
        for board in self.series().filter_map(Series::scoreboard) {
            all.merge(board)?;
        }
        Ok(all)
    }

    /// The certificate over all series and all runs; `None` for methods that have none.
    pub fn certificate(&self) -> Option<Certificate> {
        certificate::over(self.series().filter_map(|series| series.recalibrator().certificate()))
    }
}

/// A batch of one row.
struct One<'a> {
    key: &'a [u8],
    task: Task,
}

impl Rows for One<'_> {
    type Error = Error;

    fn len(&self) -> usize {
        1
    }

    fn key(&self, _row: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.key)
    }

    fn task(&self, _row: usize) -> Result<Task> {
        Ok(self.task.clone())
    }

    fn refuse(&self, _row: usize, error: Error) -> Error {
        error
    }
}

/// A series that is taken out of the fleet.
struct Away {
    at: usize,
    series: Box<Series>,
}

/// The part, and the place, of a row that came to no series.
const NOWHERE: u32 = u32::MAX;

/// The rows of a batch, those of each part together and in their order.
struct Sorted {
    rows: Vec<u32>,
    /// Where each part ends among them.
    ends: Vec<usize>,
    /// Where each row of the batch is among them.
    places: Vec<u32>,
}

impl Sorted {
    /// Sorts by counting.
    fn new(part_of_row: Vec<u32>, parts: usize) -> Self {
        let mut ends = vec![0; parts];
        for &part in &part_of_row {
            if let Some(count) = ends.get_mut(part as usize) {
                *count += 1;
            }
        }
        let mut before = 0;
        for end in &mut ends {
            before += std::mem::replace(end, before);
        }
        let (mut rows, mut places) = (vec![0; before], part_of_row);
        // What becomes a part's end is where its next row goes.
        for (row, place) in (0..).zip(&mut places) {
            if let Some(end) = ends.get_mut(*place as usize) {
                rows[*end] = row;
                *place = *end as u32;
                *end += 1;
            }
        }
        Sorted { rows, ends, places }
    }

    /// Every part with its rows and its share of the values.
    fn parts<'a, E>(&'a self, away: Vec<Away>, values: &'a mut [f64], width: usize) -> Vec<Part<'a, E>> {
        let (mut rows, mut values, mut start) = (&self.rows[..], values, 0);
        let with_rows = away.into_iter().zip(&self.ends).map(|(Away { at, series }, &end)| {
            let (own_rows, own_values);
            (own_rows, rows) = rows.split_at(end - start);
            (own_values, values) = std::mem::take(&mut values).split_at_mut((end - start) * width);
            start = end;
            Part { at, series, rows: own_rows, values: own_values, scores: Vec::new(), refused: Vec::new() }
        });
        with_rows.collect()
    }

    /// The values in the order of the batch, on all cores; NaN for rows that came to no part.
    fn unsorted(&self, values: &[f64], width: usize) -> Vec<f64> {
        let mut all = vec![0.0; self.places.len() * width];
        if width == 0 {
            return all;
        }
        let pieces = all.par_chunks_mut(PIECE * width).zip(self.places.par_chunks(PIECE));
        pieces.for_each(|(all, places)| match width {
            // By far the most usual: two ends, or mean and standard deviation.
            2 => {
                let values = values.as_chunks::<2>().0;
                for (own, &place) in all.as_chunks_mut::<2>().0.iter_mut().zip(places) {
                    *own = values.get(place as usize).copied().unwrap_or([f64::NAN; 2]);
                }
            }
            _ => {
                for (own, &place) in all.chunks_exact_mut(width).zip(places) {
                    match values.get(place as usize * width..).filter(|_| place != NOWHERE) {
                        Some(values) => own.copy_from_slice(&values[..width]),
                        None => own.fill(f64::NAN),
                    }
                }
            }
        });
        all
    }
}

impl<E> Part<'_, E> {
    /// Takes the rows that are left before `end`. Nothing waits for the reader, before or after.
    fn run<R: Rows<Error = E>>(
        &mut self,
        rows: &R,
        end: usize,
        question: Question<'_>,
        width: usize,
        reader: Option<&mut Reader>,
    ) {
        let count = self.rows.partition_point(|&row| (row as usize) < end);
        let (own_rows, rows_left) = self.rows.split_at(count);
        let (values, values_left) = std::mem::take(&mut self.values).split_at_mut(count * width);
        (self.rows, self.values) = (rows_left, values_left);
        let mut reader = reader.filter(|_| count >= WORTH_READING_TOGETHER && question.ask.bounds.is_none());
        // The picture is of the first series only.
        let fan = if self.at == 0 { question.ask.fan } else { 0 };
        let question = Question { ask: &Ask { fan, ..question.ask.clone() }, ..question };
        let plainly = question.learns_at_once();
        let mut plain = [None; TOGETHER];
        let numbers = (0..).step_by(TOGETHER).zip(own_rows.chunks(TOGETHER));
        for (first, together) in numbers {
            for (plain, &row) in plain.iter_mut().zip(together) {
                *plain = rows.plain(row as usize).filter(|_| plainly);
            }
            for (number, (&row, plain)) in (first..).zip(together.iter().zip(&plain)) {
                let (row, scored) = (row as usize, self.scores.len());
                let refuse = |error| rows.refuse(row, error);
                if let (Some(reader), Some(plain), true) =
                    (&mut reader, plain, self.series.goes_unscored(&question))
                {
                    let stepped = self.series.step_unread(plain, reader).map_err(refuse);
                    let failed = stepped.map_err(|error| self.refused.push((row, error))).is_err();
                    if failed {
                        reader.answer(&mut values[..number * width], width);
                        values[number * width..][..width].fill(f64::NAN);
                    } else if reader.is_full() {
                        reader.answer(&mut values[..(number + 1) * width], width);
                    }
                    continue;
                }
                if let Some(reader) = &mut reader {
                    reader.answer(&mut values[..number * width], width);
                }
                let own = &mut values[number * width..][..width];
                let answers = &mut Answered { row, values: own, scores: &mut self.scores };
                let stepped = match plain {
                    Some(plain) => self.series.step_plainly(plain, &question, answers).map_err(refuse),
                    None => rows
                        .task(row)
                        .and_then(|task| self.series.step(task, &question, answers).map_err(refuse)),
                };
                match stepped {
                    Ok(()) if fan > 0 => self.series.name_last(rows.label(row)),
                    Ok(()) => {}
                    Err(error) => {
                        own.fill(f64::NAN);
                        self.scores.truncate(scored);
                        self.refused.push((row, error));
                    }
                }
            }
        }
        if let Some(reader) = &mut reader {
            reader.answer(values, width);
        }
    }
}
