//! A column of cells as they stand in the file: many short strings in one piece of memory, or a view of the piece that was read.

use std::sync::Arc;

use super::grid::Grid;

/// A column of byte strings.
#[derive(Debug, Clone, Default)]
pub struct Text {
    bytes: Vec<u8>,
    /// Where each cell ends.
    ends: Vec<usize>,
    /// The piece of a file that holds the cells, and which of its columns they are; the text's own cells are then none.
    shared: Option<(Arc<Grid>, usize)>,
}

impl Text {
    /// An empty column with room for this many cells and bytes.
    pub(crate) fn with_room(cells: usize, bytes: usize) -> Self {
        Text { bytes: Vec::with_capacity(bytes), ends: Vec::with_capacity(cells), shared: None }
    }

    /// A column of a piece of a file.
    pub(crate) fn of(grid: Arc<Grid>, column: usize) -> Self {
        Text { shared: Some((grid, column)), ..Text::default() }
    }

    /// The piece of a file that it is a column of, and which one.
    pub(crate) fn shared(&self) -> Option<(&Arc<Grid>, usize)> {
        self.shared.as_ref().map(|(grid, column)| (grid, *column))
    }

    /// Bytes in all cells.
    pub(crate) fn size(&self) -> usize {
        match &self.shared {
            None => self.bytes.len(),
            Some(_) => self.iter().map(<[u8]>::len).sum(),
        }
    }

    /// Adds a cell.
    pub fn push(&mut self, cell: &[u8]) {
        self.own();
        self.bytes.extend_from_slice(cell);
        self.ends.push(self.bytes.len());
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        match &self.shared {
            None => self.ends.len(),
            Some((grid, _)) => grid.rows(),
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One cell.
    #[inline]
    pub fn get(&self, row: usize) -> &[u8] {
        if let Some((grid, column)) = &self.shared {
            return grid.cell(row, *column);
        }
        self.own_cell(row)
    }

    fn own_cell(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.bytes[start..self.ends[row]]
    }

    /// All cells.
    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Adds empty cells up to `rows` in all: for fields that some rows lack.
    pub(crate) fn fill(&mut self, rows: usize) {
        self.own();
        let end = self.bytes.len();
        self.ends.resize(rows.max(self.ends.len()), end);
    }

    /// Forgets the cells from `rows` on.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.own();
        self.ends.truncate(rows);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// Copies the cells if they are shared: they are about to change.
    fn own(&mut self) {
        if let Some((grid, column)) = self.shared.take() {
            (0..grid.rows()).for_each(|row| self.push(grid.cell(row, column)));
        }
    }
}

/// By their cells, wherever these lie.
impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Text {}

impl<'a> FromIterator<&'a [u8]> for Text {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(cells: I) -> Self {
        let mut text = Text::default();
        cells.into_iter().for_each(|cell| text.push(cell));
        text
    }
}
