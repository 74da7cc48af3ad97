//! One certificate over many series: potentials and regrets add up, calibration errors are those of the worst series.

use truecast::monitor::Certificate;

/// The certificate over all of them: if each holds, so does it.
pub(crate) fn over(certificates: impl Iterator<Item = Certificate>) -> Option<Certificate> {
    certificates.reduce(|mut all, one| {
        all.steps += one.steps;
        all.potential += one.potential;
        all.potential_bound += one.potential_bound;
        for (sum, ledger) in all.ledgers.iter_mut().zip(one.ledgers) {
            sum.calibration_error = sum.calibration_error.max(ledger.calibration_error);
            sum.calibration_bound = sum.calibration_bound.max(ledger.calibration_bound);
            sum.regret += ledger.regret;
            sum.regret_bound += ledger.regret_bound;
            sum.announced_regret = match (sum.announced_regret, ledger.announced_regret) {
                (Some(a), Some(b)) => Some(a + b),
                _ => None,
            };
        }
        all
    })
}
