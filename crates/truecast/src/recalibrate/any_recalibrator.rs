//! One type for all methods: what a command line, a service or a binding holds.

use serde::{Deserialize, Serialize};

use super::comparator::{Aci, DtAci, Pid, QuantileRecalibrator, Saocp, SfOgd};
use super::paper::{AlgorithmOne, IsotonicRegression, Tophat};
use super::{Groups, LedgerRecalibrator, Method, Plan, Recalibrator, Scores};
use crate::error::{Result, SnapshotError};
use crate::forecast::Forecast;
use crate::monitor::Certificate;
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
            $($(#[$doc])* $variant(Box<$type>),)*
        }

        impl AnyRecalibrator {
            /// Which method it is.
            pub fn method(&self) -> Method {
                match self { $(AnyRecalibrator::$variant(_) => Method::$variant,)* }
            }
        }

        impl Recalibrator for AnyRecalibrator {
            fn empty_plan(&self) -> Plan {
                match self { $(AnyRecalibrator::$variant(inner) => inner.empty_plan(),)* }
            }

            fn plan(&self, forecast: &dyn Forecast, groups: Groups, step: u64, plan: &mut Plan) -> Result<()> {
                match self { $(AnyRecalibrator::$variant(inner) => inner.plan(forecast, groups, step, plan),)* }
            }

            fn settle(&mut self, plan: &Plan, z: f64) -> Result<Scores> {
                match self { $(AnyRecalibrator::$variant(inner) => inner.settle(plan, z),)* }
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
    /// The ledger recalibrator.
    Ledger(LedgerRecalibrator),
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
}

impl AnyRecalibrator {
    /// Measured errors and regret with their bounds; the ledger recalibrator alone has them.
    pub fn certificate(&self) -> Option<Certificate> {
        match self {
            AnyRecalibrator::Ledger(ledger) => Some(ledger.certificate()),
            _ => None,
        }
    }
}

impl Snapshot for AnyRecalibrator {
    fn name() -> String {
        "any".to_string()
    }
}
