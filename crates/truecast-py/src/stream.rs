//! The class `Stream`: issue a forecast now, bring its outcome later.

use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyType};
use truecast::recalibrate::AnyRecalibrator;
use truecast::{AnyForecast, Groups, Recalibrated as CoreRecalibrated, Recalibrator as _, Ticket};

use crate::certificate;
use crate::distribution::Like;
use crate::errors::{Error, Result};
use crate::held::Held;
use crate::kinds::Recalibrated;
use crate::markup;
use crate::numbers::List;
use crate::recalibrator::{self, Recalibrator};
use crate::settings::{self, GroupSet};

type CoreStream = truecast::Stream<AnyRecalibrator, AnyForecast>;

/// Issue a forecast now, bring its outcome later: in any order, in batches, or never.
///
/// `issue` keeps what was announced under a ticket, a number that counts up from 0; `resolve` books the outcome against exactly that.
/// Any thread may call at any time.
///
/// Parameters
/// ----------
/// method, trust, guard, half_life, seed, memory, prior, randomised, groups, thresholds
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
    stream: Mutex<CoreStream>,
}

impl Stream {
    fn around(stream: CoreStream) -> Self {
        Stream { stream: Mutex::new(stream) }
    }

    fn lock(&self, py: Python<'_>) -> Result<MutexGuard<'_, CoreStream>> {
        self.stream.lock_py_attached(py).map_err(|_| Error::Poisoned)
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
    #[pyo3(signature = (method = "ledger", *, trust = true, guard = true, half_life = None, seed = 0, memory = true,
        prior = None, randomised = None, groups = 0, thresholds = None))]
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
    ) -> Result<Self> {
        let settings = settings::settings(
            method, trust, guard, half_life, seed, memory, prior, randomised, groups, thresholds,
        )?;
        Ok(Stream::around(CoreStream::new(settings.build(b"")?)))
    }

    /// The paper's setting; see `Recalibrator.paper`.
    #[staticmethod]
    #[pyo3(signature = (n = 20, *, method = "ledger", seed = 0))]
    fn paper(n: usize, method: &str, seed: u64) -> Result<Self> {
        Ok(Stream::around(CoreStream::new(settings::paper(n, method, seed)?.build(b"")?)))
    }

    /// Gives a ticket for the outcome, and the calibrated forecast.
    ///
    /// Parameters
    /// ----------
    /// forecast : distribution
    /// groups : int or sequence of int, optional
    ///
    /// Returns
    /// -------
    /// (ticket, calibrated) : int, Recalibrated
    #[pyo3(signature = (forecast, *, groups = None))]
    fn issue(
        &self,
        py: Python<'_>,
        forecast: Like,
        groups: Option<GroupSet>,
    ) -> Result<(u64, Py<Recalibrated>)> {
        let Like(base) = forecast;
        let groups = groups.map_or(Groups::NONE, |GroupSet(groups)| groups);
        let (ticket, map) = {
            let mut stream = self.lock(py)?;
            let (ticket, calibrated) = stream.issue_in(base.to_any(), groups)?;
            (ticket, calibrated.map().clone())
        };
        Ok((ticket.number(), Recalibrated::object(py, Held::Calibrated { base, map })?))
    }

    /// Brings the outcome of an earlier forecast. An outcome that is refused leaves the ticket pending.
    fn resolve(&self, py: Python<'_>, ticket: u64, y: f64) -> Result<()> {
        self.lock(py)?.resolve(Ticket::from_number(ticket), y)?;
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
        let mut stream = self.lock(py)?;
        let stream = &mut *stream;
        py.detach(|| stream.resolve_all(&outcomes))?;
        Ok(())
    }

    /// Forgets a forecast whose outcome will never come. It changes nothing else.
    fn expire(&self, py: Python<'_>, ticket: u64) -> Result<()> {
        Ok(self.lock(py)?.expire(Ticket::from_number(ticket))?)
    }

    /// The calibrated forecast of a pending ticket, as it was issued.
    fn forecast(&self, py: Python<'_>, ticket: u64) -> Result<Py<Recalibrated>> {
        let stream = self.lock(py)?;
        object(py, &stream.forecast(Ticket::from_number(ticket))?)
    }

    /// The tickets that wait for an outcome, oldest first.
    #[getter]
    fn pending(&self, py: Python<'_>) -> Result<Vec<u64>> {
        Ok(self.lock(py)?.pending().map(Ticket::number).collect())
    }

    /// How many forecasts were issued, pending ones included.
    #[getter]
    fn issued(&self, py: Python<'_>) -> Result<u64> {
        Ok(self.lock(py)?.issued())
    }

    /// Outcomes learned from so far.
    #[getter]
    fn steps(&self, py: Python<'_>) -> Result<u64> {
        Ok(self.lock(py)?.recalibrator().steps())
    }

    /// The method's name.
    #[getter]
    fn method(&self, py: Python<'_>) -> Result<&'static str> {
        Ok(self.lock(py)?.recalibrator().method().name())
    }

    /// A copy of the recalibrator as it is now.
    #[getter]
    fn recalibrator(&self, py: Python<'_>) -> Result<Recalibrator> {
        Ok(Recalibrator::around(self.lock(py)?.recalibrator().clone()))
    }

    /// What was promised and what was kept; see `Recalibrator.certificate`.
    fn certificate<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let (found, method) = {
            let stream = self.lock(py)?;
            (stream.recalibrator().certificate(), stream.recalibrator().method())
        };
        certificate::object(py, found, method.name())
    }

    /// The state with its pending forecasts: the bytes that Rust writes, described in docs/formats.md.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        let bytes = self.lock(py)?.to_bytes()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Loads a saved state; anything damaged or inconsistent is refused. It goes on bit for bit.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Ok(Stream::around(recalibrator::load(bytes)?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let load = PyType::new::<Stream>(slf.py()).getattr("from_bytes")?;
        Ok((load, (slf.get().to_bytes(slf.py())?,)))
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let stream = self.lock(py)?;
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
