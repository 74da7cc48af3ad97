//! However rows come in batches, however often the fleet is saved and loaded in between, and whatever other series there are: the
//! answers have the same bits.

#![allow(clippy::unwrap_used)]

use std::borrow::Cow;

use proptest::prelude::*;
use truecast::forecast::Quantiles;
use truecast::recalibrate::Method;
use truecast::{
    Error as CoreError, Forecast, Gaussian, Groups, Recalibrator, SnapshotError, Stream, normal, random,
};
use truecast_fleet::{
    Answer, Ask, Booked, Error, Fleet, Given, Known, Lateness, Plain, Rows, Settings, Store, Task,
};

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
        Ok(Task { groups: group.into_iter().collect(), now, due, ..Task::plain(forecast, outcome) })
    }

    fn refuse(&self, _row: usize, error: Error) -> Error {
        error
    }
}

fn ask(answer: Answer) -> Ask {
    Ask::numbers(answer)
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
        let Some(outcome) = row.outcome else {
            // Nobody will ever bring one: the row is asked, and changes nothing.
            let asked = stream.ask(&forecast, Groups::NONE, |calibrated| {
                Ok::<_, truecast::Error>(calibrated.quantile(0.9))
            });
            assert_eq!(asked.unwrap().to_bits(), got[t], "row {t}");
            continue;
        };
        let (ticket, calibrated) = stream.issue(forecast).unwrap();
        assert_eq!(calibrated.quantile(0.9).to_bits(), got[t], "row {t}");
        open.push((ticket, outcome, t));
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

    fn plain(&self, row: usize) -> Option<Plain> {
        let Given::Distribution(forecast) = &self.0.0[row].forecast else { return None };
        let (forecast, outcome) = forecast.as_gaussian().zip(self.0.0[row].outcome)?;
        Some(Plain { forecast, outcome, now: self.0.0[row].now })
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
    assert_eq!(error, "the state was made with guard priced, seed 0 and cannot go on with guard off, seed 9");
}

#[test]
fn the_certificate_of_many_series_holds_and_counts_all_of_them() {
    let mut fleet = Fleet::new(Settings::default()).unwrap();
    let mut rows = table(600, 5, 0);
    rows.0.iter_mut().for_each(|row| row.group = None);
    fleet.run(&rows, &ask(Answer::Nothing));
    let certificate = fleet.certificate().unwrap();
    assert!(certificate.holds());
    assert_eq!(
        certificate.stop_loss.as_ref().unwrap().outcomes,
        fleet.series().map(|series| series.recalibrator().steps()).sum::<u64>()
    );
    assert_eq!(fleet.tally().rows, 600);
    assert_eq!(fleet.tally().outcomes, certificate.stop_loss.as_ref().unwrap().outcomes);
}

/// Issue and resolve forecast by forecast, with every series put into a store in between, are a batch that brings outcomes when they are known.
#[test]
fn a_batch_is_a_loop_and_a_store_holds_one_series() {
    struct Memory(std::collections::HashMap<Vec<u8>, Vec<u8>>);
    impl Store for Memory {
        type Error = Error;
        fn load(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
            Ok(self.0.get(key).cloned())
        }
        fn save(&mut self, key: &[u8], series: Vec<u8>) -> Result<(), Error> {
            self.0.insert(key.to_vec(), series);
            Ok(())
        }
    }
    for form in [0, 1] {
        let mut rows = table(200, 17, form);
        rows.0.iter_mut().for_each(|row| row.group = None);
        // A row that has none is asked and nothing more; issued, it would wait.
        rows.0.iter_mut().for_each(|row| row.outcome = row.outcome.or(Some(0.5)));
        let lateness = Lateness::Rows(2);
        let whole = values(
            &mut Fleet::new(Settings { lateness, ..Settings::default() }).unwrap(),
            &rows,
            &Answer::Quantiles(vec![0.9]),
        );
        let mut store = Memory(Default::default());
        let mut fleet = Fleet::new(Settings::default()).unwrap();
        let mut open: std::collections::HashMap<String, Vec<(usize, f64)>> = Default::default();
        let mut seen: std::collections::HashMap<String, usize> = Default::default();
        for (at, row) in rows.0.iter().enumerate() {
            let key = row.key.as_bytes();
            fleet.fetch(key, &mut store).unwrap();
            let number = seen.entry(row.key.clone()).or_default();
            let waiting = open.entry(row.key.clone()).or_default();
            // Known to the row after the next two.
            while waiting.first().is_some_and(|(of, _)| of + 3 <= *number) {
                let (of, outcome) = waiting.remove(0);
                assert_eq!(fleet.resolve(of.to_string().as_bytes(), outcome).unwrap(), 1);
            }
            let about = number.to_string();
            let issued = fleet.issue(key, about.as_bytes(), None, row.forecast.clone()).unwrap();
            assert_eq!(issued.at_probit(normal::quantile(0.9)).to_bits(), whole[at], "row {at}");
            assert_eq!(
                fleet.issue(key, about.as_bytes(), None, row.forecast.clone()).unwrap(),
                issued,
                "again"
            );
            waiting.extend(row.outcome.map(|outcome| (*number, outcome)));
            *number += 1;
            fleet.put_away(key, &mut store).unwrap();
            assert_eq!(fleet.series().count(), 0);
        }
    }
}

#[test]
fn what_waits_is_found_changed_and_forgotten() {
    let mut fleet = Fleet::new(Settings { lateness: Lateness::Times, ..Settings::default() }).unwrap();
    let forecast = |mean| Given::Distribution(Gaussian::new(mean, 1.0).unwrap().into());
    for (key, made, about) in [("a", 1.0, "x"), ("b", 1.0, "x"), ("a", 2.0, "y")] {
        fleet.issue(key.as_bytes(), about.as_bytes(), Some(made), forecast(0.0)).unwrap();
    }
    assert_eq!(fleet.issue(b"a", b"y", Some(2.0), forecast(3.0)).unwrap_err(), Error::Changed);
    assert_eq!(
        fleet.issue(b"a", b"z", Some(1.5), forecast(3.0)).unwrap_err(),
        Error::Backwards { now: 1.5, last: 2.0 }
    );
    let before = fleet.to_bytes().unwrap();
    assert!(fleet.resolve(b"x", f64::NAN).is_err());
    assert_eq!((fleet.resolve(b"nothing", 1.0).unwrap(), fleet.to_bytes().unwrap()), (0, before.clone()));
    assert_eq!(Fleet::from_bytes(&before).unwrap().to_bytes().unwrap(), before);
    assert_eq!(fleet.resolve(b"x", 2.0).unwrap(), 2);
    let known = |outcome, due| Known { about: b"x", outcome, due, last_counts: false };
    let ask = ask(Answer::Nothing);
    assert_eq!(fleet.book(b"b", &known(2.0, None), 0, &ask).unwrap().0, Booked::Same);
    assert_eq!(fleet.book(b"b", &known(2.5, None), 0, &ask).unwrap().0, Booked::Revised);
    assert_eq!(fleet.book(b"c", &known(2.5, None), 0, &ask).unwrap().0, Booked::Nothing);
    assert_eq!((fleet.expire(2.0).unwrap(), fleet.expire(2.5).unwrap()), (0, 1));
    assert_eq!(fleet.series().map(|series| series.open().count()).sum::<usize>(), 0);
}

/// Of several outcomes the first counts, or the last that was known before the next forecast was made.
#[test]
fn a_revised_outcome_counts_once() {
    let run = |last_counts: bool, outcomes: &[(f64, f64)], next: f64| {
        let mut fleet = Fleet::new(Settings { lateness: Lateness::Times, ..Settings::default() }).unwrap();
        let forecast = Given::Distribution(Gaussian::new(0.0, 1.0).unwrap().into());
        fleet.issue(b"a", b"x", Some(1.0), forecast.clone()).unwrap();
        for &(due, outcome) in outcomes {
            let known = Known { about: b"x", outcome, due: Some(due), last_counts };
            fleet.book(b"a", &known, 0, &ask(Answer::Nothing)).unwrap();
        }
        fleet.issue(b"a", b"y", Some(next), forecast).unwrap().at_probit(0.3).to_bits()
    };
    let (first, second) = (run(false, &[(2.0, 4.0)], 9.0), run(false, &[(2.0, -4.0)], 9.0));
    let both = [(2.0, 4.0), (3.0, -4.0)];
    assert_eq!((run(false, &both, 9.0), run(true, &both, 9.0)), (first, second));
    // The revision came after the outcome was used.
    assert_eq!(run(true, &both, 2.5), run(false, &both, 2.5));
}
