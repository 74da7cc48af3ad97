//! Where bytes go: standard output, or a file that appears whole or not at all.
//!
//! A file is written beside its place under another name and renamed when everything went well. Whatever ends the program in
//! between, the file's place holds what it held before.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::error::{Error, Result};

/// Bytes that have an end: compression has something to write there.
pub trait Sink: Write + Send {
    /// Writes what is left.
    fn finish(&mut self) -> io::Result<()>;
}

impl Sink for &mut Vec<u8> {
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A buffered file or standard output, gzipped or not.
pub struct Output(Inner);

enum Inner {
    Plain(BufWriter<Box<dyn Write + Send>>),
    Gzip(GzEncoder<BufWriter<Box<dyn Write + Send>>>),
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Inner::Plain(_) => "Output(plain)",
            Inner::Gzip(_) => "Output(gzip)",
        })
    }
}

impl Output {
    /// Standard output.
    pub fn stdout() -> Self {
        Self::new(Box::new(io::stdout()), false)
    }

    fn new(output: Box<dyn Write + Send>, gzip: bool) -> Self {
        // Less than the pieces in which tables are written, so that these go out without another copy.
        let buffered = BufWriter::with_capacity(1 << 16, output);
        // Level 4 is near the knee: numbers in text shrink little more after it.
        Output(if gzip {
            Inner::Gzip(GzEncoder::new(buffered, Compression::new(4)))
        } else {
            Inner::Plain(buffered)
        })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Inner::Plain(output) => output.write(bytes),
            Inner::Gzip(output) => output.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Inner::Plain(output) => output.flush(),
            Inner::Gzip(output) => output.flush(),
        }
    }
}

impl Sink for Output {
    fn finish(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Inner::Plain(output) => output.flush(),
            Inner::Gzip(output) => {
                output.try_finish()?;
                output.get_mut().flush()
            }
        }
    }
}

/// Bytes after which a file begins to go to disk while the next ones are made. Writing waits for that: so few that what is made meanwhile finds room.
const SYNC_EVERY: u64 = 1 << 22;

/// A file on its way to disk, in the background. What fails there is told by whoever looks next, since the system tells it once.
#[derive(Debug, Clone, Default)]
struct Syncing(Arc<Mutex<Option<JoinHandle<io::Result<()>>>>>);

impl Syncing {
    /// Begins to put what was written on disk, unless that is still going on; says whether it has begun.
    fn begin(&self, file: &File) -> io::Result<bool> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if running.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return Ok(false);
        }
        ended(running.take())?;
        let file = file.try_clone()?;
        *running = Some(thread::Builder::new().spawn(move || file.sync_data())?);
        Ok(true)
    }

    /// Waits for what goes on.
    fn end(&self) -> io::Result<()> {
        ended(self.0.lock().unwrap_or_else(PoisonError::into_inner).take())
    }
}

fn ended(thread: Option<JoinHandle<io::Result<()>>>) -> io::Result<()> {
    match thread.map(JoinHandle::join) {
        None => Ok(()),
        Some(Ok(synced)) => synced,
        Some(Err(panic)) => std::panic::resume_unwind(panic),
    }
}

/// Writes to a file that goes to disk meanwhile, so that little is left to wait for at its end.
struct Synced {
    file: File,
    syncing: Syncing,
    /// Bytes since that began last.
    written: u64,
}

impl Write for Synced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.written += written as u64;
        if self.written >= SYNC_EVERY && self.syncing.begin(&self.file)? {
            self.written = 0;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A file that is being written under another name. Dropped without [`commit`](NewFile::commit), it leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    place: PathBuf,
    /// `None` once committed, and for what is written to as it is.
    temporary: Option<PathBuf>,
    file: File,
    syncing: Syncing,
}

impl NewFile {
    /// Creates the file beside `place`, in the same folder: a rename must not cross file systems. What is no file, such as a
    /// device or a named pipe, cannot be renamed over and is written to as it is; a link is followed.
    pub fn create(place: &Path) -> Result<Self> {
        let name = place.display().to_string();
        let place = &fs::canonicalize(place).unwrap_or_else(|_| place.to_owned());
        match fs::metadata(place) {
            Ok(there) if there.is_dir() => {
                return Err(Error::file(&name, "this is a folder", "name a file in it"));
            }
            Ok(there) if !there.is_file() => {
                let file = File::options().write(true).open(place).map_err(Error::io(&name))?;
                return Ok(NewFile {
                    place: place.clone(),
                    temporary: None,
                    file,
                    syncing: Syncing::default(),
                });
            }
            _ => {}
        }
        let Some(file_name) = place.file_name() else {
            return Err(Error::file(&name, "this is not the name of a file", "name a file to write"));
        };
        let temporary =
            place.with_file_name(format!(".{}.{}.partial", file_name.to_string_lossy(), std::process::id()));
        let file = File::create(&temporary).map_err(Error::io(&name))?;
        let new =
            NewFile { place: place.clone(), temporary: Some(temporary), file, syncing: Syncing::default() };
        // Whoever may read the file that it replaces may read it, and nobody else.
        if let Ok(there) = fs::metadata(place) {
            new.file.set_permissions(there.permissions()).map_err(Error::io(&name))?;
        }
        Ok(new)
    }

    /// The bytes' way in; gzipped if the name ends in `.gz`.
    pub fn output(&self) -> Result<Output> {
        let file = self.file.try_clone().map_err(Error::io(&self.place.display().to_string()))?;
        let gzip = self.place.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
        // What is written to as it is may be no place on a disk.
        Ok(match self.temporary {
            None => Output::new(Box::new(file), gzip),
            Some(_) => {
                Output::new(Box::new(Synced { file, syncing: self.syncing.clone(), written: 0 }), gzip)
            }
        })
    }

    /// Puts the file in its place, on disk before the name shows it.
    pub fn commit(mut self) -> Result<()> {
        let name = self.place.display().to_string();
        if let Some(temporary) = &self.temporary {
            self.syncing.end().and_then(|()| self.file.sync_all()).map_err(Error::io(&name))?;
            fs::rename(temporary, &self.place).map_err(Error::io(&name))?;
            self.temporary = None;
        }
        Ok(())
    }

    /// Takes all of the file's bytes at once; it still has to be committed.
    pub fn fill(&self, bytes: &[u8]) -> Result<()> {
        let mut output = self.output()?;
        let written = output.write_all(bytes).and_then(|()| output.finish());
        written.map_err(Error::io(&self.place.display().to_string()))
    }

    /// Writes a whole file at once.
    pub fn write(place: &Path, bytes: &[u8]) -> Result<()> {
        let file = Self::create(place)?;
        file.fill(bytes)?;
        file.commit()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Nothing is lost if this fails: the place itself was never touched.
            let _ = fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_replaced_stays_as_private_as_it_was() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("state");
        fs::write(&place, "before").unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(0o600)).unwrap();
        NewFile::write(&place, b"after").unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"after");
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("out.csv");
        fs::write(&place, "before").unwrap();
        let file = NewFile::create(&place).unwrap();
        let mut output = file.output().unwrap();
        output.write_all(b"after").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read_to_string(&place).unwrap(), "before");
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(&place).unwrap(), "before");
        NewFile::write(&place, b"after").unwrap();
        assert_eq!(fs::read_to_string(&place).unwrap(), "after");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_large_file_is_whole_though_parts_of_it_went_ahead() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("out.csv");
        let file = NewFile::create(&place).unwrap();
        let mut output = file.output().unwrap();
        let piece: Vec<u8> = (0..1 << 20).map(|byte| (byte % 251) as u8).collect();
        let pieces = 3 * SYNC_EVERY as usize / piece.len();
        (0..pieces).for_each(|_| output.write_all(&piece).unwrap());
        output.finish().unwrap();
        file.commit().unwrap();
        let read = fs::read(&place).unwrap();
        assert_eq!(read.len(), pieces * piece.len());
        assert!(read.chunks(piece.len()).all(|chunk| chunk == piece));
    }

    #[test]
    fn a_folder_is_refused_and_a_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let error = NewFile::create(folder.path()).unwrap_err().to_string();
        assert!(error.contains("this is a folder"), "{error}");
        #[cfg(unix)]
        {
            let (place, link) = (folder.path().join("out.csv"), folder.path().join("link.csv"));
            fs::write(&place, "before").unwrap();
            std::os::unix::fs::symlink(&place, &link).unwrap();
            NewFile::write(&link, b"after").unwrap();
            assert_eq!(fs::read_to_string(&place).unwrap(), "after");
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            // A device stays one, whoever writes to it.
            NewFile::write(Path::new("/dev/null"), b"gone").unwrap();
            assert!(!fs::metadata("/dev/null").unwrap().is_file());
        }
    }

    #[test]
    fn a_gzipped_file_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("out.csv.gz");
        NewFile::write(&place, b"a,b\n1,2\n").unwrap();
        let mut text = String::new();
        io::Read::read_to_string(&mut crate::source::Source::open(&place).unwrap().reader, &mut text)
            .unwrap();
        assert_eq!(text, "a,b\n1,2\n");
    }
}
