//! One series: its stream, the outcomes that have not arrived yet, its groups and its scores.

use serde::{Deserialize, Serialize};
use truecast::forecast::AnyForecast;
use truecast::monitor::Scoreboard;
use truecast::recalibrate::{AnyRecalibrator, Groups};
use truecast::{Forecast, Recalibrated, Recalibrator, Samples, SnapshotError, Stream, random};

use crate::ask::{Answered, FanPoint, Given, Plain, Question, RowScores, Task};
use crate::error::{Error, Result};
use crate::point::LearnedScale;
use crate::reader::Reader;
use crate::record::{Record, Row, Tally, weight};
use crate::settings::{Lateness, Settings};
use crate::waiting::{Booked, Known, Open, Waiting};

/// One series of a fleet.
#[derive(Debug)]
pub struct Series {
    key: Vec<u8>,
    stream: Stream<AnyRecalibrator, AnyForecast>,
    scale: LearnedScale,
    groups: Vec<String>,
    waiting: Waiting,
    /// Rows so far, over all runs.
    rows: u64,
    /// The time of the last row, where rows say one.
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
    waiting: Waiting,
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
            waiting: Waiting::default(),
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
            waiting: self.waiting.clone(),
            rows: self.rows,
            last: self.last,
        })
    }

    pub(crate) fn load(saved: SavedSeries) -> Result<Self> {
        let mut series = Self::around(saved.key, Stream::from_bytes(&saved.stream)?);
        series.scale = saved.scale;
        series.groups = saved.groups;
        series.waiting = saved.waiting;
        series.rows = saved.rows;
        series.last = saved.last;
        if !series.waiting.fits(series.stream.pending()) {
            let (field, rule) =
                ("forecasts that wait", "those that are pending, each outcome with its time, in order");
            return Err(truecast::Error::from(SnapshotError::Invalid { field, rule }).into());
        }
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
        self.waiting.due()
    }

    /// Forecasts that wait for their outcome, by what they are about, and when they were made.
    pub fn open(&self) -> impl Iterator<Item = (&[u8], Option<f64>)> {
        self.waiting.open().iter().map(|(about, open)| (&about[..], open.made))
    }

    /// What outcomes are about that are known, or were learned of late.
    pub fn remembered(&self) -> impl Iterator<Item = &[u8]> {
        self.waiting.remembered()
    }

    /// The time of its last row, where rows say one.
    pub fn last(&self) -> Option<f64> {
        self.last
    }

    /// The calibrated forecast about this as it was issued, if it waits.
    pub fn forecast(&self, about: &[u8]) -> Option<Recalibrated<AnyForecast>> {
        let (open, _) = self.waiting.find(about)?;
        Some(self.stream.forecast(open.ticket).ok()?.to_owned())
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
        row: &Plain,
        question: &Question<'_>,
        answers: &mut Answered<'_>,
    ) -> Result<()> {
        self.in_order(row.now)?;
        self.take_at_once(&row.forecast, &[], Groups::NONE, row.outcome, question, answers)?;
        self.count(row.now);
        Ok(())
    }

    /// True if the next plain row may go without a score.
    pub(crate) fn goes_unscored(&self, question: &Question<'_>) -> bool {
        self.weight(question) == 0
    }

    /// For how many outcomes the score of the next row stands.
    fn weight(&self, question: &Question<'_>) -> u64 {
        weight(question.samples, self.stream.recalibrator().seed(), self.rows)
    }

    /// The same with the answer left to `reader`; if the row is refused, nothing of it is.
    pub(crate) fn step_unread(&mut self, row: &Plain, reader: &mut Reader) -> Result<()> {
        self.in_order(row.now)?;
        let before = reader.waiting();
        let stepped = self.stream.step(&row.forecast, Groups::NONE, row.outcome, |calibrated| {
            reader.push(row.forecast, calibrated.map());
            Ok::<(), Error>(())
        });
        match stepped {
            Ok(((), scores)) => self.record.tally.learn(scores),
            Err(error) => {
                if reader.waiting() > before {
                    reader.forget_last();
                }
                return Err(error);
            }
        }
        self.count(row.now);
        Ok(())
    }

    /// One more row.
    fn count(&mut self, now: Option<f64>) {
        self.rows += 1;
        self.last = now.or(self.last);
        self.record.tally.rows += 1;
    }

    /// Where each outcome is known before the next row, times do no more than go on.
    fn in_order(&self, now: Option<f64>) -> Result<()> {
        match (now, self.last) {
            (Some(now), Some(last)) if now < last => Err(Error::Backwards { now, last }),
            (Some(now), Some(last)) if now == last => Err(Error::Repeated),
            _ => Ok(()),
        }
    }

    fn try_step(
        &mut self,
        mut task: Task,
        question: &Question<'_>,
        answers: &mut Answered<'_>,
    ) -> Result<()> {
        let settings = question.settings;
        let groups = self.group_numbers(&task.groups, settings)?;
        if let Some(outcome) = task.outcome.filter(|outcome| !outcome.is_finite()) {
            // Said now: a late outcome would be refused only when it is due, in the name of another row.
            return Err(truecast::Error::NotFinite { what: "outcome", value: outcome }.into());
        }
        let (given, point) = match task.forecast {
            Given::Point(value) => (None, Some(value)),
            Given::Ensemble(ref members) => {
                let first = members.first().copied();
                let point = first.filter(|first| members.iter().all(|member| member == first));
                (if point.is_some() { None } else { Some(Samples::new(members)?.into()) }, point)
            }
            Given::Distribution(ref forecast) => (Some(forecast.clone()), None),
        };
        let members = match task.forecast {
            Given::Ensemble(ref mut members) => std::mem::take(members),
            _ => Vec::new(),
        };
        let again = task
            .about
            .as_deref()
            .and_then(|about| self.waiting.find(about))
            .filter(|_| !question.ask.raw_only);
        if let Some((open, known)) = again {
            if self.is_same(open, given.as_ref(), point)? {
                return self.answer_again(open, task, &members, question, answers);
            }
            if !question.ask.replace {
                return Err(Error::Changed);
            }
            self.stream.expire(open.ticket)?;
            self.waiting.forget(task.about.as_deref().unwrap_or_default());
            if let (None, Some((due, outcome))) = (task.outcome, known) {
                (task.outcome, task.due) = (Some(outcome), Some(due));
            }
        } else {
            self.arrive(&task, question)?;
        }
        let forecast: AnyForecast = match (given, point) {
            (Some(forecast), _) => forecast,
            (None, point) => self.scale.forecast(point.unwrap_or(f64::NAN))?.into(),
        };
        let repaired = matches!(&forecast, AnyForecast::Quantiles(quantiles) if quantiles.repaired() > 0);
        let (now, outcome) = (task.now, task.outcome);
        let weight = self.weight(question);
        let row = Row { row: answers.row, outcome, members: &members, weight, is_learned: false };
        match outcome {
            _ if question.ask.raw_only => self.take_raw(&forecast, row, question, answers)?,
            Some(outcome) if question.learns_at_once() => {
                self.take_at_once(&forecast, &members, groups, outcome, question, answers)?;
            }
            _ => self.take_for_later(forecast, row, groups, (point, task), question, answers)?,
        }
        if let (Some(point), Some(outcome)) = (point, outcome)
            && (question.ask.raw_only || question.learns_at_once())
        {
            self.scale.observe(point, outcome, settings.half_life)?;
        }
        self.count(now);
        self.record.tally.repaired += u64::from(repaired);
        Ok(())
    }

    /// Whether a forecast that waits is this one.
    fn is_same(&self, open: Open, given: Option<&AnyForecast>, point: Option<f64>) -> Result<bool> {
        match given {
            None => Ok(open.point == point),
            Some(given) => Ok(open.point.is_none() && *self.stream.forecast(open.ticket)?.base() == given),
        }
    }

    /// Answers as before to a forecast that is given again.
    fn answer_again(
        &mut self,
        open: Open,
        task: Task,
        members: &[f64],
        question: &Question<'_>,
        answers: &mut Answered<'_>,
    ) -> Result<()> {
        let calibrated = self.stream.forecast(open.ticket)?;
        question.within(&calibrated, |bounded| question.prepared.fill(bounded, members, answers.values));
        self.record.tally.again += 1;
        if let (Some(about), Some(outcome)) = (task.about, task.outcome) {
            let known = Known { about: &about, outcome, due: task.due, last_counts: false };
            answers.scores.extend(self.book(&known, answers.row, question)?.1);
        }
        Ok(())
    }

    /// Takes an outcome for a forecast that waits: it is scored now, and learned before the first forecast that is made when it is known.
    pub(crate) fn book(
        &mut self,
        known: &Known<'_>,
        row: usize,
        question: &Question<'_>,
    ) -> Result<(Booked, Option<RowScores>)> {
        if !known.outcome.is_finite() {
            return Err(truecast::Error::NotFinite { what: "outcome", value: known.outcome }.into());
        }
        let due =
            known.due.filter(|_| question.settings.lateness == Lateness::Times).unwrap_or(f64::NEG_INFINITY);
        let Some(&open) = self.waiting.open().get(known.about) else {
            return Ok((self.waiting.revise(known, due), None));
        };
        let Series { stream, record, .. } = self;
        let (seed, number) = (stream.recalibrator().seed(), open.ticket.number());
        let draw = || random::uniform(seed, number, random::ATOM_LANE);
        let calibrated = stream.forecast(open.ticket)?;
        let met = Row { row, outcome: Some(known.outcome), members: &[], weight: 1, is_learned: false };
        let mut scores = Vec::new();
        question.within(&calibrated, |bounded| {
            record.meet(met, known.outcome, *calibrated.base(), bounded, draw, question, &mut scores)
        })?;
        self.waiting.forget(known.about);
        self.waiting.wait_until((due, known.outcome), Vec::new(), known.about.to_vec(), open);
        if question.settings.lateness != Lateness::Times {
            self.learn_until(f64::NEG_INFINITY, None, question.settings)?;
        } else if let Some(last) = self.last {
            self.learn_until(last, Some(last), question.settings)?;
        }
        Ok((Booked::Matched, scores.pop()))
    }

    /// Forgets forecasts that were made before this and have no outcome yet; says how many.
    pub(crate) fn expire(&mut self, time: f64) -> Result<usize> {
        let old = self.waiting.forget_made_before(time);
        old.iter().try_for_each(|&ticket| self.stream.expire(ticket))?;
        Ok(old.len())
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
        let weight = self.weight(question);
        let Series { stream, record, .. } = self;
        let (seed, number) = (stream.recalibrator().seed(), stream.issued());
        let draw = || random::uniform(seed, number, random::ATOM_LANE);
        let row = Row { row: answers.row, outcome: Some(outcome), members, weight, is_learned: true };
        let ((), scores) = stream.step(forecast, groups, outcome, |calibrated| {
            question.within(&calibrated, |bounded| {
                record.answer(row, calibrated.base(), bounded, draw, question, answers)
            })
        })?;
        record.tally.learn(scores);
        Ok(())
    }

    /// Answers, and keeps the outcome until it is due; without one the forecast waits, if anything says what it is about.
    fn take_for_later(
        &mut self,
        forecast: AnyForecast,
        row: Row<'_>,
        groups: Groups,
        (point, task): (Option<f64>, Task),
        question: &Question<'_>,
        answers: &mut Answered<'_>,
    ) -> Result<()> {
        let due = row.outcome.map(|_| self.due(task.due, question.settings)).transpose()?;
        let Series { stream, record, waiting, .. } = self;
        let seed = stream.recalibrator().seed();
        let (ticket, calibrated) = stream.issue_in(forecast, groups)?;
        let draw = || random::uniform(seed, ticket.number(), random::ATOM_LANE);
        let answered = question.within(&calibrated, |bounded| {
            record.answer(row, calibrated.base(), bounded, draw, question, answers)
        });
        let open = Open { ticket, made: task.now, point };
        match (answered, row.outcome.zip(due), task.about) {
            (Ok(()), Some((outcome, due)), about) => {
                waiting.wait_until((due, outcome), task.later, about.unwrap_or_default(), open);
            }
            (Ok(()), None, Some(about)) => waiting.wait(about, open),
            (answered, ..) => {
                stream.expire(ticket)?;
                return answered;
            }
        }
        Ok(())
    }

    /// Books the outcomes that are known before this row's forecast is made.
    fn arrive(&mut self, task: &Task, question: &Question<'_>) -> Result<()> {
        match question.settings.lateness {
            _ if question.ask.raw_only => Ok(()),
            Lateness::Next => self.in_order(task.now),
            Lateness::Rows(_) => match self.in_order(task.now) {
                Err(Error::Repeated) | Ok(()) => self.learn_until(self.rows as f64, None, question.settings),
                Err(error) => Err(error),
            },
            Lateness::Times => {
                let now = task.now.ok_or(Error::NoTime)?;
                match self.last {
                    Some(last) if now < last => Err(Error::Backwards { now, last }),
                    _ => self.learn_until(now, Some(now), question.settings),
                }
            }
        }
    }

    /// Learns what is known by this row or time, and was not forecast at the same time.
    fn learn_until(&mut self, until: f64, now: Option<f64>, settings: &Settings) -> Result<()> {
        while let Some((open, outcome)) = self.waiting.next(until, now) {
            self.learn(open, outcome, settings)?;
        }
        Ok(())
    }

    fn learn(&mut self, open: Open, outcome: f64, settings: &Settings) -> Result<()> {
        if let Err(error) = self.stream.resolve(open.ticket, outcome) {
            self.stream.expire(open.ticket)?;
            return Err(error.into());
        }
        match open.point {
            Some(point) => self.scale.observe(point, outcome, settings.half_life),
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
