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

    /// Takes rows that could not be split into cells, and others that were refused: in the order of their lines.
    pub(crate) fn take(&mut self, broken: Vec<RowError>, refused: Vec<RowError>) -> Result<()> {
        let mut errors: Vec<RowError> = broken;
        errors.extend(refused);
        errors.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
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
