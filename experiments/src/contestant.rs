//! Who takes part in a study: a method, as it is announced by default or bare.

use truecast::recalibrate::comparator::{QuantileRecalibrator, QuantileRule};
use truecast::recalibrate::{AnyRecalibrator, Family, GuardMode, Method, Pipeline, Protection};

/// How far out, in standard deviations of the base, a comparator's whole line ends here. Its CRPS grows with this; its coverage on
/// these streams does not depend on it.
pub const REACH: f64 = 50.0;

/// A method, with what stands between it and what is announced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contestant {
    /// The method.
    pub method: Method,
    /// Neither stop-loss nor guard.
    pub bare: bool,
}

impl Contestant {
    /// As it is announced by default.
    pub fn announced(method: Method) -> Self {
        Contestant { method, bare: false }
    }

    /// What the method itself says.
    pub fn bare(method: Method) -> Self {
        Contestant { method, bare: true }
    }

    /// The name in tables.
    pub fn name(self) -> String {
        format!("{}{}", self.method, if self.bare { ", bare" } else { "" })
    }

    /// The method, before any outcome.
    pub fn build(self, seed: u64) -> AnyRecalibrator {
        let ours = self.method.family() == Family::Ours;
        let guard = if ours { GuardMode::Priced } else { GuardMode::Off };
        let default = Protection { guard, ..Protection::default() };
        self.build_with(seed, if self.bare { Protection::NONE } else { default })
    }

    /// Behind another protection.
    pub fn build_with(self, seed: u64, protection: Protection) -> AnyRecalibrator {
        fn within_reach<R: QuantileRule>(protection: Protection) -> Box<Pipeline<QuantileRecalibrator<R>>> {
            let method = QuantileRecalibrator::with_reach(R::Options::default(), REACH).unwrap();
            Box::new(Pipeline::around(method, protection))
        }
        match self.method {
            Method::Aci => AnyRecalibrator::Aci(within_reach(protection)),
            Method::DtAci => AnyRecalibrator::DtAci(within_reach(protection)),
            Method::SfOgd => AnyRecalibrator::SfOgd(within_reach(protection)),
            Method::Saocp => AnyRecalibrator::Saocp(within_reach(protection)),
            Method::Pid => AnyRecalibrator::Pid(within_reach(protection)),
            method => method.build_with(seed, protection).unwrap(),
        }
    }
}
