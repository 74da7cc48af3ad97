//! One forecast of every kind, around a location and of a scale.

use truecast::forecast::{
    AnyForecast, CdfTable, Forecast, Gaussian, Laplace, LogNormal, Logistic, Mixture, Quantiles,
    Recalibrated, Samples, StudentT, Uniform,
};
use truecast::recalibrate::Map;

/// What [`of_kind`] knows.
pub const KINDS: [&str; 27] = [
    "gaussian",
    "t 1.5",
    "t 3",
    "t 10",
    "t 30",
    "t 1e300",
    "log-normal, narrow",
    "log-normal, wide",
    "laplace",
    "logistic",
    "uniform",
    "table of 2",
    "table of 3",
    "table of 23",
    "table with ties",
    "table of zero width",
    "table with a tie at its end",
    "table on a half-line",
    "ensemble of 1",
    "ensemble of 2",
    "ensemble of 10",
    "ensemble of 1000",
    "ensemble with ties",
    "cdf table with jumps",
    "mixture",
    "recalibrated gaussian",
    "recalibrated table",
];

/// The kind with number `kind`, around `mean` and of the size of `scale`; log-normal ones have `scale` as their median.
pub fn of_kind(kind: usize, mean: f64, scale: f64) -> AnyForecast {
    let normal = Gaussian::new(mean, scale).unwrap();
    let t = |dof: f64| StudentT::new(dof, mean, scale).unwrap().into();
    let levels =
        |count: usize| (1..=count).map(move |k| k as f64 / (count as f64 + 1.0)).collect::<Vec<f64>>();
    let table = |count: usize| -> AnyForecast {
        let values: Vec<f64> = levels(count).iter().map(|p| normal.quantile(*p)).collect();
        Quantiles::new(&levels(count), &values).unwrap().into()
    };
    let at = |places: &[f64]| places.iter().map(|z| mean + scale * z).collect::<Vec<f64>>();
    let tied = |places: &[f64]| Quantiles::new(&levels(places.len()), &at(places)).unwrap();
    let members = |count: usize| {
        let value = |k: usize| normal.quantile((k as f64 + 0.5) / count as f64);
        AnyForecast::from(Samples::new(&(0..count).map(value).collect::<Vec<_>>()).unwrap())
    };
    let mapped = |base: AnyForecast| Recalibrated::new(base, bent()).into();
    match KINDS[kind] {
        "gaussian" => normal.into(),
        "t 1.5" => t(1.5),
        "t 3" => t(3.0),
        "t 10" => t(10.0),
        "t 30" => t(30.0),
        "t 1e300" => t(1e300),
        "log-normal, narrow" => LogNormal::new(scale.ln(), 0.3).unwrap().into(),
        "log-normal, wide" => LogNormal::new(scale.ln(), 2.0).unwrap().into(),
        "laplace" => Laplace::new(mean, scale).unwrap().into(),
        "logistic" => Logistic::new(mean, scale).unwrap().into(),
        "uniform" => Uniform::new(mean - scale, mean + scale).unwrap().into(),
        "table of 2" => table(2),
        "table of 3" => table(3),
        "table of 23" => table(23),
        "table with ties" => tied(&[-2.0, -1.0, -1.0, 0.0, 0.5, 0.5, 0.5, 2.0]).into(),
        "table of zero width" => tied(&[0.5; 5]).into(),
        "table with a tie at its end" => tied(&[-1.0, -1.0, -1.0, -1.0, -1.0, 0.0, 1.0]).into(),
        "table on a half-line" => {
            tied(&[-1.0, -0.5, 0.0, 1.0, 2.0]).with_support(mean - scale, f64::INFINITY).unwrap().into()
        }
        "ensemble of 1" => members(1),
        "ensemble of 2" => members(2),
        "ensemble of 10" => members(10),
        "ensemble of 1000" => members(1000),
        "ensemble with ties" => Samples::new(&at(&[-1.0, 0.0, 0.0, 0.0, 0.25, 3.0])).unwrap().into(),
        "cdf table with jumps" => {
            CdfTable::new(&at(&[-1.0, 0.0, 0.0, 1.0, 3.0]), &[0.1, 0.3, 0.6, 0.8, 1.0]).unwrap().into()
        }
        "mixture" => {
            let part =
                |place: f64, size: f64| Gaussian::new(mean + scale * place, scale * size).unwrap().into();
            Mixture::new(&[0.7, 0.3], vec![part(-1.0, 0.3), part(2.0, 1.0)]).unwrap().into()
        }
        "recalibrated gaussian" => mapped(normal.into()),
        "recalibrated table" => mapped(table(9)),
        other => panic!("there is no forecast called {other}"),
    }
}

/// A map that bends, jumps and has a gap.
fn bent() -> Map {
    let curve = serde_json::json!({
        "z": [-2.0, -0.5, -0.5, 0.25, 1.0, 1.5, 3.0], "t": [-1.75, -1.0, -0.25, 0.125, 0.125, 1.0, 2.0],
        "left": 0.5, "right": 1.25
    });
    serde_json::from_value(serde_json::json!({ "curve": curve, "steps": null, "announced": null })).unwrap()
}
