//! One trial of a command: run by the shell, its last number read, ended when it takes too long.
//!
//! The value is the last word on standard output that reads as a number. If that is not finite, or there is none, or the command fails, the trial failed: no number
//! is made up. A command has a process group of its own, so that Ctrl-C reaches it only through here, and what it started can be ended with it.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The longest word that is still looked at as a number.
const LONGEST: usize = 400;
/// How much of standard error is kept to say why a trial failed.
const TAIL: usize = 2_000;
/// How long a command has between being asked to end and being ended.
const GRACE: Duration = Duration::from_secs(2);
/// How long its pipes may stay open once it has ended.
const LINGER: Duration = Duration::from_millis(200);
/// The largest outcome of a study.
const LARGEST: f64 = 1e100;

/// What came of a trial.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Trial {
    /// A number.
    Value(f64),
    /// None, and why.
    Failed(String),
    /// It was ended from here, before it was done.
    Stopped,
}

/// The last number among words that arrive in pieces.
#[derive(Debug, Default)]
struct LastNumber {
    word: Vec<u8>,
    number: Option<f64>,
}

impl LastNumber {
    fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte.is_ascii_whitespace() {
                self.end();
            } else if self.word.len() <= LONGEST {
                self.word.push(byte);
            }
        }
    }

    fn end(&mut self) {
        if self.word.len() <= LONGEST {
            let number = std::str::from_utf8(&self.word).ok().and_then(|word| word.parse().ok());
            self.number = number.or(self.number);
        }
        self.word.clear();
    }
}

/// The end of what was said.
#[derive(Debug, Default)]
struct Tail(Vec<u8>);

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        if self.0.len() > 2 * TAIL {
            self.0.drain(..self.0.len() - TAIL);
        }
    }

    fn last_line(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.0);
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        Some(line.chars().take(200).collect())
    }
}

/// Runs a command; `stop` ends it early.
pub(crate) fn run(line: &str, trial: u64, limit: Option<Duration>, stop: &AtomicBool) -> Trial {
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("TRUECAST_TRIAL", trial.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Trial::Failed(format!("sh cannot be started: {error}")),
    };
    let (number, words) =
        (Arc::new(Mutex::new(LastNumber::default())), Arc::new(Mutex::new(Tail::default())));
    let (sender, closed) = channel();
    for pipe in [
        child.stdout.take().map(|pipe| reading(pipe, Arc::clone(&number), LastNumber::push)),
        child.stderr.take().map(|pipe| reading(pipe, Arc::clone(&words), Tail::push)),
    ]
    .into_iter()
    .flatten()
    {
        let sender = sender.clone();
        // Not waited for: a pipe may be held open by something that the command left behind.
        thread::spawn(move || {
            pipe();
            let _ = sender.send(());
        });
    }
    let status = match wait(&mut child, limit, stop) {
        Ok(status) => status,
        Err(trial) => return trial,
    };
    drain(&closed, &child);
    let mut number = number.lock().unwrap_or_else(PoisonError::into_inner);
    number.end();
    let words = words.lock().unwrap_or_else(PoisonError::into_inner);
    judge(status, number.number, words.last_line())
}

fn judge(status: ExitStatus, number: Option<f64>, words: Option<String>) -> Trial {
    let said = words.map_or(String::new(), |line| format!(": {line}"));
    if !status.success() {
        return Trial::Failed(format!("{status}{said}"));
    }
    match number {
        Some(value) if value.abs() <= LARGEST => Trial::Value(value),
        Some(value) => Trial::Failed(format!("the last number on standard output is {value}")),
        None => Trial::Failed(format!("no number on standard output{said}")),
    }
}

/// Reads a pipe to its end.
fn reading<T: Send + 'static>(
    mut pipe: impl Read + Send + 'static,
    into: Arc<Mutex<T>>,
    push: fn(&mut T, &[u8]),
) -> Box<dyn FnOnce() + Send> {
    Box::new(move || {
        let mut bytes = [0; 8192];
        while let Ok(count @ 1..) = pipe.read(&mut bytes) {
            push(&mut into.lock().unwrap_or_else(PoisonError::into_inner), &bytes[..count]);
        }
    })
}

/// Waits for the command, and ends it when its time is over or the run is.
fn wait(child: &mut Child, limit: Option<Duration>, stop: &AtomicBool) -> Result<ExitStatus, Trial> {
    let start = Instant::now();
    let mut nap = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) => {}
            Err(error) => return Err(Trial::Failed(format!("cannot wait for the command: {error}"))),
        }
        if stop.load(Ordering::SeqCst) {
            end(child);
            return Err(Trial::Stopped);
        }
        if let Some(limit) = limit.filter(|&limit| start.elapsed() >= limit) {
            end(child);
            return Err(Trial::Failed(format!("took longer than {} seconds", limit.as_secs_f64())));
        }
        thread::sleep(nap);
        nap = (2 * nap).min(Duration::from_millis(20));
    }
}

/// Asks the command and all that it started to end, and then makes them.
fn end(child: &mut Child) {
    signal(child, false);
    let start = Instant::now();
    while start.elapsed() < GRACE && matches!(child.try_wait(), Ok(None)) {
        thread::sleep(Duration::from_millis(10));
    }
    if matches!(child.try_wait(), Ok(None)) {
        signal(child, true);
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Waits until both pipes are read. What still holds one open after the command has ended belongs to its group, and is ended.
fn drain(closed: &Receiver<()>, child: &Child) {
    let mut open = 2;
    for last in [false, true] {
        let until = Instant::now() + LINGER;
        while open > 0 && closed.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok() {
            open -= 1;
        }
        if open == 0 || last {
            return;
        }
        signal(child, true);
    }
}

/// A signal to the group of the command.
#[cfg(unix)]
fn signal(child: &Child, kill: bool) {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;
    let signal = if kill { Signal::SIGKILL } else { Signal::SIGTERM };
    if let Ok(group) = i32::try_from(child.id()) {
        // There may be nobody left.
        let _ = killpg(Pid::from_raw(group), signal);
    }
}

#[cfg(not(unix))]
fn signal(_child: &Child, _kill: bool) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn of(line: &str) -> Trial {
        run(line, 1, Some(Duration::from_secs(20)), &AtomicBool::new(false))
    }

    #[test]
    fn the_last_number_is_the_value() {
        assert_eq!(of("echo 3; echo loss 0.25 done; echo hints >&2"), Trial::Value(0.25));
        assert_eq!(of("printf '1 2\\n-1e-3'"), Trial::Value(-1e-3));
        assert_eq!(of("echo $TRUECAST_TRIAL"), Trial::Value(1.0));
        assert_eq!(of("yes | head -c 1000000; echo 7; yes word | head -c 100000"), Trial::Value(7.0));
        assert_eq!(of("echo 5; head -c 1000 /dev/zero | tr '\\0' 1"), Trial::Value(5.0));
    }

    #[test]
    fn a_failure_is_never_a_number() {
        let failed = |why: &str| Trial::Failed(why.to_owned());
        assert_eq!(of("echo 1; exit 3"), failed("exit status: 3"));
        assert_eq!(of("echo 1; echo 'no such file' >&2; exit 1"), failed("exit status: 1: no such file"));
        assert_eq!(of("echo epoch 10 loss nan"), failed("the last number on standard output is NaN"));
        assert_eq!(of("echo 1e200"), failed(&format!("the last number on standard output is {}", 1e200)));
        assert_eq!(of("echo words; echo only >&2"), failed("no number on standard output: only"));
    }

    #[test]
    fn a_command_that_takes_too_long_is_ended_with_all_that_it_started() {
        let start = Instant::now();
        let limit = Some(Duration::from_millis(100));
        let trial = run("echo 1; sleep 60 | sleep 60", 1, limit, &AtomicBool::new(false));
        assert_eq!(trial, Trial::Failed("took longer than 0.1 seconds".to_owned()));
        assert_eq!(run("sleep 60", 1, None, &AtomicBool::new(true)), Trial::Stopped);
        // What is left in the background keeps the pipe open.
        assert_eq!(of("sleep 60 & echo 4"), Trial::Value(4.0));
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
