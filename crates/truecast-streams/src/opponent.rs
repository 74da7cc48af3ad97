//! Every adversary by its name, at the settings that the tests and the documentation use.

use std::fmt;
use std::str::FromStr;

use truecast::Result;

use crate::UnknownName;
use crate::adversary::{Adversary, Alternator, IntervalStepper, LevelFlipper, Repeater, WorstPit};

/// Base probit units within which the opponents stay, unless said otherwise.
const BOUND: f64 = 4.0;

/// An adversary by name.
///
/// ```
/// use truecast::recalibrate::Method;
/// use truecast::{Gaussian, Recalibrator};
/// use truecast_streams::Opponent;
///
/// let mut adversary = "interval".parse::<Opponent>()?.build(7)?;
/// let mut recalibrator = Method::Ledger.build(0)?;
/// let forecast = Gaussian::new(20.0, 2.0)?;
/// for _ in 0..100 {
///     let announced = recalibrator.recalibrate(&forecast)?;
///     let outcome = adversary.outcome(&forecast, &announced);
///     recalibrator.observe(&forecast, outcome)?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Opponent {
    /// [`IntervalStepper`] against the 80 % interval, within ±4.
    Interval,
    /// [`LevelFlipper`] at the median.
    LevelFlipper,
    /// [`WorstPit`] over ten bins, within ±4.
    WorstPit,
    /// [`Repeater`] at 1.5.
    Repeater,
    /// [`Alternator`] over −3, 0 and 3, 50 steps at each.
    Alternator,
}

impl Opponent {
    /// Every opponent, the one that most methods lose against first.
    pub const ALL: [Opponent; 5] = [
        Opponent::Interval,
        Opponent::LevelFlipper,
        Opponent::WorstPit,
        Opponent::Repeater,
        Opponent::Alternator,
    ];

    /// The name that people choose it by.
    pub fn name(self) -> &'static str {
        match self {
            Opponent::Interval => "interval",
            Opponent::LevelFlipper => "level-flipper",
            Opponent::WorstPit => "worst-pit",
            Opponent::Repeater => "repeater",
            Opponent::Alternator => "alternator",
        }
    }

    /// What it does, in one line.
    pub fn description(self) -> &'static str {
        match self {
            Opponent::Interval => "steps just outside of the announced 80 % interval",
            Opponent::LevelFlipper => {
                "makes Y fall on the side of the base's median that was called less likely"
            }
            Opponent::WorstPit => "puts the outcome where the histogram of announced PITs is fullest",
            Opponent::Repeater => {
                "gives the same outcome for ever, 1.5 standard deviations above the base's mean"
            }
            Opponent::Alternator => "stays at -3, 0 and 3 base standard deviations in turn, 50 steps at each",
        }
    }

    /// The adversary, seeded where it draws.
    pub fn build(self, seed: u64) -> Result<Box<dyn Adversary>> {
        Ok(match self {
            Opponent::Interval => Box::new(IntervalStepper::new(0.8, BOUND, seed)?),
            Opponent::LevelFlipper => Box::new(LevelFlipper::new(0.5, seed)?),
            Opponent::WorstPit => Box::new(WorstPit::new(10, BOUND, seed)?),
            Opponent::Repeater => Box::new(Repeater::new(1.5)?),
            Opponent::Alternator => Box::new(Alternator::new(vec![-3.0, 0.0, 3.0], 50)?),
        })
    }
}

impl fmt::Display for Opponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Opponent {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let found = Opponent::ALL.into_iter().find(|opponent| opponent.name() == name);
        found.ok_or_else(|| UnknownName::new("an adversary", name, Opponent::ALL.iter().map(|o| o.name())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truecast::recalibrate::Method;
    use truecast::{Gaussian, Recalibrator};

    #[test]
    fn every_opponent_has_a_name_that_leads_back_to_it() {
        for opponent in Opponent::ALL {
            assert_eq!(opponent.to_string().parse(), Ok(opponent));
            assert!(!opponent.description().contains('\n'));
        }
        let error = "nobody".parse::<Opponent>().unwrap_err().to_string();
        assert_eq!(
            error,
            "\"nobody\" is not an adversary; there are interval, level-flipper, worst-pit, repeater, alternator"
        );
    }

    #[test]
    fn every_opponent_plays_against_every_method() {
        let forecast = Gaussian::new(20.0, 2.0).unwrap();
        for opponent in Opponent::ALL {
            for method in Method::ALL {
                let mut adversary = opponent.build(1).unwrap();
                let mut recalibrator = method.build(1).unwrap();
                for _ in 0..60 {
                    let announced = recalibrator.recalibrate(forecast).unwrap();
                    let outcome = adversary.outcome(&forecast, &announced);
                    assert!((outcome - 20.0).abs() <= 2.0 * BOUND + 1e-12, "{opponent} {method}: {outcome}");
                    recalibrator.observe(&forecast, outcome).unwrap();
                }
            }
        }
    }
}
