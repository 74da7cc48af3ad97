//! The laws of a recalibrator.
//!
//! Forecasts are normal and of widely different scales; outcomes are a seeded mixture of calm ones, ties and far ones.

use truecast::error::Error;
use truecast::grid::Levels;
use truecast::recalibrate::{Groups, Map, MapShape, Mixture, Parameters, Plan};
use truecast::stream::Snapshot;
use truecast::{Forecast, Gaussian, Recalibrated, Recalibrator, Stream, Ticket, normal};

use truecast_streams::Draws;

/// What is announced before any outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// The base forecast itself (for a step function: up to one cell).
    Base,
    /// The base forecast with its probabilities rounded to plays by a coin.
    Rounded,
}

/// All laws. `books` is told the recalibrator after each outcome, and checks what only this kind knows of itself.
pub fn recalibrator_laws<R: Snapshot + PartialEq>(
    name: &str,
    start: Start,
    make: impl Fn() -> R,
    books: impl Fn(&R),
) {
    let law = Law { name, make, books };
    law.begins_with_the_base(start);
    law.planning_is_pure();
    law.observing_is_issuing_and_resolving();
    law.batch_is_loop();
    law.is_a_distribution_at_every_step();
    law.resumes_anywhere();
    law.late_outcomes_are_booked();
    law.foreign_plans_are_refused();
    law.scores_may_be_infinite_but_not_nan();
    law.crps_is_its_integral();
}

/// A seeded stream of forecasts and outcomes.
fn steps(count: usize) -> Vec<(Gaussian, f64)> {
    let mut draws = Draws::new(17);
    (0..count)
        .map(|t| {
            let scale = [1.0, 0.01, 300.0][t % 3] * (1.0 + draws.uniform());
            let forecast = Gaussian::new(scale * draws.normal(), scale).expect("is finite");
            let z = match t % 7 {
                0 => 0.0,
                1 => 12.0 * draws.normal(),
                _ => 1.7 * draws.normal() + 0.4,
            };
            (forecast, forecast.at_probit(z))
        })
        .collect()
}

struct Law<'a, M, B> {
    name: &'a str,
    make: M,
    books: B,
}

impl<R: Snapshot + PartialEq, M: Fn() -> R, B: Fn(&R)> Law<'_, M, B> {
    fn plan(&self, recalibrator: &R, forecast: &dyn Forecast, step: u64) -> Plan {
        let mut plan = recalibrator.empty_plan();
        if let Err(error) = recalibrator.plan(forecast, Groups::NONE, step, &mut plan) {
            panic!("{}: {error}", self.name);
        }
        plan
    }

    fn after(&self, count: usize) -> R {
        let mut recalibrator = (self.make)();
        for (forecast, outcome) in steps(count) {
            recalibrator.observe(&forecast, outcome).expect("the outcome is finite");
            (self.books)(&recalibrator);
        }
        recalibrator
    }

    /// To 1e-6 probit units within ±5 (levels are probabilities: near 1 they carry 1e-16/φ(5), and clipping starts at ±7), or,
    /// for a step function, to the cell's upper edge.
    fn begins_with_the_base(&self, start: Start) {
        let forecast = Gaussian::new(3.0, 2.0).expect("is valid");
        let calibrated = (self.make)().recalibrate(forecast).expect("is valid");
        if start == Start::Rounded {
            return self.is_a_distribution(&calibrated);
        }
        let is_step = calibrated.map().shape() == MapShape::Step;
        for k in -500..=500 {
            let z = f64::from(k) / 100.0 + 1e-7; // off the levels
            let got = calibrated.probit(forecast.at_probit(z));
            if is_step {
                // Up to one cell above, and nothing below the middle of the first.
                let above = normal::cdf(got) - normal::cdf(z);
                assert!((-0.06..=0.06).contains(&above), "{}: began with {got} at {z}", self.name);
            } else {
                assert!((got - z).abs() <= 1e-6, "{}: began with {got} at {z}", self.name);
            }
        }
    }

    /// Asking twice gives the same answer, plans can be filled again, and nothing is learned by asking.
    fn planning_is_pure(&self) {
        let mut recalibrator = (self.make)();
        let mut reused = recalibrator.empty_plan();
        for (t, (forecast, outcome)) in steps(80).into_iter().enumerate() {
            let before = recalibrator.clone();
            let first = recalibrator.recalibrate(forecast).expect("is valid");
            let other = Gaussian::new(-50.0, 1e4).expect("is valid");
            recalibrator.recalibrate(other).expect("is valid");
            recalibrator.plan(&forecast, Groups::NONE, t as u64, &mut reused).expect("is valid");
            let again = recalibrator.recalibrate(forecast).expect("is valid");
            assert_eq!(
                announced(first.map()),
                announced(again.map()),
                "{}: asking changed the answer",
                self.name
            );
            assert_eq!(
                announced(first.map()),
                announced(reused.map()),
                "{}: a reused plan differs",
                self.name
            );
            assert!(recalibrator == before, "{}: asking changed the recalibrator", self.name);
            recalibrator.observe(&forecast, outcome).expect("is finite");
            assert_eq!(recalibrator.steps(), t as u64 + 1, "{}: outcomes are not counted", self.name);
        }
    }

    fn observing_is_issuing_and_resolving(&self) {
        let mut observed = (self.make)();
        let mut streamed: Stream<R, Gaussian> = Stream::new((self.make)());
        let mut at_once: Stream<R, Gaussian> = Stream::new((self.make)());
        for (forecast, outcome) in steps(80) {
            let calibrated = observed.recalibrate(forecast).expect("is valid");
            let scores = observed.observe(&forecast, outcome).expect("is finite");
            let (ticket, issued) = streamed.issue(forecast).expect("is valid");
            assert_eq!(announced(calibrated.map()), announced(issued.map()), "{}: issue differs", self.name);
            assert_eq!(scores.calibrated.to_bits(), calibrated.probit(outcome).to_bits(), "{}", self.name);
            assert_eq!(scores, streamed.resolve(ticket, outcome).expect("is finite"), "{}", self.name);
            assert_eq!(scores, at_once.observe(forecast, outcome).expect("is finite"), "{}", self.name);
        }
        let bytes = streamed.to_bytes().expect("can be saved");
        assert_eq!(bytes, at_once.to_bytes().expect("can be saved"), "{}: observe differs", self.name);
        assert!(streamed.recalibrator() == &observed, "{}: the stream's recalibrator differs", self.name);
    }

    fn batch_is_loop(&self) {
        let mut batch: Stream<R, Gaussian> = Stream::new((self.make)());
        let mut one_by_one = batch.clone();
        for chunk in steps(90).chunks(9) {
            let issue = |stream: &mut Stream<R, Gaussian>| {
                let issued = chunk.iter().map(|(f, y)| (stream.issue(*f).expect("is valid").0, *y));
                let mut outcomes: Vec<(Ticket, f64)> = issued.collect();
                outcomes.swap(2, 7);
                outcomes
            };
            let (outcomes, same) = (issue(&mut batch), issue(&mut one_by_one));
            let together = batch.resolve_all(&outcomes).expect("all are finite");
            let alone = same.iter().map(|(ticket, y)| one_by_one.resolve(*ticket, *y).expect("is finite"));
            assert_eq!(together, alone.collect::<Vec<_>>(), "{}: batch scores differ", self.name);
            (self.books)(batch.recalibrator());
        }
        let (together, alone) =
            (batch.to_bytes().expect("can be saved"), one_by_one.to_bytes().expect("can be saved"));
        assert_eq!(together, alone, "{}: batch and loop differ", self.name);
    }

    fn is_a_distribution_at_every_step(&self) {
        let mut recalibrator = (self.make)();
        for (t, (forecast, outcome)) in steps(200).into_iter().enumerate() {
            if t % 8 == 0 || t > 190 {
                self.is_a_distribution(&recalibrator.recalibrate(forecast).expect("is valid"));
            }
            recalibrator.observe(&forecast, outcome).expect("is finite");
            (self.books)(&recalibrator);
        }
    }

    /// Non-decreasing from 0 to 1, cdf + sf = 1, quantiles its inverse, intervals nested. The outermost points are a million
    /// standard deviations out, because the slope of a tail may be 0.02 and the guard may move it by 80.
    fn is_a_distribution(&self, calibrated: &Recalibrated<Gaussian>) {
        let (name, base) = (self.name, calibrated.base());
        let mut points: Vec<f64> = (-300..=300).map(|k| 0.05 * f64::from(k)).collect();
        points.extend((1..=6).flat_map(|e| [-(10_f64.powi(e)), 10_f64.powi(e)]));
        points.sort_by(f64::total_cmp);
        let mut before = 0.0;
        for y in points.iter().map(|z| base.at_probit(*z)) {
            let (cdf, sf) = (calibrated.cdf(y), calibrated.sf(y));
            assert!(
                (0.0..=1.0).contains(&cdf) && (0.0..=1.0).contains(&sf),
                "{name}: cdf {cdf}, sf {sf} at {y}"
            );
            assert!((cdf + sf - 1.0).abs() <= 1e-14, "{name}: cdf {cdf} + sf {sf} at {y} is not 1");
            // Straight lines between equal ends may round down.
            assert!(cdf >= before - 1e-15, "{name}: the cdf falls from {before} to {cdf} at {y}");
            let left = calibrated.probit_left(y);
            assert!(left <= calibrated.probit(y) + 1e-12, "{name}: a negative atom at {y}");
            before = cdf;
        }
        let ends = (base.at_probit(-1e6), base.at_probit(1e6));
        let ends = (calibrated.cdf(ends.0), calibrated.sf(ends.1));
        assert_eq!(ends, (0.0, 0.0), "{name}: does not reach 0 and 1");
        for k in 1..200 {
            let p = f64::from(k) / 200.0;
            let y = calibrated.quantile(p);
            // A flat or steep piece of the map turns the rounding of y into 1e-16 × slope.
            let step = 1e-12 * (y.abs() + base.std());
            let (left, at) = (normal::cdf(calibrated.probit_left(y - step)), calibrated.cdf(y + step));
            assert!(
                left <= p + 1e-12 && p <= at + 1e-12,
                "{name}: quantile {y} at {p} has {left} before, {at} after"
            );
        }
        let mut inner = (f64::INFINITY, f64::NEG_INFINITY);
        for coverage in [0.001, 0.1, 0.5, 0.8, 0.9, 0.95, 0.98, 0.999, 0.999_999] {
            let (low, high) = calibrated.interval(coverage).expect("is a coverage");
            assert!(
                low <= high && low <= inner.0 && inner.1 <= high,
                "{name}: the {coverage} interval is not nested"
            );
            inner = (low, high);
        }
    }

    /// A run with late outcomes that is saved and loaded at any step goes on bit by bit as if it had not been.
    fn resumes_anywhere(&self) {
        const STEPS: usize = 60;
        let all = steps(STEPS);
        // Outcome t comes after forecast t + t % 4; so up to four are pending, and out of order.
        let advance = |stream: &mut Stream<R, Gaussian>, t: usize| {
            let said = announced(stream.issue(all[t].0).expect("is valid").1.map());
            for (due, (_, outcome)) in all.iter().enumerate().take(t + 1) {
                if due + due % 4 == t {
                    stream.resolve(Ticket::from_number(due as u64), *outcome).expect("is pending");
                }
            }
            said
        };
        let mut whole: Stream<R, Gaussian> = Stream::new((self.make)());
        let mut saved = Vec::new();
        let mut said = Vec::new();
        for t in 0..STEPS {
            saved.push(whole.to_bytes().expect("can be saved"));
            said.push(advance(&mut whole, t));
        }
        let end = whole.to_bytes().expect("can be saved");
        for (from, bytes) in saved.iter().enumerate() {
            let mut resumed = match Stream::<R, Gaussian>::from_bytes(bytes) {
                Ok(stream) => stream,
                Err(error) => panic!("{}: the snapshot of step {from} does not load: {error}", self.name),
            };
            for (t, said) in said.iter().enumerate().skip(from) {
                let again = advance(&mut resumed, t);
                assert_eq!(&again, said, "{}: resumed at {from}, differs at {t}", self.name);
            }
            assert!(
                resumed.recalibrator() == whole.recalibrator(),
                "{}: resumed at {from} differs",
                self.name
            );
            assert_eq!(resumed.to_bytes().expect("can be saved"), end, "{}: resumed at {from}", self.name);
        }
    }

    fn late_outcomes_are_booked(&self) {
        let all = steps(300);
        let mut stream: Stream<R, Gaussian> = Stream::new((self.make)());
        for chunk in all.chunks(30) {
            let tickets: Vec<Ticket> =
                chunk.iter().map(|(f, _)| stream.issue(*f).expect("is valid").0).collect();
            // The newest first, then every third is never known.
            for (k, ticket) in tickets.iter().enumerate().rev() {
                if k % 3 == 0 {
                    stream.expire(*ticket).expect("is pending");
                } else {
                    stream.resolve(*ticket, chunk[k].1).expect("is pending");
                    (self.books)(stream.recalibrator());
                }
            }
        }
        assert_eq!((stream.recalibrator().steps(), stream.pending().count()), (200, 0), "{}", self.name);
    }

    fn foreign_plans_are_refused(&self) {
        let mut recalibrator = (self.make)();
        let levels = Levels::stretched(77, 6.0, 3.0).expect("is valid");
        let parameters = Parameters::builder().levels(levels).build().expect("is valid");
        let forecast = Gaussian::new(0.0, 1.0).expect("is valid");
        let mut foreign = Plan::default();
        Mixture::new(parameters).plan(&forecast, Groups::NONE, 0, &mut foreign).expect("is valid");
        let before = recalibrator.clone();
        let refused = recalibrator.learn(&foreign, 0.0);
        assert!(matches!(refused, Err(Error::ForeignPlan { .. })), "{}: {refused:?}", self.name);
        assert!(recalibrator == before, "{}: a refused plan changed something", self.name);
        // Its room can be used again.
        recalibrator.plan(&forecast, Groups::NONE, 0, &mut foreign).expect("is valid");
        recalibrator.learn(&foreign, 0.0).expect("is its own");
    }

    fn scores_may_be_infinite_but_not_nan(&self) {
        let mut recalibrator = self.after(20);
        let forecast = Gaussian::new(0.0, 1.0).expect("is valid");
        for t in 20..60 {
            let plan = self.plan(&recalibrator, &forecast, t);
            let before = recalibrator.clone();
            match recalibrator.learn(&plan, f64::NAN) {
                Err(Error::NotFinite { value, .. }) if value.is_nan() => {}
                other => panic!("{}: NaN gave {other:?}", self.name),
            }
            assert!(recalibrator == before, "{}: NaN changed something", self.name);
            let z = if t % 3 == 0 { f64::NEG_INFINITY } else { f64::INFINITY };
            recalibrator.learn(&plan, z).expect("an infinite score is a score");
            (self.books)(&recalibrator);
            self.is_a_distribution(&recalibrator.recalibrate(forecast).expect("is valid"));
        }
    }

    /// Five Gauss points per quarter probit unit of either distribution are exact to rounding; 1e-7 of slack.
    fn crps_is_its_integral(&self) {
        let recalibrator = self.after(200);
        let forecast = Gaussian::new(5.0, 2.0).expect("is valid");
        let calibrated = recalibrator.recalibrate(forecast).expect("is valid");
        for z in [-30.0, -4.0, -1.0, -0.3, 0.0, 0.5, 2.0, 7.0, 100.0] {
            let y = forecast.at_probit(z);
            let (crps, integral) = (calibrated.crps(y), integral(&calibrated, y));
            let close = (crps - integral).abs() <= 1e-7 * (1.0 + integral);
            assert!(close, "{}: crps {crps}, by quadrature {integral}, at {y}", self.name);
        }
    }
}

/// All that is announced: numbers are written with all their digits.
fn announced(map: &Map) -> String {
    format!("{map:?}")
}

/// ∫ G² below y plus ∫ (1 − G)² above it.
fn integral(calibrated: &Recalibrated<Gaussian>, y: f64) -> f64 {
    const GAUSS: [(f64, f64); 5] = [
        (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
        (-0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
        (0.0, 0.568_888_888_888_888_9),
        (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
        (0.906_179_845_938_664, 0.236_926_885_056_189_1),
    ];
    let scores = (-160..=160).map(|k| 0.25 * f64::from(k));
    let mut cuts: Vec<f64> = scores.clone().map(|t| calibrated.at_probit(t)).collect();
    cuts.extend(scores.map(|z| calibrated.base().at_probit(z)));
    calibrated.kinks(&mut cuts);
    cuts.push(y);
    cuts.retain(|cut| cut.is_finite());
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let piece = |ends: &[f64]| {
        let (middle, half) = (0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0]));
        let squared = |x: f64| {
            let p = if ends[1] <= y { calibrated.cdf(x) } else { calibrated.sf(x) };
            p * p
        };
        half * GAUSS.iter().map(|(x, weight)| weight * squared(middle + half * x)).sum::<f64>()
    };
    cuts.windows(2).map(piece).sum()
}
