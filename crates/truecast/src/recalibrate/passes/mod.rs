//! The three passes over the levels that a step consists of: one to announce, one to judge, one to book.
//!
//! The formulas of one level are in the files of their concepts; here they are put together, four levels at a time, so that every number
//! is read and written once. `lanes.rs` says how the vectors are laid out. What makes them fast:
//!
//! - they are written with vector types, as one piece with the rest of planning and settling: nothing is handed over lane by lane, and what was just
//!   stored is not read at another offset, both of which a processor has to wait for;
//! - all rows take a long step, such as a division, before any takes the next one: a processor looks ahead over little more than one such chain;
//! - whether the ledgers are the usual two is asked once, and not at each row.
//!
//! Vector code is `#[inline(always)]` down to the last function, and loops are plain ones: in an iterator's closure the compiler would forget which
//! instructions there are.

mod announce;
mod learn;

pub(super) use announce::{announce, follow, walk};
pub(super) use learn::{Gains, book, judge, weighted_gain};

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::*;
    use crate::recalibrate::ledgers::Entries;
    use crate::recalibrate::{Groups, LedgerRecalibrator, Recalibrator};
    use crate::{Forecast, Gaussian, random};

    /// The passes of the usual ledgers do what those of any ledgers do, bit for bit, on a stream whose widths vary and whose plays move.
    #[test]
    fn the_usual_passes_are_the_general_ones() {
        let mut recalibrator = LedgerRecalibrator::default();
        let mut walked = 0;
        for t in 0..500 {
            let draw = |lane| random::uniform(11, t, lane);
            let forecast = Gaussian::new(draw(0), 0.2 + draw(1)).unwrap();
            let outcome = forecast.quantile(0.01 + 0.98 * draw(2) * draw(3));
            let mut plan = recalibrator.empty_plan();
            recalibrator.plan(&forecast, Groups::NONE, t, &mut plan).unwrap();
            let (ledgers, memories) = (recalibrator.ledgers(), recalibrator.memories().unwrap());

            let (mut usual, mut any) = (plan.clone(), plan.clone());
            let found = dispatch!(Level::new(), simd => announce::announce_usual(simd, ledgers, memories, plan.trust, &mut usual));
            let general = dispatch!(Level::new(), simd => announce::announce_any(simd, ledgers, Some(memories), plan.trust, &mut any));
            assert_eq!(general, found);
            walked += u32::from(!found);
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&usual.plays), bits(&any.plays));
            assert_eq!(bits(&usual.fractions), bits(&any.fractions));
            assert_eq!(bits(&usual.ratios), bits(&any.ratios));
            assert_eq!(bits(&usual.mixed), bits(&any.mixed));
            assert_eq!(bits(usual.map.announced()), bits(any.map.announced()));

            let (mut once, mut twice) = (ledgers.clone(), ledgers.clone());
            let settlement = once.open(&plan, forecast.probit(outcome), false);
            let entries = once.entries(&plan, &settlement);
            dispatch!(Level::new(), simd => book(simd, entries, &settlement, &plan));
            let settlement = twice.open(&plan, forecast.probit(outcome), false);
            let entries = Entries { usual: false, ..twice.entries(&plan, &settlement) };
            dispatch!(Level::new(), simd => book(simd, entries, &settlement, &plan));
            assert_eq!(once, twice);

            recalibrator.observe(&forecast, outcome).unwrap();
        }
        assert!(walked > 50, "plays must move for this to test anything: {walked}");
    }
}
