//! Answers that are read several forecasts at a time.

use std::sync::{Mutex, PoisonError};

use truecast::Gaussian;
use truecast::recalibrate::{Map, MomentReader, QuantileReader};

use crate::ask::{Answer, Ask, Question};

/// Keeps normal forecasts until they are read together.
#[derive(Debug)]
pub(crate) enum Reader {
    Quantiles(QuantileReader),
    /// Mean and standard deviation.
    MeanStd(MomentReader),
    /// Mean and variance.
    MeanVariance(MomentReader),
}

impl Reader {
    /// Where nothing but a few quantiles or moments of every forecast is asked for.
    pub(crate) fn new(question: &Question<'_>) -> Option<Self> {
        let Ask { answer, row_scores, scoreboards, fan, raw_only, .. } = question.ask;
        if *row_scores || *scoreboards || *fan > 0 || *raw_only {
            return None;
        }
        match answer {
            Answer::Quantiles(_) | Answer::Probits(_) => {
                QuantileReader::new(question.prepared.probits()).map(Reader::Quantiles)
            }
            Answer::MeanStd => Some(Reader::MeanStd(MomentReader::new())),
            Answer::MeanVariance => Some(Reader::MeanVariance(MomentReader::new())),
            _ => None,
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        match self {
            Reader::Quantiles(reader) => reader.is_full(),
            Reader::MeanStd(reader) | Reader::MeanVariance(reader) => reader.is_full(),
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        match self {
            Reader::Quantiles(reader) => reader.waiting(),
            Reader::MeanStd(reader) | Reader::MeanVariance(reader) => reader.waiting(),
        }
    }

    pub(crate) fn push(&mut self, base: Gaussian, map: &Map) {
        match self {
            Reader::Quantiles(reader) => reader.push(base, map),
            Reader::MeanStd(reader) | Reader::MeanVariance(reader) => reader.push(base, map),
        }
    }

    pub(crate) fn forget_last(&mut self) {
        match self {
            Reader::Quantiles(reader) => reader.forget_last(),
            Reader::MeanStd(reader) | Reader::MeanVariance(reader) => reader.forget_last(),
        }
    }

    /// Reads the forecasts that wait: they are those of the last rows whose values, so many to a row, are given.
    pub(crate) fn answer(&mut self, values: &mut [f64], width: usize) {
        let first = values.len() - self.waiting() * width;
        let mut rows = values[first..].chunks_exact_mut(width);
        let mut next = |numbers: &[f64]| {
            if let Some(row) = rows.next() {
                row.copy_from_slice(numbers);
            }
        };
        match self {
            Reader::Quantiles(reader) => reader.read(next),
            Reader::MeanStd(reader) => reader.read(|moments| next(&[moments.mean, moments.std()])),
            Reader::MeanVariance(reader) => reader.read(|moments| next(&[moments.mean, moments.variance])),
        }
    }
}

/// One reader for each thread: it is large, and its memory is near by from one series to the next.
#[derive(Debug)]
pub(crate) struct Readers<'a> {
    question: Question<'a>,
    of_threads: Vec<OfThread>,
}

/// In lines of memory of its own, and made by the thread that uses it: where another thread writes beside it, both wait for each other at every row.
#[derive(Debug, Default)]
#[repr(align(128))]
struct OfThread(Mutex<Option<Reader>>);

impl<'a> Readers<'a> {
    pub(crate) fn new(question: Question<'a>) -> Self {
        let of_threads = (0..rayon::current_num_threads()).map(|_| OfThread::default()).collect();
        Readers { question, of_threads }
    }

    /// Lends the reader of this thread; none where forecasts are read one by one.
    pub(crate) fn lend(&self, to: impl FnOnce(Option<&mut Reader>)) {
        match rayon::current_thread_index().and_then(|thread| self.of_threads.get(thread)) {
            None => to(None),
            Some(OfThread(reader)) => {
                // No other thread asks for it, and if work with it was given up, so was the whole batch.
                let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
                if reader.is_none() {
                    *reader = Reader::new(&self.question);
                }
                to(reader.as_mut());
            }
        }
    }
}
