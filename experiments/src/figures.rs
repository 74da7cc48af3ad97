//! Means with their errors, for tables.

/// The mean, and its standard error.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0).max(1.0);
    (mean, (variance / count).sqrt())
}

/// A change in percent, with its error where there is one.
pub fn change(values: &[f64]) -> String {
    match mean_and_error(values) {
        (mean, _) if mean.abs() > 1e4 || mean.is_nan() => "∞".to_string(),
        (mean, error) if error > 0.0 => format!("{mean:+.2} ± {error:.2}"),
        (mean, _) => format!("{mean:+.2}"),
    }
}
