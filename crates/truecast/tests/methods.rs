//! Every method by its name, in the one type that holds any of them: the laws, and snapshots that tell them apart.

use truecast::recalibrate::{AnyRecalibrator, Family, Method};
use truecast::{Error, Gaussian, Recalibrator, SnapshotError, Stream};
use truecast_testkit::laws::recalibrator::{Start, recalibrator_laws};

/// Randomised methods begin with a rounding of the base.
fn start(method: Method) -> Start {
    match method {
        Method::Approachability | Method::InternalRegret => Start::Rounded,
        _ => Start::Base,
    }
}

#[test]
fn every_method_obeys_the_laws() {
    for method in Method::ALL {
        recalibrator_laws(method.name(), start(method), || method.build(3).unwrap(), |_| {});
    }
}

#[test]
fn a_recalibrator_knows_its_method() {
    for method in Method::ALL {
        assert_eq!(method.build(1).unwrap().method(), method);
        // The paper knows no experts: its setting of our own method is the ledger.
        let paper = if method == Method::Experts { Method::Ledger } else { method };
        assert_eq!(method.build_paper(10, 1).unwrap().method(), paper);
    }
    let count = |family| Method::ALL.into_iter().filter(|method| method.family() == family).count();
    assert_eq!([Family::Ours, Family::Paper, Family::Baseline, Family::Comparator].map(count), [2, 3, 3, 5]);
}

/// A snapshot of any method loads as any method and goes on; a snapshot of the pipeline alone is another kind of file.
#[test]
fn snapshots_carry_their_method() {
    for method in Method::ALL {
        let mut stream: Stream<AnyRecalibrator, Gaussian> = Stream::new(method.build(1).unwrap());
        for t in 0..40 {
            stream.observe(Gaussian::new(0.0, 1.0).unwrap(), f64::from(t % 5) - 2.0).unwrap();
        }
        let loaded = Stream::<AnyRecalibrator, Gaussian>::from_bytes(&stream.to_bytes().unwrap()).unwrap();
        assert_eq!(loaded.recalibrator(), stream.recalibrator(), "{method}");
        assert_eq!(loaded.recalibrator().method(), method);
        assert_eq!(loaded.recalibrator().steps(), 40);
    }
    let alone: Stream<_, Gaussian> = Stream::new(truecast::Pipeline::default());
    let refused = Stream::<AnyRecalibrator, Gaussian>::from_bytes(&alone.to_bytes().unwrap());
    assert!(matches!(refused, Err(Error::Snapshot(SnapshotError::Malformed { .. }))), "{refused:?}");
}

/// The stop-loss answers for every method, the ledgers and the guard for our own; in the paper's setting only the ledgers do.
#[test]
fn a_certificate_has_what_is_promised() {
    for method in Method::ALL {
        let ours = method.family() == Family::Ours;
        let certificate = method.build(3).unwrap().certificate();
        assert!(certificate.stop_loss.is_some(), "{method}");
        assert_eq!((certificate.guard.is_some(), certificate.ledgers.is_some()), (ours, ours), "{method}");
        let paper = method.build_paper(10, 3).unwrap().certificate();
        assert_eq!((paper.stop_loss, paper.guard, paper.ledgers.is_some()), (None, None, ours), "{method}");
    }
}
