//! The four files from the UCI Machine Learning Repository: where they come from, whether they are the right ones, what is in them.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use truecast_data::source::Source;
use truecast_data::{Error, RowError};

use crate::failure::{Failure, Result};

/// A file, and how it is read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// The names it may have, the usual one first.
    names: &'static [&'static str],
    /// Its title and number in the repository.
    title: &'static str,
    number: u32,
    /// What to do after the download.
    preparation: &'static str,
    /// Of the text that is used: unpacked, and where only some rows are used, those with LF line ends.
    sha256: &'static str,
    separator: u8,
    header: bool,
    columns: usize,
    /// Only the first so many rows, where that is less than all.
    rows: Option<usize>,
}

static AQUATIC: File = File {
    names: &["qsar_aquatic_toxicity.csv"],
    title: "QSAR aquatic toxicity",
    number: 505,
    preparation: "unpack `qsar_aquatic_toxicity.csv`",
    sha256: "cee55fadc4b021d3ff1567612a7ac32d7e212845a4ca9eb3ef983b78e0c17856",
    separator: b';',
    header: false,
    columns: 9,
    rows: None,
};
static FISH: File = File {
    names: &["qsar_fish_toxicity.csv"],
    title: "QSAR fish toxicity",
    number: 504,
    preparation: "unpack `qsar_fish_toxicity.csv`",
    sha256: "ea70c73b8d4e5b77740861470dc036dd8cf0d6766354d1b247ce015c2dc71168",
    separator: b';',
    header: false,
    columns: 7,
    rows: None,
};
static ENERGY: File = File {
    names: &["ENB2012_data.csv"],
    title: "Energy efficiency",
    number: 242,
    preparation: "save the first sheet of `ENB2012_data.xlsx` (768 rows, X1 to Y2) as comma-separated `ENB2012_data.csv` with its header; \
                  another program may write the numbers in other ways, and then --any-version accepts them",
    sha256: "88fb36f0eb6f0afdab8602f84e67d0d631790a604d7fe9beeb531be97f4ef553",
    separator: b',',
    header: true,
    columns: 10,
    rows: None,
};
static FACEBOOK: File = File {
    names: &[
        "facebook_comment_volume_variant1_first10000.csv.gz",
        "facebook_comment_volume_variant1_first10000.csv",
        "Features_Variant_1.csv",
    ],
    title: "Facebook Comment Volume",
    number: 363,
    preparation: "unpack `Dataset/Training/Features_Variant_1.csv`; its first 10,000 rows are used, so it may also be cut: \
                  head -n 10000 Features_Variant_1.csv | tr -d '\\r' | gzip > facebook_comment_volume_variant1_first10000.csv.gz",
    sha256: "f57f53a5a62fb9688153d2ea71532b39b09918f57d7c4bb83f3ac996803b1493",
    separator: b',',
    header: false,
    columns: 54,
    rows: Some(10_000),
};

/// A stream of the experiment. Energy efficiency has two targets, and so two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dataset {
    Aquatic,
    Fish,
    EnergyY1,
    EnergyY2,
    Facebook,
}

impl Dataset {
    pub(crate) const ALL: [Dataset; 5] =
        [Dataset::Aquatic, Dataset::Fish, Dataset::EnergyY1, Dataset::EnergyY2, Dataset::Facebook];

    /// In the summary and in file names.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Dataset::Aquatic => "aquatic",
            Dataset::Fish => "fish",
            Dataset::EnergyY1 => "energy-y1",
            Dataset::EnergyY2 => "energy-y2",
            Dataset::Facebook => "facebook",
        }
    }

    /// For people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Dataset::Aquatic => "Aquatic toxicity (Daphnia magna)",
            Dataset::Fish => "Aquatic toxicity (fathead minnow)",
            Dataset::EnergyY1 => "Energy efficiency, heating load",
            Dataset::EnergyY2 => "Energy efficiency, cooling load",
            Dataset::Facebook => "Facebook comment volume",
        }
    }

    /// Rows that arrive at once.
    pub(crate) fn batch(self) -> usize {
        if self == Dataset::Aquatic { 5 } else { 10 }
    }

    /// Inputs, which come first, and the target's column, both from 0.
    fn layout(self) -> (usize, usize) {
        match self {
            Dataset::Aquatic => (8, 8),
            Dataset::Fish => (6, 6),
            Dataset::EnergyY1 => (8, 8),
            Dataset::EnergyY2 => (8, 9),
            Dataset::Facebook => (53, 53),
        }
    }

    fn file(self) -> &'static File {
        match self {
            Dataset::Aquatic => &AQUATIC,
            Dataset::Fish => &FISH,
            Dataset::EnergyY1 | Dataset::EnergyY2 => &ENERGY,
            Dataset::Facebook => &FACEBOOK,
        }
    }

    /// Reads its rows from the files in `folder`. A file that is not the known one is refused, unless `any_version`.
    pub(crate) fn read(self, folder: &Path, any_version: bool) -> Result<Table> {
        let file = self.file();
        let path = file.find(folder).ok_or_else(|| missing(folder))?;
        let text = file.text(&path)?;
        let found = hex(&Sha256::digest(&text));
        if found != file.sha256 && !any_version {
            return Err(file.another_version(&path, &found));
        }
        let rows = file.parse(&path.display().to_string(), &text)?;
        let (inputs, target) = self.layout();
        if rows.len() <= self.batch() {
            let problem = format!("{}: {} rows, more than one batch is needed", path.display(), rows.len());
            return Err(Failure::usage(problem, file.source()));
        }
        let (inputs, outcomes) = rows.into_iter().map(|row| (row[..inputs].to_vec(), row[target])).unzip();
        Ok(Table { inputs, outcomes })
    }
}

/// Rows of inputs with their outcomes, in the file's order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    pub(crate) inputs: Vec<Vec<f64>>,
    pub(crate) outcomes: Vec<f64>,
}

impl File {
    fn find(&self, folder: &Path) -> Option<PathBuf> {
        self.names.iter().map(|name| folder.join(name)).find(|path| path.is_file())
    }

    /// Where it comes from, as a sentence.
    fn source(&self) -> String {
        format!(
            "\"{}\", https://archive.ics.uci.edu/dataset/{}: {}",
            self.title, self.number, self.preparation
        )
    }

    /// The text that is used, unpacked.
    fn text(&self, path: &Path) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let io = |source| Error::Io { file: path.display().to_string(), source };
        Source::open(path)?.read_to_end(&mut text).map_err(io)?;
        if let Some(rows) = self.rows {
            text.retain(|&byte| byte != b'\r');
            let ends = text.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
            if let Some((end, _)) = ends.take(rows).last() {
                text.truncate(end + 1);
            }
        }
        Ok(text)
    }

    fn another_version(&self, path: &Path, found: &str) -> Failure {
        let problem = format!(
            "{}: this is not the file that the results were made with\n  sha256 found     {found}\n  sha256 expected  {}",
            path.display(),
            self.sha256
        );
        Failure::usage(
            problem,
            format!("get it again, {}; or go on all the same with --any-version", self.source()),
        )
    }

    fn parse(&self, name: &str, text: &[u8]) -> Result<Vec<Vec<f64>>> {
        // The reader counts a line between CR and LF; without CR its numbers are those of an editor.
        let text: Vec<u8> = text.iter().copied().filter(|&byte| byte != b'\r').collect();
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(self.separator)
            .has_headers(self.header)
            .flexible(true)
            .from_reader(text.as_slice());
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| Error::File {
                file: name.to_owned(),
                problem: error.to_string(),
                hint: String::new(),
            })?;
            let line = record.position().map_or(0, csv::Position::line);
            let refusal = |column, value, rule: String| {
                let (file, hint) = (name.to_owned(), String::new());
                Error::from(RowError { file, line, column, value, rule, hint })
            };
            if record.len() != self.columns {
                let rule = format!("a row has {} columns, this one {}", self.columns, record.len());
                return Err(refusal(None, None, rule).into());
            }
            let mut row = Vec::with_capacity(self.columns);
            for (column, cell) in record.iter().enumerate() {
                match cell.trim().parse::<f64>() {
                    Ok(value) if value.is_finite() => row.push(value),
                    _ => {
                        let (column, value) = (Some((column + 1).to_string()), Some(cell.to_owned()));
                        return Err(refusal(column, value, "this must be a finite number".to_owned()).into());
                    }
                }
            }
            rows.push(row);
        }
        Ok(rows)
    }
}

/// What to get from where, for everything that is not in the folder.
fn missing(folder: &Path) -> Failure {
    let files = [&AQUATIC, &FISH, &ENERGY, &FACEBOOK];
    let lines: Vec<String> = files
        .iter()
        .filter(|file| file.find(folder).is_none())
        .map(|file| format!("  {}\n    from {}", file.names[0], file.source()))
        .collect();
    let place = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    Failure::usage(
        format!("{}: {} of 4 files are missing\n{}", place.display(), lines.len(), lines.join("\n")),
        "put them into one folder and name it with --data; all four are under CC BY 4.0",
    )
}

/// What to say when no folder was named.
pub(crate) fn no_folder() -> Failure {
    missing(Path::new("."))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
