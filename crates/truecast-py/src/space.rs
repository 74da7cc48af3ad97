//! The class `Space`, from Python's dimensions, and its points as dicts.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyString, PyTuple};
use truecast_bo::{Dimension, Scale, Space as Searched, Value};

use crate::errors::{Error, Result};

/// What is searched: named dimensions.
///
/// Parameters
/// ----------
/// dimensions : mapping
///     From names to `Real`, `Integer` or `Choice`; a tuple ``(low, high)`` is short for ``Real(low, high)``. Their order is that of the mapping.
///
/// Examples
/// --------
/// >>> import truecast as tc
/// >>> space = tc.Space({"rate": tc.Real(1e-5, 1.0, log=True), "depth": tc.Integer(1, 8), "kind": tc.Choice(["a", "b"])})
/// >>> list(space.dimensions)
/// ['rate', 'depth', 'kind']
/// >>> tc.Space({"x": (0.0, 1.0)})
/// Space({'x': Real(low=0.0, high=1.0, log=False)})
#[pyclass(frozen, module = "truecast", eq)]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Space {
    pub(crate) inner: Searched,
}

#[pymethods]
impl Space {
    #[new]
    fn new(dimensions: &Bound<'_, PyAny>) -> Result<Self> {
        Ok(Space { inner: searched(dimensions)? })
    }

    /// The dimensions by name, in order.
    #[getter]
    fn dimensions<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let module = py.import("truecast.spaces")?;
        let all = PyDict::new(py);
        for (name, dimension) in self.inner.dimensions() {
            let object = match dimension {
                Dimension::Real { low, high, scale } => {
                    module.getattr("Real")?.call1((low, high, *scale == Scale::Log))?
                }
                Dimension::Integer { low, high, scale } => {
                    module.getattr("Integer")?.call1((low, high, *scale == Scale::Log))?
                }
                Dimension::Category { choices } => {
                    module.getattr("Choice")?.call1((PyTuple::new(py, choices)?,))?
                }
                other => return Err(Error::wrong_type(format!("no class for the dimension {other:?}"))),
            };
            all.set_item(name, object)?;
        }
        Ok(all)
    }

    fn __len__(&self) -> usize {
        self.inner.dimensions().len()
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        Ok(format!("Space({})", self.dimensions(py)?.repr()?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        Ok((slf.get_type().into_any(), (slf.get().dimensions(slf.py())?,)))
    }
}

/// A space from a `Space` or a mapping.
pub(crate) fn searched(given: &Bound<'_, PyAny>) -> Result<Searched> {
    if let Ok(space) = given.cast::<Space>() {
        return Ok(space.get().inner.clone());
    }
    let Ok(mapping) = given.cast::<PyMapping>() else {
        return Err(Error::wrong_type(format!(
            "a space is needed, or a mapping of names to dimensions, not {}",
            given.get_type().name()?
        )));
    };
    let mut dimensions = Vec::new();
    for item in mapping.items()?.iter() {
        let (name, dimension) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let Ok(name) = name.extract::<String>() else {
            return Err(Error::wrong_type(format!("dimensions have names, not {}", name.repr()?)));
        };
        let dimension = described(&name, &dimension)?;
        dimensions.push((name, dimension));
    }
    Ok(Searched::new(dimensions)?)
}

fn described(name: &str, given: &Bound<'_, PyAny>) -> Result<Dimension> {
    let module = given.py().import("truecast.spaces")?;
    let is = |class: &str| -> Result<bool> { Ok(given.is_instance(&module.getattr(class)?)?) };
    if is("Real")? {
        let (low, high) = (given.getattr("low")?.extract()?, given.getattr("high")?.extract()?);
        return Ok(Dimension::Real { low, high, scale: scale(given)? });
    }
    if is("Integer")? {
        let (low, high) = (whole(name, &given.getattr("low")?)?, whole(name, &given.getattr("high")?)?);
        return Ok(Dimension::Integer { low, high, scale: scale(given)? });
    }
    if is("Choice")? {
        return Ok(Dimension::category(given.getattr("options")?.extract::<Vec<String>>()?));
    }
    if let Ok((low, high)) = given.extract::<(f64, f64)>() {
        return Ok(Dimension::real(low, high));
    }
    Err(Error::wrong_type(format!(
        "`{name}` must be Real, Integer, Choice or a tuple (low, high), not {}",
        given.repr()?
    )))
}

fn scale(given: &Bound<'_, PyAny>) -> Result<Scale> {
    Ok(if given.getattr("log")?.extract::<bool>()? { Scale::Log } else { Scale::Linear })
}

/// A bound that is a whole number; those beyond all integers of Rust are refused with the rule of a dimension.
fn whole(name: &str, given: &Bound<'_, PyAny>) -> Result<i64> {
    match given.extract::<i64>() {
        Err(error) if error.is_instance_of::<PyOverflowError>(given.py()) => {
            Err(truecast_bo::Error::Dimension {
                name: name.to_string(),
                rule: "bounds within ±2^53, the lower below the upper",
                found: given.str()?.to_string(),
            }
            .into())
        }
        other => Ok(other?),
    }
}

/// A point as a dict.
pub(crate) fn dict<'py>(py: Python<'py>, space: &Searched, point: &[Value]) -> Result<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for ((name, _), value) in space.dimensions().zip(point) {
        match value {
            Value::Integer(x) => all.set_item(name, x)?,
            Value::Real(x) => all.set_item(name, x)?,
            Value::Category(x) => all.set_item(name, x)?,
        }
    }
    Ok(all)
}

/// A point from a mapping of names to values.
pub(crate) fn point(space: &Searched, given: &Bound<'_, PyAny>) -> Result<Vec<Value>> {
    let Ok(mapping) = given.cast::<PyMapping>() else {
        return Err(Error::wrong_type(format!(
            "a point is a mapping of names to values, not {}",
            given.get_type().name()?
        )));
    };
    let keys = mapping.keys()?;
    let missing: Vec<String> = space
        .dimensions()
        .filter_map(|(name, _)| match mapping.contains(name) {
            Ok(false) => Some(Ok(name.to_string())),
            Ok(true) => None,
            Err(error) => Some(Err(error)),
        })
        .collect::<PyResult<_>>()?;
    let unknown = unknown(space, &keys)?;
    if !(missing.is_empty() && unknown.is_empty()) {
        return Err(Error::PointNames { missing, unknown });
    }
    space.dimensions().map(|(name, dimension)| value(name, dimension, &mapping.get_item(name)?)).collect()
}

fn unknown(space: &Searched, keys: &Bound<'_, PyList>) -> Result<Vec<String>> {
    let mut unknown = Vec::new();
    for key in keys.iter() {
        let name = key.str()?.to_string();
        if !key.is_instance_of::<PyString>() || !space.dimensions().any(|(known, _)| known == name) {
            unknown.push(name);
        }
    }
    Ok(unknown)
}

fn value(name: &str, dimension: &Dimension, given: &Bound<'_, PyAny>) -> Result<Value> {
    let wrong = |needed: &str| -> Result<Error> {
        Ok(Error::wrong_type(format!("the value of `{name}` must be {needed}, got {}", given.repr()?)))
    };
    match dimension {
        Dimension::Real { .. } => match given.extract() {
            Ok(x) => Ok(Value::Real(x)),
            Err(_) => Err(wrong("a number")?),
        },
        Dimension::Integer { low, high, .. } => match given.extract::<i64>() {
            Ok(x) => Ok(Value::Integer(x)),
            Err(error) if error.is_instance_of::<PyOverflowError>(given.py()) => {
                Err(truecast_bo::Error::Value {
                    name: name.to_string(),
                    rule: format!("a whole number from {low} to {high}"),
                    found: given.str()?.to_string(),
                }
                .into())
            }
            Err(_) => Err(wrong("a whole number")?),
        },
        _ => match given.extract() {
            Ok(x) => Ok(Value::Category(x)),
            Err(_) => Err(wrong("the name of a choice")?),
        },
    }
}
