//! Many series at once, on all cores.
//!
//! Series are independent, so a batch is split by key and the parts run in parallel; within a series rows keep their order. The
//! result does not depend on how many cores there are, nor on where one batch ends and the next begins.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use rayon::prelude::*;
use truecast::Gaussian;
use truecast::monitor::{Certificate, Scoreboard};

use crate::ask::{Answered, Ask, Prepared, Question, RowScores, Task};
use crate::certificate;
use crate::error::{Error, Result};
use crate::record::Tally;
use crate::series::Series;
use crate::settings::Settings;

/// Rows that are read together before the first of them is taken. Those of one series lie far apart where series take turns, and memory brings
/// several at once in the time of one.
const TOGETHER: usize = 16;

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
    fn plain(&self, _row: usize) -> Option<(Gaussian, f64)> {
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
///         Ok(Task { forecast, outcome: Some(y), groups: vec![], now: None, due: None })
///     }
///     fn refuse(&self, _row: usize, error: Error) -> Error { error }
/// }
///
/// let mut fleet = Fleet::new(Settings::default())?;
/// let table = Table(vec![("a", 1.0, 0.5, 1.2), ("b", 7.0, 2.0, 3.0), ("a", 1.1, 0.5, 0.4)]);
/// let ask = Ask { answer: Answer::Quantiles(vec![0.1, 0.9]), row_scores: false, scoreboards: false, fan: 0, raw_only: false };
/// let answers = fleet.run(&table, &ask);
/// assert_eq!((answers.values.len(), fleet.series().count()), (6, 2));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Fleet {
    settings: Settings,
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
struct Part<E> {
    at: usize,
    /// The part whose row came after this one's last row.
    next: usize,
    series: Box<Series>,
    rows: Vec<usize>,
    values: Vec<f64>,
    scores: Vec<RowScores>,
    refused: Vec<(usize, E)>,
}

impl Fleet {
    /// A fleet without series. Settings that do not go together are refused.
    pub fn new(settings: Settings) -> Result<Self> {
        settings.build(b"")?;
        Ok(Fleet { settings, series: Vec::new(), index: HashMap::default() })
    }

    pub(crate) fn from_series(settings: Settings, series: Vec<Series>) -> Self {
        let index = series.iter().enumerate().map(|(at, series)| (series.key().into(), at)).collect();
        let series = series.into_iter().map(|series| Slot::Home(Box::new(series))).collect();
        Fleet { settings, series, index }
    }

    /// What all series have in common.
    pub fn settings(&self) -> &Settings {
        &self.settings
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
        let (mut refused, mut places) = (Vec::new(), Vec::new());
        let mut parts = self.split(rows, &mut places, &mut refused);
        let (settings, prepared, width) = (&self.settings, &Prepared::new(&ask.answer), ask.answer.width());
        parts.par_iter_mut().for_each(|part| part.run(rows, Question { settings, ask, prepared }, width));
        let mut answers = Answers { values: in_order(&parts, &places, width), scores: Vec::new(), refused };
        for part in parts {
            answers.scores.extend(part.scores);
            answers.refused.extend(part.refused);
            self.series[part.at] = Slot::Home(part.series);
        }
        answers.scores.sort_by_key(|scores| scores.row);
        answers.refused.sort_by_key(|(row, _)| *row);
        answers
    }

    /// Takes the series that have rows out of the fleet, each with its rows, and says for each row where it is.
    fn split<R: Rows>(
        &mut self,
        rows: &R,
        places: &mut Vec<Place>,
        refused: &mut Vec<(usize, R::Error)>,
    ) -> Vec<Part<R::Error>> {
        places.reserve(rows.len());
        let mut parts: Vec<Part<R::Error>> = Vec::new();
        let mut last = None;
        let mut by_code: Vec<Option<usize>> = Vec::new();
        for row in 0..rows.len() {
            let code = rows.code(row);
            if let Some(part) = code.and_then(|code| by_code.get(code).copied().flatten()) {
                places.push(parts[part].add(part, row));
                continue;
            }
            let key = rows.key(row);
            // Rows of one series come together, or series take turns: most keys are known before they are looked up.
            let guess = last.and_then(|last: usize| {
                let is_it = |&part: &usize| parts[part].series.key() == &*key;
                Some(parts[last].next).filter(is_it).or_else(|| Some(last).filter(is_it))
            });
            let part = match guess {
                Some(part) => part,
                None => match self.find(&key) {
                    Ok(at) => self.away(at, &mut parts),
                    Err(error) => {
                        refused.push((row, rows.refuse(row, error)));
                        places.push(Place::NOWHERE);
                        continue;
                    }
                },
            };
            places.push(parts[part].add(part, row));
            if let Some(last) = last {
                parts[last].next = part;
            }
            last = Some(part);
            if let Some(code) = code {
                if by_code.len() <= code {
                    by_code.resize(code + 1, None);
                }
                by_code[code] = Some(part);
            }
        }
        parts
    }

    /// The part that a series is with, which begins if it was at home.
    fn away<E>(&mut self, at: usize, parts: &mut Vec<Part<E>>) -> usize {
        match std::mem::replace(&mut self.series[at], Slot::Away(parts.len())) {
            Slot::Home(series) => {
                let (next, rows, values) = (parts.len(), Vec::new(), Vec::new());
                parts.push(Part { at, next, series, rows, values, scores: Vec::new(), refused: Vec::new() });
                next
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

/// Where a row is: the how manieth row of which part.
#[derive(Debug, Clone, Copy)]
struct Place {
    part: u32,
    at: u32,
}

impl Place {
    /// Of a row that came to no series.
    const NOWHERE: Place = Place { part: u32::MAX, at: 0 };
}

/// The answers of all parts in the order of the rows, on all cores; NaN for rows that came to none.
fn in_order<E>(parts: &[Part<E>], places: &[Place], width: usize) -> Vec<f64> {
    let parts: Vec<&[f64]> = parts.iter().map(|part| &part.values[..]).collect();
    let mut values = vec![f64::NAN; places.len() * width];
    if width == 0 {
        return values;
    }
    let pieces = values.par_chunks_mut(PIECE * width).zip(places.par_chunks(PIECE));
    pieces.for_each(|(values, places)| {
        for (values, place) in values.chunks_exact_mut(width).zip(places) {
            if let Some(part) = parts.get(place.part as usize) {
                values.copy_from_slice(&part[place.at as usize * width..][..width]);
            }
        }
    });
    values
}

impl<E> Part<E> {
    /// Adds a row to this part, the how manieth `part` says.
    fn add(&mut self, part: usize, row: usize) -> Place {
        self.rows.push(row);
        Place { part: part as u32, at: self.rows.len() as u32 - 1 }
    }

    fn run<R: Rows<Error = E>>(&mut self, rows: &R, question: Question<'_>, width: usize) {
        self.values.reserve(self.rows.len() * width);
        // The picture is of the first series only.
        let fan = if self.at == 0 { question.ask.fan } else { 0 };
        let question = Question { ask: &Ask { fan, ..question.ask.clone() }, ..question };
        let plainly = question.learns_at_once();
        let mut plain = [None; TOGETHER];
        for together in self.rows.chunks(TOGETHER) {
            for (plain, &row) in plain.iter_mut().zip(together) {
                *plain = rows.plain(row).filter(|_| plainly);
            }
            for (&row, plain) in together.iter().zip(&plain) {
                let before = (self.values.len(), self.scores.len());
                let answers = &mut Answered { row, values: &mut self.values, scores: &mut self.scores };
                let refuse = |error| rows.refuse(row, error);
                let stepped = match plain {
                    Some((forecast, outcome)) => {
                        self.series.step_plainly(forecast, *outcome, &question, answers).map_err(refuse)
                    }
                    None => rows
                        .task(row)
                        .and_then(|task| self.series.step(task, &question, answers).map_err(refuse)),
                };
                match stepped {
                    Ok(()) if fan > 0 => self.series.name_last(rows.label(row)),
                    Ok(()) => {}
                    Err(error) => {
                        self.values.truncate(before.0);
                        self.values.resize(before.0 + width, f64::NAN);
                        self.scores.truncate(before.1);
                        self.refused.push((row, error));
                    }
                }
            }
        }
    }
}
