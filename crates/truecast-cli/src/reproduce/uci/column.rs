//! The columns of the table: what is done with the forecasts.

use truecast::monitor::Scoreboard;
use truecast::recalibrate::{AlgorithmOne, AlgorithmOneParameters, AnyRecalibrator, Method};
use truecast::stream::Ticket;
use truecast::subroutine::InternalRegret;
use truecast::{Pipeline, Protection, Recalibrator, Stream, random};

use super::protocol::{Booking, Forecasts};
use crate::failure::Result;
use crate::interrupt;

/// The paper's N.
const RESOLUTION: usize = 20;

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    Raw,
    Tophat,
    NonRandomised,
    InternalRegret,
    Approachability,
    Ledger,
    Ours,
}

impl Column {
    pub(crate) const ALL: [Column; 7] = [
        Column::Raw,
        Column::Tophat,
        Column::NonRandomised,
        Column::InternalRegret,
        Column::Approachability,
        Column::Ledger,
        Column::Ours,
    ];

    /// In the summary.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Column::Raw => "raw",
            Column::Tophat => "tophat",
            Column::NonRandomised => "nonrandomised",
            Column::InternalRegret => "internal-regret",
            Column::Approachability => "approachability",
            Column::Ledger => "ledger",
            Column::Ours => "ours",
        }
    }

    /// For people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Column::Raw => "raw",
            Column::Tophat => "tophat density",
            Column::NonRandomised => "online, non-randomised",
            Column::InternalRegret => "online, internal regret",
            Column::Approachability => "online, approachability",
            Column::Ledger => "ours, the ledgers alone",
            Column::Ours => "ours (experts)",
        }
    }

    /// Whether it tosses coins, and so has to be run more than once.
    pub(crate) fn is_randomised(self) -> bool {
        matches!(self, Column::InternalRegret | Column::Approachability)
    }

    /// The recalibrator; none for the forecasts as they are.
    fn build(self, seed: u64) -> Result<Option<AnyRecalibrator>> {
        Ok(match self {
            Column::Raw => None,
            Column::Tophat => Some(Method::Tophat.build_with(seed, Protection::NONE)?),
            Column::NonRandomised => {
                let paper = AlgorithmOneParameters::paper(RESOLUTION)?;
                let parameters = AlgorithmOneParameters { randomised: false, seed, ..paper };
                let algorithm = AlgorithmOne::<InternalRegret>::new(parameters, Default::default())?;
                Some(AnyRecalibrator::InternalRegret(Box::new(Pipeline::around(algorithm, Protection::NONE))))
            }
            Column::InternalRegret => Some(Method::InternalRegret.build_paper(RESOLUTION, seed)?),
            Column::Approachability => Some(Method::Approachability.build_paper(RESOLUTION, seed)?),
            Column::Ledger => Some(Method::Ledger.build(seed)?),
            Column::Ours => Some(Method::Experts.build(seed)?),
        })
    }

    /// One run. `done` hears of each batch's rows.
    pub(crate) fn run(
        self,
        forecasts: &Forecasts,
        booking: Booking,
        seed: u64,
        done: &dyn Fn(u64),
    ) -> Result<Run> {
        let mut stream = self.build(seed)?.map(Stream::new);
        let mut board = Scoreboard::new(&[COVERAGE])?;
        let mut curve = Vec::with_capacity(forecasts.batches.len());
        let mut row = 0;
        for batch in &forecasts.batches {
            interrupt::check()?;
            let mut tickets: Vec<Ticket> = Vec::with_capacity(batch.len());
            for (forecast, outcome) in batch {
                let draw = random::uniform(seed, row, random::ATOM_LANE);
                row += 1;
                match &mut stream {
                    Some(stream) => {
                        let (ticket, calibrated) = stream.issue(*forecast)?;
                        board.observe(forecast, &calibrated, *outcome, draw)?;
                        match booking {
                            Booking::Row => {
                                stream.resolve(ticket, *outcome)?;
                            }
                            Booking::Batch => tickets.push(ticket),
                        }
                    }
                    None => board.observe(forecast, forecast, *outcome, draw)?,
                }
            }
            if let Some(stream) = &mut stream {
                for (&ticket, &(_, outcome)) in tickets.iter().zip(batch) {
                    stream.resolve(ticket, outcome)?;
                }
                debug_assert_eq!(stream.recalibrator().steps(), row);
            }
            curve.push(board.calibrated().calibration_score().score().unwrap_or(f64::NAN));
            done(batch.len() as u64);
        }
        Ok(Run {
            curve,
            crps: board.regret().calibrated_mean().unwrap_or(f64::NAN),
            coverage80: board.calibrated().coverage().share(0).unwrap_or(f64::NAN),
        })
    }
}

/// The interval whose coverage stands beside the score.
const COVERAGE: f64 = 0.8;

/// What one run gave.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    /// The calibration score of all outcomes so far, after each batch.
    pub(crate) curve: Vec<f64>,
    /// Mean CRPS of all outcomes.
    pub(crate) crps: f64,
    /// Share of outcomes in the 80 % interval.
    pub(crate) coverage80: f64,
}
