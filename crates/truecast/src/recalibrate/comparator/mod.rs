//! Methods for one quantile or one interval, to compare with: each runs at all 27 guarded quantiles at once.
//!
//! Such a method says at which base probit score θ_k the quantile q_k lies, and learns from hit_k = 1{z_t ≤ θ_k}. The announced map is
//! the identity with the guarded quantiles moved to the thresholds, so G_t is a whole distribution.
//!
//! | file | method | what holds on every stream | cost per quantile |
//! |---|---|---|---|
//! | `quantile_recalibrator.rs` | [`QuantileRecalibrator`]: one [`QuantileRule`] per quantile, nested by sorting | | |
//! | `history.rs` | [`History`]: the last W scores, sorted, behind a prior that the base is right | | O(W) per step, for all |
//! | `aci.rs` | [`Aci`]: adaptive conformal inference | balance ≤ 1 + max(q, 1−q)/γ | O(log W) |
//! | `dtaci.rs` | [`DtAci`]: the same with a step size that is learned | regret in pinball loss on any interval | O(8 + log W) |
//! | `sf_ogd.rs` | [`SfOgd`]: scale-free online gradient descent | balance ≤ 2B√T/η, scores within B − η | O(1) |
//! | `saocp.rs` | [`Saocp`]: strongly adaptive, experts on covering intervals | regret on any interval, scores bounded | O(log T) |
//! | `pid.rs` | [`Pid`]: quantile tracking and a saturating integrator | balance ≤ πC/2 · T/ln T + 1 | O(1) |
//!
//! What all of them lack is what the ledgers are for: no promise on accuracy, and quantiles that must be sorted.

mod aci;
mod dtaci;
mod history;
mod pid;
mod quantile_recalibrator;
mod saocp;
mod sf_ogd;

pub use aci::{Aci, AciOptions};
pub use dtaci::{DtAci, DtAciOptions};
pub use history::History;
pub use pid::{Pid, PidOptions};
pub use quantile_recalibrator::{QuantileRecalibrator, QuantileRule, quantiles};
pub use saocp::{Saocp, SaocpOptions};
pub use sf_ogd::{SfOgd, SfOgdOptions};
