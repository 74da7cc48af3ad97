//! Writing CSV: the header with the first sheet, numbers in the fewest digits that read back as the same number.
//!
//! Lines are made on all cores, some at a time, and written in their order. A cell is quoted where it must be: if it holds the separator, a
//! quote or a line's end, or is all there is of its line and empty.

use rayon::prelude::*;

use super::column::Column;
use super::{Sheet, SheetColumn, TableWriter};
use crate::error::{Error, Result};
use crate::output::Sink;

/// Lines that are made in one piece.
const PIECE: usize = 1 << 10;

/// Writes CSV.
pub struct CsvWriter<W: Sink> {
    file: String,
    output: W,
    separator: u8,
    header: Option<Vec<String>>,
    /// Bytes that the last line took, with some to spare: room for the next ones.
    line: usize,
}

impl<W: Sink> std::fmt::Debug for CsvWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CsvWriter")
            .field("file", &self.file)
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

impl<W: Sink> CsvWriter<W> {
    /// Writes to `output`, which `file` names in messages.
    pub fn new(output: W, file: &str, separator: u8) -> Self {
        CsvWriter { file: file.to_owned(), output, separator, header: None, line: 0 }
    }

    fn write_header(&mut self, sheet: &Sheet) -> Result<()> {
        let names: Vec<String> = sheet.columns.iter().map(|(name, _)| name.clone()).collect();
        match &self.header {
            None => {
                let mut line = Line::new(self.separator, 0);
                names.iter().for_each(|name| line.cell(name.as_bytes()));
                line.end();
                self.output.write_all(&line.bytes).map_err(Error::io(&self.file))?;
                self.header = Some(names);
                Ok(())
            }
            Some(header) if *header == names => Ok(()),
            Some(header) => {
                let new = names.iter().find(|name| !header.contains(name)).map_or("?", String::as_str);
                let problem = format!("the field {new:?} appears after the header was written");
                Err(Error::file(
                    &self.file,
                    problem,
                    "write NDJSON instead, where every row names its fields",
                ))
            }
        }
    }
}

impl<W: Sink> TableWriter for CsvWriter<W> {
    fn write(&mut self, sheet: &Sheet) -> Result<()> {
        self.write_header(sheet)?;
        let (separator, room) = (self.separator, self.line * PIECE);
        let pieces: Vec<Vec<u8>> =
            sheet.rows.par_chunks(PIECE).map(|rows| lines(sheet, rows, Line::new(separator, room))).collect();
        for piece in &pieces {
            self.output.write_all(piece).map_err(Error::io(&self.file))?;
        }
        if let Some(piece) = pieces.first() {
            self.line = piece.len() / PIECE.min(sheet.rows.len()) + 8;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.output.finish().map_err(Error::io(&self.file))
    }
}

fn lines(sheet: &Sheet, rows: &[u32], mut line: Line) -> Vec<u8> {
    let mut buffer = zmij::Buffer::new();
    for &row in rows {
        let row = row as usize;
        for (_, column) in &sheet.columns {
            match column {
                SheetColumn::Numbers(numbers) => line.number(number(&mut buffer, numbers[row])),
                SheetColumn::Cells(Column::Text(cells)) => line.cell(cells.get(row)),
                SheetColumn::Cells(cells) => line.cell(&cells.text(row)),
                SheetColumn::Mixed(cells, numbers) => match (numbers[row], cells) {
                    (Some(value), _) => line.number(number(&mut buffer, value)),
                    (None, Column::Text(cells)) => line.cell(cells.get(row)),
                    (None, cells) => line.cell(&cells.text(row)),
                },
            }
        }
        line.end();
    }
    line.bytes
}

/// Lines that are being put together.
struct Line {
    bytes: Vec<u8>,
    separator: u8,
    /// Where the present line begins.
    start: usize,
}

impl Line {
    fn new(separator: u8, room: usize) -> Self {
        Line { bytes: Vec::with_capacity(room), separator, start: 0 }
    }

    /// Adds a cell, in quotes if it needs them.
    fn cell(&mut self, cell: &[u8]) {
        let special = |byte: &u8| matches!(byte, b'"' | b'\n' | b'\r') || *byte == self.separator;
        // Without an early end the scan is a few wide comparisons.
        if cell.iter().fold(false, |found, byte| found | special(byte)) {
            self.bytes.push(b'"');
            for &byte in cell {
                if byte == b'"' {
                    self.bytes.push(b'"');
                }
                self.bytes.push(byte);
            }
            self.bytes.push(b'"');
        } else {
            self.bytes.extend_from_slice(cell);
        }
        self.bytes.push(self.separator);
    }

    /// Adds a number: digits, signs and letters, one of which might be the separator only if someone chose it so.
    fn number(&mut self, number: &str) {
        if self.separator.is_ascii_alphanumeric() || matches!(self.separator, b'.' | b'-' | b'+') {
            return self.cell(number.as_bytes());
        }
        self.bytes.extend_from_slice(number.as_bytes());
        self.bytes.push(self.separator);
    }

    fn end(&mut self) {
        if self.bytes.len() == self.start + 1 {
            // One empty cell: an empty line would be no line.
            self.bytes.truncate(self.start);
            self.bytes.extend_from_slice(b"\"\" ");
        }
        if let Some(last) = self.bytes.last_mut() {
            *last = b'\n';
        }
        self.start = self.bytes.len();
    }
}

/// A computed number as text: empty for a missing one, and without a `.0` that says nothing.
pub(super) fn number(buffer: &mut zmij::Buffer, value: f64) -> &str {
    if value.is_nan() {
        return "";
    }
    let text = buffer.format(value);
    text.strip_suffix(".0").unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::source::Source;
    use crate::table::{CsvReader, TableReader, Text};

    fn reader(text: &str) -> Result<CsvReader> {
        CsvReader::new(Source::from_bytes("t.csv", text.as_bytes().to_vec()), None)
    }

    #[test]
    fn what_is_written_reads_back() {
        let mut output = Vec::new();
        let mut writer = CsvWriter::new(&mut output, "o.csv", b';');
        let cells: Text = [&b"a;b"[..], b"say \"x\"", b""].into_iter().collect();
        let numbers = vec![0.1, 3.0, f64::NAN];
        let columns = vec![
            ("id".to_owned(), SheetColumn::Cells(Column::Text(cells.clone()))),
            ("m".to_owned(), SheetColumn::Numbers(numbers)),
        ];
        writer.write(&Sheet { columns, rows: vec![0, 1, 2] }).unwrap();
        Box::new(writer).finish().unwrap();
        let text = String::from_utf8(output).unwrap();
        assert_eq!(text, "id;m\n\"a;b\";0.1\n\"say \"\"x\"\"\";3\n;\n");
        let batch = reader(&text).unwrap().read(10).unwrap().unwrap();
        assert_eq!(batch.columns[0], Column::Text(cells));
    }

    proptest! {
        /// Byte for byte what the `csv` crate writes, whatever the cells hold.
        #[test]
        fn as_another_writer_writes_it(
            rows in prop::collection::vec(prop::collection::vec("[a-z,;\"\r\n .0-9é]{0,6}", 3), 0..20),
            width in 1..=3_usize,
            separator in prop::sample::select(vec![b',', b';', b'\t', b'x', b'1']),
        ) {
            let names = ["u", "v", "w"];
            let mut theirs = csv::WriterBuilder::new().delimiter(separator).from_writer(Vec::new());
            theirs.write_record(&names[..width]).unwrap();
            rows.iter().for_each(|row| theirs.write_record(&row[..width]).unwrap());
            let columns = (0..width).map(|k| {
                let cells: Text = rows.iter().map(|row| row[k].as_bytes()).collect();
                (names[k].to_owned(), SheetColumn::Cells(Column::Text(cells)))
            });
            let mut ours = Vec::new();
            let mut writer = CsvWriter::new(&mut ours, "o.csv", separator);
            writer.write(&Sheet { columns: columns.collect(), rows: (0..rows.len() as u32).collect() }).unwrap();
            Box::new(writer).finish().unwrap();
            prop_assert_eq!(String::from_utf8(ours).unwrap(), String::from_utf8(theirs.into_inner().unwrap()).unwrap());
        }
    }

    /// Pieces are in order, and rows that are left out stay out.
    #[test]
    fn many_lines_keep_their_order() {
        let count = 5 * PIECE + 3;
        let numbers: Vec<f64> = (0..count).map(|row| row as f64 / 8.0).collect();
        let rows: Vec<u32> = (0..count as u32).filter(|row| row % 7 != 0).collect();
        let mut output = Vec::new();
        let mut writer = CsvWriter::new(&mut output, "o.csv", b',');
        let sheet = Sheet {
            columns: vec![("x".to_owned(), SheetColumn::Numbers(numbers.clone()))],
            rows: rows.clone(),
        };
        writer.write(&sheet).unwrap();
        writer.write(&sheet).unwrap();
        Box::new(writer).finish().unwrap();
        let read: Vec<f64> =
            String::from_utf8(output).unwrap().lines().skip(1).map(|line| line.parse().unwrap()).collect();
        let once = rows.iter().map(|&row| numbers[row as usize]);
        assert_eq!(read, once.clone().chain(once).collect::<Vec<_>>());
    }
}
