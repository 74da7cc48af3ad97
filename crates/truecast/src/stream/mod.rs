//! Issue a forecast now, bring its outcome later.
//!
//! [`Stream::issue`] stores what was announced with a [`Ticket`]; [`Stream::resolve`] books the outcome against exactly that. So
//! delayed, batched and out-of-order outcomes are right by construction, and a forecast whose outcome never comes is
//! forgotten with [`Stream::expire`] and has changed nothing.
//!
//! A stream is saved with [`Stream::to_bytes`] (layout in `docs/formats.md`) and a resumed run is bit-equal to an
//! uninterrupted one: random draws are functions of (seed, step), so there is no generator to save.

pub mod envelope;
mod pending;
mod snapshot;
mod ticket;

pub use snapshot::{NEWEST_VERSION, Snapshot};
pub use ticket::Ticket;

use self::pending::Pending;
use crate::error::{self, Result};
use crate::forecast::{AnyForecast, Forecast, Recalibrated};
use crate::recalibrate::{Groups, Map, Pipeline, Plan, Recalibrator, Scores};

/// A recalibrator with its pending forecasts.
///
/// `F` is the kind of forecast that is issued: one kind for speed, or [`AnyForecast`] for all of them.
///
/// ```
/// use truecast::{Forecast, Gaussian, Pipeline, Stream};
///
/// let mut stream = Stream::new(Pipeline::default());
/// let (monday, calibrated) = stream.issue(Gaussian::new(20.0, 2.0)?)?;
/// let (low, high) = calibrated.interval(0.8)?;
/// let (tuesday, _) = stream.issue(Gaussian::new(21.0, 2.5)?)?;
/// stream.resolve(tuesday, 24.5)?; // outcomes come in any order
/// stream.resolve(monday, 19.0)?;
/// assert!(stream.resolve(monday, 19.0).is_err()); // but once
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Stream<R: Recalibrator = Pipeline, F: Forecast = AnyForecast> {
    recalibrator: R,
    /// Tickets given out so far.
    issued: u64,
    pending: Pending<F>,
    /// Of forecasts that are resolved at once.
    room: Option<Box<Plan>>,
}

impl<R: Recalibrator, F: Forecast> Stream<R, F> {
    /// A stream without pending forecasts.
    pub fn new(recalibrator: R) -> Self {
        Stream { issued: recalibrator.steps(), recalibrator, pending: Pending::default(), room: None }
    }

    /// The recalibrator as it is now.
    pub fn recalibrator(&self) -> &R {
        &self.recalibrator
    }

    /// How many forecasts were issued, pending ones included.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// The tickets that wait for an outcome, oldest first.
    pub fn pending(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.pending.tickets()
    }

    /// Gives the calibrated forecast and a ticket for its outcome.
    pub fn issue(&mut self, forecast: F) -> Result<(Ticket, Recalibrated<&F, &Map>)> {
        self.issue_in(forecast, Groups::NONE)
    }

    /// Like [`issue`](Stream::issue), for a forecast that belongs to groups.
    pub fn issue_in(&mut self, forecast: F, groups: Groups) -> Result<(Ticket, Recalibrated<&F, &Map>)> {
        let ticket = Ticket::from_number(self.issued);
        let recalibrator = &self.recalibrator;
        let mut entry = self.pending.room(forecast, || recalibrator.empty_plan());
        // On failure the ticket is not used up, and the room is kept for the next forecast.
        if let Err(error) = recalibrator.plan(&entry.forecast, groups, self.issued, &mut entry.plan) {
            self.pending.recycle(entry);
            return Err(error);
        }
        self.issued += 1;
        self.recalibrator.announced(&entry.plan);
        let entry = self.pending.push(ticket, entry);
        Ok((ticket, entry.plan.calibrated(&entry.forecast)))
    }

    /// The calibrated forecast of a pending ticket, as it was issued.
    pub fn forecast(&self, ticket: Ticket) -> Result<Recalibrated<&F, &Map>> {
        let entry = self.pending.get(ticket).ok_or_else(|| self.missing(ticket))?;
        Ok(entry.plan.calibrated(&entry.forecast))
    }

    /// Brings the outcome of an earlier forecast. An outcome that is refused leaves the ticket pending.
    pub fn resolve(&mut self, ticket: Ticket, outcome: f64) -> Result<Scores> {
        error::finite("outcome", outcome)?;
        let at = self.pending.find(ticket).ok_or_else(|| self.missing(ticket))?;
        let entry = self.pending.at(at);
        let scores = self.recalibrator.resolve(&entry.plan, &entry.forecast, outcome)?;
        self.pending.drop(at);
        Ok(scores)
    }

    /// Brings several outcomes, in the order given; if one is refused, none is booked.
    pub fn resolve_all(&mut self, outcomes: &[(Ticket, f64)]) -> Result<Vec<Scores>> {
        let mut tickets: Vec<Ticket> = outcomes.iter().map(|(ticket, _)| *ticket).collect();
        tickets.sort_unstable();
        if let Some(twice) = tickets.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(error::Error::ClosedTicket { ticket: twice[0] });
        }
        for &(ticket, outcome) in outcomes {
            error::finite("outcome", outcome)?;
            let entry = self.pending.get(ticket).ok_or_else(|| self.missing(ticket))?;
            self.recalibrator.check(&entry.plan, &entry.forecast, outcome)?;
        }
        outcomes.iter().map(|&(ticket, outcome)| self.resolve(ticket, outcome)).collect()
    }

    /// Forgets a forecast whose outcome will never come: what the stop-loss had reserved for it is free again.
    pub fn expire(&mut self, ticket: Ticket) -> Result<()> {
        let at = self.pending.find(ticket).ok_or_else(|| self.missing(ticket))?;
        self.recalibrator.expire(&self.pending.at(at).plan);
        self.pending.drop(at);
        Ok(())
    }

    /// Issues a forecast and resolves it at once.
    pub fn observe(&mut self, forecast: F, outcome: f64) -> Result<Scores> {
        self.step(&forecast, Groups::NONE, outcome, |_| Ok(())).map(|((), scores)| scores)
    }

    /// Issues a forecast, reads it, and resolves it at once: the same as with a ticket, and less work. What `read` gives is given back.
    ///
    /// If `read` fails, or the outcome has no score, the forecast is as one that has expired.
    ///
    /// ```
    /// use truecast::{Forecast, Gaussian, Groups, Pipeline, Stream};
    ///
    /// let mut stream: Stream = Stream::new(Pipeline::default());
    /// let forecast = Gaussian::new(20.0, 2.0)?;
    /// let ((low, high), scores) = stream.step(&forecast, Groups::NONE, 21.0, |calibrated| calibrated.interval(0.8))?;
    /// assert!(low < high && scores.base == 0.5);
    /// # Ok::<(), truecast::Error>(())
    /// ```
    pub fn step<G: Forecast, T, E: From<error::Error>>(
        &mut self,
        forecast: &G,
        groups: Groups,
        outcome: f64,
        read: impl FnOnce(Recalibrated<&G, &Map>) -> Result<T, E>,
    ) -> Result<(T, Scores), E> {
        error::finite("outcome", outcome)?;
        let Stream { recalibrator, issued, room, .. } = self;
        let plan = room.get_or_insert_default();
        plan.at_once = true;
        recalibrator.plan(forecast, groups, *issued, plan)?;
        *issued += 1;
        recalibrator.announced(plan);
        let stepped = read(plan.calibrated(forecast))
            .and_then(|answer| Ok((answer, recalibrator.resolve(plan, forecast, outcome)?)));
        if stepped.is_err() {
            recalibrator.expire(plan);
        }
        stepped
    }

    /// Reads what the forecast would become now, and changes nothing: for a forecast whose outcome nobody will bring.
    pub fn ask<G: Forecast, T, E: From<error::Error>>(
        &mut self,
        forecast: &G,
        groups: Groups,
        read: impl FnOnce(Recalibrated<&G, &Map>) -> Result<T, E>,
    ) -> Result<T, E> {
        let Stream { recalibrator, issued, room, .. } = self;
        let plan = room.get_or_insert_default();
        plan.at_once = true;
        recalibrator.plan(forecast, groups, *issued, plan)?;
        read(plan.calibrated(forecast))
    }

    /// Why a ticket is not pending.
    fn missing(&self, ticket: Ticket) -> error::Error {
        if ticket.number() < self.issued {
            error::Error::ClosedTicket { ticket }
        } else {
            error::Error::UnknownTicket { ticket }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Gaussian, random};

    /// A step is a ticket that is resolved at once, bit for bit, among tickets that wait, and after a reader that fails.
    #[test]
    fn a_step_is_a_ticket_resolved_at_once() {
        let mut stepped: Stream<Pipeline, Gaussian> = Stream::new(Pipeline::default());
        let mut ticketed = stepped.clone();
        for t in 0..200 {
            let draw = |lane| random::uniform(3, t, lane);
            let forecast = Gaussian::new(draw(0), 0.5 + draw(1)).unwrap();
            let outcome = 3.0 * draw(2);
            match t % 10 {
                3 => {
                    let (a, _) = stepped.issue(forecast).unwrap();
                    assert_eq!(ticketed.issue(forecast).unwrap().0, a);
                }
                7 => {
                    let oldest = stepped.pending().next().unwrap();
                    assert_eq!(stepped.resolve(oldest, outcome), ticketed.resolve(oldest, outcome));
                }
                9 => {
                    let refused = Error::NotFinite { what: "answer", value: f64::INFINITY };
                    let failed =
                        stepped.step(&forecast, Groups::NONE, outcome, |_| Err::<(), _>(refused.clone()));
                    assert_eq!(failed, Err(refused));
                    let (ticket, _) = ticketed.issue(forecast).unwrap();
                    ticketed.expire(ticket).unwrap();
                }
                _ => {
                    let read = |calibrated: Recalibrated<&Gaussian, &Map>| calibrated.interval(0.8);
                    let ((low, high), scores) = stepped.step(&forecast, Groups::NONE, outcome, read).unwrap();
                    let (ticket, calibrated) = ticketed.issue(forecast).unwrap();
                    assert_eq!(calibrated.interval(0.8), Ok((low, high)));
                    assert_eq!(ticketed.resolve(ticket, outcome), Ok(scores));
                }
            }
            assert_eq!(stepped.to_bytes(), ticketed.to_bytes(), "step {t}");
        }
    }
}
