//! Outcomes in a file of their own, small enough to be held in memory.

use std::collections::HashMap;
use std::path::Path;

use truecast_data::table::Batch;
use truecast_data::{Error as DataError, RowError, open};

use crate::failure::{Failure, Result};

/// Names of the column that holds the outcome, the surest first.
const OUTCOME: [&str; 9] =
    ["oracle_value", "observation", "observed", "outcome", "y", "actual", "truth", "target_value", "value"];

/// A table of outcomes.
#[derive(Debug)]
pub(crate) struct OutcomeFile {
    file: String,
    names: Vec<String>,
    batches: Vec<Batch>,
}

impl OutcomeFile {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let mut opened = open(path, None, None)?;
        let mut batches = Vec::new();
        while let Some(mut batch) = opened.reader.read(1 << 14)? {
            if let Some(broken) = batch.broken.pop() {
                return Err(DataError::from(broken).into());
            }
            batches.push(batch);
        }
        Ok(OutcomeFile {
            file: opened.reader.file().to_owned(),
            names: opened.reader.names().to_vec(),
            batches,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.file
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn has(&self, column: &str) -> bool {
        self.names.iter().any(|name| name == column)
    }

    pub(crate) fn rows(&self) -> usize {
        self.batches.iter().map(Batch::rows).sum()
    }

    /// The outcomes by the cells of these columns, joined by the unit separator.
    pub(crate) fn by(&self, columns: &[&str]) -> Result<HashMap<Vec<u8>, f64>> {
        let value = OUTCOME.iter().find(|name| self.has(name)).ok_or_else(|| {
            let problem =
                format!("{}: no column is known to hold the outcome: {}", self.file, self.names.join(", "));
            Failure::usage(problem, "call it oracle_value or observation")
        })?;
        let mut outcomes = HashMap::new();
        for row in 0..self.rows() {
            // A hub's oracle output says of every category and threshold whether it came true: those are no outcomes.
            if matches!(self.text(row, "output_type").as_str(), "pmf" | "cdf") {
                continue;
            }
            let Some(outcome) = self.number(row, value)? else { continue };
            let cells: Vec<String> = columns.iter().map(|column| self.text(row, column)).collect();
            let key = cells.join("\u{1f}").into_bytes();
            if outcomes.insert(key, outcome).is_some_and(|before| before != outcome) {
                let rule = format!("a second outcome for the same {}", columns.join(", "));
                let hint = "leave out the rows that are not meant, such as earlier versions".to_owned();
                let line = self.line(row);
                return Err(DataError::from(RowError {
                    file: self.file.clone(),
                    line,
                    rule,
                    hint,
                    ..RowError::default()
                })
                .into());
            }
        }
        Ok(outcomes)
    }

    /// A cell as text; empty if there is no such column.
    pub(crate) fn text(&self, row: usize, column: &str) -> String {
        match (self.place(row), self.names.iter().position(|name| name == column)) {
            (Some((batch, row)), Some(column)) => batch
                .columns
                .get(column)
                .map_or(String::new(), |cells| String::from_utf8_lossy(&cells.text(row)).into_owned()),
            _ => String::new(),
        }
    }

    /// A number; `None` where it is missing.
    pub(crate) fn number(&self, row: usize, column: &str) -> Result<Option<f64>> {
        let place = self.place(row);
        let at = self.names.iter().position(|name| name == column);
        let (Some((batch, place)), Some(at)) = (place, at) else { return Ok(None) };
        let cells = batch.columns.get(at).map_or(Ok(None), |cells| cells.number(place));
        match cells {
            Ok(value) if value.is_none_or(f64::is_finite) => Ok(value),
            _ => {
                let error = RowError {
                    file: self.file.clone(),
                    line: self.line(row),
                    column: Some(column.to_owned()),
                    value: Some(self.text(row, column)),
                    rule: "must be a finite number".to_owned(),
                    hint: String::new(),
                };
                Err(DataError::from(error).into())
            }
        }
    }

    fn line(&self, row: usize) -> u64 {
        self.place(row).map_or(0, |(batch, row)| batch.lines[row])
    }

    fn place(&self, mut row: usize) -> Option<(&Batch, usize)> {
        for batch in &self.batches {
            if row < batch.rows() {
                return Some((batch, row));
            }
            row -= batch.rows();
        }
        None
    }
}
