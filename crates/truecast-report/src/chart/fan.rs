//! Fans: nested intervals along time, the outcomes in them, and the interval that there was before.

use super::axis::Axis;
use super::lines::{Band, LineChart, Series};
use super::theme::Colour;
use super::{Chart, Output, Size};

/// An interval at every time; ends that are not finite are gaps.
#[derive(Debug, Clone, PartialEq)]
pub struct FanBand {
    label: String,
    ends: Vec<(f64, f64)>,
}

impl FanBand {
    /// Intervals as (low, high), one per time.
    pub fn new(label: &str, ends: Vec<(f64, f64)>) -> Self {
        FanBand { label: label.to_owned(), ends }
    }
}

/// Intervals and outcomes along named times.
#[derive(Debug, Clone, PartialEq)]
pub struct FanChart {
    title: String,
    description: String,
    y: String,
    times: Vec<String>,
    colour: Colour,
    bands: Vec<FanBand>,
    median: Vec<f64>,
    outcomes: Option<(String, Vec<Option<f64>>)>,
    reference: Option<FanBand>,
    size: Size,
}

impl FanChart {
    /// An empty fan over the given times.
    pub fn new(title: &str, times: Vec<String>, colour: Colour) -> Self {
        FanChart {
            title: title.to_owned(),
            description: String::new(),
            y: String::new(),
            times,
            colour,
            bands: Vec::new(),
            median: Vec::new(),
            outcomes: None,
            reference: None,
            size: Size::default(),
        }
    }

    /// What the chart shows, for those who do not see it.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        self.description = description.to_owned();
        self
    }

    /// What the outcomes measure.
    #[must_use]
    pub fn y(mut self, label: &str) -> Self {
        self.y = label.to_owned();
        self
    }

    /// Adds a band; the widest comes first.
    #[must_use]
    pub fn band(mut self, band: FanBand) -> Self {
        self.bands.push(band);
        self
    }

    /// The medians, drawn as a line. It has no entry in the legend: nothing else in a fan is one.
    #[must_use]
    pub fn median(mut self, median: Vec<f64>) -> Self {
        self.median = median;
        self
    }

    /// What happened, where it is known.
    #[must_use]
    pub fn outcomes(mut self, label: &str, outcomes: Vec<Option<f64>>) -> Self {
        self.outcomes = Some((label.to_owned(), outcomes));
        self
    }

    /// Another interval to compare with, drawn as two dashed lines.
    #[must_use]
    pub fn reference(mut self, band: FanBand) -> Self {
        self.reference = Some(band);
        self
    }

    /// Another size than the default.
    #[must_use]
    pub fn size(mut self, size: Size) -> Self {
        self.size = size;
        self
    }

    fn lines(&self) -> LineChart {
        let at =
            |values: Vec<f64>| values.into_iter().enumerate().map(|(k, y)| (k as f64, y)).collect::<Vec<_>>();
        let mut chart = LineChart::new(&self.title)
            .describe(&self.description)
            .x(Axis::new("").names(self.times.clone()))
            .y(Axis::new(&self.y))
            .size(self.size);
        for (below, band) in self.bands.iter().enumerate() {
            let points =
                band.ends.iter().enumerate().map(|(k, &(low, high))| (k as f64, low, high)).collect();
            // Bands lie on one another: the inner ones darken by themselves.
            chart = chart.band(Band::new(&band.label, self.colour, points).opacity(0.24).on_top_of(below));
        }
        if let Some(reference) = &self.reference {
            let (lows, highs): (Vec<f64>, Vec<f64>) = reference.ends.iter().copied().unzip();
            chart = chart
                .series(Series::dashed(&reference.label, Colour::Raw, at(lows)))
                .series(Series::dashed("", Colour::Raw, at(highs)));
        }
        if !self.median.is_empty() {
            chart = chart.series(Series::line("", self.colour, at(self.median.clone())));
        }
        if let Some((label, outcomes)) = &self.outcomes {
            let values = outcomes.iter().map(|outcome| outcome.unwrap_or(f64::NAN)).collect();
            chart = chart.series(Series::dots(label, Colour::Ink, at(values)));
        }
        chart
    }
}

impl Chart for FanChart {
    fn render(&self, output: Output) -> String {
        self.lines().render(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::EMPTY;

    #[test]
    fn a_fan_with_gaps_is_well_formed() {
        let times = (0..30).map(|day| format!("2026-03-{:02}", day + 1)).collect();
        let ends = |half: f64| {
            (0..30)
                .map(|k| if k == 7 { (f64::NEG_INFINITY, half) } else { (-half, half) })
                .collect::<Vec<_>>()
        };
        let chart = FanChart::new("fan", times, Colour::Calibrated)
            .band(FanBand::new("95 %", ends(2.0)))
            .band(FanBand::new("50 %", ends(0.7)))
            .reference(FanBand::new("raw 80 %", ends(1.0)))
            .median(vec![0.0; 30])
            .outcomes("outcome", (0..30).map(|k| (k < 25).then_some(0.1 * f64::from(k))).collect());
        let svg = chart.to_standalone_svg();
        roxmltree::Document::parse(&svg).unwrap();
        // 25 outcomes and the legend's dot.
        assert_eq!(svg.matches("<circle").count(), 26);
        assert!(svg.contains("2026-03-01") && svg.contains("2026-03-30"));
        assert!(FanChart::new("none", vec![], Colour::Raw).to_svg().contains(EMPTY));
    }
}
