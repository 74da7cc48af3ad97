//! The certificate as Python's dataclass `truecast.Certificate`.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use truecast::LedgerKind;
use truecast::monitor::{Certificate, LedgerCertificate};

use crate::errors::{Error, Result};

/// The dataclass for a certificate; `method` is said where there is none.
pub(crate) fn object<'py>(
    py: Python<'py>,
    certificate: Option<Certificate>,
    method: &str,
) -> Result<Bound<'py, PyAny>> {
    let certificate = certificate.ok_or_else(|| Error::NoCertificate(method.to_string()))?;
    let module = py.import("truecast.certificates")?;
    let class = module.getattr("LedgerCertificate")?;
    let ledgers = certificate.ledgers.iter().map(|ledger| entry(&class, ledger));
    let ledgers = PyTuple::new(py, ledgers.collect::<Result<Vec<_>>>()?)?;
    let all =
        (certificate.steps, certificate.potential, certificate.potential_bound, ledgers, certificate.holds());
    Ok(module.getattr("Certificate")?.call1(all)?)
}

fn entry<'py>(class: &Bound<'py, PyAny>, ledger: &LedgerCertificate) -> Result<Bound<'py, PyAny>> {
    let (group, threshold) = match ledger.kind {
        LedgerKind::Group(group) => (Some(group), None),
        LedgerKind::Threshold(y) => (None, Some(y)),
        LedgerKind::Uniform | LedgerKind::Crps => (None, None),
    };
    Ok(class.call1((
        ledger.kind.to_string(),
        ledger.calibration_error,
        ledger.calibration_bound,
        ledger.regret,
        ledger.regret_bound,
        ledger.announced_regret,
        group,
        threshold,
    ))?)
}
