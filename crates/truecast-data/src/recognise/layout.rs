//! Which column holds what.

use std::fmt;

/// Columns by their index.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// The names of all columns, for messages.
    pub names: Vec<String>,
    /// What happened; without it every row is a forecast only.
    pub outcome: Option<usize>,
    /// Which series: the cells of these columns together.
    pub keys: Vec<usize>,
    /// When the forecast was made.
    pub made: Option<usize>,
    /// True if what is known only of the day of `made` itself comes too late: hubs take forecasts before their reference date.
    pub made_before: bool,
    /// What the forecast is about: a time, or whatever else names it.
    pub about: Option<usize>,
    /// How far ahead it looks.
    pub horizon: Option<usize>,
    /// True if series are not to be told apart by how far ahead they look.
    pub pooled: bool,
    /// When the outcome became known.
    pub known: Option<usize>,
    /// The forecast.
    pub form: Form,
}

/// The forecast's columns.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// A mean and a spread.
    Gaussian {
        /// The mean's column.
        mean: usize,
        /// The spread's column.
        spread: usize,
        /// True if the spread is a variance, not a standard deviation.
        variance: bool,
    },
    /// Quantiles by probability, in increasing order. Ends of central intervals are quantiles too.
    Quantiles(Vec<(f64, usize)>),
    /// Members of an ensemble, in the order of their numbers.
    Samples(Vec<usize>),
    /// One number.
    Point(usize),
    /// A hub's long form.
    Hubverse {
        /// `quantile`, `median`, `sample`, `mean` and others.
        output_type: usize,
        /// The probability of a quantile, the number of a sample.
        output_type_id: usize,
        /// The number itself.
        value: usize,
    },
    /// Rows of the M5 uncertainty competition.
    M5 {
        /// Series and quantile.
        id: usize,
        /// `F1`, `F2` and so on.
        days: Vec<usize>,
    },
}

impl Form {
    /// The columns that a calibrated forecast takes the place of.
    pub fn columns(&self) -> Vec<usize> {
        match self {
            Form::Gaussian { mean, spread, .. } => vec![*mean, *spread],
            Form::Quantiles(columns) => columns.iter().map(|&(_, column)| column).collect(),
            Form::Samples(columns) => columns.clone(),
            Form::Point(column) => vec![*column],
            Form::Hubverse { value, .. } => vec![*value],
            Form::M5 { days, .. } => days.clone(),
        }
    }

    /// True if one forecast is spread over several rows.
    pub fn is_long(&self) -> bool {
        matches!(self, Form::Hubverse { .. } | Form::M5 { .. })
    }
}

impl fmt::Display for Layout {
    /// One line for the terminal: which columns were taken for what.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |column: usize| self.names[column].as_str();
        let list =
            |columns: &[usize]| columns.iter().map(|&column| name(column)).collect::<Vec<_>>().join(", ");
        match &self.form {
            Form::Gaussian { mean, spread, variance } => {
                let spread_is = if *variance { "variance" } else { "standard deviation" };
                write!(f, "mean {}, {spread_is} {}", name(*mean), name(*spread))?;
            }
            Form::Quantiles(columns) => {
                let shown = columns.iter().map(|&(p, column)| format!("{} ({p})", name(column)));
                write!(f, "quantiles {}", shorten(&shown.collect::<Vec<_>>()))?;
            }
            Form::Samples(columns) => {
                let shown: Vec<String> = columns.iter().map(|&column| name(column).to_owned()).collect();
                write!(f, "{} samples {}", columns.len(), shorten(&shown))?;
            }
            Form::Point(column) => write!(f, "point forecast {}", name(*column))?,
            Form::Hubverse { output_type, output_type_id, value } => {
                write!(f, "hub form, {}", list(&[*output_type, *output_type_id, *value]))?;
            }
            Form::M5 { id, days } => {
                let days: Vec<String> = days.iter().map(|&column| name(column).to_owned()).collect();
                write!(f, "M5 form, {} with {}", name(*id), shorten(&days))?;
            }
        }
        match self.outcome {
            Some(column) => write!(f, "; outcome {}", name(column))?,
            None => write!(f, "; no outcome")?,
        }
        if self.keys.is_empty() {
            write!(f, "; one series")?;
        } else {
            write!(f, "; series {}", list(&self.keys))?;
        }
        Ok(())
    }
}

/// All of a short list, the ends of a long one.
fn shorten(items: &[String]) -> String {
    match items {
        [first, second, .., last] if items.len() > 6 => format!("{first}, {second}, …, {last}"),
        _ => items.join(", "),
    }
}
