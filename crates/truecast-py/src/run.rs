//! A whole series in one call, and the numbers that a batch answers with.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyNone};
use truecast::forecast::Moments;
use truecast::recalibrate::{AnyRecalibrator, Plan};
use truecast::{Forecast, Groups, Recalibrator, normal};

use crate::distribution::probability;
use crate::errors::Result;
use crate::forecasts::Rows;
use crate::held::Base;
use crate::numbers::{List, Numbers, shaped};
use crate::scale::Scale;

/// Some probabilities as probit scores: one, whose answers have one dimension, or several, which have two.
#[derive(Debug, Default)]
pub(crate) struct Probits {
    pub(crate) probits: Vec<f64>,
    single: bool,
}

impl Probits {
    fn new(numbers: Option<Numbers<'_>>, to_probit: impl Fn(f64) -> Result<f64>) -> Result<Self> {
        let Some(numbers) = numbers else { return Ok(Probits::default()) };
        let (values, shape) = numbers.flatten()?;
        let probits = values.into_iter().map(to_probit).collect::<Result<_>>()?;
        Ok(Probits { probits, single: shape.is_empty() })
    }
}

/// What a batch is asked for.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Lower ends of the central intervals; the upper ones are at the same distance above the median.
    pub(crate) intervals: Probits,
    pub(crate) quantiles: Probits,
    pub(crate) mean: bool,
    pub(crate) std: bool,
    pub(crate) pit: bool,
    pub(crate) crps: bool,
}

impl Wanted {
    #[allow(clippy::fn_params_excessive_bools)]
    pub(crate) fn new(
        coverage: Option<Numbers<'_>>,
        q: Option<Numbers<'_>>,
        mean: bool,
        std: bool,
        pit: bool,
        crps: bool,
    ) -> Result<Self> {
        let intervals = Probits::new(coverage, |coverage| {
            if coverage > 0.0 && coverage < 1.0 {
                Ok(normal::quantile(0.5 * (1.0 - coverage)))
            } else {
                let (what, rule) = ("coverage", "greater than 0 and less than 1");
                Err(truecast::Error::OutOfRange { what, rule, value: coverage }.into())
            }
        })?;
        let quantiles = Probits::new(q, |q| Ok(normal::quantile(probability("q", q)?)))?;
        Ok(Wanted { intervals, quantiles, mean, std, pit, crps })
    }
}

/// The outcomes of a batch, NaN where one is not known.
pub(crate) fn outcomes(y: Option<List>, rows: usize, missing: bool) -> Result<Vec<f64>> {
    let Some(List(y)) = y else { return Ok(vec![f64::NAN; rows]) };
    if y.len() != rows {
        let what = "forecasts and outcomes";
        return Err(truecast::Error::LengthMismatch { what, left: rows, right: y.len() }.into());
    }
    let refused = y.iter().position(|y| !(y.is_finite() || missing && y.is_nan()));
    match refused {
        None => Ok(y),
        Some(row) => {
            let error = truecast::Error::NotFinite { what: "outcome", value: y[row] };
            Err(crate::errors::Error::from(error).at_row(row))
        }
    }
}

/// The answers, row by row.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) rows: usize,
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
    pub(crate) quantiles: Vec<f64>,
    pub(crate) mean: Vec<f64>,
    pub(crate) std: Vec<f64>,
    pub(crate) pit: Vec<f64>,
    pub(crate) crps: Vec<f64>,
}

impl Columns {
    /// Without rows, and with room for so many.
    pub(crate) fn with_room(rows: usize, wanted: &Wanted) -> Self {
        let room = |columns: usize| Vec::with_capacity(rows * columns);
        let (intervals, quantiles) = (wanted.intervals.probits.len(), wanted.quantiles.probits.len());
        Columns {
            rows,
            lower: room(intervals),
            upper: room(intervals),
            quantiles: room(quantiles),
            mean: room(usize::from(wanted.mean)),
            std: room(usize::from(wanted.std)),
            pit: room(usize::from(wanted.pit)),
            crps: room(usize::from(wanted.crps)),
        }
    }

    fn push(&mut self, calibrated: &impl Forecast, outcome: f64, wanted: &Wanted) {
        for &z in &wanted.intervals.probits {
            let mut ends = [f64::NAN; 2];
            calibrated.at_probits(&[z, -z], &mut ends);
            self.lower.push(ends[0]);
            self.upper.push(ends[1]);
        }
        self.quantiles.extend(wanted.quantiles.probits.iter().map(|&z| calibrated.at_probit(z)));
        if wanted.mean || wanted.std {
            self.push_of(calibrated.moments(), wanted);
        }
        if wanted.crps {
            self.crps.push(if outcome.is_nan() { f64::NAN } else { calibrated.crps(outcome) });
        }
    }

    fn push_of(&mut self, moments: Moments, wanted: &Wanted) {
        if wanted.mean {
            self.mean.push(moments.mean);
        }
        if wanted.std {
            self.std.push(moments.std());
        }
    }

    /// Python's dataclass `truecast.Run`.
    pub(crate) fn into_object<'py>(self, py: Python<'py>, wanted: &Wanted) -> Result<Bound<'py, PyAny>> {
        let rows = self.rows;
        let table = |probits: &Probits, values: Vec<f64>| match probits.probits.len() {
            0 => Ok(PyNone::get(py).to_owned().into_any()),
            _ if probits.single => Ok(shaped(py, values, &[rows])?.into_any()),
            columns => Ok::<_, crate::errors::Error>(shaped(py, values, &[rows, columns])?.into_any()),
        };
        let column = |asked: bool, values: Vec<f64>| match asked {
            true => Ok(shaped(py, values, &[rows])?.into_any()),
            false => Ok::<_, crate::errors::Error>(PyNone::get(py).to_owned().into_any()),
        };
        let fields = PyDict::new(py);
        fields.set_item("rows", rows)?;
        fields.set_item("lower", table(&wanted.intervals, self.lower)?)?;
        fields.set_item("upper", table(&wanted.intervals, self.upper)?)?;
        fields.set_item("quantiles", table(&wanted.quantiles, self.quantiles)?)?;
        fields.set_item("mean", column(wanted.mean, self.mean)?)?;
        fields.set_item("std", column(wanted.std, self.std)?)?;
        fields.set_item("pit", column(wanted.pit, self.pit)?)?;
        fields.set_item("crps", column(wanted.crps, self.crps)?)?;
        Ok(py.import("truecast.results")?.getattr("Run")?.call((), Some(&fields))?)
    }
}

/// What learns from a series.
pub(crate) struct Learner {
    pub(crate) recalibrator: AnyRecalibrator,
    pub(crate) scale: Scale,
}

/// Plans, answers and settles row by row. `plan` is room; an error says its row.
pub(crate) fn series(
    learner: &mut Learner,
    plan: &mut Plan,
    forecasts: &Rows,
    outcomes: &[f64],
    groups: Option<&[Groups]>,
    wanted: &Wanted,
) -> Result<Columns> {
    if let Some(found) = groups.map(<[_]>::len).filter(|found| *found != outcomes.len()) {
        let what = "forecasts and groups";
        return Err(truecast::Error::LengthMismatch { what, left: outcomes.len(), right: found }.into());
    }
    let Learner { recalibrator, scale } = learner;
    let mut columns = Columns::with_room(outcomes.len(), wanted);
    for (row, &outcome) in outcomes.iter().enumerate() {
        let groups = groups.map_or(Groups::NONE, |groups| groups[row]);
        let mut step = || -> Result<()> {
            let base = forecasts.get(row, scale)?;
            recalibrator.plan(base.forecast(), groups, recalibrator.steps(), plan)?;
            match &*base {
                Base::Gaussian(gaussian) => columns.push(&plan.calibrated(*gaussian), outcome, wanted),
                Base::Other(forecast) => columns.push(&plan.calibrated(&**forecast), outcome, wanted),
            }
            let mut score = f64::NAN;
            if !outcome.is_nan() {
                score = recalibrator.conclude(plan, base.forecast(), outcome)?.calibrated;
                *scale = scale.after(forecasts.point(row), outcome)?;
            }
            if wanted.pit {
                columns.pit.push(normal::cdf(score));
            }
            Ok(())
        };
        step().map_err(|error| error.at_row(row))?;
    }
    Ok(columns)
}
