//! Writing CSV: the header with the first sheet, numbers in the fewest digits that read back as the same number.
//!
//! Lines are made on all cores, some at a time, and written in their order.

use std::sync::Arc;

use rayon::prelude::*;

use super::column::Column;
use super::csv_line::Lines;
use super::grid::Grid;
use super::{Sheet, SheetColumn, TableWriter};
use crate::error::{Error, Result};
use crate::output::Sink;

/// Lines that are made in one piece: more bytes than an output buffers, and few enough for a core's own cache.
const PIECE: usize = 1 << 11;

/// Writes CSV.
pub struct CsvWriter<W: Sink> {
    file: String,
    output: W,
    separator: u8,
    header: Option<Vec<String>>,
    /// Lines that are being made; their memory is kept from one sheet to the next.
    pieces: Vec<Lines>,
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
        CsvWriter { file: file.to_owned(), output, separator, header: None, pieces: Vec::new() }
    }

    fn write_header(&mut self, sheet: &Sheet) -> Result<()> {
        let names: Vec<String> = sheet.columns.iter().map(|(name, _)| name.clone()).collect();
        match &self.header {
            None => {
                let mut line = Lines::new(self.separator);
                names.iter().for_each(|name| line.cell(name.as_bytes()));
                line.end();
                self.output.write_all(line.text()).map_err(Error::io(&self.file))?;
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
        let (separator, rows) = (self.separator, &sheet.rows);
        let parts = parts(sheet, separator);
        let count = rows.len().div_ceil(PIECE);
        self.pieces.resize_with(self.pieces.len().max(count), || Lines::new(separator));
        let pieces = &mut self.pieces[..count];
        pieces.par_iter_mut().zip(rows.par_chunks(PIECE)).for_each(|(piece, rows)| {
            piece.clear();
            write_lines(piece, &parts, rows);
        });
        for piece in pieces {
            self.output.write_all(piece.text()).map_err(Error::io(&self.file))?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.output.finish().map_err(Error::io(&self.file))
    }
}

/// What a line is put together from.
enum Part<'a> {
    /// Cells of the input side by side, from one column to another, as they stand in its text.
    Passed(&'a Arc<Grid>, usize, usize),
    Cells(&'a Column),
    Numbers(&'a [f64]),
    Mixed(&'a Column, &'a [Option<f64>]),
}

/// The columns, those that stand side by side in the input's text as one. No cell of such a text holds its separator, a quote or a line's end.
fn parts(sheet: &Sheet, separator: u8) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::with_capacity(sheet.columns.len());
    for (_, column) in &sheet.columns {
        let cells = match column {
            SheetColumn::Numbers(numbers) => {
                parts.push(Part::Numbers(numbers));
                continue;
            }
            SheetColumn::Mixed(cells, numbers) => {
                parts.push(Part::Mixed(cells, numbers));
                continue;
            }
            SheetColumn::Cells(cells) | SheetColumn::Numeric(cells) => cells,
        };
        let shared = match cells {
            Column::Text(text) => text.shared().filter(|(grid, _)| grid.separator() == separator),
            _ => None,
        };
        match (shared, parts.last_mut()) {
            (Some((grid, column)), Some(Part::Passed(before, _, last)))
                if Arc::ptr_eq(grid, before) && column == *last + 1 =>
            {
                *last = column;
            }
            (Some((grid, column)), _) => parts.push(Part::Passed(grid, column, column)),
            (None, _) => parts.push(Part::Cells(cells)),
        }
    }
    parts
}

fn write_lines(lines: &mut Lines, parts: &[Part<'_>], rows: &[u32]) {
    let mut buffer = zmij::Buffer::new();
    for &row in rows {
        let row = row as usize;
        for part in parts {
            match part {
                Part::Passed(grid, first, last) => lines.plain(grid.cells(row, *first, *last)),
                Part::Numbers(numbers) => lines.number(number(&mut buffer, numbers[row])),
                Part::Cells(cells) => cell_of(lines, cells, row),
                Part::Mixed(cells, numbers) => match numbers[row] {
                    Some(value) => lines.number(number(&mut buffer, value)),
                    None => cell_of(lines, cells, row),
                },
            }
        }
        lines.end();
    }
}

fn cell_of(lines: &mut Lines, column: &Column, row: usize) {
    match column {
        Column::Text(cells) => lines.cell(cells.get(row)),
        cells => lines.cell(&cells.text(row)),
    }
}

/// A computed number as text: empty for a missing one, and without a `.0` that says nothing.
#[inline]
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

    proptest! {
        /// The same for cells that pass through from a text where they stand: any columns in any order, next to numbers, with the same separator or another.
        #[test]
        fn passed_cells_are_as_another_writer_writes_them(
            rows in prop::collection::vec(prop::collection::vec("[a-z;x .0-9é]{0,6}", 4), 1..20),
            chosen in prop::collection::vec(0..5_usize, 1..7),
            separator in prop::sample::select(vec![b',', b';', b'x', b'1']),
        ) {
            let text: String = rows.iter().map(|row| format!("{}\n", row.join(","))).collect();
            let source = Source::from_bytes("t.csv", format!("a,b,c,d\n{text}").into_bytes());
            let batch = CsvReader::new(source, Some(b',')).unwrap().read(100).unwrap().unwrap();
            prop_assert_eq!(batch.rows(), rows.len());
            let mut theirs = csv::WriterBuilder::new().delimiter(separator).from_writer(Vec::new());
            theirs.write_record(chosen.iter().map(|k| format!("n{k}"))).unwrap();
            for (at, row) in rows.iter().enumerate() {
                theirs.write_record(chosen.iter().map(|&k| row.get(k).cloned().unwrap_or(format!("{at}.5")))).unwrap();
            }
            let columns = chosen.iter().map(|&k| {
                let numbers = || SheetColumn::Numbers((0..rows.len()).map(|row| row as f64 + 0.5).collect());
                let cells = batch.columns.get(k).cloned();
                (format!("n{k}"), cells.map_or_else(numbers, if k == 2 { SheetColumn::numeric } else { SheetColumn::Cells }))
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
