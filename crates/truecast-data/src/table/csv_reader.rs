//! Reading CSV with any separator: the header names the columns, a row with another number of cells is broken.

use std::io::BufRead;

use csv::{ByteRecord, ReaderBuilder};

use super::column::Column;
use super::text::Text;
use super::{Batch, TableReader};
use crate::error::{Error, Result, RowError};
use crate::source::{Position, Source};

/// What may separate cells when nobody says what does, most usual first.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Reads CSV.
#[derive(Debug)]
pub struct CsvReader {
    file: String,
    names: Vec<String>,
    separator: u8,
    reader: csv::Reader<Source>,
    record: ByteRecord,
    /// How many bytes each column of a batch may need.
    sizes: Vec<usize>,
    /// 1 if a line's end is counted with the line, 0 if (for CR LF) with the next one.
    end: u64,
    position: Position,
}

impl CsvReader {
    /// Reads the header. Without a separator the one that the header has most of is taken.
    pub fn new(mut source: Source, separator: Option<u8>) -> Result<Self> {
        let (file, position) = (source.name.clone(), source.position.clone());
        let head = source.reader.fill_buf().map_err(Error::io(&file))?;
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        if head.is_empty() {
            return Err(Error::file(&file, "the file is empty", "the first line names the columns"));
        }
        let separator = separator.unwrap_or_else(|| sniff(head));
        let mut reader = ReaderBuilder::new()
            .delimiter(separator)
            .flexible(true) // the number of cells is checked here, so that a broken row can be left out
            .buffer_capacity(1 << 18)
            .from_reader(source);
        let header = reader.byte_headers().map_err(|error| failed(&file, &error))?.clone();
        let names = header.iter().map(|name| String::from_utf8(name.trim_ascii().to_vec()));
        let names: Vec<String> = names.collect::<Result<_, _>>().map_err(|_| {
            Error::file(&file, "a column's name is not valid UTF-8", "convert the file with iconv")
        })?;
        if names.is_empty() {
            return Err(Error::file(&file, "the file is empty", "the first line names the columns"));
        }
        check_names(&file, &names)?;
        let end = reader.position().line() - 1 - header.iter().map(newlines).sum::<u64>();
        let sizes = vec![0; names.len()];
        Ok(CsvReader { sizes, end, file, names, separator, reader, record: ByteRecord::new(), position })
    }

    /// What separates the cells.
    pub fn separator(&self) -> u8 {
        self.separator
    }

    /// The line on which the record just read began, if reading began on line `before`. Blank lines lie in between, and
    /// quoted cells have line ends of their own.
    fn first_line(&self, before: u64) -> u64 {
        let after = self.reader.position().line();
        if after == before + self.end {
            return before;
        }
        let inside: u64 = self.record.iter().map(newlines).sum();
        (after - self.end).saturating_sub(inside).max(before)
    }
}

fn newlines(cell: &[u8]) -> u64 {
    cell.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// The separator of which the first line, quoted parts aside, has most.
fn sniff(head: &[u8]) -> u8 {
    let mut counts = [0usize; SEPARATORS.len()];
    let mut quoted = false;
    for &byte in head {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            _ if !quoted => {
                if let Some(k) = SEPARATORS.iter().position(|&separator| separator == byte) {
                    counts[k] += 1;
                }
            }
            _ => {}
        }
    }
    let mut best = 0;
    for k in 1..counts.len() {
        if counts[k] > counts[best] {
            best = k;
        }
    }
    SEPARATORS[best]
}

fn check_names(file: &str, names: &[String]) -> Result<()> {
    for (k, name) in names.iter().enumerate() {
        if names[..k].contains(name) {
            let problem = format!("two columns are named {name:?}");
            return Err(Error::file(file, problem, "rename one of them"));
        }
    }
    // Bare probabilities are names of quantile columns; a header of nothing else is a header that is missing.
    if names.iter().all(|name| name.parse::<f64>().is_ok()) {
        let problem =
            format!("the first line has numbers only ({}): it should name the columns", names.join(", "));
        return Err(Error::file(file, problem, "add a line such as y,mean,std before it"));
    }
    Ok(())
}

fn failed(file: &str, error: &csv::Error) -> Error {
    let source = match error.kind() {
        csv::ErrorKind::Io(inner) => std::io::Error::new(inner.kind(), inner.to_string()),
        _ => std::io::Error::other(error.to_string()),
    };
    Error::Io { file: file.to_owned(), source }
}

impl TableReader for CsvReader {
    fn file(&self) -> &str {
        &self.file
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn read(&mut self, rows: usize) -> Result<Option<Batch>> {
        // Batches are alike: room for as much as the last one held saves growing, which would copy most cells twice.
        let mut cells: Vec<Text> = self.sizes.iter().map(|&size| Text::with_room(rows, size)).collect();
        let mut lines = Vec::with_capacity(rows);
        let mut broken = Vec::new();
        while lines.len() < rows {
            let line = self.reader.position().line();
            if !self.reader.read_byte_record(&mut self.record).map_err(|error| failed(&self.file, &error))? {
                break;
            }
            let line = self.first_line(line);
            if self.record.len() != self.names.len() {
                broken.push(RowError {
                    file: self.file.clone(),
                    line,
                    rule: format!("{} cells where the header has {}", self.record.len(), self.names.len()),
                    hint:
                        "a cell that holds the separator must be in double quotes; --separator names another"
                            .into(),
                    ..RowError::default()
                });
                continue;
            }
            lines.push(line);
            for (column, cell) in cells.iter_mut().zip(&self.record) {
                column.push(cell);
            }
        }
        if lines.is_empty() && broken.is_empty() {
            return Ok(None);
        }
        for (size, column) in self.sizes.iter_mut().zip(&cells) {
            *size = column.size() + column.size() / 16;
        }
        Ok(Some(Batch { lines, columns: cells.into_iter().map(Column::Text).collect(), broken }))
    }

    fn position(&self) -> u64 {
        self.position.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(text: &str) -> Result<CsvReader> {
        CsvReader::new(Source::from_bytes("t.csv", text.as_bytes().to_vec()), None)
    }

    #[test]
    fn the_separator_is_the_one_the_header_has_most_of() {
        for (text, separator) in [
            ("a,b\n", b','),
            ("a;b;c\n1,5;2;3\n", b';'),
            ("a\tb\n", b'\t'),
            ("\"a,,,\"|b\n", b'|'),
            ("y\n", b','),
        ] {
            assert_eq!(reader(text).unwrap().separator(), separator, "{text:?}");
        }
    }

    #[test]
    fn rows_keep_their_lines_and_broken_ones_are_told() {
        let mut reader = reader("\u{feff}a,b\n1,2\n\n\"x\ny\",3\n4\n5,6\n").unwrap();
        assert_eq!(reader.names(), ["a", "b"]);
        let batch = reader.read(100).unwrap().unwrap();
        assert_eq!(batch.lines, [2, 4, 7]);
        assert_eq!(&*batch.columns[0].text(1), b"x\ny");
        assert_eq!(batch.broken.len(), 1);
        assert_eq!(
            (batch.broken[0].line, batch.broken[0].rule.as_str()),
            (6, "1 cells where the header has 2")
        );
        assert_eq!(reader.read(100).unwrap(), None);
    }

    #[test]
    fn windows_line_ends_count_the_same() {
        let mut reader = reader("a,b\r\n1,2\r\n\r\n\"x\ny\",3\r\n4\r\n5,6").unwrap();
        let batch = reader.read(100).unwrap().unwrap();
        assert_eq!((batch.lines.as_slice(), batch.broken[0].line), (&[2, 4, 7][..], 6));
    }

    #[test]
    fn headers_that_are_none_are_refused() {
        for (text, problem) in
            [("", "empty"), ("1,2.5\n", "numbers only"), ("a,a\n", "two columns are named \"a\"")]
        {
            let error = reader(text).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
