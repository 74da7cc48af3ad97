//! The class `Fleet`: many series by key, a batch in one call, on all cores.

use std::sync::{Mutex, MutexGuard};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyType};
use truecast::AnyForecast;
use truecast_data::RowError;
use truecast_data::recognise::{Idiom, Wishes as Columned};
use truecast_events::{Outcomes, Piece, Replaced, Request, Taken};
use truecast_fleet::{Answer, Answers, Ask, Booked, Known, Lateness};

use crate::batch::Batch;
use crate::certificate;
use crate::errors::{Error, Result};
use crate::forecasts::AnyForecasts;
use crate::frame::{self, Desk, Frame};
use crate::held::Held;
use crate::keys::{Keys, label, labels};
use crate::kinds::Recalibrated;
use crate::markup;
use crate::numbers::{List, Numbers};
use crate::recalibrator::Recalibrator;
use crate::run::{self, Columns, Wanted};
use crate::scale::{Offer, Scale};
use crate::settings;
use crate::summary;

/// Many series with the same settings, each calibrated by itself, by key.
///
/// Series come into being with their first row. A batch is split by key and runs on all cores while other Python threads go on;
/// the result does not depend on the number of cores, nor on where one batch ends.
///
/// Parameters
/// ----------
/// method, trust, guard, half_life, seed, memory, prior, randomised, groups, thresholds
///     As of `Recalibrator`.
/// delay : int
///     How many more rows of its series come before an outcome is known.
/// timed : bool
///     Outcomes become known at times that rows say: `run` then takes `time` and `due`.
/// paper : int, optional
///     N of the paper's setting; see `Recalibrator.paper`.
///
/// Examples
/// --------
/// >>> import truecast as tc
/// >>> fleet = tc.Fleet()
/// >>> run = fleet.run(["a", "b", "a"], tc.Forecasts.gaussian([1.0, 7.0, 1.1], [0.5, 2.0, 0.5]), [1.2, 3.0, 0.4], coverage=0.8)
/// >>> run.lower.shape, fleet.keys
/// ((3,), ['a', 'b'])
#[pyclass(frozen, module = "truecast")]
pub(crate) struct Fleet {
    fleet: Mutex<truecast_fleet::Fleet>,
}

impl Fleet {
    fn around(fleet: truecast_fleet::Fleet) -> Self {
        Fleet { fleet: Mutex::new(fleet) }
    }

    fn lock(&self, py: Python<'_>) -> Result<MutexGuard<'_, truecast_fleet::Fleet>> {
        self.fleet.lock_py_attached(py).map_err(|_| Error::Poisoned)
    }
}

/// What has become of a frame: columns with numbers in place of their own, and where these stand (everywhere, if that is None); new columns; rows that
/// were left out; rows that broke a rule, and why.
type Changed<'py> = (
    Vec<(usize, Bound<'py, PyArray1<f64>>, Option<Bound<'py, PyArray1<bool>>>)>,
    Vec<usize>,
    Vec<(String, Bound<'py, PyArray1<f64>>)>,
    Vec<usize>,
    Refused,
);

/// Rows, and the exceptions that say what is wrong with them.
type Refused = Vec<(u64, Py<PyAny>)>;

/// Outcomes in a frame of their own, with the names of its columns.
type Given<'py> = Option<(PyRef<'py, Frame>, Vec<String>)>;

impl Fleet {
    /// Takes the rows of a frame. Either all or none, but for those that only the fleet can refuse; or, if rows may be left out, all that break no
    /// rule: then those that do are told.
    fn take(
        &self,
        py: Python<'_>,
        desk: &Desk,
        frame: &Frame,
        outcomes: Given<'_>,
        ask: &Ask,
        skip: bool,
    ) -> Result<(Taken, Refused)> {
        let (mut guard, mut desk) = (self.lock(py)?, desk.lock(py)?);
        let (fleet, desk) = (&mut *guard, &mut *desk);
        let outcomes = outcomes.map(|(frame, names)| (frame.clone(), names));
        let mut taken = py.detach(|| frame::take(desk, fleet, frame, outcomes, ask))?;
        let mut refused = std::mem::take(&mut taken.refused);
        refused.sort_by_key(|error| error.line);
        if !skip && !refused.is_empty() {
            // Nothing was taken if nothing came of it.
            return Err(match taken.changes.is_empty() {
                true => refused.swap_remove(0).into(),
                false => Error::RefusedRows(
                    refused.into_iter().map(|error| (error.line as usize, error.into())).collect(),
                ),
            });
        }
        let told = |error: RowError| (error.line, PyErr::from(Error::from(error)).into_value(py).into_any());
        Ok((taken, refused.into_iter().map(told).collect()))
    }
}

fn expect_length(what: &'static str, rows: usize, found: usize) -> Result<()> {
    if rows == found {
        Ok(())
    } else {
        Err(truecast::Error::LengthMismatch { what, left: rows, right: found }.into())
    }
}

#[pymethods]
impl Fleet {
    #[new]
    #[pyo3(signature = (method = "ledger", *, trust = true, guard = true, half_life = None, seed = 0, memory = true,
        prior = None, randomised = None, groups = 0, thresholds = None, delay = 0, timed = false, paper = None))]
    #[allow(clippy::too_many_arguments)]
    #[allow(clippy::fn_params_excessive_bools)]
    fn new(
        method: &str,
        trust: bool,
        guard: bool,
        half_life: Option<f64>,
        seed: u64,
        memory: bool,
        prior: Option<f64>,
        randomised: Option<bool>,
        groups: u8,
        thresholds: Option<Vec<f64>>,
        delay: u64,
        timed: bool,
        paper: Option<usize>,
    ) -> Result<Self> {
        let mut settings = settings::settings(
            method, trust, guard, half_life, seed, memory, prior, randomised, groups, thresholds,
        )?;
        settings.paper = paper;
        settings.lateness = match (timed, delay) {
            (true, _) => Lateness::Times,
            (false, 0) => Lateness::Next,
            (false, rows) => Lateness::Rows(rows),
        };
        Ok(Fleet::around(truecast_fleet::Fleet::new(settings)?))
    }

    /// The paper's setting; see `Recalibrator.paper`.
    #[staticmethod]
    #[pyo3(signature = (n = 20, *, method = "ledger", seed = 0))]
    fn paper(n: usize, method: &str, seed: u64) -> Result<Self> {
        Ok(Fleet::around(truecast_fleet::Fleet::new(settings::paper(n, method, seed)?)?))
    }

    /// Takes a batch: recalibrates every row with what its series knew before it, then learns its outcome.
    ///
    /// Parameters
    /// ----------
    /// keys : sequence of str or int
    ///     The series of each row. Fastest are those that number their texts, as a pandas `Categorical` and a dictionary array of PyArrow do, then arrays of
    ///     integers, then lists in which equal texts are the same object.
    /// forecasts : Forecasts or sequence of distributions
    /// y : array_like, optional
    ///     The outcomes; without them rows are forecast and teach nothing.
    /// coverage, q, mean, std, pit, crps
    ///     What to return, as of `Recalibrator.run`.
    /// groups : sequence, optional
    ///     The label, or the labels, of the groups that each row belongs to.
    /// time, due : array_like, optional
    ///     When each forecast was made, and when its outcome becomes known (a fleet with ``timed=True``).
    /// about : sequence of str, optional
    ///     What each forecast is about: those without an outcome then wait for it, and `resolve` brings it.
    /// missing : bool
    ///     Take NaN in `y` for an outcome that is not known.
    ///
    /// Returns
    /// -------
    /// Run
    ///
    /// Raises
    /// ------
    /// RefusedRowsError
    ///     If some rows were refused; it holds them with their reasons, and the answers of the others, which were taken.
    #[pyo3(signature = (keys, forecasts, y = None, *, coverage = None, q = None, mean = false, std = false, pit = false,
        crps = false, groups = None, time = None, due = None, about = None, missing = false))]
    #[allow(clippy::too_many_arguments)]
    #[allow(clippy::fn_params_excessive_bools)]
    fn run<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        forecasts: AnyForecasts,
        y: Option<List>,
        coverage: Option<Numbers<'py>>,
        q: Option<Numbers<'py>>,
        mean: bool,
        std: bool,
        pit: bool,
        crps: bool,
        groups: Option<&Bound<'py, PyAny>>,
        time: Option<List>,
        due: Option<List>,
        about: Option<&Bound<'py, PyAny>>,
        missing: bool,
    ) -> Result<Bound<'py, PyAny>> {
        let wanted = Wanted::new(coverage, q, mean, std, pit, crps)?;
        let AnyForecasts(forecasts) = forecasts;
        let rows = forecasts.len();
        let batch = Batch {
            keys: Keys::read(keys)?,
            outcomes: run::outcomes(y, rows, missing)?,
            forecasts,
            groups: groups.map(label_sets).transpose()?,
            time: time.map(|List(time)| time),
            due: due.map(|List(due)| due),
            about: about.map(labels).transpose()?,
        };
        expect_length(
            "forecasts and what they are about",
            rows,
            batch.about.as_ref().map_or(rows, Vec::len),
        )?;
        expect_length("forecasts and keys", rows, batch.keys.len())?;
        expect_length("forecasts and groups", rows, batch.groups.as_ref().map_or(rows, Vec::len))?;
        expect_length("forecasts and times", rows, batch.time.as_ref().map_or(rows, Vec::len))?;
        expect_length("forecasts and due times", rows, batch.due.as_ref().map_or(rows, Vec::len))?;
        let asked = Wishes::new(&wanted);
        let answers = {
            let mut guard = self.lock(py)?;
            let fleet = &mut *guard;
            py.detach(|| fleet.run(&batch, &asked.ask))
        };
        let (columns, refused) = asked.columns(answers, rows, &wanted);
        let result = columns.into_object(py, &wanted)?;
        if refused.is_empty() {
            return Ok(result);
        }
        let error = PyErr::from(Error::RefusedRows(refused));
        error.value(py).setattr("result", result)?;
        Err(error.into())
    }

    /// For `truecast.calibrate`: takes a frame's rows and says what becomes of them. Unless rows may be left out, a frame that breaks a rule changes nothing.
    #[pyo3(signature = (desk, frame, outcomes = None, *, skip = false))]
    fn _take<'py>(
        &self,
        py: Python<'py>,
        desk: &Desk,
        frame: &Frame,
        outcomes: Given<'py>,
        skip: bool,
    ) -> Result<Changed<'py>> {
        let (taken, refused) = self.take(py, desk, frame, outcomes, &Ask::numbers(Answer::Nothing), skip)?;
        let (mut replaced, mut dropped, mut added, mut left_out) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let width = desk.lock(py)?.layout().names.len();
        for mut changes in taken.changes {
            for column in 0..width {
                if changes.is_dropped(column) {
                    dropped.push(column);
                }
                match changes.replaced(column) {
                    Some(Replaced::All(values)) => {
                        replaced.push((column, PyArray1::from_vec(py, values), None));
                    }
                    Some(Replaced::Some(values)) => {
                        let mask = values.iter().map(Option::is_some).collect();
                        let values = values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect();
                        replaced.push((
                            column,
                            PyArray1::from_vec(py, values),
                            Some(PyArray1::from_vec(py, mask)),
                        ));
                    }
                    None => {}
                }
            }
            added.extend(
                changes.added().into_iter().map(|(name, values)| (name, PyArray1::from_vec(py, values))),
            );
            left_out.extend_from_slice(changes.left_out());
        }
        Ok((replaced, dropped, added, left_out, refused))
    }

    /// For `truecast.evaluate` and `truecast.compare`: takes a frame's rows and says how they were met.
    #[pyo3(signature = (desk, frame, outcomes = None, *, raw_only = false, skip = false))]
    fn _score<'py>(
        &self,
        py: Python<'py>,
        desk: &Desk,
        frame: &Frame,
        outcomes: Given<'py>,
        raw_only: bool,
        skip: bool,
    ) -> Result<(Bound<'py, PyDict>, Refused)> {
        let ask = Ask { scoreboards: true, raw_only, ..Ask::numbers(Answer::Nothing) };
        let (_, refused) = self.take(py, desk, frame, outcomes, &ask, skip)?;
        let (scoreboard, certificate) = {
            let fleet = self.lock(py)?;
            (fleet.scoreboard()?, fleet.certificate())
        };
        Ok((summary::dictionary(py, &scoreboard, certificate, raw_only)?, refused))
    }

    /// For `truecast.resolve`: brings a frame of outcomes to the forecasts that wait.
    #[pyo3(signature = (outcomes, names, *, outcome = None, revisions = "first"))]
    fn _resolve(
        &self,
        py: Python<'_>,
        outcomes: &Frame,
        names: Vec<String>,
        outcome: Option<String>,
        revisions: &str,
    ) -> Result<(u64, u64, u64)> {
        let file = "the outcomes".to_owned();
        let outcomes = Outcomes { pieces: vec![Piece::new(file.as_str(), outcomes.clone())], file, names };
        let wishes = Columned { outcome, idiom: Idiom::Keywords, ..Columned::default() };
        let request = Request { wishes, last_counts: revisions == "last", ..Request::default() };
        let mut fleet = self.lock(py)?;
        let counts =
            truecast_events::resolve(&mut fleet, &outcomes, &request, &Ask::numbers(Answer::Nothing))?;
        Ok((counts.booked, counts.revised, counts.unmatched))
    }

    /// Gives the calibrated forecast, which waits for its outcome: the same as a batch of one row. The same forecast given again gets the same answer, and
    /// another one about the same is refused.
    ///
    /// Parameters
    /// ----------
    /// key : str or int
    ///     The series.
    /// about : str or int
    ///     What the forecast is about: by this its outcome finds it.
    /// forecast : distribution or Point
    /// made : float, optional
    ///     When it was made (a fleet with ``timed=True``).
    ///
    /// Returns
    /// -------
    /// Recalibrated
    #[pyo3(signature = (key, about, forecast, *, made = None))]
    fn issue(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        about: &Bound<'_, PyAny>,
        forecast: Offer,
        made: Option<f64>,
    ) -> Result<Py<Recalibrated>> {
        let (key, about) = (label(key)?, label(about)?);
        let given = match forecast {
            Offer::Point(value) => truecast_fleet::Given::Point(value),
            Offer::Distribution(base) => truecast_fleet::Given::Distribution(base.to_any()),
        };
        let calibrated = self.lock(py)?.issue(key.as_bytes(), about.as_bytes(), made, given)?;
        Ok(Recalibrated::object(py, Held::from(AnyForecast::from(calibrated)))?)
    }

    /// Brings an outcome that is known now to every series in which a forecast about this waits.
    ///
    /// Parameters
    /// ----------
    /// about : str or int
    /// y : float
    /// key : str or int, optional
    ///     The one series that is meant.
    ///
    /// Returns
    /// -------
    /// int
    ///     How many forecasts waited for it.
    #[pyo3(signature = (about, y, *, key = None))]
    fn resolve(
        &self,
        py: Python<'_>,
        about: &Bound<'_, PyAny>,
        y: f64,
        key: Option<&Bound<'_, PyAny>>,
    ) -> Result<usize> {
        let (about, key) = (label(about)?, key.map(label).transpose()?);
        let mut fleet = self.lock(py)?;
        let Some(key) = key else { return Ok(fleet.resolve(about.as_bytes(), y)?) };
        let known = Known { about: about.as_bytes(), outcome: y, due: None, last_counts: false };
        let (booked, _) = fleet.book(key.as_bytes(), &known, 0, &Ask::numbers(Answer::Nothing))?;
        Ok(usize::from(booked == Booked::Matched))
    }

    /// Forgets forecasts that were made before this time and still wait; says how many.
    fn expire(&self, py: Python<'_>, before: f64) -> Result<usize> {
        Ok(self.lock(py)?.expire(before)?)
    }

    /// Forecasts that wait for their outcome.
    #[getter]
    fn open(&self, py: Python<'_>) -> Result<usize> {
        Ok(self.lock(py)?.series().map(|series| series.open().count()).sum())
    }

    /// The keys of all series, in the order of their first rows.
    #[getter]
    fn keys(&self, py: Python<'_>) -> Result<Vec<String>> {
        let fleet = self.lock(py)?;
        Ok(fleet.series().map(|series| String::from_utf8_lossy(series.key()).into_owned()).collect())
    }

    fn __len__(&self, py: Python<'_>) -> Result<usize> {
        Ok(self.lock(py)?.series().count())
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> Result<bool> {
        let key = label(key)?;
        Ok(self.lock(py)?.series().any(|series| series.key() == key.as_bytes()))
    }

    /// A copy of the recalibrator of one series.
    fn recalibrator(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> Result<Recalibrator> {
        let key = label(key)?;
        let fleet = self.lock(py)?;
        let found = fleet.series().find(|series| series.key() == key.as_bytes());
        match found {
            Some(series) => {
                let recalibrator = series.recalibrator().clone();
                let scale = Scale::with(*series.scale(), &recalibrator);
                Ok(Recalibrator::around(recalibrator, scale))
            }
            None => Err(pyo3::exceptions::PyKeyError::new_err(key).into()),
        }
    }

    /// Rows taken so far, over all series and all runs.
    #[getter]
    fn rows(&self, py: Python<'_>) -> Result<u64> {
        Ok(self.lock(py)?.series().map(truecast_fleet::Series::rows).sum())
    }

    /// Outcomes that were given and are not known yet to their series.
    #[getter]
    fn waiting(&self, py: Python<'_>) -> Result<usize> {
        Ok(self.lock(py)?.series().map(truecast_fleet::Series::waiting).sum())
    }

    /// The method's name.
    #[getter]
    fn method(&self, py: Python<'_>) -> Result<&'static str> {
        Ok(self.lock(py)?.settings().method.name())
    }

    /// One certificate over all series: potentials and regrets add up, calibration errors are those of the worst series.
    fn certificate<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let (found, method) = {
            let fleet = self.lock(py)?;
            (fleet.certificate(), fleet.settings().method)
        };
        certificate::object(py, found, method.name())
    }

    /// The state of all series: the bytes of ``truecast calibrate --state``, described in docs/formats.md.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        let bytes = self.lock(py)?.to_bytes()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Loads a saved state; anything damaged or inconsistent is refused. It goes on bit for bit.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Ok(Fleet::around(truecast_fleet::Fleet::from_bytes(bytes)?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let load = PyType::new::<Fleet>(slf.py()).getattr("from_bytes")?;
        Ok((load, (slf.get().to_bytes(slf.py())?,)))
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let fleet = self.lock(py)?;
        let rows: u64 = fleet.series().map(truecast_fleet::Series::rows).sum();
        Ok(format!(
            "Fleet(method='{}', series={}, rows={rows})",
            fleet.settings().method,
            fleet.series().count()
        ))
    }

    fn _repr_html_(&self, py: Python<'_>) -> Result<String> {
        let caption = self.__repr__(py)?;
        match self.certificate(py) {
            Ok(certificate) => Ok(certificate.call_method1("_repr_html_", (caption,))?.extract()?),
            Err(Error::NoCertificate(_)) => Ok(markup::table(&caption, &[])),
            Err(error) => Err(error),
        }
    }
}

/// What the fleet is asked, and how to read its answers.
struct Wishes {
    ask: Ask,
    /// How many intervals come first, each with its lower and its upper end.
    intervals: usize,
    moments: bool,
}

impl Wishes {
    fn new(wanted: &Wanted) -> Self {
        let (intervals, moments) = (&wanted.intervals.probits, wanted.mean || wanted.std);
        let ends = intervals.iter().flat_map(|&z| [z, -z]);
        let probits = ends.chain(wanted.quantiles.probits.iter().copied()).collect();
        let answer = if moments { Answer::MomentsProbits(probits) } else { Answer::Probits(probits) };
        let row_scores = wanted.pit || wanted.crps;
        let ask = Ask { row_scores, ..Ask::numbers(answer) };
        Wishes { ask, intervals: intervals.len(), moments }
    }

    fn columns(
        &self,
        answers: Answers<truecast_fleet::Error>,
        rows: usize,
        wanted: &Wanted,
    ) -> (Columns, Vec<(usize, Error)>) {
        let mut columns = Columns::with_room(rows, wanted);
        let width = self.ask.answer.width();
        if width == 2 && self.intervals == 1 {
            // Nothing but one interval, and millions of rows of it.
            let ends = answers.values.as_chunks::<2>().0;
            columns.lower.extend(ends.iter().map(|ends| ends[0]));
            columns.upper.extend(ends.iter().map(|ends| ends[1]));
        }
        for row in columns.lower.len()..rows {
            let mut values = &answers.values[row * width..(row + 1) * width];
            if self.moments {
                columns.mean.push(values[0]);
                columns.std.push(values[1]);
                values = &values[2..];
            }
            let (ends, quantiles) = values.split_at(2 * self.intervals);
            for pair in ends.chunks_exact(2) {
                columns.lower.push(pair[0]);
                columns.upper.push(pair[1]);
            }
            columns.quantiles.extend_from_slice(quantiles);
        }
        if wanted.pit || wanted.crps {
            columns.pit = vec![f64::NAN; rows];
            columns.crps = vec![f64::NAN; rows];
            for scores in answers.scores {
                columns.pit[scores.row] = scores.pit[1];
                columns.crps[scores.row] = scores.crps[1];
            }
        }
        let refused = answers.refused.into_iter().map(|(row, error)| (row, Error::from(error)));
        (columns, refused.collect())
    }
}

/// For each row a label, several, or None.
fn label_sets(given: &Bound<'_, PyAny>) -> Result<Vec<Vec<String>>> {
    let given = if given.hasattr("tolist")? { given.call_method0("tolist")? } else { given.clone() };
    let set = |item: &Bound<'_, PyAny>| -> Result<Vec<String>> {
        if item.is_none() {
            return Ok(Vec::new());
        }
        match label(item) {
            Ok(one) => Ok(vec![one]),
            Err(_) => labels(item),
        }
    };
    given.try_iter()?.map(|item| set(&item?)).collect()
}
