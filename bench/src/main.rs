//! scratch
#![allow(clippy::all, clippy::unwrap_used)]
use truecast::*;
use truecast::normal;
fn u(seed:u64,t:u64,lane:u32)->f64{ truecast::random::uniform(seed,t,lane).max(1e-300) }
fn n(seed:u64,t:u64,lane:u32)->f64{ normal::quantile(u(seed,t,lane)) }
fn main() {
    let mode=std::env::args().nth(1).unwrap(); let steps:u64=std::env::args().nth(2).unwrap().parse().unwrap();
    let data: Vec<(Gaussian,f64)> = (0..1024).map(|i| (Gaussian::new(0.0,1.0+0.5*u(3,i,0)).unwrap(), n(1,i,1))).collect();
    let parameters = if mode.starts_with("paper") { Parameters::paper(20).unwrap().randomised(false).build().unwrap() } else { Parameters::default() };
    let mut st: Stream<LedgerRecalibrator, Gaussian> = Stream::new(LedgerRecalibrator::new(parameters));
    let t0=std::time::Instant::now();
    let mut acc=0.0;
    for i in 0..steps { let (g,y)=data[(i&1023) as usize]; let (k,cal)=st.issue(g).unwrap(); if mode.ends_with("read") { let (a,b)=cal.interval(0.8).unwrap(); acc+=b-a; } st.resolve(k,y).unwrap(); }
    eprintln!("{mode} {:.1} ns/step {acc:.1}", t0.elapsed().as_nanos() as f64/steps as f64);
}
