//! Rows of cells as they stand in one piece of a file: the bytes once, and where each cell begins.

use std::ops::Range;

/// Many rows of the same number of cells, none of which is quoted: nothing is copied out of the text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grid {
    /// The text, with room behind it.
    pub(super) bytes: Vec<u8>,
    /// For each row where its cells begin, and where another one would: a cell ends one byte before the next one begins.
    pub(super) starts: Vec<u32>,
    /// Numbers in `starts` for each row: one more than there are cells.
    pub(super) stride: usize,
    /// What stands between two cells of a row.
    pub(super) separator: u8,
}

impl Grid {
    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.starts.len().checked_div(self.stride).unwrap_or(0)
    }

    /// What stands between two cells of a row; no cell holds it, nor a quote or a line's end.
    pub(crate) fn separator(&self) -> u8 {
        self.separator
    }

    /// One cell.
    #[inline]
    pub(crate) fn cell(&self, row: usize, column: usize) -> &[u8] {
        self.cells(row, column, column)
    }

    /// The cells of a column in these rows.
    #[inline]
    pub(crate) fn column(&self, column: usize, rows: Range<usize>) -> impl Iterator<Item = &[u8]> {
        let rows = &self.starts[rows.start * self.stride..rows.end * self.stride];
        // Another cell begins behind the last one, too.
        let cells = rows.chunks_exact(self.stride).map(move |row| (row[column], row[column + 1]));
        cells.map(|(start, next)| &self.bytes[start as usize..next as usize - 1])
    }

    /// The cells from `first` to `last` with the separators between them.
    #[inline]
    pub(crate) fn cells(&self, row: usize, first: usize, last: usize) -> &[u8] {
        let row = &self.starts[row * self.stride..][..self.stride];
        &self.bytes[row[first] as usize..row[last + 1] as usize - 1]
    }
}
