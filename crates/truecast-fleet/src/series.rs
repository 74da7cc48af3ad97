//! One series: its stream, the outcomes that have not arrived yet, its groups and its scores.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use truecast::forecast::AnyForecast;
use truecast::monitor::Scoreboard;
use truecast::recalibrate::{AnyRecalibrator, Groups};
use truecast::{Forecast, Gaussian, Recalibrator, Samples, Stream, Ticket, random};

use crate::ask::{Answered, FanPoint, Given, Question, Task};
use crate::error::{Error, Result};
use crate::point::LearnedScale;
use crate::record::{Record, Row, Tally};
use crate::settings::{Lateness, Settings};

/// An outcome that is known to the file and not yet to the series.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Waiting {
    ticket: Ticket,
    outcome: f64,
    /// The point forecast that it belongs to, if it was one.
    point: Option<f64>,
    /// The row or the time from which on it is known.
    due: f64,
}

/// One series of a fleet.
#[derive(Debug)]
pub struct Series {
    key: Vec<u8>,
    stream: Stream<AnyRecalibrator, AnyForecast>,
    scale: LearnedScale,
    groups: Vec<String>,
    /// Ordered by `due`, then by ticket.
    waiting: VecDeque<Waiting>,
    /// Rows so far, over all runs.
    rows: u64,
    /// The time of the last row, where rows have times.
    last: Option<f64>,
    record: Record,
}

/// What is saved of a series: everything but the scores of this run.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedSeries {
    key: Vec<u8>,
    stream: Vec<u8>,
    scale: LearnedScale,
    groups: Vec<String>,
    waiting: Vec<Waiting>,
    rows: u64,
    last: Option<f64>,
}

impl Series {
    pub(crate) fn new(key: &[u8], settings: &Settings) -> Result<Self> {
        Ok(Self::around(key.to_vec(), Stream::new(settings.build(key)?)))
    }

    fn around(key: Vec<u8>, stream: Stream<AnyRecalibrator, AnyForecast>) -> Self {
        Series {
            key,
            stream,
            scale: LearnedScale::default(),
            groups: Vec::new(),
            waiting: VecDeque::new(),
            rows: 0,
            last: None,
            record: Record::default(),
        }
    }

    pub(crate) fn save(&self) -> Result<SavedSeries> {
        Ok(SavedSeries {
            key: self.key.clone(),
            stream: self.stream.to_bytes()?,
            scale: self.scale,
            groups: self.groups.clone(),
            waiting: self.waiting.iter().copied().collect(),
            rows: self.rows,
            last: self.last,
        })
    }

    pub(crate) fn load(saved: SavedSeries) -> Result<Self> {
        let mut series = Self::around(saved.key, Stream::from_bytes(&saved.stream)?);
        series.scale = saved.scale;
        series.groups = saved.groups;
        series.waiting = saved.waiting.into();
        series.rows = saved.rows;
        series.last = saved.last;
        Ok(series)
    }

    /// Its key; the cells of several columns are joined by the unit separator.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Its key for people.
    pub fn label(&self) -> String {
        String::from_utf8_lossy(&self.key).replace('\u{1f}', " / ")
    }

    /// Its recalibrator as it is now.
    pub fn recalibrator(&self) -> &AnyRecalibrator {
        self.stream.recalibrator()
    }

    /// The scale of its point forecasts as it is now.
    pub fn scale(&self) -> &LearnedScale {
        &self.scale
    }

    /// The labels of its groups, in the order of their ledgers.
    pub fn groups(&self) -> &[String] {
        &self.groups
    }

    /// Rows over all runs.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Outcomes that were read and are not known yet.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// What this run counted.
    pub fn tally(&self) -> &Tally {
        &self.record.tally
    }

    /// The scores of this run, if they were asked for.
    pub fn scoreboard(&self) -> Option<&Scoreboard> {
        self.record.scoreboard.as_deref()
    }

    /// The last forecasts, if they were asked for.
    pub fn fan(&self) -> impl Iterator<Item = &FanPoint> {
        self.record.fan.iter()
    }

    /// Says what the last forecast is called.
    pub(crate) fn name_last(&mut self, label: String) {
        if let Some(last) = self.record.fan.back_mut() {
            last.label = label;
        }
    }

    /// Takes one row: books the outcomes that are known by now, answers, and learns or keeps the row's own outcome for later.
    ///
    /// A row that is refused leaves the series as it was, but for outcomes that were due to a row that the core refused.
    pub(crate) fn step(
        &mut self,
        task: Task,
        question: &Question<'_>,
        answers: &mut Answered<'_>,
    ) -> Result<()> {
        let known_groups = self.groups.len();
        let stepped = self.try_step(task, question, answers);
        if stepped.is_err() {
            self.groups.truncate(known_groups);
        }
        stepped
    }

    /// The same for a row that brings a normal forecast and its outcome, which is learned at once.
    pub(crate) fn step_plainly(
        &mut self,
        forecast: &Gaussian,
        outcome: f64,
        question: &Question<'_>,
        answers: &mut Answered<'_>,
    ) -> Result<()> {
        self.take_at_once(forecast, &[], Groups::NONE, outcome, question, answers)?;
        self.rows += 1;
        self.record.tally.rows += 1;
        Ok(())
    }

    fn try_step(&mut self, task: Task, question: &Question<'_>, answers: &mut Answered<'_>) -> Result<()> {
        let settings = question.settings;
        let groups = self.group_numbers(&task.groups, settings)?;
        if let Some(outcome) = task.outcome.filter(|outcome| !outcome.is_finite()) {
            // Said now: a late outcome would be refused only when it is due, in the name of another row.
            return Err(truecast::Error::NotFinite { what: "outcome", value: outcome }.into());
        }
        self.arrive(&task, settings)?;
        let (mut point, mut members) = (None, Vec::new());
        let forecast: AnyForecast = match task.forecast {
            Given::Distribution(forecast) => forecast,
            Given::Ensemble(given) => {
                members = given;
                Samples::new(&members)?.into()
            }
            Given::Point(value) => {
                point = Some(value);
                self.scale.forecast(value)?.into()
            }
        };
        let repaired = matches!(&forecast, AnyForecast::Quantiles(quantiles) if quantiles.repaired() > 0);
        let row = Row { outcome: task.outcome, members: &members };
        match task.outcome {
            _ if question.ask.raw_only => self.take_raw(&forecast, row, question, answers)?,
            Some(outcome) if question.learns_at_once() => {
                self.take_at_once(&forecast, &members, groups, outcome, question, answers)?;
            }
            _ => self.take_for_later(forecast, row, groups, (point, task.due), question, answers)?,
        }
        if let (Some(point), Some(outcome)) = (point, task.outcome)
            && (question.ask.raw_only || question.learns_at_once())
        {
            self.scale.observe(point, outcome, settings.half_life)?;
        }
        self.rows += 1;
        self.last = task.now.or(self.last);
        self.record.tally.rows += 1;
        self.record.tally.repaired += u64::from(repaired);
        Ok(())
    }

    /// Answers by the forecast as it is.
    fn take_raw(
        &mut self,
        forecast: &AnyForecast,
        row: Row<'_>,
        question: &Question<'_>,
        answers: &mut Answered<'_>,
    ) -> Result<()> {
        // The draws that recalibration would make, so that both say the same about the base.
        let (seed, number) = (self.stream.recalibrator().seed(), self.rows);
        let draw = || random::uniform(seed, number, random::ATOM_LANE);
        self.record.answer(row, forecast, forecast, draw, question, answers)
    }

    /// Answers, and learns the outcome.
    fn take_at_once<F: Forecast>(
        &mut self,
        forecast: &F,
        members: &[f64],
        groups: Groups,
        outcome: f64,
        question: &Question<'_>,
        answers: &mut Answered<'_>,
    ) -> Result<()> {
        let Series { stream, record, .. } = self;
        let (seed, number) = (stream.recalibrator().seed(), stream.issued());
        let draw = || random::uniform(seed, number, random::ATOM_LANE);
        let row = Row { outcome: Some(outcome), members };
        let before = record.tally;
        let stepped = stream.step(forecast, groups, outcome, |calibrated| {
            record.answer(row, calibrated.base(), &calibrated, draw, question, answers)
        });
        if stepped.is_err() {
            record.tally = before;
        }
        stepped.map(|_| ())
    }

    /// Answers, and keeps the outcome until it is due; without one, the forecast expires.
    fn take_for_later(
        &mut self,
        forecast: AnyForecast,
        row: Row<'_>,
        groups: Groups,
        (point, due): (Option<f64>, Option<f64>),
        question: &Question<'_>,
        answers: &mut Answered<'_>,
    ) -> Result<()> {
        let due = row.outcome.map(|_| self.due(due, question.settings)).transpose()?;
        let Series { stream, record, .. } = self;
        let seed = stream.recalibrator().seed();
        let (ticket, calibrated) = stream.issue_in(forecast, groups)?;
        let draw = || random::uniform(seed, ticket.number(), random::ATOM_LANE);
        let answered = record.answer(row, calibrated.base(), &calibrated, draw, question, answers);
        match (answered, row.outcome.zip(due)) {
            (Ok(()), Some((outcome, due))) => {
                self.wait(Waiting { ticket, outcome, point, due });
                Ok(())
            }
            (answered, _) => {
                stream.expire(ticket)?;
                answered
            }
        }
    }

    /// Books the outcomes that are known before this row's forecast is made.
    fn arrive(&mut self, task: &Task, settings: &Settings) -> Result<()> {
        let known = match settings.lateness {
            Lateness::Next => return Ok(()),
            Lateness::Rows(_) => self.rows as f64,
            Lateness::Times => {
                let now = task.now.ok_or(Error::NoTime)?;
                match self.last {
                    Some(last) if now < last => return Err(Error::Backwards { now, last }),
                    _ => now,
                }
            }
        };
        while let Some(waiting) = self.waiting.front().copied().filter(|waiting| waiting.due <= known) {
            self.waiting.pop_front();
            self.learn(waiting, settings)?;
        }
        Ok(())
    }

    fn learn(&mut self, waiting: Waiting, settings: &Settings) -> Result<()> {
        if let Err(error) = self.stream.resolve(waiting.ticket, waiting.outcome) {
            self.stream.expire(waiting.ticket)?;
            return Err(error.into());
        }
        match waiting.point {
            Some(point) => self.scale.observe(point, waiting.outcome, settings.half_life),
            None => Ok(()),
        }
    }

    /// The row or time from which on this row's outcome is known.
    fn due(&self, due: Option<f64>, settings: &Settings) -> Result<f64> {
        match settings.lateness {
            Lateness::Next => Ok(self.rows as f64),
            // Known to the row after the next `rows` ones.
            Lateness::Rows(rows) => Ok(self.rows.saturating_add(rows).saturating_add(1) as f64),
            Lateness::Times => due.ok_or(Error::NoTime),
        }
    }

    /// Keeps an outcome until it is due.
    fn wait(&mut self, waiting: Waiting) {
        let at = self.waiting.partition_point(|earlier| earlier.due <= waiting.due);
        self.waiting.insert(at, waiting);
    }

    fn group_numbers(&mut self, labels: &[String], settings: &Settings) -> Result<Groups> {
        if labels.is_empty() {
            return Ok(Groups::NONE);
        }
        let mut numbers = Vec::with_capacity(labels.len());
        for label in labels {
            let known = self.groups.iter().position(|known| known == label);
            let number = match known {
                Some(number) => number,
                None if self.groups.len() < usize::from(settings.groups) => {
                    self.groups.push(label.clone());
                    self.groups.len() - 1
                }
                None => return Err(Error::TooManyGroups { label: label.clone(), count: settings.groups }),
            };
            numbers.push(number);
        }
        Ok(Groups::of(&numbers)?)
    }
}
