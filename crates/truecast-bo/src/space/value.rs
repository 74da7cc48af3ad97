//! One coordinate of a point, in the units of its dimension.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A value of one dimension. In files it is a bare number or a string.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// The name of a choice.
    Category(String),
}

impl Value {
    /// The number, if it is one.
    pub fn as_real(&self) -> Option<f64> {
        match self {
            Value::Real(x) => Some(*x),
            Value::Integer(x) => Some(*x as f64),
            Value::Category(_) => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(x) => write!(f, "{x}"),
            Value::Real(x) => write!(f, "{x}"),
            Value::Category(x) => write!(f, "{x:?}"),
        }
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Value::Real(x)
    }
}

impl From<i64> for Value {
    fn from(x: i64) -> Self {
        Value::Integer(x)
    }
}

impl From<&str> for Value {
    fn from(x: &str) -> Self {
        Value::Category(x.to_string())
    }
}
