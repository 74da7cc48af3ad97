//! What holds for every model: prediction is pure, refused rows change nothing, and a saved model goes on bit for bit.

// Helpers of tests: what is broken must stop the test that met it.
#![allow(clippy::expect_used, clippy::panic)]

use truecast::{Forecast, Gaussian, random};
use truecast_models::{
    AnyModel, Autoregression, AutoregressionParameters, BayesianRidge, BayesianRidgeParameters, External,
    GaussianProcess, GaussianProcessParameters, Model,
};

/// Every kind, with the inputs that it takes.
fn models() -> Vec<(AnyModel, usize)> {
    let process = GaussianProcessParameters::builder().starts(2).most_steps(20).build().expect("is valid");
    vec![
        (BayesianRidge::new(2, BayesianRidgeParameters::default()).expect("is valid").into(), 2),
        (Autoregression::new(AutoregressionParameters::default()).into(), 0),
        (GaussianProcess::new(2, process).expect("is valid").into(), 2),
        (External::default().into(), 0),
    ]
}

#[test]
fn every_model_keeps_the_laws_of_its_trait() {
    for (mut model, inputs) in models() {
        for step in 0..40 {
            let x: Vec<f64> = (0..inputs).map(|k| random::uniform(1, step, k as u32)).collect();
            let y = x.iter().sum::<f64>() + random::uniform(2, step, 0);
            if let AnyModel::External(external) = &mut model {
                external.push(Gaussian::new(0.5, 1.0).expect("is valid"));
            }
            let (once, twice) = (model.predict(&x), model.predict(&x));
            assert_eq!(once, twice);
            if step >= 2 {
                let (low, high) = once.expect("has outcomes").interval(0.8).expect("is a coverage");
                assert!(low < high && low.is_finite() && high.is_finite());
            }
            let before = model.clone();
            assert!(model.learn(&x, f64::NAN).is_err());
            if inputs > 0 {
                assert!(model.learn(&x[1..], y).is_err());
                assert!(model.predict(&vec![f64::NAN; inputs]).is_err());
            }
            assert_eq!(model, before);

            let text = serde_json::to_string(&model).expect("serialises");
            let mut loaded: AnyModel = serde_json::from_str(&text).expect("loads");
            model.learn(&x, y).expect("is finite");
            loaded.learn(&x, y).expect("is finite");
            assert_eq!(model, loaded);
        }
    }
}
