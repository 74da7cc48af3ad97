//! Ctrl-C: asked for once, heard between batches, so that half-written files are removed on the way out.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::{Failure, Result};

static PRESSED: AtomicBool = AtomicBool::new(false);

/// Begins to listen. A second press while the first is being heard ends the program at once.
pub(crate) fn listen() -> Result<()> {
    ctrlc::set_handler(|| {
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
