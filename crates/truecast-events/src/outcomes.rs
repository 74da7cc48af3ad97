//! Outcomes in a table of their own: which forecasts they are about, and when they were known.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

use truecast_data::Error as DataError;
use truecast_data::recognise::Idiom;

use crate::cells::{Cells, Piece};
use crate::error::Result;
use crate::gather::joined_cells;
use crate::meaning::Memo;
use crate::{key, m5};

/// Names of the column that holds the outcome, the surest first.
const OUTCOME: [&str; 9] =
    ["oracle_value", "observation", "observed", "outcome", "y", "actual", "truth", "target_value", "value"];
/// Names of the column that says since when an outcome is known.
const KNOWN: [&str; 7] =
    ["as_of", "known_at", "available_at", "outcome_time", "published_at", "issue_date", "vintage"];
/// Names of the column that says what an outcome is about, where it has another name beside the forecasts.
const ABOUT: [&str; 8] =
    ["target_end_date", "target_date", "date", "ds", "valid_time", "timestamp", "datetime", "time"];
/// On whose forecasts the outcome does not depend.
const WHOSE: [&str; 10] = [
    "model",
    "model_id",
    "model_abbr",
    "team",
    "team_id",
    "team_abbr",
    "method",
    "forecaster",
    "source_file",
    "round_id",
];

/// A table of outcomes.
#[derive(Debug)]
pub struct Outcomes<C> {
    /// What the file is called.
    pub file: String,
    /// Its columns.
    pub names: Vec<String>,
    /// Its rows.
    pub pieces: Vec<Piece<C>>,
}

/// Outcomes about one thing.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    /// Since when each is known, if the table says, in that order, and what it is.
    pub(crate) vintages: Vec<(Option<f64>, f64)>,
    used: AtomicBool,
}

impl Entry {
    /// Somebody waited for it.
    pub(crate) fn use_it(&self) {
        self.used.store(true, Ordering::Relaxed);
    }
}

/// Outcomes by what they are about.
#[derive(Debug)]
pub(crate) struct Index {
    file: String,
    /// Which cells of a forecast say it.
    shared: Vec<usize>,
    /// Which of the others must agree among forecasts that have these in common.
    apart: Vec<(usize, String)>,
    seen: Mutex<HashMap<Vec<u8>, Vec<Vec<u8>>>>,
    entries: HashMap<Vec<u8>, Entry>,
    pub(crate) last_counts: bool,
    idiom: Idiom,
}

impl Index {
    pub(crate) fn new<C: Cells>(
        outcomes: &Outcomes<C>,
        memo: &Memo,
        outcome: Option<&str>,
        last_counts: bool,
        idiom: Idiom,
    ) -> Result<Self> {
        let Outcomes { file, names, pieces } = outcomes;
        let identity = memo.identity();
        let mut index = Index {
            file: file.clone(),
            shared: Vec::new(),
            apart: Vec::new(),
            seen: Mutex::default(),
            entries: HashMap::new(),
            last_counts,
            idiom,
        };
        if memo.m5 {
            index.shared = vec![0, 1];
            for (key, _, value) in m5::sold(file, names, pieces)? {
                // Days of a phase come behind those of the calendar, and count.
                index.entries.insert(key, Entry { vintages: vec![(None, value)], ..Entry::default() });
            }
            return Ok(index);
        }
        let find = |name: &str| names.iter().position(|known| known == name);
        // What the forecasts are about may be called otherwise here.
        let about = memo.about.map(|about| memo.key_cells() + about);
        let mut shared: Vec<(usize, usize)> = Vec::new();
        for (at, (name, _)) in identity.iter().enumerate() {
            let alias = || {
                ABOUT
                    .iter()
                    .find_map(|name| find(name))
                    .filter(|column| identity.iter().all(|(name, _)| *name != names[*column]))
            };
            let counted =
                memo.horizon.as_deref() == Some(name) && at + 1 == memo.key_cells() && find(name).is_none();
            match find(name).or_else(|| alias().filter(|_| Some(at) == about)) {
                Some(column) if !counted => shared.push((at, column)),
                _ => {}
            }
        }
        if shared.is_empty() {
            let hint = "it must have some of the forecasts' columns, such as location and target_end_date";
            return Err(
                DataError::file(file, "no column says which forecast an outcome belongs to", hint).into()
            );
        }
        let taken = |column: &usize| shared.iter().any(|(_, other)| other == column);
        let value = outcome
            .and_then(find)
            .or_else(|| OUTCOME.iter().find_map(|name| find(name).filter(|column| !taken(column))));
        let Some(value) = value else {
            let problem = format!("no column is known to hold the outcome: {}", names.join(", "));
            return Err(DataError::file(file, problem, "call it oracle_value or observation").into());
        };
        let known = KNOWN.iter().find_map(|name| find(name));
        let kind = find("output_type");
        index.shared = shared.iter().map(|&(at, _)| at).collect();
        let named = |at: usize| identity[at].0;
        let of_forecast = |at: &usize| {
            let name = named(*at).to_lowercase();
            let is_horizon = memo.horizon.as_deref() == Some(named(*at))
                || ["horizon", "h", "lead", "step_ahead"].contains(&name.as_str());
            !identity[*at].1 && !is_horizon && !WHOSE.contains(&name.as_str()) && !index.shared.contains(at)
        };
        index.apart = (0..identity.len()).filter(of_forecast).map(|at| (at, named(at).to_owned())).collect();
        for piece in pieces {
            for row in 0..piece.cells.rows() {
                // A hub's oracle output says of every category and threshold whether it came true: those are no outcomes.
                if kind.is_some_and(|kind| matches!(&*piece.cells.text(kind, row), b"pmf" | b"cdf")) {
                    continue;
                }
                let refused = |column: usize, rule: &str| {
                    Err(piece.cell_error(row, column, &names[column], rule, "").into())
                };
                let outcome = match piece.cells.number(value, row) {
                    Ok(None) => continue,
                    Ok(Some(outcome)) if outcome.is_finite() => outcome,
                    _ => return refused(value, "must be a finite number"),
                };
                let due = match known.map(|column| (column, piece.cells.time(column, row))) {
                    None => None,
                    Some((_, Ok(Some(time)))) if time.is_finite() => {
                        Some(if memo.strict { time.next_up() } else { time })
                    }
                    Some((column, _)) => return refused(column, "must be a time such as 2026-11-16"),
                };
                let cell = |&(at, column): &(usize, usize)| match piece.cells.time(column, row) {
                    Ok(Some(time)) if identity[at].1 => key::of_time(time),
                    _ => piece.cells.text(column, row).into_owned(),
                };
                let entry = index.entries.entry(joined_cells(shared.iter().map(cell).collect())).or_default();
                match entry.vintages.iter().find(|(time, _)| *time == due) {
                    Some((_, before)) if *before == outcome => {}
                    Some(_) => {
                        let columns: Vec<&str> = shared.iter().map(|&(at, _)| named(at)).collect();
                        let rule = format!("a second outcome for the same {}", columns.join(", "));
                        let hint = "leave out the rows that are not meant, or say in a column as_of since when each is known";
                        return Err(piece.row_error(row, rule, hint).into());
                    }
                    None => entry.vintages.push((due, outcome)),
                }
            }
        }
        for entry in index.entries.values_mut() {
            entry.vintages.sort_by(|a, b| {
                a.0.unwrap_or(f64::NEG_INFINITY).total_cmp(&b.0.unwrap_or(f64::NEG_INFINITY))
            });
        }
        Ok(index)
    }

    /// The outcomes of a forecast, by the cells that tell it from all others.
    pub(crate) fn find(&self, cells: &[Vec<u8>]) -> Result<Option<&Entry>> {
        let key =
            joined_cells(self.shared.iter().map(|&at| cells.get(at).cloned().unwrap_or_default()).collect());
        let Some(entry) = self.entries.get(&key) else { return Ok(None) };
        if !self.apart.is_empty() {
            let others: Vec<Vec<u8>> = self
                .apart
                .iter()
                .map(|(at, _)| target(cells.get(*at).map_or(&[][..], Vec::as_slice)))
                .collect();
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let before = seen.entry(key).or_insert_with(|| others.clone());
            if let Some(at) = (0..others.len()).find(|&at| before[at] != others[at]) {
                let (one, other) = (
                    String::from_utf8_lossy(&before[at]).into_owned(),
                    String::from_utf8_lossy(&others[at]).into_owned(),
                );
                let name = &self.apart[at].1;
                let problem = format!(
                    "there is no column {name}, on which forecasts differ ({one}, {other}) that would have the same outcome"
                );
                let hint = format!(
                    "add the column {name}, or choose one of them: {}",
                    self.idiom.say("where", &format!("{name}={one}"))
                );
                return Err(DataError::file(&self.file, problem, hint).into());
            }
        }
        Ok(Some(entry))
    }

    /// Things that outcomes are about, and how many of them no forecast waited for.
    pub(crate) fn unused(&self) -> (u64, u64) {
        let unused = self.entries.values().filter(|entry| !entry.used.load(Ordering::Relaxed)).count();
        (self.entries.len() as u64, unused as u64)
    }
}

/// A target as such: older hubs put the horizon before it, `2 wk ahead inc death`.
fn target(cell: &[u8]) -> Vec<u8> {
    let ahead = b" ahead ";
    let at = cell.windows(ahead.len()).position(|window| window == ahead);
    at.filter(|_| cell.first().is_some_and(u8::is_ascii_digit))
        .map_or(cell, |at| &cell[at + ahead.len()..])
        .to_vec()
}
