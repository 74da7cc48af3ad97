//! Axes: what is measured, how it is scaled, where its ticks are.

use super::lettering::{FONT, clipped, placed, width};
use super::ticks::{self, LARGEST, Tick};

/// Two of these have room side by side under a chart of the default size.
const LONGEST_NAME: f64 = 190.0;

/// One axis of a chart.
///
/// ```
/// use truecast_report::chart::Axis;
///
/// let rounds = Axis::new("rounds").logarithmic();
/// let coverage = Axis::new("share of outcomes").percent().range(0.0, 1.0);
/// # assert_ne!(rounds, coverage);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    label: String,
    percent: bool,
    logarithmic: bool,
    whole: bool,
    range: Option<(f64, f64)>,
    include: Vec<f64>,
    names: Vec<String>,
}

impl Axis {
    /// A linear axis over the data; the label says what is measured and in which unit.
    pub fn new(label: &str) -> Self {
        Axis { label: label.to_owned(), ..Axis::default() }
    }

    /// Ticks as percentages: 0.8 is 80 %.
    #[must_use]
    pub fn percent(mut self) -> Self {
        self.percent = true;
        self
    }

    /// A logarithmic scale. Values that are not above zero are drawn as missing.
    #[must_use]
    pub fn logarithmic(mut self) -> Self {
        self.logarithmic = true;
        self
    }

    /// Ticks at whole numbers only.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.whole = true;
        self
    }

    /// A fixed range; what lies outside is cut off. A range that is empty or not finite is ignored.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = (low.is_finite() && high.is_finite() && low < high).then_some((low, high));
        self
    }

    /// A value that the axis must reach, such as zero or a target.
    #[must_use]
    pub fn including(mut self, value: f64) -> Self {
        self.include.push(value);
        self
    }

    /// Names for the places 0, 1, 2, … in place of numbers; as many are shown as fit.
    #[must_use]
    pub fn names(mut self, names: Vec<String>) -> Self {
        self.names = names;
        self
    }

    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// Whether a value has a place on the axis.
    pub(crate) fn shows(&self, value: f64) -> bool {
        value.abs() <= LARGEST && !(self.logarithmic && value <= 0.0)
    }

    fn extent(&self, values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
        let shown = values.chain(self.include.iter().copied()).filter(|&value| self.shows(value));
        let extent = shown.fold(None, |extent, value| match extent {
            None => Some((value, value)),
            Some((low, high)) => Some((value.min(low), value.max(high))),
        });
        let (low, high) = self.range.filter(|range| self.shows(range.0)).or(extent)?;
        if low < high {
            return Some((low, high));
        }
        // One value alone sits in the middle of an axis of its own size.
        if self.logarithmic {
            return Some((low / 2.0, high * 2.0));
        }
        let half = if low == 0.0 { 1.0 } else { 0.5 * low.abs() };
        Some((low - half, high + half))
    }

    /// The upright axis: it ends on ticks, unless its range is fixed.
    pub(crate) fn upright(&self, values: impl Iterator<Item = f64>, place: (f64, f64)) -> Option<Scale> {
        let (mut low, mut high) = self.extent(values)?;
        if self.logarithmic {
            let ticks = thinned(ticks::logarithmic(low, high), 6);
            return Some(Scale::new(self, (low, high), place, ticks));
        }
        let (step, mut ticks) = ticks::linear(low, high, self.steps((low, high), 5), self.percent);
        if self.range.is_none() {
            low = step * (low / step + 1e-6).floor();
            high = step * (high / step - 1e-6).ceil();
            ticks = ticks::linear(low, high, ((high - low) / step).round() as usize, self.percent).1;
        }
        Some(Scale::new(self, (low, high), place, ticks))
    }

    /// The level axis: as many ticks as have room for their labels within `room`.
    pub(crate) fn level(
        &self,
        values: impl Iterator<Item = f64>,
        place: (f64, f64),
        room: (f64, f64),
    ) -> Option<Scale> {
        let domain = self.extent(values)?;
        let bare = Scale::new(self, domain, place, Vec::new());
        let fits = |ticks: &[Tick]| {
            let labels: Vec<(f64, f64)> =
                ticks.iter().map(|tick| (bare.at(tick.value), width(&tick.label, FONT))).collect();
            placed(&labels, room.0, room.1, 0.9 * FONT)
        };
        let candidates = (0..=6).rev().map(|count| self.level_ticks(domain, count));
        // Where not even one label fits, the axis has none.
        let (ticks, centres) = candidates
            .into_iter()
            .find_map(|ticks| fits(&ticks).map(|centres| (ticks, centres)))
            .unwrap_or_default();
        Some(Scale { ticks, centres, ..bare })
    }

    fn level_ticks(&self, domain: (f64, f64), count: usize) -> Vec<Tick> {
        if !self.names.is_empty() {
            return named(&self.names, count, domain);
        }
        if self.logarithmic {
            return thinned(ticks::logarithmic(domain.0, domain.1), count);
        }
        ticks::linear(domain.0, domain.1, self.steps(domain, count), self.percent).1
    }

    /// At most `count`, and so few that a step is at least 1 where ticks are whole.
    fn steps(&self, domain: (f64, f64), count: usize) -> usize {
        if self.whole { count.min((domain.1 - domain.0) as usize) } else { count }
    }
}

/// About `count` + 1 of the names, the first and the last among them; one name alone is clipped to a line.
fn named(names: &[String], count: usize, domain: (f64, f64)) -> Vec<Tick> {
    let last = names.len() - 1;
    let tick = |index: usize| Tick { value: index as f64, label: clipped(&names[index], FONT, LONGEST_NAME) };
    if last == 0 || count == 0 {
        return vec![tick(last)];
    }
    let steps = count.min(last);
    let mut indices: Vec<usize> = (0..=steps).map(|k| (k * last + steps / 2) / steps).collect();
    indices.dedup();
    indices.into_iter().map(tick).filter(|tick| (domain.0..=domain.1).contains(&tick.value)).collect()
}

/// Every n-th tick, so that at most `most` + 1 remain.
fn thinned(ticks: Vec<Tick>, most: usize) -> Vec<Tick> {
    let every = ticks.len().div_ceil(most + 1).max(1);
    ticks.into_iter().step_by(every).collect()
}

/// An axis with its place in the chart.
#[derive(Debug, Clone)]
pub(crate) struct Scale {
    logarithmic: bool,
    domain: (f64, f64),
    place: (f64, f64),
    pub(crate) ticks: Vec<Tick>,
    /// Where the ticks' labels are centred; only of a level axis.
    pub(crate) centres: Vec<f64>,
}

impl Scale {
    fn new(axis: &Axis, domain: (f64, f64), place: (f64, f64), ticks: Vec<Tick>) -> Self {
        Scale { logarithmic: axis.logarithmic, domain, place, ticks, centres: Vec::new() }
    }

    /// The place of a value. Far outside is as good as just outside: it is cut off, and numbers stay short.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let along = |x: f64| if self.logarithmic { x.ln() } else { x };
        let (low, high) = (along(self.domain.0), along(self.domain.1));
        let share = ((along(value) - low) / (high - low)).clamp(-2.0, 3.0);
        self.place.0 + share * (self.place.1 - self.place.0)
    }

    pub(crate) fn contains(&self, value: f64) -> bool {
        (self.domain.0..=self.domain.1).contains(&value)
    }

    /// The place of zero, or of the end of the axis that is nearest to it: where bars stand.
    pub(crate) fn base(&self) -> f64 {
        self.at(0.0_f64.clamp(self.domain.0, self.domain.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: (f64, f64) = (0.0, 400.0);

    #[test]
    fn an_upright_axis_ends_on_ticks() {
        let scale = Axis::new("").upright([0.13, 0.87].into_iter(), PLACE).unwrap();
        assert_eq!(scale.domain, (0.0, 1.0));
        assert_eq!(scale.ticks.len(), 6);
    }

    #[test]
    fn constant_and_missing_values_have_an_axis_or_none() {
        for value in [0.0, 5.0, -1e-9, 1e299] {
            let scale = Axis::new("").upright([value].into_iter(), PLACE).unwrap();
            assert!(scale.contains(value) && scale.at(value).is_finite(), "{value}");
        }
        assert!(Axis::new("").upright([f64::NAN, f64::INFINITY].into_iter(), PLACE).is_none());
        assert!(Axis::new("").logarithmic().upright([0.0, -1.0].into_iter(), PLACE).is_none());
        assert!(Axis::new("").level([3.0].into_iter(), PLACE, PLACE).is_some());
    }

    #[test]
    fn names_that_do_not_fit_are_left_out() {
        let names: Vec<String> = (0..500).map(|k| format!("2026-03-01T{k:03}:00:00Z")).collect();
        let scale = Axis::new("").names(names).level([0.0, 499.0].into_iter(), PLACE, PLACE).unwrap();
        assert_eq!(scale.ticks.len(), 2);
        let one = Axis::new("").names(vec!["x".repeat(900)]).level([0.0].into_iter(), PLACE, PLACE).unwrap();
        assert_eq!(one.ticks.len(), 1);
    }

    #[test]
    fn whole_ticks() {
        let labels = |high: f64| {
            let scale = Axis::new("").whole().level([0.0, high].into_iter(), PLACE, PLACE).unwrap();
            scale.ticks.into_iter().map(|tick| tick.label).collect::<Vec<_>>()
        };
        assert_eq!(labels(1.0), ["0", "1"]);
        assert_eq!(labels(3.0), ["0", "1", "2", "3"]);
    }

    #[test]
    fn a_logarithmic_axis() {
        let scale = Axis::new("").logarithmic().level([1.0, 10_000.0].into_iter(), PLACE, PLACE).unwrap();
        assert!((scale.at(100.0) - 200.0).abs() < 1e-9);
    }
}
