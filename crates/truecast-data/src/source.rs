//! Where bytes come from: a file or standard input, unpacked if they are gzipped.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Result};

/// How many bytes were taken from the file, shared with whoever shows progress.
#[derive(Debug, Clone, Default)]
pub struct Position(Arc<AtomicU64>);

impl Position {
    /// Bytes taken so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    #[cfg(feature = "parquet")]
    pub(crate) fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }
}

struct Counted<R> {
    inner: R,
    position: Position,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.position.0.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Bytes to read, with a name for messages.
pub struct Source {
    /// The name as it was given, or `standard input`.
    pub name: String,
    /// The bytes, unpacked.
    pub reader: Box<dyn BufRead + Send>,
    /// How far reading has come, in bytes as they are stored.
    pub position: Position,
    /// How many bytes there are in all, where that is known.
    pub size: Option<u64>,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("name", &self.name).field("size", &self.size).finish_non_exhaustive()
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

impl Source {
    /// Opens a file, or standard input for `-`.
    pub fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Self::new("standard input", Box::new(io::stdin()), None);
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(Error::io(&name))?;
        let metadata = file.metadata().map_err(Error::io(&name))?;
        if metadata.is_dir() {
            return Err(Error::file(&name, "this is a folder", "name a file in it"));
        }
        // A pipe or a device has no size worth showing.
        let size = metadata.is_file().then_some(metadata.len());
        Self::new(&name, Box::new(file), size)
    }

    /// Bytes that are in memory.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Self {
        let size = Some(bytes.len() as u64);
        let reader = Box::new(BufReader::new(io::Cursor::new(bytes)));
        Source { name: name.to_owned(), reader, position: Position::default(), size }
    }

    fn new(name: &str, input: Box<dyn Read + Send>, size: Option<u64>) -> Result<Self> {
        let position = Position::default();
        let counted = Counted { inner: input, position: position.clone() };
        let mut packed = BufReader::with_capacity(1 << 18, counted);
        let gzipped = packed.fill_buf().map_err(Error::io(name))?.starts_with(&[0x1f, 0x8b]);
        let reader: Box<dyn BufRead + Send> = if gzipped {
            Box::new(BufReader::with_capacity(1 << 18, MultiGzDecoder::new(packed)))
        } else {
            Box::new(packed)
        };
        Ok(Source { name: name.to_owned(), reader, position, size })
    }
}
