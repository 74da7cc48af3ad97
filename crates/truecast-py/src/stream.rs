//! The class `Stream`: issue a forecast now, bring its outcome later.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyType};
use truecast::{AnyForecast, Groups, Recalibrated as CoreRecalibrated, Recalibrator as _, Ticket};

use crate::certificate;
use crate::errors::{Error, Result};
use crate::held::Held;
use crate::kinds::Recalibrated;
use crate::markup;
use crate::numbers::List;
use crate::recalibrator::Recalibrator;
use crate::scale::{self, CoreStream, Offer, Scale};
use crate::settings::{self, GroupSet};

/// Issue a forecast now, bring its outcome later: in any order, in batches, or never.
///
/// `issue` keeps what was announced under a ticket, a number that counts up from 0; `resolve` books the outcome against exactly that.
/// Any thread may call at any time.
///
/// Parameters
/// ----------
/// method, stop_loss, guard, experts, lags, half_life, seed, prior, randomised, groups, thresholds, bounds
///     As of `Recalibrator`.
///
/// Examples
/// --------
/// >>> import truecast as tc
/// >>> stream = tc.Stream()
/// >>> monday, calibrated = stream.issue(tc.Gaussian(20.0, 2.0))
/// >>> tuesday, _ = stream.issue(tc.Gaussian(21.0, 2.5))
/// >>> stream.resolve(tuesday, 24.5)
/// >>> stream.pending
/// [0]
/// >>> stream.expire(monday)
#[pyclass(frozen, module = "truecast")]
pub(crate) struct Stream {
    state: Mutex<State>,
}

struct State {
    stream: CoreStream,
    /// What was learned from point forecasts.
    scale: Scale,
    /// The points of pending tickets, whose outcomes the scale learns from.
    points: BTreeMap<u64, f64>,
}

impl Stream {
    fn fresh(stream: CoreStream) -> Self {
        let scale = Scale::new(stream.recalibrator());
        Stream { state: Mutex::new(State { stream, scale, points: BTreeMap::new() }) }
    }

    fn lock(&self, py: Python<'_>) -> Result<MutexGuard<'_, State>> {
        self.state.lock_py_attached(py).map_err(|_| Error::Poisoned)
    }
}

/// The object for a pending forecast.
fn object(
    py: Python<'_>,
    calibrated: &CoreRecalibrated<&AnyForecast, &truecast::recalibrate::Map>,
) -> Result<Py<Recalibrated>> {
    let held = Held::from(AnyForecast::from(calibrated.to_owned()));
    Ok(Recalibrated::object(py, held)?)
}

#[pymethods]
impl Stream {
    #[new]
    #[pyo3(signature = (method = "experts", *, stop_loss = 0.005, guard = None, experts = None, lags = true,
        half_life = None, seed = 0, prior = None, randomised = None, groups = 0, thresholds = None, bounds = None))]
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
    ) -> Result<Self> {
        let settings = settings::settings(
            method, stop_loss, guard, experts, lags, half_life, seed, prior, randomised, groups, thresholds,
            bounds,
        )?;
        Ok(Stream::fresh(CoreStream::new(settings.build(b"")?)))
    }

    /// The paper's setting; see `Recalibrator.paper`.
    #[staticmethod]
    #[pyo3(signature = (n = 20, *, method = "experts", seed = 0))]
    fn paper(n: usize, method: &str, seed: u64) -> Result<Self> {
        Ok(Stream::fresh(CoreStream::new(settings::paper(n, method, seed)?.build(b"")?)))
    }

    /// Gives a ticket for the outcome, and the calibrated forecast.
    ///
    /// Parameters
    /// ----------
    /// forecast : distribution or Point
    ///     A point stands for a normal distribution with the scale learned from the errors of points so far.
    /// groups : int or sequence of int, optional
    ///
    /// Returns
    /// -------
    /// (ticket, calibrated) : int, Recalibrated
    #[pyo3(signature = (forecast, *, groups = None))]
    fn issue(
        &self,
        py: Python<'_>,
        forecast: Offer,
        groups: Option<GroupSet>,
    ) -> Result<(u64, Py<Recalibrated>)> {
        let groups = groups.map_or(Groups::NONE, |GroupSet(groups)| groups);
        let (ticket, base, map) = {
            let mut state = self.lock(py)?;
            let State { stream, scale, points } = &mut *state;
            let (base, point) = scale.understand(forecast)?;
            let (ticket, calibrated) = stream.issue_in(base.to_any(), groups)?;
            points.extend(point.map(|point| (ticket.number(), point)));
            (ticket, base, calibrated.map().clone())
        };
        Ok((ticket.number(), Recalibrated::object(py, Held::Calibrated { base, map })?))
    }

    /// Brings the outcome of an earlier forecast. An outcome that is refused leaves the ticket pending.
    fn resolve(&self, py: Python<'_>, ticket: u64, y: f64) -> Result<()> {
        let mut state = self.lock(py)?;
        let State { stream, scale, points } = &mut *state;
        // All or nothing: the scale moves only if the outcome was booked.
        let learned = scale.after(points.get(&ticket).copied(), y)?;
        stream.resolve(Ticket::from_number(ticket), y)?;
        *scale = learned;
        points.remove(&ticket);
        Ok(())
    }

    /// Brings several outcomes, in the order given; if one is refused, none is booked.
    ///
    /// Parameters
    /// ----------
    /// tickets : sequence of int
    /// y : array_like
    fn resolve_all(&self, py: Python<'_>, tickets: Vec<u64>, y: List) -> Result<()> {
        if tickets.len() != y.0.len() {
            let what = "tickets and outcomes";
            return Err(
                truecast::Error::LengthMismatch { what, left: tickets.len(), right: y.0.len() }.into()
            );
        }
        let outcomes: Vec<_> = tickets.into_iter().map(Ticket::from_number).zip(y.0).collect();
        let mut state = self.lock(py)?;
        let State { stream, scale, points } = &mut *state;
        let mut learned = *scale;
        for (ticket, y) in &outcomes {
            learned = learned.after(points.get(&ticket.number()).copied(), *y)?;
        }
        py.detach(|| stream.resolve_all(&outcomes))?;
        *scale = learned;
        for (ticket, _) in &outcomes {
            points.remove(&ticket.number());
        }
        Ok(())
    }

    /// Forgets a forecast whose outcome will never come. It changes nothing else.
    fn expire(&self, py: Python<'_>, ticket: u64) -> Result<()> {
        let mut state = self.lock(py)?;
        state.stream.expire(Ticket::from_number(ticket))?;
        state.points.remove(&ticket);
        Ok(())
    }

    /// The calibrated forecast of a pending ticket, as it was issued.
    fn forecast(&self, py: Python<'_>, ticket: u64) -> Result<Py<Recalibrated>> {
        let state = self.lock(py)?;
        object(py, &state.stream.forecast(Ticket::from_number(ticket))?)
    }

    /// The tickets that wait for an outcome, oldest first.
    #[getter]
    fn pending(&self, py: Python<'_>) -> Result<Vec<u64>> {
        Ok(self.lock(py)?.stream.pending().map(Ticket::number).collect())
    }

    /// How many forecasts were issued, pending ones included.
    #[getter]
    fn issued(&self, py: Python<'_>) -> Result<u64> {
        Ok(self.lock(py)?.stream.issued())
    }

    /// Outcomes learned from so far.
    #[getter]
    fn steps(&self, py: Python<'_>) -> Result<u64> {
        Ok(self.lock(py)?.stream.recalibrator().steps())
    }

    /// The method's name.
    #[getter]
    fn method(&self, py: Python<'_>) -> Result<&'static str> {
        Ok(self.lock(py)?.stream.recalibrator().method().name())
    }

    /// A copy of the recalibrator as it is now.
    #[getter]
    fn recalibrator(&self, py: Python<'_>) -> Result<Recalibrator> {
        let state = self.lock(py)?;
        Ok(Recalibrator::around(state.stream.recalibrator().clone(), state.scale))
    }

    /// What was promised and what was kept; see `Recalibrator.certificate`.
    fn certificate<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let (found, method) = {
            let state = self.lock(py)?;
            (state.stream.recalibrator().certificate(), state.stream.recalibrator().method())
        };
        certificate::object(py, Some(found), method.name())
    }

    /// The state with its pending forecasts: the bytes that Rust writes, and with scale and points around them if it was given points.
    /// Both are described in docs/formats.md.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        let bytes = {
            let state = self.lock(py)?;
            scale::save(&state.stream, &state.scale, &state.points)?
        };
        Ok(PyBytes::new(py, &bytes))
    }

    /// Loads a saved state; anything damaged or inconsistent is refused. It goes on bit for bit.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (stream, scale, points) = scale::load(bytes)?;
        Ok(Stream { state: Mutex::new(State { stream, scale, points }) })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let load = PyType::new::<Stream>(slf.py()).getattr("from_bytes")?;
        Ok((load, (slf.get().to_bytes(slf.py())?,)))
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let state = self.lock(py)?;
        let stream = &state.stream;
        let (settings, steps) = (settings::describe(stream.recalibrator()), stream.recalibrator().steps());
        Ok(format!("Stream({settings}, steps={steps}, pending={})", stream.pending().count()))
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
