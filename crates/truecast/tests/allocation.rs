//! A step allocates nothing, and a stream is small: counted by the allocator itself.
//!
//! Counters are per thread, so tests that run beside each other are not counted together.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]
// An allocator cannot be written without it; this one only counts and passes on.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use truecast::forecast::{Quantiles, Samples};
use truecast::monitor::{Scoreboard, Sharpness};
use truecast::recalibrate::{AlgorithmOne, AlgorithmOneParameters, Groups};
use truecast::subroutine::Approachability;
use truecast::{Forecast, GuardMode, Parameters, Pipeline, Recalibrated, Recalibrator, Stream};
use truecast_streams::{Scenario, Step};

struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

fn count(bytes: i64) {
    // The thread may be ending; what it allocates then belongs to no test.
    let _ = CALLS.try_with(|calls| calls.set(calls.get() + u64::from(bytes > 0)));
    let _ = BYTES.try_with(|held| held.set(held.get() + bytes));
}

// SAFETY: every call goes to the system's allocator with the arguments it came with.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations and bytes still held, of this thread.
fn counted<T>(work: impl FnOnce() -> T) -> (T, u64, i64) {
    let (calls, bytes) = (CALLS.get(), BYTES.get());
    let result = work();
    (result, CALLS.get() - calls, BYTES.get() - bytes)
}

/// Issue, read an interval, resolve.
fn advance<R: Recalibrator>(
    stream: &mut Stream<R, truecast::Gaussian>,
    steps: &[Step],
    groups: Groups,
) -> f64 {
    let mut width = 0.0;
    for step in steps {
        let (ticket, calibrated) = stream.issue_in(step.forecast(), groups).unwrap();
        let (low, high) = calibrated.interval(0.8).unwrap();
        width += high - low;
        stream.resolve(ticket, step.outcome).unwrap();
    }
    width
}

fn allocates_nothing<R: Recalibrator>(name: &str, recalibrator: R, groups: Groups) {
    let mut stream = Stream::new(recalibrator);
    // Regimes and widths that vary make plays move, cross and be pooled; counts tie.
    for scenario in [Scenario::Regimes, Scenario::Heteroscedastic, Scenario::Counts] {
        let steps = scenario.stream(10_100, 5);
        advance(&mut stream, &steps[..100], groups);
        let (width, calls, bytes) = counted(|| advance(&mut stream, &steps[100..], groups));
        assert!(width.is_finite());
        assert_eq!((calls, bytes), (0, 0), "{name} on {}: allocations, bytes held", scenario.name());
    }
}

#[test]
fn steps_allocate_nothing() {
    allocates_nothing("defaults", Pipeline::default(), Groups::NONE);
    let paper = Parameters::paper(20).unwrap().randomised(false).build().unwrap();
    allocates_nothing("paper, expected plays", Pipeline::new(paper), Groups::NONE);
    let groups =
        Parameters::builder().groups(4).threshold(0.0).half_life(100.0).randomised(true).build().unwrap();
    allocates_nothing("groups", Pipeline::new(groups), Groups::of(&[0, 3]).unwrap());
    let strict = Parameters::builder().guard(GuardMode::Strict).build().unwrap();
    allocates_nothing("strict guard", Pipeline::new(strict), Groups::NONE);
    allocates_nothing("ledgers alone", Pipeline::new(Parameters::ledger().build().unwrap()), Groups::NONE);
    let approachability =
        AlgorithmOne::<Approachability>::new(AlgorithmOneParameters::paper(20).unwrap(), Default::default());
    allocates_nothing("approachability", approachability.unwrap(), Groups::NONE);
}

/// All that one more stream with the same parameters holds after 1,000 steps. A recalibrator: balances (2 ledgers × 25 levels × 17 plays × 8 bytes = 6.8
/// KB) with their 50 books of three sums and a vector each (2.4 KB), and the experts' 1.5 KB; 12 KB. Room for one pending forecast: what five experts said,
/// and five curves of at most 80 knots; 12 KB. No more after 10,000. Compactly, as it is saved with its settings, it is 4.2 KB here.
#[test]
fn a_stream_is_small() {
    let steps = Scenario::Regimes.stream(10_000, 5);
    // What is made once for all streams is not one stream's.
    let parameters = Parameters::default();
    advance(&mut Stream::new(Pipeline::new(parameters.clone())), &steps[..10], Groups::NONE);
    let (mut stream, _, bytes) = counted(|| {
        let mut stream = Box::new(Stream::new(Pipeline::new(parameters)));
        advance(&mut stream, &steps[..1000], Groups::NONE);
        stream
    });
    assert!(bytes <= 24 * 1024, "a stream holds {bytes} bytes");
    let (_copy, _, alone) = counted(|| Box::new(stream.recalibrator().clone()));
    assert!(alone <= 12 * 1024, "a recalibrator holds {alone} bytes");
    let saved = stream.to_bytes().unwrap().len();
    assert!(saved <= 4300, "saved, a stream has {saved} bytes");
    let (_, _, grown) = counted(|| advance(&mut stream, &steps[1000..], Groups::NONE));
    assert_eq!(grown, 0, "a stream has grown");
}

/// What a row of a report costs: scores, moments and widths of the calibrated forecast, over every kind of base with a closed form and under
/// the paper's step map. The monitors keep their room.
#[test]
fn a_row_of_a_report_allocates_nothing() {
    let probabilities: Vec<f64> = (1..=23).map(|k| f64::from(k) / 24.0).collect();
    let steps = Scenario::Regimes.stream(600, 5);
    let paper = Parameters::paper(20).unwrap().build().unwrap();
    for parameters in [Parameters::default(), paper] {
        let mut stream = Stream::new(Pipeline::new(parameters));
        let mut sharpness = Sharpness::default();
        let mut board = Scoreboard::default();
        for (t, step) in steps.iter().enumerate() {
            let values: Vec<f64> = probabilities.iter().map(|&p| step.forecast().quantile(p)).collect();
            let table = Quantiles::new(&probabilities, &values).unwrap();
            let ensemble = Samples::new(&values).unwrap();
            let (ticket, calibrated) = stream.issue(step.forecast()).unwrap();
            let gaussian = step.forecast();
            let bases: [&dyn Forecast; 3] = [&gaussian, &table, &ensemble];
            let (_, calls, bytes) = counted(|| {
                for base in bases {
                    let calibrated = Recalibrated::new(base, calibrated.map());
                    sharpness.observe(&calibrated).unwrap();
                    assert!(calibrated.moments().variance > 0.0);
                    assert!(calibrated.crps(step.outcome) >= 0.0);
                    board.observe(base, &calibrated, step.outcome, 0.5).unwrap();
                }
            });
            // What is made once for all is made by the first rows.
            assert!(t < 10 || (calls, bytes) == (0, 0), "{t}: {calls} allocations, {bytes} bytes held");
            stream.resolve(ticket, step.outcome).unwrap();
        }
    }
}
