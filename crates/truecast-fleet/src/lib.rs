//! Many recalibrated series at once: what a command line, a service and bindings stand on.
//!
//! A [`Fleet`] holds one [`Stream`](truecast::Stream) for each key, all with the same [`Settings`]. It takes batches of
//! [`Rows`] on all cores, answers with the numbers that are asked for, learns from outcomes when they are known, and is saved and
//! continued bit for bit.

#![forbid(unsafe_code)]

mod ask;
mod bounded;
mod certificate;
mod error;
mod fleet;
mod parts;
mod point;
mod reader;
mod record;
mod series;
mod settings;
mod state;
mod store;
mod turns;
mod waiting;

pub use ask::{Answer, Ask, FAN, FanPoint, Given, Plain, RowScores, Task};
pub use error::{Error, Result};
pub use fleet::{Answers, Fleet, Rows};
pub use parts::{Part, Parts};
pub use point::LearnedScale;
pub use record::Tally;
pub use series::Series;
pub use settings::{Lateness, Settings};
pub use state::NEWEST_VERSION;
pub use store::Store;
pub use waiting::{Booked, Known};
