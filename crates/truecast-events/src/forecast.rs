//! The forecast of a row that holds one whole.

use std::sync::atomic::{AtomicU64, Ordering};

use truecast::{Gaussian, Quantiles};
use truecast_data::RowError;
use truecast_data::recognise::{Form, Idiom};
use truecast_fleet::Given;

use crate::cells::{Cells, Piece};
use crate::meaning::Meaning;

/// Reads forecasts and outcomes of rows, and counts forecasts that have no width.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) meaning: &'a Meaning,
    /// Forecasts without a width: they are points, whose scale is learned.
    pub(crate) without_width: &'a AtomicU64,
    pub(crate) signs: &'a Signs,
}

/// Whether what is forecast may be a count or a share: forecasts below 0, and calibrated ones below 0 that were not.
#[derive(Debug, Default)]
pub(crate) struct Signs {
    negative: AtomicU64,
    became: AtomicU64,
}

impl Signs {
    /// One more forecast, by the least of its numbers before and of its quantiles after.
    pub(crate) fn see(&self, before: f64, after: &[f64]) {
        if before < 0.0 {
            self.negative.fetch_add(1, Ordering::Relaxed);
        } else if after.iter().any(|quantile| *quantile < 0.0) {
            self.became.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// True as long as nothing was below 0 before.
    pub(crate) fn is_open(&self) -> bool {
        self.negative.load(Ordering::Relaxed) == 0
    }

    /// Forecasts that fell below 0, if none was there before.
    pub(crate) fn fell(&self) -> u64 {
        if self.is_open() { self.became.load(Ordering::Relaxed) } else { 0 }
    }
}

impl Reader<'_> {
    fn skip_hint(&self, words: &str) -> String {
        let skip = self
            .meaning
            .idiom
            .say(if self.meaning.idiom == Idiom::Flags { "on-error" } else { "on_error" }, "skip");
        format!("{words}; {skip} leaves such rows out")
    }

    /// The finite number in a cell; `None` where it is missing.
    #[inline]
    pub(crate) fn number<C: Cells>(
        &self,
        piece: &Piece<C>,
        column: usize,
        row: usize,
    ) -> Result<Option<f64>, Box<RowError>> {
        match piece.numbers.get(column, row) {
            Some(value) => Ok(Some(value)),
            None => self.unread(piece, column, row),
        }
    }

    /// The same for a cell in which no finite number was found at first: why not?
    #[cold]
    fn unread<C: Cells>(
        &self,
        piece: &Piece<C>,
        column: usize,
        row: usize,
    ) -> Result<Option<f64>, Box<RowError>> {
        let refused = |rule: &str, hint: String| {
            Err(piece.cell_error(row, column, self.meaning.name(column), rule, hint))
        };
        match piece.cells.number(column, row) {
            Ok(value) if value.is_none_or(f64::is_finite) => Ok(value),
            Ok(_) => refused("must be finite", String::new()),
            Err(_) => {
                let text = piece.cells.text(column, row);
                let is_number = std::str::from_utf8(&text).is_ok_and(|text| text.parse::<f64>().is_ok());
                let hint = if is_number && piece.cells.is_quoted(column, row) {
                    "in JSON a number has no quotes".to_owned()
                } else if text.contains(&b',') {
                    "numbers are written with a point: 1.5".to_owned()
                } else {
                    self.skip_hint("a missing outcome is an empty cell or NA")
                };
                refused("must be a number", hint)
            }
        }
    }

    /// The finite number in a cell that must hold one.
    #[inline]
    pub(crate) fn needed<C: Cells>(
        &self,
        piece: &Piece<C>,
        column: usize,
        row: usize,
    ) -> Result<f64, Box<RowError>> {
        self.number(piece, column, row)?.ok_or_else(|| {
            let hint = self.skip_hint("a row may lack an outcome, not a forecast");
            piece.cell_error(row, column, self.meaning.name(column), "a forecast must be there", hint)
        })
    }

    /// The outcome that a row brings.
    pub(crate) fn outcome<C: Cells>(
        &self,
        piece: &Piece<C>,
        row: usize,
    ) -> Result<Option<f64>, Box<RowError>> {
        self.meaning.layout.outcome.map_or(Ok(None), |column| self.number(piece, column, row))
    }

    /// A point, because that is all that is left of a distribution without a width.
    pub(crate) fn point(&self, value: f64) -> Given {
        self.without_width.fetch_add(1, Ordering::Relaxed);
        Given::Point(value)
    }

    /// The forecast of a row.
    pub(crate) fn forecast<C: Cells>(&self, piece: &Piece<C>, row: usize) -> Result<Given, Box<RowError>> {
        let refused = |error: truecast::Error| piece.row_error(row, error.to_string(), "");
        let all = |columns: &mut dyn Iterator<Item = usize>| {
            columns.map(|column| self.needed(piece, column, row)).collect::<Result<Vec<f64>, _>>()
        };
        Ok(match &self.meaning.layout.form {
            Form::Gaussian { mean, spread, variance } => {
                let (center, value) = (self.needed(piece, *mean, row)?, self.needed(piece, *spread, row)?);
                if value < 0.0 {
                    return Err(piece.cell_error(
                        row,
                        *spread,
                        self.meaning.name(*spread),
                        "must not be negative",
                        "",
                    ));
                }
                if value == 0.0 {
                    return Ok(self.point(center));
                }
                let std = if *variance { value.sqrt() } else { value };
                Given::Distribution(Gaussian::new(center, std).map_err(refused)?.into())
            }
            Form::Quantiles(columns) => {
                let values = all(&mut columns.iter().map(|&(_, column)| column))?;
                if values.iter().all(|value| *value == values[0]) {
                    return Ok(self.point(values[0]));
                }
                let probabilities: Vec<f64> = columns.iter().map(|&(p, _)| p).collect();
                Given::Distribution(Quantiles::new(&probabilities, &values).map_err(refused)?.into())
            }
            Form::Samples(columns) => {
                let members = all(&mut columns.iter().copied())?;
                if members.iter().all(|value| *value == members[0]) {
                    self.without_width.fetch_add(1, Ordering::Relaxed);
                }
                Given::Ensemble(members)
            }
            Form::Point(column) => Given::Point(self.needed(piece, *column, row)?),
            // These are gathered from several rows.
            Form::Hubverse { .. } | Form::M5 { .. } => {
                return Err(refused(truecast::Error::TooFew {
                    what: "rows of a forecast",
                    least: 2,
                    found: 1,
                }));
            }
        })
    }
}
