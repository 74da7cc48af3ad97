//! Fans: nested intervals along time, the outcomes in them, and the interval that there was before.

use super::axis::Axis;
use super::lines::{Band, LineChart, Series};
use super::theme::Colour;
use super::{Chart, Output, Size};

/// How far above and below its inner bands a fan reaches at most, in heights of what they span.
const REACH: f64 = 2.0;

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

    /// How many outcomes lie above or below the chart: it is cut off where they would press the intervals into a line.
    pub fn beyond(&self) -> usize {
        self.range()
            .map_or(0, |(low, high)| self.known().filter(|outcome| !(low..=high).contains(outcome)).count())
    }

    fn known(&self) -> impl Iterator<Item = f64> {
        let outcomes = self.outcomes.iter().flat_map(|(_, outcomes)| outcomes.iter().copied().flatten());
        outcomes.filter(|outcome| outcome.is_finite())
    }

    /// What is shown, if that is not everything.
    fn range(&self) -> Option<(f64, f64)> {
        let ends = |bands: &[FanBand]| {
            bands.iter().flat_map(|band| &band.ends).flat_map(|&(low, high)| [low, high]).collect::<Vec<_>>()
        };
        // The widest band has the least to go by, and may be all tail.
        let (widest, inner) = self.bands.split_at(self.bands.len().min(1));
        let reference = self.reference.as_slice();
        let (low, high) = extent([ends(inner), ends(reference), self.median.clone()].concat().into_iter())?;
        let (least, most) = extent(ends(widest).into_iter().chain(self.known()))?;
        let reach = REACH * (high - low);
        let shown = (least.max(low - reach).min(low), most.min(high + reach).max(high));
        (reach > 0.0 && (least < shown.0 || most > shown.1)).then_some(shown)
    }

    fn lines(&self) -> LineChart {
        let at =
            |values: Vec<f64>| values.into_iter().enumerate().map(|(k, y)| (k as f64, y)).collect::<Vec<_>>();
        let range = self.range();
        let y = range.map_or(Axis::new(&self.y), |(low, high)| Axis::new(&self.y).range(low, high));
        let mut chart = LineChart::new(&self.title)
            .describe(&self.description)
            .x(Axis::new("").names(self.times.clone()))
            .y(y)
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
            let values = at(outcomes.iter().map(|outcome| outcome.unwrap_or(f64::NAN)).collect());
            chart = chart.series(Series::dots(label, Colour::Ink, values.clone()));
            if self.beyond() > 0 {
                chart = chart.series(Series::beyond(&format!("{label} beyond"), Colour::Ink, values));
            }
        }
        chart
    }
}

/// The least and the largest of the finite values.
fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |extent, value| match extent {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
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

    /// One outcome of a million would leave of the intervals a line.
    #[test]
    fn what_is_far_off_does_not_press_the_intervals_into_a_line() {
        let times: Vec<String> = (0..30).map(|day| day.to_string()).collect();
        let fan = |far: f64, tail: f64| {
            let tails = (0..30).map(|k| if k == 3 { (-2.0, tail) } else { (-2.0, 2.0) }).collect();
            FanChart::new("fan", times.clone(), Colour::Calibrated)
                .band(FanBand::new("95 %", tails))
                .band(FanBand::new("80 %", vec![(-1.0, 1.0); 30]))
                .median(vec![0.0; 30])
                .outcomes("outcome", (0..30).map(|k| Some(if k == 9 { far } else { 0.5 })).collect())
        };
        for (far, arrow) in [(1e6, "L170.7 58L"), (-1e6, "L170.7 310L")] {
            let chart = fan(far, 2.0);
            let svg = chart.to_svg();
            assert_eq!(chart.beyond(), 1);
            assert!(svg.contains("outcome beyond") && !svg.contains("000</text>"), "{svg}");
            // The legend's dot and those of 29 outcomes; the last is an arrow.
            assert_eq!(svg.matches("<circle").count(), 30);
            assert!(svg.contains(arrow), "{svg}");
        }
        // The tail of the widest band is cut off, which is no outcome.
        assert!(fan(0.5, 1e6).beyond() == 0 && !fan(0.5, 1e6).to_svg().contains("000</text>"));
        let all = fan(4.0, 2.0);
        assert!(all.beyond() == 0 && !all.to_svg().contains("beyond") && all.range().is_none());
    }

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
