//! Tables of forecasts: read, recognise, write.
//!
//! | module | what it holds |
//! |---|---|
//! | [`table`] | readers and writers of CSV, NDJSON and Parquet, in batches |
//! | [`recognise`] | which columns hold what: outcome, series, forecast in any of the usual forms |
//! | [`mod@open`], [`source`], [`output`], [`mod@format`] | files, standard input and output, gzip, files that appear whole or not at all |
//! | [`error`] | file, line, column, value, rule, hint |

#![forbid(unsafe_code)]

pub mod error;
pub mod format;
pub mod open;
pub mod output;
pub mod recognise;
pub mod source;
pub mod table;

pub use error::{Error, Result, RowError};
pub use format::Format;
pub use open::{Opened, open, writer};
pub use output::{NewFile, Output, Sink};
