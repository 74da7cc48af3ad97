//! The class `Recalibrator`: forecasts in, calibrated forecasts out, outcomes back.
//!
//! One lock guards the state, so that any thread may call at any time. What was planned last is kept: the outcome that follows is booked against it and
//! nothing is computed twice. Planning is a pure function of state, forecast and groups, so this gives the same bits as planning again.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyType};
use truecast::Groups;
use truecast::recalibrate::{AnyRecalibrator, Plan};

use crate::certificate;
use crate::errors::{Error, Result};
use crate::forecasts::AnyForecasts;
use crate::held::{Base, Held};
use crate::kinds::Recalibrated;
use crate::markup;
use crate::numbers::{List, Numbers};
use crate::run::{self, Wanted};
use crate::scale::{self, CoreStream, Offer, Scale};
use crate::settings::{self, GroupSet};

/// Turns forecasts into calibrated ones, and learns from outcomes.
///
/// Two verbs: `recalibrate` is pure, `observe` is the only mutation. Before the first outcome the calibrated forecast is the forecast.
/// Any thread may call at any time.
///
/// Parameters
/// ----------
/// method : str
///     ``experts`` (the default), ``ledger``, ``approachability``, ``internal-regret``, ``defensive``, ``running-mean``, ``tophat``, ``isotonic``, ``aci``, ``dtaci``, ``sf-ogd``,
///     ``saocp``, ``pid``, ``emos``, ``rolling-pit``, ``rolling-conformal``, ``quantile-regression`` or ``crps-learning``. `stop_loss`, `guard` and `bounds` go with every method,
///     `experts` and `lags` with ``experts``, the rest with ``experts`` and ``ledger``.
/// stop_loss : float or None
///     Never be behind the forecaster by more than this share of its score, at any time; None for no limit.
/// guard : {"priced", "strict", "off"}, optional
///     Keep the coverage of central intervals within a budget of order √n: as far as the stop-loss allows, whatever it costs, or not at all.
///     By default priced for ``experts`` and ``ledger``, off for the methods of others.
/// experts : sequence of str, optional
///     Whom to mix beside the forecaster: ``ledger``, ``mean``, ``spread``, ``affine``; all by default.
/// lags : bool
///     Let experts see where the last outcomes fell.
/// half_life : float, optional
///     Outcomes after which an old one counts half.
/// seed : int
///     Key of all random draws: they are functions of the seed and the step.
/// prior : float, optional
///     Observations for which the forecaster's own probabilities count in the ledgers; 10 by default.
/// randomised : bool, optional
///     Round plays to a grid by a coin: calibrated in the strict sense.
/// groups : int
///     How many groups to keep calibrated, each within itself; forecasts then name theirs.
/// thresholds : sequence of float, optional
///     Outcomes y at which P(Y ≤ y) is kept calibrated.
/// bounds : (float or None, float or None), optional
///     The least and the largest outcome there can be: no calibrated quantile lies beyond them.
///
/// Examples
/// --------
/// >>> import truecast as tc
/// >>> rc = tc.Recalibrator()
/// >>> for y in [23.0, 17.5, 24.0, 15.0]:
/// ...     forecast = tc.Gaussian(20.0, 1.0)           # overconfident
/// ...     low, high = rc.recalibrate(forecast).interval(0.8)
/// ...     rc.observe(forecast, y)
/// >>> rc.steps
/// 4
/// >>> high - low > 2.6
/// True
#[pyclass(frozen, module = "truecast")]
pub(crate) struct Recalibrator {
    state: Mutex<State>,
}

struct State {
    recalibrator: AnyRecalibrator,
    /// What was learned from point forecasts.
    scale: Scale,
    /// Room for a plan.
    plan: Plan,
    /// What `plan` was made for, until an outcome comes.
    planned: Option<(Base, Groups)>,
}

impl State {
    fn new(recalibrator: AnyRecalibrator, scale: Scale) -> Self {
        State { plan: Plan::at_once(), recalibrator, scale, planned: None }
    }

    /// Makes `plan` the one for this forecast.
    fn plan_for(&mut self, base: &Base, groups: Groups) -> Result<()> {
        use truecast::Recalibrator as _;
        if self.planned.as_ref().is_some_and(|(planned, with)| planned.is(base) && *with == groups) {
            return Ok(());
        }
        self.planned = None;
        let step = self.recalibrator.steps();
        self.recalibrator.plan(base.forecast(), groups, step, &mut self.plan)?;
        self.planned = Some((base.clone(), groups));
        Ok(())
    }
}

impl Recalibrator {
    fn fresh(recalibrator: AnyRecalibrator) -> Self {
        let scale = Scale::new(&recalibrator);
        Recalibrator::around(recalibrator, scale)
    }

    pub(crate) fn around(recalibrator: AnyRecalibrator, scale: Scale) -> Self {
        Recalibrator { state: Mutex::new(State::new(recalibrator, scale)) }
    }

    fn lock(&self, py: Python<'_>) -> Result<MutexGuard<'_, State>> {
        self.state.lock_py_attached(py).map_err(|_| Error::Poisoned)
    }
}

fn groups_of(groups: Option<GroupSet>) -> Groups {
    groups.map_or(Groups::NONE, |GroupSet(groups)| groups)
}

#[pymethods]
impl Recalibrator {
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
        Ok(Recalibrator::fresh(settings.build(b"")?))
    }

    /// The paper's setting: levels j/n and plays i/n, randomised, a step function; no stop-loss and no guard.
    ///
    /// Parameters
    /// ----------
    /// n : int
    ///     The resolution.
    /// method : str
    /// seed : int
    #[staticmethod]
    #[pyo3(signature = (n = 20, *, method = "ledger", seed = 0))]
    fn paper(n: usize, method: &str, seed: u64) -> Result<Self> {
        Ok(Recalibrator::fresh(settings::paper(n, method, seed)?.build(b"")?))
    }

    /// The calibrated forecast for the next outcome. Pure: asking changes nothing.
    ///
    /// Parameters
    /// ----------
    /// forecast : distribution or Point
    ///     A `Distribution`, a frozen distribution of SciPy, a distribution of PyTorch, or any object with ``cdf`` and ``ppf``; or a
    ///     `Point`, which stands for a normal distribution with the scale learned from the errors of points so far (at first a tenth of
    ///     its size).
    /// groups : int or sequence of int, optional
    ///     The groups that it belongs to, counted from 0.
    ///
    /// Returns
    /// -------
    /// Recalibrated
    #[pyo3(signature = (forecast, *, groups = None))]
    fn recalibrate(
        &self,
        py: Python<'_>,
        forecast: Offer,
        groups: Option<GroupSet>,
    ) -> Result<Py<Recalibrated>> {
        let (base, map) = {
            let mut state = self.lock(py)?;
            let (base, _) = state.scale.understand(forecast)?;
            state.plan_for(&base, groups_of(groups))?;
            (base, state.plan.map().clone())
        };
        Ok(Recalibrated::object(py, Held::Calibrated { base, map })?)
    }

    /// Learns the outcome of a forecast.
    ///
    /// Parameters
    /// ----------
    /// forecast : distribution or Point
    ///     The forecast as it was before recalibration. A point is taken with the scale of now: where outcomes come late, a `Stream` keeps
    ///     what was announced.
    /// y : float
    ///     What happened. NaN and infinities are refused: an outcome that nobody knows is not passed.
    /// groups : int or sequence of int, optional
    #[pyo3(signature = (forecast, y, *, groups = None))]
    fn observe(&self, py: Python<'_>, forecast: Offer, y: f64, groups: Option<GroupSet>) -> Result<()> {
        use truecast::Recalibrator as _;
        let mut state = self.lock(py)?;
        let (base, point) = state.scale.understand(forecast)?;
        state.plan_for(&base, groups_of(groups))?;
        let State { recalibrator, scale, plan, planned } = &mut *state;
        // All or nothing: the scale moves only if the outcome was booked.
        let learned = scale.after(point, y)?;
        recalibrator.conclude(plan, base.forecast(), y)?;
        (*scale, *planned) = (learned, None);
        Ok(())
    }

    /// Recalibrates and observes a whole series in one call: the loop of both, bit for bit, without Python in between.
    ///
    /// All or nothing: if a row is refused, nothing was learned. Other threads run meanwhile.
    ///
    /// Parameters
    /// ----------
    /// forecasts : Forecasts or sequence of distributions or of Points
    /// y : array_like
    ///     The outcomes, one for each forecast.
    /// coverage : float or sequence of float, optional
    ///     Central intervals to return, as ``lower`` and ``upper``.
    /// q : float or sequence of float, optional
    ///     Quantiles to return, as ``quantiles``.
    /// mean, std, pit, crps : bool
    ///     What else to return about the calibrated forecasts.
    /// groups : sequence, optional
    ///     The groups of each row.
    /// missing : bool
    ///     Take NaN in `y` for an outcome that is not known: such a row is forecast and teaches nothing.
    ///
    /// Returns
    /// -------
    /// Run
    ///     Arrays with a row for each forecast; those not asked for are None.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, truecast as tc
    /// >>> y = np.random.default_rng(7).normal(0.0, 2.0, 1000)
    /// >>> run = tc.Recalibrator().run(tc.Forecasts.gaussian(np.zeros(1000), np.ones(1000)), y, coverage=0.8)
    /// >>> bool(abs(np.mean((run.lower[500:] <= y[500:]) & (y[500:] <= run.upper[500:])) - 0.8) < 0.03)
    /// True
    #[pyo3(signature = (forecasts, y, *, coverage = None, q = None, mean = false, std = false, pit = false, crps = false,
        groups = None, missing = false))]
    #[allow(clippy::too_many_arguments)]
    fn run<'py>(
        &self,
        py: Python<'py>,
        forecasts: AnyForecasts,
        y: List,
        coverage: Option<Numbers<'py>>,
        q: Option<Numbers<'py>>,
        mean: bool,
        std: bool,
        pit: bool,
        crps: bool,
        groups: Option<Vec<GroupSet>>,
        missing: bool,
    ) -> Result<Bound<'py, PyAny>> {
        let wanted = Wanted::new(coverage, q, mean, std, pit, crps)?;
        let outcomes = run::outcomes(Some(y), forecasts.0.len(), missing)?;
        let groups: Option<Vec<Groups>> =
            groups.map(|sets| sets.into_iter().map(|GroupSet(set)| set).collect());
        let mut state = self.lock(py)?;
        let State { recalibrator, scale, plan, planned } = &mut *state;
        // On copies, which take the place of the originals when all went well.
        let mut learner = run::Learner { recalibrator: recalibrator.clone(), scale: *scale };
        let columns = py
            .detach(|| run::series(&mut learner, plan, &forecasts.0, &outcomes, groups.as_deref(), &wanted));
        *planned = None;
        let columns = columns?;
        (*recalibrator, *scale) = (learner.recalibrator, learner.scale);
        drop(state);
        columns.into_object(py, &wanted)
    }

    /// What was promised and what was kept: errors and regret with their bounds.
    ///
    /// Returns
    /// -------
    /// Certificate
    ///
    /// Raises
    /// ------
    /// NoCertificateError
    ///     If nothing protects, as in the paper's preset of methods without ledgers.
    fn certificate<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let (found, method) = {
            let state = self.lock(py)?;
            (state.recalibrator.certificate(), state.recalibrator.method())
        };
        certificate::object(py, Some(found), method.name())
    }

    /// Outcomes learned from so far.
    #[getter]
    fn steps(&self, py: Python<'_>) -> Result<u64> {
        use truecast::Recalibrator as _;
        Ok(self.lock(py)?.recalibrator.steps())
    }

    /// The method's name.
    #[getter]
    fn method(&self, py: Python<'_>) -> Result<&'static str> {
        Ok(self.lock(py)?.recalibrator.method().name())
    }

    /// Key of all random draws.
    #[getter]
    fn seed(&self, py: Python<'_>) -> Result<u64> {
        use truecast::Recalibrator as _;
        Ok(self.lock(py)?.recalibrator.seed())
    }

    /// A recalibrator in the same state that goes its own way from here.
    fn copy(&self, py: Python<'_>) -> Result<Self> {
        let state = self.lock(py)?;
        Ok(Recalibrator::around(state.recalibrator.clone(), state.scale))
    }

    fn __copy__(&self, py: Python<'_>) -> Result<Self> {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Result<Self> {
        self.copy(py)
    }

    /// The state: the bytes that Rust writes for a stream with nothing pending, and with the scale around them if it learned from points.
    /// Both are described in docs/formats.md.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        let (copy, scale) = {
            let state = self.lock(py)?;
            (state.recalibrator.clone(), state.scale)
        };
        let bytes = scale::save(&CoreStream::new(copy), &scale, &BTreeMap::new())?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Loads a saved state; anything damaged or inconsistent is refused. It goes on bit for bit.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (stream, scale, _) = scale::load(bytes)?;
        if stream.pending().next().is_some() {
            let reason = "forecasts are pending in it: load it as a Stream".to_string();
            return Err(truecast::SnapshotError::Malformed { reason }.into());
        }
        Ok(Recalibrator::around(stream.recalibrator().clone(), scale))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let load = PyType::new::<Recalibrator>(slf.py()).getattr("from_bytes")?;
        Ok((load, (slf.get().to_bytes(slf.py())?,)))
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        use truecast::Recalibrator as _;
        let state = self.lock(py)?;
        Ok(format!(
            "Recalibrator({}, steps={})",
            settings::describe(&state.recalibrator),
            state.recalibrator.steps()
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
