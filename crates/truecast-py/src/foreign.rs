//! Distributions of other libraries.
//!
//! Kinds that the core has are recognised and exact: SciPy's norm, t, laplace, logistic and uniform, its `Normal`, PyTorch's Normal, LogNormal, StudentT, Laplace,
//! Uniform and mixtures of them (`MixtureSameFamily`), and `statistics.NormalDist`. Everything else that has a `cdf` and a `ppf` (or `icdf`, or `quantile`) becomes a
//! table of its quantiles at 1,025 probit scores, with atoms found by its `cdf`. Where the inverse is there by name alone and raises `NotImplementedError`, as that of
//! many of PyTorch's families does, the CDF is inverted by bisection. A table can be saved, scored exactly and asked without the interpreter, none of which holds for a call
//! back into Python. Whatever else the foreign object raises is raised.

use std::sync::LazyLock;

use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use truecast::forecast::{
    AnyForecast, Gaussian, Laplace, LogNormal, Logistic, Mixture, Quantiles, Samples, StudentT, Uniform,
};
use truecast::normal;

use crate::errors::{Error, Result};
use crate::held::Base;
use crate::numbers::{Numbers, read};

/// How many quantiles a table has, and how far out they lie: the outer levels of a recalibrator are at ±6.
const TABLE_SIZE: usize = 1025;
const TABLE_REACH: f64 = 6.0;

/// Where the CDF is flat between two atoms, the table rises by this factor: enough to move the probit score of any probability above 1e-9, and less than
/// a distribution function is good for.
const RISE: f64 = 1.0 + 4e-14;

/// How often a bracket is halved: 2⁻¹²⁰ of it is below the precision of any quantile larger than 1e-20 of it.
const HALVINGS: usize = 120;

/// Φ at equal distances in probit units.
static PROBABILITIES: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let last = (TABLE_SIZE - 1) as f64;
    (0..TABLE_SIZE).map(|i| normal::cdf(TABLE_REACH * (2.0 * i as f64 / last - 1.0))).collect()
});

/// The forecast that a foreign object stands for.
pub(crate) fn recognise(given: &Bound<'_, PyAny>) -> Result<Base> {
    let kind = given.get_type();
    let module = kind.module()?.to_string();
    let name = kind.name()?.to_string();
    let native = match module.split('.').next() {
        Some("scipy") => scipy(given, &name)?,
        Some("torch") => torch(given, &name)?,
        Some("statistics") if name == "NormalDist" => {
            Some(Gaussian::new(number(given, "mean")?, number(given, "stdev")?)?.into())
        }
        _ => None,
    };
    match native {
        Some(forecast) => Ok(Base::new(forecast)),
        None => Ok(Base::new(tabulate(given)?)),
    }
}

/// An attribute that is one number, also where it is a tensor or an array of one.
fn number(given: &Bound<'_, PyAny>, name: &str) -> Result<f64> {
    single(&given.getattr(name)?)
}

fn several() -> Error {
    Error::wrong_type(
        "one distribution is needed, not an array of them: pass them one by one, or as Forecasts".into(),
    )
}

fn single(value: &Bound<'_, PyAny>) -> Result<f64> {
    // Tensors count their entries by a method, arrays by an attribute, numbers not at all.
    let entries = match value.call_method0("numel") {
        Ok(count) => count.extract::<usize>().ok(),
        Err(_) => value.getattr("size").ok().and_then(|count| count.extract().ok()).or(value.len().ok()),
    };
    if entries.is_some_and(|entries| entries != 1) {
        return Err(several());
    }
    let item = if value.hasattr("item")? { value.call_method0("item")? } else { value.clone() };
    Ok(item.extract()?)
}

/// SciPy's frozen distributions, old and new.
fn scipy(given: &Bound<'_, PyAny>, name: &str) -> Result<Option<AnyForecast>> {
    if name == "Normal" && given.hasattr("mu")? && given.hasattr("sigma")? {
        return Ok(Some(Gaussian::new(number(given, "mu")?, number(given, "sigma")?)?.into()));
    }
    let (Ok(dist), Ok(args), Ok(keywords)) =
        (given.getattr("dist"), given.getattr("args"), given.getattr("kwds"))
    else {
        return Ok(None);
    };
    let (Ok(args), Ok(keywords)) = (args.cast_into::<PyTuple>(), keywords.cast_into::<PyDict>()) else {
        return Ok(None);
    };
    let family: String = dist.getattr("name")?.extract()?;
    // Positional parameters are the shapes, then location and scale.
    let parameter = |position: usize, keyword: &str, default: f64| -> Result<f64> {
        if let Ok(value) = args.get_item(position) {
            return single(&value);
        }
        keywords.get_item(keyword)?.map_or(Ok(default), |value| single(&value))
    };
    let (loc, scale) = match family.as_str() {
        "norm" | "laplace" | "logistic" | "uniform" => {
            (parameter(0, "loc", 0.0)?, parameter(1, "scale", 1.0)?)
        }
        "t" => (parameter(1, "loc", 0.0)?, parameter(2, "scale", 1.0)?),
        _ => return Ok(None),
    };
    Ok(Some(match family.as_str() {
        "norm" => Gaussian::new(loc, scale)?.into(),
        "t" => StudentT::new(parameter(0, "df", f64::NAN)?, loc, scale)?.into(),
        "laplace" => Laplace::new(loc, scale)?.into(),
        "logistic" => Logistic::new(loc, scale)?.into(),
        _ => Uniform::new(loc, loc + scale)?.into(),
    }))
}

/// PyTorch's distributions.
fn torch(given: &Bound<'_, PyAny>, name: &str) -> Result<Option<AnyForecast>> {
    for shape in ["batch_shape", "event_shape"] {
        if given.getattr(shape)?.call_method0("numel")?.extract::<usize>()? != 1 {
            return Err(several());
        }
    }
    if name == "MixtureSameFamily" {
        return mixture(given);
    }
    family(name, &|attribute| number(given, attribute))
}

/// A distribution of PyTorch by the names of its parameters.
fn family(name: &str, at: &dyn Fn(&str) -> Result<f64>) -> Result<Option<AnyForecast>> {
    Ok(Some(match name {
        "Normal" => Gaussian::new(at("loc")?, at("scale")?)?.into(),
        "LogNormal" => LogNormal::new(at("loc")?, at("scale")?)?.into(),
        "StudentT" => StudentT::new(at("df")?, at("loc")?, at("scale")?)?.into(),
        "Laplace" => Laplace::new(at("loc")?, at("scale")?)?.into(),
        "Uniform" => Uniform::new(at("low")?, at("high")?)?.into(),
        _ => return Ok(None),
    }))
}

/// One mixture of PyTorch: weights, and components that are a batch of one family.
fn mixture(given: &Bound<'_, PyAny>) -> Result<Option<AnyForecast>> {
    let weights = flat(&given.getattr("mixture_distribution")?.getattr("probs")?)?;
    let components = given.getattr("component_distribution")?;
    let name = components.get_type().name()?.to_string();
    let of = |component: usize| {
        family(&name, &|attribute| {
            let values = flat(&components.getattr(attribute)?)?;
            values.get(component).copied().filter(|_| values.len() == weights.len()).ok_or_else(several)
        })
    };
    let Some(parts) = (0..weights.len()).map(of).collect::<Result<Option<Vec<_>>>>()? else {
        return Ok(None);
    };
    Ok(Some(Mixture::new(&weights, parts)?.into()))
}

/// The numbers of a tensor.
fn flat(tensor: &Bound<'_, PyAny>) -> Result<Vec<f64>> {
    Ok(tensor.call_method0("flatten")?.call_method0("tolist")?.extract()?)
}

/// A table of the quantiles of anything that has a CDF and its inverse.
fn tabulate(given: &Bound<'_, PyAny>) -> Result<AnyForecast> {
    let inverse = ["ppf", "icdf", "quantile"].into_iter().find(|name| given.hasattr(*name).unwrap_or(false));
    let (Some(inverse), true) = (inverse, given.hasattr("cdf")?) else {
        return Err(Error::wrong_type(format!(
            "a forecast is needed: a truecast distribution, or an object with cdf and ppf (or icdf, or quantile), not {}",
            given.get_type().name()?
        )));
    };
    let values = match evaluate(given, inverse, &PROBABILITIES) {
        Err(error) if lacks(given, &error) => invert(given, &PROBABILITIES)?,
        found => found?,
    };
    if let Some(&value) = values.iter().find(|value| value.is_nan()) {
        return Err(truecast::Error::NotFinite { what: "quantile of the foreign distribution", value }.into());
    }
    let (mut q, mut table): (Vec<f64>, Vec<f64>) =
        PROBABILITIES.iter().zip(values).filter(|(_, value)| value.is_finite()).unzip();
    if table.windows(2).any(|pair| pair[0] == pair[1]) {
        (q, table) = with_atoms(given, table)?;
    }
    match table[..] {
        [] => Err(truecast::Error::TooFew {
            what: "finite quantiles of the foreign distribution",
            least: 1,
            found: 0,
        }
        .into()),
        [point] => Ok(Samples::new(&[point])?.into()),
        _ => Ok(within_support(given, Quantiles::new(&q, &table)?)?.into()),
    }
}

/// True if a method is there by its name alone.
fn lacks(given: &Bound<'_, PyAny>, error: &Error) -> bool {
    matches!(error, Error::Python(raised) if raised.is_instance_of::<PyNotImplementedError>(given.py()))
}

/// Quantiles by bisection of the CDF, all at once.
fn invert(given: &Bound<'_, PyAny>, at: &[f64]) -> Result<Vec<f64>> {
    let cdf = |values: &[f64]| match evaluate(given, "cdf", values) {
        Err(error) if lacks(given, &error) => Err(Error::wrong_type(format!(
            "{} has neither a quantile function nor a cdf: pass draws from it as Samples",
            given.get_type().name()?
        ))),
        found => found,
    };
    let (first, last) = (at.first().copied().unwrap_or(0.5), at.last().copied().unwrap_or(0.5));
    let (low, high) = support(given);
    // The ends are doubled until they hold all quantiles. What is outside the support may be refused, and is not asked.
    let (mut below, mut above) = (low.max(-1.0).min(high), high.min(1.0).max(low));
    while below > low && below.is_finite() && cdf(&[below])?[0] >= first {
        below = (2.0 * below.min(-1.0)).max(low);
    }
    while above < high && above.is_finite() && cdf(&[above])?[0] < last {
        above = (2.0 * above.max(1.0)).min(high);
    }
    if !(below.is_finite() && above.is_finite()) {
        let value = if below.is_finite() { above } else { below };
        return Err(truecast::Error::NotFinite { what: "quantile of the foreign distribution", value }.into());
    }
    let (mut lower, mut upper) = (vec![below; at.len()], vec![above; at.len()]);
    for _ in 0..HALVINGS {
        let middle: Vec<f64> = lower.iter().zip(&upper).map(|(low, high)| 0.5 * low + 0.5 * high).collect();
        for (k, probability) in cdf(&middle)?.into_iter().enumerate() {
            let end = if probability < at[k] { &mut lower[k] } else { &mut upper[k] };
            *end = middle[k];
        }
    }
    Ok(upper)
}

/// The probabilities just below and at each value, for a distribution some of whose quantiles tie.
fn with_atoms(given: &Bound<'_, PyAny>, mut values: Vec<f64>) -> Result<(Vec<f64>, Vec<f64>)> {
    values.sort_by(f64::total_cmp);
    values.dedup();
    if values.len() == 1 {
        return Ok((Vec::new(), values));
    }
    let below: Vec<f64> = values.iter().map(|value| value.next_down()).collect();
    let (left, right) = (evaluate(given, "cdf", &below)?, evaluate(given, "cdf", &values)?);
    let (mut q, mut table) = (Vec::new(), Vec::new());
    let mut last = 0.0_f64;
    for ((value, left), right) in values.iter().zip(left).zip(right) {
        // Probabilities of a table increase and stay within (0, 1).
        let (left, right) = (left.max(last * RISE).max(f64::MIN_POSITIVE), right.min(1.0_f64.next_down()));
        for probability in [left, right].into_iter().filter(|p| *p <= right) {
            if probability > last {
                q.push(probability);
                table.push(*value);
                last = probability;
            }
        }
    }
    Ok((q, table))
}

/// The bounds of the support, where the object says them.
fn within_support(given: &Bound<'_, PyAny>, quantiles: Quantiles) -> Result<Quantiles> {
    match support(given) {
        (f64::NEG_INFINITY, f64::INFINITY) => Ok(quantiles),
        (low, high) => Ok(quantiles.clone().with_support(low, high).unwrap_or(quantiles)),
    }
}

/// The ends of the support; infinite where the object does not say them.
fn support(given: &Bound<'_, PyAny>) -> (f64, f64) {
    let said = || -> Result<(f64, f64)> {
        let support = given.getattr("support")?;
        let support = if support.is_callable() { support.call0()? } else { support };
        if let Ok(pair) = support.extract::<(f64, f64)>() {
            return Ok(pair);
        }
        // PyTorch's is a constraint, which has the bounds that there are; that of a mixture is around another.
        let support = support.getattr("base_constraint").unwrap_or(support);
        let bound = |name: &str, otherwise: f64| match support.getattr(name) {
            Ok(bound) => single(&bound),
            Err(_) => Ok(otherwise),
        };
        Ok((bound("lower_bound", f64::NEG_INFINITY)?, bound("upper_bound", f64::INFINITY)?))
    };
    match said() {
        Ok((low, high)) if low < high => (low, high),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    }
}

/// A method of the foreign object at all numbers: at once if it takes arrays, one by one if it does not.
fn evaluate(given: &Bound<'_, PyAny>, method: &str, at: &[f64]) -> Result<Vec<f64>> {
    let py = given.py();
    let is_tensor = match py.import("sys")?.getattr("modules")?.get_item("torch.distributions") {
        Ok(module) => given.is_instance(&module.getattr("Distribution")?)?,
        Err(_) => false,
    };
    if is_tensor {
        let torch = py.import("torch")?;
        let keywords = PyDict::new(py);
        keywords.set_item("dtype", torch.getattr("float64")?)?;
        let tensor = torch.call_method("tensor", (PyList::new(py, at)?,), Some(&keywords))?;
        let answer = given.call_method1(method, (tensor,))?.call_method0("tolist")?;
        return list(&answer, at.len());
    }
    let array = numpy::PyArray1::from_slice(py, at);
    if let Ok(answer) =
        given.call_method1(method, (array,)).map_err(Error::from).and_then(|answer| list(&answer, at.len()))
    {
        return Ok(answer);
    }
    at.iter().map(|&number| Ok(given.call_method1(method, (number,))?.extract::<f64>()?)).collect()
}

/// As many numbers as were asked for.
fn list(answer: &Bound<'_, PyAny>, count: usize) -> Result<Vec<f64>> {
    let values = match Numbers::extract(answer.as_borrowed())? {
        Numbers::One(_) => return Err(Error::wrong_type("one number for an array of them".into())),
        Numbers::Many(array) => read(&array)?,
    };
    if values.len() == count {
        Ok(values)
    } else {
        Err(truecast::Error::LengthMismatch {
            what: "numbers that a foreign distribution was asked for, and those that it gave",
            left: count,
            right: values.len(),
        }
        .into())
    }
}
