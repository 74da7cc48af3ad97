//! The forecasts that wait for their outcomes.
//!
//! Tickets only grow, so a queue ordered by ticket is pushed at the back and searched by bisection. Entries are boxed and
//! recycled: after the first few steps, issuing and resolving allocate nothing. Taking the oldest or the newest is O(1), one in the
//! middle moves half of the shorter side's pointers.

use std::collections::VecDeque;

use super::Ticket;
use crate::recalibrate::Plan;

/// Entries kept for reuse; more than this many resolved at once are freed.
const MOST_SPARE: usize = 64;

#[derive(Debug, Clone)]
pub(super) struct Pending<F> {
    /// Invariant: ordered by ticket.
    queue: VecDeque<(Ticket, Box<Entry<F>>)>,
    spare: Vec<Box<Entry<F>>>,
}

#[derive(Debug, Clone)]
pub(super) struct Entry<F> {
    pub(super) forecast: F,
    pub(super) plan: Plan,
}

impl<F> Default for Pending<F> {
    fn default() -> Self {
        Pending { queue: VecDeque::new(), spare: Vec::new() }
    }
}

impl<F> Pending<F> {
    /// An entry for `forecast`, reused if one is spare.
    pub(super) fn room(&mut self, forecast: F, empty: impl FnOnce() -> Plan) -> Box<Entry<F>> {
        match self.spare.pop() {
            Some(mut entry) => {
                entry.forecast = forecast;
                entry
            }
            None => Box::new(Entry { forecast, plan: empty() }),
        }
    }

    /// Adds an entry; its ticket must be larger than all before.
    pub(super) fn push(&mut self, ticket: Ticket, entry: Box<Entry<F>>) -> &Entry<F> {
        debug_assert!(self.queue.back().is_none_or(|(last, _)| *last < ticket));
        let at = self.queue.len();
        self.queue.push_back((ticket, entry));
        &self.queue[at].1
    }

    pub(super) fn get(&self, ticket: Ticket) -> Option<&Entry<F>> {
        Some(self.at(self.find(ticket)?))
    }

    /// The entry at a place that was [`find`](Pending::find)ed.
    pub(super) fn at(&self, at: usize) -> &Entry<F> {
        &self.queue[at].1
    }

    /// Takes the entry at such a place out, and keeps its room.
    pub(super) fn drop(&mut self, at: usize) {
        let last = at + 1 == self.queue.len();
        let taken = if last { self.queue.pop_back() } else { self.queue.remove(at) };
        if let Some((_, entry)) = taken {
            self.recycle(entry);
        }
    }

    pub(super) fn recycle(&mut self, entry: Box<Entry<F>>) {
        if self.spare.len() < MOST_SPARE {
            self.spare.push(entry);
        }
    }

    pub(super) fn tickets(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.queue.iter().map(|(ticket, _)| *ticket)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Ticket, &Entry<F>)> {
        self.queue.iter().map(|(ticket, entry)| (*ticket, &**entry))
    }

    /// Where in the queue a ticket is.
    pub(super) fn find(&self, ticket: Ticket) -> Option<usize> {
        // The one that was issued last is the one most often resolved.
        if self.queue.back().is_some_and(|(last, _)| *last == ticket) {
            return Some(self.queue.len() - 1);
        }
        self.queue.binary_search_by_key(&ticket, |(ticket, _)| *ticket).ok()
    }
}
