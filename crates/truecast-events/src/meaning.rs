//! What the columns of a table mean as events: which forecast, of which series, made when, about what, its outcome known when.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use truecast_data::Error as DataError;
use truecast_data::recognise::{Form, Idiom, Layout, Wishes, recognise};
use truecast_fleet::{Fleet, Lateness};

use crate::cells::{Cells, Piece};
use crate::error::{Error, Result};
use crate::key;
use crate::numbers::Ahead;
use crate::span::Span;

/// What a person asks of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// Which column holds what.
    pub wishes: Wishes,
    /// How much later than the thing that it is about an outcome is known.
    pub lag: Option<Span>,
    /// How long one step of a horizon is.
    pub step: Option<Span>,
    /// How many more forecasts of a series are made before an outcome is known, where no times are.
    pub delay: Option<u64>,
    /// Columns whose values are groups.
    pub groups: Vec<String>,
    /// A column by whose values outcomes are counted.
    pub by: Option<String>,
    /// Rows are calibrated whose cells have these values; the others pass through.
    pub filter: Vec<(String, String)>,
    /// Of several outcomes about the same, the last one that is known before it is used counts, not the first.
    pub last_counts: bool,
    /// A forecast takes the place of another about the same thing that waits.
    pub replace: bool,
    /// Forecasts without an outcome wait for it.
    pub keep: bool,
    /// Quantiles to write, instead of the form that came in.
    pub quantiles: Vec<f64>,
    /// Central intervals to write, in percent.
    pub intervals: Vec<f64>,
    /// Whether PIT and CRPS of every row are written.
    pub scores: bool,
    /// Rows that break a rule are left out; if not, a table that is held whole changes nothing once one does.
    pub skip: bool,
    /// So does any other table: rows are looked at before they are taken. Whoever forgets what was learned when a row is refused need not wait for that.
    pub all_or_nothing: bool,
}

/// How series are told apart by how far ahead their forecasts look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Horizon {
    /// They are not.
    Pooled,
    /// A column says it.
    Column(usize),
    /// Forecasts of one series that were made at one time are numbered in the order of what they are about.
    Counted,
}

/// By which cells a forecast is known, and when its outcome is: what a state has to keep for outcomes that come later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Memo {
    /// Columns of the series' key.
    pub(crate) keys: Vec<String>,
    /// The name of the horizon, which comes after them.
    pub(crate) horizon: Option<String>,
    /// The columns that tell forecasts of a series apart, and which of them are times.
    pub(crate) rest: Vec<(String, bool)>,
    /// Which of these says what a forecast is about.
    pub(crate) about: Option<usize>,
    /// Added to the time that it is about; that it must have passed.
    pub(crate) lag: f64,
    pub(crate) strict: bool,
    pub(crate) m5: bool,
}

/// The meaning of the columns.
#[derive(Debug)]
pub(crate) struct Meaning {
    pub(crate) layout: Layout,
    pub(crate) idiom: Idiom,
    pub(crate) horizon: Horizon,
    pub(crate) lateness: Lateness,
    /// Columns that tell forecasts of a series apart, and which of them are times.
    pub(crate) rest: Vec<(usize, bool)>,
    pub(crate) groups: Vec<usize>,
    pub(crate) by: Option<usize>,
    filter: Vec<(usize, Vec<u8>)>,
    lag: Option<Span>,
    step: Option<Span>,
    /// In the units of the times, once they have been seen.
    pub(crate) step_length: f64,
    pub(crate) memo: Memo,
}

/// When a forecast was made, the time that it is about, and from when on its outcome is known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Moments {
    pub(crate) made: Option<f64>,
    pub(crate) about: Option<f64>,
    pub(crate) due: Option<f64>,
}

impl Meaning {
    pub(crate) fn new(file: &str, names: &[String], request: &Request) -> Result<Self> {
        let (wishes, idiom) = (&request.wishes, request.wishes.idiom);
        let layout = recognise(file, names, wishes)?;
        let find = |name: &String, wish: &str| {
            layout.names.iter().position(|known| known == name).ok_or_else(|| {
                let problem = format!("there is no column {name:?}, which {} names", idiom.name(wish));
                DataError::file(file, problem, format!("the columns are {}", layout.names.join(", ")))
            })
        };
        let wish_of_groups = if idiom == Idiom::Flags { "ledger" } else { "groups" };
        let groups =
            request.groups.iter().map(|name| find(name, wish_of_groups)).collect::<Result<_, _>>()?;
        let by = request.by.as_ref().map(|name| find(name, "by")).transpose()?;
        let filter =
            request.filter.iter().map(|(name, value)| Ok((find(name, "where")?, value.clone().into_bytes())));
        let filter = filter.collect::<Result<_, DataError>>()?;
        let lateness = lateness(file, &layout, request)?;
        let (is_m5, is_timed) = (matches!(layout.form, Form::M5 { .. }), lateness == Lateness::Times);
        let horizon = match layout.horizon {
            _ if layout.pooled || is_m5 => Horizon::Pooled,
            Some(column) if layout.keys.contains(&column) => Horizon::Pooled,
            Some(column) => Horizon::Column(column),
            None if is_timed && layout.made.is_some() && layout.about.is_some() => Horizon::Counted,
            None => Horizon::Pooled,
        };
        let mut rest: Vec<(usize, bool)> =
            [layout.made, layout.about].into_iter().flatten().map(|column| (column, true)).collect();
        if let Form::Hubverse { output_type, output_type_id, value } = layout.form {
            let known = [
                Some(output_type),
                Some(output_type_id),
                Some(value),
                layout.outcome,
                layout.horizon,
                layout.known,
            ];
            let others = (0..names.len()).filter(|column| {
                !known.contains(&Some(*column))
                    && !layout.keys.contains(column)
                    && rest.iter().all(|(taken, _)| taken != column)
            });
            rest.extend(others.collect::<Vec<_>>().into_iter().map(|column| (column, false)));
        }
        if layout.pooled {
            rest.extend(
                layout.horizon.filter(|column| !layout.keys.contains(column)).map(|column| (column, false)),
            );
        }
        let name = |column: usize| layout.names[column].clone();
        let memo = Memo {
            keys: layout.keys.iter().map(|&column| name(column)).collect(),
            horizon: match horizon {
                Horizon::Pooled => None,
                Horizon::Column(column) => Some(name(column)),
                Horizon::Counted => Some("horizon".to_owned()),
            },
            rest: if is_m5 {
                vec![("day".to_owned(), true)]
            } else {
                rest.iter().map(|&(column, time)| (name(column), time)).collect()
            },
            about: if is_m5 {
                Some(0)
            } else {
                layout.about.and_then(|about| rest.iter().position(|&(column, _)| column == about))
            },
            lag: 0.0,
            strict: layout.made_before,
            m5: is_m5,
        };
        let (lag, step) = (request.lag, request.step);
        Ok(Meaning {
            idiom,
            horizon,
            lateness,
            rest,
            groups,
            by,
            filter,
            lag,
            step,
            step_length: 0.0,
            memo,
            layout,
        })
    }

    /// True if all rows must be there before any is taken.
    pub(crate) fn holds(&self) -> bool {
        self.layout.form.is_long() || self.lateness == Lateness::Times
    }

    /// Numbers that are worth reading ahead, and in which order.
    pub(crate) fn ahead(&self) -> Ahead {
        let mut numbers: Vec<usize> = self.layout.outcome.into_iter().collect();
        match &self.layout.form {
            Form::Gaussian { mean, spread, .. } => numbers.extend([mean, spread]),
            Form::Quantiles(list) => numbers.extend(list.iter().map(|&(_, column)| column)),
            Form::Samples(list) => numbers.extend(list),
            Form::Point(column) => numbers.push(*column),
            Form::Hubverse { .. } | Form::M5 { .. } => return Ahead::default(),
        }
        let times = if self.holds() { Vec::new() } else { self.order().into_iter().collect() };
        Ahead { numbers, times }
    }

    /// How many of the numbers that are read ahead are forecasts and outcomes.
    pub(crate) fn read_ahead(&self) -> usize {
        self.layout.form.columns().len() + usize::from(self.layout.outcome.is_some())
    }

    /// The column whose times must go on from row to row, where each outcome is known before the next row.
    pub(crate) fn order(&self) -> Option<usize> {
        self.layout.made.or(self.layout.about).filter(|_| self.lateness == Lateness::Next)
    }

    pub(crate) fn name(&self, column: usize) -> &str {
        &self.layout.names[column]
    }

    /// The key of a row's series, but for its horizon.
    #[inline]
    pub(crate) fn key<'a, C: Cells>(&self, cells: &'a C, row: usize) -> Cow<'a, [u8]> {
        let text = |column: usize| cells.text(column, row);
        match (&self.layout.keys[..], self.horizon) {
            ([], Horizon::Pooled | Horizon::Counted) => Cow::Borrowed(b""),
            (&[column], Horizon::Pooled | Horizon::Counted) => text(column),
            (columns, Horizon::Pooled | Horizon::Counted) => {
                Cow::Owned(key::join(columns.iter().map(|&column| text(column))))
            }
            (columns, Horizon::Column(horizon)) => Cow::Owned(key::join(
                columns.iter().chain([&horizon]).map(|&column| text(column)).collect::<Vec<_>>().into_iter(),
            )),
        }
    }

    /// What tells a forecast from the others of its series.
    pub(crate) fn about<C: Cells>(&self, cells: &C, row: usize) -> Option<Vec<u8>> {
        let cell = |&(column, is_time): &(usize, bool)| match cells.time(column, row) {
            Ok(Some(time)) if is_time => Cow::Owned(key::of_time(time)),
            _ => cells.text(column, row),
        };
        (!self.rest.is_empty()).then(|| key::join(self.rest.iter().map(cell).collect::<Vec<_>>().into_iter()))
    }

    /// True if a row is to be calibrated.
    pub(crate) fn is_meant<C: Cells>(&self, cells: &C, row: usize) -> bool {
        self.filter.iter().all(|(column, value)| *cells.text(*column, row) == value[..])
    }

    /// True if some rows may pass through.
    pub(crate) fn filters(&self) -> bool {
        !self.filter.is_empty()
    }

    pub(crate) fn group_labels<C: Cells>(&self, piece: &Piece<C>, row: usize) -> Vec<String> {
        self.groups
            .iter()
            .map(|&column| format!("{}={}", self.name(column), piece.shown(column, row)))
            .collect()
    }

    /// Turns lengths of time into the units of the table's times.
    pub(crate) fn measure<C: Cells>(&mut self, pieces: &[Piece<C>]) -> Result<()> {
        if self.lateness != Lateness::Times || self.memo.m5 {
            self.memo.lag = self.lag.and_then(|lag| lag.of_times(false)).unwrap_or(0.0);
            return Ok(());
        }
        let column = self.layout.made.or(self.layout.about);
        let first = pieces
            .iter()
            .find_map(|piece| (piece.cells.rows() > 0).then(|| piece.shown(column.unwrap_or(0), 0)));
        let Some(first) = first else { return Ok(()) };
        let are_dates = first.trim().parse::<f64>().is_err();
        let length = |wish: &str, span: Option<Span>| match span {
            None => Ok(None),
            Some(span) => span.of_times(are_dates).map(Some).ok_or_else(|| {
                let (kind, example) = if are_dates { ("dates", "7d") } else { ("numbers", "7") };
                let said = format!("{} is {span}", self.idiom.name(wish));
                Error::usage(format!("{said}, and the times are {kind}"), format!("write it as {example}"))
            }),
        };
        let (lag, step) = (length("lag", self.lag)?, length("step", self.step)?);
        let needs_step = self.layout.horizon.is_some()
            && (self.layout.made.is_none() || self.layout.about.is_none())
            && self.layout.known.is_none();
        if needs_step && are_dates && step.is_none() {
            let horizon = self.layout.horizon.map_or("", |column| self.name(column));
            return Err(Error::usage(
                format!("the column {horizon} counts steps, and nothing says how long one is"),
                format!(
                    "say so with {}; {} leaves {horizon} out",
                    self.idiom.say("step", "1d"),
                    self.idiom.say("horizon", "none")
                ),
            ));
        }
        self.memo.lag = lag.unwrap_or(0.0);
        self.step_length = step.unwrap_or(1.0);
        Ok(())
    }

    /// The times of a row.
    pub(crate) fn moments<C: Cells>(&self, piece: &Piece<C>, row: usize) -> Result<Moments> {
        let time = |column: usize| -> Result<Option<f64>> {
            let rule = match piece.cells.time(column, row) {
                Ok(time) if time.is_none_or(f64::is_finite) => return Ok(time),
                Ok(_) => "must be finite",
                Err(_) => "must be a number or a time such as 2026-11-16 or 2026-11-16T12:00:00",
            };
            Err(piece.cell_error(row, column, self.name(column), rule, "").into())
        };
        let needed = |column: usize| {
            let hint = "where outcomes are known at times, every forecast says when it was made";
            time(column)?.ok_or_else(|| {
                Error::from(piece.cell_error(row, column, self.name(column), "a time must be there", hint))
            })
        };
        let Layout { made, about, known, horizon, .. } = self.layout;
        if self.lateness != Lateness::Times {
            let order = self.order().and_then(|column| piece.cells.time(column, row).ok().flatten());
            return Ok(Moments { made: order, about: order, due: None });
        }
        let ahead = |column: usize| -> Result<f64> {
            let rule = "how far ahead must be a number";
            let number = piece.cells.number(column, row).ok().flatten().filter(|number| number.is_finite());
            let number = number
                .ok_or_else(|| Error::from(piece.cell_error(row, column, self.name(column), rule, "")))?;
            Ok(number * self.step_length)
        };
        let (made, about) = match (made, about, horizon) {
            (Some(made), Some(about), _) => {
                // What a forecast is about need be no time if its outcome says when it is known.
                let about = if known.is_some() {
                    piece.cells.time(about, row).ok().flatten()
                } else {
                    Some(needed(about)?)
                };
                (needed(made)?, about)
            }
            (Some(made), None, Some(horizon)) if known.is_none() => {
                let made = needed(made)?;
                (made, Some(made + ahead(horizon)?))
            }
            (Some(made), None, _) => (needed(made)?, None),
            (None, Some(about), Some(horizon)) => {
                let about = needed(about)?;
                (about - ahead(horizon)?, Some(about))
            }
            (None, ..) => return Err(truecast_fleet::Error::NoTime.into()),
        };
        let due = match known {
            Some(column) => time(column)?.map(|known| if self.memo.strict { known.next_up() } else { known }),
            None => about.map(|about| self.memo.due(about)),
        };
        Ok(Moments { made: Some(made), about, due })
    }

    /// One line: what was understood of times.
    fn times_said(&self) -> String {
        let name = |column: usize| self.name(column).to_owned();
        let Layout { made, about, known, horizon, .. } = self.layout;
        if self.memo.m5 {
            return "; made before the phase begins, outcome known on its day".to_owned();
        }
        let mut said = String::new();
        let steps = horizon.map_or(String::new(), &name);
        match (made, about) {
            (Some(made), _) => said.push_str(&format!("; made at {}", name(made))),
            (None, Some(about)) if self.lateness == Lateness::Times => {
                said.push_str(&format!("; made {steps} steps before {}", name(about)));
            }
            _ => {}
        }
        if let Some(about) = about {
            said.push_str(&format!("; about {}", name(about)));
        }
        let late = if self.memo.strict { " is over" } else { "" };
        said.push_str(&match (self.lateness, known, about) {
            (Lateness::Next, ..) => "; each outcome known before the next row".to_owned(),
            (Lateness::Rows(rows), ..) => {
                format!("; each outcome known {rows} {} later", if rows == 1 { "row" } else { "rows" })
            }
            (Lateness::Times, Some(known), _) => format!("; outcome known at {}", name(known)),
            (Lateness::Times, None, Some(about)) => match self.lag {
                Some(lag) => format!("; outcome known {lag} after {}{late}", name(about)),
                None => format!(
                    "; outcome known {} {}{late}",
                    if self.memo.strict { "once" } else { "at" },
                    name(about)
                ),
            },
            (Lateness::Times, None, None) => format!("; outcome known {steps} steps later"),
        });
        match self.horizon {
            Horizon::Pooled if self.layout.pooled => said.push_str("; all horizons together"),
            Horizon::Pooled => {}
            Horizon::Column(_) => said.push_str(&format!("; horizons by {steps}")),
            Horizon::Counted => said.push_str("; horizons counted from 1"),
        }
        said
    }

    /// One line: which columns were taken for what.
    pub(crate) fn said(&self) -> String {
        format!("{}{}", self.layout, self.times_said())
    }
}

impl Memo {
    /// From when on the outcome about this time is known.
    pub(crate) fn due(&self, about: f64) -> f64 {
        let due = about + self.lag;
        // A forecast that was made at the same time does not know it.
        if self.strict { due.next_up() } else { due }
    }

    /// How many cells a series' key has.
    pub(crate) fn key_cells(&self) -> usize {
        self.keys.len() + usize::from(self.horizon.is_some())
    }

    /// The names of all cells that tell a forecast: of its series, then its own, and which of them are times.
    pub(crate) fn identity(&self) -> Vec<(&str, bool)> {
        let keys = self.keys.iter().chain(&self.horizon).map(|name| (name.as_str(), false));
        keys.chain(self.rest.iter().map(|(name, time)| (name.as_str(), *time))).collect()
    }

    /// What a fleet noted, if it ever took rows of a table.
    pub(crate) fn of(fleet: &Fleet) -> Result<Option<Self>> {
        if fleet.note().is_empty() {
            return Ok(None);
        }
        let broken = |_| Error::usage("the state's note on columns cannot be read", "begin a new state");
        postcard::from_bytes(fleet.note()).map(Some).map_err(broken)
    }

    /// Notes it with the fleet.
    pub(crate) fn keep(&self, fleet: &mut Fleet) -> Result<()> {
        let refused =
            |error: postcard::Error| Error::usage(format!("the state cannot note its columns: {error}"), "");
        fleet.take_note(postcard::to_allocvec(self).map_err(refused)?);
        Ok(())
    }

    /// In words.
    pub(crate) fn words(&self) -> String {
        let names: Vec<&str> = self.identity().into_iter().map(|(name, _)| name).collect();
        let late = match (self.lag, self.strict) {
            (0.0, false) => String::new(),
            (lag, strict) => {
                format!(", outcomes {lag} later{}", if strict { " and once that is over" } else { "" })
            }
        };
        format!("{}{late}", if names.is_empty() { "nothing".to_owned() } else { names.join(", ") })
    }
}

/// When outcomes become known, by the columns that are there.
fn lateness(file: &str, layout: &Layout, request: &Request) -> Result<Lateness> {
    let idiom = request.wishes.idiom;
    let name = |column: usize| layout.names[column].as_str();
    let refused = |problem: String, hint: String| Err(DataError::file(file, problem, hint).into());
    let Layout { made, about, known, horizon, .. } = *layout;
    let made_by_horizon = about.is_some() && horizon.is_some() && !layout.pooled;
    let dated = made.is_some() || made_by_horizon || matches!(layout.form, Form::M5 { .. });
    let none = |wish: &str| idiom.say(wish, "none");
    if let (Some(column), false) = (known, dated) {
        let times = about.map_or_else(|| "COLUMN".to_owned(), |about| name(about).to_owned());
        return refused(
            format!(
                "the column {} says when outcomes are known, and nothing says when forecasts were made",
                name(column)
            ),
            format!(
                "name that column, as in {}; {} leaves {} out",
                idiom.say("made", &times),
                none("known"),
                name(column)
            ),
        );
    }
    if let (Some(column), false, false) = (horizon, dated, layout.pooled) {
        return refused(
            format!(
                "the column {} says how far ahead forecasts look, and nothing says when they were made, nor what they are about",
                name(column)
            ),
            format!(
                "name such a column with {} or {}; {} leaves {} out",
                idiom.name("made"),
                idiom.name("about"),
                none("horizon"),
                name(column)
            ),
        );
    }
    let told = known.or(about).is_some()
        || made_by_horizon
        || made.is_some() && horizon.is_some()
        || matches!(layout.form, Form::M5 { .. });
    let rows = request.delay.or(match request.lag {
        Some(Span::Rows(rows)) => Some(rows),
        _ => None,
    });
    if dated && told {
        if rows.is_some() {
            let column = made.or(about).map_or("id", name);
            let problem = format!("rows are counted where none says its times, and here {column} does");
            return refused(
                problem,
                format!("say how much later outcomes come with {}", idiom.say("lag", "7d")),
            );
        }
        if let (Some(column), Some(_)) = (known, request.lag) {
            let problem = format!(
                "{} and the column {} both say when outcomes are known",
                idiom.name("lag"),
                name(column)
            );
            return refused(problem, format!("leave it out, or the column with {}", none("known")));
        }
        return Ok(Lateness::Times);
    }
    if let Some(Span::Seconds(_) | Span::Units(_)) = request.lag {
        let problem = format!(
            "{} is a length of time, and nothing says when forecasts were made and what they are about",
            idiom.name("lag")
        );
        let hint = format!(
            "name such columns with {} and {}, or count rows with {}",
            idiom.name("made"),
            idiom.name("about"),
            idiom.say_number("delay", "3")
        );
        return refused(problem, hint);
    }
    Ok(match rows {
        None | Some(0) => Lateness::Next,
        Some(rows) => Lateness::Rows(rows),
    })
}
