//! Issue a forecast now, bring its outcome later.

mod ticket;

pub use ticket::Ticket;
