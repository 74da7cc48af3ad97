//! Gaussian processes against scikit-learn (`golden/gaussian_process.py`), by finite differences, and by their own laws.

// Helpers of tests: what is broken must stop the test that met it.
#![allow(clippy::expect_used, clippy::panic)]

use std::path::Path;

use proptest::prelude::*;
use serde::Deserialize;
use truecast::random;
use truecast_models::{
    Error, GaussianProcess, GaussianProcessBuilder, GaussianProcessParameters, Hyperparameters, Kernel, Mean,
    Noise,
};
use truecast_testkit::golden::{self, assert_all_close, assert_close};

#[derive(Deserialize)]
struct Case {
    kernel: Kernel,
    fixed_mean: Option<f64>,
    mean: f64,
    signal_variance: f64,
    length_scales: Vec<f64>,
    noise_variance: f64,
    inputs: Vec<Vec<f64>>,
    outcomes: Vec<f64>,
    log_evidence: f64,
    gradient: Vec<f64>,
    points: Vec<Vec<f64>>,
    means: Vec<f64>,
    stds: Vec<f64>,
    leave_one_out: Vec<[f64; 2]>,
}

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

fn builder() -> GaussianProcessBuilder {
    GaussianProcessParameters::builder()
}

fn learned(builder: GaussianProcessBuilder, inputs: &[Vec<f64>], outcomes: &[f64]) -> GaussianProcess {
    let mut model =
        GaussianProcess::new(inputs[0].len(), builder.build().expect("is valid")).expect("is valid");
    for (x, y) in inputs.iter().zip(outcomes) {
        model.learn(x, *y).expect("can be learned");
    }
    model
}

fn check(case: &Case, model: &GaussianProcess) {
    let name = format!("{:?} of {}", case.kernel, case.outcomes.len());
    // The kernel matrices have condition numbers up to 1e4: 1e-8 leaves room for both sides' rounding.
    assert_close(&format!("{name}: mean"), model.mean().expect("fitted"), case.mean, 1e-8, 0.0);
    let evidence = model.log_evidence().expect("fitted");
    assert_close(&format!("{name}: evidence"), evidence, case.log_evidence, 1e-8, 0.0);
    let gradient = model.log_evidence_gradient().expect("fitted");
    assert_all_close(&format!("{name}: gradient"), &gradient, &case.gradient, 1e-8, 1e-9);
    for (i, x) in case.points.iter().enumerate() {
        let forecast = model.predict(x).expect("fitted");
        assert_close(&format!("{name}: mean at {i}"), forecast.mean(), case.means[i], 1e-8, 0.0);
        assert_close(&format!("{name}: std at {i}"), forecast.std(), case.stds[i], 1e-8, 0.0);
    }
    for (i, forecast) in model.leave_one_out().expect("fitted").iter().enumerate() {
        let [mean, std] = case.leave_one_out[i];
        assert_close(&format!("{name}: mean without {i}"), forecast.mean(), mean, 1e-8, 1e-9);
        assert_close(&format!("{name}: std without {i}"), forecast.std(), std, 1e-8, 0.0);
    }
}

/// At once, and row by row.
#[test]
fn as_scikit_learn() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/gaussian_process.json");
    for case in golden::load::<Cases>(&path).cases {
        let mean = case.fixed_mean.map_or(Mean::Fitted, Mean::Fixed);
        let builder = builder().kernel(case.kernel).mean(mean).refit_every(None);
        let at = Hyperparameters::new(case.signal_variance, case.length_scales.clone(), case.noise_variance);
        let at = at.expect("is valid");
        let mut model = learned(builder, &case.inputs, &case.outcomes);
        model.set_hyperparameters(at.clone()).expect("can be factored");
        assert_eq!(model.jitter(), Some(0.0));
        check(&case, &model);

        let mut model = learned(builder, &case.inputs[..1], &case.outcomes[..1]);
        model.set_hyperparameters(at).expect("can be factored");
        for (x, y) in case.inputs.iter().zip(&case.outcomes).skip(1) {
            model.learn(x, *y).expect("can be learned");
        }
        check(&case, &model);
    }
}

/// A smooth function of two inputs, one of which matters little, and one that does not matter at all.
fn sample(count: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let draw = |i, lane| random::uniform(3, i, lane);
    let inputs: Vec<Vec<f64>> = (0..count).map(|i| (0..3).map(|k| draw(i, k)).collect()).collect();
    let outcomes = inputs.iter().zip(0..).map(|(x, i)| {
        (6.0 * x[0]).sin()
            + 0.3 * x[1]
            + 0.05 * truecast::normal::quantile(0.5e-9 + (1.0 - 1e-9) * draw(i, 9))
    });
    let outcomes = outcomes.collect();
    (inputs, outcomes)
}

#[test]
fn the_evidence_is_maximised_and_relevance_found() {
    let (inputs, outcomes) = sample(60);
    for kernel in [Kernel::SquaredExponential, Kernel::Matern52] {
        let model = learned(builder().kernel(kernel).refit_every(Some(60)), &inputs, &outcomes);
        let at = model.hyperparameters().expect("fitted");
        let gradient = model.log_evidence_gradient().expect("fitted");
        let lengths = at.length_scales();
        assert!(lengths[0] < lengths[1] && lengths[1] < lengths[2], "{at:?}");
        // Inside of the box the gradient vanishes; the irrelevant length ends at its bound of 20 ranges, or flat.
        for (k, g) in gradient.iter().enumerate() {
            assert!(g.abs() < 0.05 || (k == 3 && *g > 0.0), "{k}: {gradient:?} {at:?}");
        }
        // The noise of 0.05 by its maximum likelihood: some 1/√(2·60) of it off, and what the fit takes up.
        let noise = at.noise_variance().sqrt();
        assert!((0.03..0.07).contains(&noise), "{noise}");
        // Multiplying outcomes by 1000 and inputs by 0.01 changes nothing else.
        let scaled: Vec<Vec<f64>> = inputs.iter().map(|x| x.iter().map(|x| 0.01 * x).collect()).collect();
        let thousandfold: Vec<f64> = outcomes.iter().map(|y| 1e3 * y).collect();
        let other = learned(builder().kernel(kernel).refit_every(Some(60)), &scaled, &thousandfold);
        let (one, two) = (model.predict(&[0.4, 0.4, 0.4]), other.predict(&[0.004, 0.004, 0.004]));
        let (one, two) = (one.expect("fitted"), two.expect("fitted"));
        // Both stop where the gradient is below 1e-5 in units of the data.
        assert_close("mean", two.mean(), 1e3 * one.mean(), 1e-3, 0.0);
        assert_close("std", two.std(), 1e3 * one.std(), 1e-3, 0.0);
    }
}

#[test]
fn more_starts_never_find_less_evidence() {
    let (inputs, outcomes) = sample(25);
    let mut last = f64::NEG_INFINITY;
    for starts in [1, 2, 5, 9] {
        let mut model = learned(builder().refit_every(None).starts(starts), &inputs, &outcomes);
        model.refit().expect("can be fitted");
        let evidence = model.log_evidence().expect("fitted");
        assert!(evidence >= last, "{starts} starts: {evidence} after {last}");
        last = evidence;
    }
}

/// Rows that repeat without noise get by with a jitter where their outcomes agree, and are refused where they do not.
#[test]
fn what_cannot_be_factored_is_refused() {
    let exact = builder().noise(Noise::Fixed(0.0)).refit_every(None);
    let inputs: Vec<Vec<f64>> = [0.0, 1.0, 1.0].iter().map(|x| vec![*x]).collect();
    let values = |v, length, noise| Hyperparameters::new(v, vec![length], noise).expect("is valid");
    let mut model = learned(exact, &inputs, &[0.0, 1.0, 1.0]);
    model.set_hyperparameters(values(1.0, 1.0, 0.0)).expect("with a jitter");
    assert!(model.jitter().expect("fitted") > 0.0);
    // The jitter of at most 1e-6 is what the mean can be off by.
    assert_close("at the repeated row", model.predict(&[1.0]).expect("fitted").mean(), 1.0, 1e-6, 0.0);

    let before = model.clone();
    let contradiction = Error::Contradiction { first: 1, second: 3, left: 1.0, right: 2.0 };
    assert_eq!(model.learn(&[1.0], 2.0), Err(contradiction));
    assert_eq!(model, before);
    let overflow = model.set_hyperparameters(values(1.5e308, 1.0, 1.5e308));
    assert!(matches!(overflow, Err(Error::NotPositiveDefinite { rows: 3, .. })), "{overflow:?}");
    let two = Hyperparameters::new(1.0, vec![1.0, 1.0], 0.0).expect("is valid");
    assert_eq!(model.set_hyperparameters(two), Err(Error::InputLength { expected: 1, found: 2 }));
    assert_eq!(model, before);
}

/// Rows at the ends of the allowed range, and length scales far from theirs: finite forecasts, or the reason why not.
#[test]
fn extremes_are_finite() {
    for kernel in [Kernel::SquaredExponential, Kernel::Matern52] {
        let inputs: Vec<Vec<f64>> = [-1e150, 0.0, 1e150].iter().map(|x| vec![*x]).collect();
        let mut model = learned(builder().kernel(kernel).refit_every(None), &inputs, &[0.0, 1.0, 2.0]);
        for length in [1e-150, 1.0, 1e150, 1e200] {
            let values = Hyperparameters::new(1.0, vec![length], 1e-3).expect("is valid");
            model.set_hyperparameters(values).expect("can be factored");
            let forecast = model.predict(&[1e149]).expect("fitted");
            assert!(forecast.mean().is_finite() && forecast.std() > 0.0);
            let latent = model.latent(&[1e149]).expect("fitted");
            assert!(latent.mean_gradient[0].is_finite() && latent.std_gradient[0].is_finite());
        }
        let tiny = Hyperparameters::new(1.0, vec![1e-160], 1e-3).expect("is valid");
        let value = f64::NEG_INFINITY;
        let refused = Err(Error::OutOfRange { what: "an input in length scales", value });
        assert_eq!(model.set_hyperparameters(tiny), refused);
        model.refit().expect("can be fitted");
    }
}

#[test]
fn bad_rows_are_named_and_change_nothing() {
    let mut model = GaussianProcess::new(2, GaussianProcessParameters::default()).expect("is valid");
    assert_eq!(model.predict(&[0.0, 0.0]), Err(Error::NotEnoughOutcomes { least: 2, found: 0 }));
    assert_eq!(model.refit(), Err(Error::NotEnoughOutcomes { least: 2, found: 0 }));
    model.learn(&[0.0, 1.0], 2.0).expect("is finite");
    assert_eq!(model.leave_one_out(), Err(Error::NotEnoughOutcomes { least: 2, found: 1 }));
    let before = model.clone();
    assert_eq!(model.learn(&[0.0], 2.0), Err(Error::InputLength { expected: 2, found: 1 }));
    assert_eq!(model.learn(&[0.0, -1e200], 2.0), Err(Error::Input { index: 1, value: -1e200 }));
    assert_eq!(model.learn(&[0.0, 1.0], f64::NEG_INFINITY), Err(Error::Outcome { value: f64::NEG_INFINITY }));
    assert_eq!(model, before);
    // Equal outcomes and equal inputs have no unit; the fit is finite all the same.
    for _ in 0..12 {
        model.learn(&[0.0, 1.0], 2.0).expect("is finite");
    }
    let forecast = model.predict(&[5.0, 5.0]).expect("fitted");
    assert!(forecast.mean().is_finite() && forecast.std() > 0.0);
}

/// Saved at any step, the process goes on bit for bit.
#[test]
fn resume() {
    let (inputs, outcomes) = sample(23);
    let builder = builder().starts(2).most_steps(20);
    let whole = learned(builder, &inputs, &outcomes);
    let mut model = GaussianProcess::new(3, builder.build().expect("is valid")).expect("is valid");
    for (x, y) in inputs.iter().zip(&outcomes) {
        let text = serde_json::to_string(&model).expect("serialises");
        model = serde_json::from_str(&text).expect("loads");
        model.learn(x, *y).expect("can be learned");
    }
    assert_eq!(model, whole);
    let text = serde_json::to_string(&model).expect("serialises");
    let broken = text.replacen("\"width\":3", "\"width\":2", 1);
    assert!(serde_json::from_str::<GaussianProcess>(&broken).is_err());
}

prop_compose! {
    fn settings()(
        squared in any::<bool>(), separate in any::<bool>(), fitted in any::<bool>(),
        logs in prop::collection::vec(-1.0..1.0_f64, 5),
        rows in prop::collection::vec((prop::collection::vec(-1.0..1.0_f64, 3), -2.0..2.0_f64), 2..9),
        x in prop::collection::vec(-1.5..1.5_f64, 3),
    ) -> (GaussianProcess, Vec<f64>, Vec<f64>) {
        let kernel = if squared { Kernel::SquaredExponential } else { Kernel::Matern52 };
        let mean = if fitted { Mean::Fitted } else { Mean::Fixed(0.3) };
        let (inputs, outcomes): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let model = learned(builder().kernel(kernel).mean(mean).refit_every(None), &inputs, &outcomes);
        let logs = if separate { logs } else { vec![logs[0], logs[1], logs[4]] };
        (model, logs, x)
    }
}

/// With ln v, ln ℓ… and ln noise as given; the noise kept above e⁻³.
fn at(mut model: GaussianProcess, logs: &[f64]) -> GaussianProcess {
    let last = logs.len() - 1;
    let lengths = logs[1..last].iter().map(|x| x.exp()).collect();
    let values = Hyperparameters::new(logs[0].exp(), lengths, (logs[last] - 2.0).exp()).expect("is valid");
    model.set_hyperparameters(values).expect("can be factored");
    model
}

proptest! {
    /// Gradients of the log evidence are its central differences. Of step h = 1e-5 they are off by h² f‴/6 and ε f/h, about 1e-9
    /// of values below 100.
    #[test]
    fn evidence_gradients((model, logs, _) in settings()) {
        let gradient = at(model.clone(), &logs).log_evidence_gradient().unwrap();
        for k in 0..logs.len() {
            let side = |step: f64| {
                let mut moved = logs.clone();
                moved[k] += step;
                at(model.clone(), &moved).log_evidence().unwrap()
            };
            let difference = (side(1e-5) - side(-1e-5)) / 2e-5;
            prop_assert!((gradient[k] - difference).abs() < 1e-6 * (1.0 + difference.abs()), "{k}: {gradient:?} {difference}");
        }
    }

    /// Gradients of the function's mean and standard deviation in the inputs, likewise.
    #[test]
    fn input_gradients((model, logs, x) in settings()) {
        let model = at(model, &logs);
        let here = model.latent(&x).unwrap();
        for k in 0..x.len() {
            let side = |step: f64| {
                let mut moved = x.clone();
                moved[k] += step;
                model.latent(&moved).unwrap()
            };
            let (up, down) = (side(1e-5), side(-1e-5));
            let (mean, std) = ((up.mean - down.mean) / 2e-5, (up.std - down.std) / 2e-5);
            prop_assert!((here.mean_gradient[k] - mean).abs() < 1e-6 * (1.0 + mean.abs()));
            prop_assert!((here.std_gradient[k] - std).abs() < 1e-6 * (1.0 + std.abs()));
        }
    }

    /// Leave-one-out forecasts are those of the process without the row. A fixed mean, since the fitted one would move.
    #[test]
    fn leave_one_out_leaves_one_out((model, logs, _) in settings()) {
        let text = serde_json::to_string(&model).unwrap();
        let model: GaussianProcess = serde_json::from_str(&text.replace("\"mean\":\"fitted\"", "\"mean\":{\"fixed\":0.3}")).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let (inputs, outcomes) = (golden::numbers(&value, "/inputs"), golden::numbers(&value, "/outcomes"));
        let kernel: Kernel = golden::decode(&value, "/parameters/kernel");
        let forecasts = at(model, &logs).leave_one_out().unwrap();
        for i in 0..outcomes.len() {
            let mut rows: Vec<Vec<f64>> = inputs.chunks(3).map(<[f64]>::to_vec).collect();
            let mut others = outcomes.clone();
            let x = rows.remove(i);
            others.remove(i);
            let without = learned(builder().kernel(kernel).mean(Mean::Fixed(0.3)).refit_every(None), &rows, &others);
            let want = at(without, &logs).predict(&x).unwrap();
            prop_assert!((forecasts[i].mean() - want.mean()).abs() < 1e-9);
            prop_assert!((forecasts[i].std() - want.std()).abs() < 1e-9);
        }
    }
}
