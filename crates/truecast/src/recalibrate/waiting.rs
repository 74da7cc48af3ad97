//! Calibrated normal forecasts that wait to be read together.
//!
//! What is read of a forecast follows from its map in a long chain of operations, each of which waits for the one before. Nothing waits for the
//! numbers themselves where forecasts come one after the other and what is read of them is only kept: so readers keep a few forecasts, and work on all
//! of them at once.

use super::Map;
use crate::Gaussian;

/// Room for `SLOTS` forecasts.
#[derive(Debug, Clone)]
pub(super) struct Waiting<const SLOTS: usize> {
    /// Those beyond `count` are kept for their room.
    slots: Vec<Slot>,
    count: usize,
}

/// A forecast that waits.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) base: Gaussian,
    pub(super) map: Map,
}

impl<const SLOTS: usize> Waiting<SLOTS> {
    pub(super) fn new() -> Self {
        Waiting { slots: Vec::with_capacity(SLOTS), count: 0 }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn is_full(&self) -> bool {
        self.count == SLOTS
    }

    /// One more forecast. If there is no room, the one that has waited longest is forgotten.
    pub(super) fn push(&mut self, base: Gaussian, map: &Map) {
        if self.is_full() {
            self.slots.rotate_left(1);
            self.count -= 1;
        }
        match self.slots.get_mut(self.count) {
            Some(slot) if slot.map.is_like(map) => {
                slot.base = base;
                slot.map.copy_from(map);
            }
            Some(slot) => *slot = Slot { base, map: map.clone() },
            None => self.slots.push(Slot { base, map: map.clone() }),
        }
        self.count += 1;
    }

    /// Forgets the forecast that came last.
    pub(super) fn forget_last(&mut self) {
        self.count = self.count.saturating_sub(1);
    }

    /// Those that wait, in the order in which they came. Nothing waits any longer.
    pub(super) fn take(&mut self) -> &[Slot] {
        &self.slots[..std::mem::take(&mut self.count)]
    }
}

/// As many as there is room for, if all have the same levels: where fewer wait, the last one stands in the other places.
pub(super) fn on_same_levels<const SLOTS: usize>(waiting: &[Slot]) -> Option<[&Slot; SLOTS]> {
    let last = waiting.last()?;
    let same = waiting.iter().all(|slot| slot.map.has_levels_of(&last.map));
    same.then(|| std::array::from_fn(|s| waiting.get(s).unwrap_or(last)))
}
