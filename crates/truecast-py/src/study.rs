//! The class `Study`: ask for a point, tell its outcome.
//!
//! One lock guards the study; fits and searches run without the interpreter. Saved, it is JSON: the format `truecast-study`, version 1, which
//! programs in Rust write too.

use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyType};
use serde_json::{Value as Json, json};
use truecast::SnapshotError;
use truecast_bo::study::Evaluation;
use truecast_bo::{
    AnyAcquisition, Calibration, Kappa, Space as Searched, Study as Inner, StudySettings, SurrogateSettings,
    Value,
};
use truecast_models::Noise;

use crate::errors::{Error, Result};
use crate::markup;
use crate::space::{self, Space};
use crate::trial;

const FORMAT: &str = "truecast-study";
const VERSION: u16 = 1;

/// A function that is being minimised: `suggest` a point, evaluate it, `observe` its outcome.
///
/// Outcomes are to be small: negate what should be large. They may come late, in any order, or never. Every draw is a function of the seed and the trial's
/// number, so that a study that was saved and loaded goes on bit for bit. Any thread may call at any time; others run while a point is looked for.
///
/// Parameters
/// ----------
/// space : Space or mapping
/// acquisition : str
///     What makes a point worth evaluating: ``lcb`` (lower confidence bound, the default), ``ei`` (expected improvement), ``pi`` (probability of
///     improvement) or ``thompson``.
/// kappa : float, optional
///     For ``lcb``: how many standard deviations below the mean; 2 by default.
/// margin : float, optional
///     For ``pi``: by how much to improve; 0 by default.
/// calibration : str
///     What is made of the surrogate's forecasts first: ``none`` (the default), ``paper``, ``ledger``, ``online`` or ``online-scale``.
/// shrinkage : float, optional
///     For ``ledger``, ``online`` and ``online-scale``: for how many outcomes the surrogate's own forecasts count; 10 for ``ledger``, 4 otherwise.
/// initial : int
///     How many points come before there is a surrogate; 0 if enough is told at the beginning.
/// design : str
///     Where they lie: ``latin-hypercube`` or ``random``.
/// noise : float, optional
///     The variance of outcomes at one point; 0 if they repeat exactly. It is learned if it is not given.
/// seed : int
///     Key of all random draws.
///
/// Examples
/// --------
/// >>> import truecast as tc
/// >>> study = tc.Study({"x": (-5.0, 10.0)}, calibration="online", noise=0.0, seed=1)
/// >>> for _ in range(15):
/// ...     point = study.suggest()
/// ...     study.observe(point, (point["x"] - 2.0) ** 2)
/// >>> study.best.value < 1e-3
/// True
#[pyclass(frozen, module = "truecast")]
pub(crate) struct Study {
    state: Mutex<Inner>,
}

impl Study {
    fn around(study: Inner) -> Self {
        Study { state: Mutex::new(study) }
    }

    fn lock(&self, py: Python<'_>) -> Result<MutexGuard<'_, Inner>> {
        self.state.lock_py_attached(py).map_err(|_| Error::Poisoned)
    }

    /// What is searched, as a copy: making Python's objects can run anybody's code, which may call the study again, so no lock is held meanwhile.
    fn searched(&self, py: Python<'_>) -> Result<Searched> {
        Ok(self.lock(py)?.space().clone())
    }

    /// The next point, found without the interpreter.
    fn next(&self, py: Python<'_>) -> Result<Vec<Value>> {
        let mut guard = self.lock(py)?;
        let study = &mut *guard;
        Ok(py.detach(|| study.suggest())?)
    }
}

#[pymethods]
impl Study {
    #[new]
    #[pyo3(signature = (space, *, acquisition = "lcb", kappa = None, margin = None, calibration = "none", shrinkage = None,
        initial = 5, design = "latin-hypercube", noise = None, seed = 0))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        space: &Bound<'_, PyAny>,
        acquisition: &str,
        kappa: Option<f64>,
        margin: Option<f64>,
        calibration: &str,
        shrinkage: Option<f64>,
        initial: usize,
        design: &str,
        noise: Option<f64>,
        seed: u64,
    ) -> Result<Self> {
        let settings = StudySettings {
            design: design.parse()?,
            initial,
            acquisition: acquired(acquisition, kappa, margin)?,
            calibration: calibrated(calibration, shrinkage)?,
            surrogate: SurrogateSettings {
                noise: noise.map_or(Noise::Learned, Noise::Fixed),
                ..SurrogateSettings::default()
            },
            seed,
            ..StudySettings::default()
        };
        Ok(Study::around(Inner::new(space::searched(space)?, settings)?))
    }

    /// The next point to evaluate. Points that were suggested and not yet told count as being evaluated.
    fn suggest<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let point = self.next(py)?;
        space::dict(py, &self.searched(py)?, &point)
    }

    /// Several points to evaluate at once: each takes the ones before it as evaluated.
    ///
    /// Parameters
    /// ----------
    /// n : int
    fn suggest_batch<'py>(&self, py: Python<'py>, n: usize) -> Result<Vec<Bound<'py, PyDict>>> {
        let mut points = Vec::new();
        for _ in 0..n {
            points.push(self.suggest(py)?);
            py.check_signals()?;
        }
        Ok(points)
    }

    /// Takes in the outcome of a point, suggested or not.
    ///
    /// Parameters
    /// ----------
    /// point : mapping
    /// value : float
    ///     Finite; what has no outcome is told by `observe_failed`.
    fn observe(&self, py: Python<'_>, point: &Bound<'_, PyAny>, value: f64) -> Result<()> {
        let point = space::point(&self.searched(py)?, point)?;
        Ok(self.lock(py)?.observe(&point, value)?)
    }

    /// Takes in that the evaluation of a point failed. No number is made of it; points near it are not suggested again.
    ///
    /// Parameters
    /// ----------
    /// point : mapping
    /// reason : str
    fn observe_failed(&self, py: Python<'_>, point: &Bound<'_, PyAny>, reason: String) -> Result<()> {
        let point = space::point(&self.searched(py)?, point)?;
        Ok(self.lock(py)?.observe_failed(&point, reason)?)
    }

    /// The trial of least outcome, the first of equals; None while there is no outcome.
    #[getter]
    fn best<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyAny>>> {
        let (space, best) = {
            let study = self.lock(py)?;
            (study.space().clone(), study.best().cloned())
        };
        best.map(|step| trial::object(py, &space, &step)).transpose()
    }

    /// Every point that was suggested or told, as a `Trial`, in order.
    #[getter]
    fn log<'py>(&self, py: Python<'py>) -> Result<Vec<Bound<'py, PyAny>>> {
        let (space, steps) = {
            let study = self.lock(py)?;
            (study.space().clone(), study.steps().to_vec())
        };
        steps.iter().map(|step| trial::object(py, &space, step)).collect()
    }

    /// The points that were suggested and wait for their outcome, oldest first.
    #[getter]
    fn pending<'py>(&self, py: Python<'py>) -> Result<Vec<Bound<'py, PyDict>>> {
        let (space, waiting): (_, Vec<_>) = {
            let study = self.lock(py)?;
            let waiting = study.steps().iter().filter(|step| step.evaluation == Evaluation::Pending);
            (study.space().clone(), waiting.map(|step| step.point.clone()).collect())
        };
        waiting.iter().map(|point| space::dict(py, &space, point)).collect()
    }

    /// What is searched.
    #[getter]
    fn space(&self, py: Python<'_>) -> Result<Space> {
        Ok(Space { inner: self.searched(py)? })
    }

    /// Key of all random draws.
    #[getter]
    fn seed(&self, py: Python<'_>) -> Result<u64> {
        Ok(self.lock(py)?.settings().seed)
    }

    fn __len__(&self, py: Python<'_>) -> Result<usize> {
        Ok(self.lock(py)?.steps().len())
    }

    /// A study in the same state that goes its own way from here.
    fn copy(&self, py: Python<'_>) -> Result<Self> {
        Ok(Study::around(self.lock(py)?.clone()))
    }

    fn __copy__(&self, py: Python<'_>) -> Result<Self> {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Result<Self> {
        self.copy(py)
    }

    /// The study with its log, as JSON in UTF-8.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        let study = self.lock(py)?.clone();
        let bytes = serde_json::to_value(study)
            .and_then(|study| {
                serde_json::to_vec(&json!({ "format": FORMAT, "version": VERSION, "study": study }))
            })
            .map_err(|error| malformed(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Loads a saved study; anything damaged or inconsistent is refused. It goes on bit for bit.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut content: Json = serde_json::from_slice(bytes).map_err(|_| SnapshotError::BadMagic)?;
        if content["format"] != FORMAT {
            return Err(SnapshotError::BadMagic.into());
        }
        match content["version"].as_u64() {
            Some(version) if version == u64::from(VERSION) => {}
            Some(version) => {
                let found = u16::try_from(version).unwrap_or(u16::MAX);
                return Err(SnapshotError::UnsupportedVersion { found, newest: VERSION }.into());
            }
            None => return Err(malformed("it has no version".to_string())),
        }
        if content["maximize"] == true {
            return Err(malformed("its outcomes are negated: it looks for the largest".to_string()));
        }
        let study = serde_json::from_value(content["study"].take());
        Ok(Study::around(study.map_err(|error| malformed(error.to_string()))?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let load = PyType::new::<Study>(slf.py()).getattr("from_bytes")?;
        Ok((load, (slf.get().to_bytes(slf.py())?,)))
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let study = self.lock(py)?;
        let best = study.best().and_then(truecast_bo::study::Step::outcome);
        let best = best.map_or("None".to_string(), |value| format!("{value:?}"));
        Ok(format!("Study(trials={}, best={best})", study.steps().len()))
    }

    fn _repr_html_(&self, py: Python<'_>) -> Result<String> {
        let caption = self.__repr__(py)?;
        let study = self.lock(py)?;
        let rows = study.best().map_or_else(Vec::new, |step| {
            let names = study.space().dimensions().map(|(name, _)| name.to_string());
            names.zip(step.point.iter().map(ToString::to_string)).collect()
        });
        Ok(markup::table(&caption, &rows))
    }
}

fn malformed(reason: String) -> Error {
    SnapshotError::Malformed { reason }.into()
}

fn acquired(name: &str, kappa: Option<f64>, margin: Option<f64>) -> Result<AnyAcquisition> {
    let unused = |setting, of| Err(Error::UnusedSetting { setting, of, chosen: name.to_string() });
    match (name, kappa, margin) {
        ("lcb", _, Some(_)) | ("ei" | "thompson", None, Some(_)) => unused("margin", "pi"),
        ("ei" | "pi" | "thompson", Some(_), _) => unused("kappa", "lcb"),
        ("lcb", kappa, None) => Ok(AnyAcquisition::LowerConfidenceBound(Kappa::Fixed(kappa.unwrap_or(2.0)))),
        ("ei", None, None) => Ok(AnyAcquisition::ExpectedImprovement),
        ("pi", None, margin) => {
            Ok(AnyAcquisition::ProbabilityOfImprovement { margin: margin.unwrap_or(0.0) })
        }
        ("thompson", None, None) => Ok(AnyAcquisition::ThompsonSampling),
        _ => Err(unknown("an acquisition", name, "lcb, ei, pi, thompson")),
    }
}

fn calibrated(name: &str, given: Option<f64>) -> Result<Calibration> {
    let mut calibration = match name {
        "none" => Calibration::None,
        "paper" => Calibration::paper(),
        "ledger" => Calibration::ledger(),
        "online" => Calibration::online(),
        "online-scale" => Calibration::online_scale(),
        _ => return Err(unknown("a calibration", name, "none, paper, ledger, online, online-scale")),
    };
    let Some(given) = given else { return Ok(calibration) };
    match &mut calibration {
        Calibration::Ledger { prior: shrinkage }
        | Calibration::Online { shrinkage, .. }
        | Calibration::OnlineScale { shrinkage, .. } => *shrinkage = given,
        _ => {
            let (setting, of) = ("shrinkage", "ledger, online and online-scale");
            return Err(Error::UnusedSetting { setting, of, chosen: name.to_string() });
        }
    }
    Ok(calibration)
}

fn unknown(what: &'static str, name: &str, known: &str) -> Error {
    truecast_bo::Error::UnknownName { what, name: name.to_string(), known: known.to_string() }.into()
}
