//! Forecasts of a series that wait: for their outcome, or for the time from which it is known.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use truecast::Ticket;

/// Outcomes that are remembered after they were learned, so that a later one about the same is known for a revision.
const REMEMBERED: usize = 32;

/// An outcome for a forecast that waits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known<'a> {
    /// What it is about.
    pub about: &'a [u8],
    /// What happened.
    pub outcome: f64,
    /// The time from which on it is known, where outcomes are known at times; `None` for now.
    pub due: Option<f64>,
    /// Of several outcomes about the same, the last one that is known before it is learned counts, not the first.
    pub last_counts: bool,
}

/// What became of an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Booked {
    /// A forecast waited for it.
    Matched,
    /// It was known already.
    Same,
    /// Another one was known already.
    Revised,
    /// No forecast waits for it.
    Nothing,
}

/// A forecast without an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Open {
    pub(crate) ticket: Ticket,
    /// When it was made.
    pub(crate) made: Option<f64>,
    /// The point forecast, if it was one.
    pub(crate) point: Option<f64>,
}

/// A forecast with its outcome, which is not learned yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Due {
    pub(crate) forecast: Open,
    /// What it is about; empty where nobody said.
    about: Vec<u8>,
    /// The row or the time from which on each outcome is known, in that order. There are several only if the last one counts.
    known: Vec<(f64, f64)>,
}

/// All of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Waiting {
    open: BTreeMap<Vec<u8>, Open>,
    /// Ordered by the first time of each, then by ticket.
    due: VecDeque<Due>,
    /// What was learned last.
    learned: VecDeque<(Vec<u8>, f64)>,
}

impl Waiting {
    /// Forecasts without an outcome, by what they are about.
    pub(crate) fn open(&self) -> &BTreeMap<Vec<u8>, Open> {
        &self.open
    }

    /// Outcomes that are not learned yet.
    pub(crate) fn due(&self) -> usize {
        self.due.len()
    }

    /// What outcomes that are known, or were learned of late, are about.
    pub(crate) fn remembered(&self) -> impl Iterator<Item = &[u8]> {
        let due = self.due.iter().map(|due| &due.about[..]);
        due.chain(self.learned.iter().map(|(about, _)| &about[..])).filter(|about| !about.is_empty())
    }

    /// The tickets of all of them, in no order.
    pub(crate) fn tickets(&self) -> impl Iterator<Item = Ticket> {
        self.open.values().chain(self.due.iter().map(|due| &due.forecast)).map(|open| open.ticket)
    }

    /// The forecast about this, and its outcome if there is one.
    pub(crate) fn find(&self, about: &[u8]) -> Option<(Open, Option<(f64, f64)>)> {
        let due =
            || self.due.iter().find(|due| due.about == about).map(|due| (due.forecast, Some(due.known[0])));
        self.open.get(about).map(|&open| (open, None)).or_else(due)
    }

    /// Keeps a forecast until its outcome comes.
    pub(crate) fn wait(&mut self, about: Vec<u8>, open: Open) {
        self.open.insert(about, open);
    }

    /// Keeps an outcome until it is known.
    pub(crate) fn wait_until(
        &mut self,
        first: (f64, f64),
        later: Vec<(f64, f64)>,
        about: Vec<u8>,
        forecast: Open,
    ) {
        let due = first.0;
        let known = std::iter::once(first).chain(later).collect();
        let at = self.due.partition_point(|earlier| {
            (earlier.known[0].0, earlier.forecast.ticket) <= (due, forecast.ticket)
        });
        self.due.insert(at, Due { forecast, about, known });
    }

    /// Forgets the forecast about this.
    pub(crate) fn forget(&mut self, about: &[u8]) {
        self.open.remove(about);
        self.due.retain(|due| due.about != about);
    }

    /// Forgets forecasts without an outcome that were made before this, and gives their tickets.
    pub(crate) fn forget_made_before(&mut self, time: f64) -> Vec<Ticket> {
        let old: Vec<Vec<u8>> = self
            .open
            .iter()
            .filter(|(_, open)| open.made.is_some_and(|made| made < time))
            .map(|(about, _)| about.clone())
            .collect();
        old.iter().filter_map(|about| self.open.remove(about)).map(|open| open.ticket).collect()
    }

    /// What an outcome means for those that are known already.
    pub(crate) fn revise(&mut self, known: &Known<'_>, due: f64) -> Booked {
        let said = match self.due.iter_mut().find(|waiting| waiting.about == known.about) {
            Some(waiting) => {
                let last = waiting.known.last().map_or(f64::NAN, |&(_, outcome)| outcome);
                if known.last_counts && last != known.outcome {
                    let at = waiting.known.partition_point(|&(earlier, _)| earlier <= due);
                    // The first time stays: by it the queue is ordered.
                    waiting.known.insert(at.max(1), (due.max(waiting.known[0].0), known.outcome));
                }
                Some(if known.last_counts { last } else { waiting.known[0].1 })
            }
            None => self.learned.iter().find(|(about, _)| about == known.about).map(|&(_, outcome)| outcome),
        };
        match said {
            None => Booked::Nothing,
            Some(said) if said == known.outcome => Booked::Same,
            Some(_) => Booked::Revised,
        }
    }

    /// The next outcome that is known by this row or time, of a forecast made before `now`; nobody learns from what was forecast at the same time.
    pub(crate) fn next(&mut self, until: f64, now: Option<f64>) -> Option<(Open, f64)> {
        let made_now = |due: &Due| now.is_some() && due.forecast.made >= now;
        let at = self.due.iter().take_while(|due| due.known[0].0 <= until).position(|due| !made_now(due))?;
        let Due { forecast, about, known } = self.due.remove(at)?;
        let outcome =
            known.iter().rev().find(|(due, _)| *due <= until).map_or(known[0].1, |&(_, outcome)| outcome);
        if !about.is_empty() {
            self.learned.push_back((about, outcome));
            if self.learned.len() > REMEMBERED {
                self.learned.pop_front();
            }
        }
        Some((forecast, outcome))
    }

    /// Whether a loaded one can have been saved: all that is pending waits, and each outcome has its time.
    pub(crate) fn fits(&self, pending: impl Iterator<Item = Ticket>) -> bool {
        let mut tickets: Vec<Ticket> = self.tickets().collect();
        tickets.sort_unstable();
        let times = |due: &Due| due.known.iter().all(|(time, outcome)| !time.is_nan() && outcome.is_finite());
        let in_order = |pair: [&Due; 2]| pair[0].known[0].0 <= pair[1].known[0].0;
        tickets.into_iter().eq(pending)
            && self.due.iter().all(|due| !due.known.is_empty() && times(due))
            && (1..self.due.len()).all(|at| in_order([&self.due[at - 1], &self.due[at]]))
    }
}
