//! The ledgers against the reference implementation in `golden/ledger.py`, number by number.
//!
//! Every case of `golden/ledger.json` is replayed by the core: what was announced at the selected steps, and the books at
//! the end.

// Helpers of tests: what is broken must stop the test that met it.
#![allow(clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use truecast::grid::{Levels, Plays};
use truecast::recalibrate::{Plan, Protection};
use truecast::{Gaussian, Groups, LedgerKind, Parameters, Pipeline, Recalibrator, Stream, Ticket, normal};
use truecast_testkit::golden;

/// What two correct implementations must agree to: sums of some hundred rounded terms differ by 1e-13, and no case amplifies
/// that by more than 1e4, except where its `spread` says so: the largest effect on the reference of moving every number by about one unit in the last
/// place.
const AGREEMENT: f64 = 1e-9;

#[derive(Deserialize)]
struct File {
    levels: Vec<f64>,
    plays: Vec<f64>,
    streams: BTreeMap<String, Rows>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Rows {
    mean: Vec<f64>,
    std: Vec<f64>,
    outcome: Vec<f64>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    stream: String,
    ledgers: Vec<String>,
    prior: f64,
    half_life: Option<f64>,
    groups: Vec<Vec<u8>>,
    thresholds: Vec<f64>,
    steps: Vec<Announced>,
    r#final: Books,
    spread: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
struct Announced {
    step: usize,
    plays: Vec<f64>,
    isotonic: Vec<f64>,
    isotonic_uniform: Option<Vec<f64>>,
}

/// Balances, squares and shifts are indexed by level, then by ledger.
#[derive(Deserialize)]
#[expect(non_snake_case, reason = "the names of docs/theory.md, as in the file")]
struct Books {
    n: f64,
    L: Vec<Vec<Vec<f64>>>,
    A: Vec<Vec<f64>>,
    Q: Vec<Vec<f64>>,
    potential: f64,
    potential_bounds: Vec<f64>,
    regret: Vec<f64>,
}

fn file() -> File {
    golden::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/ledger.json"))
}

impl Case {
    fn parameters(&self, file: &File) -> Parameters {
        let levels = Levels::new(file.levels.clone()).expect("levels of the reference");
        let plays = Plays::new(file.plays.clone()).expect("plays of the reference");
        let named: Vec<LedgerKind> = self.ledgers.iter().filter_map(|name| named(name)).collect();
        let mut builder =
            Parameters::ledger().protection(Protection::NONE).levels(levels).plays(plays).ledgers(&named);
        builder = builder.groups(u8::try_from(self.groups.len()).expect("few groups"));
        for &y in &self.thresholds {
            builder = builder.threshold(y);
        }
        if let Some(outcomes) = self.half_life {
            builder = builder.half_life(outcomes);
        }
        builder.prior(self.prior).build().expect("parameters of the reference")
    }

    fn groups_at(&self, step: usize) -> Groups {
        let members: Vec<usize> = (0..self.groups.len()).filter(|&k| self.groups[k][step] == 1).collect();
        Groups::of(&members).expect("few groups")
    }

    /// Compares as the reference measures its spread: |got − want| / (1 + |want|).
    #[track_caller]
    fn compare(&self, field: &str, at: &str, got: &[f64], want: &[f64]) {
        let spread = self.spread.get(field).copied().unwrap_or_else(|| panic!("no spread for {field}"));
        let allowed = AGREEMENT.max(spread);
        golden::assert_all_close(&format!("{} {at} {field}", self.name), got, want, allowed, allowed);
    }

    fn replay(&self, file: &File) {
        let rows = &file.streams[&self.stream];
        let mut core = Pipeline::new(self.parameters(file));
        let mut stream: Stream<Pipeline, Gaussian> = Stream::new(core.clone());
        let mut plan = core.empty_plan();
        let mut written = self.steps.iter().peekable();
        for t in 0..rows.outcome.len() {
            let forecast = Gaussian::new(rows.mean[t], rows.std[t]).expect("forecasts of the reference");
            let (y, groups) = (rows.outcome[t], self.groups_at(t));
            core.plan(&forecast, groups, t as u64, &mut plan).expect("a plan");
            let (ticket, issued): (Ticket, _) = stream.issue_in(forecast, groups).expect("a forecast");
            assert_eq!(
                issued.map(),
                plan.map(),
                "{} step {t}: a stream announces its recalibrator's plan",
                self.name
            );
            if let Some(expected) = written.next_if(|announced| announced.step == t) {
                self.compare_announced(file, expected, &plan);
            }
            core.announced(&plan);
            core.resolve(&plan, &forecast, y).expect("an outcome");
            stream.resolve(ticket, y).expect("an outcome");
        }
        assert!(written.next().is_none(), "{}: every written step was met", self.name);
        assert_eq!(stream.recalibrator(), &core, "{}", self.name);
        self.compare_books(&core, rows.outcome.len());
    }

    fn compare_announced(&self, file: &File, expected: &Announced, plan: &Plan) {
        let at = format!("before outcome {}", expected.step);
        self.compare("plays", &at, plan.said(), &expected.plays);
        // One uniform ledger knows no widths, so every level counts the same in its projection.
        let (field, want) = match &expected.isotonic_uniform {
            Some(p) => ("isotonic_uniform", p),
            None => ("isotonic", &expected.isotonic),
        };
        // The map holds them within 1e-12 of 0 and 1.
        let announced: Vec<f64> = file.levels.iter().map(|&z| normal::cdf(plan.map().probit(z))).collect();
        self.compare(field, &at, &announced, want);
    }

    fn compare_books(&self, core: &Pipeline, steps: usize) {
        let books = &self.r#final;
        let (ledgers, certificate) =
            (core.ledgers().expect("ledgers"), core.certificate().ledgers.expect("ledgers"));
        // The reference multiplies the weights of step t by 2^(t / half-life) and leaves them so; the core's sums give weight 1
        // to the latest outcome.
        let unit = self.half_life.map_or(1.0, |outcomes| ((steps - 1) as f64 / outcomes).exp2());
        for g in 0..self.ledgers.len() {
            let at = format!("at the end, ledger {g} ({})", self.ledgers[g]);
            for (j, balances) in ledgers.balances(g).iter().enumerate() {
                let want: Vec<f64> = books.L[j][g].iter().map(|l| l / unit).collect();
                self.compare("L", &format!("{at}, level {j}"), balances, &want);
            }
            let squares: Vec<f64> = books.A.iter().map(|a| a[g] / (unit * unit)).collect();
            self.compare("A", &at, &ledgers.squares(g), &squares);
            let shifts: Vec<f64> = books.Q.iter().map(|q| q[g] / unit).collect();
            self.compare("Q", &at, &ledgers.shifts(g), &shifts);
            self.compare("regret", &at, &[ledgers.regret(g)], &[books.regret[g] / unit]);
            assert_eq!(certificate.ledgers[g].regret, ledgers.regret(g), "{} {at}", self.name);
            if named(&self.ledgers[g]) == Some(LedgerKind::Uniform) {
                // Weights of 1 sum to n.
                self.compare("n", &at, &ledgers.totals(g), &vec![books.n; ledgers.squares(g).len()]);
            }
        }
        let at = "at the end";
        self.compare("potential", at, &[ledgers.potentials().iter().sum()], &[books.potential]);
        self.compare("potential", at, &[certificate.potential], &[books.potential]);
        self.compare("potential_bounds", at, ledgers.potential_bounds(), &books.potential_bounds);
        assert!(certificate.holds(), "{}: {certificate}\n{certificate:?}", self.name);
    }
}

/// Groups and thresholds come from fields of their own, in the same order as their names.
fn named(ledger: &str) -> Option<LedgerKind> {
    match ledger {
        "uniform" => Some(LedgerKind::Uniform),
        "crps" => Some(LedgerKind::Crps),
        "group" | "threshold" => None,
        other => panic!("the reference has a ledger that is unknown here: {other}"),
    }
}

/// Replays the cases whose name starts with `kind`, and says how many those are.
fn replay(kind: &str) -> usize {
    let file = file();
    let cases = file.cases.iter().filter(|case| case.name.starts_with(kind));
    cases.map(|case| case.replay(&file)).count()
}

#[test]
fn ledgers() {
    assert_eq!(replay("ledgers/"), 12);
}

#[test]
fn half_life() {
    assert_eq!(replay("half-life/"), 2);
}

#[test]
fn groups() {
    assert_eq!(replay("groups/"), 1);
}

#[test]
fn threshold() {
    assert_eq!(replay("threshold/"), 1);
}

#[test]
fn groups_threshold_and_half_life_together() {
    assert_eq!(replay("everything/"), 1);
}

#[test]
fn no_case_is_left_out() {
    assert_eq!(file().cases.len(), 12 + 2 + 1 + 1 + 1);
}
