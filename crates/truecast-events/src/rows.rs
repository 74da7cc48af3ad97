//! Rows of a table as a fleet takes them: one by one as they come, or as events that were gathered.

use std::borrow::Cow;

use truecast::Gaussian;
use truecast_data::RowError;
use truecast_data::recognise::Form;
use truecast_fleet::{Error, Given, Lateness, Plain, Rows, Task};

use crate::cells::{Cells, Piece};
use crate::forecast::Reader;
use crate::gather::Event;
use crate::meaning::Meaning;

/// Rows that are taken as they come.
#[derive(Debug)]
pub(crate) struct Streamed<'a, C> {
    pub(crate) reader: &'a Reader<'a>,
    pub(crate) piece: &'a Piece<C>,
    /// Forecasts without an outcome wait for it.
    pub(crate) keep: bool,
}

impl<C: Cells> Streamed<'_, C> {
    fn time(&self, row: usize) -> Option<f64> {
        let column = self.reader.meaning.order()?;
        self.piece
            .numbers
            .get(column, row)
            .or_else(|| self.piece.cells.time(column, row).ok().flatten().filter(|time| time.is_finite()))
    }
}

impl<C: Cells> Rows for Streamed<'_, C> {
    type Error = Box<RowError>;

    fn len(&self) -> usize {
        self.piece.cells.rows()
    }

    fn key(&self, row: usize) -> Cow<'_, [u8]> {
        self.reader.meaning.key(&self.piece.cells, row)
    }

    fn task(&self, row: usize) -> Result<Task, Box<RowError>> {
        let meaning = self.reader.meaning;
        let outcome = self.reader.outcome(self.piece, row)?;
        Ok(Task {
            groups: meaning.group_labels(self.piece, row),
            now: self.time(row),
            about: if self.keep { meaning.about(&self.piece.cells, row) } else { None },
            ..Task::plain(self.reader.forecast(self.piece, row)?, outcome)
        })
    }

    #[inline]
    fn plain(&self, row: usize) -> Option<Plain> {
        let meaning = self.reader.meaning;
        let Form::Gaussian { variance: false, .. } = meaning.layout.form else { return None };
        if meaning.layout.outcome.is_none()
            || !meaning.groups.is_empty()
            || self.keep && !meaning.rest.is_empty()
        {
            return None;
        }
        // NaN is no mean, no outcome and no time.
        let (outcome, mean, std, now) = match *self.piece.numbers.row(row) {
            [outcome, mean, std] => (outcome, mean, std, None),
            [outcome, mean, std, time] => (outcome, mean, std, Some(time).filter(|time| !time.is_nan())),
            _ => return None,
        };
        let forecast = Gaussian::new(mean, std).ok()?;
        (!outcome.is_nan()).then_some(Plain { forecast, outcome, now })
    }

    fn label(&self, row: usize) -> String {
        let layout = &self.reader.meaning.layout;
        match layout.about.or(layout.made) {
            Some(column) => self.piece.shown(column, row),
            None => self.piece.cells.place(row).saturating_sub(1).to_string(),
        }
    }

    fn refuse(&self, row: usize, error: Error) -> Box<RowError> {
        refusal(self.reader.meaning, self.piece, row, &error, false)
    }
}

/// Events that are taken together.
#[derive(Debug)]
pub(crate) struct Window<'a, C> {
    pub(crate) reader: &'a Reader<'a>,
    pub(crate) pieces: &'a [Piece<C>],
    pub(crate) events: &'a [Event],
    pub(crate) keep: bool,
}

impl<C: Cells> Rows for Window<'_, C> {
    type Error = Box<RowError>;

    fn len(&self) -> usize {
        self.events.len()
    }

    fn key(&self, at: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.events[at].key)
    }

    fn task(&self, at: usize) -> Result<Task, Box<RowError>> {
        let (event, meaning) = (&self.events[at], self.reader.meaning);
        let (piece, row) = (&self.pieces[event.at.0], event.at.1);
        let forecast = match &event.parts {
            None => self.reader.forecast(piece, row)?,
            Some((parts, _)) => match parts.forecast().map_err(|error| self.refuse(at, error.into()))? {
                Given::Point(value) => self.reader.point(value),
                given => given,
            },
        };
        if let (Some(_), None, Some(column), Lateness::Times) =
            (event.outcome, event.moments.due, meaning.layout.known, meaning.lateness)
        {
            let rule = "an outcome must have the time at which it became known";
            return Err(piece.cell_error(row, column, meaning.name(column), rule, ""));
        }
        Ok(Task {
            groups: meaning.group_labels(piece, row),
            now: event.moments.made,
            due: event.moments.due,
            // Where rows say when they were made, one without an outcome waits whether or not the state is kept, so that the numbers are the same.
            about: event.about.clone().filter(|_| self.keep || event.outcome.is_none()),
            later: event.later.clone(),
            ..Task::plain(forecast, event.outcome)
        })
    }

    fn label(&self, at: usize) -> String {
        self.events[at].label.clone()
    }

    fn refuse(&self, at: usize, error: Error) -> Box<RowError> {
        let event = &self.events[at];
        refusal(self.reader.meaning, &self.pieces[event.at.0], event.at.1, &error, event.parts.is_some())
    }
}

/// Why the fleet refused a row, in the words of its table.
fn refusal<C: Cells>(
    meaning: &Meaning,
    piece: &Piece<C>,
    row: usize,
    error: &Error,
    is_spread: bool,
) -> Box<RowError> {
    let (idiom, layout) = (meaning.idiom, &meaning.layout);
    let cell = |column: Option<usize>| column.map_or(String::new(), |column| piece.shown(column, row));
    let (rule, hint) = match error {
        Error::TooManyGroups { .. } => (error.to_string(), format!("say how many there are: {}", idiom.groups_hint())),
        Error::Backwards { .. } => {
            let column = layout.made.or(layout.about);
            let none = column.map_or(String::new(), |_| {
                let wish = if layout.made.is_some() { "made" } else { "about" };
                format!(", or say that it is no time: {}", idiom.say(wish, "none"))
            });
            (format!("{} lies before the time of the series' row before it", cell(column)), format!("sort the rows by time{none}"))
        }
        Error::Repeated if layout.made.is_some() => (
            format!("a second forecast of its series was made at {}, and nothing says when their outcomes were known", cell(layout.made)),
            format!("name the column of what they are about with {}, of when outcomes are known with {}, or one that tells series apart with {}",
                idiom.name("about"), idiom.name("known"), idiom.name("key")),
        ),
        Error::Repeated => (
            format!("a second forecast of its series is about {}, and nothing says when their outcomes were known", cell(layout.about)),
            format!("name the column of when forecasts were made with {}, or one that tells series apart with {}; {} takes rows as they come",
                idiom.name("made"), idiom.name("key"), idiom.say("about", "none")),
        ),
        Error::Changed => (
            "another forecast of its series about the same waits for its outcome".to_owned(),
            format!("{} takes this one instead", idiom.replace()),
        ),
        Error::Core(truecast::Error::NotIncreasing { .. }) if is_spread => (
            format!("the forecast that begins here: {error}"),
            "two rows have different values of one quantile; a column that tells their forecasts apart may be missing".to_owned(),
        ),
        _ if is_spread => (format!("the forecast that begins here: {error}"), String::new()),
        _ => (error.to_string(), String::new()),
    };
    piece.row_error(row, rule, hint)
}
