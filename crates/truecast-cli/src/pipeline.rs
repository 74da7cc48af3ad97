//! Reading, computing and writing at the same time, a few batches apart: memory stays flat however long the file is.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use truecast_data::table::{Batch, Sheet, TableReader, TableWriter};
use truecast_data::{Error as DataError, Opened};

use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::progress::Progress;

/// Rows in a batch: enough to keep every core busy, and few enough that a handful of them fit the caches.
const BATCH: usize = 1 << 14;
/// Batches that wait between two threads.
const AHEAD: usize = 2;

/// A batch on its way, with the names of its columns and how far reading has come.
type Chunk = Result<(Batch, Vec<String>, u64), DataError>;

/// Rows that come from another thread.
#[derive(Debug)]
pub(crate) struct Batches {
    chunks: Receiver<Chunk>,
    progress: Progress,
}

impl Batches {
    /// Begins to read. The thread is not waited for: it may be stuck in a terminal or a pipe when everything else is done.
    pub(crate) fn new(opened: Opened, quiet: bool) -> Self {
        let (sender, chunks) = sync_channel(AHEAD);
        let progress = Progress::over_bytes(opened.size, quiet);
        thread::spawn(move || read(opened.reader, &sender));
        Batches { chunks, progress }
    }

    /// The next batch; hears Ctrl-C while it waits.
    pub(crate) fn next(&mut self) -> Result<Option<(Batch, Vec<String>)>> {
        loop {
            interrupt::check()?;
            match self.chunks.recv_timeout(Duration::from_millis(50)) {
                Ok(chunk) => {
                    let (batch, names, position) = chunk?;
                    self.progress.rows(batch.rows() as u64, position);
                    return Ok(Some((batch, names)));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.progress.done();
                    return Ok(None);
                }
            }
        }
    }
}

fn read(mut reader: Box<dyn TableReader>, chunks: &SyncSender<Chunk>) {
    loop {
        let chunk = match reader.read(BATCH) {
            Ok(None) => return,
            Ok(Some(batch)) => Ok((batch, reader.names().to_vec(), reader.position())),
            Err(error) => Err(error),
        };
        let failed = chunk.is_err();
        // Nobody listens any more if the command has ended early.
        if chunks.send(chunk).is_err() || failed {
            return;
        }
    }
}

/// A writer on a thread of its own.
#[derive(Debug)]
pub(crate) struct Sheets {
    sheets: SyncSender<Sheet>,
    thread: JoinHandle<Result<(), DataError>>,
}

impl Sheets {
    pub(crate) fn new(mut writer: Box<dyn TableWriter>) -> Self {
        let (sheets, receiver) = sync_channel::<Sheet>(AHEAD);
        let thread = thread::spawn(move || {
            for sheet in receiver {
                writer.write(&sheet)?;
            }
            writer.finish()
        });
        Sheets { sheets, thread }
    }

    /// Hands rows over; an error says that the writer has failed, and [`finish`](Sheets::finish) says why.
    pub(crate) fn write(self, sheet: Sheet) -> Result<Self> {
        match self.sheets.send(sheet) {
            Ok(()) => Ok(self),
            Err(_) => match self.finish() {
                Err(error) => Err(error),
                Ok(()) => Err(Failure::usage("the writer ended early", "")),
            },
        }
    }

    /// Waits until everything is written.
    pub(crate) fn finish(self) -> Result<()> {
        drop(self.sheets);
        match self.thread.join() {
            Ok(written) => Ok(written?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}
