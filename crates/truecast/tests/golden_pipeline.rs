//! The default pipeline against its reference implementation, `golden/pipeline.py`, step by step: with and without delay, shuffled, expired, over normal
//! forecasts, tables of quantiles, ensembles and forecasts that are read at 49 levels.
//!
//! Tolerance: 1e-9 of a field's largest value in its case. Two runs of the reference whose experts differ by one unit in the last place differ by 1e-11 at
//! most (`spread` in the file).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

mod golden_support;

use std::collections::HashMap;

use golden_support::{Case, Values};
use truecast::expert::{AnyExpert, ExpertKind};
use truecast::forecast::{AnyForecast, Logistic};
use truecast::recalibrate::Plan;
use truecast::{
    Forecast, Gaussian, Groups, GuardMode, Parameters, Pipeline, Quantiles, Recalibrator, Samples,
};

const TOLERANCE: f64 = 1e-9;

/// What a case of the file says of the settings.
fn parameters(case: &Case) -> Parameters {
    let settings = case.object("settings");
    let text = |name: &str| settings.get(name).and_then(|value| value.as_str().map(str::to_owned));
    let mut builder = if text("method").as_deref() == Some("ledger") {
        Parameters::ledger()
    } else {
        Parameters::builder()
    };
    if let Some(names) = settings.get("experts") {
        let names = names.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
        builder = builder.experts(&names.map(|name| name.parse().unwrap()).collect::<Vec<ExpertKind>>());
    }
    if let Some(share) = settings.get("stop_loss") {
        builder = builder.stop_loss(share.as_f64());
    }
    if let Some(mode) = text("guard") {
        builder = builder.guard(mode.parse::<GuardMode>().unwrap());
    }
    if let Some(on) = settings.get("lags") {
        builder = builder.lags(on.as_bool().unwrap());
    }
    if let Some(half_life) = settings.get("half_life") {
        builder = builder.half_life(half_life.as_f64().unwrap());
    }
    if let Some(floor) = case.number("floor") {
        builder = builder.bounds(floor, f64::INFINITY);
    }
    let known = ["method", "experts", "stop_loss", "guard", "lags", "half_life"];
    assert!(settings.keys().all(|key| known.contains(&key.as_str())), "{settings:?}");
    builder.build().unwrap()
}

/// Forecast `i` of a case, with the levels and weights that it is scored at.
fn forecast(case: &Case, i: usize) -> (AnyForecast, Vec<(f64, f64)>) {
    match case.text("kind") {
        "gaussian" => (Gaussian::new(case.list("mean")[i], case.list("std")[i]).unwrap().into(), Vec::new()),
        "table" => {
            let taus = case.list("taus");
            let equal = taus.iter().map(|&tau| (tau, 1.0 / taus.len() as f64)).collect();
            // The file's values may cross by nothing: they are its own running maximum.
            (Quantiles::new(&taus, &case.lists("values")[i]).unwrap().into(), equal)
        }
        "samples" => {
            let members = &case.lists("members")[i];
            let count = members.len() as f64;
            let levels = (0..members.len()).map(|k| ((k as f64 + 0.5) / count, 1.0 / count)).collect();
            (Samples::new(members).unwrap().into(), levels)
        }
        "weighted" => {
            let levels = case.list("taus").into_iter().zip(case.list("weights")).collect();
            (Logistic::new(case.list("mean")[i], case.list("std")[i]).unwrap().into(), levels)
        }
        other => panic!("{other}"),
    }
}

/// The score of what was announced, from its quantiles or, over a normal base, its CRPS.
fn score(calibrated: &dyn Forecast, probits: &[f64], levels: &[(f64, f64)], y: f64) -> f64 {
    if levels.is_empty() {
        return calibrated.crps(y);
    }
    let losses = levels.iter().zip(probits).map(|(&(tau, weight), &t)| {
        let q = calibrated.at_probit(t);
        weight * if y >= q { tau * (y - q) } else { (1.0 - tau) * (q - y) }
    });
    2.0 * losses.sum::<f64>()
}

#[test]
fn every_case_of_the_reference() {
    let golden = golden_support::load("pipeline.json");
    let (at_z, at_t) = (golden.list("at_z"), golden.list("at_t"));
    for case in golden.cases() {
        let name = case.text("name").to_owned();
        let mut recalibrator = Pipeline::new(parameters(&case));
        let outcomes = case.optional("outcomes");
        let mut got = Values::new(&name, TOLERANCE);
        let mut waiting: HashMap<usize, Plan> = HashMap::new();
        let records: HashMap<usize, Case> =
            case.records().map(|record| (record.index("i"), record)).collect();
        let probits = if case.has("probits") {
            case.list("probits")
        } else {
            let levels = forecast(&case, 0).1;
            levels.iter().map(|level| truecast::normal::quantile(level.0)).collect()
        };
        let sevenths = case.child("sevenths");
        let mixes = recalibrator.parameters().experts().len() > 1;
        for event in case.events(outcomes.len()) {
            if event >= 0 {
                let i = event as usize;
                let (base, _) = forecast(&case, i);
                let mut plan = recalibrator.empty_plan();
                recalibrator.plan(&base, Groups::NONE, i as u64, &mut plan).unwrap();
                if i.is_multiple_of(7) {
                    got.check("l1", plan.blends()[0], sevenths.list("l1")[i / 7]);
                    if case.object("settings").get("guard").is_none_or(|mode| mode != "off") {
                        got.check("l2", plan.blends()[1], sevenths.list("l2")[i / 7]);
                    }
                    got.check("reserved", plan.reserved(), sevenths.list("reserved")[i / 7]);
                }
                if let Some(record) = records.get(&i) {
                    let calibrated = plan.calibrated(&base);
                    let p = if mixes { plan.mixed() } else { plan.said() };
                    got.check_all("p", p, &record.list("p"));
                    if mixes {
                        got.check_all("q", &recalibrator.method().aggregate().weights(), &record.list("q"));
                    }
                    if record.has("level") {
                        let levels: Vec<f64> = at_z.iter().map(|&z| plan.map().probit(z)).collect();
                        let places: Vec<f64> = at_t.iter().map(|&t| plan.map().invert(t)).collect();
                        got.check_all("level", &levels, &record.list("level"));
                        got.check_all("place", &places, &record.list("place"));
                    } else {
                        for (&t, want) in probits.iter().zip(record.list("values")) {
                            // Before any outcome G is F here; the reference says Φ⁻¹(Φ(t)), which near 1 has lost digits.
                            if i > 0 || t < 5.0 {
                                got.check("values", calibrated.at_probit(t), want);
                            }
                        }
                    }
                }
                recalibrator.announced(&plan);
                waiting.insert(i, plan);
                continue;
            }
            let i = (-1 - event) as usize;
            let plan = waiting.remove(&i).unwrap();
            let (base, levels) = forecast(&case, i);
            match outcomes[i] {
                None => recalibrator.expire(&plan),
                Some(y) => {
                    let announced = score(&plan.calibrated(&base), &probits, &levels, y);
                    got.check("final_score", announced, case.optional("final_score")[i].unwrap());
                    recalibrator.resolve(&plan, &base, y).unwrap();
                }
            }
        }
        let last = case.child("final");
        let account = recalibrator.account().unwrap();
        for (field, value) in [
            ("base", account.base()),
            ("extra", account.extra()),
            ("lead", account.lead()),
            ("most", account.largest_mean()),
            ("reserved", account.reserved()),
        ] {
            got.check_against(field, value, last.number(field).unwrap(), account.base());
        }
        assert_eq!(account.pending() as usize, last.index("pending"), "{name}");
        if let Some(guard) = recalibrator.guard() {
            got.check_all("a", guard.balances(), &last.list("a"));
        }
        if mixes {
            got.check_all("R", recalibrator.method().aggregate().regrets(), &last.list("R"));
        }
        for expert in recalibrator.method().experts() {
            match expert {
                AnyExpert::Mean(mean) => got.check_all("mean", mean.means(), &last.list("mean")),
                AnyExpert::Ledger(ledgers) => {
                    let balances: Vec<f64> = (0..2).flat_map(|g| ledgers.balances(g)).flatten().collect();
                    let squares: f64 = (0..2).flat_map(|g| ledgers.squares(g)).sum();
                    // The balances are those of the last outcome's age; the file's too.
                    let sums = [
                        balances.iter().sum::<f64>(),
                        balances.iter().map(|x| x.abs()).sum(),
                        balances.iter().map(|x| x * x).sum(),
                        squares,
                    ];
                    got.check_all("balances", &sums, &last.list("balances"));
                }
                _ => {}
            }
        }
        got.report();
    }
}
