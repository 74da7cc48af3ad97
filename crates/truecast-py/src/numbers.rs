//! One number or many: methods take a float and give a float, or take anything NumPy makes an array of and give an array of its shape.

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyString};

use crate::errors::{Error, Result};

/// From this many entries on, other Python threads run while they are computed: below it, handing over costs more than it gives.
const WORTH_DETACHING: usize = 256;

/// A float, or an array of them.
pub(crate) enum Numbers<'py> {
    One(f64),
    Many(Bound<'py, PyArrayDyn<f64>>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Numbers<'py> {
    type Error = Error;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> Result<Self> {
        if let Ok(float) = given.cast::<PyFloat>() {
            return Ok(Numbers::One(float.value()));
        }
        if let Ok(array) = given.cast::<PyArrayDyn<f64>>()
            && is_aligned(&array)
        {
            return Numbers::of_array(array.to_owned());
        }
        if given.is_instance_of::<PyInt>() {
            return Ok(Numbers::One(given.extract::<f64>()?));
        }
        Numbers::of_array(as_array(&given)?)
    }
}

impl<'py> Numbers<'py> {
    /// An array without dimensions is one number.
    fn of_array(array: Bound<'py, PyArrayDyn<f64>>) -> Result<Self> {
        if array.ndim() > 0 {
            return Ok(Numbers::Many(array));
        }
        let value = read(&array)?.first().copied();
        value.map(Numbers::One).ok_or_else(|| Error::wrong_type("an array without entries".into()))
    }

    /// The function of each number.
    pub(crate) fn map(
        self,
        py: Python<'py>,
        function: impl Fn(f64) -> Result<f64, truecast::Error> + Send + Sync,
    ) -> Result<Bound<'py, PyAny>> {
        match self {
            Numbers::One(number) => Ok(PyFloat::new(py, function(number)?).into_any()),
            Numbers::Many(array) => {
                let numbers = read(&array)?;
                let compute =
                    || numbers.iter().map(|&number| function(number)).collect::<Result<Vec<_>, _>>();
                let values = if numbers.len() < WORTH_DETACHING { compute() } else { py.detach(compute) }?;
                Ok(shaped(py, values, array.shape())?.into_any())
            }
        }
    }

    /// Two functions of each number.
    pub(crate) fn map_pair(
        self,
        py: Python<'py>,
        function: impl Fn(f64) -> Result<(f64, f64), truecast::Error>,
    ) -> Result<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        match self {
            Numbers::One(number) => {
                let (low, high) = function(number)?;
                Ok((PyFloat::new(py, low).into_any(), PyFloat::new(py, high).into_any()))
            }
            Numbers::Many(array) => {
                let pairs = read(&array)?.into_iter().map(function).collect::<Result<Vec<_>, _>>()?;
                let (low, high) = pairs.into_iter().unzip();
                let shape = array.shape();
                Ok((shaped(py, low, shape)?.into_any(), shaped(py, high, shape)?.into_any()))
            }
        }
    }

    /// The numbers in order, with their shape.
    pub(crate) fn flatten(self) -> Result<(Vec<f64>, Vec<usize>)> {
        match self {
            Numbers::One(number) => Ok((vec![number], Vec::new())),
            Numbers::Many(array) => Ok((read(&array)?, array.shape().to_vec())),
        }
    }
}

/// Whatever NumPy makes an array of numbers of.
fn as_array<'py>(given: &Bound<'py, PyAny>) -> Result<Bound<'py, PyArrayDyn<f64>>> {
    let py = given.py();
    let refuse =
        |found: &str| Error::wrong_type(format!("a number or an array of numbers is needed, not {found}"));
    if given.is_none() || given.is_instance_of::<PyString>() {
        return Err(refuse(&given.repr()?.to_string()));
    }
    let array = py.import("numpy")?.call_method1("asarray", (given,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    // Booleans, integers, floats. Text would be parsed, and objects could hide a None that becomes NaN.
    if !matches!(kind.as_str(), "b" | "i" | "u" | "f") {
        let kind = array.getattr("dtype")?.to_string();
        return Err(refuse(&format!("{} (dtype {kind})", given.get_type().name()?)));
    }
    let floats = array.call_method1("astype", (py.import("numpy")?.getattr("float64")?,))?;
    Ok(floats.cast_into::<PyArrayDyn<f64>>().map_err(PyErr::from)?)
}

/// True if every entry stands where a processor reads numbers at. Fields of an array need not.
fn is_aligned(array: &Bound<'_, PyArrayDyn<f64>>) -> bool {
    array.data().is_aligned()
        && array.strides().iter().all(|stride| stride % align_of::<f64>().cast_signed() == 0)
}

/// The entries, in row-major order. A copy: whoever holds the array may write to it while others compute.
pub(crate) fn read(array: &Bound<'_, PyArrayDyn<f64>>) -> Result<Vec<f64>> {
    let view = array.try_readonly().map_err(PyErr::from)?;
    // A slice is in memory order, which is row-major order for these alone.
    if let (true, Ok(slice)) = (array.is_c_contiguous(), view.as_slice()) {
        return Ok(slice.to_vec());
    }
    Ok(view.as_array().iter().copied().collect())
}

/// An array of the given shape.
pub(crate) fn shaped<'py>(
    py: Python<'py>,
    values: Vec<f64>,
    shape: &[usize],
) -> Result<Bound<'py, PyArrayDyn<f64>>> {
    Ok(PyArray1::from_vec(py, values).reshape(shape.to_vec())?)
}

/// A list of numbers: anything with one dimension.
pub(crate) struct List(pub(crate) Vec<f64>);

impl<'a, 'py> FromPyObject<'a, 'py> for List {
    type Error = Error;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> Result<Self> {
        let (values, shape) = Numbers::extract(given)?.flatten()?;
        if shape.len() == 1 {
            Ok(List(values))
        } else {
            Err(Error::wrong_type(format!("one dimension is needed, not {}", shape.len())))
        }
    }
}

/// A table of numbers: anything with two dimensions, row by row.
pub(crate) struct Table {
    pub(crate) values: Vec<f64>,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Table {
    type Error = Error;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> Result<Self> {
        let (values, shape) = Numbers::extract(given)?.flatten()?;
        match shape[..] {
            [rows, columns] => Ok(Table { values, rows, columns }),
            _ => Err(Error::wrong_type(format!("two dimensions are needed, not {}", shape.len()))),
        }
    }
}
