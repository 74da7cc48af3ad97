//! One dimension of a space: what values it has, and where they lie on the unit interval.

use serde::{Deserialize, Serialize};

use super::value::Value;
use crate::error::{Error, Result};

/// How numbers are spread over the unit interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal differences are equally far apart.
    #[default]
    Linear,
    /// Equal ratios are equally far apart; for learning rates and other numbers whose order of magnitude is unknown.
    Log,
}

impl Scale {
    fn forward(self, x: f64) -> f64 {
        match self {
            Scale::Linear => x,
            Scale::Log => libm::log(x),
        }
    }

    fn backward(self, x: f64) -> f64 {
        match self {
            Scale::Linear => x,
            Scale::Log => libm::exp(x),
        }
    }

    /// Where `x` lies between `low` and `high`.
    fn place(self, x: f64, low: f64, high: f64) -> f64 {
        let (start, end) = (self.forward(low), self.forward(high));
        ((self.forward(x) - start) / (end - start)).clamp(0.0, 1.0)
    }

    /// What lies at this place between `low` and `high`.
    fn at(self, place: f64, low: f64, high: f64) -> f64 {
        let (start, end) = (self.forward(low), self.forward(high));
        self.backward(start + place * (end - start)).clamp(low, high)
    }
}

/// The values of one dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Dimension {
    /// Real numbers from `low` to `high`, both included.
    Real {
        /// The smallest value.
        low: f64,
        /// The largest value.
        high: f64,
        /// How they are spread.
        #[serde(default)]
        scale: Scale,
    },
    /// Whole numbers from `low` to `high`, both included.
    Integer {
        /// The smallest value.
        low: i64,
        /// The largest value.
        high: i64,
        /// How they are spread.
        #[serde(default)]
        scale: Scale,
    },
    /// One of several named choices, none nearer to another than the rest.
    Category {
        /// The names.
        choices: Vec<String>,
    },
}

/// Whole numbers up to this have an `f64` of their own.
const LARGEST_INTEGER: i64 = 1 << 53;

impl Dimension {
    /// Real numbers on a linear scale.
    pub fn real(low: f64, high: f64) -> Self {
        Dimension::Real { low, high, scale: Scale::Linear }
    }

    /// Real numbers on a logarithmic scale.
    pub fn log(low: f64, high: f64) -> Self {
        Dimension::Real { low, high, scale: Scale::Log }
    }

    /// Whole numbers on a linear scale.
    pub fn integer(low: i64, high: i64) -> Self {
        Dimension::Integer { low, high, scale: Scale::Linear }
    }

    /// Named choices.
    pub fn category<S: Into<String>>(choices: impl IntoIterator<Item = S>) -> Self {
        Dimension::Category { choices: choices.into_iter().map(Into::into).collect() }
    }

    /// Coordinates of the unit cube that it takes.
    pub fn width(&self) -> usize {
        match self {
            Dimension::Real { .. } | Dimension::Integer { .. } => 1,
            Dimension::Category { choices } => choices.len(),
        }
    }

    pub(super) fn validate(&self, name: &str) -> Result<()> {
        let broken = |rule, found: String| Err(Error::Dimension { name: name.to_string(), rule, found });
        match self {
            Dimension::Real { low, high, scale } => {
                let found = || format!("{low} and {high}");
                if !(low.is_finite() && high.is_finite() && low < high && (high - low).is_finite()) {
                    return broken("finite bounds, the lower below the upper", found());
                }
                if *scale == Scale::Log && *low <= 0.0 {
                    return broken("bounds above 0 on a logarithmic scale", found());
                }
            }
            Dimension::Integer { low, high, scale } => {
                let found = || format!("{low} and {high}");
                if low >= high || *low < -LARGEST_INTEGER || *high > LARGEST_INTEGER {
                    return broken("bounds within ±2^53, the lower below the upper", found());
                }
                if *scale == Scale::Log && *low < 1 {
                    return broken("bounds of 1 or more on a logarithmic scale", found());
                }
            }
            Dimension::Category { choices } => {
                let repeats = (1..choices.len()).any(|i| choices[..i].contains(&choices[i]));
                if choices.len() < 2 || repeats {
                    return broken("two choices or more, all different", format!("{choices:?}"));
                }
            }
        }
        Ok(())
    }

    /// Adds the coordinates of `value`.
    pub(super) fn encode(&self, name: &str, value: &Value, out: &mut Vec<f64>) -> Result<()> {
        let refused =
            |rule: String| Err(Error::Value { name: name.to_string(), rule, found: value.to_string() });
        match (self, value) {
            (Dimension::Real { low, high, scale }, value) => match value.as_real() {
                Some(x) if (*low..=*high).contains(&x) => out.push(scale.place(x, *low, *high)),
                _ => return refused(format!("a number from {low} to {high}")),
            },
            (Dimension::Integer { low, high, scale }, Value::Integer(x)) if (low..=high).contains(&x) => {
                let (low, high) = cells(*low, *high);
                out.push(scale.place(*x as f64, low, high));
            }
            (Dimension::Integer { low, high, .. }, _) => {
                return refused(format!("a whole number from {low} to {high}"));
            }
            (Dimension::Category { choices }, Value::Category(x)) if choices.contains(x) => {
                out.extend(choices.iter().map(|choice| if choice == x { 1.0 } else { 0.0 }));
            }
            (Dimension::Category { choices }, _) => return refused(format!("one of {choices:?}")),
        }
        Ok(())
    }

    /// The value whose coordinates are nearest to these.
    pub(super) fn decode(&self, coordinates: &[f64]) -> Value {
        match self {
            Dimension::Real { low, high, scale } => Value::Real(scale.at(coordinates[0], *low, *high)),
            Dimension::Integer { low, high, scale } => {
                let (least, most) = cells(*low, *high);
                let x = scale.at(coordinates[0], least, most).round();
                Value::Integer((x as i64).clamp(*low, *high))
            }
            Dimension::Category { choices } => {
                // The largest coordinate; the first of equals.
                let mut chosen = 0;
                for (k, &x) in coordinates.iter().enumerate() {
                    if x > coordinates[chosen] {
                        chosen = k;
                    }
                }
                Value::Category(choices[chosen].clone())
            }
        }
    }
}

/// The interval whose rounding gives every whole number the same share of a linear scale.
fn cells(low: i64, high: i64) -> (f64, f64) {
    (low as f64 - 0.5, high as f64 + 0.5)
}
