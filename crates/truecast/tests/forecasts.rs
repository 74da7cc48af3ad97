//! Every kind of forecast: the laws, bad input by its exact error, far tails, and golden values.

// The lint's exemption for tests does not reach their helper functions.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use truecast::forecast::{
    AnyForecast, CdfTable, Forecast, Gaussian, Laplace, LogNormal, Logistic, Mixture, Quantiles, Samples,
    StudentT, Uniform,
};
use truecast::{Error, normal};
use truecast_testkit::laws::any_forecast_laws;

fn laws(name: &str, forecast: impl Into<AnyForecast>) {
    any_forecast_laws(name, &forecast.into());
}

#[test]
fn gaussians_obey_the_laws() {
    for (mean, std) in [(0.0, 1.0), (20.0, 2.0), (1e9, 1e9), (-1e-9, 1e-9), (1.0, 1e-9)] {
        laws("gaussian", Gaussian::new(mean, std).unwrap());
    }
}

#[test]
fn student_ts_obey_the_laws() {
    for dof in [0.75, 1.0, 1.5, 2.0, 4.3, 30.0, 300.0, 1e7] {
        laws("student t", StudentT::new(dof, 1.0, 2.0).unwrap());
    }
    laws("wide student t", StudentT::new(1.5, -1e9, 1e9).unwrap());
    laws("narrow student t", StudentT::new(300.0, 0.0, 1e-9).unwrap());
}

#[test]
fn laplaces_and_logistics_obey_the_laws() {
    for (location, scale) in [(0.0, 1.0), (5.0, 0.3), (1e9, 1e9), (0.0, 1e-9)] {
        laws("laplace", Laplace::new(location, scale).unwrap());
        laws("logistic", Logistic::new(location, scale).unwrap());
    }
}

#[test]
fn log_normals_and_uniforms_obey_the_laws() {
    for (mu, sigma) in [(0.0, 1.0), (3.0, 0.25), (-2.0, 0.05), (20.0, 2.0), (0.0, 1e-3)] {
        laws("log-normal", LogNormal::new(mu, sigma).unwrap());
    }
    for (low, high) in [(0.0, 1.0), (-2.0, 3.0), (-1e9, 1e9), (1e-9, 2e-9), (100.0, 100.001)] {
        laws("uniform", Uniform::new(low, high).unwrap());
    }
}

#[test]
fn quantile_tables_obey_the_laws() {
    let tables: [(&[f64], &[f64]); 7] = [
        (&[0.1, 0.5, 0.9], &[-1.0, 0.5, 4.0]),
        (&[0.25, 0.75], &[1e9, 3e9]),
        (&[0.05, 0.3, 0.5, 0.7, 0.95], &[0.0, 0.0, 0.0, 1.0, 7.0]),
        (&[0.1, 0.2, 0.3, 0.8, 0.9], &[-3.0, 1.0, 1.0, 2.0, 2.0]),
        (&[0.1, 0.9], &[5.0, 5.0]),
        (&[0.1, 0.5, 0.9], &[3.0, 1.0, 2.0]),
        (&[1e-9, 0.5, 0.500_001, 0.999_999], &[-1e-9, 0.0, 2e-9, 3e-9]),
    ];
    for (probabilities, values) in tables {
        let table = Quantiles::new(probabilities, values).unwrap();
        laws("quantiles", table.clone());
        for (low, high) in [(0.0, f64::INFINITY), (f64::NEG_INFINITY, 1.5), (-1e6, 1e12), (0.5, 1.75)] {
            laws("quantiles on a support", table.clone().with_support(low, high).unwrap());
        }
    }
}

#[test]
fn ensembles_obey_the_laws() {
    let bell: Vec<f64> = (1..100).map(|i| 3.0 + normal::quantile(f64::from(i) / 100.0)).collect();
    let ensembles: [&[f64]; 8] = [
        &bell,
        &[2.0],
        &[7.0; 5],
        &[0.0, 0.0, 0.0, 1.0, 4.0],
        &[1e9, -1e9],
        &[1e-9, 3e-9, 2e-9],
        &[0.0, 1.0],
        &[-0.0, 0.0],
    ];
    for samples in ensembles {
        laws("samples", Samples::new(samples).unwrap());
    }
}

#[test]
fn cdf_tables_obey_the_laws() {
    let tables: [(&[f64], &[f64]); 7] = [
        (&[0.0, 1.0], &[0.0, 1.0]),
        (&[0.0, 10.0, 20.0], &[0.25, 0.5, 0.8]),
        (&[-1.0, 0.0, 0.0, 0.0, 2.0], &[0.0, 0.1, 0.3, 0.6, 1.0]),
        (&[0.0, 1.0, 2.0, 3.0, 4.0], &[0.0, 0.0, 0.5, 0.5, 1.0]),
        (&[-1e9, 1e9], &[0.3, 0.3]),
        (&[1e-9, 2e-9, 3e-9], &[0.0, 1e-12, 1.0]),
        (&[5.0, 5.0], &[0.0, 1.0]),
    ];
    for (points, probabilities) in tables {
        laws("cdf table", CdfTable::new(points, probabilities).unwrap());
    }
}

#[test]
fn mixtures_obey_the_laws() {
    let gaussian = |mean: f64, std: f64| AnyForecast::from(Gaussian::new(mean, std).unwrap());
    laws("one part", Mixture::new(&[3.0], vec![gaussian(1.0, 2.0)]).unwrap());
    laws("two bells", Mixture::new(&[1.0, 3.0], vec![gaussian(-2.0, 0.5), gaussian(2.0, 1.0)]).unwrap());
    laws("scales apart", Mixture::new(&[0.5, 0.5], vec![gaussian(0.0, 1e-3), gaussian(0.0, 1e3)]).unwrap());
}

/// Their CRPS is by quadrature, whose own tests compare it with closed forms.
#[test]
fn mixtures_of_unlike_parts_obey_the_laws() {
    let mixtures = [
        (
            vec![0.2, 0.5, 0.3],
            vec![
                StudentT::new(3.0, 0.0, 1.0).unwrap().into(),
                Laplace::new(2.0, 0.5).unwrap().into(),
                Uniform::new(-1.0, 4.0).unwrap().into(),
            ],
        ),
        (
            vec![1.0, 1.0],
            vec![Samples::new(&[0.0]).unwrap().into(), LogNormal::new(1.0, 0.5).unwrap().into()],
        ),
        (
            vec![1.0, 2.0],
            vec![Uniform::new(0.0, 1.0).unwrap().into(), Uniform::new(3.0, 4.0).unwrap().into()],
        ),
        (
            vec![1.0, 1.0, 1.0],
            vec![
                Samples::new(&[-1.0]).unwrap().into(),
                Samples::new(&[0.0]).unwrap().into(),
                Samples::new(&[5.0]).unwrap().into(),
            ],
        ),
        (
            vec![0.999, 0.001],
            vec![Logistic::new(0.0, 1e-9).unwrap().into(), Logistic::new(0.0, 1e9).unwrap().into()],
        ),
    ];
    for (weights, components) in mixtures {
        laws("mixture", Mixture::new(&weights, components).unwrap());
    }
}

#[test]
fn bad_parameters_are_refused_by_name() {
    let not_finite = |what, value: f64| Error::NotFinite { what, value };
    let not_positive = |what, value| Error::NotPositive { what, value };
    let inf = f64::INFINITY;
    assert_eq!(StudentT::new(0.0, 0.0, 1.0), Err(not_positive("degrees of freedom", 0.0)));
    assert_eq!(StudentT::new(inf, 0.0, 1.0), Err(not_finite("degrees of freedom", inf)));
    assert_eq!(StudentT::new(3.0, -inf, 1.0), Err(not_finite("location", -inf)));
    assert_eq!(StudentT::new(3.0, 0.0, -1.0), Err(not_positive("scale", -1.0)));
    assert_eq!(Laplace::new(inf, 1.0), Err(not_finite("location", inf)));
    assert_eq!(Laplace::new(0.0, 0.0), Err(not_positive("scale", 0.0)));
    assert_eq!(Logistic::new(inf, 1.0), Err(not_finite("location", inf)));
    assert_eq!(Logistic::new(0.0, -2.0), Err(not_positive("scale", -2.0)));
    assert_eq!(LogNormal::new(-inf, 1.0), Err(not_finite("mean of the logarithm", -inf)));
    assert_eq!(LogNormal::new(0.0, 0.0), Err(not_positive("standard deviation of the logarithm", 0.0)));
    let reversed = Error::NotIncreasing { what: "ends of the interval", index: 1, previous: 2.0, value: 1.0 };
    assert_eq!(Uniform::new(2.0, 1.0), Err(reversed));
    assert_eq!(Uniform::new(-f64::MAX, f64::MAX), Err(not_finite("length of the interval", inf)));
    for result in [
        StudentT::new(3.0, f64::NAN, 1.0).err(),
        Laplace::new(0.0, f64::NAN).err(),
        Logistic::new(f64::NAN, 1.0).err(),
        LogNormal::new(0.0, f64::NAN).err(),
        Uniform::new(0.0, f64::NAN).err(),
    ] {
        assert!(matches!(result, Some(Error::NotFinite { value, .. }) if value.is_nan()), "{result:?}");
    }
}

#[test]
fn bad_quantile_tables_are_refused_by_name() {
    let crossing = Error::CrossingQuantiles { probability: 0.9, previous: 3.0, value: 2.0 };
    assert_eq!(Quantiles::strict(&[0.1, 0.5, 0.9], &[1.0, 3.0, 2.0]), Err(crossing));
    assert_eq!(Quantiles::new(&[0.1, 0.5, 0.9], &[1.0, 3.0, 2.0]).unwrap().repaired(), 2);
    assert_eq!(Quantiles::strict(&[0.1, 0.9], &[1.0, 1.0]).unwrap().repaired(), 0);
    let too_few = Error::TooFew { what: "quantiles", least: 2, found: 1 };
    assert_eq!(Quantiles::new(&[0.5], &[1.0]), Err(too_few));
    let lengths = Error::LengthMismatch { what: "probabilities and quantiles", left: 2, right: 3 };
    assert_eq!(Quantiles::new(&[0.1, 0.5], &[1.0, 3.0, 2.0]), Err(lengths));
    let unsorted =
        Error::NotIncreasing { what: "probabilities of the quantiles", index: 1, previous: 0.5, value: 0.5 };
    assert_eq!(Quantiles::new(&[0.5, 0.5], &[1.0, 3.0]), Err(unsorted));
    for value in [0.0, 1.0, -0.1, 1.5] {
        let rule = "greater than 0 and less than 1";
        let outside = Error::OutOfRange { what: "probability of a quantile", rule, value };
        assert_eq!(Quantiles::new(&[value, 0.5], &[1.0, 3.0]), Err(outside));
    }
    let infinite = Error::NotFinite { what: "quantile", value: f64::INFINITY };
    assert_eq!(Quantiles::new(&[0.1, 0.5], &[1.0, f64::INFINITY]), Err(infinite));
    let nan = Quantiles::new(&[0.1, 0.5], &[f64::NAN, 1.0]);
    assert!(matches!(nan, Err(Error::NotFinite { what: "quantile", .. })), "{nan:?}");
    let table = Quantiles::new(&[0.1, 0.9], &[0.0, 1.0]).unwrap();
    let bounds = Error::NotIncreasing { what: "bounds of the support", index: 1, previous: 1.0, value: 1.0 };
    assert_eq!(table.clone().with_support(1.0, 1.0), Err(bounds));
    let nan = table.with_support(f64::NAN, 1.0);
    assert!(matches!(nan, Err(Error::NotFinite { what: "bound of the support", .. })), "{nan:?}");
}

#[test]
fn bad_ensembles_tables_and_mixtures_are_refused_by_name() {
    assert_eq!(Samples::new(&[]), Err(Error::TooFew { what: "samples", least: 1, found: 0 }));
    let infinite = Error::NotFinite { what: "sample", value: f64::INFINITY };
    assert_eq!(Samples::new(&[1.0, f64::INFINITY]), Err(infinite));
    assert!(matches!(Samples::new(&[f64::NAN]), Err(Error::NotFinite { what: "sample", .. })));

    let lengths = Error::LengthMismatch { what: "points and probabilities", left: 2, right: 1 };
    assert_eq!(CdfTable::new(&[1.0, 2.0], &[0.5]), Err(lengths));
    let too_few = Error::TooFew { what: "points of the table", least: 2, found: 1 };
    assert_eq!(CdfTable::new(&[1.0], &[0.5]), Err(too_few));
    let above = Error::OutOfRange { what: "probability of the table", rule: "between 0 and 1", value: 1.5 };
    assert_eq!(CdfTable::new(&[1.0, 2.0], &[0.5, 1.5]), Err(above));
    let falling =
        Error::NotIncreasing { what: "probabilities of the table", index: 1, previous: 0.5, value: 0.4 };
    assert_eq!(CdfTable::new(&[1.0, 2.0], &[0.5, 0.4]), Err(falling));
    let back = Error::NotIncreasing { what: "points of the table", index: 1, previous: 2.0, value: 1.0 };
    assert_eq!(CdfTable::new(&[2.0, 1.0], &[0.5, 0.6]), Err(back));
    assert!(CdfTable::new(&[f64::NAN, 1.0], &[0.5, 0.6]).is_err());
    assert!(CdfTable::new(&[0.0, 1.0], &[0.5, f64::NAN]).is_err());

    let part = || AnyForecast::from(Gaussian::new(0.0, 1.0).unwrap());
    assert_eq!(Mixture::new(&[], vec![]), Err(Error::TooFew { what: "components", least: 1, found: 0 }));
    let lengths = Error::LengthMismatch { what: "weights and components", left: 2, right: 1 };
    assert_eq!(Mixture::new(&[0.5, 0.5], vec![part()]), Err(lengths));
    for value in [0.0, -1.0] {
        let weight = Error::NotPositive { what: "weight", value };
        assert_eq!(Mixture::new(&[1.0, value], vec![part(), part()]), Err(weight));
    }
    assert!(matches!(Mixture::new(&[f64::NAN], vec![part()]), Err(Error::NotFinite { what: "weight", .. })));
}

#[test]
fn loading_cannot_bypass_the_rules() {
    for text in [
        r#"{"student-t": {"dof": -1.0, "location": 0.0, "scale": 1.0}}"#,
        r#"{"laplace": {"location": 0.0, "scale": 0.0}}"#,
        r#"{"logistic": {"location": 0.0, "scale": -1.0}}"#,
        r#"{"log-normal": {"mu": 0.0, "sigma": 0.0}}"#,
        r#"{"uniform": {"low": 1.0, "high": 1.0}}"#,
        r#"{"quantiles": {"probabilities": [0.5], "values": [1.0]}}"#,
        r#"{"quantiles": {"probabilities": [0.1, 0.5], "values": [1.0, 2.0], "low": 3.0, "high": 2.0}}"#,
        r#"{"samples": {"values": []}}"#,
        r#"{"cdf-table": {"points": [0.0, 1.0], "probabilities": [0.5, 0.4]}}"#,
        r#"{"mixture": {"weights": [], "components": []}}"#,
        r#"{"mixture": {"weights": [1.0], "components": [{"gaussian": {"mean": 0.0, "std": 0.0}}]}}"#,
    ] {
        let loaded = serde_json::from_str::<AnyForecast>(text);
        assert!(loaded.is_err(), "{text} loads as {loaded:?}");
    }
    let table: AnyForecast =
        serde_json::from_str(r#"{"quantiles": {"probabilities": [0.1, 0.5], "values": [1.0, 2.0]}}"#)
            .unwrap();
    assert_eq!(table.quantile(0.1), 1.0);
}

/// Scores go on growing past the point where probabilities underflow, and are mirror images of one another.
#[test]
fn far_tails_do_not_saturate_and_are_symmetric() {
    let gaussian = || AnyForecast::from(Gaussian::new(0.0, 1.0).unwrap());
    let kinds: Vec<AnyForecast> = vec![
        gaussian(),
        StudentT::new(1.5, 0.0, 1.0).unwrap().into(),
        StudentT::new(300.0, 0.0, 1.0).unwrap().into(),
        Laplace::new(0.0, 1.0).unwrap().into(),
        Logistic::new(0.0, 1.0).unwrap().into(),
        Quantiles::new(&[0.1, 0.5, 0.9], &[-1.0, 0.0, 1.0]).unwrap().into(),
        Samples::new(&[-1.0, 0.0, 1.0]).unwrap().into(),
        Mixture::new(&[0.5, 0.5], vec![gaussian(), Laplace::new(0.0, 1.0).unwrap().into()]).unwrap().into(),
    ];
    for forecast in kinds {
        let mut before = 0.0;
        for y in [0.1, 1.0, 8.0, 37.0, 38.0, 40.0, 50.0, 800.0, 1e4, 1e8, 1e12] {
            let (up, down) = (forecast.probit(y), forecast.probit(-y));
            assert!(up > before && up.is_finite(), "{forecast:?}: probit({y}) is {up} after {before}");
            assert!((up + down).abs() <= 1e-14 * up, "{forecast:?}: probit(±{y}) are {up} and {down}");
            let (sf, cdf) = (forecast.sf(y), forecast.cdf(-y));
            assert!((sf - cdf).abs() <= 1e-13 * cdf, "{forecast:?}: tails at {y} are {sf} and {cdf}");
            let back = forecast.at_probit(up);
            assert!((back - y).abs() <= 1e-12 * y, "{forecast:?}: {y} comes back as {back}");
            before = up;
        }
    }
}

/// The t distribution's scores approach the normal's as z = t − (t³ + t)/4ν + O(t⁵/ν²), the first Cornish-Fisher term.
#[test]
fn many_degrees_of_freedom_make_a_normal() {
    for dof in [1e8, 1e10, 1e15] {
        let forecast = StudentT::new(dof, 0.0, 1.0).unwrap();
        for t in [0.01, 0.5, 1.0, 1.7, 1.8, 3.0, 10.0, 40.0] {
            let expected = t - (t * t * t + t) / (4.0 * dof);
            let bound = 4.0 * f64::powi(1.0 + t, 5) / (dof * dof) + 1e-14 * (1.0 + t);
            let probit = forecast.probit(t);
            assert!((probit - expected).abs() <= bound, "dof {dof}: probit({t}) is {probit}, not {expected}");
            let back = forecast.at_probit(probit);
            assert!((back - t).abs() <= 4e-14 * t.max(1.0), "dof {dof}: {t} comes back as {back}");
        }
    }
}

/// The score's integral diverges from half a degree of freedom down, and passes smoothly through the Cauchy case.
#[test]
fn crps_of_student_t_exists_above_half_a_degree_of_freedom() {
    let crps = |dof: f64| StudentT::new(dof, 0.0, 1.0).unwrap().crps(0.7);
    assert_eq!(crps(0.5), f64::INFINITY);
    assert!(crps(0.501).is_finite() && crps(0.501) > crps(0.6));
    for dof in [1.0 - 1e-5, 1.0 - 1e-7, 1.0 - 1e-9, 1.0 + 1e-9, 1.0 + 1e-7, 1.0 + 1e-5] {
        // The slope in dof is of order 1.
        assert!((crps(dof) - crps(1.0)).abs() <= 2.0 * (dof - 1.0).abs() + 1e-8, "at {dof}: {}", crps(dof));
    }
}

fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().unwrap(),
        value => value.as_f64().unwrap(),
    }
}

fn golden() -> Value {
    serde_json::from_str(include_str!("golden/forecasts.json")).unwrap()
}

/// Relative agreement; infinities and zeros must match exactly. Subnormal numbers have fewer digits than asked for,
/// and pass by the absolute 1e-320.
#[track_caller]
fn agrees(what: &str, input: f64, found: f64, expected: f64, tolerance: f64) {
    let close = found == expected || (found - expected).abs() <= tolerance * expected.abs() + 1e-320;
    assert!(close, "{what} at {input:e}: {found:e}, expected {expected:e} to {tolerance:e}");
}

/// Tolerances: 1e-13 for the functions, and for rounding their argument, the standardised outcome, 1e-15 of it times
/// (1 + z²), the sensitivity of a tail probability. Outcomes close to a location are subtracted exactly, but the log-normal
/// standardises a logarithm, whose rounding is worth `shift` times more.
#[test]
fn golden_values_of_the_parametric_kinds() {
    let golden = golden();
    let kinds = golden["kinds"].as_array().unwrap();
    assert!(kinds.len() >= 25, "golden values of {} parameterisations", kinds.len());
    for kind in kinds {
        let forecast: AnyForecast = serde_json::from_value(kind["forecast"].clone()).unwrap();
        let name = kind["forecast"].to_string();
        let (low, high) = (forecast.at_probit(-1.0), forecast.at_probit(1.0));
        let shift = match &forecast {
            AnyForecast::LogNormal(log_normal) => (1.0 + log_normal.mu().abs()) / log_normal.sigma(),
            _ => 0.0,
        };
        for point in kind["points"].as_array().unwrap() {
            let y = number(&point["y"]);
            let z = number(&point["probit"]);
            let slope = if z.is_finite() { 1.0 + z * z } else { 1.0 };
            let tolerance = 1e-13 + 1e-15 * slope * (1.0 + shift);
            agrees(&format!("{name} cdf"), y, forecast.cdf(y), number(&point["cdf"]), tolerance);
            agrees(&format!("{name} sf"), y, forecast.sf(y), number(&point["sf"]), tolerance);
            // Near the median the score is as accurate as the probability, not relative to itself.
            let near_zero = if z.abs() < 1.0 { z + 2.0 } else { z };
            let found = forecast.probit(y) + (near_zero - z);
            let found = if z.is_infinite() { forecast.probit(y) } else { found };
            agrees(&format!("{name} probit"), y, found, near_zero, 1e-13 + 1e-15 * (1.0 + shift));
        }
        for point in kind["quantiles"].as_array().unwrap() {
            let (p, y) = (number(&point["p"]), number(&point["y"]));
            let offset = high - low; // compared where it is not near 0
            agrees(&format!("{name} quantile"), p, forecast.quantile(p) + offset, y + offset, 1e-12);
        }
        for point in kind["scores"].as_array().unwrap() {
            let (y, crps) = (number(&point["y"]), number(&point["crps"]));
            let tolerance = 1e-13 + 1e-14 * (1.0 + shift);
            agrees(&format!("{name} crps"), y, forecast.crps(y), crps, tolerance);
        }
    }
}

/// The functions of the normal distribution: 1e-14 relative, and (1 + z²)ε more where a probability is the exponential
/// of −z²/2.
#[test]
fn golden_values_of_the_normal_distribution() {
    let golden = &golden()["normal"];
    for point in golden["points"].as_array().unwrap() {
        let z = number(&point["z"]);
        let tolerance = 1e-14 + 2.3e-16 * (1.0 + z * z);
        agrees("cdf", z, normal::cdf(z), number(&point["cdf"]), tolerance);
        agrees("sf", z, normal::sf(z), number(&point["sf"]), tolerance);
        agrees(
            "ln_cdf",
            z,
            normal::ln_cdf(z),
            number(&point["ln_cdf"]),
            1e-14 + 2.3e-16 * if z > 0.0 { z * z } else { 0.0 },
        );
    }
    for point in golden["quantiles"].as_array().unwrap() {
        let p = number(&point["p"]);
        agrees("quantile", p, normal::quantile(p), number(&point["z"]), 1e-15 * 4.0);
    }
    for point in golden["quantiles_of_ln"].as_array().unwrap() {
        let ln_p = number(&point["ln_p"]);
        agrees("quantile_of_ln", ln_p, normal::quantile_of_ln(ln_p), number(&point["z"]), 1e-14);
    }
}
