//! The figures, one function each, with a sentence on how to read them.

use truecast::monitor::{PitHistogram, Side};

use crate::chart::{Axis, Band, BarChart, Bars, Chart, Colour, FanBand, FanChart, LineChart, Rule, Series};
use crate::number::percent;
use crate::report::{Fan, MapCurve, Report};
use crate::timeline::TIMELINE_COVERAGE;

use super::chance::{self, BAND};

/// A share over fewer rows says little, so points of the coverage have at least so many.
const LEAST_ROWS: u64 = 50;
/// And there are about so many points.
const MOST_POINTS: u64 = 48;

/// A chart and its caption.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) svg: String,
    pub(super) caption: String,
}

fn figure(chart: &dyn Chart, caption: &str) -> Figure {
    Figure { svg: chart.to_svg(), caption: caption.to_owned() }
}

pub(super) fn all(report: &Report) -> Vec<Figure> {
    let mut figures = vec![pit(report), reliability(report), coverage(report)];
    if report.compares() {
        figures.push(difference(report));
    }
    figures.push(sharpness(report));
    figures.extend(report.fan.as_ref().map(|of| fan(of, report.compares())));
    figures.extend(report.map.as_ref().filter(|_| report.compares()).map(map));
    figures
}

/// The sides that are shown, each with its name and colour.
fn sides(report: &Report) -> Vec<(&'static str, Colour, &Side)> {
    let raw = ("raw", Colour::Raw, report.scoreboard.raw());
    if report.compares() {
        vec![raw, ("calibrated", Colour::Calibrated, report.scoreboard.calibrated())]
    } else {
        vec![raw]
    }
}

/// The raw side is dashed beside the calibrated one: in grey print, or for eyes that see no colours, both lines are alike.
fn line(report: &Report, label: &str, colour: Colour, points: Vec<(f64, f64)>) -> Series {
    if report.compares() && colour == Colour::Raw {
        Series::dashed(label, colour, points)
    } else {
        Series::line(label, colour, points)
    }
}

fn pit(report: &Report) -> Figure {
    let histogram = report.scoreboard.raw().pit();
    let bins = histogram.counts().len();
    let edges = (0..=bins).map(|k| k as f64 / bins as f64).collect();
    let mut chart = BarChart::histogram("PIT histogram", Axis::new("probability integral transform"), edges)
        .describe(
            "How often the probability integral transform fell into each bin, relative to a flat histogram",
        )
        .y(Axis::new("frequency, 1 = as it should be"));
    for (label, colour, side) in sides(report) {
        let frequencies = side.pit().relative_frequencies().unwrap_or_default();
        chart = chart.bars(Bars::new(label, colour, frequencies));
    }
    if let Some((low, high)) = relative_band(histogram) {
        chart = chart.band("expected by chance", low, high);
    }
    figure(
        &chart.rule(Rule::horizontal("", 1.0)),
        "Flat is calibrated: bars should end in the grey band. A U is a forecaster too sure of itself, a hump one \
         too cautious, a slope one that is biased.",
    )
}

fn relative_band(histogram: &PitHistogram) -> Option<(f64, f64)> {
    let expected = histogram.rows() as f64 / histogram.counts().len() as f64;
    let (low, high) = histogram.band(BAND).ok().filter(|_| expected > 0.0)?;
    Some((low as f64 / expected, high as f64 / expected))
}

fn reliability(report: &Report) -> Figure {
    let bins = report.scoreboard.raw().pit().counts().len();
    let levels: Vec<f64> = (0..=bins).map(|k| k as f64 / bins as f64).collect();
    let rows = report.scoreboard.rows();
    let band = levels.iter().map(|&p| {
        let (low, high) = chance::band(p, rows);
        (p, low, high)
    });
    let mut chart = LineChart::new("Reliability")
        .describe(
            "The share of outcomes at or below the forecast's quantile, against the quantile's probability",
        )
        .x(Axis::new("probability of the quantile").percent().range(0.0, 1.0))
        .y(Axis::new("outcomes at or below it").percent().range(0.0, 1.0))
        .band(Band::new("expected by chance", Colour::Neutral, band.collect()).opacity(0.25));
    if rows > 0 {
        chart = chart.series(Series::dashed("", Colour::Neutral, vec![(0.0, 0.0), (1.0, 1.0)]));
        for (label, colour, side) in sides(report) {
            let mut below = 0;
            let counts = std::iter::once(0).chain(side.pit().counts().iter().copied());
            let shares = counts.map(|count| {
                below += count;
                below as f64 / rows as f64
            });
            let points = levels.iter().copied().zip(shares).collect();
            chart = chart.series(line(report, label, colour, points));
        }
    }
    figure(
        &chart,
        "On the diagonal, an event given 30 % happens 30 % of the time. Below it outcomes are higher than announced, \
         above it lower.",
    )
}

fn coverage(report: &Report) -> Figure {
    let least = (report.timeline.rows() / MOST_POINTS).max(LEAST_ROWS);
    let points = report.timeline.coverage(least);
    let end = report.timeline.width() as f64 * report.timeline.bins().len() as f64;
    let band = points.iter().map(|point| {
        let (low, high) = chance::band(TIMELINE_COVERAGE, point.rows);
        (point.index, low, high)
    });
    let mut chart = LineChart::new("Coverage over time")
        .describe("The share of outcomes inside the 80 % interval along the stream")
        .x(Axis::new("row").whole().including(0.0).including(end))
        .y(Axis::new("outcomes in the 80\u{a0}% interval").percent().including(TIMELINE_COVERAGE))
        .band(Band::new("expected by chance", Colour::Neutral, band.collect()))
        .rule(Rule::horizontal("target", TIMELINE_COVERAGE));
    let raw = points.iter().map(|point| (point.index, point.raw)).collect();
    chart = chart.series(line(report, "raw", Colour::Raw, raw));
    if report.compares() {
        let calibrated = points.iter().map(|point| (point.index, point.calibrated)).collect();
        chart = chart.series(line(report, "calibrated", Colour::Calibrated, calibrated));
    }
    figure(
        &chart,
        "Each point is a stretch of rows; a calibrated forecaster stays in the band around the target at all times, \
         not only on average.",
    )
}

fn difference(report: &Report) -> Figure {
    let mut points = report.timeline.cumulative_difference();
    // Differences of this size are rounding, and would fill the chart with it.
    let nothing = 1e-12 * report.scoreboard.regret().base_total().abs();
    if !points.is_empty() && points.iter().all(|point| point.1.abs() <= nothing) {
        points.iter_mut().for_each(|point| point.1 = 0.0);
    }
    if !points.is_empty() {
        points.insert(0, (0.0, 0.0));
    }
    let chart = LineChart::new("Regret: CRPS against the raw forecasts")
        .describe("The running sum of the calibrated forecasts' CRPS less that of the raw ones")
        .x(Axis::new("row").whole())
        .y(Axis::new("sum of CRPS, calibrated − raw").including(0.0))
        .rule(Rule::horizontal("no change", 0.0))
        .series(Series::line("calibrated − raw", Colour::Calibrated, points));
    figure(
        &chart,
        "Below zero is good: the calibrated forecasts have been more accurate so far. Where the line falls they gain, \
         where it rises they lose.",
    )
}

fn sharpness(report: &Report) -> Figure {
    let coverages = report.scoreboard.raw().sharpness().coverages();
    let names = coverages.iter().map(|&coverage| percent(coverage)).collect();
    let mut chart = BarChart::groups("Sharpness", Axis::new("nominal coverage"), names)
        .describe("The mean width of the central intervals");
    let mut positive = Vec::new();
    let mut unbounded = 0;
    for (label, colour, side) in sides(report) {
        let of = side.sharpness();
        let widths: Vec<f64> = (0..coverages.len()).map(|k| of.mean_width(k).unwrap_or(f64::NAN)).collect();
        positive.extend(widths.iter().copied().filter(|width| width.is_finite() && *width > 0.0));
        unbounded += (0..coverages.len()).filter_map(|k| of.unbounded(k)).max().unwrap_or(0);
        chart = chart.bars(Bars::new(label, colour, widths));
    }
    let chart = chart.y(width_axis(&positive));
    let mut caption =
        "Narrow is good only if the interval still covers what it should: compare with the coverage \
                       above."
            .to_owned();
    if unbounded > 0 {
        caption.push_str(" Intervals without an end are left out of the means.");
    }
    figure(&chart, &caption)
}

/// Logarithmic, from a power of ten on, where the widest interval would leave nothing to see of the others.
fn width_axis(widths: &[f64]) -> Axis {
    let (least, most) = widths
        .iter()
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), &width| (low.min(width), high.max(width)));
    if most <= 100.0 * least {
        return Axis::new("mean width of the interval");
    }
    let power = |exponent: f64| 10.0_f64.powf(exponent);
    let ends = (power((0.9 * least).log10().floor()), power(most.log10().ceil()));
    Axis::new("mean width of the interval, logarithmic").logarithmic().range(ends.0, ends.1)
}

fn fan(fan: &Fan, compares: bool) -> Figure {
    let quantiles = |low: usize, high: usize| {
        fan.points.iter().map(|point| (point.quantiles[low], point.quantiles[high])).collect::<Vec<_>>()
    };
    let title = titled("The last forecasts", &fan.series);
    let times = fan.points.iter().map(|point| point.time.clone()).collect();
    let colour = if compares { Colour::Calibrated } else { Colour::Raw };
    let mut chart = FanChart::new(&title, times, colour)
        .y("outcome")
        .describe("Nested intervals of the last forecasts, with the outcomes that are known")
        .band(FanBand::new("95\u{a0}%", quantiles(0, 6)))
        .band(FanBand::new("80\u{a0}%", quantiles(1, 5)))
        .band(FanBand::new("50\u{a0}%", quantiles(2, 4)))
        .median(fan.points.iter().map(|point| point.quantiles[3]).collect())
        .outcomes("outcome", fan.points.iter().map(|point| point.outcome).collect());
    if compares {
        chart = chart
            .reference(FanBand::new("raw 80\u{a0}%", fan.points.iter().map(|point| point.raw).collect()));
    }
    let mut caption = if compares {
        "Shaded are the calibrated intervals around the median, dashed the raw 80 % one; about one dot in five should \
         lie outside of the 80 %."
    } else {
        "Shaded are the intervals around the median; about one dot in five should lie outside of the 80 %."
    }
    .to_owned();
    match chart.beyond() {
        0 => {}
        1 => caption.push_str(" One outcome lies beyond the chart: see the arrow."),
        beyond => caption.push_str(&format!(" {beyond} outcomes lie beyond the chart: see the arrows.")),
    }
    figure(&chart, &caption)
}

fn map(map: &MapCurve) -> Figure {
    let chart = LineChart::new(&titled("The map now", &map.series))
        .describe("The calibrated probability for every probability of the base forecast")
        .when_empty("no map yet")
        .x(Axis::new("raw probability").percent().range(0.0, 1.0))
        .y(Axis::new("calibrated probability").percent().range(0.0, 1.0));
    let points = map.points.clone();
    let chart = if points.is_empty() {
        chart
    } else {
        chart
            .series(Series::dashed("no change", Colour::Neutral, vec![(0.0, 0.0), (1.0, 1.0)]))
            .series(Series::line("map", Colour::Calibrated, points))
    };
    figure(
        &chart,
        "What a raw probability is turned into at the next step; on the diagonal the forecast is left as it is.",
    )
}

fn titled(title: &str, series: &str) -> String {
    if series.is_empty() { title.to_owned() } else { format!("{title}: {series}") }
}

#[cfg(test)]
mod tests {
    use truecast::Gaussian;

    use super::*;
    use crate::{ReportKind, TimelineRow};

    fn report(calibrated: f64) -> Report {
        let mut report = Report::default();
        let both = [Gaussian::new(0.0, 1.0).unwrap(), Gaussian::new(0.0, calibrated).unwrap()];
        for row in 0..200 {
            let outcome = truecast::normal::quantile(truecast::random::uniform(3, row, 0).max(1e-9));
            report.scoreboard.observe(&both[0], &both[1], outcome, 0.5).unwrap();
            report.timeline.record(row, &TimelineRow::new(&both[0], &both[1], outcome).unwrap()).unwrap();
        }
        report
    }

    #[test]
    fn raw_and_calibrated_lines_differ_in_more_than_colour() {
        let mut report = report(2.0);
        for figure in [reliability(&report), coverage(&report)] {
            assert!(figure.svg.contains("<g class=\"tc-raw\"><path class=\"tc-dashed\""));
            assert!(figure.svg.contains("<g class=\"tc-calibrated\"><path class=\"tc-line\""));
        }
        report.kind = ReportKind::Evaluation;
        assert!(reliability(&report).svg.contains("<g class=\"tc-raw\"><path class=\"tc-line\""));
    }

    /// Conformal comparators may have a tail a thousand times as wide as the rest.
    #[test]
    fn one_wide_interval_leaves_the_others_to_be_seen() {
        assert!(!sharpness(&report(2.0)).svg.contains("logarithmic"));
        let svg = sharpness(&report(20_000.0)).svg;
        assert!(svg.contains("mean width of the interval, logarithmic"));
        let document = roxmltree::Document::parse(&svg).unwrap();
        let bars = document.descendants().filter(|node| node.attribute("fill-opacity") == Some("0.85"));
        for height in bars.filter_map(|bar| bar.attribute("height")) {
            assert!(height.parse::<f64>().unwrap() > 5.0, "{svg}");
        }
    }
}
