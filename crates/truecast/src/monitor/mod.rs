//! Running measurements.

mod certificate;

pub use certificate::{Certificate, LedgerCertificate};
