//! Bad input is refused by its exact error, and leaves everything as it was.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use truecast::error::{Error, SnapshotError};
use truecast::expert::ExpertKind;
use truecast::forecast::Quantiles;
use truecast::recalibrate::{AlgorithmOne, AlgorithmOneParameters, Groups, LedgerKind};
use truecast::stream::NEWEST_VERSION;
use truecast::subroutine::{Approachability, LedgerRule};
use truecast::{Forecast, Gaussian, GuardMode, Parameters, Pipeline, Recalibrator, Stream, Ticket};

type Piped = Stream<Pipeline, Gaussian>;

fn gaussian(mean: f64, std: f64) -> Gaussian {
    Gaussian::new(mean, std).unwrap()
}

/// A small stream with two forecasts pending.
fn stream() -> Piped {
    let mut stream = Stream::new(Pipeline::default());
    for k in 0..5 {
        stream.observe(gaussian(0.0, 1.0), f64::from(k) - 2.0).unwrap();
    }
    stream.issue(gaussian(1.0, 2.0)).unwrap();
    stream.issue(gaussian(2.0, 2.0)).unwrap();
    stream
}

fn bytes(stream: &Piped) -> Vec<u8> {
    stream.to_bytes().unwrap()
}

#[test]
fn non_finite_outcomes_leave_the_ticket_pending() {
    let mut stream = stream();
    let before = bytes(&stream);
    let ticket = Ticket::from_number(5);
    for value in [f64::INFINITY, f64::NEG_INFINITY] {
        let refused = Error::NotFinite { what: "outcome", value };
        assert_eq!(stream.resolve(ticket, value), Err(refused.clone()));
        assert_eq!(stream.observe(gaussian(0.0, 1.0), value), Err(refused.clone()));
        assert_eq!(stream.resolve_all(&[(ticket, value)]), Err(refused.clone()));
        assert_eq!(Pipeline::default().observe(&gaussian(0.0, 1.0), value), Err(refused));
    }
    // NaN equals nothing, so it is matched.
    let nan = stream.resolve(ticket, f64::NAN);
    assert!(matches!(nan, Err(Error::NotFinite { what: "outcome", value }) if value.is_nan()), "{nan:?}");
    assert_eq!(bytes(&stream), before);
    stream.resolve(ticket, 1.0).unwrap();
    assert_eq!(stream.pending().collect::<Vec<_>>(), [Ticket::from_number(6)]);
}

#[test]
fn forecasts_must_have_a_finite_mean_and_a_positive_spread() {
    let what = "standard deviation";
    for value in [0.0, -0.0, -1.0] {
        assert_eq!(Gaussian::new(0.0, value), Err(Error::NotPositive { what, value }));
    }
    assert_eq!(Gaussian::new(0.0, f64::INFINITY), Err(Error::NotFinite { what, value: f64::INFINITY }));
    let value = f64::NEG_INFINITY;
    assert_eq!(Gaussian::new(value, 1.0), Err(Error::NotFinite { what: "mean", value }));
    let nan = Gaussian::new(f64::NAN, 1.0);
    assert!(matches!(nan, Err(Error::NotFinite { what: "mean", value }) if value.is_nan()), "{nan:?}");
    let nan = Gaussian::new(0.0, f64::NAN);
    assert!(matches!(nan, Err(Error::NotFinite { what: "standard deviation", .. })), "{nan:?}");
}

#[test]
fn tickets_are_resolved_once_and_only_if_issued() {
    let mut stream = stream();
    let (pending, closed, unknown) = (Ticket::from_number(5), Ticket::from_number(0), Ticket::from_number(7));
    assert_eq!(stream.resolve(unknown, 0.0), Err(Error::UnknownTicket { ticket: unknown }));
    assert_eq!(stream.expire(unknown), Err(Error::UnknownTicket { ticket: unknown }));
    assert_eq!(stream.forecast(unknown).err(), Some(Error::UnknownTicket { ticket: unknown }));
    assert_eq!(stream.resolve(closed, 0.0), Err(Error::ClosedTicket { ticket: closed }));
    stream.resolve(pending, 0.0).unwrap();
    assert_eq!(stream.resolve(pending, 0.0), Err(Error::ClosedTicket { ticket: pending }));
    let expired = Ticket::from_number(6);
    stream.expire(expired).unwrap();
    assert_eq!(stream.resolve(expired, 0.0), Err(Error::ClosedTicket { ticket: expired }));
    assert_eq!(stream.expire(expired), Err(Error::ClosedTicket { ticket: expired }));
    assert_eq!(stream.recalibrator().steps(), 6);
}

#[test]
fn a_batch_with_one_bad_entry_books_nothing() {
    let mut stream = stream();
    let before = bytes(&stream);
    let (a, b, unknown) = (Ticket::from_number(5), Ticket::from_number(6), Ticket::from_number(99));
    assert_eq!(
        stream.resolve_all(&[(a, 0.0), (b, f64::INFINITY)]),
        Err(Error::NotFinite { what: "outcome", value: f64::INFINITY })
    );
    assert_eq!(
        stream.resolve_all(&[(a, 0.0), (unknown, 0.0)]),
        Err(Error::UnknownTicket { ticket: unknown })
    );
    assert_eq!(stream.resolve_all(&[(b, 0.0), (a, 0.0), (b, 1.0)]), Err(Error::ClosedTicket { ticket: b }));
    assert_eq!(bytes(&stream), before);
    assert_eq!(stream.resolve_all(&[]), Ok(vec![]));
    assert_eq!(stream.resolve_all(&[(b, 0.0), (a, 0.0)]).map(|scores| scores.len()), Ok(2));
}

/// A forecast of the user's own may be broken: its score for one outcome is NaN. That outcome is refused like any other
/// bad one, and the ticket stays pending.
#[test]
fn a_forecast_that_answers_nan_keeps_its_ticket() {
    #[derive(Debug, Clone, Copy)]
    struct Broken;
    impl Forecast for Broken {
        fn cdf(&self, y: f64) -> f64 {
            if y == 13.0 { f64::NAN } else { gaussian(0.0, 1.0).cdf(y) }
        }
        fn sf(&self, y: f64) -> f64 {
            1.0 - self.cdf(y)
        }
        fn quantile(&self, probability: f64) -> f64 {
            gaussian(0.0, 1.0).quantile(probability)
        }
        fn probit(&self, y: f64) -> f64 {
            if y == 13.0 { f64::NAN } else { y }
        }
    }
    let mut stream: Stream<Pipeline, Broken> = Stream::new(Pipeline::default());
    let (first, second) = (stream.issue(Broken).unwrap().0, stream.issue(Broken).unwrap().0);
    let is_refused = |error: Option<Error>| match error {
        Some(Error::NotFinite { what: "probit score of the outcome", value }) => value.is_nan(),
        _ => false,
    };
    assert!(is_refused(stream.resolve(first, 13.0).err()));
    assert_eq!((stream.pending().count(), stream.recalibrator().steps()), (2, 0));
    assert!(is_refused(stream.resolve_all(&[(second, 0.0), (first, 13.0)]).err()));
    assert_eq!((stream.pending().count(), stream.recalibrator().steps()), (2, 0));
    assert!(stream.resolve_all(&[(second, 0.0), (first, 1.0)]).is_ok());
}

#[test]
fn groups_must_be_known() {
    let mut stream: Piped = Stream::new(Pipeline::new(Parameters::builder().groups(3).build().unwrap()));
    let refused = Error::UnknownGroup { group: 3, count: 3 };
    let groups = Groups::of(&[1, 3]).unwrap();
    assert_eq!(stream.issue_in(gaussian(0.0, 1.0), groups).err(), Some(refused));
    assert_eq!((stream.issued(), stream.pending().count()), (0, 0));
    stream.issue_in(gaussian(0.0, 1.0), Groups::of(&[0, 2]).unwrap()).unwrap();
    assert_eq!(Groups::of(&[64]), Err(Error::UnknownGroup { group: 64, count: 64 }));
    let mut none: Stream<AlgorithmOne<LedgerRule>, Gaussian> = Stream::new(algorithm_one());
    let refused = Error::UnknownGroup { group: 0, count: 0 };
    assert_eq!(none.issue_in(gaussian(0.0, 1.0), Groups::of(&[0]).unwrap()).err(), Some(refused));
}

fn algorithm_one<S: truecast::subroutine::Subroutine>() -> AlgorithmOne<S> {
    AlgorithmOne::new(AlgorithmOneParameters::paper(10).unwrap(), Default::default()).unwrap()
}

#[test]
fn widths_must_be_of_a_size_that_can_be_squared() {
    let mut stream = stream();
    let before = bytes(&stream);
    // The first level is the first of the widest: 1.33 standard deviations.
    let width = 1e200 * Parameters::default().levels().gaps()[0];
    assert_eq!(stream.issue(gaussian(0.0, 1e200)).err(), Some(Error::WidthOutOfRange { level: 0, width }));
    assert_eq!(bytes(&stream), before);
    stream.issue(gaussian(0.0, 1e100)).unwrap();
}

/// A plan that was never filled has nothing to book, and one that was never announced waits for nothing: the account once counted below 0.
#[test]
fn plans_are_filled_and_announced_before_they_are_resolved() {
    let mut recalibrator = Pipeline::default();
    let forecast = gaussian(0.0, 1.0);
    let empty = recalibrator.empty_plan();
    assert_eq!(recalibrator.learn(&empty, 0.3), Err(Error::ForeignPlan { expected: 125, found: 0 }));
    let mut plan = recalibrator.empty_plan();
    recalibrator.plan(&forecast, Groups::NONE, 0, &mut plan).unwrap();
    assert_eq!(recalibrator.resolve(&plan, &forecast, 0.3), Err(Error::NotAnnounced));
    assert_eq!(recalibrator, Pipeline::default());
    recalibrator.announced(&plan);
    recalibrator.resolve(&plan, &forecast, 0.3).unwrap();
    assert_eq!(recalibrator.resolve(&plan, &forecast, 0.3), Err(Error::NotAnnounced));
    recalibrator.expire(&plan);
    assert_eq!((recalibrator.steps(), recalibrator.waits()), (1, Some(0)));
}

/// What is beyond the bounds is refused, and a batch with it books nothing.
#[test]
fn outcomes_beyond_the_bounds_are_refused() {
    let parameters = Parameters::builder().bounds(0.0, f64::INFINITY).build().unwrap();
    let mut stream: Piped = Stream::new(Pipeline::new(parameters));
    for y in [3.0, 0.0, 1.0] {
        stream.observe(gaussian(1.0, 1.0), y).unwrap();
    }
    let (a, b) = (stream.issue(gaussian(1.0, 1.0)).unwrap().0, stream.issue(gaussian(2.0, 1.0)).unwrap().0);
    let before = bytes(&stream);
    let rule = "within the bounds that were given for it";
    let refused = Error::OutOfRange { what: "outcome", rule, value: -0.5 };
    assert_eq!(stream.resolve(a, -0.5), Err(refused.clone()));
    assert_eq!(stream.resolve_all(&[(a, 1.0), (b, -0.5)]), Err(refused));
    assert_eq!(bytes(&stream), before);
    for (low, high) in [(1.0, 1.0), (2.0, 1.0)] {
        let built = Parameters::builder().bounds(low, high).build();
        let what = "bounds of the outcome";
        assert_eq!(built, Err(Error::NotIncreasing { what, index: 1, previous: low, value: high }));
    }
    for share in [0.0, -0.1] {
        let built = Parameters::builder().stop_loss(Some(share)).build();
        assert_eq!(built, Err(Error::NotPositive { what: "stop-loss", value: share }));
    }
}

#[test]
fn thresholds_must_be_finite() {
    for value in [f64::NAN, f64::INFINITY] {
        let built = Parameters::builder().threshold(value).build();
        assert!(matches!(built, Err(Error::NotFinite { what: "threshold", .. })), "{built:?}");
        let built = Parameters::builder().ledgers(&[LedgerKind::Threshold(value)]).build();
        assert!(matches!(built, Err(Error::NotFinite { what: "threshold", .. })), "{built:?}");
    }
}

fn refusal(bytes: &[u8]) -> SnapshotError {
    match Piped::from_bytes(bytes) {
        Err(Error::Snapshot(error)) => error,
        other => panic!("{} bytes gave {other:?}", bytes.len()),
    }
}

const HEADER: usize = 22;

#[test]
fn damaged_snapshots_are_refused() {
    let good = bytes(&stream());
    assert_eq!(refusal(&[]), SnapshotError::BadMagic);
    assert_eq!(refusal(b"TRUECOST and more than a header's worth of bytes"), SnapshotError::BadMagic);
    let with_version = |version: u16| [&good[..8], &version.to_le_bytes(), &good[10..]].concat();
    for found in [0, NEWEST_VERSION + 1, u16::MAX] {
        let newest = NEWEST_VERSION;
        assert_eq!(refusal(&with_version(found)), SnapshotError::UnsupportedVersion { found, newest });
    }
    let longer = [&good[..], &[0]].concat();
    assert_eq!(refusal(&longer), SnapshotError::WrongLength { expected: good.len(), found: good.len() + 1 });
    for length in 1..good.len() {
        let expected = if length < HEADER { HEADER } else { good.len() };
        assert_eq!(refusal(&good[..length]), SnapshotError::WrongLength { expected, found: length });
    }
}

/// The checksum finds every flipped bit of the payload, and the header's own checks all of its bytes.
#[test]
fn every_flipped_byte_is_found() {
    let good = bytes(&stream());
    for at in 0..good.len() {
        for mask in [0x01, 0x80, 0xff] {
            let mut flipped = good.clone();
            flipped[at] ^= mask;
            let error = refusal(&flipped);
            let right = match (at, &error) {
                (0..8, SnapshotError::BadMagic) => true,
                (8..10, SnapshotError::UnsupportedVersion { .. }) => true,
                (10..18, SnapshotError::WrongLength { .. }) => true,
                (_, SnapshotError::WrongChecksum { .. }) => at >= 18,
                _ => false,
            };
            assert!(right, "byte {at} xor {mask:#x}: {error}");
        }
    }
}

/// A payload with a header that fits it: what a bug or an attacker, not a bad disk, would write.
fn sealed(payload: &[u8]) -> Vec<u8> {
    let mut bytes = b"TRUECAST".to_vec();
    bytes.extend(NEWEST_VERSION.to_le_bytes());
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend(crc32fast::hash(payload).to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// Every byte of the payload changed, under a checksum that fits: refused, or a stream that works. Never a panic, and
/// never a state that announces anything but probabilities.
#[test]
fn no_payload_makes_a_stream_that_panics() {
    let good = bytes(&stream());
    let payload = &good[HEADER..];
    for at in 0..payload.len() {
        for mask in [0x01, 0x10, 0x40, 0x80, 0xff] {
            let mut tampered = payload.to_vec();
            tampered[at] ^= mask;
            let Ok(mut stream) = Piped::from_bytes(&sealed(&tampered)) else { continue };
            let pending: Vec<Ticket> = stream.pending().collect();
            for ticket in pending {
                stream.resolve(ticket, 0.5).unwrap();
            }
            let Ok((_, calibrated)) = stream.issue(gaussian(0.0, 1.0)) else { continue };
            for coverage in [0.01, 0.8, 0.999] {
                let (low, high) = calibrated.interval(coverage).unwrap();
                assert!(low <= high, "byte {at} xor {mask:#x}: {low} to {high}");
            }
        }
    }
    for length in 0..payload.len() {
        assert!(matches!(refusal(&sealed(&payload[..length])), SnapshotError::Malformed { .. }));
    }
    let longer = [payload, &[0]].concat();
    let behind = SnapshotError::Malformed { reason: "1 bytes behind the end".to_string() };
    assert_eq!(refusal(&sealed(&longer)), behind);
}

/// The same for tables of quantiles, whose announced values wait with them, behind a strict guard and with bounds.
#[test]
fn no_payload_with_tables_panics() {
    type Tables = Stream<Pipeline, Quantiles>;
    let table = |shift: f64| {
        Quantiles::new(&[0.1, 0.4, 0.6, 0.9], &[shift - 1.0, shift, shift, shift + 2.0]).unwrap()
    };
    let parameters =
        Parameters::builder().experts(&[ExpertKind::Spread]).guard(GuardMode::Strict).bounds(-9.0, 9.0);
    let mut stream: Tables = Stream::new(Pipeline::new(parameters.build().unwrap()));
    for y in [0.3, -2.0, 1.0, 4.0, 0.0] {
        stream.observe(table(0.0), y).unwrap();
    }
    stream.issue(table(1.0)).unwrap();
    stream.issue(table(-1.0)).unwrap();
    let good = stream.to_bytes().unwrap();
    let payload = &good[HEADER..];
    for at in 0..payload.len() {
        for mask in [0x01, 0x10, 0x40, 0x80, 0xff] {
            let mut tampered = payload.to_vec();
            tampered[at] ^= mask;
            let Ok(mut stream) = Tables::from_bytes(&sealed(&tampered)) else { continue };
            let pending: Vec<Ticket> = stream.pending().collect();
            for ticket in pending {
                // Scores of values that were tampered with may be refused.
                let _ = stream.resolve(ticket, 0.5);
            }
            let Ok((_, calibrated)) = stream.issue(table(0.0)) else { continue };
            let (low, high) = calibrated.interval(0.8).unwrap();
            assert!(low <= high, "byte {at} xor {mask:#x}: {low} to {high}");
        }
    }
}

#[test]
fn a_snapshot_of_another_kind_is_refused() {
    let ledger_rule: Stream<AlgorithmOne<LedgerRule>, Gaussian> = Stream::new(algorithm_one());
    let bytes = ledger_rule.to_bytes().unwrap();
    let reason = |holds: &str, wanted: &str| SnapshotError::Malformed {
        reason: format!("it holds the recalibrator {holds}, not {wanted}"),
    };
    assert_eq!(refusal(&bytes), reason("algorithm-one/ledger", "pipeline/mixture"));
    let other = Stream::<AlgorithmOne<Approachability>, Gaussian>::from_bytes(&bytes).err();
    assert_eq!(other, Some(reason("algorithm-one/ledger", "algorithm-one/approachability").into()));
}

/// The same fields as a snapshot's, to be changed one by one.
#[derive(serde::Serialize)]
struct Tampered<'a> {
    name: &'static str,
    recalibrator: &'a Pipeline,
    issued: u64,
    pending: Vec<(Ticket, Gaussian, truecast::recalibrate::Plan)>,
}

#[test]
fn pending_tickets_must_fit_the_stream() {
    let stream = stream();
    let recalibrator = stream.recalibrator();
    let forecast = gaussian(0.0, 1.0);
    let mut plan = recalibrator.empty_plan();
    recalibrator.plan(&forecast, Groups::NONE, 5, &mut plan).unwrap();
    let load = |issued: u64, tickets: &[u64], plan: &truecast::recalibrate::Plan| {
        let pending =
            tickets.iter().map(|number| (Ticket::from_number(*number), forecast, plan.clone())).collect();
        let saved = Tampered { name: "pipeline/mixture", recalibrator, issued, pending };
        Piped::from_bytes(&sealed(&postcard::to_allocvec(&saved).unwrap()))
            .map(|stream| stream.pending().count())
    };
    assert_eq!(load(7, &[5, 6], &plan), Ok(2));
    let rule = "increasing, issued before, and as many as are open at most";
    let refused: Error = SnapshotError::Invalid { field: "pending tickets", rule }.into();
    assert_eq!(load(7, &[6, 5], &plan), Err(refused.clone()), "out of order");
    assert_eq!(load(7, &[5, 5], &plan), Err(refused.clone()), "twice");
    assert_eq!(load(7, &[5, 7], &plan), Err(refused.clone()), "not issued");
    assert_eq!(load(4, &[], &plan), Err(refused), "fewer issued than settled");
    let rule = "as many as the stop-loss has reserved for";
    let refused: Error = SnapshotError::Invalid { field: "pending tickets", rule }.into();
    assert_eq!(load(7, &[5], &plan), Err(refused));
    let rule = "of the recalibrator's shape";
    let refused: Error = SnapshotError::Invalid { field: "pending plan", rule }.into();
    assert_eq!(load(7, &[5, 6], &recalibrator.empty_plan()), Err(refused));
}

/// A plan names intervals of its own play grid: settled on a coarser grid it would book beyond the end.
#[test]
fn plans_of_another_play_grid_are_refused() {
    let with_plays = |intervals| {
        let plays = truecast::grid::Plays::uniform(intervals).unwrap();
        Pipeline::new(Parameters::builder().plays(plays).build().unwrap())
    };
    let (mut fine, mut coarse) = (with_plays(40), with_plays(10));
    for y in [3.0, 3.0, 2.0, -1.0] {
        fine.observe(&gaussian(0.0, 1.0), y).unwrap();
    }
    let mut plan = fine.empty_plan();
    fine.plan(&gaussian(0.0, 1.0), Groups::NONE, 0, &mut plan).unwrap();
    assert_eq!(coarse.learn(&plan, 0.3), Err(Error::ForeignPlan { expected: 125, found: 125 }));
    assert_eq!(coarse.steps(), 0);
}

/// A plan of other experts, or without the widths that are needed, would be read as something it is not.
#[test]
fn plans_of_other_parts_are_refused() {
    let others = [
        Parameters::ledger(),
        Parameters::builder().experts(&[ExpertKind::Mean]),
        Parameters::builder().threshold(0.0),
        Parameters::paper(25).unwrap(),
    ];
    for other in others {
        let other = Pipeline::new(other.build().unwrap());
        let forecast = gaussian(0.0, 1.0);
        let mut ours = Pipeline::default();
        let mut plan = other.empty_plan();
        other.plan(&forecast, Groups::NONE, 0, &mut plan).unwrap();
        let refused = ours.learn(&plan, 0.3);
        assert!(matches!(refused, Err(Error::ForeignPlan { expected: 125, .. })), "{refused:?}");
        assert_eq!(ours, Pipeline::default());
    }
}
