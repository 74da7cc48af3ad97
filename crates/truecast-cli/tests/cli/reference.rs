//! What the library says about the same rows: the numbers that the command must write.

use std::collections::VecDeque;
use std::fmt::Write as _;

use truecast::{AnyForecast, Forecast, Gaussian, Pipeline, Stream, Ticket};
use truecast_streams::{Scenario, Step};

/// One forecast and what happened, if anybody knows.
pub(crate) type Row = (AnyForecast, Option<f64>);

pub(crate) fn gaussian(mean: f64, std: f64) -> AnyForecast {
    Gaussian::new(mean, std).unwrap().into()
}

/// The numbers that `take` reads off every calibrated forecast of one series at the default settings. The outcome of a row is known
/// to the rows after the next `delay` ones.
pub(crate) fn calibrated(
    rows: impl IntoIterator<Item = Row>,
    delay: usize,
    take: impl Fn(&dyn Forecast) -> Vec<f64>,
) -> Vec<Vec<f64>> {
    let mut stream: Stream<Pipeline, AnyForecast> = Stream::new(Pipeline::default());
    let mut waiting: VecDeque<(usize, Ticket, f64)> = VecDeque::new();
    let mut answers = Vec::new();
    for (at, (forecast, outcome)) in rows.into_iter().enumerate() {
        while waiting.front().is_some_and(|(due, ..)| *due <= at) {
            let (_, ticket, outcome) = waiting.pop_front().unwrap();
            stream.resolve(ticket, outcome).unwrap();
        }
        let (ticket, calibrated) = stream.issue(forecast).unwrap();
        answers.push(take(&calibrated));
        match outcome {
            Some(outcome) => waiting.push_back((at + delay + 1, ticket, outcome)),
            None => stream.expire(ticket).unwrap(),
        }
    }
    answers
}

/// The same for forecasts that are made so many at a time, before the first of their outcomes is known.
pub(crate) fn calibrated_in_windows(
    rows: impl IntoIterator<Item = Row>,
    window: usize,
    take: impl Fn(&dyn Forecast) -> Vec<f64>,
) -> Vec<Vec<f64>> {
    let mut stream: Stream<Pipeline, AnyForecast> = Stream::new(Pipeline::default());
    let (mut waiting, mut answers): (Vec<(Ticket, f64)>, _) = (Vec::new(), Vec::new());
    for (at, (forecast, outcome)) in rows.into_iter().enumerate() {
        if at % window == 0 {
            for (ticket, outcome) in waiting.drain(..) {
                stream.resolve(ticket, outcome).unwrap();
            }
        }
        let (ticket, calibrated) = stream.issue(forecast).unwrap();
        answers.push(take(&calibrated));
        waiting.extend(outcome.map(|outcome| (ticket, outcome)));
    }
    answers
}

pub(crate) fn mean_std(calibrated: &dyn Forecast) -> Vec<f64> {
    vec![calibrated.mean(), calibrated.variance().sqrt()]
}

pub(crate) fn quantiles(probabilities: &[f64]) -> impl Fn(&dyn Forecast) -> Vec<f64> {
    move |calibrated| probabilities.iter().map(|&p| calibrated.quantile(p)).collect()
}

/// A stream whose forecaster is wrong, to make files of.
pub(crate) fn steps(scenario: Scenario, count: usize, seed: u64) -> Vec<Step> {
    scenario.stream(count, seed)
}

/// The rows of a stream as the library takes them.
pub(crate) fn rows(steps: &[Step]) -> Vec<Row> {
    steps.iter().map(|step| (gaussian(step.mean(), step.std()), Some(step.outcome))).collect()
}

/// `t,y,mean,std` as `truecast simulate` writes it.
pub(crate) fn csv(steps: &[Step]) -> String {
    let mut text = "t,y,mean,std\n".to_owned();
    for (t, step) in steps.iter().enumerate() {
        writeln!(text, "{t},{},{},{}", step.outcome, step.mean(), step.std()).unwrap();
    }
    text
}

/// Both tables of numbers must agree, to 1e-12 of the larger one: quantiles are computed from probits that the command prepares once.
#[track_caller]
pub(crate) fn assert_close(found: &[Vec<f64>], expected: &[Vec<f64>]) {
    assert_eq!(found.len(), expected.len());
    for (row, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found.len(), expected.len(), "row {row}");
        for (k, (a, b)) in found.iter().zip(expected).enumerate() {
            let scale = a.abs().max(b.abs()).max(1.0);
            assert!((a - b).abs() <= 1e-12 * scale, "row {row}, number {k}: {a} instead of {b}");
        }
    }
}
