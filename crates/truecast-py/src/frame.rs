//! Frames as cells, and the desk that knows what their columns mean: convert, call, convert.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard};

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use truecast_data::recognise::{Idiom, Wishes};
use truecast_data::table::{NotANumber, number_of, time_of};
use truecast_events::{Ahead, Cells, Numbers, Outcomes, Piece, Request, Span};
use truecast_fleet::{Ask, Fleet, Lateness};

use crate::errors::{Error, Result};

/// Numbers of a column.
type Real<'py> = PyReadonlyArray1<'py, f64>;
/// A column of texts: for each row which of the texts, −1 for none.
type Coded<'py> = (PyReadonlyArray1<'py, i64>, Vec<String>);

/// A column in one form or several. Numbers are copied: whoever holds the frame may write to it while others compute.
#[derive(Debug, Default, Clone)]
struct Column {
    numbers: Option<Vec<f64>>,
    /// Dates and instants in seconds.
    times: Option<Vec<f64>>,
    texts: Option<(Vec<i64>, Vec<String>)>,
}

impl Column {
    fn word(&self, row: usize) -> Option<&str> {
        let (codes, texts) = self.texts.as_ref()?;
        Some(usize::try_from(codes[row]).ok().and_then(|code| texts.get(code)).map_or("", String::as_str))
    }
}

/// Some columns of a frame, by their numbers.
#[derive(Debug, Clone)]
#[pyclass(frozen, module = "truecast._core", name = "_Frame")]
pub(crate) struct Frame {
    rows: usize,
    columns: Vec<Column>,
}

#[pymethods]
impl Frame {
    #[new]
    #[allow(clippy::type_complexity)]
    fn new<'py>(
        rows: usize,
        columns: Vec<(usize, Option<Real<'py>>, Option<Real<'py>>, Option<Coded<'py>>)>,
    ) -> Self {
        let real = |column: Real<'py>| column.as_array().iter().copied().collect::<Vec<f64>>();
        let width = columns.iter().map(|(at, ..)| at + 1).max().unwrap_or(0);
        let mut frame = Frame { rows, columns: vec![Column::default(); width] };
        for (at, numbers, times, texts) in columns {
            let texts = texts.map(|(codes, texts)| (codes.as_array().iter().copied().collect(), texts));
            frame.columns[at] = Column { numbers: numbers.map(real), times: times.map(real), texts };
        }
        frame
    }
}

impl Cells for Frame {
    fn rows(&self) -> usize {
        self.rows
    }

    fn place(&self, row: usize) -> u64 {
        row as u64
    }

    #[inline]
    fn number(&self, column: usize, row: usize) -> Result<Option<f64>, NotANumber> {
        let Some(column) = self.columns.get(column) else { return Ok(None) };
        match (&column.numbers, column.word(row)) {
            (Some(numbers), _) => Ok(Some(numbers[row]).filter(|value| !value.is_nan())),
            (None, Some(word)) => number_of(word.as_bytes()),
            (None, None) => Err(NotANumber),
        }
    }

    fn time(&self, column: usize, row: usize) -> Result<Option<f64>, NotANumber> {
        let Some(known) = self.columns.get(column) else { return Ok(None) };
        match (&known.times, &known.numbers, known.word(row)) {
            (Some(times), ..) | (None, Some(times), _) => {
                Ok(Some(times[row]).filter(|value| !value.is_nan()))
            }
            (None, None, Some(word)) => match number_of(word.as_bytes()) {
                Ok(number) => Ok(number),
                Err(error) => time_of(word.as_bytes()).map(Some).ok_or(error),
            },
            (None, None, None) => Err(NotANumber),
        }
    }

    fn text(&self, column: usize, row: usize) -> Cow<'_, [u8]> {
        let Some(column) = self.columns.get(column) else { return Cow::Borrowed(b"") };
        let shown = |values: &[f64]| match values[row] {
            value if value.is_nan() => String::new(),
            value => value.to_string(),
        };
        match (column.word(row), &column.numbers, &column.times) {
            (Some(word), ..) => Cow::Borrowed(word.as_bytes()),
            (None, Some(values), _) | (None, None, Some(values)) => Cow::Owned(shown(values).into_bytes()),
            (None, None, None) => Cow::Borrowed(b""),
        }
    }
}

/// Knows what the columns of a frame mean.
#[derive(Debug)]
#[pyclass(frozen, module = "truecast._core", name = "_Desk")]
pub(crate) struct Desk {
    desk: Mutex<truecast_events::Desk>,
}

/// Brings outcomes, and takes a frame's rows.
pub(crate) fn take(
    desk: &mut truecast_events::Desk,
    fleet: &mut Fleet,
    frame: &Frame,
    outcomes: Option<(Frame, Vec<String>)>,
    ask: &Ask,
) -> Result<truecast_events::Taken> {
    if fleet.settings().lateness != desk.lateness() {
        let (theirs, here) = (fleet.settings().lateness, desk.lateness());
        let problem = format!("outcomes of this frame are known {here}, and the fleet takes them {theirs}");
        let hint = match here {
            Lateness::Times => "make it with Fleet(timed=True)".to_owned(),
            Lateness::Next => "make it without timed and delay".to_owned(),
            Lateness::Rows(rows) => format!("make it with Fleet(delay={rows})"),
        };
        return Err(Error::Usage { problem, hint });
    }
    if let Some((frame, names)) = outcomes {
        let pieces = vec![Piece::new("the outcomes", frame)];
        desk.bring(&mut [fleet], &Outcomes { file: "the outcomes".to_owned(), names, pieces }, ask)?;
    }
    let ahead: Ahead = desk.ahead();
    let piece =
        Piece { file: "the frame".into(), numbers: Numbers::read(frame, &ahead), cells: frame.clone() };
    let taken = desk.take(&mut [fleet], &[piece], ask, &mut || true)?;
    desk.close(fleet)?;
    Ok(taken)
}

impl Desk {
    pub(crate) fn lock(&self, py: Python<'_>) -> Result<MutexGuard<'_, truecast_events::Desk>> {
        self.desk.lock_py_attached(py).map_err(|_| Error::Poisoned)
    }
}

#[pymethods]
impl Desk {
    /// Finds out what columns are by their names; what is not None was said.
    #[new]
    #[pyo3(signature = (names, *, form = None, outcome = None, key = None, made = None, about = None, known = None, horizon = None,
        mean = None, std = None, point = None, model = None, interval_width = None, lag = None, step = None, delay = None,
        groups = Vec::new(), only = Vec::new(), revisions = "first", replace = false, keep = false, skip = false,
        quantiles = Vec::new(), intervals = Vec::new(), scores = false, bounds = None))]
    #[allow(clippy::too_many_arguments)]
    #[allow(clippy::fn_params_excessive_bools)]
    fn new(
        names: Vec<String>,
        form: Option<&str>,
        outcome: Option<String>,
        key: Option<Vec<String>>,
        made: Option<String>,
        about: Option<String>,
        known: Option<String>,
        horizon: Option<String>,
        mean: Option<String>,
        std: Option<String>,
        point: Option<String>,
        model: Option<String>,
        interval_width: Option<f64>,
        lag: Option<&str>,
        step: Option<&str>,
        delay: Option<u64>,
        groups: Vec<String>,
        only: Vec<(String, String)>,
        revisions: &str,
        replace: bool,
        keep: bool,
        skip: bool,
        quantiles: Vec<f64>,
        intervals: Vec<f64>,
        scores: bool,
        bounds: Option<(Option<f64>, Option<f64>)>,
    ) -> Result<Self> {
        let wrong = |problem: String| Error::Usage { problem, hint: String::new() };
        let form = form.map(|name| name.parse().map_err(wrong)).transpose()?;
        let span = |text: Option<&str>| text.map(|text| text.parse::<Span>().map_err(wrong)).transpose();
        let (lag, step) = (span(lag)?, span(step)?);
        if !["first", "last"].contains(&revisions) {
            return Err(wrong(format!("revisions is \"first\" or \"last\", not {revisions:?}")));
        }
        let ends = |(low, high): (Option<f64>, Option<f64>)| {
            [low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)]
        };
        let bounds = bounds.map(ends);
        if bounds.is_some_and(|[low, high]| low.is_nan() || high.is_nan() || low >= high) {
            return Err(wrong("bounds are a lower and an upper one, either of which may be None".to_owned()));
        }
        let idiom = Idiom::Keywords;
        let wishes = Wishes {
            outcome,
            keys: key,
            made,
            about,
            known,
            horizon,
            form,
            mean,
            std,
            point,
            model,
            interval_width,
            idiom,
        };
        let request = Request {
            wishes,
            lag,
            step,
            delay,
            groups,
            filter: only,
            last_counts: revisions == "last",
            replace,
            keep,
            quantiles,
            intervals,
            scores,
            bounds,
            skip,
            all_or_nothing: !skip,
            ..Request::default()
        };
        Ok(Desk { desk: Mutex::new(truecast_events::Desk::open("the frame", &names, request)?) })
    }

    /// The columns that are read: as numbers, as times, as texts.
    #[getter]
    fn columns(&self, py: Python<'_>) -> Result<(Vec<usize>, Vec<usize>, Vec<usize>)> {
        let [numbers, times, texts] = self.lock(py)?.read_columns();
        Ok((numbers, times, texts))
    }

    /// The columns that calibrated numbers take the place of.
    #[getter]
    fn forecasts(&self, py: Python<'_>) -> Result<Vec<usize>> {
        Ok(self.lock(py)?.layout().form.columns())
    }

    /// True if outcomes are known at times, and how many rows late they are if not.
    #[getter]
    fn lateness(&self, py: Python<'_>) -> Result<(bool, u64)> {
        Ok(match self.lock(py)?.lateness() {
            Lateness::Times => (true, 0),
            Lateness::Next => (false, 0),
            Lateness::Rows(rows) => (false, rows),
        })
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        Ok(self.lock(py)?.said())
    }
}
