//! Reading, computing and writing at the same time, a few batches apart: memory stays flat however long the file is.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use truecast_data::Error as DataError;
use truecast_data::table::{Batch, Sheet, TableWriter};
use truecast_events::{Ahead, Numbers, Piece};

use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::progress::Progress;
use crate::tables::Tables;

/// Rows in a batch: enough of each series that its state is worth bringing to a core, and few enough that a handful of batches fit the caches.
const BATCH: usize = 1 << 15;
/// Batches that wait between two threads.
const AHEAD: usize = 1;

/// A batch that was read.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// Its rows, with the numbers that were asked for.
    pub(crate) piece: Piece<Batch>,
    /// The names of its columns.
    pub(crate) names: Vec<String>,
    /// How far reading has come, in bytes.
    position: u64,
}

/// Rows that come from another thread.
#[derive(Debug)]
pub(crate) struct Batches {
    chunks: Receiver<Result<Chunk, DataError>>,
    progress: Progress,
}

impl Batches {
    /// Begins to read rows, and the numbers of some columns. The thread is not waited for: it may be stuck in a terminal or a pipe when everything else
    /// is done.
    pub(crate) fn new(tables: Tables, ahead: Ahead, quiet: bool) -> Self {
        let (sender, chunks) = sync_channel(AHEAD);
        let progress = Progress::over_bytes(tables.size, quiet);
        thread::spawn(move || read(tables, &ahead, &sender));
        Batches { chunks, progress }
    }

    /// The next batch; hears Ctrl-C while it waits.
    pub(crate) fn next(&mut self) -> Result<Option<Chunk>> {
        loop {
            interrupt::check()?;
            match self.chunks.recv_timeout(Duration::from_millis(50)) {
                Ok(chunk) => {
                    let chunk = chunk?;
                    self.progress.rows(chunk.piece.cells.rows() as u64, chunk.position);
                    return Ok(Some(chunk));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.progress.done();
                    return Ok(None);
                }
            }
        }
    }

    /// All of them.
    pub(crate) fn all(mut self) -> Result<Vec<Chunk>> {
        let mut chunks = Vec::new();
        while let Some(chunk) = self.next()? {
            chunks.push(chunk);
        }
        Ok(chunks)
    }
}

fn read(mut tables: Tables, ahead: &Ahead, chunks: &SyncSender<Result<Chunk, DataError>>) {
    loop {
        let chunk = match tables.read(BATCH) {
            Ok(None) => return,
            Ok(Some(batch)) => Ok(Chunk {
                // While the batch before is computed: there is always something for every core to do.
                piece: Piece { numbers: Numbers::read(&batch, ahead), file: tables.file(), cells: batch },
                names: tables.names().to_vec(),
                position: tables.position(),
            }),
            Err(error) => Err(error),
        };
        let failed = chunk.is_err();
        // Nobody listens any more if the command has ended early.
        if chunks.send(chunk).is_err() || failed {
            return;
        }
    }
}

/// Rows that are yet to be made.
type Making = Box<dyn FnOnce() -> Sheet + Send>;

/// One thread of so many that compute makes lines: that takes less than a sixth of the time.
const COMPUTING_PER_WRITING: usize = 4;

/// A writer on threads of its own: behind a batch that is computed on all of the others, its lines would wait, and then the next batch for them.
#[derive(Debug)]
pub(crate) struct Sheets {
    sheets: SyncSender<Making>,
    thread: JoinHandle<Result<(), DataError>>,
}

impl Sheets {
    pub(crate) fn new(mut writer: Box<dyn TableWriter>) -> Self {
        let (sheets, receiver) = sync_channel::<Making>(AHEAD);
        let thread = thread::spawn(move || {
            let threads = rayon::current_num_threads().div_ceil(COMPUTING_PER_WRITING);
            // Where no more threads can be had, lines wait for those that compute.
            let own = rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok();
            for make in receiver {
                match &own {
                    Some(own) => own.install(|| writer.write(&make()))?,
                    None => writer.write(&make())?,
                }
            }
            writer.finish()
        });
        Sheets { sheets, thread }
    }

    /// Hands rows over; an error says that the writer has failed, and [`finish`](Sheets::finish) says why.
    pub(crate) fn write(self, make: Making) -> Result<Self> {
        match self.sheets.send(make) {
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
