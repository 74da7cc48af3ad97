//! Recalibration of a surrogate: what is made of its forecasts before an acquisition sees them.
//!
//! | calibration | stream of forecasts and outcomes | recalibrator |
//! |---|---|---|
//! | `none` | | |
//! | `leave-one-out` | each outcome so far by all the others, in the order of evaluation | Algorithm 1 in the paper's setting, trained anew at each step |
//! | `ledger` | the same | the ledgers, with its prior |
//! | `online` | each new point's forecast, made before its outcome was known | the ledgers with a prior of `shrinkage`; narrows only |
//! | `online-scale` | the same | one factor for the width, shrunk by `shrinkage`; narrows only |
//!
//! `leave-one-out` is the paper's CALIBRATE (algorithms 3 and 4). Two choices of ours: forecasts without one point come in closed form at the
//! hyperparameters of all of them, where the paper trains again on each split; and the outcome goes in with its forecast, of which Algorithm 1 uses the PIT alone. The
//! paper does not name its subroutine here: it is internal-regret minimisation, which its authors ran elsewhere, with N = 20 and by coin. Leave-one-out forecasts are made with points
//! on all sides, those near the minimum with many very close by; the next point is none of these, so this stream is not the one that matters.
//! `online` is: a forecast that was made before its outcome was known, at the very points that the acquisition chooses.
//!
//! ```text
//! online-scale   s² = (m + Σ z_t²)/(m + n),   z_t = (y_t − μ_t)/σ_t,   m = shrinkage, held within [least, 1]
//! ```
//!
//! **Narrow only.** The online stream is that of points chosen for how low they might turn out, not of the space: where a few of them surprise, wider intervals
//! everywhere would explore on their account. So the online kinds never widen: with κ = 2 and `least` = 0.05, κ_t lies between 0.1 and 2.
//!
//! **One map per step.** The ledgers' map depends on its forecast's width. It is made once, for the median width of its stream, and used at all points.

use serde::{Deserialize, Serialize};
use truecast::recalibrate::{AnyRecalibrator, Method};
use truecast::{Gaussian, Parameters, Pipeline, Recalibrator};

use crate::error::{self, Result};
use crate::remap::Remap;
use crate::surrogate::ProcessSurrogate;

/// How forecasts of the surrogate are recalibrated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Calibration {
    /// Not at all.
    #[default]
    None,
    /// By the paper's CALIBRATE.
    LeaveOneOut {
        /// The subroutine of Algorithm 1.
        method: Method,
        /// Its levels and plays, N.
        resolution: usize,
    },
    /// By the ledgers on leave-one-out forecasts.
    Ledger {
        /// For how many observations the surrogate's own probabilities count.
        prior: f64,
    },
    /// By the ledgers on forecasts made before their outcomes.
    Online {
        /// For how many observations the surrogate's own probabilities count.
        shrinkage: f64,
        /// The least width, as a part of the surrogate's own.
        least: f64,
    },
    /// By one factor for the width, from forecasts made before their outcomes.
    OnlineScale {
        /// For how many observations the surrogate's own width counts.
        shrinkage: f64,
        /// The least width, as a part of the surrogate's own.
        least: f64,
    },
}

impl Calibration {
    /// The paper's: Algorithm 1 by internal-regret minimisation at N = 20.
    pub fn paper() -> Self {
        Calibration::LeaveOneOut { method: Method::InternalRegret, resolution: 20 }
    }

    /// The ledgers at its default prior.
    pub fn ledger() -> Self {
        Calibration::Ledger { prior: 10.0 }
    }

    /// The online stream at a shrinkage of 4.
    pub fn online() -> Self {
        Calibration::Online { shrinkage: 4.0, least: 0.05 }
    }

    /// The online stream's width at a shrinkage of 4.
    pub fn online_scale() -> Self {
        Calibration::OnlineScale { shrinkage: 4.0, least: 0.05 }
    }

    /// Checks its numbers.
    pub fn validate(&self) -> Result<()> {
        match *self {
            Calibration::None => Ok(()),
            Calibration::LeaveOneOut { method, resolution } => {
                method.build_paper(resolution, 0).map(|_| ()).map_err(Into::into)
            }
            Calibration::Ledger { prior } => ledger(prior, 0).map(|_| ()),
            Calibration::Online { shrinkage, least } | Calibration::OnlineScale { shrinkage, least } => {
                let finite = shrinkage.is_finite() && shrinkage >= 0.0;
                error::setting("the shrinkage", "finite and 0 or more", shrinkage, finite)?;
                error::setting(
                    "the least width",
                    "above 0 and at most 1",
                    least,
                    least > 0.0 && least <= 1.0,
                )?;
                Ok(())
            }
        }
    }

    /// The map for the next step: of the forecasts that a surrogate makes of its own outcomes, or of the `online` stream. `seed` keys coins.
    pub fn remap(
        &self,
        surrogate: &ProcessSurrogate,
        outcomes: &[f64],
        online: &[Foretold],
        seed: u64,
    ) -> Result<Remap> {
        match *self {
            Calibration::None => Ok(Remap::Identity),
            Calibration::LeaveOneOut { method, resolution } => {
                let mut recalibrator = method.build_paper(resolution, seed)?;
                trained(&mut recalibrator, &left_out(surrogate, outcomes)?).map(Remap::Map)
            }
            Calibration::Ledger { prior } => {
                let mut recalibrator = ledger(prior, seed)?;
                trained(&mut recalibrator, &left_out(surrogate, outcomes)?).map(Remap::Map)
            }
            Calibration::Online { .. } | Calibration::OnlineScale { .. } if online.is_empty() => {
                Ok(Remap::Identity)
            }
            Calibration::Online { shrinkage, least } => {
                let map = trained(&mut ledger(shrinkage, seed)?, online)?;
                Ok(Remap::Narrowed { map, least })
            }
            Calibration::OnlineScale { shrinkage, least } => {
                let squares: f64 = online.iter().map(Foretold::square).sum();
                let scale = ((shrinkage + squares) / (shrinkage + online.len() as f64)).sqrt();
                let scale = error::computed("the width's factor", scale)?;
                Ok(Remap::Scale(scale.clamp(least, 1.0)))
            }
        }
    }
}

/// A forecast, and the outcome that came.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Foretold {
    /// What was forecast.
    pub forecast: Gaussian,
    /// What came.
    pub outcome: f64,
}

impl Foretold {
    fn square(&self) -> f64 {
        let z = (self.outcome - self.forecast.mean()) / self.forecast.std();
        z * z
    }
}

fn ledger(prior: f64, seed: u64) -> Result<AnyRecalibrator> {
    let parameters = Parameters::ledger().prior(prior).seed(seed).build()?;
    Ok(AnyRecalibrator::Ledger(Box::new(Pipeline::new(parameters))))
}

fn left_out(surrogate: &ProcessSurrogate, outcomes: &[f64]) -> Result<Vec<Foretold>> {
    let forecasts = surrogate.leave_one_out()?;
    Ok(forecasts
        .into_iter()
        .zip(outcomes)
        .map(|(forecast, &outcome)| Foretold { forecast, outcome })
        .collect())
}

/// The map that the recalibrator has for a forecast of median width, after the stream.
fn trained(
    recalibrator: &mut AnyRecalibrator,
    stream: &[Foretold],
) -> Result<Box<truecast::recalibrate::Map>> {
    for foretold in stream {
        recalibrator.observe(&foretold.forecast, foretold.outcome)?;
    }
    let mut widths: Vec<f64> = stream.iter().map(|foretold| foretold.forecast.std()).collect();
    widths.sort_unstable_by(f64::total_cmp);
    let median = widths.get(widths.len() / 2).copied().unwrap_or(1.0);
    Ok(Box::new(recalibrator.recalibrate(Gaussian::new(0.0, median)?)?.map().clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Design, SurrogateSettings};

    fn stream(factor: f64) -> Vec<Foretold> {
        let forecast = Gaussian::new(1.0, 2.0).unwrap();
        let at =
            |i: i32| 1.0 + 2.0 * factor * truecast::normal::quantile((f64::from(i * 37 % 60) + 0.5) / 60.0);
        (0..60).map(|i| Foretold { forecast, outcome: at(i) }).collect()
    }

    fn surrogate() -> (ProcessSurrogate, Vec<f64>) {
        let points = Design::LatinHypercube.points(15, 2, 1);
        let outcomes: Vec<f64> = points.iter().map(|x| (7.0 * x[0]).sin() + x[1]).collect();
        let surrogate = ProcessSurrogate::fit(&points, &outcomes, &SurrogateSettings::default(), None, 0);
        (surrogate.unwrap(), outcomes)
    }

    /// A stream whose outcomes lie half as far out as foretold narrows; one with outcomes twice as far out must not widen.
    #[test]
    fn online_kinds_narrow_and_never_widen() {
        let (surrogate, outcomes) = surrogate();
        for calibration in [Calibration::online(), Calibration::online_scale()] {
            let kappa = |factor| {
                calibration.remap(&surrogate, &outcomes, &stream(factor), 0).unwrap().multiplier(2.0)
            };
            assert!((0.1..1.5).contains(&kappa(0.5)), "{calibration:?}: {}", kappa(0.5));
            assert_eq!(kappa(2.0), 2.0, "{calibration:?}");
            assert!((0.1..=2.0).contains(&kappa(1e-9)));
            assert_eq!(calibration.remap(&surrogate, &outcomes, &[], 0).unwrap(), Remap::Identity);
        }
        // (4 + 60/4)/64 but for the sample's own variance, 0.97 of that of its law.
        let scale = Calibration::online_scale().remap(&surrogate, &outcomes, &stream(0.5), 0).unwrap();
        assert!((scale.multiplier(1.0) - 0.54).abs() < 0.01, "{scale:?}");
    }

    #[test]
    fn leave_one_out_kinds_give_maps_that_repeat_by_seed() {
        let (surrogate, outcomes) = surrogate();
        for calibration in [Calibration::paper(), Calibration::ledger()] {
            let remap = |seed| calibration.remap(&surrogate, &outcomes, &[], seed).unwrap();
            assert_eq!(remap(3), remap(3));
            assert!(remap(3).multiplier(2.0).is_finite());
        }
    }

    #[test]
    fn bad_settings_are_named() {
        assert!(Calibration::Online { shrinkage: -1.0, least: 0.05 }.validate().is_err());
        assert!(Calibration::OnlineScale { shrinkage: 4.0, least: 0.0 }.validate().is_err());
        assert!(Calibration::Ledger { prior: f64::NAN }.validate().is_err());
        assert!(
            Calibration::LeaveOneOut { method: Method::InternalRegret, resolution: 0 }.validate().is_err()
        );
        for calibration in [Calibration::paper(), Calibration::ledger(), Calibration::online()] {
            calibration.validate().unwrap();
        }
    }
}
