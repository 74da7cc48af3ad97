//! Where the rows go: a file that appears whole, or standard output.

use std::path::{Path, PathBuf};

use truecast_data::table::Sheet;
use truecast_data::{Format, NewFile, Output, writer};

use crate::failure::{Failure, Result};
use crate::pipeline::Sheets;
use crate::tables::Tables;

/// Refuses two outputs that would be written to one place, however it is spelled.
pub(crate) fn apart(outputs: &[Option<&Path>]) -> Result<()> {
    let place = |path: &Path| -> PathBuf {
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let beside = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
        path.canonicalize().ok().or_else(beside).unwrap_or_else(|| path.to_owned())
    };
    let mut taken = Vec::new();
    for path in outputs.iter().flatten() {
        let place = place(path);
        if taken.contains(&place) {
            return Err(Failure::usage(format!("{}: two outputs would be written here", path.display()), ""));
        }
        taken.push(place);
    }
    Ok(())
}

/// An output that is being written.
#[derive(Debug)]
pub(crate) struct Destination {
    file: Option<NewFile>,
    sheets: Sheets,
}

impl Destination {
    /// Opens the output. Its format is the one asked for, or what its name says, or the input's.
    pub(crate) fn open(path: Option<&Path>, asked: Option<Format>, input: &Tables) -> Result<Self> {
        Self::with(path, asked, input.format, input.separator)
    }

    /// The same for rows that do not come from a file.
    pub(crate) fn with(
        path: Option<&Path>,
        asked: Option<Format>,
        usual: Format,
        separator: Option<u8>,
    ) -> Result<Self> {
        let path = path.filter(|path| *path != Path::new("-"));
        let named = path.and_then(Format::of_name);
        let format = asked.or(named).unwrap_or(match (usual, path) {
            // Nobody wants Parquet on a terminal.
            (Format::Parquet, None) => Format::Csv,
            (format, _) => format,
        });
        let tabs = path.is_some_and(|path| {
            let name = path.to_string_lossy().to_ascii_lowercase();
            name.trim_end_matches(".gz").ends_with(".tsv")
        });
        let separator = if tabs { b'\t' } else { separator.unwrap_or(b',') };
        let (file, output, name) = match path {
            Some(path) => {
                let file = NewFile::create(path)?;
                let output = file.output()?;
                (Some(file), output, path.display().to_string())
            }
            None => (None, Output::stdout(), "standard output".to_owned()),
        };
        Ok(Destination { file, sheets: Sheets::new(writer(output, &name, format, separator)?) })
    }

    /// Hands rows over.
    pub(crate) fn write(self, sheet: Sheet) -> Result<Self> {
        self.write_made(|| sheet)
    }

    /// Hands over what rows are made from: they are made where they are written.
    pub(crate) fn write_made(self, make: impl FnOnce() -> Sheet + Send + 'static) -> Result<Self> {
        let Destination { file, sheets } = self;
        Ok(Destination { file, sheets: sheets.write(Box::new(make))? })
    }

    /// Waits until everything is written; the file, if there is one, is ready to be put in place.
    pub(crate) fn finish(self) -> Result<Option<NewFile>> {
        self.sheets.finish()?;
        Ok(self.file)
    }
}
