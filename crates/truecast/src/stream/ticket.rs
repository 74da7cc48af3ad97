//! The receipt for a forecast whose outcome is not known yet.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Names a forecast that was issued and waits for its outcome. Tickets count up from 0 within a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ticket(u64);

impl Ticket {
    /// The ticket with the given number, for callers that stored the number elsewhere.
    pub fn from_number(number: u64) -> Self {
        Ticket(number)
    }

    /// How many forecasts the stream had issued before this one.
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ticket {}", self.0)
    }
}
