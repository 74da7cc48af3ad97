//! The certificate: what is promised, the bound, what was measured, and how close it came.
//!
//! Read from the state alone, without the history:
//!
//! ```text
//! stop-loss    Σ [score(G) − score(F)] + Σ_pending d          at most ε Σ score(F) + ¼ m̄ − ½ lead
//! guard        |covered − nominal| of each interval            at most 2 b_k + 1, while the stop-loss does not hold the guard back
//! ledgers      calibration error  max_j Σ_i |L_gji| / W_gj     at most max_j √((N+1) A_gj B_j) / W_gj
//!              regret  Σ_t Σ_j w[(p−o)² − (u−o)²]              at most Σ_j 2 √(Σ_i (v_i−u_j)²) √(A_gj B_j) − Q_gj
//! ```
//!
//! The stop-loss speaks of what was announced, in the score of its kind; the ledgers speak of their own plays, before mixing, stop-loss and guard.
//! B_j is the bound on the level's potential that was booked step by step: it holds on every stream, late and randomised plays included.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::expert::Ledgers;
use crate::recalibrate::{Furthest, Guard, GuardMode, LedgerKind, StopLoss};

/// What a recalibrator promises, with what was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Never behind the base by more than a hair; `None` where there is no stop-loss.
    pub stop_loss: Option<StopLossCertificate>,
    /// Coverage within a budget; `None` where there is no guard.
    pub guard: Option<GuardCertificate>,
    /// Calibrated plays without regret; `None` where there are no ledgers.
    pub ledgers: Option<LedgersCertificate>,
}

/// What the stop-loss promises: `extra + reserved ≤ bound`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StopLossCertificate {
    /// Outcomes that are known.
    pub outcomes: u64,
    /// ε.
    pub share: f64,
    /// Σ score(F) over the known outcomes.
    pub base: f64,
    /// Σ [score(G) − score(F)]: negative where the announced forecasts are ahead.
    pub extra: f64,
    /// Σ d: what the forecasts that wait can lose at most.
    pub reserved: f64,
    /// Forecasts that wait.
    pub pending: u64,
    /// ε Σ score(F) + ¼ m̄ − ½ lead.
    pub bound: f64,
    /// The largest lead so far.
    pub lead: f64,
    /// When the base was furthest ahead.
    pub furthest: Furthest,
    /// Forecasts announced.
    pub announced: u64,
    /// Forecasts that were held back.
    pub held_back: u64,
    /// Over how many series this is.
    pub series: u64,
}

/// What the guard promises for each interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GuardCertificate {
    /// Outcomes that are known.
    pub outcomes: u64,
    /// What it may cost.
    pub mode: GuardMode,
    /// Forecasts on which the stop-loss held the guard back: if there are any, coverage is measured and not promised.
    pub held_back: u64,
    /// The guarded intervals, the narrowest first.
    pub intervals: Vec<IntervalCertificate>,
}

/// One guarded interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IntervalCertificate {
    /// The share that it should cover.
    pub nominal: f64,
    /// The share that it covered; `None` before any outcome.
    pub covered: Option<f64>,
    /// How far apart the two may be.
    pub allowed: Option<f64>,
}

/// What the ledgers promise for their plays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LedgersCertificate {
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
}

/// Up to rounding.
fn within(measured: f64, bound: f64) -> bool {
    measured <= bound + 1e-9 * (1.0 + bound.abs())
}

impl Certificate {
    pub(crate) fn new(
        account: Option<&StopLoss>,
        guard: Option<&Guard>,
        mode: GuardMode,
        ledgers: Option<&Ledgers>,
    ) -> Self {
        Certificate {
            stop_loss: account.and_then(StopLossCertificate::new),
            guard: guard.map(|guard| GuardCertificate::new(guard, mode, account)),
            ledgers: ledgers.map(LedgersCertificate::new),
        }
    }

    /// One certificate over many series, each of which has its own promises: what was won, lost and promised adds up, and errors are those of the worst
    /// series. If each holds, so does it.
    pub fn over(certificates: impl Iterator<Item = Certificate>) -> Option<Certificate> {
        fn both<T>(a: &mut Option<T>, b: Option<T>, join: impl Fn(&mut T, T)) {
            match (a, b) {
                (Some(a), Some(b)) => join(a, b),
                (a @ None, b) => *a = b,
                (Some(_), None) => {}
            }
        }
        certificates.reduce(|mut all, one| {
            both(&mut all.stop_loss, one.stop_loss, |all, one| all.join(&one));
            both(&mut all.guard, one.guard, GuardCertificate::join);
            both(&mut all.ledgers, one.ledgers, LedgersCertificate::join);
            all
        })
    }

    /// One line for each promise: what is promised, what was measured, how close it came.
    pub fn lines(&self) -> Vec<String> {
        let parts = [
            self.stop_loss.as_ref().map(ToString::to_string),
            self.guard.as_ref().map(ToString::to_string),
            self.ledgers.as_ref().map(ToString::to_string),
        ];
        parts.into_iter().flatten().collect()
    }

    /// True if every measured number that is promised is within its bound: anything else is a defect, not bad luck.
    pub fn holds(&self) -> bool {
        self.stop_loss.as_ref().is_none_or(StopLossCertificate::holds)
            && self.ledgers.as_ref().is_none_or(LedgersCertificate::holds)
    }
}

impl StopLossCertificate {
    fn new(account: &StopLoss) -> Option<Self> {
        let (announced, held_back) = account.held_back();
        Some(StopLossCertificate {
            outcomes: account.settled(),
            share: account.share()?,
            base: account.base(),
            extra: account.extra(),
            reserved: account.reserved(),
            pending: account.pending(),
            bound: account.bound(),
            lead: account.lead(),
            furthest: account.furthest(),
            announced,
            held_back,
            series: 1,
        })
    }

    fn join(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.outcomes, other.outcomes),
            (&mut self.pending, other.pending),
            (&mut self.announced, other.announced),
            (&mut self.held_back, other.held_back),
        ] {
            *sum += more;
        }
        for (sum, more) in [
            (&mut self.base, other.base),
            (&mut self.extra, other.extra),
            (&mut self.reserved, other.reserved),
            (&mut self.bound, other.bound),
            (&mut self.lead, other.lead),
        ] {
            *sum += more;
        }
        // The series that was furthest behind, for its size.
        let share =
            |furthest: &Furthest| if furthest.base > 0.0 { furthest.behind / furthest.base } else { 0.0 };
        if share(&other.furthest) > share(&self.furthest) {
            self.furthest = other.furthest;
        }
        self.series += other.series;
    }

    /// True if what was lost, and can still be lost, is within the bound.
    pub fn holds(&self) -> bool {
        self.extra + self.reserved <= self.bound + 1e-9 * (self.base + self.bound.abs())
    }

    /// `extra` in percent of the base's score; `None` before any outcome.
    pub fn percent(&self) -> Option<f64> {
        (self.base > 0.0).then(|| 100.0 * self.extra / self.base)
    }
}

impl GuardCertificate {
    fn new(guard: &Guard, mode: GuardMode, account: Option<&StopLoss>) -> Self {
        let steps = guard.steps();
        let share = |x: f64| (steps > 0).then(|| x / steps as f64);
        let intervals = Guard::coverages().zip(guard.balances()).zip(guard.budgets());
        let interval = |((nominal, balance), budget): ((f64, &f64), f64)| IntervalCertificate {
            nominal,
            covered: share(*balance).map(|error| nominal + error),
            allowed: share(2.0 * budget + 1.0),
        };
        GuardCertificate {
            outcomes: steps,
            mode,
            held_back: account.map_or(0, StopLoss::guard_held_back),
            intervals: intervals.map(interval).collect(),
        }
    }
}

impl GuardCertificate {
    fn join(&mut self, other: Self) {
        let (a, b) = (self.outcomes as f64, other.outcomes as f64);
        for (all, one) in self.intervals.iter_mut().zip(other.intervals) {
            all.covered = match (all.covered, one.covered) {
                (Some(x), Some(y)) => Some((a * x + b * y) / (a + b)),
                (x, y) => x.or(y),
            };
            all.allowed = match (all.allowed, one.allowed) {
                (Some(x), Some(y)) => Some(x.max(y)),
                (x, y) => x.or(y),
            };
        }
        self.outcomes += other.outcomes;
        self.held_back += other.held_back;
    }
}

impl LedgersCertificate {
    fn join(&mut self, other: Self) {
        self.steps += other.steps;
        self.potential += other.potential;
        self.potential_bound += other.potential_bound;
        for (sum, ledger) in self.ledgers.iter_mut().zip(other.ledgers) {
            sum.calibration_error = sum.calibration_error.max(ledger.calibration_error);
            sum.calibration_bound = sum.calibration_bound.max(ledger.calibration_bound);
            sum.regret += ledger.regret;
            sum.regret_bound += ledger.regret_bound;
        }
    }

    fn new(ledgers: &Ledgers) -> Self {
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
        LedgersCertificate {
            steps: ledgers.steps(),
            potential: ledgers.potentials().iter().sum(),
            potential_bound: bounds.iter().sum(),
            ledgers: entries.collect(),
        }
    }

    /// True if every measured number is within its bound.
    pub fn holds(&self) -> bool {
        within(self.potential, self.potential_bound)
            && self.ledgers.iter().all(|ledger| {
                within(ledger.calibration_error, ledger.calibration_bound)
                    && within(ledger.regret, ledger.regret_bound)
            })
    }
}

impl fmt::Display for StopLossCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = if self.series > 1 { " in any series" } else { "" };
        write!(f, "never behind the forecaster by more than {} % + ¼ score{each}: ", 100.0 * self.share)?;
        match self.percent() {
            None => write!(f, "no outcome yet")?,
            Some(percent) if percent > 0.0 => write!(f, "behind by {percent:.2} % now")?,
            // 0.0 takes the sign off a zero.
            Some(percent) => write!(f, "ahead by {:.2} % now", 0.0 - percent)?,
        }
        let Furthest { step, behind, base } = self.furthest;
        if behind > 0.0 && base > 0.0 {
            let whose = if self.series > 1 { " in one series" } else { "" };
            write!(f, ", furthest behind {:.2} %{whose} at step {step}", 100.0 * behind / base)?;
        } else if self.base > 0.0 {
            write!(f, ", at no step behind")?;
        }
        if self.pending > 0 {
            write!(f, "; {} wait", self.pending)?;
        }
        write!(f, "; the stop-loss held back {} of {} forecasts", self.held_back, self.announced)?;
        if !self.holds() {
            write!(f, "; BROKEN: {} against {}", self.extra + self.reserved, self.bound)?;
        }
        Ok(())
    }
}

impl fmt::Display for GuardCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let promised = self.held_back == 0;
        write!(
            f,
            "coverage of intervals {}: ",
            if promised { "within its budget" } else { "measured, not promised" }
        )?;
        let shown = self.intervals.iter().filter(|interval| (interval.nominal - 0.8).abs() < 1e-9);
        for interval in shown {
            match (interval.covered, interval.allowed) {
                (Some(covered), Some(allowed)) => {
                    write!(f, "80 % covered {:.1} %", 100.0 * covered)?;
                    if promised {
                        write!(f, ", at most {:.1} points off", 100.0 * allowed)?;
                    }
                }
                _ => write!(f, "no outcome yet")?,
            }
        }
        match (self.mode, self.held_back) {
            (GuardMode::Strict, _) => write!(f, "; strict: whatever it costs"),
            (_, 0) => Ok(()),
            (_, held) => write!(f, "; the stop-loss held the guard back on {held} forecasts"),
        }
    }
}

impl fmt::Display for LedgersCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the ledgers' plays, before mixing: after {} outcomes", self.steps)?;
        for ledger in &self.ledgers {
            write!(
                f,
                "\n  {:<12} calibration error {:.4}, at most {:.4}; regret {:+.3}, at most {:+.3}",
                ledger.kind.to_string(),
                ledger.calibration_error,
                ledger.calibration_bound,
                ledger.regret,
                ledger.regret_bound
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.lines();
        if lines.is_empty() {
            f.write_str("this method promises nothing")
        } else {
            f.write_str(&lines.join("\n"))
        }
    }
}
