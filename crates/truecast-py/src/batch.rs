//! Arrays from Python as the rows of a fleet.

use std::borrow::Cow;
use std::sync::Arc;

use truecast_fleet::{Plain, Rows as FleetRows, Task};

use crate::forecasts::Rows;
use crate::keys::Keys;

/// A batch from Python's side.
pub(crate) struct Batch {
    pub(crate) keys: Keys,
    pub(crate) forecasts: Arc<Rows>,
    pub(crate) outcomes: Vec<f64>,
    pub(crate) groups: Option<Vec<Vec<String>>>,
    pub(crate) time: Option<Vec<f64>>,
    pub(crate) due: Option<Vec<f64>>,
    /// What each forecast is about.
    pub(crate) about: Option<Vec<String>>,
}

impl FleetRows for Batch {
    type Error = truecast_fleet::Error;

    fn len(&self) -> usize {
        self.outcomes.len()
    }

    fn key(&self, row: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.keys.text(row).as_bytes())
    }

    fn code(&self, row: usize) -> Option<usize> {
        Some(self.keys.code(row))
    }

    fn task(&self, row: usize) -> std::result::Result<Task, truecast_fleet::Error> {
        let outcome = self.outcomes[row];
        Ok(Task {
            groups: self.groups.as_ref().map_or_else(Vec::new, |groups| groups[row].clone()),
            now: self.time.as_ref().map(|time| time[row]),
            due: self.due.as_ref().map(|due| due[row]),
            about: self.about.as_ref().map(|about| about[row].clone().into_bytes()),
            ..Task::plain(self.forecasts.given(row), (!outcome.is_nan()).then_some(outcome))
        })
    }

    fn plain(&self, row: usize) -> Option<Plain> {
        let Rows::Gaussian(forecasts) = &*self.forecasts else { return None };
        let outcome = Some(self.outcomes[row]).filter(|outcome| !outcome.is_nan())?;
        let alone =
            self.groups.is_none() && self.time.is_none() && self.due.is_none() && self.about.is_none();
        alone.then(|| Plain { forecast: forecasts[row], outcome, now: None })
    }

    fn refuse(&self, _row: usize, error: truecast_fleet::Error) -> truecast_fleet::Error {
        error
    }
}
