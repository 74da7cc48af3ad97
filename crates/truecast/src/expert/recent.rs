//! Where the last known outcomes fell, and how widely.
//!
//! ```text
//! A ← A + (z − A)/2                          an exponential mean of z, half-life 1
//! V ← V + (1 − 2^(−1/10)) (|z| + 0.001 − V)   of |z|, half-life 10; V enters as ln V
//! ```
//!
//! z is held in ±20. Both are standardised by their own running moments (n from 10 to 1,000) and held in ±3. Only outcomes that are known are in them, so
//! where outcomes come late these are older, and the regression that uses them learns the coefficient for its delay. Cost: O(1); seven numbers.

use serde::{Deserialize, Serialize};

use crate::error::SnapshotError;

const FARTHEST: f64 = 20.0;
const LARGEST: f64 = 3.0;
const SMALLEST_SIZE: f64 = 1e-3;
const LEAST_VARIANCE: f64 = 1e-6;
/// Half-life of the sizes.
const MEMORY: f64 = 10.0;
/// The moments forget after so many outcomes.
const LONGEST: f64 = 1000.0;

/// The last outcomes of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Recent {
    place: f64,
    size: f64,
    moments: [(f64, f64); 2],
    count: f64,
}

impl Default for Recent {
    fn default() -> Self {
        Recent { place: 0.0, size: 0.8, moments: [(0.0, 0.1), (0.0, 0.05)], count: 10.0 }
    }
}

impl Recent {
    fn features(&self) -> [f64; 2] {
        [self.place, libm::log(self.size)]
    }

    /// The two features of the next forecast.
    pub(crate) fn standardised(&self) -> [f64; 2] {
        let features = self.features();
        std::array::from_fn(|i| {
            let (mean, variance) = self.moments[i];
            ((features[i] - mean) / variance.sqrt()).clamp(-LARGEST, LARGEST)
        })
    }

    /// An outcome with probit score `z` became known.
    pub(crate) fn learn(&mut self, z: f64) {
        let gain = 1.0 / self.count.min(LONGEST);
        self.count += 1.0;
        for (feature, (mean, variance)) in self.features().into_iter().zip(&mut self.moments) {
            let error = feature - *mean;
            *mean += gain * error;
            *variance = (*variance + gain * (error * error - *variance)).max(LEAST_VARIANCE);
        }
        let z = z.clamp(-FARTHEST, FARTHEST);
        self.place += 0.5 * (z - self.place);
        self.size += (1.0 - libm::exp2(-1.0 / MEMORY)) * (z.abs() + SMALLEST_SIZE - self.size);
    }

    pub(crate) fn validate(&self) -> Result<(), SnapshotError> {
        let finite = self.place.is_finite() && self.size > 0.0 && self.size.is_finite() && self.count >= 10.0;
        let moments = self.moments.iter().all(|(mean, variance)| mean.is_finite() && *variance > 0.0);
        let rule = "finite, with positive sizes and variances";
        if finite && moments {
            Ok(())
        } else {
            Err(SnapshotError::Invalid { field: "recent outcomes", rule })
        }
    }
}
