//! Many short strings in one piece of memory: a column of cells as they stand in the file.

/// A column of byte strings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    bytes: Vec<u8>,
    /// Where each cell ends.
    ends: Vec<usize>,
}

impl Text {
    /// An empty column with room for this many cells and bytes.
    pub(crate) fn with_room(cells: usize, bytes: usize) -> Self {
        Text { bytes: Vec::with_capacity(bytes), ends: Vec::with_capacity(cells) }
    }

    /// Bytes in all cells.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Adds a cell.
    pub fn push(&mut self, cell: &[u8]) {
        self.bytes.extend_from_slice(cell);
        self.ends.push(self.bytes.len());
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// One cell.
    pub fn get(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.bytes[start..self.ends[row]]
    }

    /// Adds empty cells up to `rows` in all: for fields that some rows lack.
    pub(crate) fn fill(&mut self, rows: usize) {
        let end = self.bytes.len();
        self.ends.resize(rows.max(self.ends.len()), end);
    }

    /// Forgets the cells from `rows` on.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.ends.truncate(rows);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }
}

impl<'a> FromIterator<&'a [u8]> for Text {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(cells: I) -> Self {
        let mut text = Text::default();
        cells.into_iter().for_each(|cell| text.push(cell));
        text
    }
}
