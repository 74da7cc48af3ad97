//! A stream's history in flat memory: at most 256 bins of rows, whose width doubles when they are full.
//!
//! A row belongs to the bin `index / width`, and the width is the smallest power of two for which the largest index
//! fits. So the bins depend on which rows were recorded and not on the order of recording: merging the timelines of
//! two machines is recording both on one, up to the rounding of sums.
//!
//! Cost per row: constant, and 128 additions at each doubling.

use serde::{Deserialize, Serialize};
use truecast::monitor::{CompensatedSum, Coverage};
use truecast::{Error, Forecast, Result};

/// The most bins that a timeline has.
pub const MOST_BINS: usize = 256;

/// The coverage of the intervals that a timeline follows.
pub const TIMELINE_COVERAGE: f64 = 0.8;

/// What one outcome adds to a [`Timeline`].
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TimelineRow {
    /// The base forecast.
    pub raw: RowSide,
    /// The calibrated forecast.
    pub calibrated: RowSide,
}

/// What is known of one forecast and its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RowSide {
    /// Whether the 80 % interval held the outcome.
    pub covered: bool,
    /// The CRPS; finite.
    pub crps: f64,
    /// The width of the 80 % interval; may be infinite, not NaN.
    pub width: f64,
}

impl RowSide {
    /// Of a forecast and its outcome.
    pub fn new(forecast: &dyn Forecast, outcome: f64) -> Result<Self> {
        let (low, high) = forecast.interval(TIMELINE_COVERAGE)?;
        Ok(RowSide {
            covered: Coverage::holds(forecast, outcome, TIMELINE_COVERAGE),
            crps: forecast.crps(outcome),
            width: high - low,
        })
    }
}

impl TimelineRow {
    /// Of both forecasts and their outcome.
    pub fn new(base: &dyn Forecast, calibrated: &dyn Forecast, outcome: f64) -> Result<Self> {
        Ok(TimelineRow { raw: RowSide::new(base, outcome)?, calibrated: RowSide::new(calibrated, outcome)? })
    }
}

/// The sums of one kind of forecast over a bin.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct BinSide {
    covered: u64,
    crps: CompensatedSum,
    width: CompensatedSum,
    /// Rows with an infinitely wide interval, which are not in `width`.
    unbounded: u64,
}

impl BinSide {
    fn add(&mut self, row: &RowSide) {
        self.covered += u64::from(row.covered);
        self.crps.add(row.crps);
        if row.width.is_finite() {
            self.width.add(row.width);
        } else {
            self.unbounded += 1;
        }
    }

    fn merge(&mut self, other: &Self) {
        self.covered = self.covered.saturating_add(other.covered);
        self.unbounded = self.unbounded.saturating_add(other.unbounded);
        self.crps.merge(&other.crps);
        self.width.merge(&other.width);
    }

    /// Outcomes that the 80 % interval held.
    pub fn covered(&self) -> u64 {
        self.covered
    }

    /// The sum of CRPS.
    pub fn crps(&self) -> f64 {
        self.crps.value()
    }

    /// The sum of the finite widths of the 80 % interval.
    pub fn width(&self) -> f64 {
        self.width.value()
    }

    /// How many intervals were infinitely wide.
    pub fn unbounded(&self) -> u64 {
        self.unbounded
    }
}

/// The sums of all rows of a bin.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Bin {
    rows: u64,
    raw: BinSide,
    calibrated: BinSide,
}

impl Bin {
    fn merge(&mut self, other: &Self) {
        self.rows = self.rows.saturating_add(other.rows);
        self.raw.merge(&other.raw);
        self.calibrated.merge(&other.calibrated);
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The base forecasts.
    pub fn raw(&self) -> &BinSide {
        &self.raw
    }

    /// The calibrated forecasts.
    pub fn calibrated(&self) -> &BinSide {
        &self.calibrated
    }
}

/// A point of [`Timeline::coverage`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoveragePoint {
    /// The middle of the rows' indices.
    pub index: f64,
    /// How many rows it is the share of.
    pub rows: u64,
    /// The share of outcomes in the base forecasts' 80 % intervals.
    pub raw: f64,
    /// The same of the calibrated ones.
    pub calibrated: f64,
}

/// What happened along a stream.
///
/// ```
/// use truecast::Gaussian;
/// use truecast_report::{Timeline, TimelineRow};
///
/// let mut timeline = Timeline::default();
/// let (base, calibrated) = (Gaussian::new(0.0, 4.0)?, Gaussian::new(0.0, 1.0)?);
/// for row in 0..1_000 {
///     timeline.record(row, &TimelineRow::new(&base, &calibrated, 0.3)?)?;
/// }
/// assert_eq!((timeline.width(), timeline.bins().len()), (4, 250));
/// assert!(timeline.cumulative_difference().last().unwrap().1 < 0.0);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Timeline {
    /// Invariant: a power of two.
    width: u64,
    /// Invariant: at most [`MOST_BINS`].
    bins: Vec<Bin>,
}

impl Default for Timeline {
    fn default() -> Self {
        Timeline { width: 1, bins: Vec::new() }
    }
}

impl Timeline {
    /// Adds the row with the given index, counted from 0. A row that is refused changes nothing.
    pub fn record(&mut self, index: u64, row: &TimelineRow) -> Result<()> {
        for side in [&row.raw, &row.calibrated] {
            if !side.crps.is_finite() {
                return Err(Error::NotFinite { what: "CRPS", value: side.crps });
            }
            if side.width.is_nan() {
                return Err(Error::NotFinite { what: "interval width", value: side.width });
            }
        }
        while index / self.width >= MOST_BINS as u64 {
            self.double();
        }
        let place = (index / self.width) as usize;
        if self.bins.len() <= place {
            self.bins.resize(place + 1, Bin::default());
        }
        if let Some(bin) = self.bins.get_mut(place) {
            bin.rows += 1;
            bin.raw.add(&row.raw);
            bin.calibrated.add(&row.calibrated);
        }
        Ok(())
    }

    /// Adds what another timeline has recorded; rows of equal index share a bin.
    pub fn merge(&mut self, other: &Self) {
        while self.width < other.width {
            self.double();
        }
        let mut other = other.clone();
        while other.width < self.width {
            other.double();
        }
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), Bin::default());
        }
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            bin.merge(more);
        }
    }

    /// Pairs of bins become one. The width stays below 2⁶⁴: at 2⁵⁶ every index fits.
    fn double(&mut self) {
        self.width = self.width.saturating_mul(2);
        let pairs = self.bins.chunks(2).map(|pair| {
            let mut bin = Bin::default();
            for part in pair {
                bin.merge(part);
            }
            bin
        });
        self.bins = pairs.collect();
    }

    /// How many indices a bin spans.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// The bins; the k-th has the rows from k × width on.
    pub fn bins(&self) -> &[Bin] {
        &self.bins
    }

    /// How many rows were recorded.
    pub fn rows(&self) -> u64 {
        self.bins.iter().fold(0, |sum, bin| sum.saturating_add(bin.rows))
    }

    /// Coverage of the 80 % intervals along the stream, in groups of neighbouring bins of at least `least` rows each.
    ///
    /// What is left at the end joins the last group: a share of three rows would jump for no reason.
    pub fn coverage(&self, least: u64) -> Vec<CoveragePoint> {
        let mut groups: Vec<(usize, usize, Bin)> = Vec::new();
        let mut group: Option<(usize, Bin)> = None;
        for (place, bin) in self.bins.iter().enumerate() {
            let (first, sum) = group.get_or_insert((place, Bin::default()));
            sum.merge(bin);
            if sum.rows >= least.max(1) {
                groups.push((*first, place, *sum));
                group = None;
            }
        }
        if let Some((first, rest)) = group.filter(|(_, rest)| rest.rows > 0) {
            match groups.last_mut() {
                Some((_, last, sum)) => {
                    *last = self.bins.len() - 1;
                    sum.merge(&rest);
                }
                None => groups.push((first, self.bins.len() - 1, rest)),
            }
        }
        let point = |(first, last, sum): (usize, usize, Bin)| CoveragePoint {
            index: 0.5 * (first + last + 1) as f64 * self.width as f64,
            rows: sum.rows,
            raw: sum.raw.covered as f64 / sum.rows as f64,
            calibrated: sum.calibrated.covered as f64 / sum.rows as f64,
        };
        groups.into_iter().map(point).collect()
    }

    /// (index, Σ CRPS calibrated − Σ CRPS base) at the end of every bin with rows. Below zero calibration has helped.
    pub fn cumulative_difference(&self) -> Vec<(f64, f64)> {
        let mut sum = CompensatedSum::default();
        let mut points = Vec::with_capacity(self.bins.len());
        for (place, bin) in self.bins.iter().enumerate().filter(|(_, bin)| bin.rows > 0) {
            sum.add(bin.calibrated.crps() - bin.raw.crps());
            points.push(((place + 1) as f64 * self.width as f64, sum.value()));
        }
        points
    }

    /// The standard error of Σ CRPS calibrated − Σ CRPS base, by the method of batch means; `None` with fewer than 20 bins.
    ///
    /// A bin is a batch, so that dependence between neighbouring rows is in it as soon as bins are longer than its reach.
    pub fn difference_error(&self) -> Option<f64> {
        let bins: Vec<&Bin> = self.bins.iter().filter(|bin| bin.rows > 0).collect();
        if bins.len() < 20 {
            return None;
        }
        let difference = |bin: &Bin| bin.calibrated.crps() - bin.raw.crps();
        let total: f64 = bins.iter().map(|bin| difference(bin)).sum();
        let mean = total / self.rows() as f64;
        let squares = bins.iter().map(|bin| (difference(bin) - mean * bin.rows as f64).powi(2)).sum::<f64>();
        let count = bins.len() as f64;
        Some((squares * count / (count - 1.0)).sqrt())
    }
}

/// What is saved.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Parts {
    width: u64,
    bins: Vec<Bin>,
}

impl TryFrom<Parts> for Timeline {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        if !parts.width.is_power_of_two() {
            let value = parts.width as f64;
            return Err(Error::OutOfRange { what: "bin width", rule: "a power of two", value });
        }
        if parts.bins.len() > MOST_BINS {
            let value = parts.bins.len() as f64;
            return Err(Error::OutOfRange { what: "number of bins", rule: "at most 256", value });
        }
        for bin in &parts.bins {
            for side in [&bin.raw, &bin.calibrated] {
                if side.covered > bin.rows || side.unbounded > bin.rows {
                    let value = side.covered.max(side.unbounded) as f64;
                    return Err(Error::OutOfRange {
                        what: "count of a bin",
                        rule: "at most its rows",
                        value,
                    });
                }
            }
        }
        Ok(Timeline { width: parts.width, bins: parts.bins })
    }
}

impl From<Timeline> for Parts {
    fn from(of: Timeline) -> Self {
        Parts { width: of.width, bins: of.bins }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(index: u64) -> TimelineRow {
        let raw = RowSide { covered: !index.is_multiple_of(3), crps: (index % 7) as f64, width: 2.0 };
        let width = if index.is_multiple_of(50) { f64::INFINITY } else { 1.0 };
        TimelineRow { raw, calibrated: RowSide { covered: !index.is_multiple_of(5), crps: 1.0, width } }
    }

    /// The definition: the width from the largest index, then every row into its bin. Sums of small integers are exact.
    fn from_scratch(indices: &[u64]) -> Timeline {
        let last = indices.iter().copied().max().unwrap_or(0);
        let mut width = 1;
        while last / width >= MOST_BINS as u64 {
            width *= 2;
        }
        let count = if indices.is_empty() { 0 } else { (last / width) as usize + 1 };
        let mut bins = vec![Bin::default(); count];
        for &index in indices {
            let (bin, row) = (&mut bins[(index / width) as usize], row(index));
            bin.rows += 1;
            bin.raw.add(&row.raw);
            bin.calibrated.add(&row.calibrated);
        }
        Timeline { width, bins }
    }

    fn recorded(indices: &[u64]) -> Timeline {
        let mut timeline = Timeline::default();
        for &index in indices {
            timeline.record(index, &row(index)).unwrap();
        }
        timeline
    }

    proptest! {
        #[test]
        fn doubling_equals_binning_from_scratch(
            indices in prop::collection::vec(prop_oneof![0_u64..600, 0_u64..100_000, any::<u64>()], 0..400),
            cut in 0_usize..400,
        ) {
            let timeline = recorded(&indices);
            prop_assert!(timeline.bins.len() <= MOST_BINS);
            prop_assert_eq!(&timeline, &from_scratch(&indices));
            let (left, right) = indices.split_at(cut.min(indices.len()));
            let mut merged = recorded(left);
            merged.merge(&recorded(right));
            prop_assert_eq!(&merged, &timeline);
        }
    }

    #[test]
    fn coverage_and_difference_along_a_stream() {
        let indices: Vec<u64> = (0..1_000).collect();
        let timeline = recorded(&indices);
        assert_eq!((timeline.rows(), timeline.width()), (1_000, 4));
        let points = timeline.coverage(300);
        assert_eq!(points.iter().map(|point| point.rows).collect::<Vec<_>>(), [300, 300, 400]);
        assert_eq!(points[0].index, 150.0);
        assert_eq!((points[0].raw, points[0].calibrated), (200.0 / 300.0, 0.8));
        let last = timeline.cumulative_difference().pop().unwrap();
        assert_eq!(last, (1_000.0, 1_000.0 - indices.iter().map(|i| (i % 7) as f64).sum::<f64>()));
        assert_eq!(timeline.bins().iter().map(|bin| bin.calibrated().unbounded()).sum::<u64>(), 20);
        assert!(Timeline::default().coverage(1).is_empty());
        assert_eq!(recorded(&[0, 1, 2]).coverage(10).len(), 1);
    }

    #[test]
    fn the_error_of_independent_differences_is_that_of_their_sum() {
        // ±1 in turns: a standard deviation of 1 per row, so √200 over 200 rows, times √(200/199).
        let mut timeline = Timeline::default();
        for index in 0..200 {
            let crps = if index % 2 == 0 { 1.0 } else { -1.0 };
            let calibrated = RowSide { covered: true, crps, width: 1.0 };
            timeline.record(index, &TimelineRow { raw: RowSide::default(), calibrated }).unwrap();
        }
        let expected = 200.0 / 199.0_f64.sqrt();
        assert!((timeline.difference_error().unwrap() - expected).abs() < 1e-12);
        assert_eq!(recorded(&[1, 2, 3]).difference_error(), None);
    }

    #[test]
    fn bad_rows_and_bad_states_are_refused() {
        let mut timeline = recorded(&[0, 1]);
        let before = timeline.clone();
        let mut bad = row(2);
        bad.raw.crps = f64::NAN;
        assert!(matches!(timeline.record(2, &bad), Err(Error::NotFinite { what: "CRPS", .. })));
        bad = row(2);
        bad.calibrated.width = f64::NAN;
        assert!(timeline.record(u64::MAX, &bad).is_err());
        assert_eq!(timeline, before);
        let text = serde_json::to_string(&timeline).unwrap();
        assert_eq!(serde_json::from_str::<Timeline>(&text).unwrap(), timeline);
        assert!(
            serde_json::from_str::<Timeline>(&text.replace("\"width\":1,\"bins\"", "\"width\":3,\"bins\""))
                .is_err()
        );
        assert!(serde_json::from_str::<Timeline>(&text.replace("\"covered\":1", "\"covered\":9")).is_err());
    }
}
