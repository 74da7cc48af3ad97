//! The certificate: what the ledgers owe, and what they can owe at most.
//!
//! Read from the state in O(M N), without the history. For each ledger g, over all steps (with a half-life: over its window):
//!
//! ```text
//! calibration error   max_j Σ_i |L_gji| / W_gj          at most max_j √((N+1) A_gj B_j) / W_gj
//! regret              Σ_t Σ_j w[(p−o)² − (u−o)²]        at most Σ_j 2 √(Σ_i (v_i−u_j)²) √(A_gj B_j) − Q_gj, exactly known
//! ```
//!
//! B_j is the bound on the level's potential that was booked step by step: it holds on every stream, late and randomised
//! plays included. For the CRPS ledger the regret is that of the CRPS at the levels' resolution, in units of the outcome. Error and regret are
//! those of the ledgers' plays; `announced_regret` bounds that of their mixture with the base, before the guard.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::recalibrate::{LedgerKind, Ledgers};

/// Measured error and regret of every ledger with their bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Outcomes settled.
    pub steps: u64,
    /// Σ_j Ψ_j: squared balances over squared weights, summed over ledgers and levels.
    pub potential: f64,
    /// Σ_j B_j: what it is bounded by, booked step by step.
    pub potential_bound: f64,
    /// One entry per ledger.
    pub ledgers: Vec<LedgerCertificate>,
}

/// What one ledger owes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LedgerCertificate {
    /// Which promise this is.
    pub kind: LedgerKind,
    /// The largest calibration error of any level, against tent-shaped tests: a share of the ledger's weight.
    pub calibration_error: f64,
    /// What it is bounded by.
    pub calibration_bound: f64,
    /// Weighted squared error of the plays minus that of the base, summed over steps and levels: exact.
    pub regret: f64,
    /// What it is bounded by.
    pub regret_bound: f64,
    /// With memories or trust on, a bound on the regret of the mixture that was announced: Σ_t trust_t × the regret of what was
    /// mixed with the base, exactly.
    pub announced_regret: Option<f64>,
}

impl Certificate {
    pub(crate) fn new(ledgers: &Ledgers, announced: Option<&Vec<f64>>) -> Self {
        let bounds = ledgers.potential_bounds();
        let (u, v) = (ledgers.levels().probabilities(), ledgers.plays().values());
        let entries = ledgers.kinds().iter().enumerate().map(|(g, &kind)| {
            let (squares, totals, shifts) = (ledgers.squares(g), ledgers.totals(g), ledgers.shifts(g));
            let mut entry = LedgerCertificate {
                kind,
                calibration_error: 0.0,
                calibration_bound: 0.0,
                regret: ledgers.regret(g),
                regret_bound: 0.0,
                announced_regret: announced.map(|regrets| regrets[g]),
            };
            for (j, balances) in ledgers.balances(g).iter().enumerate() {
                let reach: f64 = v.iter().map(|v| (v - u[j]) * (v - u[j])).sum();
                // Rounding may leave a bound a hair below zero before anything happened.
                let norm = (squares[j] * bounds[j].max(0.0)).sqrt();
                entry.regret_bound += 2.0 * reach.sqrt() * norm - shifts[j];
                if totals[j] > 0.0 {
                    let error = balances.iter().map(|l| l.abs()).sum::<f64>() / totals[j];
                    let bound = (v.len() as f64).sqrt() * norm / totals[j];
                    entry.calibration_error = entry.calibration_error.max(error);
                    entry.calibration_bound = entry.calibration_bound.max(bound);
                }
            }
            entry
        });
        let entries = entries.collect();
        Certificate {
            steps: ledgers.steps(),
            potential: ledgers.potentials().iter().sum(),
            potential_bound: bounds.iter().sum(),
            ledgers: entries,
        }
    }

    /// True if every measured number is within its bound, up to rounding: anything else is a defect, not bad luck.
    pub fn holds(&self) -> bool {
        let within = |measured: f64, bound: f64| measured <= bound + 1e-9 * (1.0 + bound.abs());
        within(self.potential, self.potential_bound)
            && self.ledgers.iter().all(|ledger| {
                within(ledger.calibration_error, ledger.calibration_bound)
                    && within(ledger.regret, ledger.regret_bound)
            })
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "after {} outcomes: potential {:.2}, at most {:.2}",
            self.steps, self.potential, self.potential_bound
        )?;
        write!(
            f,
            "{:<16}{:>20}{:>10}{:>16}{:>14}{:>16}",
            "ledger", "calibration error", "at most", "regret", "at most", "as announced"
        )?;
        for ledger in &self.ledgers {
            write!(f, "\n{:<16}", ledger.kind.to_string())?;
            write!(f, "{:>20.4}{:>10.4}", ledger.calibration_error, ledger.calibration_bound)?;
            write!(f, "{:>+16.3}{:>+14.3}", ledger.regret, ledger.regret_bound)?;
            match ledger.announced_regret {
                Some(regret) => write!(f, "{regret:>+16.3}")?,
                None => write!(f, "{:>16}", "the same")?,
            }
        }
        Ok(())
    }
}
