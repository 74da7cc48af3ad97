//! The loop: as many trials at once as asked for, each told to the study as it ends.
//!
//! The study belongs to this thread alone. With one trial at a time its file is a function of settings and outcomes; with several it also depends on
//! the order in which they end.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use truecast_bo::study::{Evaluation, Stage, Step};
use truecast_bo::{Study, Value};

use super::objective::Objective;
use super::results::Results;
use super::shell::Trial;
use crate::failure::Result;
use crate::interrupt;
use crate::progress::Progress;

/// How trials are run.
#[derive(Debug)]
pub(crate) struct Trials<'a> {
    pub(crate) objective: &'a Objective,
    /// How many the study is to have in the end.
    pub(crate) count: usize,
    pub(crate) parallel: usize,
    /// −1 where large outcomes are wanted, which the study minimises negated.
    pub(crate) sign: f64,
    pub(crate) quiet: bool,
}

type Ended = (u64, Vec<Value>, Trial);

impl Trials<'_> {
    /// Runs trials until there are enough; `told` hears of the study after each.
    pub(crate) fn run(&self, study: &mut Study, told: impl Fn(&Study) -> Result<()>) -> Result<()> {
        let done = study.steps().iter().filter(|step| step.evaluation != Evaluation::Pending).count();
        let progress = Progress::over_trials(self.count.max(done) as u64, self.quiet);
        progress.step(done as u64);
        let stop = AtomicBool::new(false);
        let run = thread::scope(|scope| {
            let (sender, ended) = channel();
            let start = |number: u64, point: Vec<Value>, sender: Sender<Ended>| {
                let (objective, stop) = (self.objective, &stop);
                scope.spawn(move || {
                    let trial = objective.evaluate(&point, number + 1, stop);
                    // Nobody listens any more once the run was stopped.
                    let _ = sender.send((number, point, trial));
                });
            };
            let run = self.schedule(study, &progress, &ended, &told, &|number, point| {
                start(number, point, sender.clone());
            });
            stop.store(true, Ordering::SeqCst);
            run
        });
        progress.done();
        run
    }

    fn schedule(
        &self,
        study: &mut Study,
        progress: &Progress,
        ended: &Receiver<Ended>,
        told: &dyn Fn(&Study) -> Result<()>,
        start: &dyn Fn(u64, Vec<Value>),
    ) -> Result<()> {
        // What was running when an earlier run was stopped is run again.
        let waits = |step: &&Step| step.evaluation == Evaluation::Pending;
        let mut waiting: VecDeque<(u64, Vec<Value>)> =
            study.steps().iter().filter(waits).map(|step| (step.number, step.point.clone())).collect();
        let mut running = 0;
        loop {
            interrupt::check()?;
            while running < self.parallel {
                if let Some((number, point)) = waiting.pop_front() {
                    start(number, point);
                } else if study.steps().len() < self.count {
                    let number = study.steps().len() as u64;
                    let point = study.suggest()?;
                    self.tell_fallback(study, progress);
                    start(number, point);
                } else {
                    break;
                }
                running += 1;
            }
            if running == 0 {
                return Ok(());
            }
            // Ctrl-C is heard while it waits.
            let (number, point, trial) = match ended.recv_timeout(Duration::from_millis(50)) {
                Ok(trial) => trial,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            running -= 1;
            match trial {
                Trial::Value(value) => study.observe(&point, self.sign * value)?,
                Trial::Failed(why) => {
                    if !self.quiet {
                        progress.say(&format!("trial {} failed: {why}", number + 1));
                    }
                    study.observe_failed(&point, why)?;
                }
                Trial::Stopped => continue,
            }
            told(study)?;
            progress.step(1);
            if let Some(best) = Results::new(study, self.sign).best() {
                progress.note(&format!("best {}", truecast_report::number::significant(best.value)));
            }
        }
    }

    fn tell_fallback(&self, study: &Study, progress: &Progress) {
        let Some((step, fallback)) =
            study.steps().last().and_then(|step| Some((step, step.fallback.as_ref()?)))
        else {
            return;
        };
        let instead = match fallback.stage {
            Stage::Surrogate => "there is no surrogate, so the point is a random one",
            Stage::Calibration => "forecasts were not recalibrated",
            Stage::Acquisition => "there is no best point, so the point is a random one",
        };
        if !self.quiet {
            progress.say(&format!("trial {}: {instead}: {}", step.number + 1, fallback.reason));
        }
    }
}
