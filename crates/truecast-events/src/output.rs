//! Which columns a table gets: its own with calibrated numbers in the forecast's place, or others that were asked for.

use std::collections::BTreeMap;
use std::sync::Arc;

use truecast_data::recognise::{Form, Layout};
use truecast_fleet::{Answer, RowScores};

use crate::error::{Error, Result};
use crate::meaning::Request;

/// Intervals written for point forecasts, which have none of their own.
const USUAL_INTERVALS: [f64; 3] = [50.0, 80.0, 95.0];
/// Columns of scores, before and after.
const SCORES: [&str; 4] = ["pit_raw", "pit", "crps_raw", "crps"];

/// What is asked of a fleet, and where its numbers go.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Output {
    pub(crate) answer: Answer,
    /// Columns and the numbers that take their place.
    in_place: Vec<(usize, usize)>,
    /// Columns that are left out.
    dropped: Vec<usize>,
    /// New columns by name, and their numbers.
    appended: Vec<(String, usize)>,
    /// Names of the columns of scores, if they are wanted.
    scores: Option<[String; 4]>,
}

impl Output {
    pub(crate) fn new(layout: &Layout, request: &Request) -> Result<Self> {
        let columns = layout.form.columns();
        let asked = !request.quantiles.is_empty() || !request.intervals.is_empty();
        let idiom = request.wishes.idiom;
        if asked && layout.form.is_long() {
            let (quantiles, intervals) = (idiom.name(idiom.quantiles()), idiom.name(idiom.intervals()));
            let problem = format!("{quantiles} and {intervals} are for forms with one row for each forecast");
            return Err(Error::usage(
                problem,
                "hub and M5 forms come out with the quantiles that they came in with",
            ));
        }
        let mut output = Output {
            answer: Answer::Nothing,
            in_place: Vec::new(),
            dropped: Vec::new(),
            appended: Vec::new(),
            scores: None,
        };
        let mut probabilities = Vec::new();
        if asked {
            output.dropped = columns;
        } else {
            output.in_place = columns.into_iter().enumerate().map(|(k, column)| (column, k)).collect();
            output.answer = match &layout.form {
                Form::Gaussian { variance: true, .. } => Answer::MeanVariance,
                Form::Gaussian { .. } => Answer::MeanStd,
                Form::Samples(columns) => Answer::Members(columns.len()),
                Form::Quantiles(columns) => Answer::Quantiles(columns.iter().map(|&(p, _)| p).collect()),
                Form::Point(_) => {
                    probabilities.push(0.5);
                    Answer::Nothing
                }
                Form::Hubverse { .. } | Form::M5 { .. } => Answer::Nothing,
            };
        }
        let intervals = match (&layout.form, asked) {
            (Form::Point(_), false) => &USUAL_INTERVALS[..],
            _ => &request.intervals,
        };
        for &p in &request.quantiles {
            output.append(layout, format!("q{p}"), probabilities.len());
            probabilities.push(p);
        }
        for &percent in intervals {
            for (side, p) in [("lo", (100.0 - percent) / 200.0), ("hi", (100.0 + percent) / 200.0)] {
                output.append(layout, format!("{side}-{percent}"), probabilities.len());
                probabilities.push(p);
            }
        }
        if !probabilities.is_empty() {
            output.answer = Answer::Quantiles(probabilities);
        }
        output.scores = request.scores.then(|| SCORES.map(|name| output.free_name(layout, name.to_owned())));
        Ok(output)
    }

    fn append(&mut self, layout: &Layout, name: String, number: usize) {
        let name = self.free_name(layout, name);
        self.appended.push((name, number));
    }

    /// The name, with `_calibrated` behind it, more than once if need be, where a column that stays has it already.
    fn free_name(&self, layout: &Layout, mut name: String) -> String {
        let stays = |column: &usize| !self.dropped.contains(column);
        while (0..layout.names.len()).filter(stays).any(|column| layout.names[column] == name) {
            name.push_str("_calibrated");
        }
        name
    }

    /// True if rows must be scored for the output.
    pub(crate) fn needs_scores(&self) -> bool {
        self.scores.is_some()
    }
}

/// What takes the place of a column's cells.
#[derive(Debug, Clone, PartialEq)]
pub enum Replaced {
    /// A number in every row; NaN is missing.
    All(Vec<f64>),
    /// A number in some rows; the others stay as they are.
    Some(Vec<Option<f64>>),
}

/// What becomes of some rows.
#[derive(Debug)]
pub struct Changes {
    pub(crate) output: Arc<Output>,
    pub(crate) rows: usize,
    pub(crate) numbers: Numbers,
    /// PIT and CRPS before and after, by row.
    pub(crate) scores: Vec<(usize, [f64; 4])>,
    pub(crate) left_out: Vec<usize>,
}

/// Calibrated numbers.
#[derive(Debug)]
pub(crate) enum Numbers {
    /// Row by row, all of the answer.
    Rows(Vec<f64>),
    /// By column of the table, and by number of an appended one.
    Cells { columns: BTreeMap<usize, Vec<Option<f64>>>, appended: Vec<Vec<f64>> },
}

/// PIT and CRPS of a row.
pub(crate) fn four(scores: &RowScores) -> [f64; 4] {
    [scores.pit[0], scores.pit[1], scores.crps[0], scores.crps[1]]
}

impl Changes {
    /// Room for rows that are changed cell by cell.
    pub(crate) fn in_cells(output: &Arc<Output>, rows: usize) -> Self {
        let appended = vec![vec![f64::NAN; rows]; output.appended.len()];
        let numbers = Numbers::Cells { columns: BTreeMap::new(), appended };
        Changes { output: Arc::clone(output), rows, numbers, scores: Vec::new(), left_out: Vec::new() }
    }

    /// Puts a number into a cell.
    pub(crate) fn put(&mut self, column: usize, row: usize, value: f64) {
        if let Numbers::Cells { columns, .. } = &mut self.numbers {
            columns.entry(column).or_insert_with(|| vec![None; self.rows])[row] = Some(value);
        }
    }

    /// Puts the answer about a whole row into its cells.
    pub(crate) fn put_row(&mut self, row: usize, values: &[f64]) {
        let output = Arc::clone(&self.output);
        output
            .in_place
            .iter()
            .filter(|(_, k)| *k < values.len())
            .for_each(|&(column, k)| self.put(column, row, values[k]));
        if let Numbers::Cells { appended, .. } = &mut self.numbers {
            for (cells, (_, k)) in appended.iter_mut().zip(&output.appended) {
                cells[row] = values[*k];
            }
        }
    }

    fn numbers(values: &[f64], width: usize, k: usize) -> Vec<f64> {
        values.iter().skip(k).step_by(width).copied().collect()
    }

    /// What takes the place of a column's cells; `None` if they stay.
    pub fn replaced(&mut self, column: usize) -> Option<Replaced> {
        match &mut self.numbers {
            Numbers::Rows(values) => {
                let &(_, k) = self.output.in_place.iter().find(|(other, _)| *other == column)?;
                Some(Replaced::All(Self::numbers(values, self.output.answer.width(), k)))
            }
            Numbers::Cells { columns, .. } => columns.remove(&column).map(Replaced::Some),
        }
    }

    /// True if a column holds forecasts, whether or not one of them was calibrated.
    pub fn is_forecast(&self, column: usize) -> bool {
        self.output.in_place.iter().any(|(other, _)| *other == column)
    }

    /// True if a column is left out.
    pub fn is_dropped(&self, column: usize) -> bool {
        self.output.dropped.contains(&column)
    }

    /// New columns.
    pub fn added(&mut self) -> Vec<(String, Vec<f64>)> {
        let names = self.output.appended.iter().map(|(name, _)| name.clone());
        let mut added: Vec<(String, Vec<f64>)> = match &mut self.numbers {
            Numbers::Rows(values) => {
                let width = self.output.answer.width();
                names
                    .zip(self.output.appended.iter().map(|(_, k)| Self::numbers(values, width, *k)))
                    .collect()
            }
            Numbers::Cells { appended, .. } => names.zip(std::mem::take(appended)).collect(),
        };
        for (k, name) in self.output.scores.iter().flatten().enumerate() {
            let mut cells = vec![f64::NAN; self.rows];
            self.scores.iter().for_each(|(row, scores)| cells[*row] = scores[k]);
            added.push((name.clone(), cells));
        }
        added
    }

    /// Rows that are left out, in order.
    pub fn left_out(&self) -> &[usize] {
        &self.left_out
    }
}
