//! Colours and the style sheet.
//!
//! Orange against blue can be told apart with any kind of colour vision, and differ in lightness when printed in grey.
//! All text and lines have a contrast of at least 4.5 : 1 with the paper, in light and in dark.

/// (name, on light paper, on dark paper).
const PALETTE: [(&str, &str, &str); 13] = [
    ("paper", "#ffffff", "#14171c"),
    ("ink", "#1b1f24", "#e8eaed"),
    ("soft", "#59616b", "#a3abb6"),
    ("line", "#d9dde2", "#343a43"),
    ("raw", "#b8590a", "#f0a050"),
    ("calibrated", "#1a5fb4", "#79b0ff"),
    ("c0", "#1a5fb4", "#79b0ff"),
    ("c1", "#b8590a", "#f0a050"),
    ("c2", "#0b7a5c", "#4fd1a5"),
    ("c3", "#a2326f", "#f08cc0"),
    ("c4", "#5b4bb3", "#b3a6ff"),
    ("c5", "#7a6400", "#e0c341"),
    ("c6", "#3f6b7a", "#8fc7d8"),
];

/// How many colours [`Colour::Series`] has.
const SERIES_COLOURS: usize = 7;

const RULES: &str = "\
.tc-chart{display:block;width:100%;height:auto}\
.tc-chart text{font:14px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:var(--tc-ink);\
font-variant-numeric:tabular-nums}\
.tc-chart .tc-title{font-weight:600}\
.tc-chart .tc-soft{fill:var(--tc-soft)}\
.tc-chart .tc-grid{stroke:var(--tc-line);stroke-width:1}\
.tc-chart .tc-axis{stroke:var(--tc-soft);stroke-width:1}\
.tc-chart .tc-line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\
.tc-chart .tc-dashed{fill:none;stroke:currentColor;stroke-width:1.5;stroke-dasharray:5 4}\
.tc-chart .tc-fill{fill:currentColor;stroke:none}\
.tc-chart .tc-rule{fill:none;stroke:currentColor;stroke-width:1.25;stroke-dasharray:2 3}\
.tc-chart .tc-empty{fill:none;stroke:var(--tc-line);stroke-width:1}\
.tc-chart .tc-halo{paint-order:stroke;stroke:var(--tc-paper);stroke-width:4px;stroke-linejoin:round}\
.tc-chart .tc-paper{fill:var(--tc-paper)}\
.tc-raw{color:var(--tc-raw)}\
.tc-calibrated{color:var(--tc-calibrated)}\
.tc-neutral{color:var(--tc-soft)}\
.tc-ink{color:var(--tc-ink)}\
.tc-c0{color:var(--tc-c0)}.tc-c1{color:var(--tc-c1)}.tc-c2{color:var(--tc-c2)}.tc-c3{color:var(--tc-c3)}\
.tc-c4{color:var(--tc-c4)}.tc-c5{color:var(--tc-c5)}.tc-c6{color:var(--tc-c6)}";

/// What a mark means, and so its colour in either theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Base forecasts.
    Raw,
    /// Calibrated forecasts.
    Calibrated,
    /// Targets, bands of what is expected.
    Neutral,
    /// Outcomes.
    Ink,
    /// The n-th of several series; colours repeat after seven.
    Series(usize),
}

impl Colour {
    pub(crate) fn class(self) -> &'static str {
        const SERIES: [&str; SERIES_COLOURS] =
            ["tc-c0", "tc-c1", "tc-c2", "tc-c3", "tc-c4", "tc-c5", "tc-c6"];
        match self {
            Colour::Raw => "tc-raw",
            Colour::Calibrated => "tc-calibrated",
            Colour::Neutral => "tc-neutral",
            Colour::Ink => "tc-ink",
            Colour::Series(index) => SERIES[index % SERIES_COLOURS],
        }
    }
}

/// The style sheet of charts in a page: light and dark by the reader's preference, light on paper.
///
/// The colours are the custom properties `--tc-paper`, `--tc-ink`, `--tc-soft`, `--tc-line`, `--tc-raw`,
/// `--tc-calibrated` and `--tc-c0` to `--tc-c6` of `:root`, for the page's own rules to use or change.
pub fn page_style() -> String {
    let light = properties(|entry| entry.1);
    let dark = properties(|entry| entry.2);
    format!(
        ":root{{color-scheme:light dark;{light}}}\
         @media (prefers-color-scheme:dark){{:root{{{dark}}}}}\
         @media print{{:root{{color-scheme:light;{light}}}}}\
         {RULES}"
    )
}

/// The style sheet within a chart that is a file of its own: plain colours, since many viewers know no custom properties.
pub(crate) fn standalone_style() -> String {
    let of = |value: fn(&(&'static str, &'static str, &'static str)) -> &'static str| {
        PALETTE.iter().fold(RULES.to_owned(), |rules, entry| {
            rules.replace(&format!("var(--tc-{})", entry.0), value(entry))
        })
    };
    format!("{}@media (prefers-color-scheme:dark){{{}}}", of(|entry| entry.1), of(|entry| entry.2))
}

fn properties(value: impl Fn(&(&'static str, &'static str, &'static str)) -> &'static str) -> String {
    PALETTE.iter().map(|entry| format!("--tc-{}:{};", entry.0, value(entry))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standalone_style_needs_no_custom_properties() {
        assert!(!standalone_style().contains("var("));
        assert!(page_style().contains("var(--tc-raw)") && page_style().contains("--tc-raw:#b8590a"));
    }

    /// Relative luminance and contrast as WCAG 2.1 defines them.
    #[test]
    fn every_colour_has_contrast_with_its_paper() {
        let luminance = |hex: &str| {
            let channel = |at: usize| {
                let c = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
                if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
        };
        let contrast = |a: f64, b: f64| (a.max(b) + 0.05) / (a.min(b) + 0.05);
        let (light, dark) = (luminance(PALETTE[0].1), luminance(PALETTE[0].2));
        for (name, on_light, on_dark) in PALETTE.iter().filter(|c| !["paper", "line"].contains(&c.0)) {
            assert!(contrast(luminance(on_light), light) >= 4.5, "{name} on light");
            assert!(contrast(luminance(on_dark), dark) >= 4.5, "{name} on dark");
        }
    }
}
