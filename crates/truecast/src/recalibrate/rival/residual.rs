//! A rule for the residual of a forecast, as a method.
//!
//! ```text
//! x = (y − location)/scale, held in ±10,000        the rule says where it has its 27 quantiles
//! G_t has its quantile q_k at location + scale · x_(k), sorted;  straight in probit scores between them, parallel to the base beyond
//! ```
//!
//! Before any outcome G_t = F_t. Cost: that of the rule, and a sort of 27 nearly sorted numbers; nothing allocates once the buffers have grown.

use std::fmt::Debug;
use std::sync::LazyLock;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{self, Result, SnapshotError};
use crate::forecast::Forecast;
use crate::recalibrate::comparator::quantiles;
use crate::recalibrate::{Groups, Plan, Recalibrator};
use crate::score::form::Form;
use crate::stream::Snapshot;

/// How many quantiles are announced.
pub(super) const QUANTILES: usize = 27;
/// Residuals are held in ± this: an infinite one would be learned for ever.
pub(super) const FARTHEST: f64 = 1e4;

/// The probit scores of the quantiles.
pub(super) static PROBITS: LazyLock<[f64; QUANTILES]> = LazyLock::new(|| {
    let mut probits = [0.0; QUANTILES];
    probits.iter_mut().zip(quantiles()).for_each(|(to, t)| *to = t);
    probits
});

/// A forecast, seen by location and scale.
#[derive(Debug, Clone, Copy)]
pub struct Occasion {
    /// Its median.
    pub location: f64,
    /// Half the distance of its quantiles one probit unit from the median; positive.
    pub scale: f64,
    /// Its own 27 quantiles, as residuals.
    pub base: [f64; QUANTILES],
}

impl Occasion {
    fn of(form: &Form) -> Option<Self> {
        let (location, scale) = form.location_and_scale();
        let usable = scale > 0.0 && scale.is_finite() && location.is_finite();
        usable.then(|| {
            let base = match form.table() {
                None => *PROBITS,
                Some(table) => PROBITS.map(|t| (table.at(t) - location) / scale),
            };
            Occasion { location, scale, base }
        })
    }
}

/// An outcome, with what was said and remembered when its forecast was made.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// The forecast's median.
    pub location: f64,
    /// Its scale.
    pub scale: f64,
    /// What the rule said.
    pub said: &'a [f64],
    /// What it wanted to remember.
    pub memo: &'a [f64],
    /// (outcome − location)/scale.
    pub residual: f64,
}

/// A rule for the quantiles of the residual.
pub trait ResidualRule: Debug + Clone + PartialEq + Send + Sync + Serialize + DeserializeOwned {
    /// The method's name.
    const NAME: &'static str;

    /// What can be chosen.
    type Options: Default;

    /// A rule that has seen nothing.
    fn start(options: Self::Options) -> Result<Self>;

    /// Where the 27 quantiles are, in the order of their levels; finite, and not yet sorted.
    fn say(&self, occasion: &Occasion, said: &mut Vec<f64>, memo: &mut Vec<f64>);

    /// How much it remembers of a forecast until its outcome is known.
    fn memo_length(&self) -> usize {
        0
    }

    /// Learns a residual within ±10,000.
    fn learn(&mut self, told: &Told<'_>);

    /// Checks a rule that was loaded.
    fn validate(&self) -> Result<(), SnapshotError>;
}

/// A rule for the residual, as a method.
///
/// ```
/// use truecast::recalibrate::rival::{ByResidual, Emos, EmosOptions};
/// use truecast::{Forecast, Gaussian, Recalibrator};
///
/// let mut recalibrator = ByResidual::<Emos>::new(EmosOptions::default())?;
/// let forecast = Gaussian::new(0.0, 2.0)?;
/// for k in 0..100 {
///     recalibrator.observe(&forecast, 1.0 + f64::from(k % 21 - 10) / 10.0)?;
/// }
/// let calibrated = recalibrator.recalibrate(forecast)?;
/// assert!((calibrated.quantile(0.5) - 1.0).abs() < 0.1);
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State<R>", bound = "R: ResidualRule")]
pub struct ByResidual<R: ResidualRule> {
    rule: R,
    steps: u64,
}

impl<R: ResidualRule> ByResidual<R> {
    /// A method that has seen nothing.
    pub fn new(options: R::Options) -> Result<Self> {
        Ok(ByResidual { rule: R::start(options)?, steps: 0 })
    }

    /// The rule.
    pub fn rule(&self) -> &R {
        &self.rule
    }

    fn book(&mut self, plan: &Plan, residual: impl FnOnce(f64, f64) -> f64) -> Result<()> {
        plan.expect_said(QUANTILES, 2 + self.rule.memo_length())?;
        let (location, scale) = (plan.memo[0], plan.memo[1]);
        if scale > 0.0 {
            let residual = error::score(residual(location, scale))?.clamp(-FARTHEST, FARTHEST);
            self.rule.learn(&Told { location, scale, said: &plan.said, memo: &plan.memo[2..], residual });
        }
        self.steps += 1;
        Ok(())
    }
}

impl<R: ResidualRule> Recalibrator for ByResidual<R> {
    fn propose(&self, _: &dyn Forecast, groups: Groups, step: u64, plan: &mut Plan) -> Result<()> {
        groups.none()?;
        (plan.step, plan.settled) = (step, self.steps);
        plan.said.clear();
        plan.memo.clear();
        plan.map.set_identity();
        let Some((form, occasion)) = plan.form.as_deref().and_then(|form| Some((form, Occasion::of(form)?)))
        else {
            plan.said.extend_from_slice(&*PROBITS);
            plan.memo.resize(2 + self.rule.memo_length(), 0.0);
            return Ok(());
        };
        plan.memo.extend([occasion.location, occasion.scale]);
        self.rule.say(&occasion, &mut plan.said, &mut plan.memo);
        if self.steps > 0 {
            let places = &mut plan.room.announced;
            places.clear();
            places.extend(plan.said.iter().map(|x| x.clamp(-FARTHEST, FARTHEST)));
            places.sort_unstable_by(f64::total_cmp);
            if let Some(table) = form.table() {
                places.iter_mut().for_each(|x| *x = table.z(occasion.location + occasion.scale * *x));
            }
            plan.map.set_quantiles(places, &*PROBITS);
        }
        Ok(())
    }

    /// For a normal forecast alone: elsewhere residuals are not probit scores.
    fn learn(&mut self, plan: &Plan, z: f64) -> Result<()> {
        error::score(z)?;
        self.book(plan, |_, _| z)
    }

    fn learn_outcome(&mut self, plan: &Plan, _: f64, outcome: f64) -> Result<()> {
        self.book(plan, |location, scale| (outcome - location) / scale)
    }

    fn reads_form(&self) -> bool {
        true
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn seed(&self) -> u64 {
        0
    }

    fn validate_plan(&self, plan: &Plan) -> Result<(), SnapshotError> {
        plan.validate_said(QUANTILES, 2 + self.rule.memo_length(), false)?;
        let finite = plan.said.iter().chain(&plan.memo).all(|x| x.is_finite());
        if finite && plan.memo[1] >= 0.0 {
            Ok(())
        } else {
            Err(SnapshotError::Invalid {
                field: "pending plan",
                rule: "of finite numbers, and of a scale that is not negative",
            })
        }
    }
}

/// The saved form.
#[derive(Deserialize)]
#[serde(bound = "R: ResidualRule")]
struct State<R> {
    rule: R,
    steps: u64,
}

impl<R: ResidualRule> TryFrom<State<R>> for ByResidual<R> {
    type Error = SnapshotError;
    fn try_from(State { rule, steps }: State<R>) -> Result<Self, SnapshotError> {
        rule.validate()?;
        Ok(ByResidual { rule, steps })
    }
}

impl<R: ResidualRule> Snapshot for ByResidual<R> {
    fn name() -> String {
        format!("rival/{}", R::NAME)
    }
}
