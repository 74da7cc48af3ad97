//! Ctrl-C: asked for once, heard between batches, so that half-written files are removed on the way out. While the input's beginning is waited for
//! there is no such file, and it is heard at once.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::{Failure, Result};
use crate::terminal::say;

static PRESSED: AtomicBool = AtomicBool::new(false);
static WAITING: AtomicBool = AtomicBool::new(false);

/// As long as it lives, nothing has been written and the thread may be stuck in a pipe.
#[derive(Debug)]
pub(crate) struct Waiting;

impl Waiting {
    /// An error if Ctrl-C was pressed before.
    pub(crate) fn begin() -> Result<Self> {
        WAITING.store(true, Ordering::SeqCst);
        let waiting = Waiting;
        check()?;
        Ok(waiting)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        WAITING.store(false, Ordering::SeqCst);
    }
}

/// Begins to listen. A second press while the first is being heard ends the program at once.
pub(crate) fn listen() -> Result<()> {
    ctrlc::set_handler(|| {
        if WAITING.load(Ordering::SeqCst) {
            say!("error: {}", Failure::Interrupted);
            std::process::exit(130);
        }
        if PRESSED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    })
    .map_err(|error| Failure::usage(format!("cannot listen for Ctrl-C: {error}"), ""))
}

/// An error once Ctrl-C was pressed.
pub(crate) fn check() -> Result<()> {
    if PRESSED.load(Ordering::SeqCst) { Err(Failure::Interrupted) } else { Ok(()) }
}
