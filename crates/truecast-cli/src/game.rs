//! An adversary who sees the calibrated forecast before choosing the outcome.

use truecast::recalibrate::AnyRecalibrator;
use truecast::{Forecast, Gaussian, Stream};
use truecast_streams::Opponent;

use crate::failure::Result;

/// One round: the base forecast, the calibrated one as it was announced, and the outcome that the adversary chose.
pub(crate) struct Round<'a> {
    pub(crate) base: Gaussian,
    pub(crate) calibrated: &'a dyn Forecast,
    pub(crate) outcome: f64,
}

/// Plays a game of some rounds over a standard normal forecaster, and gives back the recalibrator as it is at the end.
pub(crate) fn play(
    recalibrator: AnyRecalibrator,
    opponent: Opponent,
    steps: u64,
    seed: u64,
    mut each: impl FnMut(u64, &Round<'_>) -> Result<()>,
) -> Result<AnyRecalibrator> {
    let mut adversary = opponent.build(seed)?;
    let mut stream: Stream<AnyRecalibrator, Gaussian> = Stream::new(recalibrator);
    let base = Gaussian::new(0.0, 1.0)?;
    for step in 0..steps {
        let (ticket, calibrated) = stream.issue(base)?;
        let outcome = adversary.outcome(&base, &calibrated);
        each(step, &Round { base, calibrated: &calibrated, outcome })?;
        stream.resolve(ticket, outcome)?;
    }
    Ok(stream.recalibrator().clone())
}
