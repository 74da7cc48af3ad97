//! Frames in which one forecast is spread over several rows, by the command's rules: a hub's long form, and the M5 competition's.

use std::collections::HashMap;

use truecast_data::table::{Column, Text};
use truecast_fleet::{Part, Parts};

use crate::errors::{Error, Result};
use crate::table::{Labels, finite, number};

/// One forecast, with the cells that it came from.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) parts: Parts,
    /// Where each of the parts stands: the row, and which of the forecast's columns.
    pub(crate) cells: Vec<(usize, usize)>,
    /// Its series, by the code of the key.
    pub(crate) key: i64,
    pub(crate) outcome: Option<f64>,
    pub(crate) now: Option<f64>,
    pub(crate) due: Option<f64>,
}

/// Forecasts ordered by the time at which they were made, and the rows that belong to none because they break a rule.
pub(crate) type Found = (Vec<Gathered>, Vec<(usize, Error)>);

/// The columns of a hub's long form.
pub(crate) struct Hub<'a> {
    /// Which forecast a row belongs to.
    pub(crate) tasks: &'a [i64],
    pub(crate) kinds: Labels,
    pub(crate) ids: Labels,
    pub(crate) values: &'a [f64],
    /// Names of the columns of ids and values, and of the outcome.
    pub(crate) names: [&'a str; 3],
    pub(crate) keys: &'a Labels,
    /// Empty where there is no such column.
    pub(crate) outcome: &'a [f64],
    pub(crate) time: &'a [f64],
    pub(crate) due: &'a [f64],
}

impl Hub<'_> {
    pub(crate) fn gather(&self) -> Found {
        let probabilities: Vec<Option<f64>> = {
            let column = Column::Text(self.ids.texts.iter().map(String::as_bytes).collect::<Text>());
            (0..self.ids.texts.len()).map(|code| column.number(code).ok().flatten()).collect()
        };
        let mut places: Vec<Option<usize>> = Vec::new();
        let (mut gathered, mut refused): Found = (Vec::new(), Vec::new());
        for row in 0..self.values.len() {
            let mut add = || -> Result<()> {
                let Some(part) = self.part(row, &probabilities)? else { return Ok(()) };
                let value = finite(self.values[row]).map_err(|error| error.in_column(self.names[1]))?;
                let task = usize::try_from(self.tasks[row]).unwrap_or(0);
                if places.len() <= task {
                    places.resize(task + 1, None);
                }
                let at = match places[task] {
                    Some(at) => at,
                    None => {
                        gathered.push(self.begin(row)?);
                        *places[task].insert(gathered.len() - 1)
                    }
                };
                // Any of a forecast's rows may say the outcome.
                if let Some(said) = self.outcome(row)?
                    && *gathered[at].outcome.get_or_insert(said) != said
                {
                    return Err(Error::SecondOutcome.in_column(self.names[2]));
                }
                gathered[at].parts.push(part, value);
                gathered[at].cells.push((row, 0));
                Ok(())
            };
            if let Err(error) = add() {
                refused.push((row, error));
            }
        }
        in_order(&mut gathered);
        (gathered, refused)
    }

    fn outcome(&self, row: usize) -> Result<Option<f64>> {
        let outcome = number(self.outcome, row);
        if let Some(value) = outcome.filter(|value| !value.is_finite()) {
            let error = truecast::Error::NotFinite { what: "outcome", value };
            return Err(Error::from(error).in_column(self.names[2]));
        }
        Ok(outcome)
    }

    /// What a row's value is; `None` for types that pass through.
    fn part(&self, row: usize, probabilities: &[Option<f64>]) -> Result<Option<Part>> {
        Ok(match self.kinds.get(row) {
            "quantile" => {
                let code = self.ids.code(row).and_then(|code| usize::try_from(code).ok());
                let found = code.and_then(|code| probabilities.get(code).copied().flatten());
                match found.filter(|p| *p > 0.0 && *p < 1.0) {
                    Some(p) => Some(Part::Quantile(p)),
                    None => {
                        let value = self.ids.get(row).to_owned();
                        return Err(Error::NotAProbability { value }.in_column(self.names[0]));
                    }
                }
            }
            "median" => Some(Part::Quantile(0.5)),
            "mean" => Some(Part::Mean),
            "sample" => Some(Part::Member),
            _ => None,
        })
    }

    /// A forecast whose first part is this row, which says times and key.
    fn begin(&self, row: usize) -> Result<Gathered> {
        let time = |times| number(times, row).filter(|time| time.is_finite());
        let (now, due) = (time(self.time), time(self.due));
        if now.is_none() && !self.time.is_empty() || due.is_none() && !self.due.is_empty() {
            return Err(truecast_fleet::Error::NoTime.into());
        }
        let key = self.keys.code(row).unwrap_or(-1);
        Ok(Gathered { key, now, due, ..Gathered::default() })
    }
}

/// Rows of the M5 uncertainty competition: one quantile of every day.
pub(crate) struct M5<'a> {
    /// The series of each row, by code.
    pub(crate) series: &'a [i64],
    pub(crate) probabilities: &'a [f64],
    /// The first day of each row's phase.
    pub(crate) first_days: &'a [i64],
    pub(crate) days: &'a [Vec<f64>],
    pub(crate) names: &'a [String],
    /// Where the outcomes of each row's series and phase stand in `outcomes`, −1 for nowhere.
    pub(crate) places: &'a [i64],
    /// By day.
    pub(crate) outcomes: &'a [Vec<f64>],
}

impl M5<'_> {
    pub(crate) fn gather(&self) -> Found {
        let mut index: HashMap<(i64, i64), usize> = HashMap::new();
        let (mut gathered, mut refused): Found = (Vec::new(), Vec::new());
        for row in 0..self.series.len() {
            // A row is taken whole or not at all.
            let mut values = self.days.iter().zip(self.names);
            let bad =
                values.find_map(|(day, name)| finite(day[row]).err().map(|error| error.in_column(name)));
            if let Some(error) = bad {
                refused.push((row, error));
                continue;
            }
            for (day, values) in self.days.iter().enumerate() {
                let date = self.first_days[row] + day as i64;
                let at = *index.entry((self.series[row], date)).or_insert_with(|| {
                    let place = self.places.get(row).and_then(|&place| usize::try_from(place).ok());
                    let outcome = place.and_then(|place| {
                        self.outcomes.get(day).and_then(|outcomes| number(outcomes, place))
                    });
                    let (key, now) = (self.series[row], Some(date as f64));
                    gathered.push(Gathered { key, outcome, now, ..Gathered::default() });
                    gathered.len() - 1
                });
                gathered[at].parts.push(Part::Quantile(self.probabilities[row]), values[row]);
                gathered[at].cells.push((row, day));
            }
        }
        in_order(&mut gathered);
        (gathered, refused)
    }
}

/// Stable: forecasts made at the same time keep the order of the frame.
fn in_order(gathered: &mut [Gathered]) {
    gathered.sort_by(|a, b| a.now.unwrap_or(0.0).total_cmp(&b.now.unwrap_or(0.0)));
}
