//! scratch
#![allow(clippy::all, clippy::unwrap_used)]
use truecast::*;
use truecast_testkit::streams::*;
use truecast_testkit::adversary::*;
fn main() {
    for s in Scenario::ALL {
        let mut line=format!("{:22}", s.name());
        for seed in 0..3 {
        let steps=s.stream(20_000, seed);
        let mut st: Stream<LedgerRecalibrator, Gaussian> = Stream::new(LedgerRecalibrator::default());
        let mut cov=[0.0;5]; let nom=[0.5,0.8,0.9,0.95,0.98];
        let (mut a,mut b)=(0.0,0.0);
        for x in &steps { let f=x.forecast(); let (k,g)=st.issue(f).unwrap(); for i in 0..5 { let (l,h)=g.interval(nom[i]).unwrap(); if l<=x.outcome&&x.outcome<=h {cov[i]+=1.0/20000.0;} } a+=g.crps(x.outcome); b+=f.crps(x.outcome); st.resolve(k,x.outcome).unwrap(); }
        line+=&format!(" | {:+.2} {:.3} {:.3} {:.3} {:.3} {:.3}", 100.0*(a/b-1.0), cov[0],cov[1],cov[2],cov[3],cov[4]);
        }
        println!("{line}");
    }
    for (bound, t) in [(4.0,3000),(4.0,10000),(50.0,3000)] {
        let mut st: Stream<LedgerRecalibrator, Gaussian> = Stream::new(LedgerRecalibrator::default());
        let mut adv=IntervalStepper::new(0.8,bound,0); let mut inside=0.0;
        for _ in 0..t { let f=Gaussian::new(0.0,1.0).unwrap(); let (k,g)=st.issue(f).unwrap(); let y=adv.outcome(&f,&g); let (l,h)=g.interval(0.8).unwrap(); if l<=y&&y<=h {inside+=1.0;} st.resolve(k,y).unwrap(); }
        println!("stepper {bound} {t}: {:.4}", inside/t as f64);
    }
}
