//! However rows come in batches, however often the fleet is saved and loaded in between, and whatever other series there are: the
//! answers have the same bits.

#![allow(clippy::unwrap_used)]

use std::borrow::Cow;

use proptest::prelude::*;
use truecast::forecast::Quantiles;
use truecast::recalibrate::Method;
use truecast::{Error as CoreError, Forecast, Gaussian, Recalibrator, SnapshotError, Stream, normal, random};
use truecast_fleet::{Answer, Ask, Error, Fleet, Given, Lateness, Rows, Settings, Task};

/// A row of a made-up table.
#[derive(Debug, Clone)]
struct Row {
    key: String,
    forecast: Given,
    outcome: Option<f64>,
    group: Option<String>,
    now: Option<f64>,
    due: Option<f64>,
}

#[derive(Debug, Clone)]
struct Table(Vec<Row>);

impl Rows for Table {
    type Error = Error;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn key(&self, row: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.0[row].key.as_bytes())
    }

    fn task(&self, row: usize) -> Result<Task, Error> {
        let Row { forecast, outcome, group, now, due, .. } = self.0[row].clone();
        Ok(Task { forecast, outcome, groups: group.into_iter().collect(), now, due })
    }

    fn refuse(&self, _row: usize, error: Error) -> Error {
        error
    }
}

fn ask(answer: Answer) -> Ask {
    Ask { answer, row_scores: false, scoreboards: false, fan: 0, raw_only: false }
}

/// Three series that take turns by a coin, overconfident, with some outcomes missing.
fn table(rows: usize, seed: u64, form: usize) -> Table {
    let draw = |t: usize, lane| random::uniform(seed, t as u64, lane);
    let row = |t: usize| {
        let mean = 10.0 * draw(t, 0);
        let noise = 2.0 * normal::quantile(draw(t, 1).clamp(1e-9, 1.0 - 1e-9));
        let forecast = match form {
            0 => Given::Distribution(Gaussian::new(mean, 1.0).unwrap().into()),
            1 => Given::Point(mean),
            _ => Given::Ensemble((0..5).map(|k| mean + f64::from(k) - 2.0).collect()),
        };
        Row {
            key: format!("series {}", (3.0 * draw(t, 2)) as usize),
            forecast,
            outcome: (draw(t, 3) < 0.9).then_some(mean + noise),
            group: (draw(t, 4) < 0.5).then(|| "odd".to_owned()),
            now: Some(t as f64),
            due: Some(t as f64 + (7.0 * draw(t, 5)).floor()),
        }
    };
    Table((0..rows).map(row).collect())
}

fn values(fleet: &mut Fleet, table: &Table, answer: &Answer) -> Vec<u64> {
    let answers = fleet.run(table, &ask(answer.clone()));
    assert!(answers.refused.is_empty(), "{:?}", answers.refused);
    answers.values.iter().map(|value| value.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn batches_saving_and_other_series_change_nothing(
        seed in 0..u64::MAX,
        method in 0..Method::ALL.len(),
        late in 0..3usize,
        form in 0..3usize,
        cuts in prop::collection::vec(0..120usize, 0..4),
    ) {
        let lateness = [Lateness::Next, Lateness::Rows(3), Lateness::Times][late];
        let method = Method::ALL[method];
        let groups = if method == Method::Ledger { 1 } else { 0 };
        let settings = Settings { method, lateness, groups, seed, ..Settings::default() };
        let mut rows = table(120, seed, form);
        if groups == 0 {
            rows.0.iter_mut().for_each(|row| row.group = None);
        }
        let answer = if form == 2 { Answer::Members(5) } else { Answer::Quantiles(vec![0.1, 0.5, 0.9]) };
        let width = answer.width();
        let whole = values(&mut Fleet::new(settings.clone()).unwrap(), &rows, &answer);

        let mut cuts = cuts;
        cuts.extend([0, 120]);
        cuts.sort_unstable();
        let mut fleet = Fleet::new(settings.clone()).unwrap();
        let mut parts = Vec::new();
        for pair in cuts.windows(2) {
            parts.extend(values(&mut fleet, &Table(rows.0[pair[0]..pair[1]].to_vec()), &answer));
            fleet = Fleet::from_bytes(&fleet.to_bytes().unwrap()).unwrap();
            fleet.expect(&settings).unwrap();
        }
        prop_assert_eq!(&parts, &whole);

        let alone = Table(rows.0.iter().filter(|row| row.key == "series 1").cloned().collect());
        let alone = values(&mut Fleet::new(settings).unwrap(), &alone, &answer);
        let theirs: Vec<u64> = rows.0.iter().zip(whole.chunks(width))
            .filter(|(row, _)| row.key == "series 1")
            .flat_map(|(_, values)| values.to_vec())
            .collect();
        prop_assert_eq!(alone, theirs);
    }
}

/// The same rows through a stream of the core, with outcomes brought when they are known.
#[test]
fn a_late_outcome_is_booked_when_it_is_known() {
    let settings = Settings { lateness: Lateness::Rows(2), ..Settings::default() };
    let mut rows = table(200, 7, 0);
    rows.0.iter_mut().for_each(|row| row.key = String::new());
    rows.0.iter_mut().for_each(|row| row.group = None);
    let got = values(&mut Fleet::new(settings.clone()).unwrap(), &rows, &Answer::Quantiles(vec![0.9]));

    let mut stream = Stream::new(settings.build(b"").unwrap());
    let mut open = Vec::new();
    for (t, row) in rows.0.iter().enumerate() {
        let Given::Distribution(forecast) = row.forecast.clone() else { unreachable!() };
        for (ticket, outcome, at) in std::mem::take(&mut open) {
            // Known to the row after the next two.
            if at + 3 <= t {
                stream.resolve(ticket, outcome).unwrap();
            } else {
                open.push((ticket, outcome, at));
            }
        }
        let (ticket, calibrated) = stream.issue(forecast).unwrap();
        assert_eq!(calibrated.quantile(0.9).to_bits(), got[t], "row {t}");
        match row.outcome {
            Some(outcome) => open.push((ticket, outcome, t)),
            None => stream.expire(ticket).unwrap(),
        }
    }
}

/// The same rows in fewer words.
struct InFewWords<'a>(&'a Table);

impl Rows for InFewWords<'_> {
    type Error = Error;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn key(&self, row: usize) -> Cow<'_, [u8]> {
        self.0.key(row)
    }

    fn task(&self, row: usize) -> Result<Task, Error> {
        self.0.task(row)
    }

    fn plain(&self, row: usize) -> Option<(Gaussian, f64)> {
        match &self.0.0[row].forecast {
            Given::Distribution(forecast) => forecast.as_gaussian().zip(self.0.0[row].outcome),
            _ => None,
        }
    }

    fn refuse(&self, row: usize, error: Error) -> Error {
        self.0.refuse(row, error)
    }
}

/// Rows in fewer words leave the same answers, scores and state, whether or not an outcome is learned at once, with and without scores (without, forecasts
/// are read several at a time), and with tasks and refused rows in between.
#[test]
fn a_plain_row_is_its_task() {
    fn run<R: Rows<Error = Error>>(rows: &R, settings: &Settings, ask: &Ask) -> (Vec<u64>, String, Vec<u8>) {
        let mut fleet = Fleet::new(settings.clone()).unwrap();
        let answers = fleet.run(rows, ask);
        let bits = answers.values.iter().map(|value| value.to_bits()).collect();
        let words = format!("{:?} {:?} {:?}", answers.scores, answers.refused, fleet.tally());
        (bits, words, fleet.to_bytes().unwrap())
    }
    let mut rows = table(300, 5, 0);
    rows.0.iter_mut().for_each(|row| (row.group, row.now, row.due) = (None, None, None));
    for refused in [40, 41, 90, 299] {
        rows.0[refused].outcome = Some(f64::INFINITY);
    }
    for (lateness, raw_only) in [(Lateness::Next, false), (Lateness::Rows(2), false), (Lateness::Next, true)]
    {
        let settings = Settings { lateness, ..Settings::default() };
        let answers = [Answer::Probits(vec![-1.0, 0.3]), Answer::MeanStd, Answer::MeanVariance];
        for (row_scores, answer) in
            [true, false].into_iter().flat_map(|scores| answers.iter().map(move |answer| (scores, answer)))
        {
            let ask = Ask { row_scores, raw_only, ..ask(answer.clone()) };
            let (few, full) = (run(&InFewWords(&rows), &settings, &ask), run(&rows, &settings, &ask));
            assert!(few == full, "{lateness:?} {row_scores} {answer:?}");
            assert!(few.0.iter().filter(|bits| f64::from_bits(**bits).is_nan()).count() == 8, "{lateness:?}");
        }
    }
}

/// Forecasts of counts have atoms at the ends of their intervals: whether a row is covered once depended on how such an end was rounded.
#[test]
fn rows_of_counts_are_covered_as_the_scoreboard_counts() {
    let mut rows = table(500, 8, 0);
    for (t, row) in (0..).zip(&mut rows.0) {
        let draw = |lane| random::uniform(12, t, lane);
        let values: Vec<f64> =
            [0.0, 0.4, 1.0, 1.6, 2.7].map(|value: f64| (value + 3.0 * draw(0)).round()).to_vec();
        let forecast = Quantiles::new(&[0.05, 0.1, 0.5, 0.9, 0.95], &values).unwrap();
        row.forecast = Given::Distribution(forecast.into());
        (row.outcome, row.group) = (Some((6.0 * draw(1)).floor()), None);
    }
    let ask = Ask { row_scores: true, scoreboards: true, ..ask(Answer::Nothing) };
    let mut fleet = Fleet::new(Settings::default()).unwrap();
    let scores = fleet.run(&rows, &ask).scores;
    let board = fleet.scoreboard().unwrap();
    for (side, of) in [board.raw(), board.calibrated()].into_iter().enumerate() {
        let covered = scores.iter().filter(|row| row.covered[side]).count();
        assert_eq!(Some(covered as f64 / 500.0), of.coverage().share(1), "side {side}");
    }
}

/// Series run side by side for a stretch of a long batch, and then for the next: this one has three, cut where none of them ends.
#[test]
fn a_long_batch_is_its_parts() {
    let mut rows = table(140_000, 6, 0);
    rows.0.iter_mut().for_each(|row| row.group = None);
    let ask = ask(Answer::Quantiles(vec![0.1, 0.9]));
    let (mut at_once, mut in_parts) =
        (Fleet::new(Settings::default()).unwrap(), Fleet::new(Settings::default()).unwrap());
    let whole = at_once.run(&InFewWords(&rows), &ask).values;
    let second = Table(rows.0.split_off(50_001));
    let mut parts = in_parts.run(&InFewWords(&rows), &ask).values;
    parts.extend(in_parts.run(&InFewWords(&second), &ask).values);
    assert!(whole.iter().zip(&parts).all(|(one, other)| one.to_bits() == other.to_bits()));
    assert_eq!((whole.len(), parts.len()), (280_000, 280_000));
    assert_eq!(at_once.to_bytes().unwrap(), in_parts.to_bytes().unwrap());
}

/// An outcome of which nobody says when it is known once left its forecast waiting for ever.
#[test]
fn an_outcome_without_its_time_changes_nothing() {
    let settings = Settings { lateness: Lateness::Times, ..Settings::default() };
    let mut rows = table(10, 3, 0);
    rows.0.iter_mut().for_each(|row| (row.group, row.key) = (None, "one".into()));
    let mut fleet = Fleet::new(settings).unwrap();
    fleet.run(&Table(rows.0[..9].to_vec()), &ask(Answer::Nothing));
    let before = fleet.to_bytes().unwrap();
    // Nothing becomes due before this row.
    let last = Row { outcome: Some(1.0), now: rows.0[8].now, due: None, ..rows.0[9].clone() };
    let answers = fleet.run(&Table(vec![last]), &ask(Answer::Nothing));
    assert!(matches!(answers.refused[..], [(0, Error::NoTime)]), "{:?}", answers.refused);
    assert_eq!(fleet.to_bytes().unwrap(), before);
}

#[test]
fn a_row_that_is_refused_changes_nothing() {
    let settings = Settings { groups: 1, lateness: Lateness::Times, ..Settings::default() };
    let mut good = table(50, 3, 0);
    good.0.iter_mut().for_each(|row| row.group = Some("odd".into()));
    let mut fleet = Fleet::new(settings.clone()).unwrap();
    let answer = Answer::Quantiles(vec![0.5]);
    let expected = values(&mut Fleet::new(settings).unwrap(), &good, &answer);
    let mut bad = good.clone();
    let at = |position: usize, change: &dyn Fn(&mut Row)| {
        let mut row = good.0[position].clone();
        change(&mut row);
        row
    };
    bad.0.insert(40, at(39, &|row| row.now = Some(-1.0)));
    bad.0.insert(30, at(30, &|row| row.group = Some("a second one".into())));
    bad.0.insert(20, at(20, &|row| row.outcome = Some(f64::INFINITY)));
    let answers = fleet.run(&bad, &ask(answer));
    let refused: Vec<(usize, String)> =
        answers.refused.iter().map(|(row, error)| (*row, error.to_string())).collect();
    assert_eq!(refused.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [20, 31, 42], "{refused:?}");
    assert!(refused[0].1.contains("finite") && refused[1].1.contains("a second one"), "{refused:?}");
    let kept: Vec<u64> = answers
        .values
        .iter()
        .map(|value| value.to_bits())
        .enumerate()
        .filter(|(row, _)| ![20, 31, 42].contains(row))
        .map(|(_, bits)| bits)
        .collect();
    assert_eq!(kept, expected);
}

#[test]
fn damaged_and_foreign_states_are_refused() {
    let mut fleet = Fleet::new(Settings::default()).unwrap();
    let mut rows = table(20, 1, 0);
    rows.0.iter_mut().for_each(|row| row.group = None);
    fleet.run(&rows, &ask(Answer::Nothing));
    let bytes = fleet.to_bytes().unwrap();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert!(Fleet::from_bytes(&damaged).is_err(), "byte {at}");
    }
    for end in 0..bytes.len() {
        assert!(Fleet::from_bytes(&bytes[..end]).is_err(), "{end} bytes");
    }
    let foreign: Stream<truecast::Pipeline> = Stream::new(Default::default());
    assert_eq!(
        Fleet::from_bytes(&foreign.to_bytes().unwrap()).unwrap_err(),
        Error::Core(CoreError::Snapshot(SnapshotError::BadMagic))
    );
    let other = Settings { seed: 9, guard: Some(truecast::GuardMode::Off), ..Settings::default() };
    let error = fleet.expect(&other).unwrap_err().to_string();
    assert_eq!(error, "the state was made with guard true, seed 0 and cannot go on with guard false, seed 9");
}

#[test]
fn the_certificate_of_many_series_holds_and_counts_all_of_them() {
    let mut fleet = Fleet::new(Settings::default()).unwrap();
    let mut rows = table(600, 5, 0);
    rows.0.iter_mut().for_each(|row| row.group = None);
    fleet.run(&rows, &ask(Answer::Nothing));
    let certificate = fleet.certificate().unwrap();
    assert!(certificate.holds());
    assert_eq!(certificate.stop_loss.as_ref().unwrap().outcomes, fleet.series().map(|series| series.recalibrator().steps()).sum::<u64>());
    assert_eq!(fleet.tally().rows, 600);
    assert_eq!(fleet.tally().outcomes, certificate.stop_loss.as_ref().unwrap().outcomes);
}
