//! Runs the program in a temporary folder. A test that fails prints the command, its exit code and everything that it said.

use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder that is gone after the test.
pub(crate) struct Folder(TempDir);

/// What became of a command.
pub(crate) struct Ran {
    command: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    /// A folder with one file in it.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = Folder::new();
        folder.write(name, content);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}; {:?}", self.names()))
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    pub(crate) fn table(&self, name: &str) -> Table {
        Table::read(&self.read(name))
    }

    /// Everything in the folder, hidden files too, by name.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The program, ready to run here. It sees no settings of whoever runs the tests.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_truecast"));
        command.args(args).current_dir(self.0.path()).env_remove("RAYON_NUM_THREADS").env("COLUMNS", "110");
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let mut command = self.command(args);
        let output = command.output().unwrap();
        Ran::of(&command, output)
    }

    /// Runs with bytes on standard input.
    pub(crate) fn run_with(&self, args: &[&str], stdin: &[u8]) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (mut pipe, bytes) = (child.stdin.take().unwrap(), stdin.to_vec());
        let feeder = std::thread::spawn(move || pipe.write_all(&bytes));
        let output = child.wait_with_output().unwrap();
        // A program that fails early does not read to the end.
        let _ = feeder.join().unwrap();
        Ran::of(&command, output)
    }
}

impl Ran {
    pub(crate) fn of(command: &Command, output: Output) -> Self {
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        Ran {
            command: format!("truecast {}", words.join(" ")),
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The command must have gone well.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self}");
        self
    }

    /// The command must have failed with this code, and said exactly this after what it recognised.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, message: &str) {
        let from = self.stderr.find("error: ").unwrap_or(0);
        assert_eq!((self.code, self.stderr[from..].trim_end()), (Some(code), message), "{self}");
        assert!(self.stdout.is_empty(), "{self}");
    }

    /// Standard output and standard error must hold each of these.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.text().contains(word) || self.stderr.contains(word), "without {word:?}: {self}");
        }
        self
    }

    /// Standard output as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub(crate) fn table(&self) -> Table {
        Table::read(&self.text())
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = "-".repeat(79);
        writeln!(f, "\n{line}\n{}\nexit code: {:?}\n{line}\nstdout:", self.command, self.code)?;
        writeln!(f, "{}\n{line}\nstderr:\n{}\n{line}", self.text(), self.stderr)
    }
}

/// A CSV file whose cells need no quotes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn read(text: &str) -> Self {
        Self::separated(text, ',')
    }

    pub(crate) fn separated(text: &str, separator: char) -> Self {
        let mut lines = text.lines().map(|line| line.split(separator).map(str::to_owned).collect());
        Table { names: lines.next().unwrap_or_default(), rows: lines.collect() }
    }

    /// The cells of a column.
    #[track_caller]
    pub(crate) fn column(&self, name: &str) -> Vec<String> {
        let at = self.names.iter().position(|known| known == name);
        let at = at.unwrap_or_else(|| panic!("no column {name}: {:?}", self.names));
        self.rows.iter().map(|row| row[at].clone()).collect()
    }

    /// The numbers of a column; NaN where a cell is empty.
    #[track_caller]
    pub(crate) fn numbers(&self, name: &str) -> Vec<f64> {
        let number = |cell: String| if cell.is_empty() { f64::NAN } else { cell.parse().unwrap() };
        self.column(name).into_iter().map(number).collect()
    }

    /// Rows of numbers from some columns.
    #[track_caller]
    pub(crate) fn rows_of(&self, names: &[&str]) -> Vec<Vec<f64>> {
        let columns: Vec<Vec<f64>> = names.iter().map(|name| self.numbers(name)).collect();
        (0..self.rows.len()).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
    }
}

pub(crate) fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}
