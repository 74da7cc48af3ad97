//! One type for all methods: what a command line, a service or a binding holds.

use serde::{Deserialize, Serialize};

use super::comparator::{Aci, DtAci, Pid, QuantileRecalibrator, Saocp, SfOgd};
use super::paper::{AlgorithmOne, IsotonicRegression, Tophat};
use super::rival::{ByResidual, CrpsLearning, Emos, QuantileRegression, RollingConformal, RollingPit};
use super::{Groups, Method, Mixture, Pipeline, Plan, Protection, Recalibrator, Scores, StopLoss};
use crate::error::{Result, SnapshotError};
use crate::expert::Ledgers;
use crate::forecast::{Forecast, Gaussian};
use crate::monitor::Certificate;
use crate::score::form::FRAC_1_SQRT_PI;
use crate::stream::Snapshot;
use crate::subroutine::{Approachability, Defensive, InternalRegret, RunningMean};

/// Declares [`AnyRecalibrator`] with one variant per method, and hands every verb to the method.
macro_rules! any_recalibrator {
    ($($(#[$doc:meta])* $variant:ident($type:ty)),* $(,)?) => {
        /// A recalibrator of any [`Method`].
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum AnyRecalibrator {
            $($(#[$doc])* $variant(Box<Pipeline<$type>>),)*
        }

        impl AnyRecalibrator {
            /// Which method it is.
            pub fn method(&self) -> Method {
                match self { $(AnyRecalibrator::$variant(_) => Method::$variant,)* }
            }
        }

        impl AnyRecalibrator {
            /// What stands between the method and what is announced.
            pub fn protection(&self) -> &Protection {
                match self { $(AnyRecalibrator::$variant(inner) => inner.protection(),)* }
            }

            /// The account of the stop-loss, unless nothing protects.
            pub fn account(&self) -> Option<&StopLoss> {
                match self { $(AnyRecalibrator::$variant(inner) => inner.account(),)* }
            }

            /// What is promised, and what was measured.
            pub fn certificate(&self) -> Certificate {
                match self { $(AnyRecalibrator::$variant(inner) => inner.certificate(),)* }
            }
        }

        impl Recalibrator for AnyRecalibrator {
            fn propose(&self, forecast: &dyn Forecast, groups: Groups, step: u64, plan: &mut Plan) -> Result<()> {
                match self { $(AnyRecalibrator::$variant(inner) => inner.propose(forecast, groups, step, plan),)* }
            }

            fn learn(&mut self, plan: &Plan, z: f64) -> Result<()> {
                match self { $(AnyRecalibrator::$variant(inner) => inner.learn(plan, z),)* }
            }

            fn learn_outcome(&mut self, plan: &Plan, z: f64, outcome: f64) -> Result<()> {
                match self { $(AnyRecalibrator::$variant(inner) => inner.learn_outcome(plan, z, outcome),)* }
            }

            fn announced(&mut self, plan: &Plan) {
                match self { $(AnyRecalibrator::$variant(inner) => inner.announced(plan),)* }
            }

            fn resolve(&mut self, plan: &Plan, forecast: &dyn Forecast, outcome: f64) -> Result<Scores> {
                match self { $(AnyRecalibrator::$variant(inner) => inner.resolve(plan, forecast, outcome),)* }
            }

            fn check(&self, plan: &Plan, forecast: &dyn Forecast, outcome: f64) -> Result<()> {
                match self { $(AnyRecalibrator::$variant(inner) => inner.check(plan, forecast, outcome),)* }
            }

            fn expire(&mut self, plan: &Plan) {
                match self { $(AnyRecalibrator::$variant(inner) => inner.expire(plan),)* }
            }

            fn bounds(&self) -> Option<(f64, f64)> {
                self.protection().bounds
            }

            fn reads_form(&self) -> bool {
                match self { $(AnyRecalibrator::$variant(inner) => inner.reads_form(),)* }
            }

            fn books_crps(&self, forecast: &dyn Forecast) -> bool {
                match self { $(AnyRecalibrator::$variant(inner) => inner.books_crps(forecast),)* }
            }

            fn waits(&self) -> Option<u64> {
                match self { $(AnyRecalibrator::$variant(inner) => inner.waits(),)* }
            }

            fn ledgers(&self) -> Option<&Ledgers> {
                match self { $(AnyRecalibrator::$variant(inner) => inner.ledgers(),)* }
            }

            fn steps(&self) -> u64 {
                match self { $(AnyRecalibrator::$variant(inner) => inner.steps(),)* }
            }

            fn seed(&self) -> u64 {
                match self { $(AnyRecalibrator::$variant(inner) => inner.seed(),)* }
            }

            fn validate_plan(&self, plan: &Plan) -> Result<(), SnapshotError> {
                match self { $(AnyRecalibrator::$variant(inner) => inner.validate_plan(plan),)* }
            }
        }
    };
}

any_recalibrator! {
    /// The experts.
    Experts(Mixture),
    /// The ledgers alone.
    Ledger(Mixture),
    /// Algorithm 1 by Blackwell approachability.
    Approachability(AlgorithmOne<Approachability>),
    /// Algorithm 1 by internal-regret minimisation.
    InternalRegret(AlgorithmOne<InternalRegret>),
    /// Algorithm 1 by defensive forecasting.
    Defensive(AlgorithmOne<Defensive>),
    /// Algorithm 1 by running means.
    RunningMean(AlgorithmOne<RunningMean>),
    /// Tophat density estimation.
    Tophat(Tophat),
    /// Isotonic regression.
    Isotonic(IsotonicRegression),
    /// Adaptive conformal inference.
    Aci(QuantileRecalibrator<Aci>),
    /// Its expert-aggregated form.
    DtAci(QuantileRecalibrator<DtAci>),
    /// Scale-free online gradient descent.
    SfOgd(QuantileRecalibrator<SfOgd>),
    /// Strongly adaptive online conformal prediction.
    Saocp(QuantileRecalibrator<Saocp>),
    /// Conformal control.
    Pid(QuantileRecalibrator<Pid>),
    /// Ensemble model output statistics.
    Emos(ByResidual<Emos>),
    /// The distribution of the last PITs.
    RollingPit(RollingPit),
    /// The quantiles of the last scaled residuals.
    RollingConformal(ByResidual<RollingConformal>),
    /// Online quantile regression.
    QuantileRegression(ByResidual<QuantileRegression>),
    /// CRPS learning.
    CrpsLearning(ByResidual<CrpsLearning>),
}

impl AnyRecalibrator {
    /// The experts behind it, where it is our own method.
    pub fn mixture(&self) -> Option<&Mixture> {
        match self {
            AnyRecalibrator::Experts(inner) | AnyRecalibrator::Ledger(inner) => Some(inner.method()),
            _ => None,
        }
    }

    /// A normal forecast like those of late, to ask what would become of it: the stop-loss knows the scale of a series.
    pub fn usual_forecast(&self) -> Gaussian {
        let mixed =
            self.mixture().filter(|mixture| mixture.parameters().mixes()).map(Mixture::usual_forecast);
        let scale = self.account().map_or(0.0, |account| account.largest_mean() / FRAC_1_SQRT_PI);
        mixed.unwrap_or_else(|| Gaussian::new(0.0, scale).unwrap_or_default())
    }
}

impl Snapshot for AnyRecalibrator {
    fn name() -> String {
        "any".to_string()
    }
}
