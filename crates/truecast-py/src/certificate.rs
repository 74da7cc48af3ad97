//! The certificate as Python's dataclass `truecast.Certificate`.

use pyo3::prelude::*;
use truecast::monitor::Certificate;

use crate::errors::{Error, Result};

/// The dataclass for a certificate; `method` is said where nothing is promised.
pub(crate) fn object<'py>(
    py: Python<'py>,
    certificate: Option<Certificate>,
    method: &str,
) -> Result<Bound<'py, PyAny>> {
    let certificate = certificate.filter(|certificate| certificate != &Certificate::default());
    let certificate = certificate.ok_or_else(|| Error::NoCertificate(method.to_string()))?;
    let text = serde_json::to_string(&certificate)
        .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))?;
    let module = py.import("truecast.certificates")?;
    Ok(module.getattr("from_json")?.call1((text, certificate.lines(), certificate.holds()))?)
}
