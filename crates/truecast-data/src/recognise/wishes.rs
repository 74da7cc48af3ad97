//! What a person says about the columns, where names are not enough.

use std::fmt;
use std::str::FromStr;

use super::idiom::Idiom;

/// A form in which forecasts are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormKind {
    /// A mean and a standard deviation or variance.
    Gaussian,
    /// One column for each quantile.
    Quantiles,
    /// Ends of central intervals, `Model-lo-80` and `Model-hi-80`.
    Intervals,
    /// One column for each member of an ensemble.
    Samples,
    /// One number.
    Point,
    /// A hub's long form: `output_type`, `output_type_id`, `value`.
    Hubverse,
    /// Rows of the M5 uncertainty competition: `id` ends in a quantile, `F1` to `F28`.
    M5,
}

impl FormKind {
    /// Every form.
    pub const ALL: [FormKind; 7] = [
        FormKind::Gaussian,
        FormKind::Quantiles,
        FormKind::Intervals,
        FormKind::Samples,
        FormKind::Point,
        FormKind::Hubverse,
        FormKind::M5,
    ];

    /// The name that people choose it by.
    pub fn name(self) -> &'static str {
        match self {
            FormKind::Gaussian => "gaussian",
            FormKind::Quantiles => "quantiles",
            FormKind::Intervals => "intervals",
            FormKind::Samples => "samples",
            FormKind::Point => "point",
            FormKind::Hubverse => "hubverse",
            FormKind::M5 => "m5",
        }
    }
}

impl fmt::Display for FormKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for FormKind {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        FormKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            format!("{name:?} is not a form; there are {}", FormKind::ALL.map(FormKind::name).join(", "))
        })
    }
}

/// Columns by name, and the form. What is `None` is recognised.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Wishes {
    /// What happened.
    pub outcome: Option<String>,
    /// Which series; an empty list says that all rows are one series.
    pub keys: Option<Vec<String>>,
    /// When the forecast was made; `none` says that no column tells.
    pub made: Option<String>,
    /// What it is about; `none` says that no column tells.
    pub about: Option<String>,
    /// How far ahead it looks; `none` says that series are not told apart by it.
    pub horizon: Option<String>,
    /// When the outcome became known; `none` says that no column tells.
    pub known: Option<String>,
    /// The form of the forecasts.
    pub form: Option<FormKind>,
    /// The centre of a Gaussian.
    pub mean: Option<String>,
    /// Its standard deviation.
    pub std: Option<String>,
    /// A point forecast.
    pub point: Option<String>,
    /// The model whose intervals are meant.
    pub model: Option<String>,
    /// How much, in percent, an interval should hold whose columns do not say: `yhat_lower` and `yhat_upper`.
    pub interval_width: Option<f64>,
    /// How hints say what to wish for.
    pub idiom: Idiom,
}

impl Wishes {
    /// False if another form was chosen: by its name, or by naming one of its columns.
    pub(super) fn may_mean(&self, kind: FormKind) -> bool {
        let chosen = if self.form.is_some() {
            self.form
        } else if self.mean.is_some() || self.std.is_some() {
            Some(FormKind::Gaussian)
        } else if self.model.is_some() {
            Some(FormKind::Intervals)
        } else if self.point.is_some() {
            Some(FormKind::Point)
        } else {
            None
        };
        chosen.is_none_or(|chosen| chosen == kind)
    }
}
