//! The numbers of a run as a dictionary with the names of docs/summary.schema.json, for `truecast.Summary`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use truecast::monitor::{Certificate, Scoreboard, Side};

use crate::certificate;
use crate::errors::Result;

/// Of base and calibrated forecasts; of the base alone if forecasts were taken as they are.
pub(crate) fn dictionary<'py>(
    py: Python<'py>,
    scoreboard: &Scoreboard,
    found: Option<Certificate>,
    raw_only: bool,
) -> Result<Bound<'py, PyDict>> {
    let summary = scoreboard.summary();
    let after = |value: Option<f64>| value.filter(|_| !raw_only);
    let both = |of: &dyn Fn(&Side) -> Option<f64>| (of(scoreboard.raw()), after(of(scoreboard.calibrated())));
    let (coverage, width) = (PyDict::new(py), PyDict::new(py));
    for (level, sides) in &summary.coverage {
        coverage.set_item(level, (sides.raw, after(sides.calibrated)))?;
    }
    for (k, level) in scoreboard.raw().sharpness().coverages().iter().enumerate() {
        width.set_item(level.to_string(), both(&|side| side.sharpness().mean_width(k)))?;
    }
    let (crps, score) = (summary.crps, summary.calibration_score);
    let all = PyDict::new(py);
    all.set_item("rows", summary.rows)?;
    all.set_item("coverage", coverage)?;
    all.set_item("width", width)?;
    all.set_item("crps", (crps.raw, after(crps.calibrated), after(crps.regret_percent)))?;
    all.set_item("calibration_score", (score.raw, after(score.calibrated)))?;
    all.set_item("pit_distance", both(&|side| side.pit().total_variation()))?;
    let found = found.filter(|_| !raw_only);
    let found = found.map(|found| certificate::object(py, Some(found), "")).transpose()?;
    all.set_item("certificate", found)?;
    Ok(all)
}
