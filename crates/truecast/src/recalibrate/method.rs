//! Every method by its name, for command lines, bindings and comparisons.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::any_recalibrator::AnyRecalibrator;
use super::comparator::{QuantileRecalibrator, QuantileRule};
use super::paper::{
    AlgorithmOne, AlgorithmOneParameters, IsotonicRegression, IsotonicRegressionParameters, Tophat,
};
use super::rival::{ByResidual, ResidualRule, RollingPit, RollingPitOptions};
use super::{GuardMode, MapShape, Parameters, ParametersBuilder, Pipeline, Protection, Recalibrator};
use crate::error::{Error, Result};
use crate::grid::{Levels, Plays};
use crate::subroutine::Subroutine;

/// Whose method it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Truecast's own.
    Ours,
    /// Algorithm 1 of the paper over one of its subroutines.
    Paper,
    /// What the paper compares itself with: made for independent, identically distributed data.
    Baseline,
    /// A conformal method for one quantile, run at all guarded quantiles with monotone repair.
    Comparator,
    /// What people use instead: a regression, a window, an aggregation, without a promise.
    Rival,
}

/// A method of recalibration.
///
/// | name | family | what holds on every stream |
/// |---|---|---|
/// | `experts` | ours | never behind the base by more than a hair; regret to every expert; intervals within a √T budget |
/// | `ledger` | ours | the same but for other experts; calibrated levels before stop-loss and guard |
/// | `approachability` | paper | calibrated levels, in expectation over its coins |
/// | `internal-regret` | paper | the same at a rate that falls with T; at the default rate it is measured, not proven |
/// | `defensive` | paper | calibrated levels, against smooth tests |
/// | `running-mean`, `tophat`, `isotonic` | baseline | nothing; calibrated if PITs are independent and identically distributed |
/// | `aci`, `sf-ogd`, `pid` | comparator | each quantile's coverage before sorting (`sf-ogd`: bounded scores); nothing about CRPS |
/// | `dtaci`, `saocp` | comparator | regret in pinball loss on intervals (`saocp`: bounded scores); no coverage |
/// | `emos`, `rolling-pit`, `rolling-conformal`, `quantile-regression`, `crps-learning` | rival | nothing |
///
/// ```
/// use truecast::recalibrate::Method;
///
/// let method: Method = "sf-ogd".parse()?;
/// assert_eq!(method, Method::SfOgd);
/// let recalibrator = method.build(7)?;
/// assert!("sfogd".parse::<Method>().is_err());
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// The experts and their mixture, the default.
    #[default]
    Experts,
    /// The ledgers alone.
    Ledger,
    /// Algorithm 1 by Blackwell approachability.
    Approachability,
    /// Algorithm 1 by internal-regret minimisation.
    InternalRegret,
    /// Algorithm 1 by defensive forecasting.
    Defensive,
    /// Algorithm 1 by running means.
    RunningMean,
    /// Calibrated regression by tophat density estimation.
    Tophat,
    /// Calibrated regression by isotonic regression.
    Isotonic,
    /// Adaptive conformal inference.
    Aci,
    /// Adaptive conformal inference over several step sizes.
    #[serde(rename = "dtaci")]
    DtAci,
    /// Scale-free online gradient descent.
    SfOgd,
    /// Strongly adaptive online conformal prediction.
    Saocp,
    /// Conformal control, proportional and integral.
    Pid,
    /// Ensemble model output statistics.
    Emos,
    /// The distribution of the last PITs.
    RollingPit,
    /// The quantiles of the last scaled residuals.
    RollingConformal,
    /// Online quantile regression on location and scale.
    QuantileRegression,
    /// CRPS learning over simple recalibrations.
    CrpsLearning,
}

impl Method {
    /// Every method, in the order of the table.
    pub const ALL: [Method; 18] = [
        Method::Experts,
        Method::Ledger,
        Method::Approachability,
        Method::InternalRegret,
        Method::Defensive,
        Method::RunningMean,
        Method::Tophat,
        Method::Isotonic,
        Method::Aci,
        Method::DtAci,
        Method::SfOgd,
        Method::Saocp,
        Method::Pid,
        Method::Emos,
        Method::RollingPit,
        Method::RollingConformal,
        Method::QuantileRegression,
        Method::CrpsLearning,
    ];

    /// The name that people choose it by.
    pub fn name(self) -> &'static str {
        match self {
            Method::Experts => "experts",
            Method::Ledger => "ledger",
            Method::Approachability => "approachability",
            Method::InternalRegret => "internal-regret",
            Method::Defensive => "defensive",
            Method::RunningMean => "running-mean",
            Method::Tophat => "tophat",
            Method::Isotonic => "isotonic",
            Method::Aci => "aci",
            Method::DtAci => "dtaci",
            Method::SfOgd => "sf-ogd",
            Method::Saocp => "saocp",
            Method::Pid => "pid",
            Method::Emos => "emos",
            Method::RollingPit => "rolling-pit",
            Method::RollingConformal => "rolling-conformal",
            Method::QuantileRegression => "quantile-regression",
            Method::CrpsLearning => "crps-learning",
        }
    }

    /// Whose method it is.
    pub fn family(self) -> Family {
        match self {
            Method::Experts | Method::Ledger => Family::Ours,
            Method::Approachability | Method::InternalRegret | Method::Defensive => Family::Paper,
            Method::RunningMean | Method::Tophat | Method::Isotonic => Family::Baseline,
            Method::Aci | Method::DtAci | Method::SfOgd | Method::Saocp | Method::Pid => Family::Comparator,
            Method::Emos
            | Method::RollingPit
            | Method::RollingConformal
            | Method::QuantileRegression
            | Method::CrpsLearning => Family::Rival,
        }
    }

    /// The guard is for our own methods alone, unless it is asked for: others keep coverage their own way or not at all.
    pub fn guard(self) -> GuardMode {
        if self.family() == Family::Ours { GuardMode::Priced } else { GuardMode::Off }
    }

    /// A recalibrator at the method's defaults, behind stop-loss and, for our own, guard.
    pub fn build(self, seed: u64) -> Result<AnyRecalibrator> {
        self.build_with(seed, Protection { guard: self.guard(), ..Protection::default() })
    }

    /// The same behind another protection. Deterministic subroutines get the default levels and a continuous map,
    /// randomised ones the paper's setting at N = 20.
    pub fn build_with(self, seed: u64, protection: Protection) -> Result<AnyRecalibrator> {
        protection.validate()?;
        let continuous = || AlgorithmOneParameters {
            levels: Levels::default(),
            plays: Plays::default(),
            randomised: false,
            shape: MapShape::Probit,
            seed,
        };
        let paper = || Ok::<_, Error>(AlgorithmOneParameters { seed, ..AlgorithmOneParameters::paper(20)? });
        let isotonic =
            || IsotonicRegression::new(IsotonicRegressionParameters { seed, ..Default::default() });
        let ours = |builder: ParametersBuilder| {
            Ok::<_, Error>(Box::new(Pipeline::new(builder.seed(seed).protection(protection).build()?)))
        };
        Ok(match self {
            Method::Experts => AnyRecalibrator::Experts(ours(Parameters::builder())?),
            Method::Ledger => AnyRecalibrator::Ledger(ours(Parameters::ledger())?),
            Method::Approachability => AnyRecalibrator::Approachability(behind(over(paper()?)?, protection)),
            Method::InternalRegret => AnyRecalibrator::InternalRegret(behind(over(paper()?)?, protection)),
            Method::Defensive => AnyRecalibrator::Defensive(behind(over(continuous())?, protection)),
            Method::RunningMean => AnyRecalibrator::RunningMean(behind(over(continuous())?, protection)),
            Method::Tophat => AnyRecalibrator::Tophat(behind(Tophat::new(20, seed)?, protection)),
            Method::Isotonic => AnyRecalibrator::Isotonic(behind(isotonic()?, protection)),
            Method::Aci => AnyRecalibrator::Aci(behind(quantiles()?, protection)),
            Method::DtAci => AnyRecalibrator::DtAci(behind(quantiles()?, protection)),
            Method::SfOgd => AnyRecalibrator::SfOgd(behind(quantiles()?, protection)),
            Method::Saocp => AnyRecalibrator::Saocp(behind(quantiles()?, protection)),
            Method::Pid => AnyRecalibrator::Pid(behind(quantiles()?, protection)),
            Method::Emos => AnyRecalibrator::Emos(behind(rival()?, protection)),
            Method::RollingPit => {
                let options = RollingPitOptions { seed, ..Default::default() };
                AnyRecalibrator::RollingPit(behind(RollingPit::new(options)?, protection))
            }
            Method::RollingConformal => AnyRecalibrator::RollingConformal(behind(rival()?, protection)),
            Method::QuantileRegression => AnyRecalibrator::QuantileRegression(behind(rival()?, protection)),
            Method::CrpsLearning => AnyRecalibrator::CrpsLearning(behind(rival()?, protection)),
        })
    }

    /// The method in the paper's setting: levels j/N and plays i/N, randomised, a step function, no stop-loss and no guard; the ledgers with one uniform
    /// ledger and nothing else. Methods that have no such setting are built as they are, without stop-loss and guard.
    pub fn build_paper(self, resolution: usize, seed: u64) -> Result<AnyRecalibrator> {
        let paper =
            || Ok::<_, Error>(AlgorithmOneParameters { seed, ..AlgorithmOneParameters::paper(resolution)? });
        let bare = Protection::NONE;
        Ok(match self {
            Method::Experts | Method::Ledger => {
                let pipeline = Pipeline::new(Parameters::paper(resolution)?.seed(seed).build()?);
                AnyRecalibrator::Ledger(Box::new(pipeline))
            }
            Method::Approachability => AnyRecalibrator::Approachability(behind(over(paper()?)?, bare)),
            Method::InternalRegret => AnyRecalibrator::InternalRegret(behind(over(paper()?)?, bare)),
            Method::Defensive => AnyRecalibrator::Defensive(behind(over(paper()?)?, bare)),
            Method::RunningMean => AnyRecalibrator::RunningMean(behind(over(paper()?)?, bare)),
            _ => return self.build_with(seed, bare),
        })
    }
}

/// Algorithm 1 over a subroutine at its defaults.
fn over<S: Subroutine>(parameters: AlgorithmOneParameters) -> Result<AlgorithmOne<S>> {
    AlgorithmOne::new(parameters, S::Options::default())
}

/// A rule at its defaults, at every quantile.
fn quantiles<R: QuantileRule>() -> Result<QuantileRecalibrator<R>> {
    QuantileRecalibrator::new(R::Options::default())
}

/// A rival at its defaults.
fn rival<R: ResidualRule>() -> Result<ByResidual<R>> {
    ByResidual::new(R::Options::default())
}

fn behind<M: Recalibrator>(method: M, protection: Protection) -> Box<Pipeline<M>> {
    Box::new(Pipeline::around(method, protection))
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self> {
        let found = Method::ALL.into_iter().find(|method| method.name() == name);
        found.ok_or_else(|| Error::UnknownMethod { name: name.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_a_name_that_leads_back_to_it() {
        for method in Method::ALL {
            assert_eq!(method.name().parse(), Ok(method));
            let json = serde_json::to_string(&method).unwrap();
            assert_eq!(json, format!("\"{method}\""));
        }
        assert_eq!("Ledger".parse::<Method>(), Err(Error::UnknownMethod { name: "Ledger".to_string() }));
    }
}
