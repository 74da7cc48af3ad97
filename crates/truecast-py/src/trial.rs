//! A line of a study's log as Python's dataclass `truecast.Trial`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use truecast_bo::Space;
use truecast_bo::study::{Evaluation, Origin, Stage, Step};

use crate::errors::Result;
use crate::held::{Base, Held};
use crate::{kinds, space};

/// The dataclass for a step.
pub(crate) fn object<'py>(py: Python<'py>, space: &Space, step: &Step) -> Result<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    fields.set_item("number", step.number)?;
    fields.set_item("point", space::dict(py, space, &step.point)?)?;
    let (value, failed) = match &step.evaluation {
        Evaluation::Pending => (None, None),
        Evaluation::Outcome(value) => (Some(*value), None),
        Evaluation::Failed(why) => (None, Some(why)),
    };
    fields.set_item("value", value)?;
    fields.set_item("failed", failed)?;
    fields.set_item("origin", origin(step.origin))?;
    fields.set_item("multiplier", step.multiplier)?;
    let forecast =
        step.forecast.map(|gaussian| kinds::object(py, Held::Plain(Base::Gaussian(gaussian)))).transpose()?;
    fields.set_item("forecast", forecast)?;
    fields.set_item("interval", step.interval)?;
    let fallback = step.fallback.as_ref();
    fields.set_item("fallback", fallback.map(|fallback| (stage(fallback.stage), &fallback.reason)))?;
    Ok(py.import("truecast.optimise")?.getattr("Trial")?.call((), Some(&fields))?)
}

fn origin(of: Origin) -> &'static str {
    match of {
        Origin::Design => "design",
        Origin::Acquisition => "acquisition",
        Origin::Fallback => "fallback",
        Origin::Told => "told",
    }
}

fn stage(of: Stage) -> &'static str {
    match of {
        Stage::Surrogate => "surrogate",
        Stage::Calibration => "calibration",
        Stage::Acquisition => "acquisition",
    }
}
