//! Outcomes that come late, or never.

use std::fmt::Write as _;

use truecast::{AnyForecast, Pipeline, Stream, Ticket};
use truecast_streams::Scenario;

use crate::harness::Folder;
use crate::reference::{calibrated, csv, gaussian, mean_std, rows, steps};

#[test]
fn a_delay_is_that_of_tickets() {
    let steps = steps(Scenario::FourTimesTooNarrow, 400, 5);
    let folder = Folder::with("in.csv", csv(&steps));
    for delay in [0, 1, 3, 50, 399, 1000] {
        let ran = folder.run(&["calibrate", "in.csv", "--delay", &delay.to_string()]).ok();
        let expected = calibrated(rows(&steps), delay, mean_std);
        assert_eq!(ran.table().rows_of(&["mean", "std"]), expected, "delay {delay}");
    }
}

#[test]
fn times_say_when_an_outcome_is_known() {
    let steps = steps(Scenario::FourTimesTooNarrow, 300, 6);
    // Row t is made at 10 t; its outcome is known between 10 t and 10 t + 63, so out of order too.
    let due = |t: usize| 10 * t + t * 37 % 64;
    let mut stream: Stream<Pipeline, AnyForecast> = Stream::new(Pipeline::default());
    let (mut expected, mut waiting): (_, Vec<(usize, usize, Ticket)>) = (Vec::new(), Vec::new());
    for (t, step) in steps.iter().enumerate() {
        waiting.sort_unstable_by_key(|&(due, t, _)| (due, t));
        while waiting.first().is_some_and(|&(due, ..)| due <= 10 * t) {
            let (_, of, ticket) = waiting.remove(0);
            stream.resolve(ticket, steps[of].outcome).unwrap();
        }
        let (ticket, calibrated) = stream.issue(gaussian(step.mean(), step.std())).unwrap();
        expected.push(mean_std(&calibrated));
        waiting.push((due(t), t, ticket));
    }
    let mut numbers = "made,known,y,mean,std\n".to_owned();
    let mut dates = String::new();
    for (t, step) in steps.iter().enumerate() {
        let rest = format!("{},{},{}", step.outcome, step.mean(), step.std());
        writeln!(numbers, "{},{},{rest}", 10 * t, due(t)).unwrap();
        let instant = |minutes: usize| {
            format!("2026-01-{:02}T{:02}:{:02}", 1 + minutes / 1440, minutes / 60 % 24, minutes % 60)
        };
        let (made, known) = (instant(10 * t), instant(due(t)));
        let (y, mean, std) = (step.outcome, step.mean(), step.std());
        writeln!(
            dates,
            "{{\"ds\":\"{made}\",\"outcome_time\":\"{known}Z\",\"y\":{y},\"mean\":{mean},\"std\":{std}}}"
        )
        .unwrap();
    }
    let folder = Folder::with("numbers.csv", numbers);
    let ran = folder.run(&["calibrate", "numbers.csv", "--time", "made", "--outcome-time", "known"]).ok();
    assert_eq!(ran.table().rows_of(&["mean", "std"]), expected);
    folder.write("dates.ndjson", dates);
    let ran = folder.run(&["calibrate", "dates.ndjson", "--output-format", "csv"]).ok();
    assert_eq!(ran.table().rows_of(&["mean", "std"]), expected, "{ran}");
}

#[test]
fn rows_without_an_outcome_change_nothing() {
    let steps = steps(Scenario::Regimes, 300, 7);
    let folder = Folder::new();
    let (mut with, mut without) = ("t,y,mean,std\n".to_owned(), "t,y,mean,std\n".to_owned());
    for (t, step) in steps.iter().enumerate() {
        let line = format!("{t},{},{},{}\n", step.outcome, step.mean(), step.std());
        with.push_str(&line);
        without.push_str(&line);
        if t % 3 == 0 {
            with.push_str("-1,,1000,0.001\n-1,NA,-5,80\n");
        }
    }
    folder.write("with.csv", with);
    folder.write("without.csv", without);
    for flags in [&[][..], &["--method", "dtaci"], &["--half-life", "40"]] {
        let run = |name: &str| folder.run(&[&["calibrate", name], flags].concat()).ok().table();
        let mut table = run("with.csv");
        table.rows.retain(|row| row[0] != "-1");
        assert_eq!(table, run("without.csv"), "{flags:?}");
    }
}
