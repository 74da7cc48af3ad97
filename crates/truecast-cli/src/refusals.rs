//! Rows that break a rule: the first one ends the run, or all of them are left out and counted.

use truecast_data::{Error as DataError, RowError};

use crate::failure::Result;
use crate::flags::OnError;
use crate::say;

/// How many rows are shown one by one before only the count goes on.
const SHOWN: u64 = 5;

/// Counts the rows that were left out.
#[derive(Debug)]
pub(crate) struct Refusals {
    on_error: OnError,
    quiet: bool,
    skipped: u64,
}

impl Refusals {
    pub(crate) fn new(on_error: OnError, quiet: bool) -> Self {
        Refusals { on_error, quiet, skipped: 0 }
    }

    /// Rows left out so far.
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Takes the refused rows of a batch, those that could not be split into cells first or not: in the order of their lines.
    pub(crate) fn take(&mut self, broken: Vec<RowError>, refused: Vec<(usize, DataError)>) -> Result<()> {
        let mut errors: Vec<RowError> = broken;
        for (_, error) in refused {
            match error {
                DataError::Row(row) => errors.push(*row),
                other => return Err(other.into()),
            }
        }
        errors.sort_by_key(|error| error.line);
        for error in errors {
            if self.on_error == OnError::Fail {
                return Err(DataError::from(error).into());
            }
            self.skipped += 1;
            if self.skipped <= SHOWN && !self.quiet {
                let shown = RowError { hint: String::new(), ..error };
                say!("skipped: {shown}");
            }
        }
        Ok(())
    }
}
