//! A study from beginning to end as JSON: what bindings to other languages are compared with, bit for bit.
//!
//! ```text
//! cargo run -p truecast-bo --example trajectory -- CALIBRATION ACQUISITION NOISE SEED
//! ```
//!
//! Twenty points of a mixed space, three of them asked for at once, every seventh a failure. The function has sums and products
//! alone, which all languages round alike.

#![allow(clippy::print_stdout, reason = "the study goes to standard output")]

use std::error::Error;

use truecast_bo::{
    AnyAcquisition, Calibration, Dimension, Kappa, Space, Study, StudySettings, SurrogateSettings, Value,
};
use truecast_models::Noise;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [calibration, acquisition, noise, seed] = &arguments[..] else {
        return Err("CALIBRATION ACQUISITION NOISE SEED are needed".into());
    };
    let noise = if noise == "learned" { Noise::Learned } else { Noise::Fixed(noise.parse()?) };
    let settings = StudySettings {
        calibration: match calibration.as_str() {
            "none" => Calibration::None,
            "paper" => Calibration::paper(),
            "ledger" => Calibration::ledger(),
            "online" => Calibration::online(),
            "online-scale" => Calibration::online_scale(),
            other => return Err(format!("no calibration {other}").into()),
        },
        acquisition: match acquisition.as_str() {
            "lcb" => AnyAcquisition::LowerConfidenceBound(Kappa::Fixed(2.0)),
            "ei" => AnyAcquisition::ExpectedImprovement,
            "pi" => AnyAcquisition::ProbabilityOfImprovement { margin: 0.0 },
            "thompson" => AnyAcquisition::ThompsonSampling,
            other => return Err(format!("no acquisition {other}").into()),
        },
        surrogate: SurrogateSettings { noise, ..Default::default() },
        seed: seed.parse()?,
        ..Default::default()
    };
    let space = Space::new([
        ("x", Dimension::real(-2.0, 3.0)),
        ("rate", Dimension::log(1e-4, 1.0)),
        ("count", Dimension::integer(1, 6)),
        ("kind", Dimension::category(["a", "b", "c"])),
    ])?;
    let mut study = Study::new(space, settings)?;
    while study.steps().len() < 20 {
        let count = if study.steps().len() == 10 { 3 } else { 1 };
        for point in study.suggest_batch(count)? {
            let number = study.steps().iter().position(|step| step.point == point).unwrap_or_default();
            if number % 7 == 6 {
                study.observe_failed(&point, "every seventh")?;
            } else {
                study.observe(&point, cost(&point))?;
            }
        }
    }
    println!("{}", serde_json::to_string(&study)?);
    Ok(())
}

fn cost(point: &[Value]) -> f64 {
    let number = |k: usize| point[k].as_real().unwrap_or_default();
    let (x, rate, count) = (number(0) - 1.0, number(1) - 0.25, number(2) - 4.0);
    let kind = if point[3] == "b".into() { 0.0 } else { 1.0 };
    x * x + 3.0 * rate * rate + 0.25 * count * count + kind
}
