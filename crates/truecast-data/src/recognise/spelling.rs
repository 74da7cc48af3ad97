//! The names that people give to columns.

/// What happened.
pub(super) const OUTCOME: &[&str] = &[
    "y",
    "outcome",
    "actual",
    "actuals",
    "observed",
    "observation",
    "obs",
    "y_true",
    "truth",
    "realised",
    "realized",
    "ground_truth",
    "target",
    "oracle_value",
];
/// Which series a row belongs to.
pub(super) const KEY: &[&str] = &["key", "unique_id", "series_id", "series", "item_id", "id"];
/// When a forecast was made: the first that is there is taken.
pub(super) const MADE: &[&str] =
    &["cutoff", "origin", "reference_date", "origin_date", "forecast_date", "made_at", "issued_at"];
/// Dates that hubs give their forecasts. They are handed in before such a day ends, so that what is known of it comes too late.
pub(super) const MADE_BEFORE: &[&str] = &["reference_date", "origin_date", "forecast_date"];
/// What a forecast is about: the first that is there is taken.
pub(super) const ABOUT: &[&str] = &[
    "ds",
    "target_end_date",
    "target_date",
    "valid_time",
    "timestamp",
    "datetime",
    "date",
    "time",
    "t",
    "step",
];
/// How far ahead.
pub(super) const HORIZON: &[&str] = &["horizon", "h", "lead", "lead_time", "step_ahead", "steps_ahead"];
/// When an outcome became known.
pub(super) const KNOWN: &[&str] = &["known_at", "available_at", "outcome_time", "outcome_at", "resolved_at"];
/// The centre of a distribution.
pub(super) const MEAN: &[&str] = &[
    "mean",
    "mu",
    "μ",
    "loc",
    "forecast_mean",
    "pred_mean",
    "prediction_mean",
    "y_mean",
    "yhat",
    "y_hat",
    "y_pred",
    "prediction",
    "pred",
    "forecast",
];
/// Its standard deviation.
pub(super) const STD: &[&str] = &[
    "std",
    "sd",
    "sigma",
    "σ",
    "stdev",
    "stddev",
    "std_dev",
    "scale",
    "forecast_std",
    "forecast_sd",
    "pred_std",
    "pred_sd",
    "prediction_std",
    "y_std",
    "yhat_std",
    "standard_deviation",
];
/// Its variance.
pub(super) const VARIANCE: &[&str] =
    &["variance", "var", "sigma2", "forecast_variance", "pred_variance", "pred_var"];
/// A forecast that is one number.
pub(super) const POINT: &[&str] = &[
    "point",
    "forecast",
    "yhat",
    "y_hat",
    "y_pred",
    "prediction",
    "pred",
    "mean",
    "median",
    "point_forecast",
];
/// What members of an ensemble are called, before their number.
const SAMPLE: &[&str] =
    &["sample", "samples", "draw", "member", "ens", "ensemble", "trajectory", "sim", "path", "scenario"];
/// What quantiles are called, before their probability: longest first.
const QUANTILE: &[&str] =
    &["quantile_p", "quantile-p", "quantile_", "quantile-", "quantile", "q_", "q", "p_", "p"];
/// The probability in a quantile column's name: `q0.1`, `q10`, `0.1`, `quantile_P10`, `p2.5`, `q025`, `2.5%`.
fn quantile(name: &str) -> Option<f64> {
    let lower = name.to_ascii_lowercase();
    let (prefix, digits) = word_and_digits(&lower);
    let (digits, percent) = digits.strip_suffix('%').map_or((digits, false), |digits| (digits, true));
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let value: f64 = digits.parse().ok()?;
    let probability = match prefix {
        _ if percent => divided(value),
        // Without a word before it only a probability is meant: years and counts are whole numbers.
        None if digits.contains('.') && value < 1.0 => value,
        None => return None,
        Some(_) if digits.contains('.') && value < 1.0 => value,
        // Three digits are the decimals of a probability: q025, q975.
        Some(_) if digits.len() >= 3 && !digits.contains('.') => format!("0.{digits}").parse().ok()?,
        Some(_) => divided(value),
    };
    (probability > 0.0 && probability < 1.0).then_some(probability)
}

fn word_and_digits(lower: &str) -> (Option<&str>, &str) {
    let prefix = QUANTILE.iter().find(|prefix| lower.starts_with(**prefix));
    prefix.map_or((None, lower), |prefix| (Some(*prefix), &lower[prefix.len()..]))
}

/// Columns of quantiles by their probabilities. `q100` is one beside `q025` and `q975`; beside `q25` and `q75` it is the largest value, which is none.
pub(super) fn quantiles(names: &[String]) -> Vec<(f64, usize)> {
    let digits = |name: &String| word_and_digits(&name.to_ascii_lowercase()).1.to_owned();
    let three = |name: &String| {
        let digits = digits(name);
        digits.len() >= 3 && digits != "100" && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let thousandths = names.iter().any(|name| quantile(name).is_some() && three(name));
    let named = names.iter().enumerate().filter(|(_, name)| thousandths || digits(name) != "100");
    named.filter_map(|(column, name)| Some((quantile(name)?, column))).collect()
}

/// A percentage as the probability that a person would write: 2.5 is 0.025, not the number nearest to 2.5/100.
fn divided(percent: f64) -> f64 {
    format!("{percent}e-2").parse().unwrap_or(percent / 100.0)
}

/// An end of an interval, or another quantile of a model: `Model-lo-80` is the model and the probability 0.1, `Model-ql0.1` too, and so is Darts' `y_q0.100`.
pub(super) fn interval_end(name: &str) -> Option<(&str, f64)> {
    if let Some(model) = name.strip_suffix("-median") {
        return Some((model, 0.5));
    }
    if let Some((model, digits)) = name.rsplit_once("-ql").or_else(|| name.rsplit_once("_q")) {
        let probability = digits.parse().ok().filter(|p| *p > 0.0 && *p < 1.0 && digits.contains('.'));
        return probability.filter(|_| !model.is_empty()).map(|p| (model, p));
    }
    let (head, coverage) = name.rsplit_once(['-', '_'])?;
    let coverage: f64 = coverage.strip_suffix('%').unwrap_or(coverage).parse().ok()?;
    let (model, side) = head.rsplit_once('-').unwrap_or(("", head));
    Some((model, end(side, coverage)?))
}

/// An end of the one interval that a model has, whose coverage nobody says in its name: `yhat_lower` (Prophet).
pub(super) fn bare_end(name: &str) -> Option<(&str, &str)> {
    let (model, side) = name.rsplit_once('_')?;
    (matches!(side, "lower" | "upper") && !model.is_empty()).then_some((model, side))
}

/// (1 ∓ c)/2 as a person would write it: 0.1 for 80 %, not 0.09999999999999998.
pub(super) fn end(side: &str, percent: f64) -> Option<f64> {
    if !(0.0..100.0).contains(&percent) {
        return None;
    }
    match side {
        "lo" | "lower" => Some(divided((100.0 - percent) / 2.0)),
        "hi" | "upper" => Some(divided((100.0 + percent) / 2.0)),
        _ => None,
    }
}

/// The number of a member of an ensemble: `sample_7`, `member7`.
pub(super) fn sample(name: &str) -> Option<u64> {
    let lower = name.to_ascii_lowercase();
    let digits = SAMPLE.iter().find_map(|prefix| {
        let rest = lower.strip_prefix(prefix)?;
        let rest = rest.strip_prefix(['_', '.', '-', ' ']).unwrap_or(rest);
        (!rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())).then_some(rest)
    })?;
    digits.parse().ok()
}

/// True if a name is among the spellings, whatever its capitals.
pub(super) fn is_among(name: &str, spellings: &[&str]) -> bool {
    let lower = name.to_lowercase();
    spellings.contains(&lower.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_read_as_people_write_them() {
        for (name, probability) in [
            ("q0.1", Some(0.1)),
            ("q10", Some(0.1)),
            ("0.1", Some(0.1)),
            ("0.975", Some(0.975)),
            ("quantile_P10", Some(0.1)),
            ("quantile_0.9", Some(0.9)),
            ("P05", Some(0.05)),
            ("q2.5", Some(0.025)),
            ("q025", Some(0.025)),
            ("q975", Some(0.975)),
            ("q_50", Some(0.5)),
            ("q2.5%", Some(0.025)),
            ("q0.5%", Some(0.005)),
            ("0.5%", Some(0.005)),
            ("97.5%", Some(0.975)),
            ("10%", Some(0.1)),
            ("100%", None),
            ("q0.100", Some(0.1)),
            ("q", None),
            ("price", None),
            ("1.5", None),
            ("10", None),
            ("q0", None),
            ("quality", None),
        ] {
            assert_eq!(quantile(name), probability, "{name}");
        }
    }

    #[test]
    fn a_hundred_is_the_largest_value_or_a_tenth() {
        let found = |names: &[&str]| -> Vec<f64> {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            quantiles(&names).into_iter().map(|(probability, _)| probability).collect()
        };
        assert_eq!(found(&["q0", "q25", "q50", "q75", "q100", "f100"]), [0.25, 0.5, 0.75]);
        assert_eq!(found(&["q025", "q100", "q975"]), [0.025, 0.1, 0.975]);
    }

    #[test]
    fn interval_ends_name_their_model() {
        for (name, end) in [
            ("AutoARIMA-lo-80", Some(("AutoARIMA", 0.1))),
            ("AutoARIMA-hi-80", Some(("AutoARIMA", 0.9))),
            ("My-Model-lo-99.5", Some(("My-Model", 0.0025))),
            ("lo-95", Some(("", 0.025))),
            ("upper_90", Some(("", 0.95))),
            ("NHITS-ql0.1", Some(("NHITS", 0.1))),
            ("NHITS-median", Some(("NHITS", 0.5))),
            ("y_q0.100", Some(("y", 0.1))),
            ("freq_q1", None),
            ("AutoARIMA", None),
            ("lo-100", None),
            ("x-mid-80", None),
        ] {
            assert_eq!(interval_end(name), end, "{name}");
        }
    }

    #[test]
    fn samples_are_numbered() {
        for (name, number) in [
            ("sample_0", Some(0)),
            ("Sample12", Some(12)),
            ("member-3", Some(3)),
            ("sample", None),
            ("sampler_1", None),
        ] {
            assert_eq!(sample(name), number, "{name}");
        }
    }
}
