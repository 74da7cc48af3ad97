//! Which columns the output has: the input's own with calibrated numbers in the forecast's place, or others that were asked for.

use truecast_data::recognise::{Form, Layout};
use truecast_data::table::{Batch, Sheet, SheetColumn};
use truecast_fleet::{Answer, RowScores};

use crate::failure::{Failure, Result};
use crate::flags::{Percentages, Probabilities};

/// Intervals written for point forecasts, which have none of their own.
const USUAL_INTERVALS: [f64; 3] = [50.0, 80.0, 95.0];
/// Columns of scores, before and after.
const SCORES: [&str; 4] = ["pit_raw", "pit", "crps_raw", "crps"];

/// What is asked of the fleet, and where its numbers go.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OutputPlan {
    pub(crate) answer: Answer,
    /// The input column of the outcome.
    outcome: Option<usize>,
    /// Input columns and the numbers that take their place.
    in_place: Vec<(usize, usize)>,
    /// Input columns that are left out.
    dropped: Vec<usize>,
    /// New columns by name, and their numbers.
    appended: Vec<(String, usize)>,
    /// Names of the columns of scores, if they are wanted.
    scores: Option<[String; 4]>,
}

impl OutputPlan {
    pub(crate) fn new(
        layout: &Layout,
        quantiles: Option<&Probabilities>,
        intervals: Option<&Percentages>,
        scores: bool,
    ) -> Result<Self> {
        let columns = layout.form.columns();
        let asked = quantiles.is_some() || intervals.is_some();
        if asked && layout.form.is_long() {
            let problem = "--quantiles and --intervals are for forms with one row for each forecast";
            return Err(Failure::usage(problem, "hub and M5 forms come out as they came in"));
        }
        if scores && layout.form.is_long() {
            let problem = "--scores is for forms with one row for each forecast";
            return Err(Failure::usage(problem, "--summary has the scores of all forecasts together"));
        }
        let mut plan = OutputPlan {
            answer: Answer::Nothing,
            outcome: layout.outcome,
            in_place: Vec::new(),
            dropped: Vec::new(),
            appended: Vec::new(),
            scores: None,
        };
        let mut probabilities = Vec::new();
        if asked {
            plan.dropped = columns;
        } else {
            plan.in_place = columns.into_iter().enumerate().map(|(k, column)| (column, k)).collect();
            plan.answer = match &layout.form {
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
        let usual = Percentages(USUAL_INTERVALS.to_vec());
        let intervals = match (&layout.form, asked) {
            (Form::Point(_), false) => Some(&usual),
            _ => intervals,
        };
        for &p in quantiles.iter().flat_map(|list| &list.0) {
            plan.append(layout, format!("q{p}"), probabilities.len());
            probabilities.push(p);
        }
        for &percent in intervals.iter().flat_map(|list| &list.0) {
            for (side, p) in [("lo", (100.0 - percent) / 200.0), ("hi", (100.0 + percent) / 200.0)] {
                plan.append(layout, format!("{side}-{percent}"), probabilities.len());
                probabilities.push(p);
            }
        }
        if !probabilities.is_empty() {
            plan.answer = Answer::Quantiles(probabilities);
        }
        plan.scores = scores.then(|| SCORES.map(|name| plan.free_name(layout, name.to_owned())));
        Ok(plan)
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

    /// The rows of a batch with their answers. Rows that were refused are left out.
    pub(crate) fn sheet(
        &self,
        names: &[String],
        batch: Batch,
        values: &[f64],
        scored: &[RowScores],
        refused: &[usize],
    ) -> Sheet {
        let (rows, width) = (batch.rows(), self.answer.width());
        let numbers = |k: usize| SheetColumn::Numbers((0..rows).map(|row| values[row * width + k]).collect());
        let mut columns = Vec::with_capacity(names.len() + self.appended.len() + SCORES.len());
        for (at, (name, cells)) in names.iter().zip(batch.columns).enumerate() {
            if self.dropped.contains(&at) {
                continue;
            }
            let column = match self.in_place.iter().find(|(column, _)| *column == at) {
                Some(&(_, k)) => numbers(k),
                None if Some(at) == self.outcome => SheetColumn::numeric(cells),
                None => SheetColumn::Cells(cells),
            };
            columns.push((name.clone(), column));
        }
        columns.extend(self.appended.iter().map(|(name, k)| (name.clone(), numbers(*k))));
        if let Some(names) = &self.scores {
            let scores: [fn(&RowScores) -> f64; 4] =
                [|row| row.pit[0], |row| row.pit[1], |row| row.crps[0], |row| row.crps[1]];
            for (name, score) in names.iter().zip(scores) {
                let mut cells = vec![f64::NAN; rows];
                scored.iter().for_each(|row| cells[row.row] = score(row));
                columns.push((name.clone(), SheetColumn::Numbers(cells)));
            }
        }
        let mut refused = refused.iter().peekable();
        let kept = (0..rows as u32).filter(|&row| refused.next_if_eq(&&(row as usize)).is_none());
        Sheet { rows: kept.collect(), columns }
    }
}
