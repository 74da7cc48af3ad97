//! The class `Fleet`: many series by key, a batch in one call, on all cores.

use std::sync::{Mutex, MutexGuard};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyType};
use truecast_fleet::{Answer, Answers, Ask, Lateness, RowScores};

use crate::batch::Batch;
use crate::certificate;
use crate::errors::{Error, Result};
use crate::forecasts::AnyForecasts;
use crate::keys::{Keys, label, labels};
use crate::markup;
use crate::numbers::{List, Numbers};
use crate::recalibrator::Recalibrator;
use crate::run::{self, Columns, Wanted};
use crate::scale::Scale;
use crate::settings;
use crate::summary;
use crate::table::{Asked, Table};

/// Many series with the same settings, each calibrated by itself, by key.
///
/// Series come into being with their first row. A batch is split by key and runs on all cores while other Python threads go on;
/// the result does not depend on the number of cores, nor on where one batch ends.
///
/// Parameters
/// ----------
/// method, stop_loss, guard, experts, lags, half_life, seed, prior, randomised, groups, thresholds, bounds
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

impl Fleet {
    /// Takes the rows of a frame. Either all or none, but for those that only the fleet can refuse; or, if rows may be left out, all that break no
    /// rule: then those that do are told, and the rows of the frame that are without an answer.
    fn take(
        &self,
        py: Python<'_>,
        table: &Table,
        ask: &Ask,
        skip: bool,
    ) -> Result<(Answers<Error>, LeftOut)> {
        let mut guard = self.lock(py)?;
        let fleet = &mut *guard;
        let timed = fleet.settings().lateness == Lateness::Times;
        let rows = Asked { table, timed };
        let mut answers = py.detach(|| {
            if !skip {
                table.check(timed && !ask.raw_only)?;
            }
            Ok::<_, Error>(fleet.run(&rows, ask))
        })?;
        let refused: Vec<_> = answers.refused.drain(..).collect();
        if !skip {
            let refused: Vec<_> = refused.into_iter().map(|(at, error)| (rows.row(at), error)).collect();
            return match refused.is_empty() {
                true => Ok((answers, LeftOut::default())),
                false => Err(Error::RefusedRows(refused)),
            };
        }
        let mut errors = table.refused();
        let mut left_out: Vec<usize> = errors.iter().map(|&(row, _)| row).collect();
        for (at, error) in refused {
            left_out.extend(table.rows_of(at));
            errors.push((rows.row(at), error));
        }
        left_out.sort_unstable();
        left_out.dedup();
        errors.sort_by_key(|&(row, _)| row);
        let told = |(row, error)| (row, PyErr::from(error).into_value(py).into_any());
        Ok((answers, LeftOut { rows: left_out, refused: errors.into_iter().map(told).collect() }))
    }
}

/// Rows, and the exceptions that say what is wrong with them.
type Refused = Vec<(usize, Py<PyAny>)>;

/// What a frame has lost.
#[derive(Debug, Default)]
struct LeftOut {
    rows: Vec<usize>,
    /// For each row or forecast that broke a rule its row, and why.
    refused: Refused,
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
    #[pyo3(signature = (method = "experts", *, stop_loss = 0.005, guard = None, experts = None, lags = true,
        half_life = None, seed = 0, prior = None, randomised = None, groups = 0, thresholds = None, bounds = None, delay = 0, timed = false, paper = None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        method: &str,
        stop_loss: Option<f64>,
        guard: Option<&str>,
        experts: Option<Vec<String>>,
        lags: bool,
        half_life: Option<f64>,
        seed: u64,
        prior: Option<f64>,
        randomised: Option<bool>,
        groups: u8,
        thresholds: Option<Vec<f64>>,
        bounds: Option<(Option<f64>, Option<f64>)>,
        delay: u64,
        timed: bool,
        paper: Option<usize>,
    ) -> Result<Self> {
        let mut settings = settings::settings(
            method, stop_loss, guard, experts, lags, half_life, seed, prior, randomised, groups, thresholds, bounds,
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
    #[pyo3(signature = (n = 20, *, method = "experts", seed = 0))]
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
        crps = false, groups = None, time = None, due = None, missing = false))]
    #[allow(clippy::too_many_arguments)]
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
        };
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

    /// For `truecast.calibrate`: takes a frame's rows, and answers with the columns that take the forecast's place or with the
    /// quantiles asked for, with the scores of each row before and after, with the rows that were left out and with why. Unless rows may
    /// be left out, a frame that breaks a rule changes nothing.
    #[pyo3(signature = (table, *, q = None, scores = false, skip = false))]
    #[allow(clippy::type_complexity)]
    fn _take<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        q: Option<Vec<f64>>,
        scores: bool,
        skip: bool,
    ) -> Result<(Vec<Bound<'py, PyArray1<f64>>>, Vec<Bound<'py, PyArray1<f64>>>, Vec<usize>, Refused)> {
        let answer = q.map_or_else(|| table.answer(), Answer::Quantiles);
        let ask = Ask { answer, row_scores: scores, scoreboards: false, fan: 0, raw_only: false };
        let (answers, left_out) = self.take(py, table, &ask, skip)?;
        let columns = table.columns(&ask.answer, &answers.values);
        let mut scored = Vec::new();
        if scores {
            let each: [fn(&RowScores) -> f64; 4] =
                [|row| row.pit[0], |row| row.pit[1], |row| row.crps[0], |row| row.crps[1]];
            for score in each {
                let mut cells = vec![f64::NAN; table.rows()];
                answers.scores.iter().for_each(|row| cells[row.row] = score(row));
                scored.push(cells);
            }
        }
        let arrays =
            |columns: Vec<Vec<f64>>| columns.into_iter().map(|c| PyArray1::from_vec(py, c)).collect();
        Ok((arrays(columns), arrays(scored), left_out.rows, left_out.refused))
    }

    /// For `truecast.evaluate` and `truecast.compare`: takes a frame's rows and says how they were met.
    #[pyo3(signature = (table, *, raw_only = false, skip = false))]
    fn _score<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        raw_only: bool,
        skip: bool,
    ) -> Result<(Bound<'py, PyDict>, Refused)> {
        let ask = Ask { answer: Answer::Nothing, row_scores: false, scoreboards: true, fan: 0, raw_only };
        let (_, left_out) = self.take(py, table, &ask, skip)?;
        let (scoreboard, certificate) = {
            let fleet = self.lock(py)?;
            (fleet.scoreboard()?, fleet.certificate())
        };
        Ok((summary::dictionary(py, &scoreboard, certificate, raw_only)?, left_out.refused))
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
        let ask = Ask { answer, row_scores, scoreboards: false, fan: 0, raw_only: false };
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
