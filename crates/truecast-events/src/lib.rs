//! What the rows of a table mean as events, and what goes back into the rows.
//!
//! A forecast has a series, the time at which it was made, and the thing that it is about; an outcome is about the same thing and known from some time
//! on. A forecast learns only from outcomes that were known before it was made, and forecasts that were made at one time never see each other's
//! outcomes. The command and the bindings convert, call a [`Desk`], convert: every rule about rows, outcomes, times and names stands here.
//!
//! | file | what it holds |
//! |---|---|
//! | `cells.rs` | [`Cells`]: a batch of a file, or columns of a program |
//! | `meaning.rs` | which column says what; when outcomes are known; what is refused because it would look ahead |
//! | `gather.rs`, `hub.rs`, `m5.rs` | tables that are held whole, as events in the order in which forecasts were made |
//! | `outcomes.rs` | outcomes in a table of their own |
//! | `rows.rs`, `forecast.rs` | rows as a fleet takes them |
//! | `output.rs` | columns and cells that come back |
//! | `desk.rs` | [`Desk`]: rows → events → fleet → changes |
//! | `key.rs`, `span.rs`, `numbers.rs` | keys of several cells, lengths of time, numbers read ahead |

#![forbid(unsafe_code)]

mod cells;
mod desk;
mod error;
mod forecast;
mod gather;
mod hub;
mod key;
mod m5;
mod meaning;
mod numbers;
mod outcomes;
mod output;
mod rows;
mod span;
mod told;

pub use cells::{Cells, Piece};
pub use desk::{Counts, Desk, Taken, by_horizon, expire, resolve};
pub use error::{Error, Result};
pub use meaning::Request;
pub use numbers::{Ahead, Numbers};
pub use outcomes::Outcomes;
pub use output::{Changes, Replaced};
pub use span::Span;
pub use told::{table, verdict};
