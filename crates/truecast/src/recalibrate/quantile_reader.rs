//! Quantiles of calibrated normal forecasts, four forecasts at a time.
//!
//! The levels between which a quantile lies are nearly always those of the forecast before, which spares the search. The numbers are those of
//! [`Forecast::at_probits`], bit for bit.
//!
//! Cost: four normal quantiles for each pair, less than half of the time of reading forecasts one by one. Allocates when it is made.

use fearless_simd::{Level, Simd, dispatch, f64x4, prelude::*};

use super::guard::Inverse;
use super::map::{Map, MapShape, clip};
use super::waiting::{Slot, Waiting, on_same_levels};
use crate::Gaussian;
use crate::forecast::Forecast;
use crate::lanes::vector;
use crate::normal::four::quantiles;

/// So many forecasts are read at once.
const SLOTS: usize = 4;
/// More pairs cost less with the normal quantiles of all levels.
const MOST_PAIRS: usize = 3;

/// Reads the same few quantiles of one calibrated normal forecast after the other.
///
/// ```
/// use truecast::recalibrate::QuantileReader;
/// use truecast::{Gaussian, Groups, LedgerRecalibrator, Stream};
///
/// let mut stream: Stream = Stream::new(LedgerRecalibrator::default());
/// let mut reader = QuantileReader::new(&[-1.0, 1.0]).unwrap(); // probit scores, in pairs
/// let mut ends = Vec::new();
/// for day in 0..10 {
///     let forecast = Gaussian::new(20.0, 2.0)?;
///     stream.step(&forecast, Groups::NONE, 21.0 + f64::from(day), |calibrated| {
///         reader.push(forecast, calibrated.map());
///         Ok::<_, truecast::Error>(())
///     })?;
///     if reader.is_full() {
///         reader.read(|quantiles| ends.extend_from_slice(quantiles));
///     }
/// }
/// reader.read(|quantiles| ends.extend_from_slice(quantiles)); // the last two
/// assert_eq!(ends.len(), 20);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct QuantileReader {
    pairs: Vec<Pair>,
    waiting: Waiting<SLOTS>,
    /// The quantiles of one forecast.
    quantiles: Vec<f64>,
}

/// Two of the quantiles.
#[derive(Debug, Clone)]
struct Pair {
    probits: [f64; 2],
    /// How the guard is inverted there.
    inverses: [Inverse; 2],
    /// The levels above the quantiles of the last forecast.
    above: [usize; 2],
}

impl Pair {
    /// Where a map's guard has both quantiles, in ledger probit scores.
    #[inline]
    fn scores(&self, map: &Map) -> [f64; 2] {
        map.guard().map_or(self.probits, |knots| self.inverses.map(|inverse| inverse.of(knots)))
    }
}

impl QuantileReader {
    /// A reader of the quantiles at one to three pairs of probit scores; `None` for any other number of them, which are better read one forecast at a time.
    pub fn new(probits: &[f64]) -> Option<Self> {
        let (pairs, rest) = probits.as_chunks::<2>();
        let pair = |&probits: &[f64; 2]| Pair { probits, inverses: probits.map(Inverse::at), above: [1; 2] };
        let fits = rest.is_empty() && (1..=MOST_PAIRS).contains(&pairs.len());
        fits.then(|| QuantileReader {
            pairs: pairs.iter().map(pair).collect(),
            waiting: Waiting::new(),
            quantiles: vec![f64::NAN; probits.len()],
        })
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

    /// Calls `visit` with the quantiles of each forecast that waits, in the order in which they came.
    pub fn read(&mut self, mut visit: impl FnMut(&[f64])) {
        let waiting = self.waiting.take();
        let together = on_same_levels::<SLOTS>(waiting);
        let together = together.filter(|slots| slots[0].map.shape() == MapShape::Probit);
        let mut z = [[[0.0; SLOTS]; 2]; MOST_PAIRS];
        for (pair, z) in self.pairs.iter_mut().zip(&mut z) {
            if let Some(slots) = together {
                *z = dispatch!(Level::new(), simd => invert(simd, slots, pair));
            } else {
                for (s, Slot { map, .. }) in waiting.iter().enumerate() {
                    for (z, probit) in z.iter_mut().zip(pair.probits) {
                        z[s] = map.invert(probit);
                    }
                }
            }
        }
        for (s, slot) in waiting.iter().enumerate() {
            for (quantiles, z) in self.quantiles.as_chunks_mut::<2>().0.iter_mut().zip(&z) {
                *quantiles = z.map(|z| slot.base.at_probit(z[s]));
            }
            visit(&self.quantiles);
        }
    }
}

/// The base scores of a pair of quantiles of continuous maps on the same levels.
#[inline(always)]
fn invert<S: Simd>(simd: S, slots: [&Slot; SLOTS], pair: &mut Pair) -> [[f64; SLOTS]; 2] {
    let levels = slots[0].map.levels().probits();
    let both = slots.map(|slot| pair.scores(&slot.map));
    let j = pair.above.map(|above| above.clamp(1, levels.len() - 1));
    // The probabilities around both scores: those towards the median, which are mostly central ones, and those away from it.
    let around = [[j[0], j[1] - 1], [j[0] - 1, j[1]]];
    let [inner, outer] = around.map(|levels| levels.map(|level| announced_at(simd, slots, level)));
    let outer = quantiles(simd, outer);
    let inner = quantiles(simd, inner);
    let mut found = [[0.0; SLOTS]; 2];
    for end in 0..2 {
        let (low, high) = if end == 0 { (outer[0], inner[0]) } else { (inner[1], outer[1]) };
        let scores = both.map(|scores| scores[end]);
        let score = vector(simd, scores);
        // The operations of `between`.
        let (from, to) = (levels[j[end] - 1], levels[j[end]]);
        let z = (score - low) / (high - low) * (to - from) + from;
        found[end] = z.simd_gt(to).select(f64x4::splat(simd, to), z).into();
        let right = low.simd_lt(score) & score.simd_le(high);
        if right.any_false() {
            for s in 0..SLOTS {
                if !right.test(s) {
                    (found[end][s], pair.above[end]) = slots[s].map.invert_and_find(scores[s]);
                }
            }
        }
    }
    found
}

/// What the maps announce at one level.
#[inline(always)]
fn announced_at<S: Simd>(simd: S, slots: [&Slot; SLOTS], level: usize) -> f64x4<S> {
    let mut announced = [0.0; SLOTS];
    for s in 0..SLOTS {
        announced[s] = clip(slots[s].map.announced()[level]);
    }
    vector(simd, announced)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Levels;
    use crate::random;
    use crate::recalibrate::{LedgerRecalibrator, Parameters, Recalibrator};

    /// Many at once are one at a time, bit for bit: with and without a guard, whose knots tie after outcomes far out, at every distance, for any
    /// number of forecasts, and where maps of other shapes come in between.
    #[test]
    fn what_is_read_together_is_what_is_read_alone() {
        let few = Parameters::builder().levels(Levels::stretched(9, 4.0, 2.0).unwrap());
        let mut recalibrators = [
            LedgerRecalibrator::default(),
            LedgerRecalibrator::new(Parameters::builder().guard(false).build().unwrap()),
            LedgerRecalibrator::new(few.build().unwrap()),
            LedgerRecalibrator::new(Parameters::paper(20).unwrap().build().unwrap()),
        ];
        for probits in [&[-1.28, 1.28][..], &[-0.1, 7.0, -40.0, 0.0], &[-2.0, 2.0, -1.0, 1.0, -3.4, 3.4]] {
            let mut reader = QuantileReader::new(probits).unwrap();
            let (mut together, mut alone) = (Vec::new(), Vec::new());
            for t in 0..1_000_u64 {
                let draw = |lane| random::uniform(9, t, lane);
                // Mostly the same one several times in a row.
                let recalibrator = &mut recalibrators[(t / 7 % 4) as usize];
                let base = Gaussian::new(draw(0), 0.5 + draw(1)).unwrap();
                let calibrated = recalibrator.recalibrate(base).unwrap();
                reader.push(base, calibrated.map());
                if reader.is_full() || t % 11 == 0 {
                    reader.read(|quantiles| together.extend_from_slice(quantiles));
                }
                let mut own = vec![0.0; probits.len()];
                calibrated.at_probits(probits, &mut own);
                alone.extend(own);
                let far = if t % 3 == 0 { 4.0 } else { -3.5 };
                recalibrator.observe(&base, base.at_probit(far * draw(2))).unwrap();
            }
            reader.read(|quantiles| together.extend_from_slice(quantiles));
            reader.read(|_| panic!("nothing is left"));
            assert_eq!(together.len(), alone.len());
            for (k, (got, want)) in together.iter().zip(&alone).enumerate() {
                assert_eq!(got.to_bits(), want.to_bits(), "number {k} at {probits:?}: {got} {want}");
            }
        }
    }

    #[test]
    fn other_numbers_of_quantiles_are_refused() {
        for count in [0, 1, 3, 8] {
            assert!(QuantileReader::new(&vec![0.5; count]).is_none(), "{count}");
        }
    }

    #[test]
    fn the_last_can_be_forgotten_and_the_first_falls_out() {
        let recalibrator = LedgerRecalibrator::default();
        let mut reader = QuantileReader::new(&[-1.0, 1.0]).unwrap();
        for mean in 0..6 {
            let base = Gaussian::new(f64::from(mean), 1.0).unwrap();
            reader.push(base, recalibrator.recalibrate(base).unwrap().map());
        }
        reader.forget_last();
        assert_eq!(reader.waiting(), 3);
        let mut means = Vec::new();
        reader.read(|ends| means.push((0.5 * (ends[0] + ends[1])).round()));
        assert_eq!(means, [2.0, 3.0, 4.0]);
    }
}
