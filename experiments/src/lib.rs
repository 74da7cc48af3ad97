//! What the studies share: who takes part, what is measured, how means are written.

#![allow(clippy::unwrap_used, reason = "inputs are a study's own")]

pub mod contestant;
pub mod figures;
pub mod measure;
