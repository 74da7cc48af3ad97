//! Times of the base forecasters: streams of them, and single fits.

use std::fs;
use std::time::Instant;

use truecast::{Forecast, normal, random};
use truecast_models::{
    Autoregression, AutoregressionParameters, BayesianRidge, BayesianRidgeParameters, GaussianProcess,
    GaussianProcessParameters,
};

/// Rows of a file of numbers, the outcome last; or 10,000 rows of 53 inputs on scales from 1 to 10⁸ if there is none.
fn table(file: Option<&str>) -> Vec<Vec<f64>> {
    match file {
        Some(file) => {
            let text = fs::read_to_string(file).unwrap();
            text.lines()
                .map(|line| line.split(',').map(|cell| cell.trim().parse().unwrap()).collect())
                .collect()
        }
        None => (0..10_000_u64)
            .map(|i| {
                let mut row: Vec<f64> =
                    (0..53).map(|k| random::uniform(1, i, k) * 10.0_f64.powi(k as i32 % 9)).collect();
                row.push(row[0] + 2.0 * row[9] + noise(i));
                row
            })
            .collect(),
    }
}

fn noise(i: u64) -> f64 {
    normal::quantile(0.5e-9 + (1.0 - 1e-9) * random::uniform(2, i, 0))
}

/// Predict, then learn; the evidence maximised again after each ten rows.
fn ridge(file: Option<&str>) {
    let rows = table(file);
    let inputs = rows[0].len() - 1;
    let mut model = BayesianRidge::new(inputs, BayesianRidgeParameters::default()).unwrap();
    let (mut crps, start) = (0.0, Instant::now());
    for row in &rows {
        let (x, y) = (&row[..inputs], row[inputs]);
        if model.count() > 0 {
            crps += model.predict(x).unwrap().crps(y);
        }
        model.learn(x, y).unwrap();
    }
    let seconds = start.elapsed().as_secs_f64();
    let refits = rows.len() / 10;
    println!("Bayesian ridge: {} rows of {inputs} inputs, {refits} refits", rows.len());
    println!(
        "  {seconds:.2} s in all, {:.2} ms per refit, mean CRPS {:.4}",
        1e3 * seconds / refits as f64,
        crps / rows.len() as f64
    );
}

fn autoregression() {
    let mut model = Autoregression::new(AutoregressionParameters::builder().lags(10).build().unwrap());
    let (mut last, mut crps, start) = (0.0, 0.0, Instant::now());
    for i in 0..100_000 {
        last = 0.7 * last + noise(i);
        if model.count() > 1 {
            crps += model.predict().unwrap().location() - last;
        }
        model.learn(last).unwrap();
    }
    println!(
        "AR(10): {:.2} µs per step (mean error {:.4})",
        start.elapsed().as_secs_f64() * 10.0,
        crps / 1e5
    );
}

fn gaussian_process(rows: u64, inputs: u32) {
    let parameters = GaussianProcessParameters::builder().refit_every(None).starts(5).build().unwrap();
    let mut model = GaussianProcess::new(inputs as usize, parameters).unwrap();
    for i in 0..rows {
        let x: Vec<f64> = (0..inputs).map(|k| random::uniform(3, i, k)).collect();
        let y = (6.0 * x[0]).sin() + x.iter().sum::<f64>() + 0.05 * noise(i);
        model.learn(&x, y).unwrap();
    }
    let start = Instant::now();
    model.refit().unwrap();
    let (fit, evidence) = (start.elapsed().as_secs_f64(), model.log_evidence().unwrap());
    let x = vec![0.5; inputs as usize];
    let start = Instant::now();
    let sum: f64 = (0..1_000).map(|_| std::hint::black_box(&model).predict(&x).unwrap().std()).sum();
    let predict = start.elapsed().as_secs_f64() * 1e3;
    println!(
        "Gaussian process: {rows} rows of {inputs} inputs, 5 starts: fit {:.0} ms, log evidence {evidence:.3}",
        1e3 * fit
    );
    println!("  {predict:.1} µs per forecast (std {:.4})", sum / 1e3);
}

/// All of them; `file` is a table for the first.
pub(crate) fn run(file: Option<&str>) {
    ridge(file);
    autoregression();
    gaussian_process(50, 10);
    gaussian_process(200, 5);
}
