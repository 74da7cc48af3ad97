//! Reading CSV with any separator: the header names the columns, a row with another number of cells is broken.

use std::io::{self, Cursor, Read};
use std::sync::Arc;

use csv::{ByteRecord, ReaderBuilder};

use super::column::Column;
use super::plain_rows::{Lines, PlainRows};
use super::text::Text;
use super::{Batch, TableReader};
use crate::error::{Error, Result, RowError};
use crate::source::{Position, Source};

/// What may separate cells when nobody says what does, most usual first.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Reads CSV.
///
/// Text without quotes is split where it stands; from the first quote on, the `csv` crate takes over for good.
#[derive(Debug)]
pub struct CsvReader {
    file: String,
    names: Vec<String>,
    separator: u8,
    /// Rows without quotes; `None` once there was one.
    plain: Option<PlainRows>,
    /// Everything after that.
    reader: csv::Reader<Rest>,
    record: ByteRecord,
    /// How many bytes each column of a batch may need.
    sizes: Vec<usize>,
    lines: Lines,
    /// The count of lines at which the `csv` crate took over and began its own.
    taken_over: u64,
    position: Position,
}

/// Comes behind a file's end. It ends a row that lacks its end, and is a blank line elsewhere; lines are counted by LF and stay the same. Only a cell
/// whose quotes are still open holds all of it.
const END: &[u8] = b"\r\r";

/// What is left of a file whose beginning was taken away, and [`END`].
#[derive(Debug)]
struct Rest {
    /// Text that was read already.
    read: Cursor<Vec<u8>>,
    source: Source,
    end: &'static [u8],
    /// Bytes given away so far.
    given: u64,
}

impl Rest {
    /// True if all was given away, and a row that ends here holds it.
    fn ends_at(&self, byte: u64) -> bool {
        self.end.is_empty() && byte == self.given
    }
}

impl Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut read = self.read.read(buffer)?;
        if read == 0 {
            read = self.source.read(buffer)?;
        }
        if read == 0 {
            read = self.end.read(buffer)?;
        }
        self.given += read as u64;
        Ok(read)
    }
}

impl CsvReader {
    /// Reads the header. Without a separator the one that the header has most of is taken.
    pub fn new(mut source: Source, separator: Option<u8>) -> Result<Self> {
        let (file, position) = (source.name.clone(), source.position.clone());
        let mut plain = PlainRows::default();
        // A pipe may give less than a line at first.
        let line = |text: &[u8]| text.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
        while plain.fill(&mut source).map_err(Error::io(&file))? && !line(plain.text()) {}
        let head = plain.text().strip_prefix(b"\xef\xbb\xbf").unwrap_or(plain.text());
        if head.is_empty() {
            return Err(Error::file(&file, "the file is empty", "the first line names the columns"));
        }
        let separator = separator.unwrap_or_else(|| sniff(head));
        let (header, end) = header(&mut plain, &mut source, separator)?;
        let names = header.iter().map(|name| String::from_utf8(name.trim_ascii().to_vec()));
        let names: Vec<String> = names.collect::<Result<_, _>>().map_err(|_| {
            Error::file(&file, "a column's name is not valid UTF-8", "convert the file with iconv")
        })?;
        if names.is_empty() {
            return Err(Error::file(&file, "the file is empty", "the first line names the columns"));
        }
        check_names(&file, &names)?;
        plain.begin(end.byte() as usize, names.len(), separator);
        let inside: u64 = header.iter().map(newlines).sum();
        let lines = Lines { before: end.line(), blank: 0, end: end.line() - 1 - inside };
        let rest = Rest { read: Cursor::default(), source, end: END, given: 0 };
        let reader = ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(false)
            .flexible(true) // the number of cells is checked here, so that a broken row can be left out
            .buffer_capacity(1 << 18)
            .from_reader(rest);
        let sizes = vec![0; names.len()];
        let (record, plain) = (ByteRecord::new(), Some(plain));
        let mut table = CsvReader {
            file,
            names,
            separator,
            plain,
            reader,
            record,
            sizes,
            lines,
            taken_over: 0,
            position,
        };
        if matches!(separator, b'"' | b'\n' | b'\r') {
            table.take_quotes();
        }
        Ok(table)
    }

    /// What separates the cells.
    pub fn separator(&self) -> u8 {
        self.separator
    }

    /// Leaves all that follows to the `csv` crate.
    fn take_quotes(&mut self) {
        let Some(plain) = self.plain.take() else { return };
        // The crate takes the mark of UTF-8 off what it reads first. Only a file begins with one, so the rest begins with a blank line.
        let mut text = vec![b'\n'];
        text.extend_from_slice(plain.text());
        self.reader.get_mut().read = Cursor::new(text);
        self.taken_over = self.lines.before + self.lines.blank;
    }

    /// Adds rows up to `rows` in all.
    fn read_records(
        &mut self,
        rows: usize,
        lines: &mut Vec<u64>,
        cells: &mut [Text],
        broken: &mut Vec<RowError>,
    ) -> Result<()> {
        while lines.len() < rows {
            if !self.reader.read_byte_record(&mut self.record).map_err(|error| failed(&self.file, &error))? {
                break;
            }
            // It counts from 1, and the blank line before everything else.
            let after = self.reader.position().line() - 2 + self.taken_over;
            if self.reader.get_ref().ends_at(self.reader.position().byte()) {
                let inside: u64 = self.record.iter().map(newlines).sum();
                return Err(open_quotes(&self.file, after - inside));
            }
            let line = self.lines.row(after, || self.record.iter().map(newlines).sum());
            if self.record.len() != self.names.len() {
                broken.push(self.misfit(line, self.record.len()));
                continue;
            }
            lines.push(line);
            for (column, cell) in cells.iter_mut().zip(&self.record) {
                column.push(cell);
            }
        }
        Ok(())
    }

    /// A row with another number of cells than the header.
    fn misfit(&self, line: u64, cells: usize) -> RowError {
        RowError {
            file: self.file.clone(),
            line,
            rule: format!(
                "{cells} {} where the header has {}",
                if cells == 1 { "cell" } else { "cells" },
                self.names.len()
            ),
            hint: "a cell that holds the separator must be in double quotes; --separator names another"
                .into(),
            ..RowError::default()
        }
    }
}

/// The first row, and where it ends.
fn header(plain: &mut PlainRows, source: &mut Source, separator: u8) -> Result<(ByteRecord, csv::Position)> {
    loop {
        let length = plain.text().len() as u64;
        let text = plain.text().chain(END);
        let mut reader = ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(text);
        let header = reader.byte_headers().map_err(|error| failed(&source.name, &error))?.clone();
        let mut end = reader.position().clone();
        if end.byte() < length {
            return Ok((header, end));
        }
        // A row that ends with the text may not have ended.
        if !plain.fill(source).map_err(Error::io(&source.name))? {
            if end.byte() == length + END.len() as u64 && !header.is_empty() {
                let inside: u64 = header.iter().map(newlines).sum();
                return Err(open_quotes(&source.name, end.line() - inside));
            }
            end.set_byte(length);
            return Ok((header, end));
        }
    }
}

/// All that follows would be one cell. No row can be left out to mend it, since nobody knows how many are in there.
fn open_quotes(file: &str, line: u64) -> Error {
    let problem = format!("line {line}: a cell begins with a double quote and has no other one that ends it");
    Error::file(file, problem, "end the cell with a double quote; one that belongs to it is written twice")
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
        let (mut lines, mut broken, mut split) = (Vec::new(), Vec::new(), None);
        if let Some(plain) = &mut self.plain {
            let source = &mut self.reader.get_mut().source;
            let read = plain.read(source, rows, &mut self.lines).map_err(Error::io(&self.file))?;
            broken.extend(read.misfits.iter().map(|&(line, cells)| self.misfit(line, cells)));
            lines = read.lines;
            let columns = 0..self.names.len();
            let columns = columns.map(|column| Text::of(Arc::clone(&read.grid), column));
            split = Some(columns.collect::<Vec<Text>>());
            if read.stopped {
                self.take_quotes();
            }
        }
        if self.plain.is_none() {
            // Batches are alike: room for as much as the last one held saves growing, which would copy most cells twice.
            let room = || self.sizes.iter().map(|&size| Text::with_room(rows, size)).collect();
            let mut cells: Vec<Text> = split.unwrap_or_else(room);
            self.read_records(rows, &mut lines, &mut cells, &mut broken)?;
            for (size, column) in self.sizes.iter_mut().zip(&cells) {
                *size = column.size() + column.size() / 16;
            }
            split = Some(cells);
        }
        if lines.is_empty() && broken.is_empty() {
            return Ok(None);
        }
        let columns = split.unwrap_or_default().into_iter().map(Column::Text).collect();
        Ok(Some(Batch { lines, columns, broken }))
    }

    fn position(&self) -> u64 {
        self.position.get()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            (6, "1 cell where the header has 2")
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
    fn quotes_that_are_never_closed_do_not_swallow_the_rest() {
        for (text, line) in [
            ("a,b\n1,2\n3,\"x\n4,5\n6,7\n", 3),
            ("a,b\r\n1,2\r\n3,\"x\r\n4,5\r\n", 3),
            ("a,b\n1,\"x\"\n\n3,\"x\"\"\n4,5", 4),
            ("a,b\n1,\"", 2),
            ("a,\"b\n1,2\n", 1),
        ] {
            let read = reader(text).and_then(|mut reader| reader.read(100));
            let problem = format!("t.csv: line {line}: a cell begins with a double quote");
            assert!(read.as_ref().is_err_and(|error| error.to_string().starts_with(&problem)), "{read:?}");
        }
        for text in ["a,b\n1,\"x\n\"", "a,b\n1,x\"", "a,b\n1,\"x\"\r", "a,b\n1,\"\r\r\"", "a,\"b\"\n1,2"] {
            assert_eq!(reader(text).unwrap().read(100).unwrap().unwrap().lines, [2], "{text:?}");
        }
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

    /// Gives a few bytes at a time, so that everything is cut everywhere.
    struct Dribble(Cursor<Vec<u8>>, usize);

    impl Read for Dribble {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(self.1);
            self.0.read(&mut buffer[..most])
        }
    }

    type Row = (u64, Vec<Vec<u8>>);

    /// Rows with their lines, and those of another width, as the `csv` crate alone finds them.
    fn by_the_crate(text: &str, separator: u8) -> (Vec<Row>, Vec<(u64, usize)>) {
        let mut reader =
            ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(text.as_bytes());
        let header = reader.byte_headers().unwrap().clone();
        let end = reader.position().line() - 1 - header.iter().map(newlines).sum::<u64>();
        let (mut rows, mut misfits, mut record) = (Vec::new(), Vec::new(), ByteRecord::new());
        loop {
            let before = reader.position().line();
            if !reader.read_byte_record(&mut record).unwrap() {
                return (rows, misfits);
            }
            let after = reader.position().line();
            let inside: u64 = record.iter().map(newlines).sum();
            let line =
                if after == before + end { before } else { (after - end).saturating_sub(inside).max(before) };
            if record.len() == header.len() {
                rows.push((line, record.iter().map(<[u8]>::to_vec).collect()));
            } else {
                misfits.push((line, record.len()));
            }
        }
    }

    proptest! {
        /// Rows, their lines and broken rows are those of the `csv` crate, wherever reading was interrupted and batches end.
        #[test]
        fn as_another_reader_reads_it(
            head in "(\u{feff}|\n|\r\n)?h(,|;|x)g(\n|\r\n|\r)",
            body in prop::collection::vec("[ab1é\u{feff} !\u{0}\u{b}]{0,3}(,|;|x|\n|\r|\r\n|,[0-9.]{0,70}\n){0,2}|\"|\"\"", 0..60),
            quotes in any::<bool>(),
            separator in prop::sample::select(vec![b',', b';', b'x']),
            (bytes, rows) in (1..80_usize, 1..9_usize),
        ) {
            let mut text = head + &body.concat();
            if !quotes {
                text.retain(|letter| letter != '"');
            }
            let input = Dribble(Cursor::new(text.clone().into_bytes()), bytes);
            let reader = Box::new(io::BufReader::with_capacity(100, input));
            let source = Source { name: "t.csv".into(), reader, position: Position::default(), size: None };
            let mut reader = CsvReader::new(source, Some(separator)).unwrap();
            let (mut found, mut misfits) = (Vec::new(), Vec::new());
            // One more row is a row of its own, unless it stands in quotes that are still open.
            let count = |text: &str| {
                let (rows, misfits) = by_the_crate(text, separator);
                rows.len() + misfits.len()
            };
            let open = count(&format!("{text}\nz")) == count(&text);
            loop {
                let batch = match reader.read(rows) {
                    Ok(Some(batch)) => batch,
                    Ok(None) => break,
                    Err(error) => {
                        prop_assert!(open, "{error}");
                        return Ok(());
                    }
                };
                prop_assert!(batch.rows() <= rows);
                for (row, &line) in batch.lines.iter().enumerate() {
                    found.push((line, batch.columns.iter().map(|cells| cells.text(row).into_owned()).collect()));
                }
                let broken = batch.broken.iter();
                misfits.extend(broken.map(|error| (error.line, error.rule.split(' ').next().unwrap().parse().unwrap())));
            }
            prop_assert!(!open);
            prop_assert_eq!((found, misfits), by_the_crate(&text, separator));
        }
    }
}
