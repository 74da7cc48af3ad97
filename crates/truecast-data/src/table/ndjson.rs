//! NDJSON: one JSON object in each line. Fields are columns; tokens pass through as they stand.

use std::fmt;
use std::io::BufRead;

use serde::Deserializer as _;
use serde::de::{Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::column::Column;
use super::csv_writer::number;
use super::text::Text;
use super::{Batch, Sheet, SheetColumn, TableReader, TableWriter};
use crate::error::{Error, Result, RowError};
use crate::output::Sink;
use crate::source::{Position, Source};

/// Rows that are looked at for the fields' names before anything is said about the columns.
const FIRST_ROWS: usize = 1_000;

/// Reads NDJSON.
pub struct NdjsonReader {
    file: String,
    names: Vec<String>,
    reader: Box<dyn BufRead + Send>,
    position: Position,
    line: u64,
    buffer: Vec<u8>,
    /// The first rows, which were read for their names.
    first: Option<Batch>,
}

impl fmt::Debug for NdjsonReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NdjsonReader")
            .field("file", &self.file)
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

impl NdjsonReader {
    /// Reads the first rows to learn the fields' names.
    pub fn new(source: Source) -> Result<Self> {
        let mut reader = NdjsonReader {
            file: source.name,
            names: Vec::new(),
            reader: source.reader,
            position: source.position,
            line: 0,
            buffer: Vec::new(),
            first: None,
        };
        reader.first = reader.read_lines(FIRST_ROWS)?;
        match &reader.first {
            None => Err(Error::file(&reader.file, "the file is empty", "each line holds one JSON object")),
            Some(first) if first.lines.is_empty() => Err(first.broken[0].clone().into()),
            Some(_) => Ok(reader),
        }
    }

    fn read_lines(&mut self, rows: usize) -> Result<Option<Batch>> {
        let mut cells: Vec<Text> = vec![Text::default(); self.names.len()];
        let (mut lines, mut broken) = (Vec::new(), Vec::new());
        while lines.len() < rows {
            self.buffer.clear();
            if self.reader.read_until(b'\n', &mut self.buffer).map_err(Error::io(&self.file))? == 0 {
                break;
            }
            self.line += 1;
            let line = self.buffer.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.buffer).trim_ascii();
            if line.is_empty() {
                continue;
            }
            let row = lines.len();
            let fields = Fields { names: &mut self.names, cells: &mut cells, row };
            let mut deserializer = serde_json::Deserializer::from_slice(line);
            let read = deserializer.deserialize_map(fields).and_then(|()| deserializer.end());
            match read {
                Ok(()) => {
                    lines.push(self.line);
                    cells.iter_mut().for_each(|column| column.fill(row + 1));
                }
                Err(error) => {
                    for column in &mut cells {
                        column.truncate(row);
                    }
                    broken.push(RowError {
                        file: self.file.clone(),
                        line: self.line,
                        // The parser counts lines of its own, and only ever sees one.
                        rule: format!("not a JSON object: {error}")
                            .replace(" at line 1 column ", " at character "),
                        hint: "each line holds one object, such as {\"y\": 1.5, \"mean\": 1.2, \"std\": 0.4}"
                            .into(),
                        ..RowError::default()
                    });
                }
            }
        }
        if lines.is_empty() && broken.is_empty() {
            return Ok(None);
        }
        Ok(Some(Batch { lines, columns: cells.into_iter().map(Column::Json).collect(), broken }))
    }
}

/// Puts the fields of one object into their columns.
struct Fields<'a> {
    names: &'a mut Vec<String>,
    cells: &'a mut Vec<Text>,
    row: usize,
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        // Objects mostly have the same fields in the same order: look at the expected place first.
        let mut expected = 0;
        while let Some(name) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            let at = if self.names.get(expected).is_some_and(|known| *known == name) {
                expected
            } else {
                self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
                    self.names.push(name.clone().into_owned());
                    self.cells.push(Text::default());
                    self.names.len() - 1
                })
            };
            expected = at + 1;
            let token = map.next_value::<&RawValue>()?;
            let column = &mut self.cells[at];
            if column.len() > self.row {
                return Err(A::Error::custom(format!("the field {name:?} appears twice")));
            }
            column.fill(self.row);
            column.push(token.get().as_bytes());
        }
        Ok(())
    }
}

impl TableReader for NdjsonReader {
    fn file(&self) -> &str {
        &self.file
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn read(&mut self, rows: usize) -> Result<Option<Batch>> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.read_lines(rows),
        }
    }

    fn position(&self) -> u64 {
        self.position.get()
    }
}

/// Writes NDJSON. Text that is a JSON number becomes a number, other text a string; a missing cell is left out if it came from
/// JSON that lacked it, and null otherwise.
pub struct NdjsonWriter<W: Sink> {
    file: String,
    output: W,
    line: Vec<u8>,
}

impl<W: Sink> fmt::Debug for NdjsonWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NdjsonWriter").field("file", &self.file).finish_non_exhaustive()
    }
}

impl<W: Sink> NdjsonWriter<W> {
    /// Writes to `output`, which `file` names in messages.
    pub fn new(output: W, file: &str) -> Self {
        NdjsonWriter { file: file.to_owned(), output, line: Vec::new() }
    }

    fn string(&mut self, text: &[u8]) -> Result<()> {
        let text = std::str::from_utf8(text).map_err(|_| {
            let problem = format!("{:?} is not valid UTF-8, which JSON needs", String::from_utf8_lossy(text));
            Error::file(&self.file, problem, "convert the input with iconv, or write CSV")
        })?;
        let token = serde_json::to_string(text).map_err(|e| Error::io(&self.file)(e.into()))?;
        self.line.extend_from_slice(token.as_bytes());
        Ok(())
    }

    /// Writes a cell's token; false if the row lacks the field.
    fn cell(&mut self, name: &str, column: &SheetColumn, row: usize) -> Result<bool> {
        let lacking = match column {
            SheetColumn::Cells(Column::Json(cells)) | SheetColumn::Numeric(Column::Json(cells)) => {
                cells.get(row).is_empty()
            }
            SheetColumn::Mixed(Column::Json(cells), numbers) => {
                numbers[row].is_none() && cells.get(row).is_empty()
            }
            _ => false,
        };
        if lacking {
            return Ok(false);
        }
        if self.line.len() > 1 {
            self.line.push(b',');
        }
        self.string(name.as_bytes())?;
        self.line.push(b':');
        match column {
            SheetColumn::Numbers(numbers) => self.number(numbers[row]),
            SheetColumn::Mixed(cells, numbers) => match numbers[row] {
                Some(value) => self.number(value),
                None => self.passed(cells, row)?,
            },
            SheetColumn::Cells(cells) | SheetColumn::Numeric(cells) => self.passed(cells, row)?,
        }
        Ok(true)
    }

    /// A number that was computed.
    fn number(&mut self, value: f64) {
        let mut buffer = zmij::Buffer::new();
        // JSON has no infinities; a quantile can be one at the end of an unbounded support.
        let text = if value.is_finite() { number(&mut buffer, value) } else { "null" };
        self.line.extend_from_slice(text.as_bytes());
    }

    /// A cell of the input.
    fn passed(&mut self, cells: &Column, row: usize) -> Result<()> {
        if let Column::Json(cells) = cells {
            self.line.extend_from_slice(cells.get(row));
            return Ok(());
        }
        let text = cells.text(row);
        let plain = !matches!(cells, Column::Date(_) | Column::Timestamp(..));
        if text.is_empty() {
            self.line.extend_from_slice(b"null");
        } else if plain && is_token(&text) {
            self.line.extend_from_slice(&text);
        } else {
            self.string(&text)?;
        }
        Ok(())
    }
}

/// True if the text is a JSON number or one of its words for truth.
fn is_token(text: &[u8]) -> bool {
    match text {
        b"true" | b"false" => true,
        [b'0'..=b'9' | b'-', ..] => serde_json::from_slice::<&RawValue>(text).is_ok(),
        _ => false,
    }
}

impl<W: Sink> TableWriter for NdjsonWriter<W> {
    fn write(&mut self, sheet: &Sheet) -> Result<()> {
        for &row in &sheet.rows {
            self.line.clear();
            self.line.push(b'{');
            for (name, column) in &sheet.columns {
                self.cell(name, column, row as usize)?;
            }
            self.line.extend_from_slice(b"}\n");
            self.output.write_all(&self.line).map_err(Error::io(&self.file))?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.output.finish().map_err(Error::io(&self.file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str) -> Result<(Vec<String>, Batch)> {
        let mut reader = NdjsonReader::new(Source::from_bytes("t.ndjson", text.as_bytes().to_vec()))?;
        let batch = reader.read(10)?.unwrap();
        Ok((reader.names().to_vec(), batch))
    }

    #[test]
    fn fields_come_in_any_order_and_may_be_lacking() {
        let text = "{\"y\": 1.5, \"id\": \"a\"}\n\n{\"id\": \"b\", \"y\": null, \"z\": [1, 2]}\n{\"y\": 2}\n";
        let (names, batch) = read_all(text).unwrap();
        assert_eq!(names, ["y", "id", "z"]);
        assert_eq!(batch.lines, [1, 3, 4]);
        assert_eq!(batch.columns[0].number(0), Ok(Some(1.5)));
        assert_eq!(batch.columns[0].number(1), Ok(None));
        assert_eq!(&*batch.columns[1].text(2), b"");
        assert_eq!(&*batch.columns[2].text(1), b"[1, 2]");
    }

    #[test]
    fn broken_lines_are_told_and_leave_no_trace() {
        let (_, batch) = read_all("{\"y\": 1}\n{\"y\": 2, \"y\": 3}\n[1]\n{\"y\": 4\n{\"y\": 5}\n").unwrap();
        assert_eq!(batch.lines, [1, 5]);
        assert_eq!(batch.columns[0].number(1), Ok(Some(5.0)));
        let lines: Vec<u64> = batch.broken.iter().map(|error| error.line).collect();
        assert_eq!(lines, [2, 3, 4]);
        assert!(batch.broken[0].rule.contains("twice"), "{:?}", batch.broken[0]);
        assert!(read_all("y,mean\n1,2\n").is_err());
    }

    #[test]
    fn what_passes_through_is_the_same_and_text_becomes_what_it_is() {
        let (names, batch) = read_all("{\"y\":1.50,\"id\":\"a\\u00e9\"}\n{\"id\":\"b\"}\n").unwrap();
        let mut columns: Vec<(String, SheetColumn)> =
            names.into_iter().zip(batch.columns.into_iter().map(SheetColumn::Cells)).collect();
        let text: Text = [&b"007"[..], b"-1.5e3"].into_iter().collect();
        columns.push(("t".into(), SheetColumn::Cells(Column::Text(text))));
        columns.push(("n".into(), SheetColumn::Numbers(vec![0.25, f64::NAN])));
        let mut output = Vec::new();
        let mut writer = NdjsonWriter::new(&mut output, "o.ndjson");
        writer.write(&Sheet { columns, rows: vec![0, 1] }).unwrap();
        Box::new(writer).finish().unwrap();
        let expected = "{\"y\":1.50,\"id\":\"a\\u00e9\",\"t\":\"007\",\"n\":0.25}\n{\"id\":\"b\",\"t\":-1.5e3,\"n\":null}\n";
        assert_eq!(String::from_utf8(output).unwrap(), expected);
    }
}
