//! Rust's errors as Python's exceptions: the one place where they are mapped, one class for each variant.
//!
//! The classes are Python's own, in `truecast/errors.py`. An exception has the message of the Rust error and its fields as attributes,
//! so that a program can ask for the value that was refused; in batches `row` says where it was.

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use truecast::SnapshotError;
use truecast_data::RowError;

/// What [`Result`](std::result::Result) means in this crate.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call from Python was refused.
#[derive(Debug)]
pub(crate) enum Error {
    /// By the core.
    Core(truecast::Error),
    /// By the fleet.
    Fleet(truecast_fleet::Error),
    /// By the optimiser.
    Optimiser(truecast_bo::Error),
    /// A point whose names are not those of its space.
    PointNames { missing: Vec<String>, unknown: Vec<String> },
    /// A setting of something that was not chosen.
    UnusedSetting { setting: &'static str, of: &'static str, chosen: String },
    /// By Python itself: a wrong type, or whatever a foreign distribution raised.
    Python(PyErr),
    /// In a batch, for the reason given, at this row.
    Row(usize, Box<Error>),
    /// A row of a frame breaks a rule.
    Cell(Box<RowError>),
    /// What was asked for cannot be.
    Usage {
        /// What is wrong.
        problem: String,
        /// What to do about it; empty if nothing can be said.
        hint: String,
    },
    /// The columns of a frame do not say what is what.
    Columns {
        /// What is wrong.
        problem: String,
        /// What to do about it; empty if nothing can be said.
        hint: String,
    },
    /// The method certifies nothing.
    NoCertificate(String),
    /// Rows that a fleet refused while it took the others.
    RefusedRows(Vec<(usize, Error)>),
    /// An earlier call panicked half-way. Never seen so far, and never hidden.
    Poisoned,
}

impl Error {
    /// A `TypeError`.
    pub(crate) fn wrong_type(message: String) -> Self {
        Error::Python(PyTypeError::new_err(message))
    }

    pub(crate) fn at_row(self, row: usize) -> Self {
        Error::Row(row, Box::new(self))
    }
}

impl From<truecast::Error> for Error {
    fn from(error: truecast::Error) -> Self {
        Error::Core(error)
    }
}

impl From<truecast_fleet::Error> for Error {
    fn from(error: truecast_fleet::Error) -> Self {
        match error {
            truecast_fleet::Error::Core(error) => Error::Core(error),
            error => Error::Fleet(error),
        }
    }
}

impl From<truecast_bo::Error> for Error {
    fn from(error: truecast_bo::Error) -> Self {
        match error {
            truecast_bo::Error::Core(error) => Error::Core(error),
            error => Error::Optimiser(error),
        }
    }
}

impl From<truecast_data::Error> for Error {
    fn from(error: truecast_data::Error) -> Self {
        match error {
            truecast_data::Error::File { problem, hint, .. } => Error::Columns { problem, hint },
            truecast_data::Error::Row(error) => Error::Cell(error),
            other => Error::Usage { problem: other.to_string(), hint: String::new() },
        }
    }
}

impl From<RowError> for Error {
    fn from(error: RowError) -> Self {
        Error::Cell(Box::new(error))
    }
}

impl From<truecast_events::Error> for Error {
    fn from(error: truecast_events::Error) -> Self {
        use truecast_events::Error as Events;
        match error {
            Events::Data(error) => error.into(),
            Events::Fleet(error) => error.into(),
            Events::Usage { problem, hint } => Error::Usage { problem, hint },
            other => Error::Usage { problem: other.to_string(), hint: String::new() },
        }
    }
}

impl From<SnapshotError> for Error {
    fn from(error: SnapshotError) -> Self {
        Error::Core(error.into())
    }
}

impl From<PyErr> for Error {
    fn from(error: PyErr) -> Self {
        Error::Python(error)
    }
}

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        Python::attach(|py| raised(py, error).unwrap_or_else(|error| error))
    }
}

/// The exception for an error.
fn raised(py: Python<'_>, error: Error) -> PyResult<PyErr> {
    match error {
        Error::Core(error) => core(py, &error),
        Error::Fleet(error) => fleet(py, &error),
        Error::Optimiser(error) => optimiser(py, &error),
        Error::PointNames { missing, unknown } => {
            let message = match (&missing[..], &unknown[..]) {
                ([], unknown) => format!("the space has no {}", quoted(unknown)),
                (missing, []) => format!("a point of this space needs {}", quoted(missing)),
                (missing, unknown) => {
                    format!("a point of this space needs {}, and has no {}", quoted(missing), quoted(unknown))
                }
            };
            let fields = [
                ("missing", PyTuple::new(py, missing)?.into_any()),
                ("unknown", PyTuple::new(py, unknown)?.into_any()),
            ];
            build(py, "PointNamesError", &message, &fields)
        }
        Error::UnusedSetting { setting, of, chosen } => {
            let message = format!("{setting} is a setting of {of}, not of {chosen}");
            let fields = [
                ("setting", setting.into_pyobject(py)?.into_any()),
                ("chosen", chosen.into_pyobject(py)?.into_any()),
            ];
            build(py, "UnusedSettingError", &message, &fields)
        }
        Error::Python(error) => Ok(error),
        Error::Poisoned => {
            Ok(PyRuntimeError::new_err("an earlier call failed half-way; load the last saved state"))
        }
        Error::NoCertificate(method) => {
            let message =
                format!("{method} promises nothing: there is no stop-loss and no guard, or no series yet");
            build(py, "NoCertificateError", &message, &[("method", method.into_pyobject(py)?.into_any())])
        }
        Error::Row(row, error) => {
            let outer = under(py, &format!("row {row}"), *error)?;
            outer.setattr("row", row)?;
            Ok(PyErr::from_value(outer))
        }
        Error::Cell(error) => cell(py, &error),
        Error::Usage { problem, hint } => build(py, "SettingError", &hinted(&problem, &hint), &[]),
        Error::Columns { problem, hint } => {
            let message = hinted(&problem, &hint);
            let fields = [
                ("problem", problem.into_pyobject(py)?.into_any()),
                ("hint", hint.into_pyobject(py)?.into_any()),
            ];
            build(py, "ColumnsError", &message, &fields)
        }
        Error::RefusedRows(rows) => {
            let count = rows.len();
            let mut refused = Vec::with_capacity(count);
            for (row, error) in rows {
                refused.push((row, raised(py, error)?.into_value(py)));
            }
            // A row of a frame says which one it is.
            let first = refused.first().map_or(String::new(), |(row, error)| match error.to_string() {
                said if said.starts_with("row ") => said,
                said => format!("row {row}: {said}"),
            });
            let message = format!("{count} rows were refused and the others taken; {first}");
            build(py, "RefusedRowsError", &message, &[("refused", PyTuple::new(py, refused)?.into_any())])
        }
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The exception for an error, with words before its message.
fn under<'py>(py: Python<'py>, words: &str, error: Error) -> PyResult<Bound<'py, PyAny>> {
    let inner = raised(py, error)?;
    let (kind, value) = (inner.get_type(py), inner.value(py));
    let outer = kind.call1((format!("{words}: {value}"),))?;
    if let Ok(fields) = value.getattr("__dict__") {
        outer.getattr("__dict__")?.call_method1("update", (fields,))?;
    }
    Ok(outer)
}

/// An instance of the class `name` of `truecast.errors`.
fn build(py: Python<'_>, name: &str, message: &str, fields: &[(&str, Bound<'_, PyAny>)]) -> PyResult<PyErr> {
    let exception = py.import("truecast.errors")?.getattr(name)?.call1((message,))?;
    for (field, value) in fields {
        exception.setattr(*field, value)?;
    }
    Ok(PyErr::from_value(exception))
}

/// Builds the exception `$class` with the named fields.
macro_rules! exception {
    ($py:ident, $error:ident, $class:literal $(, $field:ident)*) => {{
        let fields = [$((stringify!($field), (*$field).clone().into_pyobject($py)?.into_any())),*];
        build($py, $class, &$error.to_string(), &fields)
    }};
}

fn core(py: Python<'_>, error: &truecast::Error) -> PyResult<PyErr> {
    use truecast::Error as Core;
    match error {
        Core::NotFinite { what, value } => exception!(py, error, "NotFiniteError", what, value),
        Core::NotPositive { what, value } => exception!(py, error, "NotPositiveError", what, value),
        Core::OutOfRange { what, rule, value } => {
            exception!(py, error, "OutOfRangeError", what, rule, value)
        }
        Core::TooFew { what, least, found } => exception!(py, error, "TooFewError", what, least, found),
        Core::LengthMismatch { what, left, right } => {
            exception!(py, error, "LengthMismatchError", what, left, right)
        }
        Core::NotIncreasing { what, index, previous, value } => {
            exception!(py, error, "NotIncreasingError", what, index, previous, value)
        }
        Core::CrossingQuantiles { probability, previous, value } => {
            exception!(py, error, "CrossingQuantilesError", probability, previous, value)
        }
        Core::UnknownGroup { group, count } => exception!(py, error, "UnknownGroupError", group, count),
        Core::WidthOutOfRange { level, width } => {
            exception!(py, error, "WidthOutOfRangeError", level, width)
        }
        Core::NoDensity { outcome } => exception!(py, error, "NoDensityError", outcome),
        Core::NoExpectation { what } => exception!(py, error, "NoExpectationError", what),
        Core::UnknownTicket { ticket } => {
            let ticket = &ticket.number();
            exception!(py, error, "UnknownTicketError", ticket)
        }
        Core::ClosedTicket { ticket } => {
            let ticket = &ticket.number();
            exception!(py, error, "ClosedTicketError", ticket)
        }
        Core::ForeignPlan { expected, found } => exception!(py, error, "ForeignPlanError", expected, found),
        Core::UnknownMethod { name } => exception!(py, error, "UnknownMethodError", name),
        Core::UnknownExpert { name } => exception!(py, error, "UnknownExpertError", name),
        Core::UnknownGuard { name } => exception!(py, error, "UnknownGuardError", name),
        Core::Snapshot(reason) => snapshot(py, reason),
        // The enum may grow; a new variant is a TruecastError until it has a class of its own.
        other => build(py, "TruecastError", &other.to_string(), &[]),
    }
}

fn hinted(problem: &str, hint: &str) -> String {
    if hint.is_empty() { problem.to_owned() } else { format!("{problem}\nhint: {hint}") }
}

/// A row of a frame, in the words of its cells.
fn cell(py: Python<'_>, error: &RowError) -> PyResult<PyErr> {
    let RowError { file, line: row, column, value, rule, hint } = error;
    let of = if file == "the outcomes" { " of the outcomes" } else { "" };
    let place = column.as_ref().map_or(String::new(), |column| format!("column {column}: "));
    let got = value.as_ref().map_or(String::new(), |value| format!(", got {value:?}"));
    let message = hinted(&format!("row {row}{of}: {place}{rule}{got}"), hint);
    exception!(py, message, "CellError", row, column, value, rule, hint)
}

fn snapshot(py: Python<'_>, error: &SnapshotError) -> PyResult<PyErr> {
    match error {
        SnapshotError::BadMagic => build(py, "BadMagicError", &error.to_string(), &[]),
        SnapshotError::UnsupportedVersion { found, newest } => {
            exception!(py, error, "UnsupportedVersionError", found, newest)
        }
        SnapshotError::WrongLength { expected, found } => {
            exception!(py, error, "WrongLengthError", expected, found)
        }
        SnapshotError::WrongChecksum { expected, found } => {
            exception!(py, error, "WrongChecksumError", expected, found)
        }
        SnapshotError::Malformed { reason } => exception!(py, error, "MalformedError", reason),
        SnapshotError::Invalid { field, rule } => exception!(py, error, "InvalidStateError", field, rule),
        other => build(py, "SnapshotError", &other.to_string(), &[]),
    }
}

fn fleet(py: Python<'_>, error: &truecast_fleet::Error) -> PyResult<PyErr> {
    use truecast_fleet::Error as Fleet;
    match error {
        Fleet::Core(error) => core(py, error),
        Fleet::NotASetting { setting, of } => exception!(py, error, "NotASettingError", setting, of),
        Fleet::TooManyGroups { label, count } => exception!(py, error, "TooManyGroupsError", label, count),
        Fleet::OtherSettings { saved, asked } => exception!(py, error, "OtherSettingsError", saved, asked),
        Fleet::NoTime => build(py, "NoTimeError", &error.to_string(), &[]),
        Fleet::Backwards { now, last } => exception!(py, error, "BackwardsError", now, last),
        other => build(py, "TruecastError", &other.to_string(), &[]),
    }
}

fn optimiser(py: Python<'_>, error: &truecast_bo::Error) -> PyResult<PyErr> {
    use truecast_bo::Error as Bo;
    match error {
        Bo::Core(error) => core(py, error),
        Bo::Setting { what, rule, value } => exception!(py, error, "OutOfRangeError", what, rule, value),
        Bo::Dimension { name, rule, found } => exception!(py, error, "DimensionError", name, rule, found),
        Bo::Space { rule, found } => exception!(py, error, "SpaceError", rule, found),
        Bo::PointLength { expected, found } => {
            let (what, left, right) = (&"values of a point", expected, found);
            exception!(py, error, "LengthMismatchError", what, left, right)
        }
        Bo::Value { name, rule, found } => exception!(py, error, "PointValueError", name, rule, found),
        Bo::Outcome { value } => exception!(py, error, "OutcomeError", value),
        Bo::NotFinite { what, value } => exception!(py, error, "NotFiniteError", what, value),
        Bo::TooFewOutcomes { least, found } => {
            let what = &"outcomes for a surrogate";
            exception!(py, error, "TooFewError", what, least, found)
        }
        Bo::UnknownName { name, known, .. } => exception!(py, error, "UnknownNameError", name, known),
        Bo::State { rule } => {
            let field = &"study";
            exception!(py, error, "InvalidStateError", field, rule)
        }
        other => build(py, "TruecastError", &other.to_string(), &[]),
    }
}
