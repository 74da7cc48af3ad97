//! The series of each row: numbered once for a batch, so that no row of it is hashed as a text twice.
//!
//! | given | what a row costs |
//! |---|---|
//! | codes and categories (a pandas `Categorical` or its series, an array of PyArrow) | a copy of its code |
//! | an array of integers | one look at a table of numbers |
//! | a list or an array of objects | one look at a table of addresses, if equal texts are the same object; else of texts |

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyString};

use crate::errors::{Error, Result};

/// Keys by row.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    codes: Vec<u32>,
    texts: Vec<String>,
}

/// Addresses and numbers are spread by one multiplication: nobody chooses them to collide, and if they do, only time is lost.
#[derive(Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(number.cast_unsigned());
    }
}

type Numbered<K> = HashMap<K, u32, BuildHasherDefault<Spread>>;

impl Keys {
    /// Reads a key for each row.
    pub(crate) fn read(given: &Bound<'_, PyAny>) -> Result<Self> {
        if given.is_instance_of::<PyString>() {
            return Err(Error::wrong_type("a key for each row is needed, not one text".into()));
        }
        if let Some(keys) = coded(given)? {
            return Ok(keys);
        }
        if let Ok(array) = given.cast::<PyArray1<i64>>() {
            return Ok(Keys::of_integers(&array.try_readonly().map_err(PyErr::from)?.as_array().to_vec()));
        }
        let list = match given.cast::<PyList>() {
            Ok(list) => list.clone(),
            Err(_) if given.hasattr("tolist")? => {
                given.call_method0("tolist")?.cast_into::<PyList>().map_err(PyErr::from)?
            }
            Err(_) => PyList::new(given.py(), given.try_iter()?.collect::<PyResult<Vec<_>>>()?)?,
        };
        Keys::of_list(&list)
    }

    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    pub(crate) fn code(&self, row: usize) -> usize {
        self.codes[row] as usize
    }

    pub(crate) fn text(&self, row: usize) -> &str {
        &self.texts[self.code(row)]
    }

    fn of_integers(given: &[i64]) -> Self {
        let (mut known, mut texts) = (Numbered::<i64>::default(), Vec::new());
        let codes = given.iter().map(|&number| {
            *known.entry(number).or_insert_with(|| {
                texts.push(number.to_string());
                texts.len() as u32 - 1
            })
        });
        Keys { codes: codes.collect(), texts }
    }

    /// The list holds its items, so that an address means the same object until the end.
    fn of_list(given: &Bound<'_, PyList>) -> Result<Self> {
        let (mut by_address, mut by_text) = (Numbered::<usize>::default(), HashMap::<String, u32>::new());
        let mut keys = Keys { codes: Vec::with_capacity(given.len()), texts: Vec::new() };
        // A list may be changed by another thread: what it held is kept until its addresses have been compared.
        let mut seen: Vec<Bound<'_, PyAny>> = Vec::new();
        // Series come together or take turns: what came after the same key the time before is most often right.
        let (mut after, mut last) = (Vec::new(), 0);
        for item in given.iter() {
            let address = item.as_ptr() as usize;
            let guess = after.get(last).copied().filter(|(next, _)| *next == address).map(|(_, code)| code);
            let code = match guess.or_else(|| by_address.get(&address).copied()) {
                Some(code) => code,
                None => {
                    let text = label(&item)?;
                    let code = match by_text.get(&text) {
                        Some(&code) => code,
                        None => {
                            keys.texts.push(text.clone());
                            by_text.insert(text, keys.texts.len() as u32 - 1);
                            keys.texts.len() as u32 - 1
                        }
                    };
                    by_address.insert(address, code);
                    seen.push(item);
                    code
                }
            };
            if guess.is_none() {
                after.resize(keys.texts.len(), (0, 0));
                after[last] = (address, code);
            }
            last = code as usize;
            keys.codes.push(code);
        }
        Ok(keys)
    }
}

/// What numbers its texts already.
fn coded(given: &Bound<'_, PyAny>) -> Result<Option<Keys>> {
    // A pandas series of categories holds them one step down; PyArrow numbers texts itself.
    let mut given = given.getattr("cat").unwrap_or_else(|_| given.clone());
    for step in ["dictionary_encode", "combine_chunks"] {
        if given.hasattr(step)? {
            given = given.call_method0(step)?;
        }
    }
    let (codes, categories) = match (given.getattr("codes"), given.getattr("categories")) {
        (Ok(codes), Ok(categories)) => (codes, categories),
        _ => match (given.getattr("indices"), given.getattr("dictionary")) {
            (Ok(indices), Ok(dictionary)) => {
                let missing = indices.getattr("null_count")?.extract::<usize>()? > 0;
                if missing {
                    return Err(no_key());
                }
                (indices.call_method0("to_numpy")?, dictionary.call_method0("to_pylist")?)
            }
            _ => return Ok(None),
        },
    };
    let numpy = given.py().import("numpy")?;
    let codes =
        numpy.call_method1("asarray", (codes, "int64"))?.cast_into::<PyArray1<i64>>().map_err(PyErr::from)?;
    let texts: Vec<String> = categories.try_iter()?.map(|text| label(&text?)).collect::<Result<_>>()?;
    // Categories are distinct; their texts need not be (1 and "1").
    let mut first: HashMap<&str, u32> = HashMap::new();
    let same: Vec<u32> = texts.iter().zip(0..).map(|(text, at)| *first.entry(text).or_insert(at)).collect();
    let number = |code: &i64| usize::try_from(*code).ok().and_then(|code| same.get(code).copied());
    let codes = codes.try_readonly().map_err(PyErr::from)?;
    let codes: Option<Vec<u32>> = codes.as_array().iter().map(number).collect();
    Ok(Some(Keys { codes: codes.ok_or_else(no_key)?, texts }))
}

fn no_key() -> Error {
    Error::wrong_type("a key is text or a whole number, and must not be missing".into())
}

/// A key or a label: text, or a whole number as its digits.
pub(crate) fn label(given: &Bound<'_, PyAny>) -> Result<String> {
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(text.to_str()?.to_owned());
    }
    if given.is_instance_of::<PyInt>() || given.hasattr("__index__")? {
        return Ok(given.call_method0("__index__")?.str()?.to_str()?.to_owned());
    }
    Err(Error::wrong_type(format!("a key is text or a whole number, not {}", given.repr()?)))
}

/// Several labels.
pub(crate) fn labels(given: &Bound<'_, PyAny>) -> Result<Vec<String>> {
    if given.is_instance_of::<PyString>() {
        return Err(Error::wrong_type("a key for each row is needed, not one text".into()));
    }
    let given = if given.hasattr("tolist")? { given.call_method0("tolist")? } else { given.clone() };
    given.try_iter()?.map(|item| label(&item?)).collect()
}
