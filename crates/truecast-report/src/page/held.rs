//! How many outcomes an interval held, and how many it held if those on its ends count in part.
//!
//! An interval of counts, from 1 to 3 say, holds all of the outcomes at 1 and at 3, though only a part of their probability
//! belongs to it: it may hold far more than it says and be no wider than it must. The PIT splits these outcomes by chance, in
//! proportion, so the share of PITs in the middle of their histogram is what a forecaster is judged by. Without atoms both are the same.

use truecast::monitor::Side;

use super::chance::{Verdict, verdict};

/// Where the two shares differ by more than this, the page says so.
const MANY: f64 = 0.01;

/// What the intervals of one coverage held.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub(super) nominal: f64,
    /// Ends included.
    pub(super) share: f64,
    /// Outcomes on the ends split; the same as `share` where no bins of the PIT end with the interval.
    pub(super) split: f64,
    rows: u64,
    /// Whether the forecasts have atoms that matter.
    atoms: bool,
}

impl Held {
    /// Of the `index`-th coverage that a side follows; `None` without outcomes.
    pub(super) fn new(side: &Side, index: usize) -> Option<Self> {
        let (nominal, share) = (*side.coverage().coverages().get(index)?, side.coverage().share(index)?);
        let levels = side.coverage().coverages().iter().enumerate();
        let atoms = levels.filter_map(|(k, &level)| Some(side.coverage().share(k)? - middle(side, level)?));
        let atoms = atoms.fold(0.0, f64::max) > MANY;
        let split = middle(side, nominal).unwrap_or(share);
        Some(Held { nominal, share, split, rows: side.coverage().rows(), atoms })
    }

    /// Whether many outcomes lie on the ends.
    pub(super) fn ends(&self) -> bool {
        self.share - self.split > MANY
    }

    /// On the forecaster.
    pub(super) fn verdict(&self) -> Verdict {
        verdict(self.split, self.nominal, self.rows)
    }

    /// On the share as it is shown: too low whatever becomes of the ends, or too high even without them.
    pub(super) fn mark(&self) -> Verdict {
        match (verdict(self.share, self.nominal, self.rows), self.verdict()) {
            (Verdict::TooNarrow, _) => Verdict::TooNarrow,
            // Where atoms cannot be split nobody knows.
            (_, Verdict::TooWide) if !self.atoms || self.share != self.split => Verdict::TooWide,
            _ => Verdict::AsItShould,
        }
    }
}

/// The share of PITs in the middle of their histogram, if bins end where it does.
fn middle(side: &Side, coverage: f64) -> Option<f64> {
    let counts = side.pit().counts();
    let outside = 0.5 * (1.0 - coverage) * counts.len() as f64;
    let bins = outside.round();
    let rows = side.pit().rows();
    if rows == 0 || (outside - bins).abs() > 1e-9 {
        return None;
    }
    let inside = counts.get(bins as usize..counts.len() - bins as usize)?;
    Some(inside.iter().sum::<u64>() as f64 / rows as f64)
}

#[cfg(test)]
mod tests {
    use truecast::monitor::Scoreboard;
    use truecast::{Gaussian, Samples, random};

    use super::*;

    /// Forecasts of 0, 1 and 2 with a third each, and outcomes that are like them: the 80 % interval holds all.
    #[test]
    fn intervals_of_counts_hold_more_than_they_say_and_are_not_too_wide() {
        let forecast = Samples::new(&[[0.0; 100], [1.0; 100], [2.0; 100]].concat()).unwrap();
        let mut board = Scoreboard::default();
        for row in 0..2_000 {
            let outcome = (3.0 * random::uniform(1, row, 0)).floor();
            board.observe(&forecast, &forecast, outcome, random::uniform(1, row, 1)).unwrap();
        }
        for index in 0..board.raw().coverage().coverages().len() {
            let held = Held::new(board.raw(), index).unwrap();
            assert_eq!(held.mark(), Verdict::AsItShould, "{held:?}");
            assert_eq!(held.verdict() == Verdict::TooWide, held.nominal > 0.9, "{held:?}");
        }
        let held = Held::new(board.raw(), 1).unwrap();
        assert!(held.share == 1.0 && held.ends() && (held.split - 0.8).abs() < 0.03, "{held:?}");
    }

    #[test]
    fn without_atoms_there_is_nothing_to_split() {
        let wide = Gaussian::new(0.0, 5.0).unwrap();
        let mut board = Scoreboard::default();
        for row in 0..500 {
            let outcome = truecast::normal::quantile(random::uniform(2, row, 0).max(1e-9));
            board.observe(&wide, &wide, outcome, 0.5).unwrap();
        }
        for index in 0..board.raw().coverage().coverages().len() {
            let held = Held::new(board.raw(), index).unwrap();
            assert!(!held.ends() && (held.share - held.split).abs() < 1e-12, "{held:?}");
            assert_eq!(held.mark(), Verdict::TooWide, "{held:?}");
        }
        assert!(Held::new(Scoreboard::default().raw(), 0).is_none());
    }
}
