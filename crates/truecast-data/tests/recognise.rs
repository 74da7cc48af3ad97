//! Columns are recognised by their names, and a file that can be read in two ways is refused with both.

#![allow(clippy::unwrap_used)]

use truecast_data::recognise::{Form, FormKind, Idiom, Wishes, recognise};

fn names(header: &str) -> Vec<String> {
    header.split(',').map(str::to_owned).collect()
}

fn form(header: &str) -> Form {
    recognise("f.csv", &names(header), &Wishes::default()).unwrap().form
}

fn refused(header: &str, wishes: &Wishes) -> String {
    recognise("f.csv", &names(header), wishes).unwrap_err().to_string()
}

#[test]
fn every_form_is_known_by_its_names() {
    let gaussian = |mean, spread, variance| Form::Gaussian { mean, spread, variance };
    for (header, expected) in [
        ("y,mean,std", gaussian(1, 2, false)),
        ("t,Y,mu,sigma", gaussian(2, 3, false)),
        ("y,yhat,variance", gaussian(1, 2, true)),
        ("y,q0.9,q0.1,q0.5", Form::Quantiles(vec![(0.1, 2), (0.5, 3), (0.9, 1)])),
        ("y,0.05,0.95", Form::Quantiles(vec![(0.05, 1), (0.95, 2)])),
        ("realised,forecast,quantile_P10,quantile_P90", Form::Quantiles(vec![(0.1, 2), (0.9, 3)])),
        ("y,quantile_P10,quantile_P90,stdev", Form::Quantiles(vec![(0.1, 1), (0.9, 2)])),
        ("unique_id,ds,y,ETS-lo-90,ETS-hi-90", Form::Quantiles(vec![(0.05, 3), (0.95, 4)])),
        ("y,median,lo-80,hi-80", Form::Quantiles(vec![(0.1, 2), (0.5, 1), (0.9, 3)])),
        ("y,sample_2,sample_10,sample_1", Form::Samples(vec![3, 1, 2])),
        ("y,yhat", Form::Point(1)),
        (
            "location,output_type,output_type_id,value",
            Form::Hubverse { output_type: 1, output_type_id: 2, value: 3 },
        ),
        ("id,F1,F2", Form::M5 { id: 0, days: vec![1, 2] }),
    ] {
        assert_eq!(form(header), expected, "{header}");
    }
}

#[test]
fn outcome_series_and_times_are_found_beside_the_forecast() {
    let layout =
        recognise("f.csv", &names("series,date,actual,mu,sd,outcome_time,cutoff,h"), &Wishes::default())
            .unwrap();
    assert_eq!((layout.outcome, &layout.keys[..]), (Some(2), &[0][..]));
    assert_eq!(
        (layout.made, layout.about, layout.known, layout.horizon),
        (Some(6), Some(1), Some(5), Some(7))
    );
    assert!(!layout.made_before);
    assert_eq!(layout.to_string(), "mean mu, standard deviation sd; outcome actual; series series");
    let hub =
        "model_id,reference_date,target,horizon,location,target_end_date,output_type,output_type_id,value";
    let layout = recognise("f.csv", &names(hub), &Wishes::default()).unwrap();
    assert_eq!((layout.outcome, &layout.keys[..]), (None, &[0, 2, 4][..]));
    assert_eq!(
        (layout.made, layout.about, layout.horizon, layout.made_before),
        (Some(1), Some(5), Some(3), true)
    );
    let none = Some("none".to_owned());
    let wishes = Wishes { made: none.clone(), horizon: none, ..Wishes::default() };
    let layout = recognise("f.csv", &names(hub), &wishes).unwrap();
    assert_eq!((layout.made, layout.horizon, layout.pooled), (None, None, true));
}

/// Names of neuralforecast, Darts and Prophet, and of hubs before the first form was agreed upon.
#[test]
fn other_libraries_have_their_names() {
    for (header, expected) in [
        ("unique_id,ds,cutoff,y,NHITS-median,NHITS-ql0.1,NHITS-ql0.9", vec![(0.1, 5), (0.5, 4), (0.9, 6)]),
        ("time,y,y_q0.100,y_q0.500,y_q0.900", vec![(0.1, 2), (0.5, 3), (0.9, 4)]),
    ] {
        assert_eq!(form(header), Form::Quantiles(expected), "{header}");
    }
    assert_eq!(
        form("forecast_date,target,target_end_date,location,type,quantile,value"),
        Form::Hubverse { output_type: 4, output_type_id: 5, value: 6 }
    );
    let prophet = "ds,y,yhat,yhat_lower,yhat_upper";
    assert_eq!(
        refused(prophet, &Wishes::default()),
        "f.csv: the column yhat_lower does not say how much its interval should hold\nhint: say so with --interval-width 80, as the model was told"
    );
    let wishes = Wishes { interval_width: Some(80.0), ..Wishes::default() };
    let layout = recognise("f.csv", &names(prophet), &wishes).unwrap();
    assert_eq!(layout.form, Form::Quantiles(vec![(0.1, 3), (0.5, 2), (0.9, 4)]));
}

#[test]
fn outcomes_are_known_by_the_names_of_other_tools() {
    for name in ["y", "actual", "oracle_value", "realised", "realized", "ground_truth", "Realised"] {
        let layout = recognise("f.csv", &names(&format!("mean,std,{name}")), &Wishes::default()).unwrap();
        assert_eq!(layout.outcome, Some(2), "{name}");
    }
}

#[test]
fn hints_speak_as_the_caller_does() {
    let wishes = |outcome: Option<&str>| Wishes {
        idiom: Idiom::Keywords,
        outcome: outcome.map(str::to_owned),
        ..Wishes::default()
    };
    assert_eq!(
        refused("y,mean,std,A-lo-80,A-hi-80", &wishes(None)),
        "f.csv: several columns may hold the forecast:\n  gaussian: mean, std\n  intervals: A-lo-80, A-hi-80\n\
         hint: choose with mean=\"mean\", std=\"std\" or model=\"A\""
    );
    assert_eq!(
        refused("y,mean,std", &wishes(Some("z"))),
        "f.csv: there is no column \"z\", which outcome= names\nhint: the columns are y, mean, std"
    );
}

#[test]
fn a_file_that_reads_in_two_ways_lists_both() {
    assert_eq!(
        refused("y,mean,std,q0.1,q0.9", &Wishes::default()),
        "f.csv: several columns may hold the forecast:\n  gaussian: mean, std\n  quantiles: q0.1, q0.9\n\
         hint: choose with --mean mean --std std or --form quantiles"
    );
    assert_eq!(
        refused("y,A-lo-80,A-hi-80,B-lo-80,B-hi-80", &Wishes::default()),
        "f.csv: several columns may hold the forecast:\n  intervals: A-lo-80, A-hi-80\n  intervals: B-lo-80, B-hi-80\n\
         hint: choose with --model A or --model B"
    );
    assert_eq!(
        refused("y,actual,mean,std", &Wishes::default()),
        "f.csv: several columns may hold the outcome: y, actual\nhint: choose one with --outcome y"
    );
    assert_eq!(
        refused("y,q10,q0.1,q90", &Wishes::default()),
        "f.csv: the columns q10 and q0.1 are both the quantile 0.1\nhint: leave one of them out"
    );
    assert!(refused("a,b", &Wishes::default()).contains("no columns are known to hold a forecast: a, b"));
}

#[test]
fn wishes_come_first() {
    let both = names("y,mean,std,q0.1,q0.9");
    let wish = Wishes { form: Some(FormKind::Quantiles), ..Wishes::default() };
    assert_eq!(recognise("f", &both, &wish).unwrap().form, Form::Quantiles(vec![(0.1, 3), (0.9, 4)]));
    let wish = Wishes { mean: Some("a".into()), std: Some("b".into()), ..Wishes::default() };
    let layout = recognise("f", &names("a,b,y,id"), &wish).unwrap();
    assert_eq!(layout.form, Form::Gaussian { mean: 0, spread: 1, variance: false });
    assert_eq!(layout.keys, [3]);
    let wish = Wishes { keys: Some(vec![]), ..Wishes::default() };
    assert!(recognise("f", &names("id,y,mean,std"), &wish).unwrap().keys.is_empty());
    let wish = Wishes { model: Some("B".into()), ..Wishes::default() };
    let layout = recognise("f", &names("y,A-lo-80,A-hi-80,B,B-lo-80,B-hi-80"), &wish).unwrap();
    assert_eq!(layout.form, Form::Quantiles(vec![(0.1, 4), (0.5, 3), (0.9, 5)]));
    let wish = Wishes { outcome: Some("Y".into()), ..Wishes::default() };
    assert_eq!(
        refused("y,mean,std", &wish),
        "f.csv: there is no column \"Y\", which --outcome names\nhint: the columns are y, mean, std"
    );
}
