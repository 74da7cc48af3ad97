//! What a study is run with.

use serde::{Deserialize, Serialize};
use truecast_models::Noise;

use crate::acquisition::AnyAcquisition;
use crate::calibration::Calibration;
use crate::design::Design;
use crate::error::{self, Result};
use crate::maximise::Search;
use crate::surrogate::SurrogateSettings;

/// Settings of a [`Study`](super::Study).
///
/// | name | default | meaning |
/// |---|---|---|
/// | `design` | Latin hypercube | the first points |
/// | `initial` | 5 | how many; 0 if enough is told at the beginning |
/// | `acquisition` | lower confidence bound, κ = 2 | what makes a point worth evaluating |
/// | `calibration` | none | what is made of the surrogate's forecasts first |
/// | `surrogate` | | see [`SurrogateSettings`]; the noise of outcomes is there |
/// | `search` | | see [`Search`] |
/// | `seed` | 0 | key of all draws |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StudySettings {
    /// The first points.
    pub design: Design,
    /// How many of them.
    pub initial: usize,
    /// What makes a point worth evaluating.
    pub acquisition: AnyAcquisition,
    /// What is made of the surrogate's forecasts first.
    pub calibration: Calibration,
    /// The surrogate.
    pub surrogate: SurrogateSettings,
    /// How hard to search for the largest acquisition.
    pub search: Search,
    /// The key of all draws.
    pub seed: u64,
}

impl Default for StudySettings {
    fn default() -> Self {
        StudySettings {
            design: Design::default(),
            initial: 5,
            acquisition: AnyAcquisition::default(),
            calibration: Calibration::default(),
            surrogate: SurrogateSettings::default(),
            search: Search::default(),
            seed: 0,
        }
    }
}

/// More initial points than this are a grid search.
const MOST_INITIAL: usize = 100_000;

impl StudySettings {
    /// Checks all of them.
    pub fn validate(&self) -> Result<()> {
        let initial = self.initial as f64;
        error::setting(
            "the number of initial points",
            "at most 100000",
            initial,
            self.initial <= MOST_INITIAL,
        )?;
        if let Noise::Fixed(variance) = self.surrogate.noise {
            let holds = variance.is_finite() && variance >= 0.0;
            error::setting("the noise variance", "finite and 0 or more", variance, holds)?;
        }
        for starts in [self.surrogate.first_starts, self.surrogate.later_starts] {
            error::setting("the number of starts", "1 or more", f64::from(starts), starts > 0)?;
        }
        self.acquisition.validate()?;
        self.calibration.validate()?;
        self.search.validate()
    }

    /// True if outcomes repeat exactly, so that a point is worth evaluating once.
    pub(super) fn is_exact(&self) -> bool {
        matches!(self.surrogate.noise, Noise::Fixed(variance) if variance == 0.0)
    }
}
