use truecast::*;
use truecast::normal;
fn u(seed:u64,t:u64,lane:u32)->f64{ truecast::random::uniform(seed,t,lane).max(1e-300) }
fn n(seed:u64,t:u64,lane:u32)->f64{ normal::quantile(u(seed,t,lane)) }
fn run(name:&str, steps:u64, f: impl Fn(u64)->(f64,f64,f64)) {
    let mut s: Stream<LedgerRecalibrator, Gaussian> = Stream::new(LedgerRecalibrator::default());
    let (mut c80,mut c98,mut base,mut ours,mut b80)=(0,0,0.0,0.0,0);
    for t in 0..steps {
        let (m,sd,y)=f(t);
        let g=Gaussian::new(m,sd).unwrap();
        let (k,cal)=s.issue(g).unwrap();
        let (lo,hi)=cal.interval(0.8).unwrap();
        c80+= u64::from(lo<=y&&y<=hi);
        let (lo,hi)=cal.interval(0.98).unwrap();
        c98+= u64::from(lo<=y&&y<=hi);
        ours+=cal.crps(y); base+=g.crps(y);
        let (lo,hi)=g.interval(0.8).unwrap();
        b80+= u64::from(lo<=y&&y<=hi);
        s.resolve(k,y).unwrap();
    }
    let c=s.recalibrator().certificate();
    println!("{name:30} base80 {:.3} crps {:+.2}% 80: {:.4} 98: {:.4} holds {}", b80 as f64/steps as f64, 100.0*(ours/base-1.0), c80 as f64/steps as f64, c98 as f64/steps as f64, c.holds());
    if name=="counter" { println!("{c}"); }
}
fn main() {
    let t=20000;
    run("twice", t, |i|(0.0,2.0,n(1,i,0)));
    run("ten", t, |i|(0.0,10.0,n(1,i,0)));
    run("quarter", t, |i|(0.0,0.25,n(1,i,0)));
    run("perfect", t, |i|(0.0,1.0,n(1,i,0)));
    run("regimes", t, |i|(0.0,if i<t/2 {2.5} else {0.4},n(1,i,0)));
    run("counter", t, |i| if i%2==0 {(0.0,10.0,10.0*n(1,i,0))} else {(0.0,0.1,0.1*(-1.5+0.3*n(1,i,0)))});
    // timing
    for steps in [1000u64, 100_000, 1_000_000] {
        let data: Vec<(Gaussian,f64)> = (0..65536).map(|i| (Gaussian::new(0.0,1.0+0.5*u(3,i,0)).unwrap(), n(1,i,1))).collect();
        let mut s: Stream<LedgerRecalibrator, Gaussian> = Stream::new(LedgerRecalibrator::default());
        let mut p: Stream<LedgerRecalibrator, Gaussian> = Stream::new(LedgerRecalibrator::new(Parameters::paper(20).unwrap().randomised(false).build().unwrap()));
        for (name, st, read) in [("default+interval", &mut s, true), ("paper", &mut p, false)] {
            let t0=std::time::Instant::now();
            let mut acc=0.0;
            for i in 0..steps { let (g,y)=data[(i&65535) as usize]; let (k,cal)=st.issue(g).unwrap(); if read { let (a,b)=cal.interval(0.8).unwrap(); acc+=b-a; } st.resolve(k,y).unwrap(); }
            println!("{name} {steps}: {:.1} ns/step {acc:.1}", t0.elapsed().as_nanos() as f64/steps as f64);
        }
        let t0=std::time::Instant::now();
        let mut s: Stream<LedgerRecalibrator, Gaussian> = Stream::new(LedgerRecalibrator::default());
        for i in 0..steps { let (g,y)=data[(i&65535) as usize]; s.observe(g,y).unwrap(); }
        println!("default observe {steps}: {:.1} ns/step", t0.elapsed().as_nanos() as f64/steps as f64);
    }
}
