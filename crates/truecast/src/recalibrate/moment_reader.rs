//! Means and variances of calibrated normal forecasts, eight forecasts at a time. The numbers are those of [`Forecast::moments`], bit for bit.
//!
//! Cost: less than half of the time of reading forecasts one by one. Allocates when it is made.

use super::bends::{serve, together::Bends};
use super::map::Map;
use super::waiting::{Slot, Waiting, on_same_levels};
use crate::Gaussian;
use crate::forecast::{Forecast, Moments, Recalibrated, moments};

/// So many forecasts are read at once.
const SLOTS: usize = 8;
/// Fewer are faster read one by one.
const FEWEST: usize = 4;

/// Reads mean and variance of one calibrated normal forecast after the other.
///
/// ```
/// use truecast::recalibrate::MomentReader;
/// use truecast::{Gaussian, Groups, LedgerRecalibrator, Stream};
///
/// let mut stream: Stream = Stream::new(LedgerRecalibrator::default());
/// let mut reader = MomentReader::new();
/// let mut means = Vec::new();
/// for day in 0..10 {
///     let forecast = Gaussian::new(20.0, 2.0)?;
///     stream.step(&forecast, Groups::NONE, 21.0 + f64::from(day), |calibrated| {
///         reader.push(forecast, calibrated.map());
///         Ok::<_, truecast::Error>(())
///     })?;
///     if reader.is_full() {
///         reader.read(|moments| means.push(moments.mean));
///     }
/// }
/// reader.read(|moments| means.push(moments.mean)); // the last two
/// assert_eq!(means.len(), 10);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct MomentReader {
    waiting: Waiting<SLOTS>,
    room: Box<Bends>,
}

impl Default for MomentReader {
    fn default() -> Self {
        MomentReader::new()
    }
}

impl MomentReader {
    /// A reader for which nothing waits.
    pub fn new() -> Self {
        MomentReader { waiting: Waiting::new(), room: Box::new(Bends::empty()) }
    }

    /// Whether those that wait must be read before the next one comes.
    pub fn is_full(&self) -> bool {
        self.waiting.is_full()
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.waiting.count()
    }

    /// One more forecast. If the reader is full, the one that has waited longest is forgotten.
    pub fn push(&mut self, base: Gaussian, map: &Map) {
        self.waiting.push(base, map);
    }

    /// Forgets the forecast that came last.
    pub fn forget_last(&mut self) {
        self.waiting.forget_last();
    }

    /// Calls `visit` with the moments of each forecast that waits, in the order in which they came.
    pub fn read(&mut self, mut visit: impl FnMut(Moments)) {
        let waiting = self.waiting.take();
        let alone = |Slot { base, map }: &Slot| Recalibrated::new(base, map).moments();
        if waiting.len() >= FEWEST
            && let Some(slots) = on_same_levels::<SLOTS>(waiting)
            && let Some(cells) = serve(&slots[0].map)
        {
            let maps = slots.map(|slot| &slot.map);
            let found = moments::bends::evaluate_together(maps, cells, &mut self.room);
            for (slot, found) in waiting.iter().zip(found) {
                visit(found.map_or_else(|| alone(slot), |moments| moments.over(&slot.base)));
            }
        } else {
            waiting.iter().map(alone).for_each(visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Levels;
    use crate::random;
    use crate::recalibrate::{LedgerRecalibrator, Parameters, Recalibrator};

    /// Many at once are one at a time, bit for bit: with and without a guard, whose knots tie after outcomes far out, for any number of forecasts and of
    /// levels, and where maps of other shapes come in between.
    #[test]
    fn what_is_read_together_is_what_is_read_alone() {
        let of_levels = |count: usize| {
            let levels = Levels::stretched(count, 5.0, 2.0).unwrap();
            LedgerRecalibrator::new(Parameters::builder().levels(levels).build().unwrap())
        };
        let mut recalibrators = [
            LedgerRecalibrator::default(),
            LedgerRecalibrator::new(Parameters::builder().guard(false).build().unwrap()),
            of_levels(2),
            of_levels(9),
            of_levels(31),
            of_levels(32),
            LedgerRecalibrator::new(Parameters::paper(20).unwrap().build().unwrap()),
        ];
        for far in [0.5, 4.0, 40.0] {
            let mut reader = MomentReader::new();
            let (mut together, mut alone) = (Vec::new(), Vec::new());
            for t in 0..2_000_u64 {
                let draw = |lane| random::uniform(9, t, lane);
                // Mostly the same one several times in a row.
                let recalibrator = &mut recalibrators[(t / 21 % 7) as usize];
                let base = Gaussian::new(draw(0), 0.5 + draw(1)).unwrap();
                let calibrated = recalibrator.recalibrate(base).unwrap();
                reader.push(base, calibrated.map());
                if reader.is_full() || t % 29 == 0 {
                    reader.read(|moments| together.push(moments));
                }
                alone.push(calibrated.moments());
                let side = if t % 3 == 0 { far } else { -far };
                recalibrator.observe(&base, base.at_probit(side * draw(2))).unwrap();
            }
            reader.read(|moments| together.push(moments));
            reader.read(|_| panic!("nothing is left"));
            assert_eq!(together.len(), alone.len());
            for (t, (got, want)) in together.iter().zip(&alone).enumerate() {
                let bits = |of: &Moments| [of.mean.to_bits(), of.variance.to_bits()];
                assert_eq!(bits(got), bits(want), "{far} {t}: {got:?} {want:?}");
            }
        }
    }

    #[test]
    fn the_last_can_be_forgotten_and_the_first_falls_out() {
        let recalibrator = LedgerRecalibrator::default();
        let mut reader = MomentReader::new();
        for mean in 0..10 {
            let base = Gaussian::new(f64::from(mean), 1.0).unwrap();
            reader.push(base, recalibrator.recalibrate(base).unwrap().map());
        }
        reader.forget_last();
        assert_eq!(reader.waiting(), 7);
        let mut means = Vec::new();
        reader.read(|moments| means.push(moments.mean.round()));
        assert_eq!(means, [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    }
}
