use truecast::grid::{Levels, Plays};
use truecast::*;
use truecast_testkit::streams::Draws;
fn steps(count: usize) -> Vec<(Gaussian, f64)> {
    let mut draws = Draws::new(17);
    (0..count)
        .map(|t| {
            let scale = [1.0, 0.01, 300.0][t % 3] * (1.0 + draws.uniform());
            let forecast = Gaussian::new(scale * draws.normal(), scale).expect("is finite");
            let z = match t % 7 { 0 => 0.0, 1 => 12.0 * draws.normal(), _ => 1.7 * draws.normal() + 0.4 };
            (forecast, forecast.at_probit(z))
        })
        .collect()
}
#[test]
fn curve() {
    let mut r = LedgerRecalibrator::default();
    for (f, y) in steps(200) { r.observe(&f, y).unwrap(); }
    let f = Gaussian::new(5.0, 2.0).unwrap();
    let g = r.recalibrate(f).unwrap();
    let c = g.curve().unwrap();
    println!("{:?}\n{:?} {} {}", g.map().announced(), g.map().guard().unwrap().scores(), c.lower_spread(), c.upper_spread());
    for k in -160..=160 { let z = k as f64*0.05; let y = f.at_probit(z);
        let (a,b)=(c.probit(y), g.probit(y)); if (a-b).abs()>1e-9 { println!("z {z} y {y}: curve {a} map {b}"); } }
    println!("{:?}", c.knots());
}
#[test]
fn nested() {
    let p = Parameters::builder().levels(Levels::new(vec![-1.0, 1.0]).unwrap()).plays(Plays::probit(3, 1.0).unwrap()).build().unwrap();
    let mut r = LedgerRecalibrator::new(p);
    for (t,(f, y)) in steps(200).into_iter().enumerate() {
        let g = r.recalibrate(f).unwrap();
        let mut inner = (f64::INFINITY, f64::NEG_INFINITY);
        for coverage in [0.001, 0.1, 0.5, 0.8, 0.9, 0.95, 0.98, 0.999, 0.999_999] {
            let (low, high) = g.interval(coverage).unwrap();
            if !(low <= high && low <= inner.0 && inner.1 <= high) { println!("{t} {coverage} {low} {high} in {inner:?} {:?} {:?} f {f:?}", g.map().announced(), g.map().guard().unwrap().scores()); }
            inner = (low, high);
        }
        r.observe(&f, y).unwrap(); }
}
