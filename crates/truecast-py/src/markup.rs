//! Tables for notebooks.

/// Six significant digits: enough to look at.
pub(crate) fn number(value: f64) -> String {
    let exponent = if value == 0.0 || !value.is_finite() { 0 } else { value.abs().log10().floor() as i32 };
    if (-4..9).contains(&exponent) {
        format!("{value:.*}", usize::try_from(5 - exponent).unwrap_or(0))
    } else {
        format!("{value:.5e}")
    }
}

/// Text as HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A table of names and values under a caption.
pub(crate) fn table(caption: &str, rows: &[(String, String)]) -> String {
    let mut html = format!("<table><caption><code>{}</code></caption>", escape(caption));
    for (name, value) in rows {
        html += &format!(
            "<tr><th style=\"text-align:left\">{}</th><td style=\"text-align:right\">{}</td></tr>",
            escape(name),
            escape(value)
        );
    }
    html + "</table>"
}
